// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration of shots: the product of two waves on a grid that cannot hold it.
#include "kernels/migrate/cpu/product.h"
#include "tests/migrate_helpers.h"

// Both waves are plane, of wavenumbers kx, ky (of Nyquist): the product is one of wavenumber 2 k.
static void plane_waves(const LithoWaves *w, double kx, double ky, float *up, float *down)
{
    for (int y = 0; y < w->ny; y++)
        for (int x = 0; x < w->nx; x++) {
            const double phase = G_PI * (kx * x + ky * y);
            float *rows[] = {litho_wave_row(w, up, y), litho_wave_row(w, down, y)};
            for (int k = 0; k < 2; k++) {
                rows[k][x] = (float)cos(phase);
                rows[k][w->stride + x] = (float)sin(phase);
            }
        }
}

// Largest value in the middle of the plane, where the edges are far.
static double largest_inside(const float *v, int nx, int ny)
{
    double largest = 0;
    for (int y = ny > 1 ? 16 : 0; y < (ny > 1 ? ny - 16 : 1); y++)
        for (int x = nx > 1 ? 16 : 0; x < (nx > 1 ? nx - 16 : 1); x++)
            largest = fmax(largest, fabs(v[y * nx + x]));
    return largest;
}

// Property: with protection the product of plane waves keeps its size (1.5 %: two interpolations
// and a filter of 0.4 % each) while the grid holds it, is gone (1 %; twice 0.4 and what the filter
// lets through) where it would fold to half of Nyquist or below, along each axis; plainly
// multiplied it stays whole. |D|^2 is 1 within the same. One axis of the interpolator, or the
// transpose shifted by a cell, fails.
static void test_product(void)
{
    const struct {
        int nx, ny;
        double kx, ky;
        gboolean held;
    } cases[] = {{80, 1, 0.1, 0, TRUE},      {80, 1, 0.35, 0, TRUE},    {80, 1, 0.7, 0, FALSE},
                 {80, 1, -0.75, 0, FALSE},   {1, 80, 0, 0.3, TRUE},     {1, 80, 0, 0.7, FALSE},
                 {64, 64, 0.3, -0.35, TRUE}, {64, 64, 0.7, 0.1, FALSE}, {64, 64, 0.2, 0.75, FALSE},
                 {1, 1, 0, 0, TRUE}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const int nx = cases[k].nx, ny = cases[k].ny;
        LithoMigrateJob job = {.data_nx = nx, .data_ny = ny, .cells = {.nx = nx, .ny = ny}};
        LithoWaves w = litho_waves_layout(nx, ny);
        float *up = litho_waves_alloc(&w, 1), *down = litho_waves_alloc(&w, 1);
        LithoProduct *product = litho_product_new(&w);
        plane_waves(&w, cases[k].kx, cases[k].ky, up, down);
        for (int protect = 0; protect < 2; protect++) {
            g_autofree float *sum = g_new0(float, nx *ny), *light = g_new0(float, nx *ny);
            litho_product_add(&job, &w, product, protect, up, down, sum, light);
            const double size = largest_inside(sum, nx, ny), lit = largest_inside(light, nx, ny);
            g_test_message("%d x %d, k %g %g, protect %d: %.4f, light %.4f", nx, ny, cases[k].kx,
                           cases[k].ky, protect, size, lit);
            g_assert_cmpfloat(fabs(lit - 1), <, 0.015);
            if (protect && !cases[k].held)
                g_assert_cmpfloat(size, <, 0.01);
            else
                g_assert_cmpfloat(fabs(size - 1), <, 0.015);
        }
        litho_product_free(product);
        free(up);
        free(down);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-product/plane-waves", test_product);
    return g_test_run();
}
