// SPDX-License-Identifier: GPL-3.0-or-later
//
// The baseline every compression figure is shown beside, on the CPU.
#include "core/error.h"
#include "core/text.h"
#include "kernels/wavepacket/cpu/wavepacket.h"

// |U|^2 of every value of the half spectrum, in place of the spectrum's front half.
static void magnitudes(float *spectrum, gint64 n)
{
    for (gint64 i = 0; i < n; i++)
        spectrum[i] = spectrum[2 * i] * spectrum[2 * i] + spectrum[2 * i + 1] * spectrum[2 * i + 1];
}

gboolean wp_cpu_fourier(WpEngine *engine, const float *volume, const gint64 n[3], guint64 keep,
                        double *lost, LithoRun *run, GError **error)
{
    (void)engine;
    (void)run;
    const gint64 half = n[2] / 2 + 1, values = n[0] * n[1] * half;
    fftwf_complex *u = fftwf_malloc(values * sizeof *u);
    if (!u) {
        litho_refuse(error, LITHO_ERROR_MEMORY,
                     "no memory for the FFT of the whole cube (%.2f GiB)",
                     (double)values * sizeof *u / (1 << 30));
        return FALSE;
    }
    fftwf_plan plan = fftwf_plan_dft_r2c_3d((int)n[0], (int)n[1], (int)n[2], (float *)volume, u,
                                            FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
    float *m2 = (float *)u;
    magnitudes(m2, values);
    *lost = wp_fourier_lost(m2, n, keep);
    fftwf_free(u);
    return TRUE;
}
