// SPDX-License-Identifier: GPL-3.0-or-later
//
// Files that operators name: who reads them, how often, and that a check never does.
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/engine/worker.h"
#include "core/error.h"
#include "kernels/migrate/migrate.h"
#include "kernels/twsm/twsm.h"
#include "tests/common.h"

// An operator whose result has as many samples as its file says, each of them that number.
typedef struct ReaderParams {
    LithoText path;
    double gain;
} ReaderParams;

static gint n_reads, slow_ms;

static char *reader_key(const void *params)
{
    const ReaderParams *p = params;
    return *p->path.text ? g_strdup(p->path.text) : NULL;
}

static LithoResolved *reader_resolve(const void *params, LithoRun *run, GError **error)
{
    const ReaderParams *p = params;
    g_autoptr(LithoResolved) resolved = litho_resolved_new();
    g_autofree char *text = NULL;
    g_atomic_int_inc(&n_reads);
    for (int ms = 0; ms < slow_ms; ms++) {
        g_usleep(1000);
        if (!litho_run_step(run, ms, slow_ms, error))
            return NULL;
    }
    if (!litho_resolved_add_file(resolved, p->path.text, error) ||
        !g_file_get_contents(p->path.text, &text, NULL, error))
        return NULL;
    int *n = g_new(int, 1);
    *n = atoi(text);
    if (*n < 1) {
        g_free(n);
        litho_refuse(error, LITHO_ERROR_FORMAT, "%s holds no number", p->path.text);
        return NULL;
    }
    litho_resolved_set(resolved, n, g_free, 1000);
    return g_steal_pointer(&resolved);
}

static gboolean reader_check(const LithoGrid *in, const void *params, LithoResolved *known,
                             GError **error)
{
    (void)in;
    (void)params;
    const int *n = litho_resolved_data(known);
    return !n || *n < 100 ||
           litho_refuse(error, LITHO_ERROR_GEOMETRY, "%d samples are too many", *n);
}

static gboolean reader_grid(const LithoGrid *in, const void *params, LithoResolved *known,
                            LithoGrid *out, GError **error)
{
    (void)params;
    (void)error;
    *out = *in;
    out->axis[LITHO_SAMPLE].n = known ? *(int *)litho_resolved_data(known) : 1;
    return TRUE;
}

static gpointer reader_plan(const LithoGrid *in, const void *params, LithoResolved *known,
                            LithoRun *run, GError **error)
{
    (void)in;
    (void)params;
    (void)run;
    (void)error;
    return litho_resolved_ref(known);
}

static gboolean reader_exec(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    (void)run;
    (void)error;
    g_assert_true(plan == pass->known);
    for (gint64 k = 0; k < litho_box_count(pass->out->held); k++)
        pass->out->samples[k] = (float)*(int *)litho_resolved_data(pass->known);
    return TRUE;
}

static void reader_destroy(gpointer plan)
{
    litho_resolved_unref(plan);
}

static const LithoImpl reader_cpu = {
    .plan = reader_plan, .exec = reader_exec, .destroy = reader_destroy};
static const LithoParam reader_rows[] = {
    LITHO_FILE(ReaderParams, path, .label = "File", .stage = 1),
    LITHO_FLOAT(ReaderParams, gain, .label = "Gain", .def = 1, .max = 10, .stage = 1)};
static const LithoOperator reader = {.key = "reader",
                                     .title = "Reader",
                                     .params = {reader_rows, 2, sizeof(ReaderParams)},
                                     .needs_input = TRUE,
                                     .resolve_key = reader_key,
                                     .resolve = reader_resolve,
                                     .check = reader_check,
                                     .output_grid = reader_grid,
                                     .cpu = &reader_cpu};

static char *scratch_file(const char *text)
{
    char *path = NULL;
    close(g_file_open_tmp("resolve-XXXXXX.txt", &path, NULL));
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static LithoFlow *reader_flow(const char *path)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &reader);
    ReaderParams *p = litho_flow_step(flow, 0)->params;
    g_strlcpy(p->path.text, path, sizeof p->path.text);
    return flow;
}

