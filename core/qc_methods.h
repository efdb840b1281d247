// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/qc.h"
#include "core/qc_noise.h"
#include "core/qc_steady.h"

// Numbers about cubes that need a Fourier transform or a filter, which core/ has not: the operator
// library hands its own over. Each is the function of core/qc.h, core/qc_noise.h or
// core/qc_steady.h named beside it, which says what is asked and answered; NULL = the program has
// none.
typedef struct LithoQcMethods {
    // litho_qc_spectrum()
    gboolean (*spectrum)(const LithoCube *cube, const LithoBox *box, gint64 max_traces,
                         LithoRun *run, LithoSpectrum *spectrum, GError **error);
    // litho_qc_fk()
    gboolean (*fk)(const float *section, guint traces, guint samples, LithoFk *fk, GError **error);
    // litho_qc_noise_windows()
    gboolean (*noise)(const LithoCube *cube, const LithoBox *box, const int window[3], int most,
                      LithoRun *run, LithoNoise *noise, GError **error);
    // litho_qc_colour()
    gboolean (*colour)(const LithoNoise *noise, const gint64 at[3], const gint64 n[3],
                       const float *from, float *to, LithoRun *run, GError **error);
    // litho_qc_swell()
    gboolean (*swell)(const LithoCube *cube, const LithoBox *box, LithoRun *run, double *level,
                      GError **error);
    // litho_qc_steady_find(), litho_qc_steady_without(): both, or none
    gboolean (*steady_find)(const LithoReader *survey, LithoRun *run, LithoSteady *steady,
                            GError **error);
    LithoCube *(*steady_without)(const LithoCube *cube, const LithoSteady *steady, LithoRun *run,
                                 LithoSteadyTaken *taken, GError **error);
    // litho_qc_bursts()
    gboolean (*bursts)(const LithoCube *cube, LithoRun *run, LithoCube **guesses, GError **error);
    // litho_qc_guess_gaps()
    gboolean (*gaps)(LithoCube *cube, LithoRun *run, GError **error);
} LithoQcMethods;

// Once, at start, before there are threads; `methods` stays the caller's and lives as long as the
// program.
void litho_qc_set_methods(const LithoQcMethods *methods);
// The methods that were set, or a table without any. Any thread.
const LithoQcMethods *litho_qc_methods(void);
// FALSE, LITHO_ERROR_UNSUPPORTED: "this program was built without a Fourier transform".
gboolean litho_qc_no_transform(GError **error);
