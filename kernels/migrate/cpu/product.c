// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/product.h"

#include <math.h>
#include <string.h>

#include "kernels/common/clones.h"
#include "kernels/migrate/half_sample.h"

enum {
    REACH = LITHO_HALF_REACH,
    MARGIN = 16, // zeros on either side of a row of products
};

static const float half_sample[REACH] = LITHO_HALF_SAMPLE;

struct LithoProduct {
    float *row[2];        // up and down between two rows of the grid; layout of a wave's row
    float *half[4];       // real and imaginary parts of up and down between the cells of a row
    float *between[2];    // products and |down|^2 between the cells of a row
    float *line[2];       // a row of the image and its light
    float *image, *light; // of the rows y + 1/2, y = -1 .. ny - 1
};

LithoProduct *litho_product_new(const LithoWaves *w)
{
    LithoProduct *p = g_new0(LithoProduct, 1);
    const gsize row = 2 * (gsize)w->stride + MARGIN, line = w->nx + 2 * MARGIN;
    for (int k = 0; k < 2; k++) {
        p->row[k] = g_new0(float, row);
        p->between[k] = g_new0(float, line);
        p->line[k] = g_new0(float, w->nx);
    }
    for (int k = 0; k < 4; k++)
        p->half[k] = g_new0(float, line);
    p->image = g_try_new0(float, (gsize)w->nx *(w->ny + 1));
    p->light = g_try_new0(float, (gsize)w->nx *(w->ny + 1));
    if (!p->image || !p->light)
        g_clear_pointer(&p, litho_product_free);
    return p;
}

void litho_product_free(LithoProduct *p)
{
    if (!p)
        return;
    for (int k = 0; k < 2; k++) {
        g_free(p->row[k]);
        g_free(p->between[k]);
        g_free(p->line[k]);
    }
    for (int k = 0; k < 4; k++)
        g_free(p->half[k]);
    g_free(p->image);
    g_free(p->light);
    g_free(p);
}

// --- interpolation and its transpose ----------------------------------------------------------

// to[x] = a(x + 1/2), x = -1 .. nx - 1; `a` has zeros beyond its ends.
LITHO_CLONES static void between_cells(const float *a, int nx, float *to)
{
    const float c0 = half_sample[0], c1 = half_sample[1], c2 = half_sample[2], c3 = half_sample[3],
                c4 = half_sample[4], c5 = half_sample[5];
    for (int x = -1; x < nx; x++)
        to[x] = c0 * (a[x] + a[x + 1]) + c1 * (a[x - 1] + a[x + 2]) + c2 * (a[x - 2] + a[x + 3]) +
                c3 * (a[x - 3] + a[x + 4]) + c4 * (a[x - 4] + a[x + 5]) +
                c5 * (a[x - 5] + a[x + 6]);
}

// The wave at y + 1/2; rows outside the grid are 0.
LITHO_CLONES static void between_rows(const LithoWaves *w, float *wave, int y, float *to)
{
    const int n = w->stride + w->nx; // real and imaginary parts, the zeros between them included
    memset(to, 0, sizeof(float) * n);
    for (int j = 0; j < REACH; j++) {
        const int rows[2] = {y - j, y + 1 + j};
        for (int k = 0; k < 2; k++) {
            if (rows[k] < 0 || rows[k] >= w->ny)
                continue;
            const float *from = litho_wave_row(w, wave, rows[k]), c = half_sample[j];
#pragma omp simd
            for (int x = 0; x < n; x++)
                to[x] += c * from[x];
        }
    }
}

// to[x] += scale (p(x) + the transpose of between_cells() of q).
LITHO_CLONES static void add_filtered(const float *p, const float *q, float scale, int nx,
                                      float *to)
{
    for (int x = 0; x < nx; x++) {
        float sum = p[x];
        for (int j = 0; j < REACH; j++)
            sum += half_sample[j] * (q[x + j] + q[x - 1 - j]);
        to[x] += scale * sum;
    }
}

// --- products ---------------------------------------------------------------------------------

// to = Re u d, light = |d|^2 over x0 .. x1 - 1.
LITHO_CLONES static void multiply(const float *ur, const float *ui, const float *dr,
                                  const float *di, int x0, int x1, float *to, float *light)
{
#pragma omp simd
    for (int x = x0; x < x1; x++) {
        to[x] = ur[x] * dr[x] - ui[x] * di[x];
        light[x] = dr[x] * dr[x] + di[x] * di[x];
    }
}

