// SPDX-License-Identifier: GPL-3.0-or-later
//
// The memory that tip-wave modelling announces beforehand, against the memory it takes.
#include "tests/peak_memory.h"
#include "tests/twsm_case.h"

static const char curved[] = TWSM_CASE_CURVED("'source':[-100,50,0],");
static const char eight_sources[] =
    TWSM_CASE_CURVED("'sources':[[-100,50,0],[0,0,0],[100,0,0],[150,0,0],[-150,0,0],[0,80,0],"
                     "[0,-80,0],[60,60,0]],");

// Property: the memory said is within 20 % of the memory taken, at the ends of what models and
// parameters allow: fields, strips, lattices, clusters, long records; 6 MB are libraries, stacks
// and small arrays.
static void test_memory(void)
{
    static const struct {
        const char *model, *settings;
    } cases[] = {
        {"flat", "cells_per_wavelength=5"},
        {"flat", "record=60 frequencies=16 force=on"},
        {"dipping", "near_field=on"},
        {"syncline", "coefficients=plane"},
        {"dome", "record=40 frequencies=4 force=on wavelet=5 fmax=12"},
        {"twolayer", "frequencies=64 force=on"},
        {eight_sources, "frequencies=32 cells_per_wavelength=8 algorithm=fused"},
        {eight_sources, "frequencies=32 cells_per_wavelength=7 algorithm=fast fast_error=2e-5"},
        {eight_sources, "frequencies=32 cells_per_wavelength=6 absorption=on"},
        {eight_sources, "frequencies=32 cells_per_wavelength=7 near_field=on"},
        {curved, "frequencies=20 cells_per_wavelength=9 algorithm=alg1 strip_width=65536"},
        {curved, "frequencies=20 cells_per_wavelength=9 algorithm=mod2 strip_width=700"},
        {curved, "frequencies=20 cells_per_wavelength=9 algorithm=alg2 near_field=on "
                 "strip_width=1000"},
    };
    if (!peak_is_told()) {
        g_test_skip("this system does not reset the largest resident size");
        return;
    }
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        TwsmCaseFlow flow = twsm_case_flow(cases[k].model, cases[k].settings);
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoResolved) known = NULL;
        const void *params = litho_flow_step(flow.flow, 0)->params;
        g_assert_true(litho_resolve(&litho_operator_twsm, params, NULL, &known, &error));
        const double said = twsm_memory_cpu(params, known, litho_run_threads(NULL));
        const double before = peak_begin();
        g_autoptr(LithoCube) out = twsm_case_run(cases[k].model, cases[k].settings);
        const double taken = peak_bytes(before);
        g_test_message("%.20s %s: %.1f MB said, %.1f taken", cases[k].model, cases[k].settings,
                       said / 1e6, taken / 1e6);
        g_assert_cmpfloat(said, <=, 1.2 * taken + 6e6);
        g_assert_cmpfloat(said, >=, 0.8 * taken - 6e6);
        twsm_case_flow_clear(&flow);
    }
}

// Bytes that a run with so many threads takes.
static double taken_by(const LithoFlow *flow, int threads)
{
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoRun run = {.threads = threads};
    g_autoptr(GError) error = NULL;
    const double before = peak_begin();
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, NULL, NULL, &run, &error);
    const double taken = peak_bytes(before);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return taken;
}

// Property: the memory of convolutions on lattices is said within 15 %, whatever the size of their
// transforms: each field of a small one took up to twice its size on the heap, or once.
static void test_lattices(void)
{
    static const char *const cells[] = {"3", "3.5", "4", "4.5"};
    enum { THREADS = 8 };
    if (!peak_is_told()) {
        g_test_skip("this system does not reset the largest resident size");
        return;
    }
    for (guint k = 0; k < G_N_ELEMENTS(cells); k++) {
        g_autofree char *settings =
            g_strdup_printf("frequencies=64 force=on cells_per_wavelength=%s", cells[k]);
        TwsmCaseFlow flow = twsm_case_flow("twolayer", settings);
        g_autoptr(LithoResolved) known = NULL;
        const void *params = litho_flow_step(flow.flow, 0)->params;
        g_assert_true(litho_resolve(&litho_operator_twsm, params, NULL, &known, NULL));
        const double said = twsm_memory_cpu(params, known, THREADS);
        const double taken = taken_by(flow.flow, THREADS);
        g_test_message("%s: %.1f MB said, %.1f taken", settings, said / 1e6, taken / 1e6);
        g_assert_cmpfloat(said, <=, 1.15 * taken + 2e6);
        g_assert_cmpfloat(said, >=, 0.85 * taken - 6e6);
        twsm_case_flow_clear(&flow);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    peak_prepare();
    mallopt(M_MMAP_THRESHOLD, 1 << 20); // as the command line has it
    g_autoptr(LithoCube) warm = twsm_case_run("flat", "frequencies=1 force=on");
    g_test_add_func("/twsm-memory/parameters", test_memory);
    g_test_add_func("/twsm-memory/lattices", test_lattices);
    return g_test_run();
}
