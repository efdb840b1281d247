// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single planes of the adjoint on CUDA (cuda/planes.cu), from the tiles' sums and the residual
// box's spectrum that begin_adjoint() leaves. The fine grid's array, which nobody needs until
// end_adjoint(), holds what is between.
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

// Of planes of a volume of sizes[], by the axis across; *most: bytes of work area, grows.
static gboolean make_inverses_of(WpCuda *cuda, const int sizes[3], cufftHandle to[3], size_t *most,
                                 GError **error)
{
    for (int a = 0; a < 3; a++) {
        int n[2] = {sizes[a == 0 ? 1 : 0], sizes[a == 2 ? 1 : 2]};
        const WpFftLayout layout = {n, 1, n[0] * n[1]};
        size_t bytes = 0;
        if (!wp_cuda_make_fft(cuda, &to[a], &(WpFftShape){2, n, layout, layout, CUFFT_C2C, 1, 0},
                              error) ||
            !LITHO_CUFFT(cufftGetSize(to[a], &bytes), error))
            return FALSE;
        *most = MAX(*most, bytes);
    }
    return TRUE;
}

// A run that shows nothing needs none of them: made with the first planes.
static gboolean make_inverses(WpCuda *cuda, GError **error)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    size_t most = 16;
    if (cuda->plane_work.data)
        return TRUE;
    if (!make_inverses_of(cuda, cuda->grid.nf, cuda->plane_inverse, &most, error) ||
        (box && !make_inverses_of(cuda, box->n, cuda->residual_plane, &most, error)) ||
        !litho_cuda_reserve(cuda->context, &cuda->plane_work, most, error))
        return FALSE;
    for (int a = 0; a < 3; a++)
        if (!LITHO_CUFFT(cufftSetWorkArea(cuda->plane_inverse[a], cuda->plane_work.data), error) ||
            (box &&
             !LITHO_CUFFT(cufftSetWorkArea(cuda->residual_plane[a], cuda->plane_work.data), error)))
            return FALSE;
    return TRUE;
}

void wp_cuda_free_planes(WpCuda *cuda)
{
    LithoCudaArray *arrays[] = {&cuda->turns, &cuda->reduced, &cuda->spectrum, &cuda->plane_work};
    for (int a = 0; a < 3; a++) {
        wp_cuda_drop_fft(cuda->plane_inverse[a]);
        wp_cuda_drop_fft(cuda->residual_plane[a]);
        cuda->plane_inverse[a] = cuda->residual_plane[a] = 0;
    }
    for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
        litho_cuda_release(cuda->context, arrays[i]);
}

// --- phases --------------------------------------------------------------------------------------

static int grid_points(const WpCuda *cuda, int axis)
{
    return (cuda->grid.tiles[axis] - 1) * WP_TILE + side_of(cuda);
}

// Points of the residual box's half spectrum along an axis.
static int residual_points(const WpCuda *cuda, int axis)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    return !box ? 0 : axis == 2 ? box->n[2] / 2 + 1 : box->n[axis];
}

// exp(2 pi i l x / n) at l = first .. first+count-1 of the plane's axis.
static void fill_turns(const WpCuda *cuda, const WpPlane *plane, int n, gint64 first, int count,
                       float *to)
{
    const gint64 x = plane->at - cuda->engine.geometry->n[plane->axis] / 2;
    for (int q = 0; q < count; q++) {
        const double angle = 2 * G_PI * (double)((first + q) * x % n) / n;
        to[2 * q] = (float)cos(angle);
        to[2 * q + 1] = (float)sin(angle);
    }
}

