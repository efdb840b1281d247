// SPDX-License-Identifier: GPL-3.0-or-later
//
// The baseline every compression figure is shown beside, on the CPU.
#include <math.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/wavepacket/cpu/wavepacket.h"

// |U|^2 / N of every value of the half spectrum, in place of each row's front half. Unscaled
// squares of what the operator takes would leave the range of floats.
static void magnitudes(float *spectrum, const gint64 n[3], gint64 stride, const LithoRun *run)
{
    const float scale = (float)(1 / sqrt((double)n[0] * (double)n[1] * (double)n[2]));
#pragma omp parallel for num_threads(litho_run_threads(run))
    for (gint64 r = 0; r < n[0] * n[1]; r++) {
        float *row = spectrum + r * stride;
        for (gint64 k = 0; k < n[2] / 2 + 1; k++) {
            const float re = scale * row[2 * k], im = scale * row[2 * k + 1];
            row[k] = re * re + im * im;
        }
    }
}

gboolean wp_cpu_fourier(WpEngine *engine, const float *volume, const gint64 n[3], guint64 keep,
                        double *lost, LithoRun *run, GError **error)
{
    (void)engine;
    const int size[3] = {(int)n[0], (int)n[1], (int)n[2]}, origin[3] = {0};
    const int dim[3] = {size[0], size[1], (size[2] / 2 + 1 + 7) / 8 * 8}; // rows are aligned
    const gsize bytes = (gsize)dim[0] * dim[1] * dim[2] * sizeof(fftwf_complex);
    const WpFftVolume samples = {.n = {n[0], n[1], n[2]}};
    WpFft fft = {0};
    float *data = fftwf_malloc(bytes);
    if (!data)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "no memory for the FFT of the whole cube (%.2f GiB)",
                            (double)bytes / (1 << 30));
    wp_fft_init(&fft, size, dim, origin, data);
    gboolean ok = wp_fft_forward(&fft, &samples, volume, data, run);
    wp_fft_clear(&fft);
    if (ok) {
        magnitudes(data, n, 2 * dim[2], run);
        ok = wp_fourier_lost(data, 2 * dim[2], n, keep, lost, run, error);
    } else {
        litho_run_stopped(error);
    }
    fftwf_free(data);
    return ok;
}
