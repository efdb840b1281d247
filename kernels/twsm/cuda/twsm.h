// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cublas_v2.h>
#include <cufft.h>

#include "kernels/cuda/cuda.h"
#include "kernels/twsm/twsm.h"
#include "kernels/twsm/cuda/kernels.h"

// Two streams that take turns with the chunks of a sum, so that blocks of the next chunk fill the
// processors while the last blocks of this one end.
typedef struct TwsmLane {
    cudaStream_t stream;
    cudaEvent_t done;
    LithoCudaArray partial;
} TwsmLane;

// One GPU's share of a plan: what it keeps between passes.
typedef struct TwsmCard {
    LithoCudaContext *context;
    int ordinal;             // CUDA's number, for peer copies
    GThreadPool *worker;     // one thread, for cards beside the first
    GHashTable *points;      // serial -> TwsmCardPoints
    LithoCudaArray field[2]; // [rhs][padded][stride] float2, in and out of a leg in turn
    LithoCudaArray partial;  // sums over slices, or a strip
    TwsmLane lane[2];        // fused; no stream = not opened yet
    cudaEvent_t ready;       // what lanes wait for
    LithoCudaArray coef, mask, phase, column, sum, clustered, direct, list, start;
    LithoCudaArray pieces;                           // table of effective coefficients
    guint64 pieces_serial;                           // its number, 0 = none
    LithoCudaArray spectra, factors;                 // of the traces
    LithoCudaArray beam_t, beam_a, kernels, lattice; // FFT
    cublasHandle_t blas;
    cufftHandle four, two; // transforms of 4 and 2 lattices of `pad` points; 0 = none
    int pad[2];
} TwsmCard;

typedef struct TwsmCardPoints {
    LithoCudaArray place, normal; // float4 [padded]
    int padded;
    LithoCudaArray square, node, weights,
        smooth;     // clusters of the mesh, once algorithm=fast wanted them
    int n_clusters; // 0 = not made
} TwsmCardPoints;

// A leg on its way: where it stands in the job and what it reads and writes.
typedef struct TwsmTask {
    const TwsmLeg *leg;
    const TwsmChain *chain;
    TwsmBand band;
    TwsmHow *how;
    int stride; // frequencies of a field's row, a multiple of 32
    LithoRun *run;
    gboolean report_share; // this card tells the share of direct pairs (fast)
} TwsmTask;

// Fills `out` for one card, with what the task's leg needs uploaded.
gboolean twsm_card_leg(TwsmCard *card, const TwsmTask *task, TwsmGpuLeg *out, GError **error);
// `rows` targets from `row` on by the fused sum, on one card; may return before it has finished.
gboolean twsm_card_fused(TwsmCard *card, const TwsmTask *task, int row, int rows, const float *u,
                         float *y, GError **error);
// The sources' field on the first boundary into field[0].
gboolean twsm_card_source(TwsmCard *card, const TwsmTask *task, const TwsmShot *shot,
                          GError **error);
// Traces of the spectra [trace][n_frequencies] into `out`, which lives on the card. Waits for them.
gboolean twsm_card_traces(TwsmCard *card, const TwsmSetup *setup, const TwsmValue *spectra,
                          LithoCube *out, LithoRun *run, GError **error);
// Clusters (algorithm=fast); `row` begins a row of clusters, and so does row + rows or it is the
// end.
gboolean twsm_card_clusters(TwsmCard *card, const TwsmTask *task, int row, int rows, const float *u,
                            float *y, GError **error);
gboolean twsm_card_strips(TwsmCard *card, const TwsmTask *task, const float *u, float *y,
                          GError **error);
gboolean twsm_card_lattice(TwsmCard *card, const TwsmTask *task, const float *u, float *y,
                           GError **error);
// Functions that the legs share: points of a set on the card, a look for a cancel when `part`
// (0..1) of the leg is done, and floats before right-hand side `rhs` of a field of `padded`
// elements.
TwsmCardPoints *twsm_card_points(TwsmCard *card, const TwsmPoints *points, int threads,
                                 GError **error);
gboolean twsm_card_step(TwsmCard *card, const TwsmTask *task, double part, GError **error);
gsize twsm_field_row(const TwsmTask *task, int padded, int rhs);
// Before a pass: gives back meshes of earlier setups when they have become many.
void twsm_card_trim(TwsmCard *card);
void twsm_card_clear(TwsmCard *card);
// cuda/rival.c. LithoImpl.rivals.
gboolean twsm_card_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run,
                          GArray *rows, GError **error);
