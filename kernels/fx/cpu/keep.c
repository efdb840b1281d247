// SPDX-License-Identifier: GPL-3.0-or-later
//
// Signal that leaves at faults, flips and ends of events is put back: rule 6 of geometry.h.
#include <string.h>

#include "kernels/fx/cpu/batch.h"

enum { BINS = LITHO_FX_KEEP_BINS };

typedef struct Maps {
    FxV *energy, *mean; // [trace] of one batch
    float *re, *im;     // [bin][trace]: the excess, in units of Piece.scale
    float *whole;       // [trace]: its energy
    float *products[3]; // [trace]: of the pair that begins there, then of those around it
    float *sum_re, *sum_im, *square, *row; // [trace]
    float *around, *sure;                  // [trace]: live ones around, litho_fx_keep_sure()
    float *kept;                           // [trace]: part of the excess that is put back
    uint8_t *live;                         // [trace]
    uint8_t *has;                          // [bin]: 1 = `re` and `im` are set
} Maps;

typedef struct Piece {
    const FxKeep *k;
    Maps m;
    int il0, xl0, n_il, n_xl, n; // traces, within the window
    int by_il, by_xl;            // litho_fx_keep_around()
    float scale;                 // brings the largest removed part to [1, 2)
} Piece;

static size_t divide(Maps *m, char *memory, int n)
{
    char *at = memory;
#define TAKE(what, count) (m->what = (void *)at, at += ((count) * sizeof *m->what + 63) / 64 * 64)
    TAKE(energy, n);
    TAKE(mean, n);
    TAKE(re, (size_t)BINS * n);
    TAKE(im, (size_t)BINS * n);
    TAKE(whole, n);
    for (int k = 0; k < 3; k++)
        TAKE(products[k], n);
    TAKE(sum_re, n);
    TAKE(sum_im, n);
    TAKE(square, n);
    TAKE(row, n);
    TAKE(around, n);
    TAKE(sure, n);
    TAKE(kept, n);
    TAKE(live, n);
    TAKE(has, BINS);
#undef TAKE
    return at - memory;
}

size_t fx_keep_scratch(int length_il, int length_xl)
{
    static char nowhere[64] __attribute__((aligned(64)));
    Maps m;
    const int il = length_il < LITHO_FX_KEEP_PIECE ? length_il : LITHO_FX_KEEP_PIECE;
    const int xl = length_xl < LITHO_FX_KEEP_PIECE ? length_xl : LITHO_FX_KEEP_PIECE;
    return divide(&m, nowhere, il * xl);
}

// --- sums over the traces around -----------------------------------------------------------------

FX_INLINE int low(int at, int by)
{
    return at > by ? at - by : 0;
}

FX_INLINE int high(int at, int by, int n)
{
    return at + by + 1 < n ? at + by + 1 : n;
}

// to[k] += from[k].
__attribute__((noinline)) static void add(int n, const float *restrict from, float *restrict to)
{
    for (int k = 0; k < n; k++)
        to[k] += from[k];
}

// Sums in place; `row` is scratch.
static void sum_around(const Piece *p, float *map, float *row)
{
    const int n_xl = p->n_xl;
    for (int il = 0; il < p->n_il; il++) {
        const float *from = map + il * n_xl;
        float *to = row + il * n_xl;
        int some = 0;
        for (int xl = 0; xl < n_xl; xl++)
            some |= from[xl] != 0;
        memcpy(to, from, n_xl * sizeof *to);
        for (int by = 1; by <= p->by_xl && by < n_xl && some; by++) {
            add(n_xl - by, from + by, to);
            add(n_xl - by, from, to + by);
        }
    }
    memcpy(map, row, p->n * sizeof *map);
    for (int by = 1; by <= p->by_il && by < p->n_il; by++) {
        add((p->n_il - by) * n_xl, row + by * n_xl, map);
        add((p->n_il - by) * n_xl, row, map + by * n_xl);
    }
}

// sum_around() of m.energy, over the live traces around.
static void mean_around(const Piece *p)
{
    FxV *map = p->m.energy, *row = p->m.mean;
    const int n_xl = p->n_xl;
    for (int il = 0; il < p->n_il; il++)
        for (int xl = 0; xl < n_xl; xl++) {
            FxV sum = {0};
            for (int x = low(xl, p->by_xl); x < high(xl, p->by_xl, n_xl); x++)
                sum += map[il * n_xl + x];
            row[il * n_xl + xl] = sum;
        }
    for (int il = 0; il < p->n_il; il++)
        for (int xl = 0; xl < n_xl; xl++) {
            FxV sum = {0};
            for (int y = low(il, p->by_il); y < high(il, p->by_il, p->n_il); y++)
                sum += row[y * n_xl + xl];
            const int at = il * n_xl + xl;
            map[at] = sum * (1 / fmaxf(p->m.around[at], 1));
        }
}

