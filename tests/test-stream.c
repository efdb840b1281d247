// SPDX-License-Identifier: GPL-3.0-or-later
//
// Surveys streamed through a flow, alone and shared between processes (played by threads here).
#include <glib/gstdio.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "core/engine/stream.h"
#include "core/engine/stream_plan.h"
#include "core/io/team.h"
#include "core/synth/synth_parts.h"
#include "kernels/template/template.h"

static char *folder;

static char *in_folder(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

// A survey on disk: 41 x 7 x 50 samples, every 11th trace missing.
static LithoSurvey *make_survey(void)
{
    g_autofree char *path = in_folder("in.sgy");
    LithoGrid grid = litho_grid_new(41, 7, 50);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)litho_hash_normal(5, 1, k);
    for (gint64 t = 0; t < litho_grid_traces(&grid); t += 11) {
        cube->live[t] = 0;
        memset(cube->samples + t * 50, 0, 50 * sizeof(float));
    }
    g_autoptr(GError) error = NULL;
    litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, &error);
    g_assert_no_error(error);
    const char *paths[] = {path, NULL};
    LithoSurvey *survey = litho_survey_open(paths, NULL, NULL, &error);
    g_assert_no_error(error);
    return survey;
}

static LithoFlow *two_means(void)
{
    LithoFlow *flow = litho_flow_new();
    for (int k = 0; k < 2; k++) {
        litho_flow_append(flow, &litho_operator_template);
        ((LithoTemplateParams *)litho_flow_step(flow, k)->params)->halfwidth = 2 + k;
    }
    return flow;
}

static LithoCube *load(const char *path)
{
    g_autoptr(GError) error = NULL;
    LithoCube *cube = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    return cube;
}

static void assert_same(const LithoCube *a, const LithoCube *b)
{
    gsize n = litho_cube_held_samples(a), traces = litho_grid_traces(&a->grid);
    g_assert_true(litho_grid_equal(&a->grid, &b->grid));
    g_assert_cmpmem(a->live, traces, b->live, traces);
    g_assert_cmpmem(a->samples, n * 4, b->samples, n * 4);
}

// Property: the file does not depend on the slabs, and equals the resident run, bit for bit. The
// memory budgets force 1 to 41 slabs; a halo or an order gone wrong shows at once.
static void test_slabs(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autoptr(LithoFlow) flow = two_means();
    g_autoptr(LithoCube) in = litho_survey_read(survey, NULL, NULL, NULL);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) expected = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
    litho_engine_free(engine);
    // Masked traces stay masked and are not written: the comparison is with zeros there.
    for (gint64 t = 0; t < 41 * 7; t++)
        if (!expected->live[t])
            memset(expected->samples + t * 50, 0, 200);

    gint64 most = 0;
    const guint64 budgets[] = {1 << 30, 400000, 200000, 120000};
    for (guint k = 0; k < G_N_ELEMENTS(budgets); k++) {
        g_autofree char *path = in_folder("slabs.sgy");
        LithoStreamOptions options = {.memory = budgets[k], .save = {.force = TRUE}};
        LithoStreamPlan plan;
        g_autoptr(GError) error = NULL;
        g_assert_true(litho_stream_plan(flow, survey, &options, NULL, &plan, &error));
        g_assert_cmpuint(plan.host_bytes, <=, budgets[k]);
        most = MAX(most, plan.n_slabs);
        g_assert_true(litho_stream_run(flow, survey, path, &options, NULL, &error));
        g_assert_no_error(error);
        g_autoptr(LithoCube) out = load(path);
        assert_same(out, expected);
    }
    g_assert_cmpint(most, >=, 6);
}

