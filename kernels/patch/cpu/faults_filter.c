// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of 4 x 4 traces, a row of them side by side in lanes, for cpu/faults.c: a frequency at a
// time, a vector of windows at a time. A window is a vector of 16 registers and more, so that what
// follows each other is one function, and neighbouring lanes come out of two vectors.
#define LITHO_SIDE_BY_SIDE
#include "kernels/patch/cpu/faults_rows.h"

#include <math.h>

#include "kernels/common/isa.h"
#include "kernels/common/vector_rows.h"

typedef LithoPart V;
typedef LithoMask M;

#define OUTER 0.382683432365090f // of the taper: sin(pi / 8)
#define INNER 0.923879532511287f // and sin(3 pi / 8)

typedef struct Complex {
    V re, im;
} Complex;

// Lanes i, i + 1, .. of a with b behind it.
#define FOUR(i) (i), (i) + 1, (i) + 2, (i) + 3
#if LITHO_LANES == 16
#define SHIFTED(a, b, i)                                                                           \
    __builtin_shufflevector(a, b, FOUR(i), FOUR((i) + 4), FOUR((i) + 8), FOUR((i) + 12))
#elif LITHO_LANES == 8
#define SHIFTED(a, b, i) __builtin_shufflevector(a, b, FOUR(i), FOUR((i) + 4))
#else
#define SHIFTED(a, b, i) __builtin_shufflevector(a, b, FOUR(i))
#endif

// Windows of two frequencies, and powers of three, of all vectors of a row.
typedef struct Room {
    Complex window[2][LANES / LITHO_LANES][K];
    V power[3][LANES / LITHO_LANES][K]; // in units of the noise
} Room;

// --- transforms ----------------------------------------------------------------------------------

LITHO_INLINE Complex load(const float *re, const float *im)
{
    return (Complex){*(const V *)re, *(const V *)im};
}

LITHO_INLINE Complex mixed(Complex a, float outer, Complex b, float inner)
{
    return (Complex){outer * a.re + inner * b.re, outer * a.im + inner * b.im};
}

LITHO_INLINE Complex sum(Complex a, Complex b)
{
    return (Complex){a.re + b.re, a.im + b.im};
}

LITHO_INLINE Complex difference(Complex a, Complex b)
{
    return (Complex){a.re - b.re, a.im - b.im};
}

// a + i b and a - i b.
LITHO_INLINE Complex sum_turned(Complex a, Complex b)
{
    return (Complex){a.re - b.im, a.im + b.re};
}

LITHO_INLINE Complex difference_turned(Complex a, Complex b)
{
    return (Complex){a.re + b.im, a.im - b.re};
}

// The transform of four tapered values.
LITHO_INLINE void forward4(const Complex x[W], Complex *to, int step)
{
    const Complex e = mixed(x[0], OUTER, x[2], INNER), d = mixed(x[0], OUTER, x[2], -INNER);
    const Complex f = mixed(x[1], INNER, x[3], OUTER), g = mixed(x[1], INNER, x[3], -OUTER);
    to[0] = sum(e, f);
    to[step] = difference_turned(d, g);
    to[2 * step] = difference(e, f);
    to[3 * step] = sum_turned(d, g);
}

LITHO_INLINE void backward4(const Complex x[W], Complex to[W])
{
    const Complex e = sum(x[0], x[2]), d = difference(x[0], x[2]);
    const Complex f = sum(x[1], x[3]), g = difference(x[1], x[3]);
    to[0] = sum(e, f);
    to[1] = sum_turned(d, g);
    to[2] = difference(e, f);
    to[3] = difference_turned(d, g);
}

// Frequency f of the windows that begin at row `row`, lanes `at` and behind, along inlines.
LITHO_INLINE void along_inlines(const Scratch *s, int f, int row, int at, Complex to[W])
{
    Complex x[W];
    for (int i = 0; i < W; i++)
        x[i] = load(s->re[f][row + i] + at, s->im[f][row + i] + at);
    forward4(x, to, 1);
}

// Both axes, and powers: in units of the noise, at their wavenumbers where it has a shape.
LITHO_INLINE void transform(const Scratch *s, int f, int row, const float (*shape)[K], Room *room)
{
    Complex own[W], next[W] = {{{0}}};
    along_inlines(s, f, row, 0, own);
    for (int at = 0; at < s->size.lanes; at += LITHO_LANES) {
        Complex *window = room->window[f % 2][at / LITHO_LANES];
        V *power = room->power[f % 3][at / LITHO_LANES];
        const V noise = *(const V *)(s->noise[row][f] + at);
        if (at + LITHO_LANES < s->size.lanes)
            along_inlines(s, f, row, at + LITHO_LANES, next);
        for (int k = 0; k < W; k++) {
            const Complex a = own[k], b = next[k];
            const Complex x[W] = {a,
                                  {SHIFTED(a.re, b.re, 1), SHIFTED(a.im, b.im, 1)},
                                  {SHIFTED(a.re, b.re, 2), SHIFTED(a.im, b.im, 2)},
                                  {SHIFTED(a.re, b.re, 3), SHIFTED(a.im, b.im, 3)}};
            Complex z[W];
            forward4(x, z, 1);
            for (int i = 0; i < W; i++) {
                window[k * W + i] = z[i];
                power[k * W + i] = (z[i].re * z[i].re + z[i].im * z[i].im) * noise;
            }
            own[k] = (Complex){b.re, b.im};
        }
        for (int k = 0; shape && k < K; k++)
            power[k] *= shape[f][k];
    }
}

