// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single planes of the adjoint on CUDA (cuda/planes.cu), from the tiles' sums that begin_adjoint()
// leaves. The fine grid's array, which nobody needs until end_adjoint(), holds what is between.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

G_STATIC_ASSERT((int)WP_DEV_PLANES == (int)WP_MOST_PLANES);

static cudaStream_t stream_of(const WpCuda *cuda)
{
    return litho_cuda_stream(cuda->context);
}

static int side_of(const WpCuda *cuda)
{
    return WP_TILE + cuda->grid.w - 1;
}

// --- plans ---------------------------------------------------------------------------------------

// A run that shows nothing needs none of them: made with the first planes.
static gboolean make_inverses(WpCuda *cuda, GError **error)
{
    const int *nf = cuda->grid.nf;
    size_t most = 16;
    if (cuda->plane_inverse[2])
        return TRUE;
    for (int a = 0; a < 3; a++) {
        int n[2] = {nf[a == 0 ? 1 : 0], nf[a == 2 ? 1 : 2]};
        const WpFftLayout layout = {n, 1, n[0] * n[1]};
        size_t bytes = 0;
        if (!wp_cuda_make_fft(cuda, &cuda->plane_inverse[a],
                              &(WpFftShape){2, n, layout, layout, CUFFT_C2C, 1, 0}, error) ||
            !LITHO_CUFFT(cufftGetSize(cuda->plane_inverse[a], &bytes), error))
            return FALSE;
        most = MAX(most, bytes);
    }
    if (!litho_cuda_reserve(cuda->context, &cuda->plane_work, most, error))
        return FALSE;
    for (int a = 0; a < 3; a++)
        if (!LITHO_CUFFT(cufftSetWorkArea(cuda->plane_inverse[a], cuda->plane_work.data), error))
            return FALSE;
    return TRUE;
}

void wp_cuda_free_planes(WpCuda *cuda)
{
    LithoCudaArray *arrays[] = {&cuda->turns, &cuda->reduced, &cuda->spectrum, &cuda->plane_work};
    for (int a = 0; a < 3; a++) {
        wp_cuda_drop_fft(cuda->plane_inverse[a]);
        cuda->plane_inverse[a] = 0;
    }
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
        litho_cuda_release(cuda->context, arrays[i]);
}

// --- phases --------------------------------------------------------------------------------------

static int grid_points(const WpCuda *cuda, int axis)
{
    return (cuda->grid.tiles[axis] - 1) * WP_TILE + side_of(cuda);
}

// exp(2 pi i l x / nf) at the grid points of all tiles along the plane's axis.
static void fill_turns(const WpCuda *cuda, const WpPlane *plane, float *to)
{
    const int a = plane->axis, nf = cuda->grid.nf[a], offset = a == 2 ? cuda->grid.offset3 : 0;
    const gint64 x = plane->at - cuda->engine.geometry->n[a] / 2;
    for (int q = 0; q < grid_points(cuda, a); q++) {
        const double angle = 2 * G_PI * (double)((q - offset) * x % nf) / nf;
        to[2 * q] = (float)cos(angle);
        to[2 * q + 1] = (float)sin(angle);
    }
}

static gboolean send_turns(WpCuda *cuda, const WpPlane *planes, int n, WpDevPlanes *to,
                           GError **error)
{
    gsize at[WP_MOST_PLANES], all = 0;
    *to = (WpDevPlanes){.n = n};
    for (int k = 0; k < n; k++) {
        at[k] = all;
        all += grid_points(cuda, planes[k].axis);
    }
    g_autofree float *turns = g_new(float, 2 * all);
    for (int k = 0; k < n; k++)
        fill_turns(cuda, &planes[k], turns + 2 * at[k]);
    if (!litho_cuda_put(cuda->context, &cuda->turns, turns, 2 * all * sizeof *turns, error))
        return FALSE;
    for (int k = 0; k < n; k++) {
        to->axis[k] = planes[k].axis;
        to->turn[k] = (const float2 *)cuda->turns.data + at[k];
    }
    return TRUE;
}

// --- planes --------------------------------------------------------------------------------------

