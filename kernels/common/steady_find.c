// SPDX-License-Identifier: GPL-3.0-or-later
//
// The search for steady noise: whether a survey has any, and at which frequencies.
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "core/sort.h"
#include "kernels/common/steady.h"

enum {
    TRIPLES = 340,
    MOST = 4 << 20, // samples of them
    PIECES = 8,     // of a trace
    FEWEST = 3,     // traces that tell
    NEAR = 6,
    FAR = 20 // bins of the padded spectrum that a peak is held against
};
#define TOLD_OFFSETS 0.04 // shares of the triples, and of the traces
#define TOLD_LINES 0.008
#define ONE_OF 100   // of the peaks at a line's frequency lasts along its trace, at least
#define STANDS_OUT 6 // times the mean power beside it
#define STEADY 30     // mean^2 over its own variance by the pieces: 5.5 standard deviations
#define STRAIGHT 0.9  // part of the pieces' scatter that a drift explains
#define SPARED 0.9    // of the energy of most traces
#define CYCLES 4      // fewer on a trace are swell, or a drift
#define ROUGH 0.25    // part of the means' scatter that is not smooth from trace to trace
#define ABOVE_SLOW 10 // times the energy of slow noise that offsets or drifts have over it
#define SAFE 2.5      // a line counts from so many times what the fit takes of events

// Whole traces spread over the survey, one triple of neighbours after the other.
typedef struct Sample {
    gint64 n;      // samples of a trace
    gint64 traces; // three times the triples, or single ones where the survey is no wider than two
    int group;     // 3 or 1
    float *x;      // [traces][n]; those that cannot be used are zero
    guint8 *good;  // [traces]
    double *mean;  // [traces]
} Sample;

static void sample_clear(Sample *s)
{
    g_free(s->x);
    g_free(s->good);
    g_free(s->mean);
}

// --- reading -------------------------------------------------------------------------------------

// A number below n that looks like chance.
static gint64 scatter(gint64 k, gint64 n)
{
    return n > 1 ? (gint64)(((guint64)k * 0x9e3779b97f4a7c15u >> 20) % (guint64)n) : 0;
}

// The box of group `k` of `count`: one of each of so many equal parts of the survey, so that no
// pattern of the traces is missed.
static LithoBox group_box(const LithoGrid *grid, const Sample *s, gint64 k, gint64 count)
{
    const int along = grid->axis[1].n >= s->group ? 1 : 0;
    const gint64 groups = grid->axis[along].n / s->group;
    const gint64 all = groups * grid->axis[1 - along].n;
    const gint64 from = all * k / count, to = all * (k + 1) / count;
    const gint64 at = from + scatter(k, to - from);
    LithoBox box = litho_box_full(grid);
    box.lo[1 - along] = at / groups;
    box.hi[1 - along] = box.lo[1 - along] + 1;
    box.lo[along] = at % groups * s->group;
    box.hi[along] = box.lo[along] + s->group;
    return box;
}

// Traces of the box, from sample `at` on; FALSE where one of them is dead, short or not finite.
static void take_traces(const LithoCube *part, LithoBox box, Sample *s, gint64 at)
{
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++, at++) {
            const float *x = litho_cube_trace(part, i, j) - part->held.lo[2];
            gint64 zeros = 0;
            gboolean good = litho_cube_is_live(part, i, j);
            double sum = 0;
            for (gint64 t = 0; t < s->n; t++) {
                good &= isfinite(x[t]);
                zeros += x[t] == 0;
                sum += x[t];
            }
            // A trace that is muted in part tells less of what lasts.
            if (!(good &= 4 * zeros < s->n))
                continue;
            memcpy(s->x + at * s->n, x, (gsize)s->n * sizeof *x);
            s->good[at] = TRUE;
            s->mean[at] = sum / (double)(s->n - zeros);
        }
}