// Property: looking at a flow reads nothing and waits; an engine reads once, however often it runs
// and however many engines there are; then looking knows; a changed file is read anew and gives the
// new result.
static void test_read_once(void)
{
    g_autofree char *path = scratch_file("12");
    g_autoptr(LithoFlow) flow = reader_flow(path);
    g_autoptr(LithoCube) in = test_random_cube(2, 3, 8, 1, FALSE);
    n_reads = 0;
    g_autoptr(LithoWalk) before = litho_walk_look(flow, &in->grid, NULL);
    g_assert_true(before && before->waits);
    g_assert_cmpint(n_reads, ==, 0);
    for (int k = 0; k < 2; k++) {
        LithoEngine *engine = litho_engine_new(litho_device_cpu());
        for (int pass = 0; pass < 3; pass++) {
            ((ReaderParams *)litho_flow_step(flow, 0)->params)->gain = pass;
            g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
            g_assert_cmpint(out->grid.axis[LITHO_SAMPLE].n, ==, 12);
        }
        litho_engine_free(engine);
    }
    g_assert_cmpint(n_reads, ==, 1);
    g_autoptr(LithoWalk) after = litho_walk_look(flow, &in->grid, NULL);
    g_assert_false(after->waits);
    g_assert_cmpint(after->out.axis[LITHO_SAMPLE].n, ==, 12);

    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) old = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
    g_assert_true(g_file_set_contents(path, "7", -1, NULL)); // by renaming: another inode
    g_autoptr(LithoCube) new = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
    g_assert_cmpint(old->grid.axis[LITHO_SAMPLE].n, ==, 12);
    g_assert_cmpint(new->grid.axis[LITHO_SAMPLE].n, ==, 7);
    g_assert_cmpfloat(new->samples[0], ==, 7);
    g_assert_cmpint(n_reads, ==, 2);
    litho_engine_free(engine);
    g_unlink(path);
}

// Property: a check that needs the file's content refuses once it is known; a file that cannot be
// read is resolve's error, and forgotten is what was known of it.
static void test_errors(void)
{
    g_autofree char *path = scratch_file("500");
    g_autoptr(LithoFlow) flow = reader_flow(path);
    const LithoGrid grid = litho_grid_new(2, 3, 8);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoWalk) walk = litho_walk_look(flow, &grid, NULL);
    g_assert_true(walk->waits);
    g_assert_null(litho_walk_resolve(flow, &grid, NULL, &error));
    g_assert_cmpstr(error->message, ==, "500 samples are too many");
    g_clear_error(&error);
    g_assert_null(litho_walk_look(flow, &grid, &error)); // known now
    g_clear_error(&error);
    g_unlink(path);
    g_assert_null(litho_walk_resolve(flow, &grid, NULL, &error));
    g_assert_nonnull(strstr(error->message, path));
    g_autoptr(LithoWalk) again = litho_walk_look(flow, &grid, NULL);
    g_assert_true(again && again->waits);
}

// Property: least recently used answers are forgotten when more is kept than allowed; the newest
// never is, nor one that is in use.
static void test_kept(void)
{
    g_autofree char *a = scratch_file("5"), *b = scratch_file("6"), *c = scratch_file("7");
    char *const paths[] = {a, b, c};
    litho_resolve_keep(1500); // one of 1000 bytes beside the newest
    LithoResolved *held = NULL;
    n_reads = 0;
    for (int k = 0; k < 3; k++) {
        g_autoptr(LithoFlow) flow = reader_flow(paths[k]);
        LithoResolved *known;
        g_assert_true(litho_resolve(&reader, litho_flow_step(flow, 0)->params, NULL, &known, NULL));
        if (k == 0)
            held = known;
        else
            litho_resolved_unref(known);
    }
    const gboolean alive[] = {TRUE, TRUE, TRUE};
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < 3; k++) {
            g_autoptr(LithoFlow) flow = reader_flow(paths[k]);
            g_autoptr(LithoResolved) known =
                litho_resolve_known(&reader, litho_flow_step(flow, 0)->params);
            g_assert_cmpint(known != NULL, ==, k == 0 && round == 1 ? FALSE : alive[k]);
        }
        g_clear_pointer(&held, litho_resolved_unref); // `a` was pushed out, and lived by this
    }
    g_assert_cmpint(n_reads, ==, 3);
    litho_resolve_keep(G_GUINT64_CONSTANT(1) << 30);
    for (int k = 0; k < 3; k++)
        g_unlink(paths[k]);
}

typedef struct Asker {
    const LithoFlow *flow;
    GCancellable *cancel;
    gboolean ok;
} Asker;

static gpointer ask(gpointer data)
{
    Asker *asker = data;
    LithoRun run = {.cancel = asker->cancel};
    LithoResolved *known;
    asker->ok = litho_resolve(&reader, litho_flow_step(asker->flow, 0)->params, &run, &known, NULL);
    litho_resolved_unref(known);
    return NULL;
}