// One row of products, filtered along x: to += scale * ..., likewise light.
static void add_row(LithoProduct *p, const LithoWaves *w, const float *u, const float *d,
                    float scale, float *to, float *light)
{
    const int im = w->stride, nx = w->nx;
    const float *parts[4] = {u, u + im, d, d + im};
    float *half[4], *q = p->between[0] + MARGIN, *lit = p->between[1] + MARGIN;
    for (int k = 0; k < 4; k++)
        half[k] = p->half[k] + MARGIN;
    if (nx > 1) {
        for (int k = 0; k < 4; k++)
            between_cells(parts[k], nx, half[k]);
        multiply(half[0], half[1], half[2], half[3], -1, nx, q, lit);
        scale *= 0.5f;
    }
    multiply(u, u + im, d, d + im, 0, nx, half[0], half[1]);
    add_filtered(half[0], q, scale, nx, to);
    add_filtered(half[1], lit, scale, nx, light);
}

// Products of the rows between the grid's, as far as rows y0 .. y1 - 1 of the image look.
static void fill_between(LithoProduct *p, const LithoWaves *w, float *up, float *down, int y0,
                         int y1)
{
    float *u = p->row[0] + MARGIN, *d = p->row[1] + MARGIN;
    for (int y = MAX(y0 - REACH, -1); y < MIN(y1 + REACH, w->ny); y++) {
        const gsize at = (gsize)w->nx * (y + 1);
        between_rows(w, up, y, u);
        between_rows(w, down, y, d);
        memset(p->image + at, 0, sizeof(float) * w->nx);
        memset(p->light + at, 0, sizeof(float) * w->nx);
        add_row(p, w, u, d, 1, p->image + at, p->light + at);
    }
}

// to += scale times the transpose of between_rows() of `planes` at row y.
static void add_between(const LithoWaves *w, const float *planes, int y, float scale, float *to)
{
    for (int j = 0; j < REACH; j++) {
        const int rows[2] = {y + j, y - 1 - j};
        for (int k = 0; k < 2; k++) {
            if (rows[k] < -1 || rows[k] >= w->ny)
                continue;
            const float *from = planes + (gsize)w->nx * (rows[k] + 1), c = scale * half_sample[j];
#pragma omp simd
            for (int x = 0; x < w->nx; x++)
                to[x] += c * from[x];
        }
    }
}

static void add_protected(const LithoMigrateJob *job, const LithoWaves *w, LithoProduct *p,
                          float *up, float *down, float *sum, float *light)
{
    const gboolean along_y = w->ny > 1;
    const float scale = along_y ? 0.5f : 1;
    if (along_y)
        fill_between(p, w, up, down, job->pad_y, job->pad_y + job->data_ny);
    for (int y = 0; y < job->data_ny; y++) {
        const int row = y + job->pad_y;
        float *line[2] = {p->line[0], p->line[1]}, *to[2] = {sum, light};
        for (int k = 0; k < 2; k++)
            memset(line[k], 0, sizeof(float) * w->nx);
        add_row(p, w, litho_wave_row(w, up, row), litho_wave_row(w, down, row), scale, line[0],
                line[1]);
        if (along_y) {
            add_between(w, p->image, row, scale, line[0]);
            add_between(w, p->light, row, scale, line[1]);
        }
        for (int k = 0; k < 2; k++)
            for (int x = 0; x < job->data_nx; x++)
                to[k][(gsize)y * job->data_nx + x] += line[k][x + job->pad_x];
    }
}

static void add_plain(const LithoMigrateJob *job, const LithoWaves *w, float *up, float *down,
                      float *sum, float *light)
{
    const int im = w->stride;
    for (int y = 0; y < job->data_ny; y++) {
        const float *u = litho_wave_row(w, up, y + job->pad_y) + job->pad_x;
        const float *d = litho_wave_row(w, down, y + job->pad_y) + job->pad_x;
        float *to = sum + (gsize)y * job->data_nx, *li = light + (gsize)y * job->data_nx;
        for (int x = 0; x < job->data_nx; x++) {
            to[x] += u[x] * d[x] - u[im + x] * d[im + x];
            li[x] += d[x] * d[x] + d[im + x] * d[im + x];
        }
    }
}

void litho_product_add(const LithoMigrateJob *job, const LithoWaves *w, LithoProduct *p,
                       gboolean protect, float *up, float *down, float *sum, float *light)
{
    if (protect)
        add_protected(job, w, p, up, down, sum, light);
    else
        add_plain(job, w, up, down, sum, light);
}
