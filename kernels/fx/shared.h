// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/measured.h"
#include "core/operator.h"
#include "core/qc_noise.h"
#include "kernels/fx/geometry.h"

// Noise that neighbouring traces share: rule 8 of geometry.h. A survey is asked once whether its
// noise keeps to some wavenumbers, in columns of whole traces that are spread over it.

// Level and shape of a survey's noise, kept for the next pass. One plan, one thread at a time.
typedef struct FxShared {
    LithoNoise noise; // noise.shape NULL: noise comes to all wavenumbers alike, or none is sought
    guint64 serial;   // of the cube that was measured; 0 = none
    LithoMeasured *from; // or what it was read from
    LithoFxParams params;
    guint64 version; // another number after each change of `noise`, never 0 where it has a shape
} FxShared;

// Columns of the survey without bursts, with guesses for missing traces.
typedef struct FxColumns {
    const LithoGrid *grid;
    // A new cube with host samples of `box`, whole traces; *recorded: one byte a trace of it, 0
    // where a live trace holds guesses, NULL = all were recorded; g_free(). NULL: cancelled,
    // unreadable, no memory.
    LithoCube *(*read)(const LithoBox *box, LithoRun *run, gpointer data, guint8 **recorded,
                       GError **error);
    gpointer data;
} FxColumns;

// LithoOperator.measure_key and .measure.
char *litho_fx_measure_key(const void *params);
LithoMeasured *litho_fx_measure(const void *params, const LithoReader *reader, LithoRun *run,
                                GError **error);

// TRUE when `shared` has what the pass needs, from what was measured before: `columns` need not be
// read. FALSE without an error: fx_shared_find() comes next.
gboolean fx_shared_known(FxShared *shared, const LithoPass *pass, GError **error);
// Measures the pass's input by its columns; an input that is a part of the survey tells of no
// shared noise. FALSE: cancelled, no memory.
gboolean fx_shared_find(FxShared *shared, const LithoPass *pass, const FxColumns *columns,
                        LithoRun *run, GError **error);
void fx_shared_clear(FxShared *shared);
// Traces of `box` that were recorded in `raw`, as FxColumns.read gives them; g_free().
guint8 *fx_shared_recorded(const LithoCube *raw, const LithoBox *box);

// Lags of the covariance that filters of half widths half[] need: inline 0 to 2 half, crossline -2
// half to 2 half.
static inline int fx_shared_lags(const int half[2])
{
    return (2 * half[0] + 1) * (4 * half[1] + 1);
}

// Likeness of neighbours where shared noise alone leaves, for rule 6; zeros where none is shared.
LithoFxAlike fx_shared_alike(const FxShared *shared);
// The noise at the bins of the band: its power in a spectrum, level[bin], and its covariance in
// units of that, lags[bin][lag][re, im], the inline's lag slowest. Needs shared->noise.shape.
void fx_shared_bins(const FxShared *shared, const LithoFxGeometry *g, float *level, float *lags);
