// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/noise_traces.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "kernels/common/select.h"

enum {
    PIECE = 32, // samples
    BINS = PIECE / 2 + 1,
    PIECES = 6, // of a trace, at most
    BANDS = 8,  // of two frequencies each, the lowest left out
    CELLS = PIECES * BANDS,
    FEWEST = 64,    // traces
    ENOUGH = 4096,  // of which a quarter tells a median
    LINES = 16,     // fetched from a device at once
    ZEROS = 4,      // of a piece, at most: there is no noise in a mute
    LEAST_PART = 4, // of the cells are taken, at least
};

// A power stands as 1 + PER_OCTAVE (log2(power) + OCTAVES); 0: it is not known.
enum { PER_OCTAVE = 16, OCTAVES = 110, CODES = 2 * PER_OCTAVE * OCTAVES + 2 };

// Power of a trace less its neighbours' mean over its own: 1 of noise, less of events. ALONE: there
// is hardly more than noise. SOME: where no better pieces are found.
static const double ALONE = 0.7, SOME = 0.5;

#define WHAT N_("the noise of traces")

struct NoiseTraces {
    LithoGrid grid;
    int pieces;
    gint64 every;  // own powers are of one trace of so many along both axes
    guint16 *code; // [trace][CELLS], of the power less the neighbours'
    guint8 *taken; // [trace]
    gint32 *own;   // [CELLS][CODES]: traces by their own power
    float taper[PIECE];
    fftwf_plan plan;
};

// A thread's transform.
typedef struct Scratch {
    float *in;
    fftwf_complex *out;
} Scratch;

// A box of the survey in host memory, and which of its traces were recorded.
typedef struct Held {
    const LithoCube *cube;  // on the host
    const LithoCube *of;    // the part, which `recorded` is of
    const guint8 *recorded; // NULL = all that are live
    LithoBox within;
} Held;

void noise_traces_free(NoiseTraces *t)
{
    if (!t)
        return;
    if (t->plan)
        fftwf_destroy_plan(t->plan);
    g_free(t->code);
    g_free(t->taken);
    g_free(t->own);
    g_free(t);
}

NoiseTraces *noise_traces_new(const LithoGrid *grid, GError **error)
{
    const gint64 traces = litho_grid_traces(grid), n = grid->axis[2].n;
    if (traces < FEWEST || n < PIECE)
        return NULL;
    NoiseTraces *t = g_new0(NoiseTraces, 1);
    t->grid = *grid;
    t->pieces = (int)MIN(n / PIECE, PIECES);
    t->every = traces < ENOUGH ? 1 : 2;
    t->code = litho_memory_new(traces * CELLS, sizeof *t->code, WHAT, error);
    t->taken = t->code ? litho_memory_new(traces, 1, WHAT, error) : NULL;
    t->own = t->taken ? litho_memory_new(CELLS * CODES, sizeof *t->own, WHAT, error) : NULL;
    if (!t->own) {
        noise_traces_free(t);
        return NULL;
    }
    for (int k = 0; k < PIECE; k++)
        t->taper[k] = (float)sin(G_PI * (k + 0.5) / PIECE);
    float *in = fftwf_alloc_real(PIECE);
    fftwf_complex *out = fftwf_alloc_complex(BINS);
    t->plan = fftwf_plan_dft_r2c_1d(PIECE, in, out, FFTW_ESTIMATE);
    fftwf_free(in);
    fftwf_free(out);
    return t;
}

guint64 noise_traces_bytes(const LithoGrid *grid)
{
    return (guint64)litho_grid_traces(grid) * (CELLS * sizeof(guint16) + 1 + 2 * sizeof(float)) +
           (guint64)(CELLS + 1) * CODES * sizeof(gint32);
}

static gboolean was_recorded(const Held *h, gint64 i, gint64 j)
{
    return litho_cube_is_live(h->of, i, j) &&
           (!h->recorded || h->recorded[litho_cube_trace_index(h->of, i, j)]);
}

