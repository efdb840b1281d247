// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <complex.h>

#include "core/run.h"
#include "kernels/common/isa.h"
#include "kernels/twsm/cluster_rule.h"
#include "kernels/twsm/coef.h"
#include "kernels/twsm/mask.h"
#include "kernels/twsm/mesh.h"

// Work of a backend: a field on the first boundary, sent through a chain of legs to the receivers,
// for a block of frequencies.
//
// A field is complex float32 [right-hand side][element][frequency of the block], frequency fastest:
// what one element needs at one time lies together, for broadcast loads on both kinds of processor.

enum { TWSM_BLOCK = 32 }; // frequencies per block: after 32 steps the recurrence is seeded anew

typedef float complex TwsmValue;

// One leg: y_i(k) = taper_i * (i (k + i sig/dw) S_i(k) - N_i(k)) with S = sum_j a_ij E_ij^k u_j(k)
// and, when `near`, N = sum_j a_ij / (2 pi t_ij) E_ij^k u_j(k).
typedef struct TwsmLeg {
    const TwsmPoints *from, *to; // borrowed
    TwsmPairScale pair;
    float *coef; // table of pair.h for arrival at `to`, or NULL; owned
    gboolean near;
    const TwsmMask *mask; // borrowed; NULL = everything is visible
    gboolean absorb;      // y = u - (the leg over blocked pairs of one boundary)
    gboolean lattice;     // beams depend on differences of position only
} TwsmLeg;

typedef struct TwsmChain {
    int n_legs;
    TwsmLeg *leg; // owned
    int n_rhs;    // sources
    double sig;   // sig / dw: damping in units of the frequency step
    guint64 serial;
} TwsmChain;

// Frequencies k0 .. k0 + n - 1 (numbers of the step dw), n <= TWSM_BLOCK except for the algorithms
// that keep the paper's loop order.
typedef struct TwsmBand {
    int k0, n;
} TwsmBand;

typedef enum {
    TWSM_AUTO,
    TWSM_ALG1,
    TWSM_ALG2,
    TWSM_MOD2,
    TWSM_FUSED,
    TWSM_FFT,
    TWSM_FAST,
} TwsmAlgorithm;

// Options and findings of a run of legs.
typedef struct TwsmHow {
    TwsmAlgorithm algorithm; // not AUTO
    int strip;               // rows of a stored strip (alg1, alg2, mod2)
    TwsmClusterRule rule;    // fast
    double strip_bytes;      // out: largest store of strips, 0 = none
    double refill_ms;        // out: of all threads, elements of strips from their formula or phase,
    double product_ms;       // and strips times the field; 0 = not measured (GPU)
    double direct_share;     // out, fast: share of pairs summed directly
    int cards;               // out: GPUs that took part, 0 = CPU
    // Progress, in millions of pairs times frequencies: before this leg, of this leg, of the job.
    double done, leg, total;
} TwsmHow;

// The sources of a chain, as they reach its first boundary.
typedef struct TwsmShot {
    const TwsmPoints *mesh;
    const TwsmEffective *effective; // with TWSM_FIRST_EFFECTIVE
    TwsmRayRule *rule;              // [n_rhs]; owned by the setup
} TwsmShot;

// Input of a chain: the field on the first boundary, or the sources that make it; one is NULL.
typedef struct TwsmStart {
    const TwsmValue *u; // [rhs][element][k]
    const TwsmShot *shot;
} TwsmStart;

void twsm_chain_clear(TwsmChain *chain);

// Algorithm to take for a leg: FFT only where it applies, AUTO resolved.
TwsmAlgorithm twsm_leg_algorithm(const TwsmLeg *leg, TwsmAlgorithm asked);

// Pairs of targets i .. i + n - 1 with source j: times in turns, complex amplitudes with
// coefficient, damping and mask applied.
void twsm_pair_rows(const TwsmLeg *leg, int i, int n, int j, float *t, float *are, float *aim);
// Pairs of target i with sources j .. j + n - 1.
void twsm_pair_columns(const TwsmLeg *leg, int i, int j, int n, float *t, float *are, float *aim);

// Progress and cancel test when `part` (0..1) of the present leg is done; from the job's thread.
gboolean twsm_step(const TwsmHow *how, double part, LithoRun *run, GError **error);
// TRUE when `stop` is 0; else FALSE with G_IO_ERROR_CANCELLED.
gboolean twsm_stopped(gint stop, GError **error);

// TRUE when strips of `width` x `n` elements, `bytes` in all, fit into `available` bytes; else a
// sentence with the width that would.
gboolean twsm_strips_fit(int width, int n, double bytes, double available, GError **error);

// One leg on the CPU, any algorithm. u [rhs][from->n][band.n] -> y [rhs][to->n][band.n]. FALSE:
// cancelled.
gboolean twsm_cpu_leg(const TwsmLeg *leg, const TwsmChain *chain, TwsmBand band, TwsmHow *how,
                      const TwsmValue *u, TwsmValue *y, LithoRun *run, GError **error);
// The algorithms behind it; sums S and N only, without the factor in front.
gboolean twsm_cpu_fused(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                        const TwsmValue *u, TwsmValue *sum, TwsmValue *near, LithoRun *run,
                        GError **error);
gboolean twsm_cpu_strips(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                         const TwsmValue *u, TwsmValue *sum, TwsmValue *near, LithoRun *run,
                         GError **error);
gboolean twsm_cpu_lattice(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                          const TwsmValue *u, TwsmValue *sum, TwsmValue *near, LithoRun *run,
                          GError **error);
gboolean twsm_cpu_fast(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                       const TwsmValue *u, TwsmValue *sum, TwsmValue *near, LithoRun *run,
                       GError **error);
LITHO_ISA_DECLARE(twsm_cpu_fused);
LITHO_ISA_DECLARE(twsm_cpu_strips);
LITHO_ISA_DECLARE(twsm_cpu_fast);
