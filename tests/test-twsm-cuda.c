// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tip-wave modelling on the GPU: what test-twsm-sums does not reach on every device. The fused sum
// at the size it is made for, each of its kernels, clusters, the matrix units, several GPUs,
// cancelling.
#include "tests/twsm_case.h"
#include "tests/common.h"

static gboolean gpu_or_skip(LithoDevice *gpu)
{
    g_autoptr(GError) error = NULL;
    gboolean found = litho_device_parse("cuda", gpu, &error);
    if (!found)
        g_test_skip(error->message);
    return found;
}

// A sheet of side x side squares of `cell` metres around the origin, 1500 m deep, dipping.
static char *write_sheet(int side, double cell)
{
    GString *text = g_string_new("# a small dipping sheet\n");
    for (int k = 0; k < (side + 1) * (side + 1); k++) {
        double x = (k % (side + 1) - 0.5 * side) * cell, y = (k / (side + 1) - 0.5 * side) * cell;
        g_string_append_printf(text, "v %.9g %.9g %.9g\n", x, y, 1500 + 0.07 * x - 0.03 * y);
    }
    for (int k = 0; k < side * side; k++) {
        int a = k / side * (side + 1) + k % side + 1, b = a + 1, c = a + side + 1;
        g_string_append_printf(text, "f %d %d %d\nf %d %d %d\n", a, b, c, b, c + 1, c);
    }
    char *path = NULL;
    close(g_file_open_tmp("twsm-sheet-XXXXXX.obj", &path, NULL));
    g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
    g_string_free(text, TRUE);
    return path;
}

// Property: at the paper's size (112,338 elements send, 128 frequencies) the GPU's sums are the
// CPU's within 1e-5: 55 slices of float32 sums, added in float64. A sheet of 128 triangles
// receives, since all targets would keep the CPU busy for minutes.
static void test_full_size(void)
{
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    g_autofree char *sheet = write_sheet(8, 16);
    g_autofree char *json = g_strdup_printf(
        "{'layers':[{'velocity':2600,'density':2300},{'velocity':2000,'density':2200},"
        "{'velocity':3000,'density':2500}],"
        "'boundaries':[{'type':'gaussian','depth':800,'amplitude':150,'sigma_x':600,"
        "'sigma_y':700},{'type':'sheet','file':'%s'}],"
        "'extent':{'x':[-1896,1896],'y':[-1896,1896]},'wave_code':'0T 1R','source':[0,0,0],"
        "'receivers':{'x':[-100,100,3],'y':[0,50,1],'z':1100},'wavelet':{'ricker':20},'fmax':50,"
        "'record':2.56,'dt':0.004}",
        sheet);
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(LithoCube) cpu =
        twsm_case_run_well(litho_device_cpu(), json, "algorithm=fused taper=0");
    g_autoptr(LithoCube) cuda = twsm_case_run_on(gpu, json, "algorithm=fused taper=0", &run, NULL);
    double elements = 0, error = twsm_case_cube_difference(cuda, cpu);
    g_assert_true(litho_report_get(report, "elements", &elements));
    g_test_message("%.0f elements: %.2g", elements, error);
    g_assert_cmpfloat(elements, >, 112000);
    g_assert_cmpfloat(error, <, 1e-5);
    litho_report_unref(report);
    remove(sheet);
}

static const char one_source[] =
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"
    "{'velocity':3200,'density':2500}],"
    "'boundaries':[{'type':'gaussian','depth':300,'amplitude':200,'sigma_x':120},"
    "{'type':'dipping','depth':700,'dip_x':8,'dip_y':-4}],"
    "'extent':{'x':[-400,400],'y':[-350,350]},'wave_code':'0T 1R 0T','source':[150,20,10],"
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':8},'fmax':20,"
    "'record':7,'dt':0.004}";

