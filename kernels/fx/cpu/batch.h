// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/fx/cpu/lanes.h"

// One window and a batch of bins under way: window.c designs the filter, predict.c applies it.

#ifdef LITHO_ISA
#define fx_predict LITHO_ISA_NAME(fx_predict)
#define fx_shared_open LITHO_ISA_NAME(fx_shared_open)
#define fx_shared_solve LITHO_ISA_NAME(fx_shared_solve)
#define fx_shared_edge_taps LITHO_ISA_NAME(fx_shared_edge_taps)
#define fx_keep LITHO_ISA_NAME(fx_keep)
#define fx_keep_scratch LITHO_ISA_NAME(fx_keep_scratch)
#endif

// Scratch memory, divided.
typedef struct FxScratch {
    FxC *tile, *guess, *cov, *rows, *taps;
    FxV *matrix, *factor, *beta, *more, *magnitude, *rows_of;
    FxV *noise; // covariance of shared noise, as `matrix`
    uint8_t *state, *done;
    FxChange *changes;
    char *update;
} FxScratch;

typedef struct FxBatch {
    const FxWindow *w;
    const FxScratch *s;
    FxCounts *counts;
    FxShape shape;
    int il0, xl0;       // survey indices of the tile's first trace
    int height, width;  // of the tile
    FxRect window, box; // tile indices: traces to predict; widened by half, inside the survey
    FxV scale;          // power of two per lane that brings the largest spectrum to [1, 2)
    FxV lambda;
    FxV level, power; // of shared noise in the matrix: the survey's, the window's own
    FxMask alive;    // lanes with energy
    FxMask good;     // lanes with a centred filter
    FxMask factored; // lanes with a Cholesky factor
    int lanes;       // alive ones
    int points;      // design points
    int weighed;     // `magnitude` belongs to `taps`
    int designed;    // `matrix` holds the equations of the tile as it is
    int stopped;     // go_on() said no: whatever is still to come may be left out
} FxBatch;

FX_INLINE int fx_batch_stopped(FxBatch *b)
{
    if (!b->stopped && !b->w->go_on(b->w->go_on_data))
        b->stopped = 1;
    return b->stopped;
}

FX_INLINE FxRect fx_rect_inside(FxRect r, int n_il, int n_xl, int half_il, int half_xl)
{
    r.il0 = r.il0 > half_il ? r.il0 : half_il;
    r.xl0 = r.xl0 > half_xl ? r.xl0 : half_xl;
    r.il1 = r.il1 < n_il - half_il ? r.il1 : n_il - half_il;
    r.xl1 = r.xl1 < n_xl - half_xl ? r.xl1 : n_xl - half_xl;
    return r;
}

FX_INLINE FxRect fx_rect_move(FxRect r, int il, int xl)
{
    return (FxRect){r.il0 + il, r.il1 + il, r.xl0 + xl, r.xl1 + xl};
}

FX_INLINE int fx_rect_area(FxRect r)
{
    return r.il1 > r.il0 && r.xl1 > r.xl0 ? (r.il1 - r.il0) * (r.xl1 - r.xl0) : 0;
}

// Traces of the window, or of its box, that have a centred block: tile indices.
FX_INLINE FxRect fx_batch_centres(const FxBatch *b, FxRect r)
{
    FxRect survey = fx_rect_inside(fx_rect_move(r, b->il0, b->xl0), b->w->n_il, b->w->n_xl,
                                   b->shape.il, b->shape.xl);
    return fx_rect_move(survey, -b->il0, -b->xl0);
}

// Stretches a damped filter to least squares: alpha = h.b / (h.b - lambda h.h), 1 .. 3.
FX_INLINE FxV fx_stretch(FxV hb, FxV hh, FxV lambda)
{
    FxV left = hb - lambda * hh;
    FxV alpha = hb / fx_select(left > 0, left, fx_splat(1));
    alpha = fx_select(left > 0, alpha, fx_splat(3));
    alpha = fx_select(alpha > 3, fx_splat(3), alpha);
    return fx_max(alpha, fx_splat(1));
}

// Targets of the predictions for the traces of `range`, row by row.
typedef struct FxTargets {
    FxRect range;
    int fill; // absent traces only
    FxC *out;
    uint8_t *done; // 1 = predicted
} FxTargets;

FX_INLINE int fx_target_index(const FxTargets *t, int il, int xl)
{
    return (il - t->range.il0) * (t->range.xl1 - t->range.xl0) + xl - t->range.xl0;
}

// --- cpu/predict.c -----------------------------------------------------------------------------

// Predictions of all traces of t->range by the filters of the matrix, its factor and `beta`: the
// centred one and, near the survey's edge, the ones that LithoFxParams.edge asks for. `holes`: a
// trace within reach is absent. The caller has set t->done to 0.
void fx_predict(FxBatch *b, const FxTargets *t, int holes);

// --- cpu/shared.c ------------------------------------------------------------------------------

// Rule 8: the noise's covariance and its first power, for the batch's shape.
void fx_shared_open(FxBatch *b);
// The centred filter in s->beta, the factor and the damping; `last`: systems are counted.
void fx_shared_solve(FxBatch *b, int last);
// The filter for block number t in s->taps. It takes the trace itself, too.
void fx_shared_edge_taps(FxBatch *b, int t);

// --- cpu/keep.c --------------------------------------------------------------------------------

// FxIsa.keep, and bytes of scratch for windows of up to that many traces.
void fx_keep(const FxKeep *keep, void *scratch);
size_t fx_keep_scratch(int length_il, int length_xl);