// Neighbours to at[]: those on both sides along an axis where both were recorded, for one alone
// leaves much of dipping events. -1: one is not at hand.
static int neighbours(const NoiseTraces *t, const Held *h, gint64 i, gint64 j, gint64 at[4][2])
{
    int n = 0;
    for (int axis = 0; axis < 2; axis++) {
        const gint64 here = axis == 0 ? i : j;
        if (here == 0 || here == t->grid.axis[axis].n - 1)
            continue;
        if (here - 1 < h->within.lo[axis] || here + 1 >= h->within.hi[axis])
            return -1;
        gint64 beside[2][2] = {{i, j}, {i, j}};
        beside[0][axis]--;
        beside[1][axis]++;
        if (!was_recorded(h, beside[0][0], beside[0][1]) ||
            !was_recorded(h, beside[1][0], beside[1][1]))
            continue;
        memcpy(at[n], beside, sizeof beside);
        n += 2;
    }
    return n;
}

static int code_of(double power)
{
    if (!(power > 0) || !isfinite(power))
        return 0;
    const double octave = CLAMP(log2(power), -OCTAVES, OCTAVES);
    return 1 + (int)lrint(PER_OCTAVE * (octave + OCTAVES));
}

// Codes of the bands of what stands in s->in, whose power is divided by `by`.
static void bands_of(const NoiseTraces *t, const Scratch *s, double by, int code[BANDS])
{
    for (int k = 0; k < PIECE; k++)
        s->in[k] *= t->taper[k];
    fftwf_execute_dft_r2c(t->plan, s->in, s->out);
    for (int b = 0; b < BANDS; b++) {
        double sum = 0;
        for (int f = 2 * b + 1; f <= 2 * b + 2; f++) {
            const double re = crealf(s->out[f]), im = cimagf(s->out[f]);
            sum += (re * re + im * im) * (f == BINS - 1 ? 2 : 1);
        }
        code[b] = code_of(sum / by);
    }
}

// FALSE: muted, or no numbers.
static gboolean has_samples(const float *trace)
{
    int zeros = 0, finite = 0;
    for (int k = 0; k < PIECE; k++) {
        zeros += trace[k] == 0;
        finite += fabsf(trace[k]) <= G_MAXFLOAT;
    }
    return zeros <= ZEROS && finite == PIECE;
}

// One piece of the trace at (i, j), from sample `from` on.
static void take_piece(NoiseTraces *t, const Held *h, gint64 i, gint64 j, int piece, int n,
                       gint64 at[4][2], const Scratch *s)
{
    const gint64 from =
        (t->grid.axis[2].n - PIECE) * (2 * piece + 1) / (2 * t->pieces) - h->cube->held.lo[2];
    const float *own = litho_cube_trace(h->cube, i, j) + from;
    int code[BANDS];
    if (!has_samples(own))
        return;
    if (i % t->every == 0 && j % t->every == 0) {
        memcpy(s->in, own, PIECE * sizeof *own);
        bands_of(t, s, 1, code);
        for (int b = 0; b < BANDS; b++)
#pragma omp atomic
            t->own[(gsize)(piece * BANDS + b) * CODES + code[b]]++;
    }
    memcpy(s->in, own, PIECE * sizeof *own);
    for (int k = 0; k < n; k++) {
        const float *beside = litho_cube_trace(h->cube, at[k][0], at[k][1]) + from;
        for (int x = 0; x < PIECE; x++)
            s->in[x] -= beside[x] / (float)n;
    }
    bands_of(t, s, 1 + 1.0 / n, code);
    guint16 *to = t->code + (gsize)(i * t->grid.axis[1].n + j) * CELLS + piece * BANDS;
    for (int b = 0; b < BANDS; b++)
        to[b] = (guint16)code[b];
}

// Traces of lines [from, to).
static void take_lines(NoiseTraces *t, const Held *h, gint64 from, gint64 to, const LithoRun *run)
{
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        const Scratch s = {fftwf_alloc_real(PIECE), fftwf_alloc_complex(BINS)};
#pragma omp for schedule(dynamic)
        for (gint64 i = from; i < to; i++) {
            for (gint64 j = h->within.lo[1]; j < h->within.hi[1]; j++) {
                guint8 *taken = t->taken + i * t->grid.axis[1].n + j;
                gint64 at[4][2];
                const int n = *taken ? -1 : neighbours(t, h, i, j, at);
                if (n < 0 || !litho_run_checkpoint(run))
                    continue;
                *taken = 1;
                for (int p = 0; n > 0 && was_recorded(h, i, j) && p < t->pieces; p++)
                    take_piece(t, h, i, j, p, n, at, &s);
            }
        }
        fftwf_free(s.in);
        fftwf_free(s.out);
    }
}

