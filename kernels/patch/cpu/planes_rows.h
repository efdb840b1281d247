// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of LITHO_ROW samples along time, or traces along both other axes, a frequency at a time
// (planes.h). Two windows are
// the real and imaginary part of one transform; lanes are windows or traces side by side, so that
// no lane needs another one. Included by one file a length, which defines LITHO_ROW and
// PATCH_PLANES(part), the names of its functions. PATCH_TIME_ALONE: no windows have so many traces.
#pragma once
#define LITHO_SIDE_BY_SIDE
#include <string.h>

#include "kernels/patch/cpu/planes.h"

// After core/grid.h, which calls an axis LITHO_INLINE.
#include "kernels/common/vector_rows.h"
#include "kernels/patch/cpu/pairs.h"

enum {
    N = LITHO_ROW,
    LANES = LITHO_LANES,
    ROOM = (N + LANES - 1) / LANES * LANES, // for the samples of a trace, whole squares
};

typedef LithoPart V;
typedef LithoMask M;

// Values along an axis, LANES of them side by side.
typedef struct Line {
    LithoRow re[N], im[N];
} Line;

// Samples of both windows of a pair, of as many traces.
typedef struct Traces {
    float a[LANES][ROOM], b[LANES][ROOM];
} Traces __attribute__((aligned(64)));

LITHO_INLINE void forward(Line *x)
{
    litho_fft_rows(x->re, x->im, 1);
}

// N times the samples.
LITHO_INLINE void backward(Line *x)
{
    litho_fft_rows(x->im, x->re, 1);
}

// --- time ----------------------------------------------------------------------------------------

// Rows of samples from rows of traces.
LITHO_INLINE void across(const float *const from[LANES], LithoRow to[N], const float *taper)
{
    for (int t0 = 0; t0 < ROOM; t0 += LANES) {
        V square[LANES];
        for (int l = 0; l < LANES; l++)
            square[l] = litho_load_part(from[l] + t0);
        litho_transpose_square(square);
        for (int t = t0; t < MIN(t0 + LANES, N); t++)
            to[t][0] = clean(square[t - t0]) * taper[t];
    }
}

// Samples of a pair's windows on `row`, a trace of the survey or NULL; `copy` where these are not
// ROOM neighbours.
LITHO_INLINE const float *samples_of(const PatchPlanes *p, const float *row, int pair,
                                     float copy[2 * ROOM])
{
    const LithoPatchAxis time = p->sweep->g.axis[2];
    const int t0 = litho_patch_start(time, 2 * (p->pair0 + pair)), count = time.stride + N;
    if (row && t0 >= 0 && t0 + time.stride + ROOM <= time.n)
        return row + t0;
    patch_load(row, p->times + pair * count, count, copy);
    return copy;
}

// Rows of traces from rows of samples.
LITHO_INLINE void along(LithoRow from[N], const float *taper, float to[LANES][ROOM])
{
    for (int t0 = 0; t0 < ROOM; t0 += LANES) {
        V square[LANES];
        for (int t = t0; t < t0 + LANES; t++)
            square[t - t0] = t < N ? from[t][0] * taper[t] : (V){0};
        litho_transpose_square(square);
        for (int l = 0; l < LANES; l++)
            *(LithoPartAnywhere *)(to[l] + t0) = square[l];
    }
}

// Trace `column` of a phase of inline `il`, as samples of the survey; NULL: it is not there, or in
// no window.
static const float *trace_of(const PatchPlanes *p, gint64 il, int phase, int column)
{
    const PatchSweep *s = p->sweep;
    const LithoPatchAxis axis = s->g.axis[1];
    const int from = phase + column * p->phases; // of the first window's begin
    if (from >= (p->places[1] - 1) * p->phases + p->sweep->g.axis[1].length)
        return NULL;
    const int place = litho_patch_start(axis, p->place0[1]) + from;
    const gint64 trace = (il - s->held.lo[0]) * litho_box_size(s->held, 1) +
                         litho_patch_mirror(axis.n, place) - s->held.lo[1];
    return !s->live || s->live[trace] ? s->in + trace * litho_box_size(s->held, 2) - s->held.lo[2]
                                      : NULL;
}