static gboolean read_sample(const LithoReader *survey, LithoRun *run, Sample *s, GError **error)
{
    const LithoGrid *grid = survey->grid;
    s->n = grid->axis[2].n;
    s->group = MAX(grid->axis[0].n, grid->axis[1].n) >= 3 ? 3 : 1;
    const int along = grid->axis[1].n >= s->group ? 1 : 0;
    const gint64 all = grid->axis[along].n / s->group * grid->axis[1 - along].n;
    const gint64 count = CLAMP(MIN(all, MOST / (s->group * s->n)), 1, TRIPLES);
    s->traces = count * s->group;
    s->x = g_try_new0(float, s->traces * s->n);
    s->good = g_new0(guint8, s->traces);
    s->mean = g_new0(double, s->traces);
    if (!s->x)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for the search of steady noise");
    for (gint64 k = 0; k < count; k++) {
        const LithoBox box = group_box(grid, s, k, count);
        g_autoptr(LithoCube) part = survey->read(&box, run, survey->data, error);
        if (!part || !litho_cube_host(part, error) || !litho_run_step(run, k, count, error))
            return FALSE;
        take_traces(part, box, s, k * s->group);
    }
    return TRUE;
}

// --- offsets and drifts --------------------------------------------------------------------------

static double median_of(double *x, gsize n)
{
    qsort(x, n, sizeof *x, litho_compare_double);
    return n > 0 ? x[n / 2] : 0;
}

// The survey's mean; *scatter: of the traces' means, by their median; *stray: what most traces
// stray from theirs.
static double survey_mean(const Sample *s, double *scattered, double *stray, gint64 *live)
{
    g_autofree double *x = g_new(double, s->traces), *off = g_new(double, s->traces);
    gsize n = 0;
    for (gint64 k = 0; k < s->traces; k++) {
        double squares = 0;
        for (gint64 t = 0; s->good[k] && t < s->n; t++)
            squares += pow(s->x[k * s->n + t] - s->mean[k], 2);
        if (!s->good[k])
            continue;
        x[n] = s->mean[k];
        off[n++] = sqrt(squares / (double)s->n);
    }
    *stray = median_of(off, n);
    const double middle = median_of(x, n);
    for (gsize k = 0; k < n; k++)
        off[k] = fabs(x[k] - middle);
    *scattered = 1.48 * median_of(off, n);
    *live = (gint64)n;
    return middle;
}

static gboolean are_one(const double *piece, int n, double within)
{
    double mean = 0, squares = 0;
    for (int k = 0; k < n; k++)
        mean += piece[k] / n;
    for (int k = 0; k < n; k++) {
        if (fabs(piece[k] - mean) > within * fabs(mean))
            return FALSE;
        squares += pow(piece[k] - mean, 2);
    }
    return mean * mean > STEADY * squares / (n * (n - 1.0));
}

static gboolean are_straight(const double *piece, int n)
{
    double mean = 0, turn = 0, squares = 0, all = 0;
    for (int k = 0; k < n; k++)
        mean += piece[k] / n;
    for (int k = 0; k < n; k++) {
        const double at = k - 0.5 * (n - 1);
        turn += at * (piece[k] - mean);
        squares += at * at;
        all += pow(piece[k] - mean, 2);
    }
    return all > 0 && turn * turn / squares > STRAIGHT * all;
}

// Difference of the middle trace and the mean of its neighbours, in pieces.
static gboolean differences_of(const Sample *s, gint64 triple, double piece[PIECES], double *energy)
{
    const float *x = s->x + 3 * triple * s->n;
    const guint8 *good = s->good + 3 * triple;
    if (!good[0] || !good[1] || !good[2])
        return FALSE;
    *energy = 0;
    for (int p = 0; p < PIECES; p++) {
        const gint64 lo = s->n * p / PIECES, hi = s->n * (p + 1) / PIECES;
        double sum = 0;
        for (gint64 t = lo; t < hi; t++) {
            const double off = x[s->n + t] - 0.5 * ((double)x[t] + x[2 * s->n + t]);
            sum += off;
            *energy += off * off;
        }
        piece[p] = sum / (double)(hi - lo);
    }
    *energy /= (double)s->n;
    return TRUE;
}

// Energy of the pieces' mean, slope and next two cosines, added up.
static void add_slow(const double *piece, double slow[4])
{
    for (int k = 0; k < 4; k++) {
        double sum = 0;
        for (int p = 0; p < PIECES; p++)
            sum += piece[p] * cos(G_PI * k * (p + 0.5) / PIECES);
        slow[k] += sum * sum * (k ? 2 : 1);
    }
}

