// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/clones.h"

enum {
    PAD = 16, // zeros before each row: 4 are needed, 16 keep rows aligned
    RADIUS = LITHO_STENCIL_RADIUS,
    ROWS = 8, // rows a degree advances at a time
};

struct LithoWaveScratch {
    float *plane[2];                    // with RADIUS zero rows above and below
    float *slow2; // [ny][nx] slowness squared; its first row when one serves all
    float *source;                      // two rows
    float *sum[LITHO_MIGRATE_MAX_STEP]; // accumulators of the forward recursion
};

LithoWaves litho_waves_layout(int nx, int ny)
{
    int stride = (nx + PAD - 1) / PAD * PAD + PAD;
    return (LithoWaves){.nx = nx, .ny = ny, .stride = stride, .size = 2 * (gsize)stride * ny + PAD};
}

static float *room_for(gsize count)
{
    return aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
}

static float *alloc_floats(gsize count)
{
    float *p = room_for(count);
    if (p)
        memset(p, 0, count * sizeof *p);
    return p;
}

float *litho_waves_alloc(const LithoWaves *layout, gsize count)
{
    return alloc_floats(layout->size * count);
}

float *litho_waves_room(const LithoWaves *layout, gsize count)
{
    return room_for(layout->size * count);
}

LithoWaveScratch *litho_wave_scratch_new(const LithoWaves *w)
{
    LithoWaveScratch *s = g_new0(LithoWaveScratch, 1);
    for (int k = 0; k < 2; k++)
        s->plane[k] = alloc_floats(2 * (gsize)w->stride * (w->ny + 2 * RADIUS) + PAD);
    s->slow2 = alloc_floats((gsize)w->nx * w->ny);
    s->source = alloc_floats(2 * (gsize)w->stride);
    gboolean ok = s->plane[0] && s->plane[1] && s->slow2 && s->source;
    for (int m = 0; m < LITHO_MIGRATE_MAX_STEP; m++)
        ok &= (s->sum[m] = alloc_floats(w->size)) != NULL;
    if (!ok)
        g_clear_pointer(&s, litho_wave_scratch_free);
    return s;
}

void litho_wave_scratch_free(LithoWaveScratch *s)
{
    if (!s)
        return;
    for (int k = 0; k < 2; k++)
        free(s->plane[k]);
    for (int m = 0; m < LITHO_MIGRATE_MAX_STEP; m++)
        free(s->sum[m]);
    free(s->slow2);
    free(s->source);
    g_free(s);
}

gsize litho_wave_scratch_bytes(const LithoWaves *w)
{
    const gsize plane = 2 * (gsize)w->stride * (w->ny + 2 * RADIUS) + PAD;
    return sizeof(float) * (2 * plane + (gsize)w->nx * w->ny + 2 * (gsize)w->stride +
                            LITHO_MIGRATE_MAX_STEP * w->size);
}

LITHO_INLINE float *plane_row(const LithoWaves *w, float *plane, int y)
{
    return plane + 2 * (gsize)w->stride * (y + RADIUS) + PAD;
}

// out = Y b - prev + a p over one row of complex values; `im` is the distance to imaginary parts,
// `up` to the next row of b. 41 flops a component.
LITHO_INLINE void stencil_row_axes(float *out, const float *prev, const float *b, const float *p,
                                   ptrdiff_t im, ptrdiff_t up, const LithoStencil *s,
                                   const float *slow2, float ar, float ai, int nx, gboolean along_y)
{
    const float hx0 = s->hx[0], hx1 = s->hx[1], hx2 = s->hx[2], hx3 = s->hx[3];
    const float hy0 = s->hy[0], hy1 = s->hy[1], hy2 = s->hy[2], hy3 = s->hy[3];
    const float alpha = s->alpha, beta = s->beta;
#pragma omp simd
    for (int x = 0; x < nx; x++) {
        const float centre = alpha + beta * slow2[x];
        float v[2];
        for (int c = 0; c < 2; c++) {
            const float *q = b + c * im + x;
            float r = centre * q[0] - prev[c * im + x];
            r += hx0 * (q[-1] + q[1]);
            r += hx1 * (q[-2] + q[2]);
            r += hx2 * (q[-3] + q[3]);
            r += hx3 * (q[-4] + q[4]);
            if (along_y) {
                r += hy0 * (q[-up] + q[up]);
                r += hy1 * (q[-2 * up] + q[2 * up]);
                r += hy2 * (q[-3 * up] + q[3 * up]);
                r += hy3 * (q[-4 * up] + q[4 * up]);
            }
            v[c] = r;
        }
        const float pr = p[x], pi = p[im + x];
        out[x] = v[0] + ar * pr - ai * pi;
        out[im + x] = v[1] + ar * pi + ai * pr;
    }
}

LITHO_CLONES static void stencil_row(float *out, const float *prev, const float *b, const float *p,
                                     ptrdiff_t im, ptrdiff_t up, const LithoStencil *s,
                                     const float *slow2, float ar, float ai, int nx, int ny)
{
    if (ny > 1)
        stencil_row_axes(out, prev, b, p, im, up, s, slow2, ar, ai, nx, TRUE);
    else
        stencil_row_axes(out, prev, b, p, im, up, s, slow2, ar, ai, nx, FALSE);
}

