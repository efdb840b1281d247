// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>

#include "core/run.h"
#include "kernels/patch/geometry.h"

// One pass of thresholding over all windows that touch a region (rules 2 to 5 of geometry.h).

// Transforms of windows by FFTW, shared by the threads; windows of 16 x 16 x 16 have their own.
typedef struct PatchTransforms {
    fftwf_plan forward, inverse; // one window, out of place
} PatchTransforms;

gboolean patch_transforms_init(PatchTransforms *t, const LithoPatchGeometry *g, GError **error);
void patch_transforms_clear(PatchTransforms *t);

// Work memory that sweeps of one thread keep for the next: what is not written again takes no new
// pages. Zero before the first sweep; the caller clears it.
typedef struct PatchRoom {
    struct {
        void *data;
        gsize bytes;
    } scratch, ring, empty;
} PatchRoom;

void patch_room_clear(PatchRoom *room);
// `*room` made as large as asked for, its content lost then; NULL: no memory.
void *patch_room_take(void **room, gsize *had, gsize bytes);

typedef struct PatchSweep {
    LithoPatchGeometry g;
    const PatchTransforms *transforms;
    const float *in;    // dense samples of `held`
    LithoBox held;      // must hold what the region needs
    const guint8 *live; // traces of `held`; NULL = all
    LithoBox region;
    float *out; // dense samples of `out_held`; its region is overwritten
    LithoBox out_held;
    const guint8 *wanted; // traces of `out_held` that are to be made; NULL = all
    const LithoPatchLevels *levels;
    float threshold; // in standard deviations; 0: `least` alone
    float least;     // |F| below it become zero too, whatever the noise
    int rule;        // LITHO_PATCH_SINGLE, ...
    gboolean guided; // by half the frequencies (geometry.h)
    float *largest;  // NULL, or takes the largest |F|; nothing is written then
    PatchRoom *room; // NULL = the sweep's own
    const char *stage;
    int pass, passes; // sweeps over one region that are one stage: numbers from 0; passes 0 = alone
    gint64 windows;   // counted while it runs
} PatchSweep;

// FALSE: cancelled, or no memory. Progress is told in columns of windows of all passes.
gboolean patch_sweep(PatchSweep *sweep, LithoRun *run, GError **error);
// --- inside a sweep ------------------------------------------------------------------------------

// Windows that reach a region: along the inline and the crossline axis, inclusive, and pairs of
// them along time, pair1 exclusive.
typedef struct PatchExtent {
    int first[2], last[2];
    int pair0, pair1;
} PatchExtent;

PatchExtent patch_extent(const LithoPatchGeometry *g, LithoBox region);

typedef struct PatchTables {
    float *taper[3]; // of a window, aligned to 64 bytes
    float *norm[3];  // 1 / sum of w^2 along each axis, of the region
} PatchTables;

void patch_tables_init(PatchTables *tables, const PatchSweep *sweep);
void patch_tables_clear(PatchTables *tables);

// Traces of window `place` along `axis` that lie in the region, relative to its start.
void patch_clip(const PatchSweep *sweep, int axis, int place, int *lo, int *hi);
// Bits of the inlines of a column's windows in which traces are to be made.
guint64 patch_wanted_inlines(const PatchSweep *sweep, const int place[2]);
// Share of a column's taper on traces that are there.
float patch_share(const PatchSweep *sweep, const float *const taper[2], const int place[2]);
// Squares of the thresholds of a window: bins of them, for |F|^2.
void patch_limits(const PatchSweep *sweep, const int place[3], float share, float *limits);
// Samples at `count` places of a trace, zero where they are not finite; zeros where it is NULL.
void patch_load(const float *row, const int *at, int count, float *to);

// Bytes of strips, where columns are filtered one by one.
guint64 patch_columns_bytes(const LithoPatchGeometry *g, LithoBox region);

// Bytes of work memory for a region, with a rule, LITHO_PATCH_SINGLE, ...; `fills`: of the sweeps
// of a filling.
guint64 patch_sweep_bytes(const LithoPatchGeometry *g, LithoBox region, int rule, gboolean fills,
                          int threads);