static void find_straight(const Sample *s, LithoSteady *steady)
{
    double scattered, stray, energy, piece[PIECES], rough = 0, spread = 0, slow[4] = {0};
    gint64 live, triples = 0, offsets = 0, drifts = 0;
    const double mean = survey_mean(s, &scattered, &stray, &live);
    for (gint64 k = 0; s->group == 3 && k < s->traces / 3; k++) {
        if (!differences_of(s, k, piece, &energy))
            continue;
        const double *beside = s->mean + 3 * k;
        rough += pow(beside[1] - 0.5 * (beside[0] + beside[2]), 2);
        spread += pow(beside[1] - mean, 2);
        add_slow(piece, slow);
        triples++;
        double all = 0;
        for (int p = 0; p < PIECES; p++)
            all += piece[p] * piece[p] / PIECES;
        if (all < 1e-4 * energy || all < 1e-6 * stray * stray)
            continue; // rounding, or next to nothing
        offsets += are_one(piece, PIECES, 0.5);
        drifts += are_straight(piece, PIECES);
    }
    const gint64 least = MAX(FEWEST, (gint64)(TOLD_OFFSETS * (double)triples));
    if (rough < ROUGH * ROUGH * spread)
        return; // means of layers, as impedances have them
    steady->drift = drifts >= least && 2 * slow[1] > ABOVE_SLOW * (slow[2] + slow[3]);
    steady->offset = steady->drift ||
                     (offsets >= least && 3 * slow[0] > ABOVE_SLOW * (slow[1] + slow[2] + slow[3]));
    // Offsets by chance have a median beside 0.
    if (steady->offset && fabs(mean) > 4 * 1.25 * scattered / sqrt((double)live))
        steady->mean = mean;
}

// --- lines ---------------------------------------------------------------------------------------

// Powers of all traces under a taper, on frequencies of half a bin.
typedef struct Spectra {
    gint64 n, bins;
    float *power; // [traces][bins]
} Spectra;

static void spectrum_of(const Sample *s, gint64 trace, const float *taper, fftwf_plan plan,
                        float *in, fftwf_complex *out, Spectra *to)
{
    const gint64 n = s->n;
    const float *x = s->x + trace * n;
    double turn = 0, squares = 0;
    for (gint64 t = 0; t < n; t++) {
        const double at = (double)t - 0.5 * (double)(n - 1);
        turn += at * x[t];
        squares += at * at;
    }
    for (gint64 t = 0; t < n; t++) {
        const double slope = turn / squares * ((double)t - 0.5 * (double)(n - 1));
        in[t] = (float)(x[t] - s->mean[trace] - slope) * taper[t];
    }
    memset(in + n, 0, (gsize)n * sizeof *in);
    fftwf_execute_dft_r2c(plan, in, out);
    for (gint64 b = 0; b < to->bins; b++)
        to->power[trace * to->bins + b] =
            crealf(out[b]) * crealf(out[b]) + cimagf(out[b]) * cimagf(out[b]);
}

static gboolean make_spectra(const Sample *s, LithoRun *run, Spectra *to, GError **error)
{
    *to = (Spectra){s->n, s->n + 1, g_try_new0(float, s->traces *(s->n + 1))};
    g_autofree float *taper = g_new(float, s->n);
    float *plan_in = fftwf_alloc_real(2 * s->n);
    fftwf_complex *plan_out = fftwf_alloc_complex(s->n + 1);
    fftwf_plan plan = fftwf_plan_dft_r2c_1d((int)(2 * s->n), plan_in, plan_out, FFTW_ESTIMATE);
    for (gint64 t = 0; t < s->n; t++)
        taper[t] = (float)(0.5 - 0.5 * cos(2 * G_PI * ((double)t + 0.5) / (double)s->n));
    if (to->power) {
#pragma omp parallel num_threads(litho_run_threads(run))
        {
            float *in = fftwf_alloc_real(2 * s->n);
            fftwf_complex *out = fftwf_alloc_complex(s->n + 1);
#pragma omp for
            for (gint64 k = 0; k < s->traces; k++)
                if (s->good[k])
                    spectrum_of(s, k, taper, plan, in, out, to);
            fftwf_free(in);
            fftwf_free(out);
        }
    }
    fftwf_destroy_plan(plan);
    fftwf_free(plan_in);
    fftwf_free(plan_out);
    return to->power ||
           litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for the search of steady noise");
}

