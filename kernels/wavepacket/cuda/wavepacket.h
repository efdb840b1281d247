// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cufft.h>
#include "core/qc_noise.h"
#include "kernels/cuda/erratic.h"
#include "kernels/cuda/gains.h"
#include "kernels/wavepacket/cuda/kernels.h"
#include "kernels/wavepacket/engine.h"
#include "kernels/wavepacket/wavepacket.h"

// The CUDA engine. Coefficients, grids and windows stay on the device; the boxes' lattices come
// from the host (boxes.c), the windows on them are sampled on the device.
//
// Box FFTs of one size are small: alone they leave the device half empty. They run on three
// streams, the context's and two beside it, which also carry the residual box and clearing; events
// order them.
enum { WP_LANES_BESIDE = 2, WP_STREAMS = 1 + WP_LANES_BESIDE };

typedef struct WpFftRun {
    cufftHandle plan;
    gint64 at;  // first float
    int stream; // 0 = the context's
} WpFftRun;

typedef struct WpFftLayout {
    int *size;
    int stride, distance; // between elements, between transforms
} WpFftLayout;

typedef struct WpFftShape {
    int rank, *n;
    WpFftLayout from, to;
    cufftType type;
    int batch, stream;
} WpFftShape;

// Planes first .. first+n-1 of the fine grid, which hold samples.
typedef struct WpPlanes {
    int first, n;
    cufftHandle forward, inverse;
} WpPlanes;

enum { WP_MOST_LAUNCHES = 16 };

// What the last shrink() has left to others, cuda/shrink.c.
typedef struct WpDue {
    WpDevRule rule; // of the complex boxes, for their FFTs; x NULL: nothing is left
    float *to;      // all coefficients, to which it goes
    const unsigned long long *counts; // to be fetched when all is counted; NULL: they are
} WpDue;

typedef struct WpCuda {
    WpEngine engine;
    int form; // enum LithoWavepacketAdjoint
    LithoCudaContext *context;
    int ordinal; // CUDA's number of the context's device
    WpDevGrid grid;
    WpDevKernel kernel;
    WpShare share; // of the fine FFT; all of it unless one of several GPUs
    WpPlanes planes[2];
    cufftHandle columns, residual_forward, residual_inverse;
    WpFftLaunch launches[WP_MOST_LAUNCHES]; // of the boxes' FFTs
    int n_launches;
    WpFftRun *runs; // boxes that are too large for them, of one size each
    int n_runs;
    const int *stop;             // atomic: not 0 ends the making of FFT plans; NULL
    size_t fft_work[WP_STREAMS]; // bytes of work area the FFTs of each stream need
    cudaStream_t beside[WP_LANES_BESIDE], fetching;
    cudaEvent_t forked, joined[WP_LANES_BESIDE], residual_done;
    gboolean residual_due; // what the residual box has left on beside[0] is to be waited for

    WpDevBox *host_boxes;
    LithoCudaArray boxes, u; // descriptors; the fine grid's half spectrum
    LithoCudaArray fft_list; // of the launches
    LithoCudaArray points, first_step, rounds, active, slot, sums;
    LithoCudaArray scale[3]; // 1/p_a
    LithoCudaArray residual, residual_weight;
    LithoCudaArray work[WP_STREAMS]; // shared by the FFTs of a stream
    LithoCudaArray small;            // levels, bins, partial sums
    LithoCudaArray mask;             // live traces
    LithoCudaArray taper[3], places;
    LithoCudaArray table, dense; // the papers' adjoint only
    WpDue due;
    guint64 *counted;            // what the last shrink() counted, in pinned memory
    guint64 *counts_to;          // shrink()'s `kept`, until they are added to it; NULL: they are
    const WpBox *counts_of;      // the residual box, where its windows are counted
    LithoCudaArray gain;         // of the traces of the survey
    LithoCudaErratic erratic;    // scratch memory of the search for bursts
    LithoCudaArray turns, reduced; // of single planes; `reduced` where `u` is too small for it
    LithoCudaArray spectrum, plane_work;
    cufftHandle plane_inverse[3], residual_plane[3]; // by axis; 0 = not made yet
    LithoCudaArray foreign;                          // what came from another card
    LithoCudaArray fetched;      // what is to be fetched together, while others use `foreign`
    int n_active;                // tiles with points
    gint64 n_steps;              // of 32 points, idle lanes included
} WpCuda;

static inline void wp_cuda_mark(WpCuda *cuda, const char *name, double bytes, double flops)
{
    litho_cuda_mark(cuda->context, name, LITHO_STAGE_COMPUTE, bytes, flops);
}

// --- cuda/wavepacket.c ---------------------------------------------------------------------------