// --- energy --------------------------------------------------------------------------------------

FX_INLINE FxC *out_of(const Piece *p, int batch, int il, int xl)
{
    const FxRect w = p->k->first.window;
    return (FxC *)(p->k->first.out + p->k->out_pitch * batch) +
           (ptrdiff_t)(p->il0 + il) * (w.xl1 - w.xl0) + p->xl0 + xl;
}

// Input less prediction of a live trace.
FX_INLINE FxC removed(const Piece *p, int batch, int il, int xl)
{
    const FxWindow *w = &p->k->first;
    const FxC out = *out_of(p, batch, il, xl);
    if (w->params->outband != LITHO_FX_MUTE)
        return (FxC){-out.re, -out.im};
    const ptrdiff_t at =
        (ptrdiff_t)(w->window.il0 + p->il0 + il - w->held.il0) * (w->held.xl1 - w->held.xl0) +
        w->window.xl0 + p->xl0 + xl - w->held.xl0;
    const FxC s = ((const FxC *)(w->spectra + p->k->spectra_pitch * batch))[at];
    return (FxC){s.re - out.re, s.im - out.im};
}

// FALSE: nothing was removed.
static int find_scale(Piece *p)
{
    FxV most = {0};
    for (int b = 0; b < p->k->batches; b++)
        for (int il = 0; il < p->n_il; il++)
            for (int xl = 0; xl < p->n_xl; xl++)
                if (p->m.live[il * p->n_xl + xl]) {
                    const FxC r = removed(p, b, il, xl);
                    most = fx_max(most, fx_max(fx_abs(r.re), fx_abs(r.im)));
                }
    float largest = 0;
    for (int l = 0; l < FX_LANES; l++)
        largest = fmaxf(largest, most[l]);
    if (!(largest > 1e-30f))
        return 0;
    int exponent;
    frexpf(largest, &exponent);
    p->scale = ldexpf(1, 1 - exponent);
    return 1;
}

// Sums over the live traces of the weights and of the weighed energies. The weight is 1 up to 1.25
// times the level, of which `twice_over` is twice the reciprocal, and 0 from 1.75 on.
static void weigh(const Piece *p, FxV twice_over, FxV *weights, FxV *energy)
{
    enum { SUMS = 4 }; // so that no addition waits for another
    FxV w[SUMS] = {{0}}, e[SUMS] = {{0}};
    for (int k = 0; k < p->n; k += SUMS)
        for (int m = 0; m < SUMS; m++)
            if (k + m < p->n && p->m.live[k + m]) {
                const FxV v = p->m.energy[k + m];
                FxV weight = 3.5f - twice_over * v;
                weight = fx_select(weight < 1, weight, fx_splat(1));
                weight = fx_select(weight > 0, weight, (FxV){0});
                w[m] += weight;
                e[m] += weight * v;
            }
    *weights = (w[0] + w[1]) + (w[2] + w[3]);
    *energy = (e[0] + e[1]) + (e[2] + e[3]);
}

// The level of the noise in m.energy, which holds the means around.
static FxV level(const Piece *p)
{
    FxV n, weights, energy;
    weigh(p, (FxV){0}, &weights, &energy);
    n = energy / weights;
    for (int pass = 0; pass < LITHO_FX_KEEP_PASSES; pass++) {
        weigh(p, 2 / fx_select(n > 0, n, fx_splat(1)), &weights, &energy);
        n = energy / fx_select(weights > 0, weights, fx_splat(1));
    }
    return n;
}