// Phases of the fine grid, at the points of all tiles, then of the residual box.
static gboolean send_turns(WpCuda *cuda, const WpPlane *planes, int n, WpDevPlanes *to,
                           GError **error)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    gsize at[WP_MOST_PLANES], all = 0;
    *to = (WpDevPlanes){.n = n};
    for (int k = 0; k < n; k++) {
        at[k] = all;
        all += grid_points(cuda, planes[k].axis) + residual_points(cuda, planes[k].axis);
    }
    g_autofree float *turns = g_new(float, 2 * all);
    for (int k = 0; k < n; k++) {
        const int a = planes[k].axis, points = grid_points(cuda, a);
        fill_turns(cuda, &planes[k], cuda->grid.nf[a], a == 2 ? -cuda->grid.offset3 : 0, points,
                   turns + 2 * at[k]);
        if (box)
            fill_turns(cuda, &planes[k], box->n[a], 0, residual_points(cuda, a),
                       turns + 2 * (at[k] + points));
    }
    if (!litho_cuda_put(cuda->context, &cuda->turns, turns, 2 * all * sizeof *turns, error))
        return FALSE;
    for (int k = 0; k < n; k++) {
        to->axis[k] = planes[k].axis;
        to->turn[k] = (const float2 *)cuda->turns.data + at[k];
        to->residual_turn[k] = to->turn[k] + grid_points(cuda, planes[k].axis);
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

static gboolean transform_plane(WpCuda *cuda, const WpDevPlanes *planes, int k,
                                const float2 *reduced, const WpPlane *to, GError **error)
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
                                         to->samples, stream_of(cuda)),
                      error);
}

// The residual box's part, added.
static gboolean add_residual(WpCuda *cuda, const WpDevPlanes *planes, int k, const WpPlane *to,
                             GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpBox *box = wp_residual(g);
    const int n[3] = {(int)g->n[0], (int)g->n[1], (int)g->n[2]};
    float2 *spectrum = cuda->spectrum.data;
    return !box || (LITHO_CUDA(wp_cuda_sum_residual(box->n, planes, k, cuda->residual.data,
                                                    spectrum, stream_of(cuda)),
                               error) &&
                    LITHO_CUFFT(cufftExecC2C(cuda->residual_plane[to->axis], spectrum, spectrum,
                                             CUFFT_INVERSE),
                                error) &&
                    LITHO_CUDA(wp_cuda_crop_plane(n, box->n, to->axis, (int)to->at, NULL, spectrum,
                                                  to->samples, stream_of(cuda)),
                               error));
}

// Some of the planes together: the tiles are read once for all of them.
static gboolean make_planes(WpCuda *cuda, const WpPlane *planes, int n, float2 *reduced,
                            GError **error)
{
    WpDevPlanes dev;
    if (!send_turns(cuda, planes, n, &dev, error) ||
        (cuda->n_active > 0 &&
         !LITHO_CUDA(wp_cuda_reduce_tiles(&cuda->grid, &dev, cuda->active.data, cuda->n_active,
                                          cuda->sums.data, reduced, stream_of(cuda)),
                     error)))
        return FALSE;
    for (int k = 0; k < n; k++)
        if (!transform_plane(cuda, &dev, k, reduced, &planes[k], error))
            return FALSE;
    if (!wp_cuda_join_residual(cuda, error))
        return FALSE;
    for (int k = 0; k < n; k++)
        if (!add_residual(cuda, &dev, k, &planes[k], error))
            return FALSE;
    return TRUE;
}

// Of the largest plane's spectrum.
static gsize plane_points(const WpCuda *cuda)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    const int *nf = cuda->grid.nf, none[3] = {0}, *n = box ? box->n : none;
    return MAX((gsize)MAX(nf[0], nf[1]) * MAX(nf[1], nf[2]),
               (gsize)MAX(n[0], n[1]) * MAX(n[1], n[2]));
}

gboolean wp_cuda_cut_planes(WpEngine *engine, const float *c, const WpPlane *planes, int n,
                            LithoRun *run, GError **error)
{
    (void)c;
    WpCuda *cuda = (WpCuda *)engine;
    const int side = side_of(cuda), room = planes_at_once(cuda, n);
    const gsize points = plane_points(cuda);
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
        ok = make_planes(cuda, planes + k, MIN(at_once, n - k), reduced, error);
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