// On run->device, counted modulo the devices there are. Number `share` of `shares` that make the
// fine FFT together: 0 of 1 is an engine by itself, of others cuda/multi.c knows how to use them.
WpEngine *wp_engine_cuda(const WpGeometry *geometry, int form, int share, int shares,
                         LithoRun *run, GError **error);
// The transform in steps, which are asked for and not waited for: up to the planes, from the
// columns on; the adjoint up to the columns (within the spans, NULL = everywhere), from the planes
// to the share's samples of u. `residual` and `r`: the residual box, or NULL, and its filtered
// samples, which may lie on another GPU.
gboolean wp_cuda_begin_forward(WpCuda *cuda, const float *u, float *c, GError **error);
gboolean wp_cuda_end_forward(WpCuda *cuda, const float *u, float *c, GError **error);
gboolean wp_cuda_begin_adjoint(WpCuda *cuda, float *c, const WpSpan *spans, LithoRun *run,
                               GError **error);
gboolean wp_cuda_end_adjoint(WpCuda *cuda, const WpBox *residual, const float *r, float *u,
                             GError **error);
void wp_cuda_mark_exchange(WpCuda *cuda, double bytes);
void wp_cuda_mark_fine(WpCuda *cuda, const char *name, gboolean first);

// --- cuda/boxes.c --------------------------------------------------------------------------------

// Makes later launches into the streams beside wait for all launches so far.
gboolean wp_cuda_branch_off(WpCuda *cuda, GError **error);
// The context's stream waits for what stream `i` beside it has so far.
gboolean wp_cuda_join(WpCuda *cuda, int i, cudaEvent_t event, GError **error);
// It waits for what the residual box has left there, if anything.
gboolean wp_cuda_join_residual(WpCuda *cuda, GError **error);
// The residual box, if there is one: its spectrum phi rfft(c) in cuda->residual, and c = irfft() of
// it, which uses it up; both; both from a volume. On beside[0].
gboolean wp_cuda_residual_spectrum(WpCuda *cuda, float *c, GError **error);
gboolean wp_cuda_residual_samples(WpCuda *cuda, float *c, GError **error);
gboolean wp_cuda_filter_residual(WpCuda *cuda, float *c, GError **error);
gboolean wp_cuda_residual_forward(WpCuda *cuda, const float *u, float *c, GError **error);

// --- cuda/transforms.c ---------------------------------------------------------------------------

// The boxes that are too large for our own kernels get plans of cuFFT; then the others are listed.
gboolean wp_cuda_make_large_box_ffts(WpCuda *cuda, GError **error);
gboolean wp_cuda_list_box_ffts(WpCuda *cuda, GError **error);
// The FFTs of the complex boxes, unnormalised; forward of what a threshold leaves that is due for
// c.
gboolean wp_cuda_box_ffts(WpCuda *cuda, float *c, int direction, GError **error);

// --- cuda/ffts.c ---------------------------------------------------------------------------------

// A plan of this shape in the stream it names, new or one that was given back. Its work area is
// still to be set; cuda->fft_work grows to it. Any thread that the device is current in.
gboolean wp_cuda_make_fft(WpCuda *cuda, cufftHandle *plan, const WpFftShape *shape, GError **error);
// Gives a plan back; 0 is fine.
void wp_cuda_drop_fft(cufftHandle plan);

// --- cuda/planes.c -------------------------------------------------------------------------------

// WpEngineClass.planes and drop_plane, behind cuda_begin_adjoint().
gboolean wp_cuda_cut_planes(WpEngine *engine, const float *c, const WpPlane *planes, int n,
                            LithoRun *run, GError **error);
gboolean wp_cuda_drop_plane_of(WpEngine *engine, const float *volume, const gint64 n[3],
                               const WpBlock *block, const float *part, const WpPlane *plane,
                               GError **error);
void wp_cuda_free_planes(WpCuda *cuda);

// --- cuda/ahead.c --------------------------------------------------------------------------------

// Tells that a plan of this kind (cleared before it was filled) was made on `device`: where a
// slider moves the directions, extents and plans of cuFFT for those around are made in a thread.
// Any thread.
void wp_cuda_look_ahead(const WpSpec *spec, int device);

// --- cuda/fine.c ---------------------------------------------------------------------------------

// The fine FFT's plans; then its steps on the engine's grid, without what lies between.
gboolean wp_cuda_make_fine(WpCuda *cuda, GError **error);
void wp_cuda_free_fine(WpCuda *cuda);
gboolean wp_cuda_pad_planes(WpCuda *cuda, const float *u, GError **error);
gboolean wp_cuda_planes(WpCuda *cuda, int direction, GError **error);
gboolean wp_cuda_columns(WpCuda *cuda, int direction, GError **error);
gboolean wp_cuda_clear_between(WpCuda *cuda, GError **error); // planes without samples