void LITHO_ISA_NAME(PATCH_PLANES(time))(const PatchPlanes *p, int line, int phase)
{
    const int second = p->sweep->g.axis[2].stride;
    const gint64 il = p->line0 + line;
    const float *row = trace_of(p, il, phase, 0);
    float *re = p->re + line * p->wave + (gsize)phase * p->width;
    float *im = p->im + line * p->wave + (gsize)phase * p->width;
    int column = 0, pair = 0;
    for (int x = 0; x < p->width; x += LANES) {
        float copies[LANES][2 * ROOM] __attribute__((aligned(64)));
        const float *a[LANES], *b[LANES];
        Line spectra;
        for (int l = 0; l < LANES; l++) {
            a[l] = samples_of(p, row, pair, copies[l]);
            b[l] = a[l] + second;
            if (++pair == p->pairs) {
                row = trace_of(p, il, phase, ++column);
                pair = 0;
            }
        }
        across(a, spectra.re, p->taper[2]);
        across(b, spectra.im, p->taper[2]);
        forward(&spectra);
        for (int f = 0; f < N; f++) {
            *(V *)(re + f * p->plane + x) = spectra.re[f][0];
            *(V *)(im + f * p->plane + x) = spectra.im[f][0];
        }
    }
}

// Samples of one window to those of the output that the region holds.
LITHO_INLINE void add_window(const PatchSweep *s, float *out, const float *x, int start)
{
    const int lo = (int)MAX(s->region.lo[2] - start, 0);
    const int hi = (int)MIN(s->region.hi[2] - start, N);
    out += start;
    if (lo == 0 && hi == N)
        for (int t = 0; t < N; t++)
            out[t] += x[t];
    else
        for (int t = lo; t < hi; t++)
            out[t] += x[t];
}

// The output's trace `column` of a phase of inline `il`; NULL: it is not to be made.
static float *made_of(const PatchPlanes *p, gint64 il, int phase, int column)
{
    const PatchSweep *s = p->sweep;
    const LithoBox r = s->region, held = s->out_held;
    const gint64 xl =
        litho_patch_start(s->g.axis[1], p->place0[1]) + phase + (gint64)column * p->phases;
    if (column * p->pairs >= p->traces || xl < r.lo[1] || xl >= r.hi[1])
        return NULL;
    const gint64 trace = (il - held.lo[0]) * litho_box_size(held, 1) + xl - held.lo[1];
    return !s->wanted || s->wanted[trace] ? s->out + trace * litho_box_size(held, 2) - held.lo[2]
                                          : NULL;
}

void LITHO_ISA_NAME(PATCH_PLANES(back))(const PatchPlanes *p, int line, int phase)
{
    const PatchSweep *s = p->sweep;
    const LithoPatchAxis time = s->g.axis[2];
    const gint64 il = s->region.lo[0] + line;
    const float *re = p->sum_re + line * p->wave + (gsize)phase * p->width;
    const float *im = p->sum_im + line * p->wave + (gsize)phase * p->width;
    float *row = made_of(p, il, phase, 0);
    int column = 0, pair = 0;
    for (int x = 0; x < p->traces; x += LANES) {
        float *out[LANES];
        int start[LANES];
        gboolean any = FALSE;
        Traces traces;
        Line sums;
        for (int l = 0; l < LANES; l++) {
            out[l] = row;
            start[l] = litho_patch_start(time, 2 * (p->pair0 + pair));
            any |= row != NULL;
            if (++pair == p->pairs) {
                row = made_of(p, il, phase, ++column);
                pair = 0;
            }
        }
        if (!any)
            continue;
        for (int f = 0; f < N; f++) {
            sums.re[f][0] = *(const V *)(re + f * p->sum_plane + x);
            sums.im[f][0] = *(const V *)(im + f * p->sum_plane + x);
        }
        backward(&sums);
        along(sums.re, p->taper[2], traces.a);
        along(sums.im, p->taper[2], traces.b);
        for (int l = 0; l < LANES; l++)
            if (out[l]) {
                add_window(s, out[l], traces.a[l], start[l]);
                add_window(s, out[l], traces.b[l], start[l] + time.stride);
            }
    }
}

#ifndef PATCH_TIME_ALONE
// --- inlines -------------------------------------------------------------------------------------

// Spectra of a frequency, [inline wavenumber][phase][width]; windows of a wavenumber,
// [sample][room], with zeros around them.
typedef struct Rows {
    float *re, *im;
} Rows;

// Room of a thread: at a frequency and at its opposite.
typedef struct Room {
    Rows plane[2], windows[2];
    int lead, room;
} Room;

static Room room_in(const PatchPlanes *p, float *scratch)
{
    Room r = {.lead = patch_planes_lead(p), .room = patch_planes_room(p)};
    memset(scratch, 0, sizeof(float) * 4 * N * r.room);
    for (int k = 0; k < 2; k++) {
        r.windows[k].re = scratch + 2 * k * N * r.room;
        r.windows[k].im = r.windows[k].re + N * r.room;
        r.plane[k].re = scratch + 4 * N * r.room + 2 * k * N * p->wave;
        r.plane[k].im = r.plane[k].re + N * p->wave;
    }
    return r;
}

