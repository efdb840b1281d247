// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration on GPUs as a run: parts shown on the way, cancel, little memory, several GPUs.
// Skips without a GPU.
#include "tests/migrate_helpers.h"
#include "tests/common.h"

static gboolean gpus_or_skip(int n, LithoDevice *device)
{
    g_autoptr(GError) error = NULL;
    if (!litho_device_parse("cuda", device, &error)) {
        g_test_skip(error->message);
        return FALSE;
    }
    if (device->backend->n_devices >= n)
        return TRUE;
    g_autofree char *why =
        g_strdup_printf("%d GPUs are needed, here is %d", n, device->backend->n_devices);
    g_test_skip(why);
    return FALSE;
}

static LithoCube *run_on(LithoDevice device, const LithoCube *in, LithoRun *run, GError **error,
                         const char *settings)
{
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoEngine *engine = litho_engine_new(device);
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, run, error);
    if (out && !litho_cube_host(out, error))
        g_clear_pointer(&out, litho_cube_unref);
    litho_engine_free(engine);
    return out;
}

static void take_part(LithoCube *part, gpointer data)
{
    LithoCube **whole = data;
    if (!*whole)
        *whole = litho_cube_new(&part->grid, NULL);
    GError *error = NULL;
    litho_cube_host(part, &error); // the depths are on the device
    g_assert_no_error(error);
    litho_cube_paste(*whole, part);
}

// Property: the slabs shown on the way are the final samples.
static void test_parts(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(1, &gpu))
        return;
    static const char *const cases[] = {"coarse=on", "step=1", "step=3"};
    LithoGrid grid = time_grid(60, 70, 200, 12, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 8);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        LithoCube *whole = NULL;
        LithoRun run = {.on_partial = take_part, .partial_data = &whole};
        g_autofree char *settings = g_strdup_printf("velocity=2000 nz=150 %s", cases[k]);
        g_autoptr(LithoCube) out = run_on(gpu, in, &run, NULL, settings);
        gsize bytes = litho_grid_samples(&out->grid) * sizeof(float);
        g_assert_cmpmem(whole->samples, bytes, out->samples, bytes);
        litho_cube_unref(whole);
    }
}

// The parts that were seen of a run up to its first look.
typedef struct Look {
    LithoCube *part;
    guint parts, looks;
    GCancellable *stop; // when it has been seen, or NULL
} Look;

static void take_look_part(LithoCube *part, gpointer data)
{
    Look *look = data;
    if (look->parts++ == 0)
        look->part = litho_cube_ref(part);
}

static void look_taken(gpointer data)
{
    Look *look = data;
    look->looks++;
    if (look->stop)
        g_cancellable_cancel(look->stop);
}

static char *varying_rock(void)
{
    LithoGrid g = time_grid(20, 30, 60, 20, 10);
    g.is_depth = TRUE;
    g_autoptr(LithoCube) v = litho_cube_new(&g, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&g); k++)
        v->samples[k] = (float)(2200 + 200 * sin(0.01 * k));
    char *path = scratch_path("litho-test-look-cuda.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(v, path, &save, NULL, NULL));
    return path;
}

// Property: the first look is the CPU's, comes before all other parts, lies on the device, and
// leaves the samples of the result as they are without it.
static void test_first_look(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(1, &gpu))
        return;
    g_autofree char *rock = varying_rock();
    static const char *const cases[] = {"velocity=2000 step=1", "velocity=2000 step=2 stop=off",
                                        "velocity=2000 step=3 degree=31", "velocity=%s step=2",
                                        "velocity=%s step=4 gpu_kernel=per-degree"};
    LithoGrid grid = time_grid(90, 100, 400, 12, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 8);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_auto(GStrv) halves = g_strsplit(cases[k], "%s", 2);
        g_autofree char *one = g_strjoinv(rock, halves);
        g_autofree char *settings =
            g_strdup_printf("%s nz=150 velocity_dz=%d", one, strstr(one, rock) ? 20 : 0);
        Look host = {.stop = g_cancellable_new()}, device = {.parts = 0};
        LithoRun run = {.on_partial = take_look_part,
                        .on_first_look = look_taken,
                        .partial_data = &host,
                        .cancel = host.stop};
        g_assert_null(run_on(litho_device_cpu(), in, &run, NULL, settings));
        g_assert_cmpuint(host.looks, ==, 1);
        LithoRun on_gpu = {
            .on_partial = take_look_part, .on_first_look = look_taken, .partial_data = &device};
        g_autoptr(LithoCube) out = run_on(gpu, in, &on_gpu, NULL, settings);
        g_autoptr(LithoCube) plain = run_on(gpu, in, NULL, NULL, settings);
        g_assert_cmpuint(device.looks, ==, 1);
        g_assert_nonnull(device.part->device);
        g_assert_nonnull(litho_cube_host(device.part, NULL));
        const double apart = relative_difference(device.part, host.part);
        g_test_message("%s: %.2e of the CPU's, %.3f of the image", settings, apart,
                       relative_difference(device.part, out));
        g_assert_cmpfloat(apart, <, 2e-5);
        const gsize bytes = litho_grid_samples(&out->grid) * sizeof(float);
        g_assert_cmpmem(out->samples, bytes, plain->samples, bytes);
        litho_cube_unref(host.part);
        litho_cube_unref(device.part);
        g_object_unref(host.stop);
    }
    g_unlink(rock);
}

