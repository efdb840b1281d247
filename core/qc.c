// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qc.h"
#include "core/origin.h"

#include <math.h>
#include <string.h>

#include "core/backend.h"
#include "core/error.h"
#include "core/qc_methods.h"
#include "core/text.h"

// --- exact percentiles ------------------------------------------------------------------------
//
// The bits of |x|, read as an integer, grow with |x|. A first histogram over their upper 16 bits
// finds the bin that holds the wanted rank, a second one over the lower 15 bits inside that bin
// gives the value exactly. Two reads of the data, 0.75 MiB of memory.

enum { HIGH_BINS = 1 << 16, LOW_BINS = 1 << 15, LOW_BITS = 15 };

static guint32 magnitude_bits(float x)
{
    guint32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffffu;
}

// Infinity and NaN have all exponent bits set.
static gboolean finite_bits(guint32 bits)
{
    return bits < 0x7f800000u;
}

typedef struct Samples {
    const float *samples;
    const guint8 *live;
    gint64 traces, length;
} Samples;

static gboolean samples_of(const LithoCube *cube, Samples *s, GError **error)
{
    s->samples = litho_cube_host(cube, error);
    s->live = cube->live;
    s->traces = litho_box_size(cube->held, 0) * litho_box_size(cube->held, 1);
    s->length = litho_box_size(cube->held, 2);
    return s->samples != NULL;
}

// A histogram of its own for each thread, added at the end: counts are whole, so that any number of
// threads gives one answer. `high`: the bin of the upper bits whose samples are counted by their
// lower ones; NO_BIN = all by their upper ones.
#define NO_BIN G_MAXUINT32

static void count_bits(const Samples *s, guint32 high, guint32 n, guint64 *bins)
{
    memset(bins, 0, n * sizeof *bins);
#pragma omp parallel num_threads(litho_run_threads(NULL))
    {
        g_autofree guint64 *own = g_new0(guint64, n);
#pragma omp for schedule(static) nowait
        for (gint64 t = 0; t < s->traces; t++) {
            const float *trace = s->samples + t * s->length;
            for (gint64 k = 0; s->live[t] && k < s->length; k++) {
                const guint32 bits = magnitude_bits(trace[k]);
                if (high == NO_BIN && finite_bits(bits))
                    own[bits >> LOW_BITS]++;
                else if (high != NO_BIN && bits >> LOW_BITS == high)
                    own[bits & (LOW_BINS - 1)]++;
            }
        }
#pragma omp critical(litho_qc_bits)
        for (guint32 b = 0; b < n; b++)
            bins[b] += own[b];
    }
}

// Bin that holds the sample of `rank` (from 1); `rank` becomes the rank inside that bin.
static guint32 find_bin(const guint64 *bins, guint32 n, guint64 *rank)
{
    for (guint32 b = 0; b < n; b++) {
        if (bins[b] >= *rank)
            return b;
        *rank -= bins[b];
    }
    return n - 1;
}

