// SPDX-License-Identifier: GPL-3.0-or-later
//
// The CUDA module. Without a GPU: it loads, counts no devices and says why in one sentence. With
// one: memory, copies, refusals, and the example operator against the CPU.
#include <gmodule.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/common.h"
#include "core/engine/engine.h"
#include "core/error.h"
#include "kernels/template/template.h"

// Skips (and says why) unless there is a GPU.
static const LithoBackend *gpu_or_skip(void)
{
    const LithoBackend *cuda = litho_backend_cuda();
    if (cuda->n_devices > 0)
        return cuda;
    g_test_skip(cuda->why_not);
    return NULL;
}

// The module. Where there is no driver, the program leaves it closed; it is opened here all the
// same.
static const LithoBackend *opened_module(void)
{
    if (!strstr(litho_backend_cuda()->why_not, "no NVIDIA driver"))
        return litho_backend_cuda();
    g_autofree char *path =
        g_build_filename(g_getenv("LITHO_MODULE_DIR"), "lithoscope-cuda.so", NULL);
    GModule *module = g_module_open(path, G_MODULE_BIND_LOCAL);
    if (!module)
        g_error("%s", g_module_error());
    g_module_make_resident(module);
    gpointer symbol = NULL;
    g_assert_true(g_module_symbol(module, LITHO_BACKEND_ENTRY, &symbol));
    const LithoBackend *backend = ((LithoBackendEntry)symbol)();
    g_assert_cmpuint(backend->abi, ==, LITHO_BACKEND_ABI);
    g_assert_cmpint(backend->n_devices, ==, 0);
    return backend;
}

static LithoCube *random_cube(gint64 n1, gint64 n2, gint64 n3)
{
    return test_random_cube(n1, n2, n3, 11, TRUE);
}

// Property: opening the module never fails the program. Either it counts devices, or the sentence
// that says why not is there and is handed on by whoever asks for the device. A module that cannot
// be loaded (undefined symbols, a driver library linked directly) fails here on any machine.
static void test_loads(void)
{
    const LithoBackend *cuda = litho_backend_cuda();
    g_assert_nonnull(cuda);
    g_assert_null(strstr(cuda->why_not, "cannot be loaded"));
    g_assert_null(strstr(cuda->why_not, "not built"));
    if (cuda->n_devices > 0)
        return;
    g_assert_cmpuint(strlen(cuda->why_not), >, 10);
    const LithoBackend *module = opened_module();
    g_assert_cmpuint(strlen(module->why_not), >, 10);
    LithoDevice device;
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_device_parse("cuda", &device, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE);
    g_assert_nonnull(strstr(error->message, cuda->why_not));
    g_autoptr(GError) refused = NULL;
    g_assert_null(module->alloc(0, 16, &refused));
    g_assert_error(refused, LITHO_ERROR, LITHO_ERROR_DEVICE);
    g_test_message("%s", cuda->why_not);
}

// Property: a module whose code was compiled as a check only, by options of nvcc that give wrong
// code, counts no device, with a card and without one, and says so. Others do not say so.
static void test_compiled_only(void)
{
    const LithoBackend *cuda = opened_module();
    const gboolean says = strstr(cuda->why_not, "to be compiled only") != NULL;
#ifdef LITHO_COMPILED_ONLY
    g_assert_cmpint(cuda->n_devices, ==, 0);
    g_assert_true(says);
#else
    g_assert_false(says);
#endif
}