// Property: threads that ask for one file wait for one reading; when its reader is cancelled
// another one takes over.
static void test_one_reader(void)
{
    enum { N = 6 };
    g_autofree char *path = scratch_file("9");
    g_autoptr(LithoFlow) flow = reader_flow(path);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    Asker asker[N];
    GThread *thread[N];
    n_reads = 0;
    slow_ms = 150;
    for (int k = 0; k < N; k++) {
        asker[k] = (Asker){.flow = flow, .cancel = k == 0 ? cancel : NULL};
        thread[k] = g_thread_new("ask", ask, &asker[k]);
        while (k == 0 && g_atomic_int_get(&n_reads) == 0)
            g_usleep(100);
    }
    g_cancellable_cancel(cancel);
    for (int k = 0; k < N; k++) {
        g_thread_join(thread[k]);
        g_assert_cmpint(asker[k].ok, ==, k > 0);
    }
    g_assert_cmpint(n_reads, ==, 2);
    slow_ms = 0;
    g_unlink(path);
}

// Property: the checks of the operators touch no file. A pipe nobody writes to would hold for good
// whoever opens it; resolve() names it instead of opening it.
static void test_check_opens_nothing(void)
{
    const struct {
        const LithoOperator *op;
        const char *key;
    } cases[] = {{&litho_operator_migrate, "velocity"}, {&litho_operator_twsm, "model"}};
    g_autofree char *folder = g_dir_make_tmp("resolve-XXXXXX", NULL);
    g_autofree char *pipe = g_build_filename(folder, "pipe.npy", NULL);
    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
    LithoGrid grid = litho_grid_new(4, 4, 100);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoFlow) flow = litho_flow_new();
        litho_flow_append(flow, cases[k].op);
        g_assert_true(litho_param_parse(&cases[k].op->params, litho_flow_step(flow, 0)->params,
                                        cases[k].key, pipe, NULL));
        const LithoGrid *in = cases[k].op->needs_input ? &grid : NULL;
        g_autoptr(LithoWalk) walk = litho_walk_look(flow, in, &error);
        g_assert_no_error(error);
        g_assert_true(walk->waits);
        g_assert_null(litho_walk_resolve(flow, in, NULL, &error));
        g_assert_nonnull(strstr(error->message, "is not a regular file"));
    }
    g_unlink(pipe);
    g_rmdir(folder);
}

static GMutex woken_lock;
static GCond woken;
static guint n_wakes;

static void wake(gpointer data)
{
    (void)data;
    g_mutex_lock(&woken_lock);
    n_wakes++;
    g_cond_signal(&woken);
    g_mutex_unlock(&woken_lock);
}

// The next result of the worker that is of `tag`.
static LithoResult *next_result(LithoWorker *worker, guint64 tag)
{
    const gint64 end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
    while (g_get_monotonic_time() < end) {
        LithoResult *result = litho_worker_take(worker);
        if (result && result->tag == tag)
            return result;
        litho_result_unref(result);
        g_mutex_lock(&woken_lock);
        g_cond_wait_until(&woken, &woken_lock, g_get_monotonic_time() + 10000);
        g_mutex_unlock(&woken_lock);
    }
    g_assert_not_reached();
}

// Property: a drag of another parameter while a file is read does not begin the reading anew, the
// worker tells when it is known, and a file that is none is an error of the flow, not of the run.
static void test_worker(void)
{
    g_autofree char *path = scratch_file("11");
    g_autoptr(LithoFlow) flow = reader_flow(path);
    g_autoptr(LithoCube) in = test_random_cube(2, 3, 8, 1, FALSE);
    LithoWorker *worker = litho_worker_new(wake, NULL);
    n_reads = 0;
    slow_ms = 400;
    for (guint64 tag = 1; tag <= 20; tag++) {
        ((ReaderParams *)litho_flow_step(flow, 0)->params)->gain = tag * 0.1;
        litho_worker_submit(
            worker,
            &(LithoWish){
                .flow = flow, .in = in, .device = litho_device_cpu(), .whole = TRUE, .tag = tag});
        g_usleep(15000);
    }
    LithoResult *result = next_result(worker, 20);
    g_assert_no_error(result->error);
    g_assert_true(result->complete);
    g_assert_cmpint(n_reads, ==, 1);
    litho_result_unref(result);
    slow_ms = 0;

    g_assert_true(g_file_set_contents(path, "nothing", -1, NULL));
    litho_worker_submit(
        worker,
        &(LithoWish){
            .flow = flow, .in = in, .device = litho_device_cpu(), .whole = TRUE, .tag = 21});
    result = next_result(worker, 21);
    g_assert_nonnull(result->error);
    g_assert_true(result->refused);
    litho_result_unref(result);
    litho_worker_free(worker);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/resolve/read-once", test_read_once);
    g_test_add_func("/resolve/errors", test_errors);
    g_test_add_func("/resolve/kept", test_kept);
    g_test_add_func("/resolve/one-reader", test_one_reader);
    g_test_add_func("/resolve/check-opens-nothing", test_check_opens_nothing);
    g_test_add_func("/resolve/worker", test_worker);
    return g_test_run();
}