// Planes whose parts of all tiles the fine grid's array holds; 0: not even one.
static int planes_at_once(const WpCuda *cuda, int n)
{
    const gsize side = (gsize)side_of(cuda);
    const gsize one = sizeof(float2) * side * side * (gsize)MAX(cuda->n_active, 1);
    return (int)MIN((gsize)n, cuda->u.bytes / one);
}

static gboolean transform_plane(WpCuda *cuda, const float *residual, const WpDevPlanes *planes,
                                int k, const float2 *reduced, const WpPlane *to, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpDevGrid *d = &cuda->grid;
    const int n[3] = {(int)g->n[0], (int)g->n[1], (int)g->n[2]};
    const float *scale[3] = {cuda->scale[0].data, cuda->scale[1].data, cuda->scale[2].data};
    float2 *spectrum = cuda->spectrum.data;
    return LITHO_CUDA(wp_cuda_collect_plane(d, planes, k, reduced, cuda->slot.data, spectrum,
                                            stream_of(cuda)),
                      error) &&
           LITHO_CUFFT(
               cufftExecC2C(cuda->plane_inverse[to->axis], spectrum, spectrum, CUFFT_INVERSE),
               error) &&
           LITHO_CUDA(wp_cuda_crop_plane(n, d->nf, to->axis, (int)to->at, scale, spectrum,
                                         residual ? wp_residual(g)->n : n, residual, to->samples,
                                         stream_of(cuda)),
                      error);
}

// Some of the planes together: the tiles are read once for all of them.
static gboolean make_planes(WpCuda *cuda, const float *residual, const WpPlane *planes, int n,
                            float2 *reduced, GError **error)
{
    WpDevPlanes dev;
    if (!send_turns(cuda, planes, n, &dev, error) ||
        (cuda->n_active > 0 &&
         !LITHO_CUDA(wp_cuda_reduce_tiles(&cuda->grid, &dev, cuda->active.data, cuda->n_active,
                                          cuda->sums.data, reduced, stream_of(cuda)),
                     error)))
        return FALSE;
    for (int k = 0; k < n; k++)
        if (!transform_plane(cuda, residual, &dev, k, reduced, &planes[k], error))
            return FALSE;
    return TRUE;
}

gboolean wp_cuda_cut_planes(WpEngine *engine, const float *c, const WpPlane *planes, int n,
                            LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpBox *box = wp_residual(engine->geometry);
    const int *nf = cuda->grid.nf, side = side_of(cuda), room = planes_at_once(cuda, n);
    const gsize points = (gsize)MAX(nf[0], nf[1]) * MAX(nf[1], nf[2]);
    const double bytes = 8.0 * cuda->n_active * side * side * (side + 2.0 * n);
    const int at_once = MAX(room, 1);
    if (!litho_run_step(run, 0, 0, error) || !make_inverses(cuda, error) ||
        !litho_cuda_reserve(cuda->context, &cuda->spectrum, points * sizeof(float2), error) ||
        (room == 0 &&
         !litho_cuda_reserve(cuda->context, &cuda->reduced,
                             sizeof(float2) * (gsize)cuda->n_active * side * side, error)))
        return FALSE;
    wp_cuda_mark(cuda, "slices", bytes, 0);
    float2 *reduced = room > 0 ? cuda->u.data : cuda->reduced.data;
    gboolean ok = TRUE;
    for (int k = 0; k < n && ok; k += at_once)
        ok = make_planes(cuda, box ? c + box->at : NULL, planes + k, MIN(at_once, n - k), reduced,
                         error);
    litho_cuda_mark_end(cuda->context);
    return ok;
}

gboolean wp_cuda_drop_plane_of(WpEngine *engine, const float *volume, const gint64 n[3],
                               const WpBlock *block, const float *part, const WpPlane *plane,
                               GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    int sizes[3], own[3], first[3] = {0};
    for (int a = 0; a < 3; a++) {
        sizes[a] = (int)n[a];
        own[a] = (int)engine->geometry->n[a];
        first[a] = block ? (int)block->at[a] : 0;
    }
    return LITHO_CUDA(wp_cuda_drop_plane(sizes, plane->axis, (int)plane->at, volume, own, first,
                                         part, plane->samples, stream_of(cuda)),
                      error);
}
