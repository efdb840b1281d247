// SPDX-License-Identifier: GPL-3.0-or-later
//
// Work of the CUDA engine box by box: FFTs, and the residual box, on the context's stream and the
// two beside it.
#include <math.h>

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

// --- the residual box: a plain real FFT, on stream 1 ---------------------------------------------

gboolean wp_cuda_filter_residual(WpCuda *cuda, float *c, GError **error)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    if (!box)
        return TRUE;
    const gint64 half = (gint64)box->n[0] * box->n[1] * (box->n[2] / 2 + 1);
    c += box->at;
    return LITHO_CUFFT(cufftExecR2C(cuda->residual_forward, c, cuda->residual.data), error) &&
           LITHO_CUDA(wp_cuda_scale_complex(cuda->residual.data, cuda->residual_weight.data, half,
                                            cuda->beside[0]),
                      error) &&
           LITHO_CUFFT(cufftExecC2R(cuda->residual_inverse, cuda->residual.data, c), error);
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

// --- boxes ---------------------------------------------------------------------------------------

static gboolean launch_box_ffts(WpCuda *cuda, float *c, int direction, GError **error)
{
    if (!wp_cuda_branch_off(cuda, error))
        return FALSE;
    for (int r = 0; r < cuda->n_runs; r++) {
        cufftComplex *data = (cufftComplex *)(c + cuda->runs[r].at);
        if (!LITHO_CUFFT(cufftExecC2C(cuda->runs[r].plan, data, data, direction), error))
            return FALSE;
    }
    return wp_cuda_join(cuda, 0, cuda->joined[0], error) &&
           wp_cuda_join(cuda, 1, cuda->joined[1], error);
}

// The FFTs of all boxes, a hundred launches and more, as one.
static cudaGraphExec_t record_box_ffts(WpCuda *cuda, float *c, int direction, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    if (!LITHO_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), error))
        return NULL;
    gboolean ok = launch_box_ffts(cuda, c, direction, error);
    const cudaError_t status = cudaStreamEndCapture(stream, &graph);
    ok =
        ok && LITHO_CUDA(status, error) && LITHO_CUDA(cudaGraphInstantiate(&exec, graph, 0), error);
    if (graph)
        cudaGraphDestroy(graph);
    return ok ? exec : NULL;
}

// The graph for an array of coefficients, recorded when it is seen for the first time; NULL when
// there are too many arrays.
static gboolean find_graph(WpCuda *cuda, float *c, int direction, cudaGraphExec_t *exec,
                           GError **error)
{
    *exec = NULL;
    for (int i = 0; i < cuda->n_graphs; i++)
        if (cuda->graphs[i].c == c && cuda->graphs[i].direction == direction) {
            *exec = cuda->graphs[i].exec;
            return TRUE;
        }
    if (cuda->n_graphs == WP_MAX_GRAPHS)
        return TRUE;
    *exec = record_box_ffts(cuda, c, direction, error);
    if (*exec)
        cuda->graphs[cuda->n_graphs++] = (WpGraph){c, direction, *exec};
    return *exec != NULL;
}

void wp_cuda_forget_graphs(WpCuda *cuda, const float *c)
{
    int n = 0;
    for (int i = 0; i < cuda->n_graphs; i++)
        if (!c || cuda->graphs[i].c == c)
            cudaGraphExecDestroy(cuda->graphs[i].exec);
        else
            cuda->graphs[n++] = cuda->graphs[i];
    cuda->n_graphs = n;
}

gboolean wp_cuda_box_ffts(WpCuda *cuda, float *c, int direction, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const gint64 reals = wp_residual(g) ? wp_residual(g)->floats : 0;
    const double points = (double)(g->n_points - reals);
    wp_cuda_mark(cuda, direction == CUFFT_FORWARD ? "box fft" : "box ifft", 16 * points,
                 5 * points * log2(1e5));
    cudaGraphExec_t exec; // the mark ends with it: it joins the streams beside
    if (!find_graph(cuda, c, direction, &exec, error))
        return FALSE;
    return exec ? LITHO_CUDA(cudaGraphLaunch(exec, litho_cuda_stream(cuda->context)), error)
                : launch_box_ffts(cuda, c, direction, error);
}
