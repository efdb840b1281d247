// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fine grid's FFT in two steps: planes (axes 2 and 3, only those that hold samples: two of
// three with oversampling 1.5), then columns (axis 1). One GPU makes both on the whole grid;
// several share the planes by samples and the columns by grid points of axis 2, and exchange
// between (cuda/multi.c).
#include "core/error.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

static float2 *plane(const WpCuda *cuda, int l1)
{
    return (float2 *)cuda->u.data + (gint64)l1 * cuda->grid.nf[1] * cuda->grid.half;
}

// --- plan ----------------------------------------------------------------------------------------

static gboolean make_planes(WpCuda *cuda, WpPlanes *p, GError **error)
{
    WpDevGrid *g = &cuda->grid;
    const int size = g->nf[1] * g->half;
    int real[2] = {g->nf[1], 2 * g->half}, half[2] = {g->nf[1], g->half};
    return p->n == 0 ||
           (wp_cuda_make_fft(
                cuda, &p->forward,
                &(WpFftShape){
                    2, g->nf + 1, {real, 1, 2 * size}, {half, 1, size}, CUFFT_R2C, p->n, 0},
                error) &&
            wp_cuda_make_fft(
                cuda, &p->inverse,
                &(WpFftShape){
                    2, g->nf + 1, {half, 1, size}, {real, 1, 2 * size}, CUFFT_C2R, p->n, 0},
                error));
}

// Samples up to the middle one lie at the grid's end, the rest at its beginning.
static void find_planes(WpCuda *cuda)
{
    const int n = (int)cuda->engine.geometry->n[0], nf = cuda->grid.nf[0], middle = n / 2;
    const int from = cuda->share.sample, to = from + cuda->share.samples;
    cuda->planes[0] = (WpPlanes){.first = MIN(from, middle) - middle + nf,
                                 .n = MIN(to, middle) - MIN(from, middle)};
    cuda->planes[1] =
        (WpPlanes){.first = MAX(from, middle) - middle, .n = MAX(to, middle) - MAX(from, middle)};
}

gboolean wp_cuda_make_fine(WpCuda *cuda, GError **error)
{
    WpDevGrid *g = &cuda->grid;
    const int size = g->nf[1] * g->half;
    find_planes(cuda);
    return make_planes(cuda, &cuda->planes[0], error) &&
           make_planes(cuda, &cuda->planes[1], error) &&
           wp_cuda_make_fft(cuda, &cuda->columns,
                            &(WpFftShape){1,
                                          g->nf,
                                          {g->nf, size, 1},
                                          {g->nf, size, 1},
                                          CUFFT_C2C,
                                          cuda->share.columns * g->half,
                                          0},
                            error);
}

void wp_cuda_free_fine(WpCuda *cuda)
{
    cufftHandle plans[] = {cuda->planes[0].forward, cuda->planes[0].inverse,
                           cuda->planes[1].forward, cuda->planes[1].inverse, cuda->columns};
    for (guint i = 0; i < G_N_ELEMENTS(plans); i++)
        wp_cuda_drop_fft(plans[i]);
}

// --- steps ---------------------------------------------------------------------------------------

gboolean wp_cuda_pad_planes(WpCuda *cuda, const float *u, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const int n[3] = {(int)g->n[0], (int)g->n[1], (int)g->n[2]};
    const float *scale[3] = {cuda->scale[0].data, cuda->scale[1].data, cuda->scale[2].data};
    for (int i = 0; i < 2; i++)
        if (cuda->planes[i].n > 0 &&
            !LITHO_CUDA(wp_cuda_pad(n, cuda->grid.nf, 2 * cuda->grid.half, cuda->planes[i].first,
                                    cuda->planes[i].n, scale, u, cuda->u.data,
                                    litho_cuda_stream(cuda->context)),
                        error))
            return FALSE;
    return TRUE;
}

gboolean wp_cuda_planes(WpCuda *cuda, int direction, GError **error)
{
    for (int i = 0; i < 2; i++) {
        const WpPlanes *p = &cuda->planes[i];
        float2 *at = plane(cuda, p->first);
        if (p->n > 0 &&
            !LITHO_CUFFT(direction == CUFFT_FORWARD ? cufftExecR2C(p->forward, (float *)at, at)
                                                    : cufftExecC2R(p->inverse, at, (float *)at),
                         error))
            return FALSE;
    }
    return TRUE;
}

gboolean wp_cuda_clear_between(WpCuda *cuda, GError **error)
{
    const int n = (int)cuda->engine.geometry->n[0], nf = cuda->grid.nf[0], first = n - n / 2;
    return LITHO_CUDA(cudaMemsetAsync(plane(cuda, first), 0,
                                      8 * (size_t)(nf - n) * cuda->grid.nf[1] * cuda->grid.half,
                                      litho_cuda_stream(cuda->context)),
                      error);
}

gboolean wp_cuda_columns(WpCuda *cuda, int direction, GError **error)
{
    float2 *at = plane(cuda, 0) + (gint64)cuda->share.column * cuda->grid.half;
    return LITHO_CUFFT(cufftExecC2C(cuda->columns, at, at, direction), error);
}
