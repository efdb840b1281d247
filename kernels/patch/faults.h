// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/geometry.h"

// Events that leave at faults come back (`faults`), for both backends; plain C like geometry.h, any
// thread.
//
// Across a fault or a diffraction's apex an event is many small coefficients of a window, which
// rule 4 takes for noise. In small windows it is few and larger ones again. So the removed part of
// recorded traces, r (0 on others), passes the filter once more:
//   1. Windows of 4 x 4 traces, one at every trace and beyond the faces, where traces are mirrored;
//      as long along time as the others, four over a sample. Taper and places along time as in
//      rules 1 to 3.
//   2. The energy of a coefficient with its six neighbours decides, as in rule 4, against `limit`
//      standard deviations of the noise. Where the noise is louder than its level says, r is loud
//      at all frequencies: `quiet`, the energy at the quartile of a window's frequencies (the
//      quietest ones first), tells. Limits are multiplied by its mean in the 5 x 5 windows around,
//      at other traces, over LITHO_PATCH_FAULT_QUIET, or by the window's own over
//      LITHO_PATCH_FAULT_ALONE: by the larger one, and by 1 at least.
//   3. What passes is put back times a gate, a product of two factors between 0 and 1. They tell of
//      its energies, in units of the noise of the window that begins at its trace, of 3 x 3 traces,
//      each summed over 3 windows along time. Chance passes little, everywhere; signal much, at one
//      place: the mean without the largest trace goes from LITHO_PATCH_FAULT_FROM to
//      LITHO_PATCH_FAULT_TO. Noise of a single trace passes on that trace: what the others hold in
//      units of the largest one goes from LITHO_PATCH_FAULT_SINGLE to LITHO_PATCH_FAULT_SHARED.
// Surveys of few traces along an axis have no such pass: 4 x 1 traces tell too little.

enum {
    LITHO_PATCH_FAULT_TRACES = 4, // of a window, along both axes
    LITHO_PATCH_FAULT_AROUND = 1, // traces, and windows along time, beside one whose energies count
    LITHO_PATCH_FAULT_BESIDE = 2, // windows, along both axes, beside one whose quartiles count
    LITHO_PATCH_FAULT_EDGE = 5,   // traces beside one that its windows depend on: BESIDE + 3
    LITHO_PATCH_FAULT_REACH = 6,  // traces beside a sample that it depends on: EDGE + AROUND
    LITHO_PATCH_FAULT_NARROW = 8, // traces that an axis must have
    LITHO_PATCH_FAULT_RANKS = LITHO_PATCH_MAX_WINDOW / 8 + 1, // of frequencies, up to the quartile
};
#define LITHO_PATCH_FAULT_LIMIT 1.9
#define LITHO_PATCH_FAULT_QUIET 0.75f
#define LITHO_PATCH_FAULT_ALONE 1.0f
#define LITHO_PATCH_FAULT_FROM 0.04f
#define LITHO_PATCH_FAULT_TO 0.1f
#define LITHO_PATCH_FAULT_SINGLE 0.1f
#define LITHO_PATCH_FAULT_SHARED 0.15f

LITHO_PATCH_FN bool litho_patch_keeps_faults(const LithoPatchGeometry *g, const LithoPatchParams *p)
{
    return p->faults && p->mode == LITHO_PATCH_DENOISE &&
           g->axis[0].n >= LITHO_PATCH_FAULT_NARROW && g->axis[1].n >= LITHO_PATCH_FAULT_NARROW;
}

// Windows of the pass behind that of geometry `g`.
LITHO_PATCH_FN LithoPatchGeometry litho_patch_fault_geometry(const LithoPatchGeometry *g)
{
    LithoPatchGeometry small = *g;
    for (int a = 0; a < 2; a++)
        small.axis[a] = litho_patch_axis(g->axis[a].n, LITHO_PATCH_FAULT_TRACES, 4);
    small.axis[2] = litho_patch_axis(g->axis[2].n, g->axis[2].length, 4);
    small.energy = 4 * (g->axis[2].length > 1 ? 0.5 * g->axis[2].length : 1);
    return small;
}

// The limit in standard deviations: higher where the user's threshold is.
LITHO_PATCH_FN double litho_patch_fault_limit(const LithoPatchGeometry *g,
                                              const LithoPatchParams *p)
{
    LithoPatchParams automatic = *p;
    automatic.threshold = 0;
    return LITHO_PATCH_FAULT_LIMIT *
           fmax(1.0, litho_patch_threshold(g, p) / litho_patch_threshold(g, &automatic));
}

// Windows along time whose energies count for samples [lo, hi), and the samples they hold.
LITHO_PATCH_FN void litho_patch_fault_windows(LithoPatchAxis time, int lo, int hi, int *first,
                                              int *last)
{
    *first = litho_patch_first(time, lo) - LITHO_PATCH_FAULT_AROUND;
    *last = litho_patch_last(time, hi - 1) + LITHO_PATCH_FAULT_AROUND;
    *first = *first < 0 ? 0 : *first;
    *last = *last < time.count ? *last : time.count - 1;
}

