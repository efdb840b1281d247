// SPDX-License-Identifier: GPL-3.0-or-later
//
// Work of the CUDA engine box by box: FFTs, and the residual box, on the context's stream and the
// two beside it.
#include "core/error.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

// --- streams beside the context's ----------------------------------------------------------------

gboolean wp_cuda_branch_off(WpCuda *cuda, GError **error)
{
    if (!LITHO_CUDA(cudaEventRecord(cuda->forked, litho_cuda_stream(cuda->context)), error))
        return FALSE;
    for (int i = 0; i < WP_LANES_BESIDE; i++)
        if (!LITHO_CUDA(cudaStreamWaitEvent(cuda->beside[i], cuda->forked, 0), error))
            return FALSE;
    return TRUE;
}

gboolean wp_cuda_join(WpCuda *cuda, int i, cudaEvent_t event, GError **error)
{
    return LITHO_CUDA(cudaEventRecord(event, cuda->beside[i]), error) &&
           LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(cuda->context), event, 0), error);
}

gboolean wp_cuda_join_residual(WpCuda *cuda, GError **error)
{
    const gboolean due = cuda->residual_due;
    cuda->residual_due = FALSE;
    return !due || wp_cuda_join(cuda, 0, cuda->residual_done, error);
}

// --- the residual box: a plain real FFT, on stream 1 ---------------------------------------------

gboolean wp_cuda_residual_spectrum(WpCuda *cuda, float *c, GError **error)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    if (!box)
        return TRUE;
    const gint64 half = (gint64)box->n[0] * box->n[1] * (box->n[2] / 2 + 1);
    cuda->residual_due = TRUE;
    return LITHO_CUFFT(cufftExecR2C(cuda->residual_forward, c + box->at, cuda->residual.data),
                       error) &&
           LITHO_CUDA(wp_cuda_scale_complex(cuda->residual.data, cuda->residual_weight.data, half,
                                            cuda->beside[0]),
                      error);
}

gboolean wp_cuda_residual_samples(WpCuda *cuda, float *c, GError **error)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    cuda->residual_due |= box != NULL;
    return !box ||
           LITHO_CUFFT(cufftExecC2R(cuda->residual_inverse, cuda->residual.data, c + box->at),
                       error);
}

gboolean wp_cuda_filter_residual(WpCuda *cuda, float *c, GError **error)
{
    return wp_cuda_residual_spectrum(cuda, c, error) && wp_cuda_residual_samples(cuda, c, error);
}

gboolean wp_cuda_residual_forward(WpCuda *cuda, const float *u, float *c, GError **error)
{
    const gint64 *size = cuda->engine.geometry->n;
    const int n[3] = {(int)size[0], (int)size[1], (int)size[2]};
    const WpBox *box = wp_residual(cuda->engine.geometry);
    const float *none[3] = {NULL};
    return !box || (LITHO_CUDA(wp_cuda_pad(n, box->n, box->n[2], 0, box->n[0], none, u, c + box->at,
                                           cuda->beside[0]),
                               error) &&
                    wp_cuda_filter_residual(cuda, c, error));
}