static LithoStencil halved(const LithoStencil *s)
{
    LithoStencil h = {.alpha = s->alpha / 2, .beta = s->beta / 2};
    for (int m = 0; m < RADIUS; m++) {
        h.hx[m] = s->hx[m] / 2;
        h.hy[m] = s->hy[m] / 2;
    }
    return h;
}

static void square_slowness(const LithoWaves *w, LithoWaveScratch *s, const LithoWaveStep *step)
{
    const gsize n = (gsize)w->nx * (step->one_row ? 1 : w->ny);
    for (gsize k = 0; k < n; k++)
        s->slow2[k] = step->slowness[k] * step->slowness[k];
}

// Start of row y of the step's slowness, or of its squares.
LITHO_INLINE gsize slowness_row(const LithoWaves *w, const LithoWaveStep *step, int y)
{
    return step->one_row ? 0 : (gsize)y * w->nx;
}

// Coefficient n of target m at one point of the pointwise form.
LITHO_INLINE void table_look_up(const LithoWaveStep *step, int m, int n, float slowness, float *re,
                                float *im)
{
    const float *row = step->table[m] + 2 * (gsize)n * step->n_table;
    float at = slowness * step->table_scale - step->table_offset;
    at = at < 0 ? 0 : at > step->n_table - 1 ? step->n_table - 1 : at;
    int k = (int)at;
    k = k > step->n_table - 2 ? step->n_table - 2 : k;
    float f = at - k;
    *re = row[2 * k] + f * (row[2 * k + 2] - row[2 * k]);
    *im = row[2 * k + 1] + f * (row[2 * k + 3] - row[2 * k + 1]);
}

// --- adjoint and the plain forward step: Clenshaw's recursion -----------------------------------

// sum_m c_m(n) planes[m] of one row into `row`; c conjugated for the adjoint.
LITHO_CLONES static void source_row(const LithoWaves *w, const LithoWaveStep *step,
                                    float *const *planes, gboolean conjugate, int n, int y,
                                    float *row)
{
    const int im = w->stride;
    const float sign = conjugate ? -1 : 1;
    for (int m = 0; m < step->targets; m++) {
        const float *p = litho_wave_row(w, planes[m], y);
        const float *slowness = step->slowness + slowness_row(w, step, y);
        for (int x = 0; x < w->nx; x++) {
            float ar, ai;
            if (step->table[0]) {
                table_look_up(step, m, n, slowness[x], &ar, &ai);
            } else {
                ar = step->re[m][n];
                ai = step->im[m][n];
            }
            ai *= sign;
            float re = ar * p[x] - ai * p[im + x], imag = ar * p[im + x] + ai * p[x];
            row[x] = m ? row[x] + re : re;
            row[im + x] = m ? row[im + x] + imag : imag;
        }
    }
}

// b_n = c_n P + Y b_(n+1) - b_(n+2) for rows y0..y1; b_n replaces b_(n+2). The last degree goes to
// `out`, which may be the plane P is read from.
static void clenshaw_rows(const LithoWaves *w, LithoWaveScratch *s, const LithoWaveStep *step,
                          const LithoStencil *stencil, float *const *planes, gboolean conjugate,
                          int n, int y0, int y1, float *out)
{
    const ptrdiff_t im = w->stride, up = 2 * (ptrdiff_t)w->stride;
    const gboolean scalar = step->targets == 1 && !step->table[0];
    for (int y = MAX(y0, 0); y < MIN(y1, w->ny); y++) {
        float *b2 = plane_row(w, s->plane[n & 1], y), *b1 = plane_row(w, s->plane[~n & 1], y);
        const float *p = s->source;
        float ar = 1, ai = 0;
        if (scalar) {
            p = litho_wave_row(w, planes[0], y);
            ar = step->re[0][n];
            ai = conjugate ? -step->im[0][n] : step->im[0][n];
        } else {
            source_row(w, step, planes, conjugate, n, y, s->source);
        }
        if (n == step->degree) { // b_(n+1) = b_(n+2) = 0
            memset(b1, 0, sizeof(float) * w->nx);
            memset(b1 + im, 0, sizeof(float) * w->nx);
            for (int x = 0; x < w->nx; x++) {
                b2[x] = ar * p[x] - ai * p[im + x];
                b2[im + x] = ar * p[im + x] + ai * p[x];
            }
        } else {
            stencil_row(n > 0 ? b2 : litho_wave_row(w, out, y), b2, b1, p, im, up, stencil,
                        s->slow2 + slowness_row(w, step, y), ar, ai, w->nx, w->ny);
        }
    }
}

static gboolean clenshaw(const LithoWaves *w, LithoWaveScratch *s, const LithoWaveStep *step,
                         float *const *planes, gboolean conjugate, float *out)
{
    const LithoStencil last = halved(&step->stencil);
    square_slowness(w, s, step);
    const int end = w->ny + RADIUS * step->degree;
    for (int front = 0; front < end; front += ROWS) {
        if (!litho_run_checkpoint(step->run))
            return FALSE;
        for (int n = step->degree; n >= 0; n--) {
            int y = front - RADIUS * (step->degree - n);
            clenshaw_rows(w, s, step, n > 0 ? &step->stencil : &last, planes, conjugate, n, y,
                          y + ROWS, out);
        }
    }
    return TRUE;
}