// Range [*from, *to) along an axis of the removed part that output [lo, hi) depends on.
LITHO_PATCH_FN void litho_patch_fault_needs(const LithoPatchGeometry *small, int axis, int lo,
                                            int hi, int *from, int *to)
{
    const LithoPatchAxis a = small->axis[axis];
    if (axis < 2) {
        *from = lo - LITHO_PATCH_FAULT_REACH;
        *to = hi + LITHO_PATCH_FAULT_REACH;
    } else {
        int first, last;
        litho_patch_fault_windows(a, lo, hi, &first, &last);
        *from = litho_patch_start(a, first);
        *to = litho_patch_start(a, last) + a.length;
        // Beyond a face stands the mirror image, which reaches as far inwards.
        if (-*from > *to)
            *to = -*from;
        if (*to - a.n > a.n - *from)
            *from = 2 * a.n - *to;
    }
    *from = *from < 0 ? 0 : *from;
    *to = *to > a.n ? a.n : *to;
}

// From 0 at x <= from to 1 at x >= to.
LITHO_PATCH_FN float litho_patch_fault_ramp(float x, float from, float to)
{
    const float g = (x - from) / (to - from);
    return g < 0 ? 0 : g > 1 ? 1 : g;
}

// The share that is put back of one of `traces` traces, whose energies over `windows` windows have
// this sum and this largest value.
LITHO_PATCH_FN float litho_patch_fault_gate(float sum, float largest, int traces, int windows)
{
    const float others = sum - largest;
    const float mean = others / (float)((traces - 1) * windows);
    if (!(mean > LITHO_PATCH_FAULT_FROM)) // and where nothing passed
        return 0;
    return litho_patch_fault_ramp(mean, LITHO_PATCH_FAULT_FROM, LITHO_PATCH_FAULT_TO) *
           litho_patch_fault_ramp(others / largest, LITHO_PATCH_FAULT_SINGLE,
                                  LITHO_PATCH_FAULT_SHARED);
}

// TRUE where windows of an axis of n traces begin at `start`.
LITHO_PATCH_FN bool litho_patch_fault_begins(int n, long long start)
{
    return start > -LITHO_PATCH_FAULT_TRACES && start < n;
}

// Windows of an axis of n traces that begin at `start` and up to BESIDE traces beside it.
LITHO_PATCH_FN int litho_patch_fault_beside(int n, long long start)
{
    const long long lo = start - LITHO_PATCH_FAULT_BESIDE, hi = start + LITHO_PATCH_FAULT_BESIDE;
    const int least = 1 - LITHO_PATCH_FAULT_TRACES;
    return (int)((hi < n ? hi : n - 1) - (lo > least ? lo : least) + 1);
}

// A window's limits are multiplied by it: `own` is the mean |F|^2 of its wavenumbers, in units of
// the noise, at the quartile of its frequencies; `mean` that of the windows around.
LITHO_PATCH_FN float litho_patch_fault_louder(float own, float mean)
{
    const float around = mean / LITHO_PATCH_FAULT_QUIET, alone = own / LITHO_PATCH_FAULT_ALONE;
    const float louder = around > alone ? around : alone;
    return louder > 1 ? louder : 1;
}

// That quartile among `bins` frequencies: the rank, from 0 on.
LITHO_PATCH_FN int litho_patch_fault_rank(int bins)
{
    return (bins - 1) / 4;
}

// Share that wavenumber i of a small window takes of the noise's power at `wavenumber` of windows
// of n traces: windows of 4 traces take it together from all wavenumbers around theirs.
LITHO_PATCH_FN double litho_patch_fault_response(int n, int wavenumber, int i)
{
    double re = 0, im = 0;
    for (int k = 0; k < LITHO_PATCH_FAULT_TRACES; k++) {
        const double w = sin(3.14159265358979323846 * (k + 0.5) / LITHO_PATCH_FAULT_TRACES);
        const double phase = 2 * 3.14159265358979323846 * k *
                             ((double)wavenumber / n - (double)i / LITHO_PATCH_FAULT_TRACES);
        re += w * cos(phase);
        im += w * sin(phase);
    }
    return (re * re + im * im) / (2.0 * n); // the sum over all wavenumbers is 1
}

// Powers of the noise in small windows in units of their frequency's mean, `to`[bin][wavenumbers],
// from shape[bin][inline wavenumber][crossline wavenumber] of windows of n[0] x n[1] traces.
LITHO_PATCH_FN void litho_patch_fault_shape(const float *shape, const int n[2], int bins, float *to)
{
    const int w = LITHO_PATCH_FAULT_TRACES;
    for (int f = 0; f < bins; f++)
        for (int i = 0; i < w; i++)
            for (int j = 0; j < w; j++) {
                double sum = 0;
                for (int a = 0; a < n[0]; a++)
                    for (int b = 0; b < n[1]; b++)
                        sum += shape[(f * n[0] + a) * n[1] + b] *
                               litho_patch_fault_response(n[0], a, i) *
                               litho_patch_fault_response(n[1], b, j);
                to[(f * w + i) * w + j] = (float)fmax(sum, 1e-6);
            }
}

// Operations of the pass over so many samples: a window a trace and `stride` samples.
LITHO_PATCH_FN double litho_patch_fault_flops(const LithoPatchGeometry *small, double samples)
{
    return samples / small->axis[2].stride *
           (430.0 * small->bins +
            10.0 * small->axis[2].length * log2(fmax((double)small->axis[2].length, 2.0)));
}