// Property: every shape of the fused kernel (1 to 4 groups of 32 frequencies, with and without the
// near field; plain pairs, pairs with complex coefficients and damping, masked pairs) gives the
// CPU's traces. A sharp edge of a mask would turn a rounding of heights into a whole beam, so it is
// soft.
static void test_kernels(void)
{
    static const int frequencies[] = {20, 64, 96, 128, 130};
    static const char *const pairs[] = {"",
                                        "damping=2 coefficients=plane",
                                        "mask=segment",
                                        "near_field=on",
                                        "near_field=on damping=2 coefficients=plane",
                                        "near_field=on mask=segment"};
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    for (guint p = 0; p < G_N_ELEMENTS(pairs); p++)
        for (guint k = 0; k < G_N_ELEMENTS(frequencies); k++) {
            g_autofree char *all =
                g_strdup_printf("algorithm=fused cells_per_wavelength=2 frequencies=%d %s",
                                frequencies[k], pairs[p]);
            g_autoptr(LithoCube) cpu = twsm_case_run_well(litho_device_cpu(), one_source, all);
            g_autoptr(LithoCube) cuda = twsm_case_run_well(gpu, one_source, all);
            double error = twsm_case_cube_difference(cuda, cpu);
            g_test_message("%s: %.2g", all, error);
            g_assert_cmpfloat(error, <, strstr(pairs[p], "mask") ? 1e-4 : 1e-5);
        }
}

// Property: the traces of more receivers than one axis of a launch has blocks for (65,535 of 8
// each) come out as the CPU's; the last line of receivers stands for all.
static void test_many_traces(void)
{
    static const char model[] =
        "{'layers':[{'velocity':2000,'density':2200},{'velocity':3000,'density':2400}],"
        "'boundaries':[{'type':'flat','depth':300}],"
        "'extent':{'x':[-200,200],'y':[-200,200]},'wave_code':'0R','source':[0,0,0],"
        "'receivers':{'x':[-200,0.4,1000],'y':[%g,0.7,%d],'z':0},'wavelet':{'ricker':8},'fmax':12,"
        "'record':0.5,'dt':0.02}";
    enum { LINES = 530 };
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    g_autofree char *all = g_strdup_printf(model, -180.0, LINES);
    g_autofree char *last = g_strdup_printf(model, -180 + 0.7 * (LINES - 1), 1);
#pragma GCC diagnostic pop
    g_autoptr(LithoCube) cuda = twsm_case_run_well(gpu, all, "force=on");
    g_autoptr(LithoCube) cpu = twsm_case_run_well(litho_device_cpu(), last, "force=on");
    const float *samples = litho_cube_host(cuda, NULL);
    const gint64 n = litho_box_count(cpu->held);
    const double error =
        twsm_case_difference(samples + (LINES - 1) * n, litho_cube_host(cpu, NULL), n);
    g_test_message("line %d: %.2g", LINES, error);
    g_assert_cmpfloat(error, <, 1e-5);
}

#define WIDE                                                                                       \
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"                \
    "{'velocity':3200,'density':2500}],"                                                           \
    "'boundaries':[{'type':'gaussian','depth':300,'amplitude':60,'sigma_x':300},"                  \
    "{'type':'dipping','depth':1100,'dip_x':5,'dip_y':-3}],"                                       \
    "'extent':{'x':[-800,800],'y':[-650,600]},'wave_code':'0T 1R 0T',"                             \
    "'sources':[[50,20,0],[-300,0,0]],"                                                            \
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':16},'fmax':40,"     \
    "'record':1.1,'dt':0.004}"

// Property: clusters on the GPU follow the CPU's clusters, block by block: the same nodes and rule,
// so they agree far better with each other (5e-6: cosines of the special function units) than
// either with the direct sum (1e-3), with damping too, and where the last clusters of a row are
// narrow ones, and keep the error they are asked for. Raw coefficients have a kink that no cluster
// follows: fast is the fused sum then.
static void test_clusters(void)
{
    static const char *const settings[] = {"",
                                           "damping=2",
                                           "coefficients=plane",
                                           "cells_per_wavelength=2.1",
                                           "fast_error=1e-4",
                                           "fast_error=2e-5",
                                           "fast_error=2e-5 damping=2"};
    static const double limit[] = {1e-3, 1e-3, 1e-7, 1e-3, 1e-4, 2e-5, 2e-5};
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        g_autofree char *fast = g_strconcat("algorithm=fast ", settings[k], NULL);
        g_autofree char *fused = g_strconcat("algorithm=fused ", settings[k], NULL);
        g_autoptr(LithoCube) direct = twsm_case_run_well(gpu, WIDE, fused);
        g_autoptr(LithoCube) cpu = twsm_case_run_well(litho_device_cpu(), WIDE, fast);
        g_autoptr(LithoCube) cuda = twsm_case_run_well(gpu, WIDE, fast);
        double error = twsm_case_cube_difference(cuda, direct);
        double same = twsm_case_cube_difference(cuda, cpu);
        g_test_message("%s: %.2g of the direct sum, %.2g of the CPU", fast, error, same);
        g_assert_cmpfloat(error, <, limit[k]);
        // Next to the kink a rounded cosine is another coefficient: 2.2e-5 measured.
        g_assert_cmpfloat(same, <, strstr(fast, "plane") ? 5e-5 : 2e-5);
    }
}

