// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/twsm/chain.h"

// Tip-wave superposition modelling: seismograms of single waves of a layered model. The method, its
// rules and the schema of models: docs/twsm.md. Paper: Zyatkov, Ayzenberg, Aizenberg 2016.

// A number that a parameter leaves to the model file.
#define TWSM_MODEL_S (-1e6)

typedef struct TwsmParams {
    LithoText model;
    LithoText depths;                    // depths.h; "" = the model's
    double source_x, source_y, source_z; // m; TWSM_MODEL_S = the model's
    double wavelet, fmax, record;        // Hz, Hz, s; 0 = the model's
    int frequencies;                     // 0 = record * fmax
    double cells_per_wavelength;         // 0 = the model's
    double taper;                        // -1 = the model's
    int coefficients, near_field, mask;  // enums below
    double mask_soft;
    bool absorption, force;
    double damping; // sig * T
    int algorithm;  // TwsmAlgorithm
    int fast_error; // TWSM_ERROR_*
    int strip_width;
} TwsmParams;

enum { TWSM_COEF_AUTO, TWSM_COEF_EFFECTIVE, TWSM_COEF_PAIR, TWSM_COEF_PLANE };
enum { TWSM_NEAR_AUTO, TWSM_NEAR_ON, TWSM_NEAR_OFF };
enum { TWSM_MASK_NONE, TWSM_MASK_SEGMENT };
enum { TWSM_ERROR_COARSE, TWSM_ERROR_FINE, TWSM_ERROR_FINEST }; // 1e-3, 1e-4, 2e-5

// Stages of the operator, for parameters and tests.
enum {
    TWSM_STAGE_PLAN,
    TWSM_STAGE_MESH,
    TWSM_STAGE_SOURCE,
    TWSM_STAGE_PROPAGATE,
    TWSM_STAGE_TRACES
};

extern const LithoOperator litho_operator_twsm;

typedef struct TwsmSetup TwsmSetup; // setup.h

// Sends a block of fields through one chain: from the first boundary to the receivers. One per
// backend.
typedef struct TwsmEngine {
    gboolean takes_shot; // `start` comes as a shot: the engine makes the field itself
    gboolean shares;     // the processes of a run share the rows of every sum; FALSE: they share the
                         // blocks of frequencies
    // Frequencies the engine takes at a time with this algorithm.
    int (*block)(TwsmAlgorithm algorithm, int n_frequencies);
    gboolean (*run)(gpointer self, const TwsmChain *chain, TwsmBand band, TwsmHow *how,
                    TwsmStart start, TwsmValue *receivers, LithoRun *run, GError **error);
    // Traces from all spectra into `out`, wherever the engine's results live; NULL: on the host.
    gboolean (*traces)(gpointer self, const TwsmSetup *setup, const TwsmValue *spectra,
                       LithoCube *out, LithoRun *run, GError **error);
} TwsmEngine;

// plan/exec/destroy of every backend; `engine` and `self` do the legs. twsm_plan_new() takes over
// `self` (freed by `free_self`, may be NULL).
typedef struct TwsmPlan TwsmPlan;
TwsmPlan *twsm_plan_new(const void *params, const TwsmEngine *engine, gpointer self,
                        GDestroyNotify free_self, LithoRun *run, GError **error);
// pass->out covers the whole output grid.
gboolean twsm_plan_exec(TwsmPlan *plan, const LithoPass *pass, LithoRun *run, GError **error);
void twsm_plan_free(TwsmPlan *plan);
