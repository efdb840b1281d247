// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter on a GPU with too little memory: it runs in what there is, to the bit, goes
// through the survey in slabs, or is refused in words. Skipped where there is no GPU.
#include <glib/gstdio.h>
#include <gmodule.h>

#include "core/engine/stream.h"
#include "core/io/survey.h"
#include "tests/fx_cuda.h"

// One run on a twin of `in` that the device has not seen: 1 with the bits of `expected`, 0 refused
// in a sentence that names what is free.
static int try_within(const LithoCube *in, const char *settings, const LithoCube *expected)
{
    g_autoptr(LithoCube) twin = litho_cube_copy_box(in, in->held, NULL);
    LithoEngine *engine = engine_on("cuda");
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    *(LithoFxParams *)litho_flow_step(flow, 0)->params = fx_params(settings);
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, twin, NULL, &run, &error);
    if (out) {
        g_assert_nonnull(litho_cube_host(out, &error));
        g_assert_true(fx_same_bits(out, expected));
    } else {
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
        g_assert_nonnull(strstr(error->message, "are free"));
        g_test_message("%s", error->message);
    }
    litho_engine_free(engine);
    litho_report_unref(report);
    return out != NULL;
}

static guint64 told_need(const LithoCube *in, const char *settings)
{
    LithoDevice device;
    g_assert_true(litho_device_parse("cuda", &device, NULL));
    const LithoFxParams params = fx_params(settings);
    const LithoImpl *impl = litho_device_impl(device, &litho_operator_fx, NULL);
    return impl->memory(&in->grid, &params, NULL, litho_box_full(&in->grid), 2);
}

typedef struct Tight {
    int n1, n2, nt;
    double missing;
    const char *settings;
    int least; // caps it must run in: cuFFT's batches do not get smaller
} Tight;

// Many time windows; holes, which take tiles and a copy with guesses; cuFFT instead of our own
// transforms; many spatial windows.
static const Tight tight_cases[] = {
    {60, 55, 2600, 0, "time_window=150 time_overlap=50", 3},
    {60, 55, 1200, 0.06, "fill_dead=1 time_window=150 time_overlap=50", 2},
    {60, 55, 1200, 0, "", 2},
    {60, 55, 600, 0.03, "time_window=100 fft_length=135 time_overlap=40", 1},
    {110, 104, 150, 0.03, "faults=off window=10 stride=2 half_width=1", 2},
    {110, 104, 150, 0.03, "window=10 stride=2 half_width=1", 1}, // 16 frequencies at least
};

// Property: with ever less memory the samples stay the same bit for bit until there is too little
// for the smallest plan, which is then refused in words; what memory() tells is enough. A plan that
// forgets an array is refused too early, one that frees what is still read gives other bits, and a
// pass that went to the CPU would not fail at all.
static void test_small_memory(void)
{
    if (no_gpu())
        return;
    const LithoBackend *cuda = litho_backend_cuda();
    for (guint k = 0; k < G_N_ELEMENTS(tight_cases); k++) {
        const Tight *c = &tight_cases[k];
        g_autoptr(LithoCube) in = noisy_cube(c->n1, c->n2, c->nt, c->missing);
        g_autoptr(LithoCube) expected = run_once("cuda", c->settings, in, NULL, NULL);
        const guint64 cubes = 2 * sizeof(float) * litho_cube_held_samples(in);
        const guint64 told = told_need(in, c->settings);
        litho_cube_leave_device(in); // the twins' own copies are to be all there is
        litho_cube_leave_device(expected);
        cuda->limit_memory(told);
        g_assert_true(try_within(in, c->settings, expected));
        gboolean refused = FALSE;
        int fits = 0, tries = 0;
        for (guint64 extra = told - cubes; extra > 1 << 18; extra = extra / 3 * 2, tries++) {
            cuda->limit_memory(cubes + extra);
            const gboolean now = try_within(in, c->settings, expected);
            g_assert_false(now && refused);
            refused |= !now;
            fits += now;
        }
        cuda->limit_memory(0);
        g_test_message("%d x %d x %d, %s: told %.1f MiB beside %.1f of cubes, ran in %d of %d",
                       c->n1, c->n2, c->nt, c->settings, (told - cubes) / 1048576.0,
                       cubes / 1048576.0, fits, tries);
        g_assert_true(refused);
        g_assert_cmpint(fits, >=, c->least);
        g_assert_true(try_within(in, c->settings, expected));
    }
}

static LithoStreamPlan stream_to(const char *path, LithoSurvey *survey, int n_devices)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    const LithoStreamOptions options = {
        .device = {.backend = litho_backend_cuda(), .count = n_devices}, .save = {.force = TRUE}};
    LithoStreamPlan plan;
    g_autoptr(GError) error = NULL;
    const gboolean planned = litho_stream_plan(flow, survey, &options, NULL, &plan, &error);
    g_assert_no_error(error);
    const gboolean done = litho_stream_run(flow, survey, path, &options, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(planned && done);
    return plan;
}

static void assert_same_files(const char *a, const char *b)
{
    g_autofree char *x = NULL, *y = NULL;
    gsize n = 0, m = 0;
    g_assert_true(g_file_get_contents(a, &x, &n, NULL));
    g_assert_true(g_file_get_contents(b, &y, &m, NULL));
    g_assert_cmpmem(x, n, y, m);
}