// Property: a survey is read once, whatever the slabs' halos have in common: 6 slabs of 7 inlines
// with a halo of 5 on both sides.
static void test_reads_once(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autoptr(LithoFlow) flow = two_means();
    g_autofree char *path = in_folder("once.sgy");
    LithoStreamTook took = {0};
    LithoStreamOptions options = {.memory = 120000, .save = {.force = TRUE}, .took = &took};
    g_autoptr(GError) error = NULL;
    litho_stream_run(flow, survey, path, &options, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(took.slabs, >=, 6);
    g_assert_cmpint(took.read_bytes, ==, 4 * 41 * 7 * 50);
}

// Property: inlines that an earlier cube of the survey holds come from that cube, the others from
// the file; a cube with other crosslines is of no use.
static void test_read_next(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    const LithoBox first = {{3, 0, 0}, {12, 7, 50}}, next = {{9, 0, 0}, {20, 7, 50}};
    const LithoBox narrow = {{9, 1, 0}, {20, 7, 50}};
    g_autoptr(LithoCube) near = litho_survey_read(survey, &first, NULL, NULL);
    g_autoptr(LithoCube) whole = litho_survey_read(survey, &next, NULL, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(near); k++)
        near->samples[k] = -7; // as no file has it
    g_autoptr(LithoCube) cube = litho_survey_read_next(survey, &next, near, NULL, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        g_assert_cmpfloat(cube->samples[k], ==, k < 3 * 7 * 50 ? -7 : whole->samples[k]);
    g_assert_cmpmem(cube->live, 11 * 7, whole->live, 11 * 7);
    g_autoptr(LithoCube) other = litho_survey_read_next(survey, &narrow, near, NULL, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(other); k++)
        g_assert_cmpfloat(other->samples[k], !=, -7);
}

// Property: a survey far larger than a slab goes through in slabs of about a gigabyte, also where
// the memory would hold it all: 20 GB.
static void test_large(void)
{
    const LithoGrid grid = litho_grid_new(5000, 1000, 1000);
    g_autoptr(LithoFlow) flow = two_means();
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, &grid, NULL, &error);
    g_assert_no_error(error);
    const LithoStreamOptions options = {.memory = G_GUINT64_CONSTANT(256) << 30};
    LithoStreamPlan plan;
    litho_stream_make_plan(flow, walk, &grid, &options, 0, &plan, &error);
    g_assert_no_error(error);
    g_assert_cmpint(plan.n_slabs, >=, 16);
    g_assert_cmpuint(plan.host_bytes, <, G_GUINT64_CONSTANT(12) << 30);
    g_assert_cmpint(4 * plan.halo, <=, plan.slab); // little is computed twice
}

// Property: a budget below one slab is refused with both figures and leaves no file.
static void test_too_little(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autoptr(LithoFlow) flow = two_means();
    g_autofree char *path = in_folder("never.sgy");
    LithoStreamOptions options = {.memory = 1000};
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_stream_run(flow, survey, path, &options, NULL, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

// TRUE while a file of the folder that begins with "written" holds samples.
static gboolean is_writing(gpointer data)
{
    (void)data;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = in_folder(name);
        GStatBuf info;
        if (g_str_has_prefix(name, "written") && g_stat(path, &info) == 0 && info.st_size > 4096)
            return TRUE;
    }
    return FALSE;
}

// Property: a cancel is seen between the blocks of a slab that are written, and no file is left. A
// slab may hold a gigabyte, and a disk may be slow.
static void test_cancel_while_writing(void)
{
    LithoGrid grid = litho_grid_new(64, 64, 1024);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    g_autofree char *in = in_folder("long.npy"), *out = in_folder("written.npy");
    g_autoptr(GError) error = NULL;
    litho_cube_save(cube, in, &(LithoSaveOptions){.force = TRUE}, NULL, &error);
    g_assert_no_error(error);
    const char *paths[] = {in, NULL};
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    LithoRun run = {.superseded = is_writing};
    LithoStreamOptions options = {.save = {.force = TRUE}};
    g_assert_false(litho_stream_run(flow, survey, out, &options, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_assert_false(is_writing(NULL));
}

// Property: a cancel between slabs ends the run as cancelled and removes the temporary file.
typedef struct Fuse {
    GCancellable *cancel;
    gint64 at;
} Fuse;

static void burn(const LithoProgress *progress, gpointer data)
{
    Fuse *fuse = data;
    if (progress->done >= fuse->at)
        g_cancellable_cancel(fuse->cancel);
}

static guint files_in_folder(void)
{
    guint n = 0;
    GDir *dir = g_dir_open(folder, 0, NULL);
    while (g_dir_read_name(dir))
        n++;
    g_dir_close(dir);
    return n;
}

static void test_cancel(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autoptr(LithoFlow) flow = two_means();
    g_autofree char *path = in_folder("cancelled.sgy");
    guint before = files_in_folder();
    Fuse fuse = {.cancel = g_cancellable_new(), .at = 0};
    LithoRun run = {.cancel = fuse.cancel, .on_progress = burn, .progress_data = &fuse};
    LithoStreamOptions options = {.memory = 200000};
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_stream_run(flow, survey, path, &options, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_assert_cmpuint(files_in_folder(), ==, before);
    g_object_unref(fuse.cancel);
}

// --- several processes ------------------------------------------------------------------------

enum { RANKS = 3 };

// Messages of one rank to another.
typedef struct Wire {
    GMutex lock;
    GCond sent;
    GQueue messages; // of GBytes
} Wire;
static Wire wires[RANKS][RANKS]; // [from][to]

static gboolean wire_send(const void *bytes, gsize count, int to, LithoRun *run, gpointer data)
{
    (void)run;
    Wire *wire = &wires[GPOINTER_TO_INT(data)][to];
    g_mutex_lock(&wire->lock);
    g_queue_push_tail(&wire->messages, g_bytes_new(bytes, count));
    g_cond_signal(&wire->sent);
    g_mutex_unlock(&wire->lock);
    return TRUE;
}

static gboolean wire_receive(void *bytes, gsize count, int from, LithoRun *run, gpointer data)
{
    (void)run;
    Wire *wire = &wires[from][GPOINTER_TO_INT(data)];
    gint64 end = g_get_monotonic_time() + 20 * G_TIME_SPAN_SECOND;
    g_mutex_lock(&wire->lock);
    while (g_queue_is_empty(&wire->messages) && g_cond_wait_until(&wire->sent, &wire->lock, end))
        ;
    GBytes *message = g_queue_pop_head(&wire->messages);
    g_mutex_unlock(&wire->lock);
    gboolean ok = message && g_bytes_get_size(message) == count;
    if (ok)
        memcpy(bytes, g_bytes_get_data(message, NULL), count);
    g_bytes_unref(message);
    return ok;
}

typedef struct Rank {
    int rank;
    LithoSurvey *survey;
    const char *path;
    LithoFlow *(*flow)(void);
    guint64 memory;
    gboolean broken; // this rank's reading is cancelled from the start
    gboolean ok;
    LithoFlow *ran; // with its numbers
    GError *error;
} Rank;

static gpointer rank_main(gpointer data)
{
    Rank *r = data;
    g_autoptr(LithoFlow) flow = r->flow();
    LithoPeers peers = {.rank = r->rank,
                        .n = RANKS,
                        .data = GINT_TO_POINTER(r->rank),
                        .send = wire_send,
                        .receive = wire_receive};
    LithoStreamOptions options = {
        .memory = r->memory, .peers = &peers, .save = {.force = TRUE}, .ran = &r->ran};
    GCancellable *cancel = g_cancellable_new();
    if (r->broken)
        g_cancellable_cancel(cancel);
    LithoRun run = {.cancel = cancel};
    r->ok = litho_stream_run(flow, r->survey, r->path, &options, &run, &r->error);
    g_object_unref(cancel);
    return NULL;
}

static void run_ranks(Rank ranks[RANKS], LithoSurvey *survey, const char *path)
{
    GThread *threads[RANKS];
    for (int k = 0; k < RANKS; k++) {
        ranks[k].rank = k;
        ranks[k].survey = survey;
        ranks[k].path = path;
        if (!ranks[k].flow) {
            ranks[k].flow = two_means;
            ranks[k].memory = 200000;
        }
        threads[k] = g_thread_new("rank", rank_main, &ranks[k]);
    }
    for (int k = 0; k < RANKS; k++)
        g_thread_join(threads[k]);
    for (int k = 0; k < RANKS; k++)
        for (int to = 0; to < RANKS; to++)
            g_queue_clear_full(&wires[k][to].messages, (GDestroyNotify)g_bytes_unref);
}

// Property: three ranks write the same file as one.
static void test_ranks(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autoptr(LithoFlow) flow = two_means();
    g_autofree char *alone = in_folder("alone.sgy"), *shared = in_folder("shared.sgy");
    LithoStreamOptions options = {.save = {.force = TRUE}};
    g_assert_true(litho_stream_run(flow, survey, alone, &options, NULL, NULL));
    Rank ranks[RANKS] = {{0}};
    run_ranks(ranks, survey, shared);
    for (int k = 0; k < RANKS; k++) {
        g_assert_no_error(ranks[k].error);
        g_assert_true(ranks[k].ok);
    }
    g_autoptr(LithoCube) a = load(alone);
    g_autoptr(LithoCube) b = load(shared);
    assert_same(a, b);
    for (int k = 0; k < RANKS; k++)
        litho_flow_free(ranks[k].ran);
}

// --- measured behind blocks ---------------------------------------------------------------------

// A mean that is computed in blocks of 10 x 4 traces, as a whole for any part of one, and a mean
// that is measured. Counts of all processes.
enum { BLOCK_INLINES = 10, BLOCK_CROSSLINES = 4, BLOCKS = 5 * 2 };
static int blocks_made, times_measured, parts_read;

static gint64 block_inlines(const LithoGrid *in, const void *params)
{
    (void)in, (void)params;
    return BLOCK_INLINES;
}

static gint64 block_crosslines(const LithoGrid *in, const void *params)
{
    (void)in, (void)params;
    return BLOCK_CROSSLINES;
}

static gboolean exec_blocks(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    const gint64 *lo = pass->region.lo, *hi = pass->region.hi;
    const gint64 rows = (hi[0] - 1) / BLOCK_INLINES - lo[0] / BLOCK_INLINES + 1;
    const gint64 columns = (hi[1] - 1) / BLOCK_CROSSLINES - lo[1] / BLOCK_CROSSLINES + 1;
    g_atomic_int_add(&blocks_made, (int)(rows * columns));
    return litho_template_cpu.exec(plan, pass, run, error);
}

static char *mean_key(const void *params)
{
    const LithoTemplateParams *p = params;
    return g_strdup_printf("mean %d", p->halfwidth);
}

// The survey's largest sample, by parts that have inlines in common.
static LithoMeasured *measure_mean(const void *params, const LithoReader *reader, LithoRun *run,
                                   GError **error)
{
    float most = 0;
    g_atomic_int_inc(&times_measured);
    for (gint64 lo = 0; lo < reader->grid->axis[0].n; lo += 4) {
        LithoBox box = litho_box_full(reader->grid);
        box.lo[0] = lo;
        box.hi[0] = MIN(lo + 6, box.hi[0]);
        g_autoptr(LithoCube) part = reader->read(&box, run, reader->data, error);
        if (!part)
            return NULL;
        g_atomic_int_inc(&parts_read);
        for (gint64 k = 0; k < litho_cube_held_samples(part); k++)
            most = MAX(most, part->samples[k]);
    }
    g_autofree char *key = mean_key(params);
    return litho_measured_new(key, "largest", &most, sizeof most);
}

// Blocks, a mean, blocks, a mean: "fill, fx, fill, fx".
static LithoFlow *blocks_and_means(void)
{
    static LithoImpl impl;
    static LithoOperator blocks, mean;
    static gsize once;
    if (g_once_init_enter(&once)) {
        impl = litho_template_cpu;
        impl.exec = exec_blocks;
        blocks = mean = litho_operator_template;
        blocks.cpu = &impl;
        blocks.slab = block_inlines;
        blocks.across = block_crosslines;
        mean.measure_key = mean_key;
        mean.measure = measure_mean;
        g_once_init_leave(&once, 1);
    }
    LithoFlow *flow = litho_flow_new();
    for (int k = 0; k < 4; k++) {
        litho_flow_append(flow, k % 2 == 0 ? &blocks : &mean);
        ((LithoTemplateParams *)litho_flow_step(flow, k)->params)->halfwidth = 1 + k;
    }
    return flow;
}

static void assert_same_numbers(const LithoFlow *a, const LithoFlow *b)
{
    for (guint k = 0; k < litho_flow_length(a); k++) {
        gboolean needed;
        const LithoMeasured *x = litho_step_measured(litho_flow_step(a, k), &needed);
        const LithoMeasured *y = litho_step_measured(litho_flow_step(b, k), NULL);
        g_assert_true((x != NULL) == needed && (y != NULL) == needed);
        if (!needed)
            continue;
        gsize n, m;
        gconstpointer own = litho_measured_bytes(x, &n), other = litho_measured_bytes(y, &m);
        g_assert_cmpmem(own, n, other, m);
    }
}

// Property: steps behind blocks are measured once for all processes, and each block of each step is
// computed once, by one of them. Measuring took the blocks that a part touches anew for every part:
// the first process filled a survey 17 times, and all of them once more. Where memory does not hold
// what a step gives the bytes are the same.
static void test_measured_behind_blocks(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autoptr(LithoFlow) flow = blocks_and_means();
    g_autofree char *alone = in_folder("alone.sgy"), *shared = in_folder("shared.sgy");
    LithoFlow *ran = NULL;
    LithoStreamOptions options = {.save = {.force = TRUE}, .measure = TRUE, .ran = &ran};
    g_assert_true(litho_stream_run(flow, survey, alone, &options, NULL, NULL));
    g_autoptr(LithoCube) expected = load(alone);
    for (int keeps = 0; keeps < 2; keeps++) {
        const guint64 memory = keeps ? 1 << 20 : 180000;
        LithoPeers peers = {.n = RANKS};
        LithoStreamPlan plan;
        options = (LithoStreamOptions){.memory = memory, .peers = &peers};
        g_assert_true(litho_stream_plan(flow, survey, &options, NULL, &plan, NULL));
        g_assert_cmpuint(plan.kept_bytes, ==, keeps ? 2 * 4 * 41 * 7 * 50 : 0);
        g_assert_cmpuint(plan.host_bytes, <=, memory);
        blocks_made = times_measured = parts_read = 0;
        Rank ranks[RANKS];
        for (int k = 0; k < RANKS; k++)
            ranks[k] = (Rank){.flow = blocks_and_means, .memory = memory};
        run_ranks(ranks, survey, shared);
        for (int k = 0; k < RANKS; k++) {
            g_assert_no_error(ranks[k].error);
            assert_same_numbers(ranks[k].ran, ran);
            litho_flow_free(ranks[k].ran);
        }
        g_autoptr(LithoCube) out = load(shared);
        assert_same(out, expected);
        g_test_message("%d blocks made, %d parts read", blocks_made, parts_read);
        g_assert_cmpint(times_measured, ==, 2);
        g_assert_cmpint(parts_read, ==, 2 * 11);
        if (keeps)
            g_assert_cmpint(blocks_made, ==, 2 * BLOCKS);
        else
            g_assert_cmpint(blocks_made, >, 2 * BLOCKS);
    }
    litho_flow_free(ran);
}

// Property: when one rank fails rank 0 says which and why, and no file stays behind.
static void test_rank_fails(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autofree char *path = in_folder("broken.sgy");
    guint before = files_in_folder();
    Rank ranks[RANKS] = {{0}, {0}, {.broken = TRUE}};
    run_ranks(ranks, survey, path);
    g_assert_false(ranks[0].ok);
    g_assert_nonnull(strstr(ranks[0].error->message, "process 2: cancelled"));
    g_assert_cmpuint(files_in_folder(), ==, before);
    for (int k = 0; k < RANKS; k++) {
        litho_flow_free(ranks[k].ran); // one that was done before
        g_clear_error(&ranks[k].error);
    }
}

// --- devices ------------------------------------------------------------------------------------

enum { SLAB_MS = 20 };
static int opened[2]; // times that each device was asked for its memory, which opens it

static gboolean slow_exec(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    g_usleep(1000 * SLAB_MS);
    return litho_template_cpu.exec(plan, pass, run, error);
}

static const LithoImpl *slow_impl(const LithoOperator *op)
{
    static LithoImpl impl;
    static gsize once;
    if (g_once_init_enter(&once)) {
        impl = litho_template_cpu;
        impl.exec = slow_exec;
        g_once_init_leave(&once, 1);
    }
    return op == &litho_operator_template ? &impl : NULL;
}

static gboolean open_device(int device, guint64 *free_bytes, guint64 *total, GError **error)
{
    (void)error;
    g_atomic_int_inc(&opened[device]);
    *free_bytes = *total = G_MAXINT64;
    return TRUE;
}

static const LithoBackend two_devices = {.abi = LITHO_BACKEND_ABI,
                                         .key = "fake",
                                         .title = "Two devices",
                                         .n_devices = 2,
                                         .impl = slow_impl,
                                         .memory = open_device};

// Runs on two devices; gives how many computed.
static int run_on_two(LithoSurvey *survey, const char *path, double open_s, LithoStreamTook *took)
{
    g_autoptr(LithoFlow) flow = two_means();
    g_autoptr(GError) error = NULL;
    LithoRun run = {0};
    LithoStreamPlan plan;
    const LithoStreamOptions options = {.device = {.backend = &two_devices, .count = 2},
                                        .memory = 160000,
                                        .open_s = open_s,
                                        .save = {.force = TRUE},
                                        .took = took};
    g_assert_true(litho_stream_plan(flow, survey, &options, NULL, &plan, &error));
    g_assert_cmpint(plan.n_slabs, >=, 12);
    memset(opened, 0, sizeof opened);
    g_assert_true(litho_stream_run(flow, survey, path, &options, &run, &error));
    g_assert_no_error(error);
    return run.devices_used;
}

// Property: a second device is opened when the slabs left are worth it, and not before; the samples
// are the same. Opening all of them at the start made short runs slower.
static void test_devices(void)
{
    g_autoptr(LithoSurvey) survey = make_survey();
    g_autoptr(LithoFlow) flow = two_means();
    g_autofree char *alone = in_folder("alone.sgy"), *shared = in_folder("shared.sgy");
    LithoStreamOptions options = {.save = {.force = TRUE}};
    LithoStreamTook took;
    g_assert_true(litho_stream_run(flow, survey, alone, &options, NULL, NULL));
    g_autoptr(LithoCube) expected = load(alone);

    g_assert_cmpint(run_on_two(survey, shared, 1e6, &took), ==, 1);
    g_assert_cmpint(g_atomic_int_get(&opened[1]), ==, 0);
    g_autoptr(LithoCube) one = load(shared);
    assert_same(one, expected);
    g_assert_cmpint(took.devices, ==, 1);
    g_assert_cmpint(took.samples, ==, litho_cube_held_samples(expected));
    g_assert_cmpfloat(took.compute_s, >=, 1e-3 * 2 * SLAB_MS * (double)took.slabs);

    g_assert_cmpint(run_on_two(survey, shared, 1e-6, &took), ==, 2);
    g_assert_cmpint(g_atomic_int_get(&opened[1]), >, 0);
    g_autoptr(LithoCube) two = load(shared);
    assert_same(two, expected);
    g_assert_cmpint(took.devices, ==, 2);
}

typedef struct Loop {
    LithoTeam team;
    gint64 n;
    int *visits; // of each item
    int callers; // shares told that they run in the caller's thread
} Loop;

static void visit(gpointer data, gboolean caller)
{
    Loop *loop = data;
    if (caller)
        loop->callers++;
    for (gint64 k; litho_team_take(&loop->team, 1, loop->n, &k);)
        g_atomic_int_inc(&loop->visits[k]);
}

// Property: a loop visits every item once, whatever the number of threads, and one share is the
// caller's. 2000 loops in turn: a thread that comes late to one must not touch the next.
static void test_team(void)
{
    for (int round = 0; round < 2000; round++) {
        int visits[37] = {0};
        Loop loop = {LITHO_TEAM_START, round % 38, visits, 0};
        litho_team_run(round % 9, visit, &loop);
        for (int k = 0; k < 37; k++)
            g_assert_cmpint(visits[k], ==, k < loop.n);
        g_assert_cmpint(loop.callers, ==, 1);
    }
}

// Threads of this process that carry its name, as those of OpenMP do; those of GLib have their own.
static int own_threads(void)
{
    g_autofree char *own = NULL;
    g_assert_true(g_file_get_contents("/proc/self/comm", &own, NULL, NULL));
    g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
    int n = 0;
    for (const char *id; (id = g_dir_read_name(tasks));) {
        g_autofree char *path = g_strdup_printf("/proc/self/task/%s/comm", id), *name = NULL;
        if (g_file_get_contents(path, &name, NULL, NULL))
            n += strcmp(name, own) == 0;
    }
    return n;
}

static gpointer end_at_once(gpointer data)
{
    return data;
}

// Property: reading and writing leave no threads of OpenMP behind. Theirs spin when a loop has
// ended; beside computing and copying they took half of the reader's time.
static void test_sleeping_readers(void)
{
    if (g_test_subprocess()) {
        // Libraries may have some; the thread sanitizer's own begins with the first of others.
        (void)g_thread_join(g_thread_new("first", end_at_once, NULL));
        const int before = own_threads();
        LithoGrid grid = litho_grid_new(64, 64, 400); // more than a block of a megabyte
        g_autofree char *path = in_folder("large.sgy"), *copy = in_folder("copy.sgy");
        g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
        memset(cube->live, 1, litho_grid_traces(&grid));
        LithoRun run = {.threads = 4};
        g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, &run, NULL));
        g_autoptr(LithoCube) again = litho_cube_load(path, NULL, &run, NULL);
        g_assert_true(litho_cube_save(again, copy, &(LithoSaveOptions){.force = TRUE}, &run, NULL));
        // A thread of GLib's that has just begun does not carry its name yet.
        for (int k = 0; k < 100 && own_threads() != before; k++)
            g_usleep(20000);
        g_assert_cmpint(own_threads(), ==, before);
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("litho-stream-XXXXXX", NULL);
    g_test_add_func("/stream/slabs", test_slabs);
    g_test_add_func("/stream/reads-once", test_reads_once);
    g_test_add_func("/stream/read-next", test_read_next);
    g_test_add_func("/stream/large", test_large);
    g_test_add_func("/stream/too-little", test_too_little);
    g_test_add_func("/stream/cancel", test_cancel);
    g_test_add_func("/stream/cancel-while-writing", test_cancel_while_writing);
    g_test_add_func("/stream/ranks", test_ranks);
    g_test_add_func("/stream/measured-behind-blocks", test_measured_behind_blocks);
    g_test_add_func("/stream/rank-fails", test_rank_fails);
    g_test_add_func("/stream/devices", test_devices);
    g_test_add_func("/stream/team", test_team);
    g_test_add_func("/stream/sleeping-readers", test_sleeping_readers);
    int status = g_test_run();
    const char *made[] = {"in.sgy", "slabs.sgy", "alone.sgy", "shared.sgy",
                          "large.sgy", "copy.sgy"};
    for (guint k = 0; k < G_N_ELEMENTS(made); k++) {
        g_autofree char *path = in_folder(made[k]);
        g_remove(path);
    }
    g_rmdir(folder);
    g_free(folder);
    return status;
}