// The excess of one batch into m.re and m.im, from bin `bin` on. TRUE: there is one.
static int find_excess(Piece *p, int batch, int bin)
{
    Maps *m = &p->m;
    for (int il = 0; il < p->n_il; il++)
        for (int xl = 0; xl < p->n_xl; xl++) {
            const int at = il * p->n_xl + xl;
            const FxC r = removed(p, batch, il, xl);
            const FxV e = p->scale * r.re * (p->scale * r.re) + p->scale * r.im * (p->scale * r.im);
            m->energy[at] = m->live[at] ? e : (FxV){0};
        }
    mean_around(p);
    const FxV noise = level(p);
    FxV rise = {0}; // at first the most that a mean is above the noise
    for (int k = 0; k < p->n; k++)
        if (m->live[k])
            rise = fx_max(rise, m->sure[k] * (m->energy[k] - noise));
    const FxMask any = rise > (LITHO_FX_KEEP_FROM - 1) * noise;
    if (fx_count(any) > 0)
        for (int l = 0; l < FX_LANES; l++)
            rise[l] = litho_fx_keep_rise(rise[l], noise[l]);
    for (int l = 0; l < FX_LANES; l++) {
        m->has[bin + l] = any[l] != 0;
        if (any[l] != 0) {
            memset(m->re + (size_t)(bin + l) * p->n, 0, sizeof(float) * p->n);
            memset(m->im + (size_t)(bin + l) * p->n, 0, sizeof(float) * p->n);
        }
    }
    if (fx_count(any) == 0)
        return 0;
    for (int il = 0; il < p->n_il; il++)
        for (int xl = 0; xl < p->n_xl; xl++) {
            const int at = il * p->n_xl + xl;
            const FxMask over = (m->energy[at] > noise) & any;
            if (!m->live[at] || fx_count(over) == 0)
                continue;
            const FxC r = removed(p, batch, il, xl);
            const FxV part = 1 - noise / fx_select(over, m->energy[at], fx_splat(1));
            const FxV w = p->scale * rise * part;
            const FxV re = w * r.re, im = w * r.im;
            for (int l = 0; l < FX_LANES; l++)
                if (over[l]) {
                    m->re[(size_t)(bin + l) * p->n + at] = re[l];
                    m->im[(size_t)(bin + l) * p->n + at] = im[l];
                    m->whole[at] += re[l] * re[l] + im[l] * im[l];
                }
        }
    return 1;
}

// --- likeness ------------------------------------------------------------------------------------

// Adds the products of n excesses a and b at one bin: conj(a) b and |a|^2 |b|^2.
__attribute__((noinline)) static void add_products(int n, const float *restrict a_re,
                                                   const float *restrict a_im,
                                                   const float *restrict b_re,
                                                   const float *restrict b_im, float *restrict re,
                                                   float *restrict im, float *restrict square)
{
    for (int k = 0; k < n; k++) {
        re[k] += a_re[k] * b_re[k] + a_im[k] * b_im[k];
        im[k] += a_re[k] * b_im[k] - a_im[k] * b_re[k];
        square[k] +=
            (a_re[k] * a_re[k] + a_im[k] * a_im[k]) * (b_re[k] * b_re[k] + b_im[k] * b_im[k]);
    }
}

// Products of the traces from `at` on, n of them, and those `by` further. TRUE: some are alike.
static int multiply(const Piece *p, int bins, int at, int by, int n)
{
    const Maps *m = &p->m;
    int any = 0;
    memset(m->sum_re, 0, n * sizeof(float));
    memset(m->sum_im, 0, n * sizeof(float));
    memset(m->square, 0, n * sizeof(float));
    for (int b = 0; b < bins; b++) {
        const float *re = m->re + (size_t)b * p->n + at, *im = m->im + (size_t)b * p->n + at;
        if (m->has[b])
            add_products(n, re, im, re + by, im + by, m->sum_re, m->sum_im, m->square);
    }
    for (int k = 0; k < n; k++) {
        m->products[0][at + k] = m->sum_re[k] * m->sum_re[k] + m->sum_im[k] * m->sum_im[k];
        m->products[1][at + k] = litho_fx_keep_whole(m->whole[at + k], m->whole[at + k + by]);
        m->products[2][at + k] = p->k->first.padding * m->square[k];
        any |= m->products[0][at + k] > 0;
    }
    return any;
}