// Property: rows shared by any number of GPUs give the samples of one, bit for bit: no sum's order
// depends on who computes it. Where there are fewer, several cards to a GPU stand for them.
static void test_gpus(void)
{
    static const char *const algorithms[] = {"fused", "fast"};
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    g_setenv("LITHO_TWSM_CARDS", "4", TRUE);
    for (guint a = 0; a < G_N_ELEMENTS(algorithms); a++) {
        g_autofree char *settings = g_strdup_printf("algorithm=%s", algorithms[a]);
        g_autoptr(LithoCube) one = twsm_case_run_well(gpu, WIDE, settings);
        for (int n = 2; n <= 4; n++) {
            const LithoDevice shared = {.backend = gpu.backend, .count = n};
            LithoRun run = {0};
            g_autoptr(LithoCube) several = twsm_case_run_on(shared, WIDE, settings, &run, NULL);
            double error = twsm_case_cube_difference(several, one);
            g_test_message("%s on %d: %.2g", settings, n, error);
            g_assert_cmpint(run.devices_used, ==, n);
            g_assert_cmpfloat(error, ==, 0);
        }
    }
    g_unsetenv("LITHO_TWSM_CARDS");
}

static gpointer cancel_later(gpointer data)
{
    gint64 *asked = data;
    g_usleep(700000);
    *asked = g_get_monotonic_time();
    g_cancellable_cancel((GCancellable *)(gsize)asked[1]);
    return NULL;
}

// Property: a sum of seconds stops within 100 ms of a cancel, in every algorithm, and the next run
// is whole.
static void test_cancel(void)
{
    static const char *const settings[] = {"algorithm=fused", "algorithm=fused near_field=on",
                                           "algorithm=fused mask=segment", "algorithm=mod2",
                                           "algorithm=fast"};
    LithoDevice gpu;
    if (!gpu_or_skip(&gpu))
        return;
    g_autoptr(LithoCube) before = twsm_case_run_well(gpu, WIDE, "algorithm=fused");
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        g_autofree char *all = g_strconcat(settings[k],
                                           strstr(settings[k], "fast") ? " cells_per_wavelength=18"
                                                                       : " cells_per_wavelength=10",
                                           NULL);
        g_autoptr(GCancellable) cancel = g_cancellable_new();
        g_autoptr(GError) error = NULL;
        LithoRun run = {.cancel = cancel};
        gint64 asked[2] = {0, (gint64)(gsize)cancel};
        gpu.count = k == 0 ? gpu.backend->n_devices : 1; // the first on all there are
        GThread *thread = g_thread_new("cancel", cancel_later, asked);
        g_autoptr(LithoCube) cube = twsm_case_run_on(gpu, WIDE, all, &run, &error);
        gint64 stopped = g_get_monotonic_time();
        g_thread_join(thread);
        if (cube) { // quicker than the cancel: nothing to stop
            g_test_message("%s had finished", all);
            continue;
        }
        g_test_message("%s stopped after %.1f ms", all, 1e-3 * (stopped - asked[0]));
        g_assert_true(litho_error_is_cancelled(error));
        g_assert_cmpint(stopped - asked[0], <, 100000);
    }
    g_autoptr(LithoCube) after = twsm_case_run_well(gpu, WIDE, "algorithm=fused");
    g_assert_cmpfloat(twsm_case_cube_difference(after, before), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/twsm-cuda/full-size", test_full_size);
    g_test_add_func("/twsm-cuda/many-traces", test_many_traces);
    g_test_add_func("/twsm-cuda/kernels", test_kernels);
    g_test_add_func("/twsm-cuda/clusters", test_clusters);
    g_test_add_func("/twsm-cuda/gpus", test_gpus);
    g_test_add_func("/twsm-cuda/cancel", test_cancel);
    return test_run();
}
