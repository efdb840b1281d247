// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/isa.h"
#include "kernels/patch/cpu/sweep.h"

// All windows at one place of the inline and crossline axes, from the top to the bottom of what is
// asked for.
typedef struct PatchColumn {
    const PatchSweep *sweep;
    int place[2];          // number along the inline and the crossline axis
    int pair0, pair1;      // pairs of windows along time, pair1 exclusive
    const float **rows;    // of the window's traces: sample t of the survey is rows[i][t]; NULL =
                           // absent
    const float *taper[3]; // per axis
    float share;           // of the taper's energy on traces that are there
    int clip_lo[2], clip_hi[2]; // traces of the window that lie in the region
    guint64 wanted;             // bits of the window's inlines with traces that are to be made
    float *strip;               // [clip il][clip xl][length], zero before; takes sums of windows
    int length;                 // sample 0 of the strip is the first sample of window 2 * pair0
    float largest;              // of |F|^2, when the sweep asks for it
    gboolean (*go_on)(gpointer data); // asked every few windows: FALSE = leave, nothing of the
                                      // column is wanted any more
    gpointer go_on_data;
} PatchColumn;

// Samples of windows between two looks at a cancel: half a millisecond.
enum { PATCH_LOOK = 1 << 16 };

// go_on() before window `k` where it is time for a look; else TRUE.
static inline gboolean patch_column_goes_on(const PatchColumn *c, int k)
{
    const LithoPatchAxis *axis = c->sweep->g.axis;
    const int every = PATCH_LOOK / (axis[0].length * axis[1].length * axis[2].length);
    return (every > 1 && k % every != 0) || c->go_on(c->go_on_data);
}

// FALSE: nothing of the window's inline `il` is asked for, and its strips stay zero.
static inline gboolean patch_column_makes(const PatchColumn *c, int il)
{
    return c->wanted >> il & 1;
}

// Samples of a strip.
static inline int patch_strip_length(const LithoPatchAxis *time, int pairs)
{
    return (2 * pairs - 1) * time->stride + time->length;
}

// Squares of the thresholds of window `k` of the column: bins of them, for |F|^2.
void patch_column_limits(const PatchColumn *column, int k, float *limits);
// Places of `count` samples from t0 on in a trace, mirrored at the faces.
void patch_column_times(const PatchColumn *column, int t0, int count, int *at);

// Filters the column; scratch memory of a thread is aligned to 64 bytes. Windows of 12, 16, 20, 24,
// 28 and 32 samples along all three axes have code of their own (column_rows.h).
#define PATCH_DECLARE_COLUMN(n)                                                                    \
    gsize patch_column##n##_scratch(void);                                                         \
    void patch_column##n(PatchColumn *column, void *scratch);                                      \
    LITHO_ISA_DECLARE(patch_column##n##_scratch);                                                  \
    LITHO_ISA_DECLARE(patch_column##n)
PATCH_DECLARE_COLUMN(12);
PATCH_DECLARE_COLUMN(16);
PATCH_DECLARE_COLUMN(20);
PATCH_DECLARE_COLUMN(24);
PATCH_DECLARE_COLUMN(28);
PATCH_DECLARE_COLUMN(32);

gsize patch_column_any_scratch(const LithoPatchGeometry *g);
void patch_column_any(PatchColumn *column, void *scratch);