// --- forward with depths in between, and the pointwise form: T_n one after the other ----------

LITHO_CLONES static void accumulate_row(const LithoWaves *w, LithoWaveScratch *s,
                                        const LithoWaveStep *step, int n, int y, const float *t)
{
    const int im = w->stride;
    const float *slowness = step->slowness + slowness_row(w, step, y);
    for (int m = 0; m < step->targets; m++) {
        float *sum = litho_wave_row(w, s->sum[m], y);
        if (n == 0) {
            memset(sum, 0, sizeof(float) * w->nx);
            memset(sum + im, 0, sizeof(float) * w->nx);
        }
        if (step->table[0]) {
            for (int x = 0; x < w->nx; x++) {
                float ar, ai;
                table_look_up(step, m, n, slowness[x], &ar, &ai);
                sum[x] += ar * t[x] - ai * t[im + x];
                sum[im + x] += ar * t[im + x] + ai * t[x];
            }
            continue;
        }
        const float ar = step->re[m][n], ai = step->im[m][n];
#pragma omp simd
        for (int x = 0; x < w->nx; x++) {
            sum[x] += ar * t[x] - ai * t[im + x];
            sum[im + x] += ar * t[im + x] + ai * t[x];
        }
    }
}

static void chebyshev_rows(const LithoWaves *w, LithoWaveScratch *s, const LithoWaveStep *step,
                           const LithoStencil *stencil, int n, int y0, int y1, float *wave)
{
    const ptrdiff_t im = w->stride, up = 2 * (ptrdiff_t)w->stride;
    for (int y = MAX(y0, 0); y < MIN(y1, w->ny); y++) {
        float *t = plane_row(w, s->plane[n & 1], y), *t1 = plane_row(w, s->plane[~n & 1], y);
        if (n == 0) {
            const float *p = litho_wave_row(w, wave, y);
            for (int c = 0; c < 2; c++) {
                memcpy(t + c * im, p + c * im, sizeof(float) * w->nx);
                memset(t1 + c * im, 0, sizeof(float) * w->nx);
            }
        } else {
            stencil_row(t, t, t1, t1, im, up, stencil, s->slow2 + slowness_row(w, step, y), 0, 0,
                        w->nx, w->ny);
        }
        accumulate_row(w, s, step, n, y, t);
    }
}

static void copy_wave(const LithoWaves *w, float *to, const float *from)
{
    memcpy(to, from, w->size * sizeof(float));
}

static gboolean chebyshev(const LithoWaves *w, LithoWaveScratch *s, const LithoWaveStep *step,
                          float *wave, float *const *planes)
{
    const LithoStencil first = halved(&step->stencil);
    square_slowness(w, s, step);
    const int end = w->ny + RADIUS * step->degree;
    for (int front = 0; front < end; front += ROWS) {
        if (!litho_run_checkpoint(step->run))
            return FALSE;
        for (int n = 0; n <= step->degree; n++)
            chebyshev_rows(w, s, step, n > 1 ? &step->stencil : &first, n, front - RADIUS * n,
                           front - RADIUS * n + ROWS, wave);
    }
    for (int m = 0; m + 1 < step->targets; m++)
        copy_wave(w, planes[m], s->sum[m]);
    copy_wave(w, wave, s->sum[step->targets - 1]);
    return TRUE;
}

gboolean litho_wave_forward(const LithoWaves *w, LithoWaveScratch *s, const LithoWaveStep *step,
                            float *wave, float *const *planes)
{
    return step->targets == 1 && !step->table[0] ? clenshaw(w, s, step, &wave, FALSE, wave)
                                                 : chebyshev(w, s, step, wave, planes);
}

gboolean litho_wave_adjoint(const LithoWaves *w, LithoWaveScratch *s, const LithoWaveStep *step,
                            float *wave, float *const *planes)
{
    float *all[LITHO_MIGRATE_MAX_STEP];
    for (int m = 0; m + 1 < step->targets; m++)
        all[m] = planes[m];
    all[step->targets - 1] = wave;
    return clenshaw(w, s, step, all, TRUE, wave);
}

// --- the rest ---------------------------------------------------------------------------------

void litho_wave_sponge(const LithoWaves *w, float *wave, const float *gx, const float *gy)
{
    if (!gx && !gy)
        return;
    for (int y = 0; y < w->ny; y++) {
        float *re = litho_wave_row(w, wave, y), *im = re + w->stride, g = gy ? gy[y] : 1;
        for (int x = 0; x < w->nx; x++) {
            float factor = gx ? g * gx[x] : g;
            re[x] *= factor;
            im[x] *= factor;
        }
    }
}

double litho_wave_energy(const LithoWaves *w, const float *wave)
{
    double energy = 0;
    for (gsize k = 0; k < w->size; k++)
        energy += (double)wave[k] * wave[k];
    return energy;
}
