// SPDX-License-Identifier: GPL-3.0-or-later
//
// Between samples and spectra: the transforms of the time windows, and back with the blending.
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fx/cpu/plan.h"

int fx_go_on(void *data)
{
    FxLoop *loop = data;
    if (g_atomic_int_get(&loop->stop))
        return 0;
    const gint64 done = __atomic_load_n(&loop->done, __ATOMIC_RELAXED);
    if (omp_get_thread_num() == 0 ? !litho_run_step(loop->run, done, loop->n, loop->error)
                                  : !litho_run_checkpoint(loop->run))
        g_atomic_int_set(&loop->stop, 1);
    return !g_atomic_int_get(&loop->stop);
}

// One trace of one time window: TRUE when it is present there. Its samples are copied either way.
static gboolean copy_window(const float *from, int n, int nfft, float *to)
{
    guint32 any = 0, broken = 0;
    for (int t = 0; t < n; t++) {
        guint32 bits;
        memcpy(&bits, &from[t], sizeof bits);
        any |= bits & 0x7fffffff;
        broken |= (bits & 0x7f800000) == 0x7f800000; // infinite or not a number
        to[t] = from[t];
    }
    memset(to + n, 0, (nfft - n) * sizeof *to);
    return any != 0 && !broken;
}

// Bins of the band into batches; `to` is the trace in the first batch, `pitch` floats to the next.
static void store_bins(const FxWork *w, const fftwf_complex *from, float *to, gsize pitch)
{
    for (int first = 0; first < w->g.bins; first += w->lanes, to += pitch) {
        const int n = MIN(w->lanes, w->g.bins - first);
        memset(to, 0, sizeof(float) * fx_cell(w));
        for (int l = 0; l < n; l++) {
            to[l] = from[first + l][0];
            to[w->lanes + l] = from[first + l][1];
        }
    }
}

static int fft_row(const FxPart *part, FxLoop *loop, FxThread *thread, int k, int il)
{
    FxWork *w = part->work;
    const LithoCube *in = part->pass->in;
    const int length = w->g.axis[2].length, start = litho_fx_start(w->g.axis[2], k);
    const gsize traces = fx_area(w->held);
    int done = 0;
    for (int xl = part->traces.xl0; xl < part->traces.xl1; xl++) {
        if (xl % FX_RUN == 0 && !fx_go_on(loop))
            break;
        gsize trace = (gsize)(il - w->held.il0) * fx_width(w->held) + xl - w->held.xl0;
        guint8 *known = &w->known[k * traces + trace];
        if (*known)
            continue;
        const float *from = litho_cube_trace(in, il, xl) + (start - in->held.lo[2]);
        gboolean present =
            copy_window(from, length, w->g.nfft, thread->trace) && litho_cube_is_live(in, il, xl);
        if (present)
            fftwf_execute_dft_r2c(part->plan->forward, thread->trace, thread->spectrum);
        else
            memset(thread->spectrum, 0, (w->g.nfft / 2 + 1) * sizeof *thread->spectrum);
        store_bins(w, thread->spectrum + w->g.bin, w->spectra[k] + trace * fx_cell(w),
                   traces * fx_cell(w));
        w->present[k * traces + trace] = present;
        *known = 1;
        done++;
    }
    return done;
}

static gboolean get_memory(FxPart *part, GError **error)
{
    FxWork *w = part->work;
    for (int k = part->first; k <= part->last; k++)
        if (!w->spectra[k]) {
            w->spectra[k] =
                fx_alloc(sizeof(float) * fx_cell(w) * fx_area(w->held) * w->batches, error);
            if (!w->spectra[k])
                return FALSE;
        }
    return TRUE;
}

static void time_transforms(FxPart *part, const char *stage, double start_ms, gint64 transforms)
{
    const LithoFxGeometry *g = &part->work->g;
    double n = g->nfft;
    litho_run_time(part->run, stage, LITHO_STAGE_COMPUTE, litho_now_ms() - start_ms,
                   transforms * (4.0 * g->axis[2].length + 8.0 * g->bins),
                   transforms * 2.5 * n * log2(MAX(n, 2)));
}

