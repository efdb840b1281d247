// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"
#include "kernels/migrate/cpu/step.h"
#include "kernels/migrate/shots.h"

// Between traces and frequency planes on the CPU: P(w) = weight(w) sum_t taper(t) p(t) exp(-iwt),
// and the exact adjoint of that.

// Traces of `in` (dead ones and non-finite samples count as 0) into waves[nf], which are laid out
// by `waves` with the data in their middle: all at their own cells, or those of a shot at their
// receivers' (added up where several fall into one cell).
gboolean litho_spectrum_forward(const LithoMigrateJob *job, const LithoWaves *waves,
                                const LithoCube *in, const LithoShotTraces *traces, float *planes,
                                LithoRun *run, GError **error);
// The adjoint of "twice the real part of the sum over frequencies" after forward: waves to the
// traces of `out`.
gboolean litho_spectrum_adjoint(const LithoMigrateJob *job, const LithoWaves *waves, float *planes,
                                LithoCube *out, LithoRun *run, GError **error);