static double percentile_from(const Samples *s, const guint64 *high, guint64 count, double percent,
                              guint64 *low)
{
    if (count == 0)
        return 0;
    guint64 rank = CLAMP((guint64)ceil(percent / 100 * count), 1, count);
    guint32 bin = find_bin(high, HIGH_BINS, &rank);
    count_bits(s, bin, LOW_BINS, low);
    guint32 bits = bin << LOW_BITS | find_bin(low, LOW_BINS, &rank);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void percentiles(const Samples *s, const double *percent, double *value, guint n)
{
    g_autofree guint64 *high = g_new(guint64, HIGH_BINS), *low = g_new(guint64, LOW_BINS);
    count_bits(s, NO_BIN, HIGH_BINS, high);
    guint64 count = 0;
    for (guint32 b = 0; b < HIGH_BINS; b++)
        count += high[b];
    for (guint k = 0; k < n; k++)
        value[k] = percentile_from(s, high, count, percent[k], low);
}

double litho_qc_percentile(const LithoCube *cube, double percent)
{
    Samples s;
    double value = 0;
    if (samples_of(cube, &s, NULL))
        percentiles(&s, &percent, &value, 1);
    return value;
}

// --- statistics -------------------------------------------------------------------------------

// Sums over the traces of one part. Parts do not depend on the threads, and neither do their sums.
typedef struct Part {
    gint64 count, bad;
    double sum, squares, min, max;
} Part;

static Part sum_part(const Samples *s, gint64 from, gint64 to)
{
    Part part = {.min = INFINITY, .max = -INFINITY};
    for (gint64 t = from; t < to; t++) {
        const float *trace = s->samples + t * s->length;
        for (gint64 k = 0; s->live[t] && k < s->length; k++) {
            const double x = trace[k];
            if (!isfinite(x)) {
                part.bad++;
                continue;
            }
            part.count++;
            part.sum += x;
            part.squares += x * x;
            part.min = MIN(part.min, x);
            part.max = MAX(part.max, x);
        }
    }
    return part;
}

gboolean litho_qc_stats(const LithoCube *cube, LithoRun *run, LithoStats *stats, GError **error)
{
    enum { TRACES = 64, PARTS = 256 };
    Samples s;
    memset(stats, 0, sizeof *stats);
    if (!samples_of(cube, &s, error))
        return FALSE;
    double sum = 0, squares = 0;
    stats->min = INFINITY;
    stats->max = -INFINITY;
    litho_run_begin(run, "statistics", "traces");
    for (gint64 t = 0; t < s.traces; t += TRACES * PARTS) {
        Part part[PARTS];
        const gint64 n = MIN((s.traces - t + TRACES - 1) / TRACES, PARTS);
        if (!litho_run_step(run, t, s.traces, error))
            return FALSE;
#pragma omp parallel for num_threads(litho_run_threads(run)) schedule(static)
        for (gint64 k = 0; k < n; k++)
            part[k] = sum_part(&s, t + k * TRACES, MIN(t + (k + 1) * TRACES, s.traces));
        for (gint64 k = 0; k < n; k++) {
            stats->count += part[k].count;
            stats->bad += part[k].bad;
            sum += part[k].sum;
            squares += part[k].squares;
            stats->min = MIN(stats->min, part[k].min);
            stats->max = MAX(stats->max, part[k].max);
        }
    }
    if (stats->count == 0) {
        stats->min = stats->max = 0;
        return TRUE;
    }
    stats->mean = sum / stats->count;
    stats->rms = sqrt(squares / stats->count);
    const double percent[] = {50, 90, 95, 99};
    double value[4];
    percentiles(&s, percent, value, 4);
    stats->p50 = value[0];
    stats->p90 = value[1];
    stats->p95 = value[2];
    stats->p99 = value[3];
    return TRUE;
}

// --- range --------------------------------------------------------------------------------------

gboolean litho_stats_is_unsigned(const LithoStats *stats)
{
    return stats->count > 0 && stats->min >= 0 && stats->max > stats->min;
}

static const char *velocity_unit(const LithoCube *cube, const LithoStats *stats)
{
    g_autofree char *name = g_ascii_strdown(cube->name, -1);
    g_auto(GStrv) words = g_strsplit_set(name, "-_. ,()", -1);
    gboolean says = strstr(name, "vel") != NULL;
    for (char **w = words; *w; w++)
        says = says || strcmp(*w, "vp") == 0 || strcmp(*w, "vs") == 0 || strcmp(*w, "vrms") == 0 ||
               strcmp(*w, "vint") == 0;
    if (!says)
        return NULL;
    // From slow sediment to the deep mantle, with zeros where there is no value.
    const gboolean feet = cube->survey && ((const LithoOrigin *)cube->survey)->in_feet;
    const double most = stats->max * (feet ? 0.3048 : 1);
    return most >= 300 && most <= 15000 ? feet ? "ft/s" : "m/s"
           : most >= 0.3 && most <= 15  ? feet ? "kft/s" : "km/s"
                                        : NULL;
}

// Share of the samples whose magnitude is larger than `floor`.
static double share_above(const LithoCube *cube, double floor)
{
    Samples s;
    gint64 above = 0, all = 0;
    if (!samples_of(cube, &s, NULL))
        return 1;
#pragma omp parallel for num_threads(litho_run_threads(NULL)) schedule(static)                     \
    reduction(+ : above, all)
    for (gint64 t = 0; t < s.traces; t++)
        for (gint64 k = 0; s.live[t] && k < s.length; k++) {
            const float x = fabsf(s.samples[t * s.length + k]);
            all += isfinite(x);
            above += isfinite(x) && x > floor;
        }
    return all ? (double)above / (double)all : 1;
}

// In records of a few wavelets 99 % of the samples end half way up the wavelets, which are then
// drawn in two colours. Records of the field have a tenth of their 99th percentile at the 90th: the
// fiftieth part tells them from models.
static double clip_percent(const LithoCube *cube, const LithoStats *stats)
{
    const double floor = stats->p99 / 50;
    return litho_stats_is_unsigned(stats) || !(stats->p90 < floor) ? 99
                                                                   : 100 - share_above(cube, floor);
}

LithoRange litho_qc_range(const LithoCube *cube, const LithoStats *stats, double percent)
{
    if (percent == LITHO_CLIP_AUTO)
        percent = clip_percent(cube, stats);
    double high = percent == 99 ? stats->p99 : litho_qc_percentile(cube, percent);
    if (!litho_stats_is_unsigned(stats)) {
        if (!(high > 0)) // nearly all samples are zero
            high = MAX(fabs(stats->min), fabs(stats->max));
        high = high > 0 ? high : 1;
        return (LithoRange){.lo = -high, .hi = high, .percent = percent};
    }
    double low = litho_qc_percentile(cube, 100 - percent);
    if (!(high > low)) { // nearly all samples are alike
        low = stats->min;
        high = stats->max;
    }
    return (LithoRange){low, high, TRUE, velocity_unit(cube, stats), percent};
}

// --- comparison -------------------------------------------------------------------------------

gboolean litho_qc_compare(const LithoCube *x, const LithoCube *reference, const LithoCube *mask,
                          LithoDifference *d, GError **error)
{
    Samples a, b;
    memset(d, 0, sizeof *d);
    if (!litho_grid_same_shape(&x->grid, &reference->grid) ||
        !litho_box_equal(x->held, reference->held) ||
        (mask && !litho_box_equal(mask->held, x->held))) {
        const gboolean masked = mask && !litho_box_equal(mask->held, x->held);
        // In the order in which they are named: a reference comes first, a mask last.
        const LithoAxis *p = (masked ? x : reference)->grid.axis;
        const LithoAxis *q = (masked ? mask : x)->grid.axis;
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
            _("the cubes have %ld x %ld x %ld and %ld x %ld x %ld samples; equal shapes are "
              "needed to compare"),
            (long)p[0].n, (long)p[1].n, (long)p[2].n, (long)q[0].n, (long)q[1].n, (long)q[2].n);
        return FALSE;
    }
    if (!samples_of(x, &a, error) || !samples_of(reference, &b, error))
        return FALSE;
    double xx = 0, rr = 0, xr = 0, dd = 0;
    for (gint64 t = 0; t < a.traces; t++) {
        if (!(mask ? mask->live[t] : a.live[t] && b.live[t])) {
            d->left_out += !mask;
            continue;
        }
        const float *p = a.samples + t * a.length, *q = b.samples + t * a.length;
        for (gint64 k = 0; k < a.length; k++) {
            double u = p[k], v = q[k];
            if (!isfinite(u) || !isfinite(v))
                continue;
            xx += u * u;
            rr += v * v;
            xr += u * v;
            dd += (u - v) * (u - v);
            d->max_abs = MAX(d->max_abs, fabs(u - v));
            d->count++;
        }
    }
    d->snr_db = dd > 0 ? 10 * log10(rr / dd) : INFINITY;
    d->relative_l2 = rr > 0 ? sqrt(dd / rr) : (dd > 0 ? INFINITY : 0);
    d->correlation = xx > 0 && rr > 0 ? xr / sqrt(xx * rr) : 0;
    d->scale = rr > 0 ? xr / rr : 0;
    return TRUE;
}