gboolean fx_stage_fft(FxPart *part, GError **error)
{
    const int rows = part->traces.il1 - part->traces.il0;
    const gint64 tasks = (gint64)(part->last - part->first + 1) * rows;
    double start = litho_now_ms();
    gint64 transforms = 0;
    FxLoop loop = {.run = part->run, .n = tasks, .error = error};
    if (!get_memory(part, error))
        return FALSE;
    litho_run_begin(part->run, "time FFT", "lines");
#pragma omp parallel for schedule(dynamic) num_threads(part->n_threads) reduction(+ : transforms)
    for (gint64 task = 0; task < tasks; task++)
        if (fx_go_on(&loop)) {
            transforms +=
                fft_row(part, &loop, &part->plan->threads[omp_get_thread_num()],
                        part->first + (int)(task / rows), part->traces.il0 + (int)(task % rows));
            __atomic_add_fetch(&loop.done, 1, __ATOMIC_RELAXED);
        }
    if (transforms > 0)
        time_transforms(part, "time FFT", start, transforms);
    return fx_go_on(&loop) || litho_run_stopped(error);
}

// --- back ----------------------------------------------------------------------------------------

// Spectra of n neighbouring traces, blended over the spatial windows in ascending order, into
// thread->sum: [trace][batch].
static void blend_run(const FxWork *w, FxThread *thread, int k, int il, int xl, int n)
{
    const LithoFxAxis *a = w->g.axis;
    const gsize cell = fx_cell(w), pitch = cell * a[0].length * a[1].length;
    memset(thread->sum, 0, sizeof(float) * cell * w->batches * n);
    for (int i = litho_fx_first(a[0], il); i <= litho_fx_last(a[0], il); i++)
        for (int j = litho_fx_first(a[1], xl); j <= litho_fx_last(a[1], xl + n - 1); j++) {
            const int start = litho_fx_start(a[1], j);
            const int lo = MAX(xl, start), hi = MIN(xl + n, start + a[1].length);
            float weight[FX_RUN];
            for (int x = lo; x < hi; x++)
                weight[x - xl] = litho_fx_weight(a[0], i, il) * litho_fx_weight(a[1], j, x);
            const float *from = w->filtered[fx_unit(&w->g, k, i, j)] +
                                cell * (il - litho_fx_start(a[0], i)) * a[1].length;
            for (int b = 0; b < w->batches; b++, from += pitch)
                for (int x = lo; x < hi; x++) {
                    float *sum = thread->sum + cell * ((gsize)(x - xl) * w->batches + b);
                    const float *value = from + cell * (x - start);
                    for (gsize l = 0; l < cell; l++)
                        sum[l] += weight[x - xl] * value[l];
                }
        }
}

// Blended lanes of one trace into the half spectrum.
static void spread_bins(const FxWork *w, FxThread *thread, const float *sum)
{
    memset(thread->spectrum, 0, (w->g.nfft / 2 + 1) * sizeof *thread->spectrum);
    fftwf_complex *out = thread->spectrum + w->g.bin;
    for (int first = 0; first < w->g.bins; first += w->lanes, sum += fx_cell(w))
        for (int l = 0; l < MIN(w->lanes, w->g.bins - first); l++) {
            out[first + l][0] = sum[l];
            out[first + l][1] = sum[w->lanes + l];
        }
    thread->spectrum[0][1] = 0; // zero frequency and Nyquist: the real part
    if (w->g.nfft % 2 == 0)
        thread->spectrum[w->g.nfft / 2][1] = 0;
}

static gboolean is_present(const FxWork *w, int k, int il, int xl)
{
    gsize trace = (gsize)(il - w->held.il0) * fx_width(w->held) + xl - w->held.xl0;
    return w->present[(gsize)k * fx_area(w->held) + trace];
}

// Samples of a trace that is missing in the input, or alone there, stay as they are.
static gboolean stays(const FxPart *part, int il, int xl)
{
    const guint8 *alone = part->plan->alone;
    return litho_cube_is_live(part->raw, il, xl)
               ? alone && alone[litho_cube_trace_index(part->raw, il, xl)]
               : !part->params->fill_dead;
}