// TRUE where bin `b` of a trace is a peak that stands out of those beside it. `sum`: prefix sums.
static gboolean stands_out(const float *power, const double *sum, gint64 bins, gint64 b)
{
    if (power[b] < power[b - 1] || power[b] < power[b + 1])
        return FALSE;
    const gint64 lo = MAX(b - FAR, 1), hi = MIN(b + FAR + 1, bins);
    const gint64 from = MAX(b - NEAR, lo), to = MIN(b + NEAR + 1, hi);
    const double beside = sum[hi] - sum[to] + sum[from] - sum[lo];
    const double count = (double)(hi - to + from - lo);
    return power[b] * count > STANDS_OUT * beside;
}

// Traces with a peak at each bin.
static int *count_peaks(const Sample *s, const Spectra *spectra)
{
    const gint64 bins = spectra->bins;
    int *peaks = g_new0(int, bins);
    g_autofree double *sum = g_new0(double, bins + 1);
    for (gint64 k = 0; k < s->traces; k++) {
        const float *power = spectra->power + k * bins;
        if (!s->good[k])
            continue;
        for (gint64 b = 0; b < bins; b++)
            sum[b + 1] = sum[b] + power[b];
        for (gint64 b = 2 * CYCLES; b < bins - 2; b++)
            peaks[b] += stands_out(power, sum, bins, b);
    }
    return peaks;
}

// A trace's amplitude and phase in one of n pieces.
static double complex piece_of(const Sample *s, gint64 trace, double line, int piece, int n)
{
    const gint64 lo = s->n * piece / n, hi = s->n * (piece + 1) / n;
    const double complex turn = cexp(-2 * G_PI * I * line);
    double complex sum = 0, wave = cexp(-2 * G_PI * I * line * (double)lo);
    for (gint64 t = lo; t < hi; t++, wave *= turn)
        sum += (s->x[trace * s->n + t] - s->mean[trace]) * wave;
    return 2 * sum / (double)(hi - lo);
}

// TRUE where the line lasts along the trace with one amplitude and phase.
static gboolean lasts(const Sample *s, gint64 trace, double line)
{
    double complex piece[PIECES], mean = 0, third[3], middle = 0;
    double squares = 0;
    for (int p = 0; p < PIECES; p++) {
        piece[p] = piece_of(s, trace, line, p, PIECES);
        mean += piece[p] / PIECES;
    }
    for (int p = 0; p < PIECES; p++)
        squares += pow(cabs(piece[p] - mean), 2);
    if (pow(cabs(mean), 2) < STEADY * squares / (PIECES * (PIECES - 1.0)))
        return FALSE;
    for (int p = 0; p < 3; p++)
        middle += (third[p] = piece_of(s, trace, line, p, 3)) / 3;
    for (int p = 0; p < 3; p++)
        if (cabs(third[p] - middle) > 0.5 * cabs(middle))
            return FALSE;
    return TRUE;
}

// The line by the turn from the first half of the traces to the second, those of `peak` alone.
static double refine(const Sample *s, const guint8 *peak, double line)
{
    double complex turn = 0;
    for (gint64 k = 0; k < s->traces; k++)
        if (peak[k])
            turn += piece_of(s, k, line, 1, 2) * conj(piece_of(s, k, line, 0, 2));
    return line + carg(turn) / (2 * G_PI) / (0.5 * (double)s->n);
}

