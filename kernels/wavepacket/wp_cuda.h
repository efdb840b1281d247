// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cufft.h>
#include "kernels/cuda/cuda.h"
#include "kernels/wavepacket/wp_cuda_kernels.h"
#include "kernels/wavepacket/engine.h"
#include "kernels/wavepacket/wavepacket.h"

// The CUDA engine. Coefficients, grids and windows stay on the device; the plan's geometry comes
// from the host (boxes.c) once.
//
// Box FFTs of one size are small: alone they leave the device half empty. They run on three streams,
// the context's and two beside it, which also carry the residual box and clearing; events order them.
enum { WP_LANES_BESIDE = 2, WP_STREAMS = 1 + WP_LANES_BESIDE };

typedef struct WpFftRun {
    cufftHandle plan;
    gint64 at;  // first float
    int stream; // 0 = the context's
} WpFftRun;

typedef struct WpCuda {
    WpEngine engine;
    int form; // enum LithoWavepacketAdjoint
    LithoCudaContext *context;
    int ordinal; // CUDA's number of the context's device
    WpDevGrid grid;
    WpDevKernel kernel;
    cufftHandle fine_forward, fine_inverse, residual_forward, residual_inverse;
    WpFftRun *runs; // boxes of one size each
    int n_runs;
    size_t fft_work[WP_STREAMS];         // bytes of work area the FFTs of each stream need
    cudaStream_t beside[WP_LANES_BESIDE];
    cudaEvent_t forked, joined[WP_LANES_BESIDE], residual_done;

    WpDevBox *host_boxes;
    LithoCudaArray boxes, u;             // descriptors; the fine grid's half spectrum
    LithoCudaArray points, first_step, rounds, active, slot, sums;
    LithoCudaArray scale[3];             // 1/p_a
    LithoCudaArray residual, residual_weight;
    LithoCudaArray work[WP_STREAMS];     // shared by the FFTs of a stream
    LithoCudaArray small;                // levels, bins, partial sums
    LithoCudaArray mask;                 // live traces or weights per trace
    LithoCudaArray taper[3];
    LithoCudaArray table, dense;         // the papers' adjoint only
    LithoCudaArray foreign;              // what came from another card, or is to be fetched together
    int n_active;                        // tiles with points
    gint64 n_steps;                      // of 32 points, idle lanes included
} WpCuda;

// wp_cuda.c: on run->device; counted modulo the devices there are.
WpEngine *wp_engine_cuda(const WpGeometry *geometry, int form, const LithoRun *run, GError **error);
// wp_multi.c: boxes spread over `devices` from run->device on.
WpEngine *wp_engine_multi(const WpGeometry *geometry, int form, int devices, LithoRun *run,
                          GError **error);
// wp_cuda_plan.c: fills the device's side of the plan.
gboolean wp_cuda_make_plan(WpCuda *cuda, GError **error);
void wp_cuda_free_plan(WpCuda *cuda);
gboolean wp_cuda_send(WpCuda *cuda, LithoCudaArray *array, const void *from, size_t bytes,
                      GError **error);
// wp_cuda_arrays.c
extern const WpEngineClass wp_cuda_arrays;
