// SPDX-License-Identifier: GPL-3.0-or-later
//
// Samples into spectra and back: rules 1, 2 and 5 of geometry.h on a device.
#include <math.h>

#include "kernels/fx/cuda/fx.h"

// Time windows of a launch, which a card counts in 16 bits.
enum { MOST_WINDOWS = 65535 };

// --- forward -------------------------------------------------------------------------------------

// Transform of the input's arrived traces while the rest is on its way.
typedef struct Forward {
    FxJob *job;
    int windows; // of time
    gint64 done; // traces
} Forward;

// The first `n` transforms of a batch through cuFFT, which plans none of one sample: that is its
// own spectrum.
static gboolean to_frequencies(const FxPlan *p, gint64 n, GError **error)
{
    if (p->nfft == 1)
        return LITHO_CUDA(cudaMemcpy2DAsync(p->transformed.data, sizeof(LithoFxComplex),
                                            p->padded.data, sizeof(float), sizeof(float), n,
                                            cudaMemcpyDeviceToDevice,
                                            litho_cuda_stream(p->context)),
                          error);
    return LITHO_CUFFT(cufftExecR2C(p->forward, p->padded.data, p->transformed.data), error);
}

static gboolean to_samples(const FxPlan *p, LithoFxComplex *from, gint64 n, GError **error)
{
    if (p->nfft == 1)
        return LITHO_CUDA(cudaMemcpy2DAsync(p->padded.data, sizeof(float), from, sizeof *from,
                                            sizeof(float), n, cudaMemcpyDeviceToDevice,
                                            litho_cuda_stream(p->context)),
                          error);
    return LITHO_CUFFT(cufftExecC2R(p->inverse, (cufftComplex *)from, p->padded.data), error);
}

// Traces of the frame, time windows [k, k + frame->windows).
static gboolean forward_batch(const FxPlan *p, const LithoFxFrame *frame, int k, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    guchar *present = (guchar *)p->present.data + k * frame->traces;
    int *absent = (int *)p->absent.data + k;
    LithoFxComplex *spectra =
        (LithoFxComplex *)p->spectra.data + (gint64)k * p->bins * frame->traces;
    if (p->own)
        return LITHO_CUDA(
            litho_fx_forward(frame, p->bin, p->bins, spectra, present, absent, stream), error);
    return LITHO_CUDA(litho_fx_pad(frame, p->padded.data, present, absent, stream), error) &&
           (p->bins == 0 || (to_frequencies(p, (gint64)frame->windows * frame->count, error) &&
                             LITHO_CUDA(litho_fx_transpose(frame, p->transformed.data, p->bin,
                                                           p->bins, spectra, stream),
                                        error)));
}