// Traces with a peak at bin `b` or beside it.
static gint64 mark_peaks(const Sample *s, const Spectra *spectra, gint64 b, guint8 *peak)
{
    const gint64 bins = spectra->bins;
    g_autofree double *sum = g_new0(double, bins + 1);
    gint64 n = 0;
    for (gint64 k = 0; k < s->traces; k++) {
        const float *power = spectra->power + k * bins;
        peak[k] = FALSE;
        for (gint64 c = MAX(b - FAR, 0); s->good[k] && c < MIN(b + FAR + 3, bins); c++)
            sum[c + 1] = sum[c] + power[c];
        for (gint64 c = MAX(b - 1, 2); s->good[k] && c <= MIN(b + 1, bins - 3); c++)
            peak[k] |= stands_out(power, sum, bins, c);
        n += peak[k];
    }
    return n;
}

// Phases of a line from trace to trace. Hum has any phase on each trace, on few of them, one on
// runs of traces that share a cable, or one on all; that of an event goes on from trace to trace,
// even of one that lasts, as evenly spaced layers do; where every second trace is missing it is not
// known, and counts as an event's.
typedef enum { ALONE, SCATTERED, IN_RUNS, ONE, GOES_ON } Phases;

static Phases phases_of(const Sample *s, const guint8 *has, double line)
{
    g_autofree double *move = g_new(double, s->traces + 1);
    double complex all = 0, near = 0, last = 0;
    double mean = 0;
    gint64 n = 0, pairs = 0, beside = 0; // `beside`: traces whose neighbour is there
    for (gint64 k = 0; k < s->traces; k++) {
        beside += has[k] && s->group == 3 && k % 3 > 0 && s->good[k - 1];
        double complex a = has[k] ? piece_of(s, k, line, 0, 1) : 0;
        a /= fmax(cabs(a), 1e-300);
        if (has[k] && s->group == 3 && k % 3 > 0 && has[k - 1]) {
            near += a * conj(last);
            mean += move[pairs++] = fabs(carg(a * conj(last)));
        }
        all += a;
        n += has[k];
        last = a;
    }
    const double middle = median_of(move, (gsize)pairs);
    if (8 * beside < n)
        return GOES_ON;
    return pairs < MAX(2 * FEWEST, n / 8)                      ? ALONE
           : cabs(near) < 0.4 * (double)pairs                  ? SCATTERED
           : cabs(all) > 0.9 * (double)n                       ? ONE
           : middle < 0.1 && mean > 3 * middle * (double)pairs ? IN_RUNS
                                                               : GOES_ON;
}

// TRUE: the peaks at bin `b` are a line, *line.
static gboolean is_line(const Sample *s, const Spectra *spectra, gint64 b, gint64 least,
                        double *line)
{
    g_autofree guint8 *peak = g_new0(guint8, s->traces);
    const gint64 peaks = mark_peaks(s, spectra, b, peak);
    double at = 0.5 * (double)b / (double)s->n;
    gint64 told = 0;
    for (int round = 0; round < 2; round++)
        at = refine(s, peak, at);
    if (fabs(at * 2 * (double)s->n - (double)b) > 2)
        return FALSE;
    const Phases of_peaks = phases_of(s, peak, at);
    for (gint64 k = 0; k < s->traces; k++) {
        peak[k] = peak[k] && lasts(s, k, at);
        told += peak[k];
    }
    // Among strong events few traces tell that it lasts; all of them tell where it is.
    const gboolean is_few = 3 * told < peaks;
    if (told < least || (is_few && (of_peaks != SCATTERED || ONE_OF * told < peaks)) ||
        phases_of(s, peak, at) == GOES_ON)
        return FALSE;
    *line = is_few ? at : refine(s, peak, at);
    return *line * (double)s->n > CYCLES && *line < 0.5 - 1.0 / (double)s->n;
}

static void find_lines(const Sample *s, const Spectra *spectra, LithoSteady *steady)
{
    g_autofree int *peaks = count_peaks(s, spectra);
    gint64 live = 0;
    for (gint64 k = 0; k < s->traces; k++)
        live += s->good[k];
    const gint64 least = MAX(FEWEST, (gint64)(TOLD_LINES * (double)live));
    while (steady->n < LITHO_STEADY_LINES) {
        gint64 best = 0;
        for (gint64 b = 2; b < spectra->bins - 2; b++)
            if (peaks[b - 1] + peaks[b] + peaks[b + 1] >
                (best ? peaks[best - 1] + peaks[best] + peaks[best + 1] : 0))
                best = b;
        if (best == 0 || peaks[best - 1] + peaks[best] + peaks[best + 1] < least)
            return;
        if (is_line(s, spectra, best, least, &steady->line[steady->n]))
            steady->n++;
        for (gint64 b = MAX(best - NEAR, 0); b <= MIN(best + NEAR, spectra->bins - 1); b++)
            peaks[b] = 0;
    }
}