static gpointer cancel_later(gpointer data)
{
    g_usleep(700000); // the module's start, velocity and design are over; seconds of waves remain
    gint64 now = g_get_monotonic_time();
    g_cancellable_cancel(data);
    return GSIZE_TO_POINTER((gsize)now);
}

// Property: a cancel is obeyed between two chunks of about 12 ms, two of which are in flight: 60
// ms, and as much again for slower cards. The plan is good for another pass afterwards, with the
// same samples.
static void test_cancel(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(1, &gpu))
        return;
    const char *settings = "velocity=2000 nz=1200 degree=31 step=1 fmax=60";
    // Records as long as the deepest depth takes: depths out of reach cost nothing.
    LithoGrid grid = time_grid(150, 150, 1300, 12.5, 0.004),
              small = time_grid(20, 30, 100, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 4);
    g_autoptr(LithoCube) other = random_cube(&small, 5);
    g_autoptr(LithoCube) warm = run_on(gpu, other, NULL, NULL, "velocity=2000 nz=20");
    g_assert_nonnull(warm);
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoEngine *engine = litho_engine_new(gpu);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    LithoRun run = {.cancel = cancel};
    g_autoptr(GError) error = NULL;
    GThread *thread = g_thread_new("cancel", cancel_later, cancel);
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, &error);
    gint64 back = g_get_monotonic_time();
    gint64 asked = (gint64)GPOINTER_TO_SIZE(g_thread_join(thread));
    g_assert_null(out);
    g_assert_true(litho_error_is_cancelled(error));
    assert_below((back - asked) * 1e-3, 120);

    set(flow, "nz=30 degree=15");
    g_autoptr(LithoCube) again = litho_engine_run(engine, flow, other, NULL, NULL, NULL);
    g_autoptr(LithoCube) fresh =
        run_on(gpu, other, NULL, NULL, "velocity=2000 nz=30 degree=15 step=1 fmax=60");
    g_assert_true(litho_cube_host(again, NULL));
    gsize bytes = litho_grid_samples(&fresh->grid) * sizeof(float);
    g_assert_cmpmem(again->samples, bytes, fresh->samples, bytes);
    litho_engine_free(engine);
}

// Property: with less memory than all frequencies need at once, fewer are under way at a time and
// the image is the same (1e-5: another order of summation); with too little for one, a sentence
// says what is needed and what is there.
static void test_memory(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(1, &gpu))
        return;
    LithoGrid grid = time_grid(120, 130, 250, 12, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 6);
    static const char *const cases[] = {"step=1 degree=15", "mode=shot degree=15 source_x=700",
                                        "degree=15 coarse=on"};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *settings = g_strdup_printf("velocity=2000 nz=60 pad=0 %s", cases[k]);
        g_autoptr(LithoCube) whole = run_on(gpu, in, NULL, NULL, settings);
        g_assert_nonnull(whole);
        g_autoptr(GError) error = NULL;
        gpu.backend->limit_memory((guint64)90 << 20);
        g_autoptr(LithoCube) tight = run_on(gpu, in, NULL, &error, settings);
        gpu.backend->limit_memory(0);
        g_assert_no_error(error);
        double d = relative_difference(tight, whole);
        g_test_message("%s: %.2e", cases[k], d);
        g_assert_cmpfloat(d, <, 1e-5);
        gpu.backend->limit_memory((guint64)8 << 20);
        g_autoptr(LithoCube) none = run_on(gpu, in, NULL, &error, settings);
        gpu.backend->limit_memory(0);
        g_assert_null(none);
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
        g_test_message("%s", error->message);
    }
}

