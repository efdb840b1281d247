// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/isa.h"
#include "kernels/patch/cpu/sweep.h"

// All windows of a few pairs along time, one frequency at a time. A taper is a product over the
// axes: windows over a trace share its transform along time, windows of a row (one inline place)
// the one along inlines, there and back. Only the transform along crosslines is a window's own.
//
// Lanes are windows side by side. The places of a row of traces stand in `phases`, as many as the
// stride of windows along crosslines: place `phase + phases * i` of pair m is number i * pairs + m
// of its phase. Window b of pair m is number b * pairs + m, and its sample `phase + phases * i`
// stands i * pairs behind that.
typedef struct PatchPlanes {
    const PatchSweep *sweep;
    const float *taper[3]; // per axis
    int place0[2];         // first window along the inline and the crossline axis
    int places[2];         // windows
    int pair0, pairs;      // pairs of windows along time
    int line0, lines;      // inlines of the survey that have spectra
    int phases;
    int windows;            // numbers of a row's windows, places[1] * pairs
    int traces;             // numbers of a phase that hold traces
    int width;              // room for those, a multiple of PATCH_ABREAST
    int *times;             // [pair][stride + length]: places of their samples in a trace
    gsize wave;             // floats of all phases of an inline,
    gsize plane;            // of all inlines at a frequency,
    gsize sum_plane;        // of the region's
    float *re, *im;         // spectra, [frequency][inline][phase][width]
    float *sum_re, *sum_im; // sums of windows, likewise, of the region's inlines
    float *limits[2];       // of 4 |F|^2, for the first and the second window of each pair:
                            // [bin][inline place][number]; INFINITY = nothing passes
    float *scale;           // [inline place][number]: of what the transforms make; 0 = nothing of
                            // the column is to be made
    gboolean (*go_on)(gpointer data); // asked at every row: FALSE = leave
    gpointer go_on_data;
} PatchPlanes;

// Numbers that are worked on together, at most.
enum { PATCH_ABREAST = 16 };

// Room for numbers of windows.
static inline int patch_planes_wide(const PatchPlanes *p)
{
    return (p->windows + PATCH_ABREAST - 1) / PATCH_ABREAST * PATCH_ABREAST;
}

// Room for zeros before the first window.
static inline int patch_planes_lead(const PatchPlanes *p)
{
    const int before = (p->sweep->g.axis[1].length - 1) / p->phases * p->pairs;
    return (before + PATCH_ABREAST - 1) / PATCH_ABREAST * PATCH_ABREAST;
}

// The next odd multiple of a cache line: rows so far apart do not drive each other out of a cache.
static inline gsize patch_planes_apart(gsize floats)
{
    return (floats + 15) / 16 % 2 == 1 ? (floats + 15) / 16 * 16 : (floats + 31) / 16 * 16;
}

// Room for a sample of all windows of a row.
static inline int patch_planes_room(const PatchPlanes *p)
{
    return (int)patch_planes_apart(patch_planes_lead(p) + p->width);
}

// Bytes of a thread's room, aligned to 64.
gsize patch_planes_scratch(const PatchPlanes *p);

// Spectra along time of phase `phase` of inline `line0 + line`.
// Windows at frequency `f`, 0 .. length / 2, and at its opposite, from spectra to sums.
// The sums of phase `phase` of inline `line` of the region, back along time, added to the output.
#define PATCH_DECLARE_TIME(n)                                                                      \
    void patch_planes##n##_time(const PatchPlanes *p, int line, int phase);                        \
    void patch_planes##n##_back(const PatchPlanes *p, int line, int phase);                        \
    LITHO_ISA_DECLARE(patch_planes##n##_time);                                                     \
    LITHO_ISA_DECLARE(patch_planes##n##_back)
#define PATCH_DECLARE_PLANES(n)                                                                    \
    PATCH_DECLARE_TIME(n);                                                                         \
    void patch_planes##n##_filter(const PatchPlanes *p, int f, void *scratch);                     \
    LITHO_ISA_DECLARE(patch_planes##n##_filter)
PATCH_DECLARE_PLANES(12);
PATCH_DECLARE_PLANES(16);
PATCH_DECLARE_PLANES(20);
PATCH_DECLARE_PLANES(24);
PATCH_DECLARE_PLANES(28);
PATCH_DECLARE_PLANES(32);
PATCH_DECLARE_TIME(48);
PATCH_DECLARE_TIME(64);

// TRUE: windows are 12, 16, 20, 24, 28 or 32 samples along all axes, or those that
// litho_patch_dense_of() knows.
gboolean patch_planes_have(const LithoPatchGeometry *g);
// TRUE: the sweep has these and judges coefficients one by one: by no neighbours and no guide, and
// does not seek the largest.
gboolean patch_planes_can(const PatchSweep *sweep);
// The sweep over its region. `done`, columns of windows of `total`, is counted on. FALSE:
// cancelled, or no memory.
gboolean patch_planes_sweep(PatchSweep *sweep, LithoRun *run, gint64 *done, gint64 total,
                            GError **error);
// Bytes of work memory of a sweep: by its geometry, region, rule, and whether it has a room; and
// the least that it can do with.
gsize patch_planes_bytes(const PatchSweep *sweep, int threads);
gsize patch_planes_least(const PatchSweep *sweep);