// --- how much counts -----------------------------------------------------------------------------

enum { ASKED = 120 }; // traces

// Amplitudes over the rest that the fit takes of events at frequencies where there is no line, 3
// and 5 bins beside each; and lines that hold nearly all of most traces are no noise.
static void set_limits(const Sample *s, LithoSteady *steady)
{
    const gint64 step = MAX(s->traces / ASKED, 1);
    g_autofree double *taken = g_new(double, 4 * (s->traces / step + 1));
    g_autofree double *held = g_new(double, s->traces / step + 1);
    gsize n_held = 0;
    LithoSteadyTrace of;
    for (int k = 0; k < steady->n; k++) {
        gsize n = 0;
        for (int side = 0; side < 4; side++) {
            static const double off[] = {-5, -3, 3, 5};
            const double beside = steady->line[k] + off[side] / (double)s->n;
            double line[LITHO_STEADY_LINES];
            if (beside * (double)s->n < 2 || beside > 0.5 - 1.0 / (double)s->n)
                continue;
            // The others are beside it, as many as there is room for.
            memcpy(line, steady->line, sizeof line);
            const int at = steady->n < LITHO_STEADY_LINES ? steady->n : (k + 1) % steady->n;
            line[at] = beside;
            LithoSteadyFit *fit =
                litho_steady_fit_new(s->n, line, MIN(steady->n + 1, LITHO_STEADY_LINES));
            for (gint64 t = 0; t < s->traces; t += step) {
                litho_steady_fit(fit, s->x + t * s->n, TRUE, FALSE, &of);
                if (s->good[t] && of.rms > 0)
                    taken[n++] = of.amplitude[at] / of.rms;
            }
            litho_steady_fit_free(fit);
        }
        steady->above[k] = SAFE * median_of(taken, n);
    }
    LithoSteadyFit *fit = litho_steady_fit_new(s->n, steady->line, steady->n);
    for (gint64 t = 0; steady->n > 0 && t < s->traces; t += step) {
        double energy = 0;
        litho_steady_fit(fit, s->x + t * s->n, TRUE, FALSE, &of);
        for (int k = 0; k < steady->n; k++)
            energy += 0.5 * of.amplitude[k] * of.amplitude[k];
        if (s->good[t])
            held[n_held++] = energy / fmax(energy + of.rms * of.rms, 1e-300);
    }
    litho_steady_fit_free(fit);
    if (median_of(held, n_held) > SPARED)
        steady->n = 0;
}

static gboolean search(const Sample *s, LithoRun *run, LithoSteady *steady, GError **error)
{
    double scattered, stray;
    gint64 live;
    const double mean = survey_mean(s, &scattered, &stray, &live);
    if (live < FEWEST || !(stray > 0) || fabs(mean) > stray)
        return TRUE;
    Spectra spectra;
    if (!make_spectra(s, run, &spectra, error))
        return FALSE;
    find_lines(s, &spectra, steady);
    g_free(spectra.power);
    set_limits(s, steady);
    find_straight(s, steady);
    return litho_run_checkpoint(run) || litho_run_stopped(error);
}

gboolean litho_steady_find(const LithoReader *survey, LithoRun *run, LithoSteady *steady,
                           GError **error)
{
    const double start = litho_now_ms();
    Sample s = {0};
    *steady = (LithoSteady){0};
    if (survey->grid->axis[2].n < LITHO_STEADY_SHORTEST ||
        litho_grid_traces(survey->grid) < LITHO_STEADY_FEWEST)
        return TRUE;
    litho_run_begin(run, "steady noise", "traces");
    const gboolean ok = read_sample(survey, run, &s, error) && search(&s, run, steady, error);
    sample_clear(&s);
    litho_run_time(run, "steady noise", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return ok;
}