// Property: a survey beyond what the GPU may take goes through it in slabs, its neighbours' copies
// beside the computing, and the file is that of the run in one piece; so it is with every GPU of
// the machine; a cap below the smallest slab is refused before anything is read.
static void test_stream(void)
{
    if (no_gpu())
        return;
    const LithoBackend *cuda = litho_backend_cuda();
    g_autofree char *folder = g_dir_make_tmp("lithoscope-XXXXXX", NULL);
    g_autofree char *from = g_build_filename(folder, "in.npy", NULL);
    g_autofree char *whole = g_build_filename(folder, "whole.npy", NULL);
    g_autofree char *slabs = g_build_filename(folder, "slabs.npy", NULL);
    g_autoptr(LithoCube) cube = noisy_cube(190, 60, 500, 0.02);
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_cube_save(cube, from, &(LithoSaveOptions){.force = TRUE}, NULL, &error));
    const char *paths[] = {from, NULL};
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(stream_to(whole, survey, 1).n_slabs, ==, 1);
    cuda->limit_memory(told_need(cube, "") * 2 / 3);
    const LithoStreamPlan plan = stream_to(slabs, survey, 1);
    g_assert_cmpint(plan.n_slabs, >=, 2);
    assert_same_files(whole, slabs);
    cuda->limit_memory(8 << 20);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    const LithoStreamOptions options = {.device = {.backend = cuda}};
    LithoStreamPlan refused;
    g_assert_false(litho_stream_plan(flow, survey, &options, NULL, &refused, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
    g_test_message("%d slabs of %d; %s", (int)plan.n_slabs, (int)plan.slab, error->message);
    cuda->limit_memory(0);
    stream_to(slabs, survey, cuda->n_devices);
    assert_same_files(whole, slabs);
    g_remove(from);
    g_remove(whole);
    g_remove(slabs);
    g_rmdir(folder);
}

// Everything on the card but `leave` bytes, by the driver's own allocator and past the module.
typedef struct Hog {
    GModule *driver;
    int (*free_memory)(guint64 at);
    guint64 blocks[256];
    int n;
} Hog;

static guint64 driver_symbol(Hog *hog, const char *name)
{
    gpointer symbol = NULL;
    g_assert_true(g_module_symbol(hog->driver, name, &symbol));
    return (guint64)(gsize)symbol;
}

static void hog_take(Hog *hog, gsize leave)
{
    hog->driver = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY);
    g_assert_nonnull(hog->driver);
    int (*retain)(gpointer *, int) =
        (int (*)(gpointer *, int))driver_symbol(hog, "cuDevicePrimaryCtxRetain");
    int (*current)(gpointer) = (int (*)(gpointer))driver_symbol(hog, "cuCtxSetCurrent");
    int (*info)(gsize *, gsize *) =
        (int (*)(gsize *, gsize *))driver_symbol(hog, "cuMemGetInfo_v2");
    int (*take)(guint64 *, gsize) = (int (*)(guint64 *, gsize))driver_symbol(hog, "cuMemAlloc_v2");
    hog->free_memory = (int (*)(guint64))driver_symbol(hog, "cuMemFree_v2");
    gpointer context = NULL;
    gsize unused = 0, total = 0;
    g_assert_cmpint(retain(&context, 0), ==, 0);
    g_assert_cmpint(current(context), ==, 0);
    while (info(&unused, &total) == 0 && unused > leave && hog->n < 256) {
        gsize block = MIN(unused - leave, (gsize)4 << 30);
        if (block < 2 << 20 || take(&hog->blocks[hog->n], block) != 0)
            break;
        hog->n++;
    }
    g_test_message("%d blocks taken, %.3f of %.1f GiB left", hog->n, unused / 1073741824.0,
                   total / 1073741824.0);
    g_assert_cmpuint(unused, <=, leave + (8 << 20));
}

static void hog_give_back(Hog *hog)
{
    while (hog->n > 0)
        g_assert_cmpint(hog->free_memory(hog->blocks[--hog->n]), ==, 0);
}

// Property: on a card that something else has filled, the filter runs in what is left or is refused
// in words, and afterwards runs as before. Nothing here knows of a cap: the driver says no.
static void test_full_card(void)
{
    if (no_gpu())
        return;
    const Tight *c = &tight_cases[0];
    g_autoptr(LithoCube) in = noisy_cube(c->n1, c->n2, c->nt, c->missing);
    g_autoptr(LithoCube) expected = run_once("cuda", c->settings, in, NULL, NULL);
    litho_cube_leave_device(in);
    litho_cube_leave_device(expected);
    // Memory kept by the pool must go, or there would be room without asking the driver.
    g_assert_null(litho_backend_cuda()->alloc(0, (gint64)1 << 44, NULL));
    const int leave_mib[] = {1024, 256, 128, 96, 64, 32, 16};
    int fits = 0;
    gboolean refused = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(leave_mib); k++) {
        Hog hog = {0};
        hog_take(&hog, (gsize)leave_mib[k] << 20);
        const gboolean now = try_within(in, c->settings, expected);
        g_test_message("%d MiB left: %s", leave_mib[k], now ? "ran" : "refused");
        fits += now;
        refused |= !now;
        g_assert_null(litho_backend_cuda()->alloc(0, (gint64)1 << 44, NULL));
        hog_give_back(&hog);
    }
    g_assert_cmpint(fits, >=, 2);
    g_assert_true(refused);
    g_assert_true(try_within(in, c->settings, expected));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx-cuda-memory/small", test_small_memory);
    g_test_add_func("/fx-cuda-memory/stream", test_stream);
    g_test_add_func("/fx-cuda-memory/full-card", test_full_card);
    return test_run();
}