// --- threshold -----------------------------------------------------------------------------------

LITHO_INLINE gboolean any_lane(M mask)
{
    int any = 0;
    for (int l = 0; l < LITHO_LANES; l++)
        any |= mask[l];
    return any != 0;
}

// Wavenumber -k.
LITHO_INLINE int opposite(int k)
{
    return (W - k / W) % W * W + (W - k % W) % W;
}

// The share that the energy of a coefficient and its neighbours passes; FALSE: nothing. One
// frequency beyond the bins stand the opposite wavenumbers. On either side of a wavenumber and of
// the one two away stand the same two.
LITHO_INLINE gboolean judge(const Room *room, int bins, int f, int part, V limit, M keep[K])
{
    const V *own = room->power[f % 3][part];
    const V *before = room->power[(f > 0 ? f - 1 : bins > 1) % 3][part];
    const V *behind = room->power[(f < bins - 1 ? f + 1 : bins > 1 ? bins - 2 : 0) % 3][part];
    V rows[2][W], columns[W][2];
    M any = {0};
    for (int k = 0; k < W; k++)
        for (int i = 0; i < 2; i++) {
            rows[i][k] = own[(i + 1) * W + k] + own[(i + 3) % W * W + k];
            columns[k][i] = own[k * W + i + 1] + own[k * W + (i + 3) % W];
        }
    for (int k = 0; k < K; k++) {
        const V along = before[f > 0 ? k : opposite(k)] + behind[f < bins - 1 ? k : opposite(k)];
        const V near = rows[k / W % 2][k % W] + columns[k / W][k % 2] + along;
        keep[k] = own[k] + 0.5f * near >= limit;
        any |= keep[k];
    }
    return any_lane(any);
}

// --- back ----------------------------------------------------------------------------------------

// A vector of windows, transformed back along crosslines, as far as their traces 1, 2 and 3 take
// it.
typedef struct Behind {
    Complex of[W][W];
} Behind;

// Sums over the windows of a row that hold a trace: it takes number i of the window i traces before
// it, which may be one of the vector before.
LITHO_INLINE Complex gather(const Complex before[W], const Complex own[W])
{
    const Complex one = {SHIFTED(before[1].re, own[1].re, LITHO_LANES - 1),
                         SHIFTED(before[1].im, own[1].im, LITHO_LANES - 1)};
    const Complex two = {SHIFTED(before[2].re, own[2].re, LITHO_LANES - 2),
                         SHIFTED(before[2].im, own[2].im, LITHO_LANES - 2)};
    const Complex three = {SHIFTED(before[3].re, own[3].re, LITHO_LANES - 3),
                           SHIFTED(before[3].im, own[3].im, LITHO_LANES - 3)};
    return mixed(sum(own[0], three), OUTER, sum(one, two), INNER);
}

LITHO_INLINE void add(float *re, float *im, float scale, Complex x)
{
    *(V *)re += scale * x.re;
    *(V *)im += scale * x.im;
}

// Adds the transform of x back along inlines to the rows of `made` that the windows cover.
LITHO_INLINE void add_inlines(const Scratch *s, int f, int row, int at, const Complex x[W],
                              Made *made)
{
    const float scale = 1.0f / (K * W); // of the transforms, and of the sum of w^2 along both axes
    Complex y[W];
    backward4(x, y);
    for (int i = 0; i < W; i++) {
        const int to = row + i - EDGE;
        if (to >= 0 && to < s->size.made_il)
            add(made->re[f][to] + at, made->im[f][to] + at,
                (i == 0 || i == W - 1 ? OUTER : INNER) * scale, y[i]);
    }
}

// Threshold of the row's windows at frequency f, and what passes to its sums. In most vectors of
// windows nothing does.
LITHO_INLINE void filter(const Scratch *s, const Room *room, int bins, int f, int row, Made *made)
{
    Behind before = {{{{{0}}}}}, own = before;
    gboolean was = FALSE;
    for (int at = 0; at < s->size.lanes; at += LITHO_LANES) {
        const int part = at / LITHO_LANES;
        const Complex *window = room->window[f % 2][part];
        Complex sums[W];
        M keep[K];
        const gboolean is = judge(room, bins, f, part, *(const V *)(s->factor + at), keep);
        if (is || was) {
            for (int k = 0; k < W; k++) {
                Complex x[W];
                for (int i = 0; i < W; i++)
                    x[i] = (Complex){litho_keep(keep[k * W + i], window[k * W + i].re),
                                     litho_keep(keep[k * W + i], window[k * W + i].im)};
                backward4(x, own.of[k]);
                sums[k] = gather(before.of[k], own.of[k]);
            }
            add_inlines(s, f, row, at, sums, made);
            before = own;
        }
        was = is;
    }
}

void LITHO_ISA_NAME(patch_fault_filter)(const Scratch *s, int bins, int row,
                                        const float (*shape)[K], Made *made)
{
    Room room;
    transform(s, 0, row, shape, &room);
    for (int f = 0; f < bins; f++) {
        if (f + 1 < bins)
            transform(s, f + 1, row, shape, &room);
        filter(s, &room, bins, f, row, made);
    }
}