// Property: what is uploaded comes back bit for bit, also over several pinned pieces, at odd
// offsets, and pieces outside the buffer are refused.
static void test_round_trip(void)
{
    const LithoBackend *cuda = gpu_or_skip();
    if (!cuda)
        return;
    const gint64 n = (9 << 21) + 12345; // more than the ring of pinned pieces holds
    g_autofree float *from = g_malloc(n * sizeof(float));
    g_autofree float *to = g_malloc0(n * sizeof(float));
    for (gint64 k = 0; k < n; k++)
        from[k] = (float)(k * 0.37 + 1);
    GError *error = NULL;
    LithoBuffer *buffer = cuda->alloc(0, n, &error);
    g_assert_no_error(error);
    g_assert_true(cuda->upload(buffer, 0, from, n, &error));
    g_assert_true(cuda->download(buffer, 0, to, n, &error));
    g_assert_cmpmem(from, n * sizeof(float), to, n * sizeof(float));
    g_assert_true(cuda->upload(buffer, 1001, from, 777, &error));
    g_assert_true(cuda->download(buffer, 1001 + 5, to, 700, &error));
    g_assert_cmpmem(from + 5, 700 * sizeof(float), to, 700 * sizeof(float));
    g_assert_no_error(error);
    g_assert_false(cuda->download(buffer, n - 1, to, 2, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    g_clear_error(&error);
    cuda->free(buffer);
}

// Property: a request beyond the card is refused with need and free in the sentence, and the device
// works on afterwards.
static void test_memory(void)
{
    const LithoBackend *cuda = gpu_or_skip();
    if (!cuda)
        return;
    LithoDeviceInfo info;
    g_autoptr(GError) error = NULL;
    g_assert_true(cuda->device_info(0, &info, &error));
    g_assert_cmpuint(info.memory_total, >, (guint64)1 << 30);
    g_assert_null(cuda->alloc(0, info.memory_total / 4 + 1, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
    g_assert_nonnull(strstr(error->message, "GiB"));
    LithoBuffer *buffer = cuda->alloc(0, 1000, NULL);
    g_assert_nonnull(buffer);
    cuda->free(buffer);
    g_test_message("%s, %s: %s", info.name, info.driver, error->message);
}

// Property: under a cap the device is as large as the cap: what is told, what is granted and what
// is refused agree, and what is given back can be had again. A cap that only changed what is told,
// or that forgot what the pool keeps, fails.
static void test_cap(void)
{
    const LithoBackend *cuda = gpu_or_skip();
    if (!cuda)
        return;
    const gint64 mega = 1 << 18; // floats
    const LithoDevice device = {.backend = cuda};
    guint64 unused = 0, total = 0;
    g_autoptr(GError) error = NULL;
    cuda->limit_memory(64 << 20);
    g_assert_true(litho_device_memory(device, &unused, &total, &error));
    g_assert_cmpuint(total, ==, 64 << 20);
    g_assert_cmpuint(unused, ==, 64 << 20);
    LithoBuffer *first = cuda->alloc(0, 40 * mega, &error);
    g_assert_no_error(error);
    g_assert_true(litho_device_memory(device, &unused, &total, &error));
    g_assert_cmpuint(unused, ==, 24 << 20);
    g_assert_null(cuda->alloc(0, 40 * mega, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
    g_test_message("%s", error->message);
    cuda->free(first);
    LithoBuffer *second = cuda->alloc(0, 60 * mega, NULL);
    g_assert_nonnull(second);
    cuda->limit_memory(0);
    LithoBuffer *third = cuda->alloc(0, 60 * mega, NULL);
    g_assert_nonnull(third);
    cuda->free(second);
    cuda->free(third);
    g_assert_true(litho_device_memory(device, &unused, &total, NULL));
    g_assert_cmpuint(total, >, (guint64)1 << 30);
}

static LithoCube *run_on(const char *where, const LithoFlow *flow, const LithoCube *in,
                         const LithoBox *region, LithoRun *run)
{
    LithoDevice device;
    g_assert_true(litho_device_parse(where, &device, NULL));
    LithoEngine *engine = litho_engine_new(device);
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, region, run, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Property: the example gives the CPU's samples bit for bit (its kernels add in the same order),
// over the whole cube and over a part, and a cube is uploaded once only.
static void test_example(void)
{
    if (!gpu_or_skip())
        return;
    g_autoptr(LithoCube) in = random_cube(23, 17, 61);
    in->live[5 * 17 + 4] = 0;
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    LithoTemplateParams *params = litho_flow_step(flow, 0)->params;
    params->halfwidth = 3;
    params->gain = 1.7;
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings};
    const LithoBox part = {{4, 3, 7}, {11, 9, 40}};
    const LithoBox *regions[] = {NULL, &part};
    for (int k = 0; k < 2; k++) {
        g_autoptr(LithoCube) gpu = run_on("cuda", flow, in, regions[k], &run);
        g_autoptr(LithoCube) cpu = run_on("cpu", flow, in, regions[k], NULL);
        litho_timings_end_pass(timings);
        g_assert_nonnull(litho_cube_host(gpu, NULL));
        gint64 n = litho_box_count(cpu->held) * sizeof(float);
        g_assert_cmpmem(gpu->samples, n, cpu->samples, n);
        n /= litho_box_size(cpu->held, 2) * (gint64)sizeof(float);
        g_assert_cmpmem(gpu->live, n, cpu->live, n);
    }
    LithoStage stages[LITHO_TIMINGS_STAGES];
    guint n = litho_timings_snapshot(timings, stages, G_N_ELEMENTS(stages));
    gboolean seen_mean = FALSE;
    for (guint k = 0; k < n; k++) {
        if (strcmp(stages[k].name, "upload") == 0)
            g_assert_cmpuint(stages[k].count, ==, 1);
        seen_mean |= strcmp(stages[k].name, "mean") == 0 && stages[k].last_ms > 0;
    }
    g_assert_true(seen_mean);
    litho_timings_unref(timings);
}

// Property: a cube that lies on one GPU gives another the same bits without passing the host. A
// copy that took the other device's address for its own fails, or reads something else.
static void test_two_devices(void)
{
    const LithoBackend *cuda = gpu_or_skip();
    if (!cuda)
        return;
    if (cuda->n_devices < 2) {
        g_test_skip("there is one GPU only");
        return;
    }
    g_autoptr(LithoCube) in = random_cube(128, 256, 512);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    g_autoptr(LithoCube) cpu = run_on("cpu", flow, in, NULL, NULL);
    const LithoDevice last = {.backend = cuda, .index = cuda->n_devices - 1};
    g_assert_true(litho_device_upload(last, in, NULL));
    float *host = in->samples;
    in->samples = NULL; // the only samples are those on the last device
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings};
    litho_cube_unref(run_on("cuda:0", flow, in, NULL, &run)); // sets up the link
    litho_timings_reset(timings);
    litho_cube_touch(in);
    g_autoptr(LithoCube) gpu = run_on("cuda:0", flow, in, NULL, &run);
    g_assert_null(in->samples);
    in->samples = host;
    litho_timings_end_pass(timings);
    g_assert_nonnull(litho_cube_host(gpu, NULL));
    const gint64 n = litho_box_count(cpu->held) * sizeof(float);
    g_assert_cmpmem(gpu->samples, n, cpu->samples, n);
    g_autofree char *text = litho_timings_to_text(timings);
    g_assert_nonnull(strstr(text, "from another GPU"));
    g_test_message("%s", text);
    litho_timings_unref(timings);
}

// Property: a cancelled run gives G_IO_ERROR_CANCELLED and nothing else.
static void test_cancel(void)
{
    if (!gpu_or_skip())
        return;
    g_autoptr(LithoCube) in = random_cube(9, 5, 16);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    LithoDevice device;
    g_assert_true(litho_device_parse("cuda:0", &device, NULL));
    LithoEngine *engine = litho_engine_new(device);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    LithoRun run = {.cancel = cancel};
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_engine_run(engine, flow, in, NULL, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
    g_assert_nonnull(out);
    litho_engine_free(engine);
}

// Property: the measured roofs are those of a GPU: above any host memory's bandwidth and any
// scalar unit's rate, below what physics sells today (50 TB/s, 1 PFLOP/s in fp32).
static void test_roof(void)
{
    const LithoBackend *cuda = gpu_or_skip();
    if (!cuda)
        return;
    double bytes = 0, flops = 0;
    g_autoptr(GError) error = NULL;
    g_assert_true(cuda->probe_roof(0, &bytes, &flops, &error));
    g_assert_cmpfloat(bytes, >, 50e9);
    g_assert_cmpfloat(bytes, <, 50e12);
    g_assert_cmpfloat(flops, >, 1e12);
    g_assert_cmpfloat(flops, <, 1e15);
    g_test_message("copy %.0f GB/s, FMA %.1f TFLOP/s", bytes * 1e-9, flops * 1e-12);
}

// Property: both directions of the link are faster than the oldest bus that such a card is put in
// (PCIe 2, eight lanes) and slower than the card's own memory.
static void test_link(void)
{
    const LithoBackend *cuda = gpu_or_skip();
    if (!cuda)
        return;
    double up = 0, down = 0;
    g_autoptr(GError) error = NULL;
    g_assert_true(cuda->probe_link(0, &up, &down, &error));
    g_assert_cmpfloat(up, >, 1e9);
    g_assert_cmpfloat(down, >, 1e9);
    g_assert_cmpfloat(up, <, 2e12);
    g_assert_cmpfloat(down, <, 2e12);
    g_test_message("link %.1f GB/s up, %.1f GB/s down", up * 1e-9, down * 1e-9);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cuda/loads", test_loads);
    g_test_add_func("/cuda/compiled-only", test_compiled_only);
    g_test_add_func("/cuda/round-trip", test_round_trip);
    g_test_add_func("/cuda/memory", test_memory);
    g_test_add_func("/cuda/cap", test_cap);
    g_test_add_func("/cuda/example", test_example);
    g_test_add_func("/cuda/two-devices", test_two_devices);
    g_test_add_func("/cuda/cancel", test_cancel);
    g_test_add_func("/cuda/roof", test_roof);
    g_test_add_func("/cuda/link", test_link);
    return test_run();
}