// Frequency f of the windows of inline place `place`, transformed along inlines.
static void forward_inlines(const PatchPlanes *p, int f, int place, Rows to)
{
    const LithoPatchAxis axis = p->sweep->g.axis[0];
    const int start = litho_patch_start(axis, p->place0[0] + place);
    gsize from[N];
    for (int i = 0; i < N; i++)
        from[i] = f * p->plane + (litho_patch_mirror(axis.n, start + i) - p->line0) * p->wave;
    for (gsize x = 0; x < (gsize)p->phases * p->width; x += LANES) {
        Line line;
        for (int i = 0; i < N; i++) {
            line.re[i][0] = *(const V *)(p->re + from[i] + x) * p->taper[0][i];
            line.im[i][0] = *(const V *)(p->im + from[i] + x) * p->taper[0][i];
        }
        forward(&line);
        for (int k = 0; k < N; k++) {
            *(V *)(to.re + k * p->wave + x) = line.re[k][0];
            *(V *)(to.im + k * p->wave + x) = line.im[k][0];
        }
    }
}

// Back along inlines, added to the sums of the region's inlines.
static void inverse_inlines(const PatchPlanes *p, int f, int place, Rows from)
{
    const LithoBox r = p->sweep->region;
    const int start = litho_patch_start(p->sweep->g.axis[0], p->place0[0] + place);
    const int lo = (int)MAX(r.lo[0] - start, 0), hi = (int)MIN(r.hi[0] - start, N);
    const gsize first = f * p->sum_plane + (start + lo - r.lo[0]) * p->wave;
    for (gsize x = 0; x < (gsize)p->phases * p->width; x += LANES) {
        float *re = p->sum_re + first + x, *im = p->sum_im + first + x;
        Line line;
        for (int k = 0; k < N; k++) {
            line.re[k][0] = *(const V *)(from.re + k * p->wave + x);
            line.im[k][0] = *(const V *)(from.im + k * p->wave + x);
        }
        backward(&line);
        for (int i = lo; i < hi; i++, re += p->wave, im += p->wave) {
            *(V *)re += line.re[i][0] * p->taper[0][i];
            *(V *)im += line.im[i][0] * p->taper[0][i];
        }
    }
}

// --- crosslines ----------------------------------------------------------------------------------

LITHO_INLINE void load_windows(const PatchPlanes *p, Rows from, gsize row, int x, Line *to)
{
    for (int j = 0; j < N; j++) {
        const gsize at = row + (gsize)(j % p->phases) * p->width + j / p->phases * p->pairs + x;
        to->re[j][0] = litho_load_part(from.re + at) * p->taper[1][j];
        to->im[j][0] = litho_load_part(from.im + at) * p->taper[1][j];
    }
}

LITHO_INLINE void store_windows(const PatchPlanes *p, const Line *x, V scale, int room, int at,
                                Rows to)
{
    for (int j = 0; j < N; j++) {
        const V w = scale * p->taper[1][j];
        *(V *)(to.re + j * room + at) = x->re[j][0] * w;
        *(V *)(to.im + j * room + at) = x->im[j][0] * w;
    }
}

static void no_windows(const Room *r, int at)
{
    for (int j = 0; j < N; j++)
        for (int k = 0; k < 2; k++) {
            *(V *)(r->windows[k].re + j * r->room + at) = (V){0};
            *(V *)(r->windows[k].im + j * r->room + at) = (V){0};
        }
}

// Sums over the windows that hold a place, in ascending order.
static void gather_windows(const PatchPlanes *p, const Room *r, Rows from, gsize row, Rows to)
{
    for (int phase = 0; phase < p->phases; phase++) {
        const int last = (N - 1 - phase) / p->phases;
        for (int x = 0; x < p->width; x += LANES) {
            V a = {0}, b = {0};
            for (int k = last; k >= 0; k--) {
                const int at = (phase + k * p->phases) * r->room + r->lead + x - k * p->pairs;
                a += litho_load_part(from.re + at);
                b += litho_load_part(from.im + at);
            }
            *(V *)(to.re + row + phase * p->width + x) = a;
            *(V *)(to.im + row + phase * p->width + x) = b;
        }
    }
}

// Limits of a number of windows at a frequency: times `shape` of a wavenumber, and `least` in any
// case; `shape` NULL: as they are.
typedef struct Limits {
    V a, b;
    const float *shape; // [wavenumber]
    float least;
} Limits;