gboolean noise_traces_add(NoiseTraces *t, const LithoCube *part, const guint8 *recorded,
                          LithoBox within, LithoRun *run, GError **error)
{
    Held h = {part, part, recorded, within};
    if (part->samples) {
        take_lines(t, &h, within.lo[0], within.hi[0], run);
        return litho_run_checkpoint(run) || litho_run_stopped(error);
    }
    for (gint64 i = within.lo[0]; i < within.hi[0]; i += LINES) {
        LithoBox box = within;
        box.lo[0] = MAX(i - 1, within.lo[0]);
        box.hi[0] = MIN(i + LINES + 1, within.hi[0]);
        g_autoptr(LithoCube) lines = litho_cube_fetch_traces(part, box, error);
        if (!lines)
            return FALSE;
        h.cube = lines;
        take_lines(t, &h, i, MIN(i + LINES, within.hi[0]), run);
        if (!litho_run_checkpoint(run))
            return litho_run_stopped(error);
    }
    return TRUE;
}

// The code that half of the traces do not exceed; 0: hardly one is known.
static int median_of(const gint32 *traces)
{
    gint64 all = 0, below = 0;
    for (int c = 1; c < CODES; c++)
        all += traces[c];
    for (int c = 1; c < CODES && all >= FEWEST; c++)
        if (2 * (below += traces[c]) >= all)
            return c;
    return 0;
}

// Medians over the traces to unit[cell]; 0: nothing is known. To part[cell] that over the median of
// the own powers.
static void find_medians(const NoiseTraces *t, int threads, int *unit, float *part)
{
    const gint64 traces = litho_grid_traces(&t->grid);
#pragma omp parallel num_threads(threads)
    {
        g_autofree gint32 *less = g_new(gint32, CODES);
#pragma omp for
        for (int c = 0; c < t->pieces * BANDS; c++) {
            memset(less, 0, CODES * sizeof *less);
            for (gint64 k = 0; k < traces; k++)
                less[t->code[k * CELLS + c]]++;
            const int own = median_of(t->own + (gsize)c * CODES);
            unit[c] = median_of(less);
            part[c] = unit[c] > 0 && own > 0 ? exp2f((float)(unit[c] - own) / PER_OCTAVE) : 0;
        }
    }
}

// The power of trace `k` over the survey's; 0: too little of it is known.
static float power_of(const NoiseTraces *t, gint64 k, const int *unit)
{
    float over[CELLS];
    int n = 0;
    for (int c = 0; c < t->pieces * BANDS; c++)
        if (unit[c] > 0 && t->code[k * CELLS + c] > 0)
            over[n++] = (float)(t->code[k * CELLS + c] - unit[c]) / PER_OCTAVE;
    const gboolean enough = n >= t->pieces * BANDS / (2 * LEAST_PART);
    return enough ? exp2f(litho_select_kth(over, n, n / 2)) : 0;
}

float *noise_traces_powers(const NoiseTraces *t, int threads, GError **error)
{
    const gint64 traces = litho_grid_traces(&t->grid);
    const int cells = t->pieces * BANDS;
    int unit[CELLS] = {0};
    float part[CELLS], sorted[CELLS];
    find_medians(t, threads, unit, part);
    memcpy(sorted, part, cells * sizeof *part);
    const double best = litho_select_kth(sorted, cells, cells - 1 - cells / LEAST_PART);
    if (best < SOME)
        return NULL;
    for (int c = 0; c < cells; c++)
        if (part[c] < MIN(ALONE, best))
            unit[c] = 0;
    float *power = litho_memory_new(traces, sizeof *power, WHAT, error);
    gint64 known = 0;
    if (!power)
        return NULL;
#pragma omp parallel for num_threads(threads) reduction(+ : known)
    for (gint64 k = 0; k < traces; k++) {
        power[k] = power_of(t, k, unit);
        known += power[k] > 0;
    }
    if (known < FEWEST)
        g_clear_pointer(&power, g_free);
    return power;
}
