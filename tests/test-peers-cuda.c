// SPDX-License-Identifier: GPL-3.0-or-later
//
// `bench --peers` on small problems: our stage and each library's against float64. The bounds are
// those that the stages have by themselves: solving 48 unknowns in float32 with 10 % damping loses
// two digits (1e-5); five taps at oversampling 1.5 err by less than 1e-3; a polynomial of degree 23
// keeps 0.85 of the largest dip's sine to 2 % over a few depths, where a phase shift is exact to
// float32's phases; sums of some thousand beams keep 1e-4. A comparison of other problems, a wrong
// sign or scale shows as errors near 1. No time is checked.
#include "tests/common.h"
#include "core/backend.h"
#include "core/rival.h"
#include "kernels/kernels.h"

// Rows of an operator's comparison; NULL: skipped.
static GArray *rows_of(const char *key, LithoGrid grid, const char *const *settings)
{
    const LithoBackend *cuda = litho_backend_cuda();
    g_autoptr(GError) error = NULL;
    if (cuda->n_devices == 0) {
        g_test_skip(cuda->why_not);
        return NULL;
    }
    const LithoOperator *op = litho_operator_find(key);
    const LithoImpl *impl = litho_device_impl((LithoDevice){.backend = cuda}, op, &error);
    g_assert_no_error(error);
    g_autofree gpointer params = g_malloc0(op->params.size);
    GArray *rows = g_array_new(FALSE, TRUE, sizeof(LithoRival));
    litho_param_defaults(&op->params, params);
    for (; settings && *settings; settings++)
        g_assert_true(litho_operator_set(op, params, *settings, NULL));
    LithoRun run = {.threads = 2};
    g_assert_nonnull(impl->rivals);
    const gboolean ok = impl->rivals(op->needs_input ? &grid : NULL, params, 2, &run, rows, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return rows;
}

// A peer that ran has times and keeps its bound; one that did not says why.
static void check_row(const LithoRival *r, double ours, double theirs)
{
    g_test_message("%s, %s: ours %.1e, %s %.1e; %s", r->stage, r->problem, r->ours_error, r->peer,
                   r->theirs_error, r->why_not);
    g_assert_cmpfloat(r->ours_ms, >, 0);
    g_assert_cmpfloat(r->ours_error, <, ours);
    g_assert_cmpfloat(r->ours_error, >, 0);
    if (r->theirs_ms > 0)
        g_assert_cmpfloat(r->theirs_error, <, theirs);
    else
        g_assert_cmpuint(strlen(r->why_not), >, 10);
}

static void test_fx(void)
{
    const char *const settings[] = {"time_window=150", "time_overlap=50", NULL};
    g_autoptr(GArray) rows = rows_of("fx", litho_grid_new(48, 45, 256), settings);
    if (!rows)
        return;
    g_assert_cmpuint(rows->len, ==, 1);
    check_row(&g_array_index(rows, LithoRival, 0), 1e-5, 1e-5);
    g_assert_cmpfloat(g_array_index(rows, LithoRival, 0).theirs_ms, >, 0);
}

static void test_wavepacket(void)
{
    g_autoptr(GArray) rows = rows_of("wavepacket", litho_grid_new(40, 36, 48), NULL);
    if (!rows)
        return;
    g_assert_cmpuint(rows->len, ==, 2);
    for (guint k = 0; k < 2; k++)
        check_row(&g_array_index(rows, LithoRival, k), 1e-3, 1.1e-3);
}

static void test_migrate(void)
{
    LithoGrid grid = litho_grid_new(128, 120, 128);
    const char *const settings[] = {"dx=12.5", "dy=12.5", "dz=5", "fmax=50", NULL};
    grid.axis[2].step = 0.004;
    g_autoptr(GArray) rows = rows_of("migrate", grid, settings);
    if (!rows)
        return;
    g_assert_cmpuint(rows->len, ==, 1);
    check_row(&g_array_index(rows, LithoRival, 0), 2e-2, 1e-4);
    g_assert_cmpfloat(g_array_index(rows, LithoRival, 0).theirs_ms, >, 0);
}

static void test_twsm(void)
{
    const char *const settings[] = {
        "model=twolayer", "cells_per_wavelength=2", "fmax=20", "frequencies=16", "force=on", NULL};
    g_autoptr(GArray) rows = rows_of("twsm", litho_grid_new(1, 1, 1), settings);
    if (!rows)
        return;
    g_assert_cmpuint(rows->len, ==, 1);
    check_row(&g_array_index(rows, LithoRival, 0), 1e-4, 1e-4);
    g_assert_cmpfloat(g_array_index(rows, LithoRival, 0).theirs_ms, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/peers/fx", test_fx);
    g_test_add_func("/peers/wavepacket", test_wavepacket);
    g_test_add_func("/peers/migrate", test_migrate);
    g_test_add_func("/peers/twsm", test_twsm);
    return g_test_run();
}