LITHO_INLINE M reaches(V power, V limit, const Limits *limits, gboolean shaped, int k)
{
    return shaped ? (power >= limit * limits->shape[k]) & (power >= limits->least) : power >= limit;
}

// Hard threshold of the spectra x against those at the opposite frequency and inline wavenumber, or
// against themselves.
LITHO_INLINE void threshold(Line *x, Line *opposite, const Limits *limits, gboolean shaped)
{
    for (int k = 0; k < (x == opposite ? N / 2 + 1 : N); k++) {
        const int q = (N - k) % N;
        Both both = separate(x->re[k][0], x->im[k][0], opposite->re[q][0], opposite->im[q][0]);
        const V power_a = both.ar * both.ar + both.ai * both.ai;
        const V power_b = both.br * both.br + both.bi * both.bi;
        both = masked(both, reaches(power_a, limits->a, limits, shaped, k),
                      reaches(power_b, limits->b, limits, shaped, k));
        join(both, &x->re[k][0], &x->im[k][0]);
        join_opposite(both, &opposite->re[q][0], &opposite->im[q][0]);
    }
}

// Windows from number x on at inline wavenumber k of a plane, against what stands opposite: at
// wavenumber -k of plane `opposite`. `alone`: that is themselves.
static void filter_windows(const PatchPlanes *p, const Room *r, int k, int opposite, int x, V scale,
                           const Limits *limits, gboolean alone)
{
    Line own, other;
    load_windows(p, r->plane[0], k * p->wave, x, &own);
    forward(&own);
    if (!alone) {
        load_windows(p, r->plane[opposite], (N - k) % N * p->wave, x, &other);
        forward(&other);
    }
    if (limits->shape)
        threshold(&own, alone ? &own : &other, limits, TRUE);
    else
        threshold(&own, alone ? &own : &other, limits, FALSE);
    backward(&own);
    store_windows(p, &own, scale, r->room, r->lead + x, r->windows[0]);
    if (!alone) {
        backward(&other);
        store_windows(p, &other, scale, r->room, r->lead + x, r->windows[1]);
    }
}

static gboolean any_of(const float *scale, int n)
{
    for (int l = 0; l < n; l++)
        if (scale[l] > 0)
            return TRUE;
    return FALSE;
}

// FALSE at 0 and at Nyquist.
static gboolean has_opposite(const PatchPlanes *p, int f)
{
    return f % (p->sweep->g.axis[2].length / 2) != 0;
}

// All windows of inline place `place` at frequency f and inline wavenumber k, and what stands
// opposite.
static void filter_wavenumber(const PatchPlanes *p, const Room *r, int f, int place, int k)
{
    const int wide = patch_planes_wide(p), opposite = has_opposite(p, f) ? 1 : 0;
    const gboolean alone = opposite == 0 && k == (N - k) % N;
    const float *shape = p->sweep->levels->shape, *scale = p->scale + (gsize)place * wide;
    const gsize first = ((gsize)f * p->places[0] + place) * wide;
    Limits limits = {.shape = shape ? shape + ((gsize)f * N + k) * N : NULL,
                     .least = 4 * litho_patch_least(p->sweep->least)};
    for (int x = 0; x < p->windows; x += LANES) {
        limits.a = *(const V *)(p->limits[0] + first + x);
        limits.b = *(const V *)(p->limits[1] + first + x);
        if (any_of(scale + x, LANES))
            filter_windows(p, r, k, opposite, x, *(const V *)(scale + x), &limits, alone);
        else
            no_windows(r, r->lead + x);
    }
    gather_windows(p, r, r->windows[0], k * p->wave, r->plane[0]);
    if (!alone)
        gather_windows(p, r, r->windows[1], (N - k) % N * p->wave, r->plane[opposite]);
}

void LITHO_ISA_NAME(PATCH_PLANES(filter))(const PatchPlanes *p, int f, void *scratch)
{
    const Room r = room_in(p, scratch);
    const int samples = p->sweep->g.axis[2].length, n_planes = has_opposite(p, f) ? 2 : 1;
    const int wide = patch_planes_wide(p);
    for (int place = 0; place < p->places[0] && p->go_on(p->go_on_data); place++) {
        if (!any_of(p->scale + (gsize)place * wide, p->windows))
            continue;
        for (int k = 0; k < n_planes; k++)
            forward_inlines(p, k == 0 ? f : samples - f, place, r.plane[k]);
        for (int k = 0; k < (n_planes == 1 ? N / 2 + 1 : N); k++)
            filter_wavenumber(p, &r, f, place, k);
        for (int k = 0; k < n_planes; k++)
            inverse_inlines(p, k == 0 ? f : samples - f, place, r.plane[k]);
    }
}
#endif