// --- cuda/plan.c: the device's side of the plan --------------------------------------------------

// Boxes without the residual one, and their rows (j1, j2).
int wp_cuda_complex_boxes(const WpGeometry *geometry);
gint64 wp_cuda_rows(const WpGeometry *geometry);
WpDevBox *wp_cuda_describe_boxes(const WpGeometry *geometry); // g_free()
gboolean wp_cuda_make_plan(WpCuda *cuda, LithoRun *run, GError **error);
void wp_cuda_free_plan(WpCuda *cuda);
// Makes the plans of cuFFT that depend on the boxes of this geometry, which needs no windows, and
// leaves them to its engine. FALSE: not all of them, `*stop` is not 0 any more or there is no
// memory. Any thread.
gboolean wp_cuda_make_ffts_ahead(const WpGeometry *geometry, int device, const int *stop);
gboolean wp_cuda_send(WpCuda *cuda, LithoCudaArray *array, const void *from, size_t bytes,
                      GError **error);

// --- cuda/windows.c ------------------------------------------------------------------------------

// Sigma, profile and number of points of every box of a geometry that is laid out, on run->device;
// the weights themselves stay unknown on the host. FALSE on cancel.
gboolean wp_cuda_measure_windows(WpGeometry *geometry, LithoRun *run, GError **error);
// Weights of the complex boxes' lattice points, device floats by complex index, and the residual
// box's: those that were sampled with the energies, or new ones.
gboolean wp_cuda_window_weights(WpCuda *cuda, LithoCudaArray *weights, const LithoRun *run,
                                GError **error);
// Weights that were sampled and that no engine took go.
void wp_cuda_drop_weights(void);

// --- cuda/level.c --------------------------------------------------------------------------------

// WpLevelFunc of apply.h: on run->device.
typedef struct WpLevelBeside WpLevelBeside;
gboolean wp_cuda_level(const LithoCube *cube, const guint8 *recorded, const int window[3], int most,
                       const WpLevelBeside *beside, LithoRun *run, LithoNoise *noise,
                       GError **error);

// --- cuda/rival.c --------------------------------------------------------------------------------

// LithoImpl.rivals.
gboolean wp_cuda_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run,
                        GArray *rows, GError **error);

// --- cuda/shrink.c -------------------------------------------------------------------------------

// Rows of the residual box that an engine thresholds in local windows; x and out are where the box's
// first sample lies, or would lie.
typedef struct WpLocalShare {
    const WpBox *box;
    WpLocalRows rows;
    const float *x;
    float *out;
    gboolean beside; // x is on its way in beside[1]
} WpLocalShare;
// WpEngineClass.shrink without waiting, with the rule's local windows on `share`, NULL = none.
// *counts, on the device until the next call: kept per box, then those of the share's windows.
gboolean wp_cuda_ask_shrink(WpCuda *cuda, const float *key, const float *x, float *out,
                            const WpRule *rule, const WpLocalShare *share,
                            unsigned long long **counts, GError **error);
// Brings the counts, n_boxes + 1 of them, to cuda->counted; they are there when the engine has been
// waited for, behind wp_cuda_settle().
gboolean wp_cuda_ask_counts(WpCuda *cuda, const unsigned long long *counts, GError **error);
// Asks for what is due, so that the context's stream has all coefficients: before anything but the
// adjoint of these goes on.
gboolean wp_cuda_settle(WpCuda *cuda, GError **error);
// The FFTs of the complex boxes have applied what was due.
gboolean wp_cuda_ruled(WpCuda *cuda, GError **error);
// First float of the coefficients that shrink() has left to the FFTs.
gint64 wp_cuda_first_due(const WpCuda *cuda);
gboolean wp_cuda_settle_counts(WpCuda *cuda, GError **error); // adds them to shrink()'s `kept`
// WpEngineClass.shrink. A hard threshold of the complex boxes waits for their FFTs, which read them
// anyhow.
gboolean wp_cuda_shrink_boxes(WpEngine *engine, const float *key, const float *x, float *out,
                              const WpRule *rule, guint64 *kept, GError **error);

// --- elsewhere -----------------------------------------------------------------------------------

// cuda/arrays.c: all of the table but free, forward, adjoint.
extern const WpEngineClass wp_cuda_arrays;
// cuda/multi.c: boxes spread over `devices` from run->device on, as many of them as are linked.
WpEngine *wp_engine_multi(const WpGeometry *geometry, int form, int devices, LithoRun *run,
                          GError **error);