// Adds the share of time window k to one output trace, which starts as the input.
static void add_window(const FxPart *part, FxThread *thread, int k, int il, int xl,
                       const float *sum)
{
    const FxWork *w = part->work;
    const LithoFxAxis axis = w->g.axis[2];
    const LithoCube *in = part->pass->in, *out = part->pass->out;
    const int start = litho_fx_start(axis, k);
    const int lo = MAX((int)part->region.lo[2], start);
    const int hi = MIN((int)part->region.hi[2], start + axis.length);
    const gboolean present = is_present(w, k, il, xl);
    if (stays(part, il, xl) || (!present && !part->params->fill_dead))
        return;
    spread_bins(w, thread, sum);
    fftwf_execute_dft_c2r(part->plan->inverse, thread->spectrum, thread->trace);
    const gboolean whole = !present || part->params->outband == LITHO_FX_MUTE;
    const float scale = 1.0f / w->g.nfft, *weight = w->weights + (gsize)k * axis.length - start;
    const float *from = litho_cube_trace(in, il, xl) - in->held.lo[2];
    float *to = litho_cube_trace(out, il, xl) - out->held.lo[2];
    for (int t = lo; t < hi; t++) {
        float old = whole && isfinite(from[t]) ? from[t] : 0;
        to[t] += weight[t] * (thread->trace[t - start] * scale - old);
    }
}

// Samples that stay as they are; filled traces start from what is finite.
static void copy_input(const FxPart *part, int il, int xl)
{
    const LithoCube *in = stays(part, il, xl) ? part->raw : part->pass->in, *out = part->pass->out;
    const float *from = litho_cube_trace(in, il, xl) - in->held.lo[2];
    float *to = litho_cube_trace(out, il, xl) - out->held.lo[2];
    for (gint64 t = part->region.lo[2]; t < part->region.hi[2]; t++)
        to[t] = !part->params->fill_dead || isfinite(from[t]) ? from[t] : 0;
}

// A trace that was missing counts as recorded once something was predicted for it.
static void mark_filled(const FxPart *part, int il, int xl)
{
    const LithoCube *out = part->pass->out;
    guint8 *live = &out->live[litho_cube_trace_index(out, il, xl)];
    const float *to = litho_cube_trace(out, il, xl) - out->held.lo[2];
    for (gint64 t = part->region.lo[2]; t < part->region.hi[2] && !*live; t++)
        *live = to[t] != 0;
}

static int inverse_row(const FxPart *part, FxLoop *loop, FxThread *thread, int il)
{
    int done = 0;
    for (int xl = (int)part->region.lo[1]; xl < part->region.hi[1] && fx_go_on(loop);
         xl += FX_RUN) {
        const int n = MIN(FX_RUN, (int)part->region.hi[1] - xl);
        for (int x = xl; part->fresh && x < xl + n; x++)
            copy_input(part, il, x);
        for (int k = part->first; k <= part->last && fx_go_on(loop); k++, done += n) {
            blend_run(part->work, thread, k, il, xl, n);
            for (int x = xl; x < xl + n; x++)
                add_window(part, thread, k, il, x,
                           thread->sum + fx_cell(part->work) * part->work->batches * (x - xl));
        }
        for (int x = xl; part->params->fill_dead && x < xl + n; x++)
            mark_filled(part, il, x);
    }
    return done;
}

gboolean fx_stage_inverse(FxPart *part, GError **error)
{
    const gint64 rows = litho_box_size(part->region, 0);
    double start = litho_now_ms();
    gint64 transforms = 0;
    FxLoop loop = {.run = part->run, .n = rows, .error = error};
    litho_run_begin(part->run, "inverse", "lines");
#pragma omp parallel for schedule(dynamic) num_threads(part->n_threads) reduction(+ : transforms)
    for (gint64 row = 0; row < rows; row++)
        if (fx_go_on(&loop)) {
            transforms += inverse_row(part, &loop, &part->plan->threads[omp_get_thread_num()],
                                      (int)(part->region.lo[0] + row));
            __atomic_add_fetch(&loop.done, 1, __ATOMIC_RELAXED);
        }
    time_transforms(part, "inverse", start, transforms);
    return fx_go_on(&loop) || litho_run_stopped(error);
}