// Property: a card without a frequency, of more processes than the band has any, takes part in
// every mode, and adds nothing.
static void test_surplus(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(1, &gpu))
        return;
    check_surplus(gpu);
}

// Property: surveys of more inlines than one axis of a launch has blocks (65,535) give the CPU's
// samples, on either engine and back. One crossline each; most of the work is rows.
static void test_many_lines(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(1, &gpu))
        return;
    enum { LINES = 65536 + 700 };
    static const char *const cases[] = {"engine=splitstep", "degree=9",
                                        "degree=9 gpu_kernel=per-degree",
                                        "degree=9 mode=demigrate nt=40"};
    LithoGrid grid = time_grid(LINES, 2, 40, 12, 0.004), depth = time_grid(LINES, 2, 4, 12, 10);
    depth.is_depth = TRUE;
    g_autoptr(LithoCube) in = random_cube(&grid, 6);
    g_autoptr(LithoCube) image = random_cube(&depth, 7);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const LithoCube *from = strstr(cases[k], "demigrate") ? image : in;
        g_autoptr(GError) error = NULL;
        g_autofree char *settings =
            g_strdup_printf("velocity=2000 nz=4 fmin=20 fmax=40 pad=4 %s", cases[k]);
        g_autoptr(LithoCube) cpu = run_on(litho_device_cpu(), from, NULL, &error, settings);
        g_assert_no_error(error);
        g_autoptr(LithoCube) cuda = run_on(gpu, from, NULL, &error, settings);
        g_assert_no_error(error);
        const double d = relative_difference(cuda, cpu);
        g_test_message("%s: %.2e", cases[k], d);
        g_assert_cmpfloat(d, <, 2e-5);
    }
}

// Property: an engine that goes on from setting to setting gives the samples of one that starts
// anew: what a card or a lane keeps of the record is of the frequencies it has now. With two cards
// the second, half of the frequencies, once stayed on the first when it went on alone: a third of
// the image's norm.
static void test_moves(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(1, &gpu))
        return;
    static const struct {
        const char *settings;
        int devices;
    } moves[] = {{"coarse=on", 1},  {"degree=19", 1},  {"", 2}, {"degree=21", 2}, {"", 1},
                 {"max_dip=60", 1}, {"coarse=off", 1}, {"", 2}, {"", 1},          {"coarse=on", 1}};
    LithoGrid grid = time_grid(45, 61, 200, 12, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 9);
    g_autoptr(LithoFlow) flow = flow_of("velocity=3000 nz=50 dz=8");
    g_autoptr(GString) all = g_string_new("velocity=3000 nz=50 dz=8");
    LithoEngine *engine = litho_engine_new(gpu);
    for (guint k = 0; k < G_N_ELEMENTS(moves); k++) {
        set(flow, moves[k].settings);
        g_string_append_printf(all, " %s", moves[k].settings);
        litho_engine_share(engine, moves[k].devices);
        gpu.count = moves[k].devices;
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoCube) next = litho_engine_run(engine, flow, in, NULL, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(litho_cube_host(next, &error));
        g_autoptr(LithoCube) fresh = run_on(gpu, in, NULL, NULL, all->str);
        const double d = relative_difference(next, fresh);
        g_test_message("%s on %d: %.2e", moves[k].settings, moves[k].devices, d);
        g_assert_cmpfloat(d, <, 1e-5);
    }
    litho_engine_free(engine);
}