// Counted where the samples are: those on a device alone stay there.
static gboolean count_on_device(const LithoCube *cube, double lo, double hi, guint bins,
                                double *counts)
{
    LithoCube *c = (LithoCube *)cube; // the macro takes no const
    const LithoBuffer *there = g_atomic_pointer_get(&c->samples) ? NULL : cube->device;
    if (!there || !there->backend->histogram)
        return FALSE;
    g_autofree guint64 *whole = g_new(guint64, bins);
    if (!there->backend->histogram(cube, lo, hi, bins, whole, NULL))
        return FALSE; // the host is left
    for (guint k = 0; k < bins; k++)
        counts[k] = (double)whole[k];
    return TRUE;
}

void litho_qc_histogram(const LithoCube *cube, double lo, double hi, guint bins, double *counts)
{
    Samples s;
    memset(counts, 0, bins * sizeof *counts);
    if (!(hi > lo) || count_on_device(cube, lo, hi, bins, counts) || !samples_of(cube, &s, NULL))
        return;
    const double scale = bins / (hi - lo);
#pragma omp parallel num_threads(litho_run_threads(NULL))
    {
        g_autofree guint64 *own = g_new0(guint64, bins);
#pragma omp for schedule(static) nowait
        for (gint64 t = 0; t < s.traces; t++)
            for (gint64 k = 0; s.live[t] && k < s.length; k++) {
                const double at = (s.samples[t * s.length + k] - lo) * scale;
                if (at >= 0 && at <= bins)
                    own[MIN((guint)at, bins - 1)]++;
            }
#pragma omp critical(litho_qc_histogram)
        for (guint k = 0; k < bins; k++)
            counts[k] += (double)own[k];
    }
}