// Pairs of one direction.
static void compare(const Piece *p, int bins, int direction)
{
    const Maps *m = &p->m;
    const int step[2] = {litho_fx_direction(direction, 0), litho_fx_direction(direction, 1)};
    const float shared = p->k->first.alike.of[direction];
    const int left = step[1] < 0 ? -step[1] : 0, right = step[1] > 0 ? step[1] : 0;
    const int by = step[0] * p->n_xl + step[1];
    int any = 0;
    for (int k = 0; k < 3; k++)
        memset(m->products[k], 0, p->n * sizeof(float));
    for (int il = 0; il + step[0] < p->n_il; il++) {
        const float *row = m->whole + il * p->n_xl;
        int from = left, to = p->n_xl - right;
        while (from < to && !(row[from] > 0 || row[from + by] > 0))
            from++;
        while (to > from && !(row[to - 1] > 0 || row[to - 1 + by] > 0))
            to--;
        if (to > from)
            any |= multiply(p, bins, il * p->n_xl + from, by, to - from);
    }
    if (!any) // nothing is alike
        return;
    for (int k = 0; k < 3; k++)
        sum_around(p, m->products[k], m->row);
    for (int k = 0; k < p->n; k++)
        if (m->whole[k] > 0) {
            const float part =
                litho_fx_kept(litho_fx_alike(m->products[0][k], m->products[1][k], shared),
                              m->products[1][k], m->products[2][k]);
            m->kept[k] = part > m->kept[k] ? part : m->kept[k];
        }
}

FX_INLINE int is_recorded(const Piece *p, int il, int xl)
{
    return p->k->recorded[(p->il0 + il) * p->k->recorded_pitch + p->xl0 + xl];
}

static void put_back(const Piece *p, int batch, int bin)
{
    const float back = 1 / p->scale;
    for (int il = 0; il < p->n_il; il++)
        for (int xl = 0; xl < p->n_xl; xl++) {
            const int at = il * p->n_xl + xl;
            const float part = is_recorded(p, il, xl) ? back * p->m.kept[at] : 0;
            FxC *out = out_of(p, batch, il, xl);
            for (int l = 0; l < FX_LANES && part > 0; l++)
                if (p->m.has[bin + l]) {
                    out->re[l] += part * p->m.re[(size_t)(bin + l) * p->n + at];
                    out->im[l] += part * p->m.im[(size_t)(bin + l) * p->n + at];
                }
        }
}

// --- one piece -----------------------------------------------------------------------------------

static int find_live(Piece *p)
{
    const FxWindow *w = &p->k->first;
    int n = 0;
    for (int il = 0; il < p->n_il; il++)
        for (int xl = 0; xl < p->n_xl; xl++) {
            const int at = il * p->n_xl + xl;
            p->m.live[at] = w->present[(ptrdiff_t)(w->window.il0 + p->il0 + il - w->held.il0) *
                                           (w->held.xl1 - w->held.xl0) +
                                       w->window.xl0 + p->xl0 + xl - w->held.xl0];
            p->m.around[at] = p->m.live[at];
            n += p->m.live[at];
        }
    sum_around(p, p->m.around, p->m.row);
    for (int k = 0; k < p->n; k++)
        p->m.sure[k] = litho_fx_keep_sure(p->m.around[k], p->by_il, p->by_xl);
    return n > 0;
}

static void keep_piece(Piece *p)
{
    const int bins = p->k->batches * FX_LANES;
    Maps *m = &p->m;
    int any = 0;
    if (!find_live(p) || !find_scale(p))
        return;
    memset(m->whole, 0, p->n * sizeof *m->whole);
    for (int b = 0; b < p->k->batches; b++)
        any |= find_excess(p, b, b * FX_LANES);
    if (!any)
        return;
    memset(m->kept, 0, p->n * sizeof *m->kept);
    for (int d = 0; d < LITHO_FX_DIRECTIONS; d++)
        compare(p, bins, d);
    for (int b = 0; b < p->k->batches; b++)
        put_back(p, b, b * FX_LANES);
}

void fx_keep(const FxKeep *k, void *scratch)
{
    const FxRect w = k->first.window;
    const int n_il = w.il1 - w.il0, n_xl = w.xl1 - w.xl0;
    const int pieces_il = litho_fx_keep_pieces(n_il), pieces_xl = litho_fx_keep_pieces(n_xl);
    Piece p = {.k = k};
    for (int i = 0; i < pieces_il; i++)
        for (int j = 0; j < pieces_xl; j++) {
            p.il0 = n_il * i / pieces_il;
            p.xl0 = n_xl * j / pieces_xl;
            p.n_il = n_il * (i + 1) / pieces_il - p.il0;
            p.n_xl = n_xl * (j + 1) / pieces_xl - p.xl0;
            p.n = p.n_il * p.n_xl;
            p.by_il = litho_fx_keep_around(p.n_xl);
            p.by_xl = litho_fx_keep_around(p.n_il);
            divide(&p.m, scratch, p.n);
            keep_piece(&p);
        }
}