// Property: 2 and 4 GPUs give one GPU's samples but for the order of the sum over frequencies
// (1e-5), in every mode; also as many as there are.
static void compare_gpus(int n)
{
    LithoDevice gpu;
    if (!gpus_or_skip(n, &gpu))
        return;
    LithoGrid grid = time_grid(40, 61, 200, 12, 0.004), depth = time_grid(40, 61, 50, 12, 10);
    depth.is_depth = TRUE;
    g_autoptr(LithoCube) in = random_cube(&grid, 6);
    g_autoptr(LithoCube) image = random_cube(&depth, 7);
    static const char *const cases[] = {"step=2",
                                        "step=1",
                                        "coarse=on",
                                        "mode=shot source_x=300",
                                        "mode=shot imaging=normalised source_x=300",
                                        "engine=splitstep",
                                        "form=pointwise",
                                        "mode=demigrate nt=200",
                                        "fmin=58 fmax=60"};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const LithoCube *from = strstr(cases[k], "demigrate") ? image : in;
        g_autofree char *one = g_strdup_printf("velocity=2000 nz=50 %s", cases[k]);
        const LithoDevice several = {.backend = gpu.backend, .count = n};
        LithoRun run = {0};
        g_autoptr(LithoCube) a = run_on(gpu, from, NULL, NULL, one);
        g_autoptr(LithoCube) b = run_on(several, from, &run, NULL, one);
        // A narrow band may have fewer frequencies than there are devices.
        g_assert_cmpint(run.devices_used, >=, strstr(one, "fmin=58") ? 1 : n);
        g_assert_cmpint(run.devices_used, <=, n);
        double d = relative_difference(b, a);
        g_test_message("%d GPUs, %s: %.2e", n, cases[k], d);
        g_assert_cmpfloat(d, <, 1e-5);
    }
}

static void test_two(void)
{
    compare_gpus(2);
}

static void test_four(void)
{
    compare_gpus(4);
}

// Property: plans that take turns in one thread, each with another card as its first and other
// cards beside it, give one card's samples (1e-5): none relies on the card that the one before left
// current.
static void test_turns(void)
{
    LithoDevice gpu;
    if (!gpus_or_skip(2, &gpu))
        return;
    static const char *const cases[] = {"step=1", "mode=shot source_x=300", "coarse=on",
                                        "engine=splitstep", "form=pointwise"};
    enum { CASES = G_N_ELEMENTS(cases), MOST = 4 };
    const int n = MIN(gpu.backend->n_devices, MOST);
    LithoGrid grid = time_grid(20, 41, 100, 12, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 6);
    LithoCube *whole[CASES];
    LithoEngine *engine[MOST];
    for (int k = 0; k < CASES; k++) {
        g_autofree char *settings = g_strdup_printf("velocity=2000 nz=30 %s", cases[k]);
        whole[k] = run_on(gpu, in, NULL, NULL, settings);
        g_assert_nonnull(whole[k]);
    }
    for (int k = 0; k < n; k++) {
        g_autofree char *name = g_strdup_printf("cuda:%d", k);
        g_assert_true(litho_device_parse(name, &gpu, NULL));
        engine[k] = litho_engine_new(gpu);
    }
    for (int turn = 0; turn < 30 * n; turn++) {
        const int k = turn % n, round = turn / n, c = (round + k) % CASES;
        g_autofree char *settings = g_strdup_printf("velocity=2000 nz=30 %s", cases[c]);
        litho_engine_share(engine[k], 1 + (round + turn) % n);
        g_autoptr(LithoFlow) flow = flow_of(settings);
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoCube) out = litho_engine_run(engine[k], flow, in, NULL, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(litho_cube_host(out, NULL));
        g_assert_cmpfloat(relative_difference(out, whole[c]), <, 1e-5);
    }
    for (int k = 0; k < n; k++)
        litho_engine_free(engine[k]);
    for (int k = 0; k < CASES; k++)
        litho_cube_unref(whole[k]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-cuda-runs/parts", test_parts);
    g_test_add_func("/migrate-cuda-runs/first-look", test_first_look);
    g_test_add_func("/migrate-cuda-runs/cancel", test_cancel);
    g_test_add_func("/migrate-cuda-runs/memory", test_memory);
    g_test_add_func("/migrate-cuda-runs/surplus", test_surplus);
    g_test_add_func("/migrate-cuda-runs/many-lines", test_many_lines);
    g_test_add_func("/migrate-cuda-runs/moves", test_moves);
    g_test_add_func("/migrate-cuda-runs/two-gpus", test_two);
    g_test_add_func("/migrate-cuda-runs/four-gpus", test_four);
    g_test_add_func("/migrate-cuda-runs/turns", test_turns);
    return test_run();
}