// --- methods of the operator library ------------------------------------------------------------

static const LithoQcMethods no_methods;
static const LithoQcMethods *the_methods = &no_methods; // set once at start, before threads

void litho_qc_set_methods(const LithoQcMethods *methods)
{
    the_methods = methods;
}

const LithoQcMethods *litho_qc_methods(void)
{
    return the_methods;
}

gboolean litho_qc_no_transform(GError **error)
{
    return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                        "this program was built without a Fourier transform");
}

// --- spectrum -----------------------------------------------------------------------------------

gboolean litho_qc_spectrum(const LithoCube *cube, const LithoBox *box, gint64 max_traces,
                           LithoRun *run, LithoSpectrum *spectrum, GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    memset(spectrum, 0, sizeof *spectrum);
    return m->spectrum ? m->spectrum(cube, box, max_traces, run, spectrum, error)
                       : litho_qc_no_transform(error);
}

void litho_spectrum_clear(LithoSpectrum *spectrum)
{
    g_clear_pointer(&spectrum->amplitude, g_free);
    spectrum->n = 0;
}

// --- frequency and wavenumber -------------------------------------------------------------------

gboolean litho_qc_fk(const float *section, guint traces, guint samples, LithoFk *fk, GError **error)
{
    const LithoQcMethods *m = litho_qc_methods();
    memset(fk, 0, sizeof *fk);
    return m->fk ? m->fk(section, traces, samples, fk, error) : litho_qc_no_transform(error);
}

void litho_fk_clear(LithoFk *fk)
{
    g_clear_pointer(&fk->amplitude, g_free);
    g_clear_pointer(&fk->spectrum, g_free);
    g_clear_pointer(&fk->by_trace, g_free);
    fk->n_k = fk->n_f = fk->n_x = 0;
}