static gboolean forward_frame(const Forward *f, LithoFxFrame *frame, GError **error)
{
    const FxPlan *p = f->job->p;
    const int most = p->own ? MOST_WINDOWS : MIN(p->batch, MOST_WINDOWS);
    for (int k = 0; k < f->windows; k += frame->windows) {
        frame->windows = MIN(most, f->windows - k);
        frame->start = (const int *)p->starts.data + k;
        if (!forward_batch(p, frame, k, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean arrived(const float *samples, gint64 ready, gpointer data, GError **error)
{
    Forward *f = data;
    FxJob *job = f->job;
    FxPlan *p = job->p;
    LithoFxFrame frame = {
        .in = samples,
        .live = p->live.data,
        .traces = fx_held_traces(job),
        .samples = job->in_samples,
        .length = job->g.axis[2].length,
        .nfft = p->nfft,
    };
    const gint64 whole = ready / job->in_samples;
    const gint64 step = p->own ? 1 << 24 : MAX(p->batch / f->windows, 1);
    job->in = samples;
    for (; f->done < whole; f->done += frame.count) {
        frame.first = f->done;
        frame.count = (int)MIN(step, whole - f->done);
        if (!forward_frame(f, &frame, error))
            return FALSE;
    }
    return TRUE;
}

static guint64 window_bytes(const FxJob *job)
{
    return (guint64)fx_held_traces(job) * (8 * job->g.bins + 1);
}

// Half of the room: the rest is for the filter.
int fx_windows_at_once(const FxJob *job)
{
    return (int)CLAMP(job->room / 2 / MAX(window_bytes(job), 1), 1, G_MAXINT / 2);
}

// Chooses the time windows kept: all that the input holds when there is room, else the part's.
static void choose_kept(FxJob *job)
{
    FxPlan *p = job->p;
    const LithoFxAxis axis = job->g.axis[2];
    const LithoBox held = job->pass->in->held;
    p->first = job->first;
    p->last = job->last;
    while (p->first > 0 && litho_fx_start(axis, p->first - 1) >= held.lo[2])
        p->first--;
    while (p->last < axis.count - 1 &&
           litho_fx_start(axis, p->last + 1) + axis.length <= held.hi[2])
        p->last++;
    if (p->last - p->first + 1 > fx_windows_at_once(job)) {
        p->first = job->first;
        p->last = job->last;
    }
}

static gboolean forward_memory(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    const gint64 traces = fx_held_traces(job);
    const int windows = p->last - p->first + 1;
    cudaStream_t stream = litho_cuda_stream(p->context);
    g_autofree int *starts = g_new(int, windows);
    for (int k = 0; k < windows; k++)
        starts[k] = litho_fx_start(job->g.axis[2], p->first + k) - job->in_t0;
    return litho_cuda_put(p->context, &p->live, job->pass->in->live, traces, error) &&
           litho_cuda_put(p->context, &p->starts, starts, windows * sizeof(int), error) &&
           litho_cuda_reserve(p->context, &p->absent, windows * sizeof(int), error) &&
           litho_cuda_reserve(p->context, &p->present, windows * traces, error) &&
           litho_cuda_reserve(p->context, &p->spectra, (gsize)windows * p->bins * traces * 8,
                              error) &&
           LITHO_CUDA(cudaMemsetAsync(p->absent.data, 0, windows * sizeof(int), stream), error);
}

// The map of absent traces comes to the host only when there are any.
static gboolean fetch_present(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    const int windows = p->last - p->first + 1;
    const gsize traces = fx_held_traces(job);
    cudaStream_t stream = litho_cuda_stream(p->context);
    g_clear_pointer(&p->host_present, g_free);
    p->host_absent = g_renew(int, p->host_absent, windows);
    if (!LITHO_CUDA(cudaMemcpyAsync(p->host_absent, p->absent.data, windows * sizeof(int),
                                    cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    int absent = 0;
    for (int k = 0; k < windows; k++)
        absent |= p->host_absent[k];
    if (!absent)
        return TRUE;
    p->host_present = g_malloc(windows * traces);
    return LITHO_CUDA(cudaMemcpyAsync(p->host_present, p->present.data, windows * traces,
                                      cudaMemcpyDeviceToHost, stream),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

gboolean fx_forward(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    const LithoCube *in = job->pass->in;
    if (p->serial == in->serial && job->pass->first_stage > LITHO_FX_STAGE_FFT &&
        p->bin == job->g.bin && p->bins == job->g.bins && litho_box_equal(p->held, in->held) &&
        p->first <= job->first && p->last >= job->last) {
        job->in = litho_cuda_input(p->context, in, job->run, error);
        return job->in != NULL;
    }
    p->serial = 0;
    p->bin = job->g.bin;
    p->bins = job->g.bins;
    choose_kept(job);
    if (!forward_memory(job, error))
        return FALSE;
    Forward f = {.job = job, .windows = p->last - p->first + 1};
    const double traces = (double)fx_held_traces(job), units = traces * f.windows;
    litho_run_begin(job->run, "time FFT", "traces");
    // Bytes: every sample once, every bin of the band once.
    litho_cuda_mark(p->context, "time FFT", LITHO_STAGE_COMPUTE,
                    4.0 * traces * job->in_samples + 8.0 * units * p->bins,
                    2.5 * units * p->nfft * log2(MAX(p->nfft, 2)));
    if (!litho_cuda_input_pieces(p->context, in, arrived, &f, job->run, error))
        return FALSE;
    litho_cuda_mark_end(p->context);
    if (!fetch_present(job, error) || !litho_cuda_step(p->context, job->run, 1, 1, error))
        return FALSE;
    p->held = in->held;
    p->serial = in->serial;
    return TRUE;
}

// --- inverse -------------------------------------------------------------------------------------

LithoFxBack fx_back(const FxJob *job, int k, int bin, int bins)
{
    const FxPlan *p = job->p;
    const LithoBox out = job->pass->out->held;
    return (LithoFxBack){
        .il = job->g.axis[0],
        .xl = job->g.axis[1],
        .time = job->g.axis[2],
        .w_il0 = job->windows.il0,
        .w_xl0 = job->windows.xl0,
        .w_nxl = job->windows.xl1 - job->windows.xl0,
        .il0 = (int)job->region.lo[0],
        .xl0 = (int)job->region.lo[1],
        .n_il = (int)litho_box_size(job->region, 0),
        .n_xl = (int)litho_box_size(job->region, 1),
        .t0 = (int)job->region.lo[2],
        .samples = (int)litho_box_size(job->region, 2),
        .out_held = {(int)out.lo[0], (int)out.lo[1], (int)litho_box_size(out, 0),
                     (int)litho_box_size(out, 1)},
        .out_t0 = (int)out.lo[2],
        .out_samples = (int)litho_box_size(out, 2),
        .out = p->filtered.data,
        .out_pitch = fx_out_pitch(job),
        .out_bins = bins,
        .bins = bins,
        .bin_first = p->bin + bin,
        .nfft = p->nfft,
        .in = job->in,
        .in_held = job->held,
        .in_t0 = job->in_t0,
        .in_samples = job->in_samples,
        .present =
            (const guchar *)p->present.data + (job->first + k - p->first) * fx_held_traces(job),
        .window = job->first + k,
        .windows = 1,
        .weights =
            (const float *)p->weights.data + (gint64)(job->first + k) * job->g.axis[2].length,
        .mute = job->params->outband == LITHO_FX_MUTE,
        .fill_dead = job->params->fill_dead,
        .clear = bin == 0,
    };
}

static void mark_inverse(FxJob *job, int windows)
{
    const FxPlan *p = job->p;
    const double traces = (double)fx_region_traces(job);
    const double overlap = (double)fx_windows(job) * fx_out_pitch(job);
    litho_cuda_mark(p->context, "inverse", LITHO_STAGE_COMPUTE,
                    windows * (8.0 * overlap * p->bins + 8.0 * traces * job->g.axis[2].stride),
                    windows * 2.5 * traces * p->nfft * log2(MAX(p->nfft, 2)));
}

gsize fx_blended_bytes(const FxPlan *p, gint64 traces)
{
    // cuFFT's batches are always whole.
    const gint64 held = p->own ? traces : (traces + p->batch - 1) / p->batch * p->batch;
    return (gsize)held * (p->nfft / 2 + 1) * sizeof(LithoFxComplex);
}

gboolean fx_blends_itself(const FxJob *job, int bins)
{
    return job->p->own && bins == job->p->bins && litho_fx_can_blend(job->g.axis[0]) &&
           litho_fx_can_blend(job->g.axis[1]);
}

// Blended spectra of back->count traces to time. They are zero where no frequency lies in the band.
static gboolean inverse_batch(const FxJob *job, const LithoFxBack *back, GError **error)
{
    const FxPlan *p = job->p;
    LithoFxComplex *from = (LithoFxComplex *)p->blended.data + back->first * (p->nfft / 2 + 1);
    return to_samples(p, from, back->count, error) &&
           LITHO_CUDA(
               litho_fx_blend_time(back, p->padded.data, job->out, litho_cuda_stream(p->context)),
               error);
}

// Time windows k to k + n - 1, all bins of which lie in `filtered` side by side, back to time.
// For lengths that fx_blends_itself() knows.
gboolean fx_inverse_all(FxJob *job, int k, int n, GError **error)
{
    FxPlan *p = job->p;
    LithoFxBack back = fx_back(job, k, 0, p->bins);
    back.windows = n;
    back.out_bins = n * p->bins;
    const gint64 traces = fx_region_traces(job), step = 1 << 24;
    mark_inverse(job, n);
    for (; back.first < traces; back.first += step) {
        back.count = (int)MIN(step, traces - back.first);
        if (!LITHO_CUDA(litho_fx_inverse(&back, NULL, job->out, litho_cuda_stream(p->context)),
                        error))
            return FALSE;
    }
    return TRUE;
}

// Blends a chunk of bins; after the last one, back to time.
gboolean fx_inverse(FxJob *job, int k, int bin, int bins, GError **error)
{
    FxPlan *p = job->p;
    if (fx_blends_itself(job, bins))
        return fx_inverse_all(job, k, 1, error);
    cudaStream_t stream = litho_cuda_stream(p->context);
    const gint64 traces = fx_region_traces(job), step = p->own ? 1 << 24 : p->batch;
    const gboolean last = bin + bins >= p->bins;
    LithoFxBack back = fx_back(job, k, bin, bins);
    if (last)
        mark_inverse(job, 1);
    for (gint64 first = 0; first < traces; first += step) {
        back.first = first;
        back.count = (int)MIN(step, traces - first);
        if (!LITHO_CUDA(litho_fx_blend_bins(&back, p->blended.data, stream), error))
            return FALSE;
        if (last && p->own) {
            LithoFxBack all = back;
            all.bin_first = p->bin;
            all.bins = p->bins;
            if (!LITHO_CUDA(litho_fx_inverse(&all, p->blended.data, job->out, stream), error))
                return FALSE;
        } else if (last && !inverse_batch(job, &back, error)) {
            return FALSE;
        }
    }
    return TRUE;
}
