// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "core/qc.h"

// Makes the operators of this folder known to the program. Call once at start, before threads.
void litho_kernels_init(void);

// litho_qc_spectrum() with FFTW; set by litho_kernels_init().
gboolean litho_fftw_spectrum(const LithoCube *cube, const LithoBox *box, gint64 max_traces,
                             LithoRun *run, LithoSpectrum *spectrum, GError **error);
// litho_qc_fk() with FFTW; likewise.
gboolean litho_fftw_fk(const float *section, guint traces, guint samples, LithoFk *fk,
                       GError **error);
