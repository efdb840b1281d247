// SPDX-License-Identifier: GPL-3.0-or-later
//
// The noise's level by frequency, and what it makes of it in every box.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/common/gaps.h"
#include "kernels/common/noise.h"
#include "kernels/wavepacket/apply.h"

// Windows long enough to tell quiet coefficients by their neighbours in frequency.
enum { TRACES = 16, SAMPLES = 64, WINDOWS = 2048 };
static const int window[3] = {TRACES, TRACES, SAMPLES};

// Variance of a coefficient of the box over sigma_b^2: the noise's spectrum seen through the window.
static double box_variance(const WpBox *box, const LithoNoise *noise)
{
    const int last = (int)noise->n - 1; // Nyquist
    double sum = 0;
    for (int k = 0; k < WP_PROFILE; k++) {
        const double at = (k + 0.5) / WP_PROFILE * last;
        const int lo = MIN((int)at, last), hi = MIN(lo + 1, last);
        const double sigma = noise->sigma[lo] + (at - lo) * (noise->sigma[hi] - noise->sigma[lo]);
        sum += box->profile[k] * sigma * sigma;
    }
    return sum;
}

float *wp_noise_levels(const WpJob *job, double k)
{
    const WpGeometry *g = job->geometry;
    float *level = g_new0(float, g->n_boxes);
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind != WP_COARSE)
            level[b] =
                (float)(k * g->boxes[b].sigma * sqrt(box_variance(&g->boxes[b], &job->noise)));
    return level;
}

// --- as numbers of the recipe --------------------------------------------------------------------

enum { VERSION = 1, MOST = 4096 };

// Followed by n doubles.
typedef struct Head {
    guint32 version, n;
    double df, total, low, high;
} Head;

char *wp_measure_key(const void *params)
{
    const LithoWavepacketParams *p = params;
    char erratic[G_ASCII_DTOSTR_BUF_SIZE];
    if (p->sigma > 0 || p->mode != WP_DENOISE)
        return NULL;
    return g_strdup_printf(_("noise level by frequency, bursts %s"),
                           g_ascii_dtostr(erratic, sizeof erratic, p->erratic));
}

static LithoMeasured *to_measured(const LithoNoise *noise, const void *params)
{
    const Head head = {VERSION, noise->n, noise->df, noise->total, noise->low, noise->high};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree char *key = wp_measure_key(params);
    g_autofree char *text = litho_text_printf(_("noise level %.4g"), noise->total);
    g_byte_array_append(bytes, (const guint8 *)&head, sizeof head);
    g_byte_array_append(bytes, (const guint8 *)noise->sigma,
                        (guint)(noise->n * sizeof *noise->sigma));
    return litho_measured_new(key, text, bytes->data, bytes->len);
}

static gboolean from_measured(LithoMeasured *measured, LithoNoise *noise, GError **error)
{
    gsize n;
    Head head = {0};
    const guint8 *bytes = litho_measured_bytes(measured, &n);
    if (n >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    gboolean good = head.version == VERSION && head.n > 1 && head.n <= MOST &&
                    n == sizeof head + head.n * sizeof *noise->sigma && head.df > 0 &&
                    isfinite(head.total) && head.total >= 0;
    if (good) {
        *noise = (LithoNoise){.n = head.n,
                              .df = head.df,
                              .total = head.total,
                              .low = head.low,
                              .high = head.high,
                              .sigma = g_memdup2(bytes + sizeof head, n - sizeof head)};
        for (guint k = 0; k < noise->n; k++)
            good &= isfinite(noise->sigma[k]) && noise->sigma[k] >= 0;
        if (!good)
            litho_noise_clear(noise);
    }
    return good || litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "the measured noise level in the recipe cannot be read; without "
                                "\"measured\" it is measured again");
}

// Which traces of a cube with guesses count; NULL = all were recorded.
static const guint8 *recorded_of(const LithoCube *in)
{
    return litho_gaps_any(in, in->held) ? in->live : NULL;
}

// Inlines [lo, hi) with a window more at their end: every window lies in a part. Around them stands
// what guesses for bursts and missing traces need, which are those of the whole then.
static gboolean add_part(LithoNoiseWindows *windows, const LithoWavepacketParams *p,
                         const LithoReader *reader, gint64 lo, gint64 hi, LithoRun *run,
                         GError **error)
{
    LithoBox within = litho_box_full(reader->grid);
    LithoRun quiet = run ? *run : (LithoRun){0};
    quiet.on_progress = NULL;
    quiet.report = NULL;
    within.lo[0] = MAX(lo - TRACES, 0);
    within.hi[0] = MIN(hi + TRACES, within.hi[0]);
    const LithoCleanRule rule = wp_clean_rule(p, LITHO_CLEAN_GUESSED);
    const LithoBox need = litho_clean_box(reader->grid, rule, within);
    g_autoptr(LithoCube) part = reader->read(&need, &quiet, reader->data, error);
    LithoClean clean = {0};
    const LithoCube *guessed = part ? litho_clean(&clean, rule, part, &quiet, error) : NULL;
    const gboolean ok = guessed && litho_noise_windows_add(windows, guessed, recorded_of(part),
                                                           within, &quiet, error);
    litho_clean_clear(&clean);
    return ok;
}

LithoMeasured *wp_measure(const void *params, const LithoReader *reader, LithoRun *run,
                          GError **error)
{
    const gint64 n = reader->grid->axis[0].n;
    const gint64 samples = litho_grid_samples(reader->grid);
    const guint64 row = (2 * sizeof(float) * samples + litho_clean_bytes(samples)) / n;
    const gint64 around = TRACES + LITHO_GAPS_TRACES + LITHO_ERRATIC_TRACES;
    gint64 step = reader->bytes ? (gint64)(reader->bytes / MAX(row, 1)) - 2 * around : n;
    LithoNoiseWindows *windows =
        litho_noise_windows_new(reader->grid, NULL, window, WINDOWS, error);
    LithoMeasured *measured = NULL;
    LithoNoise noise;
    gboolean ok = windows != NULL;
    step = MAX(step, TRACES);
    litho_run_begin(run, "noise level", "inlines");
    for (gint64 lo = 0; ok && lo < n; lo += step)
        ok = litho_run_step(run, lo, n, error) &&
             add_part(windows, params, reader, lo, MIN(lo + step, n), run, error);
    if (ok && litho_noise_windows_finish(windows, run, &noise, error)) {
        measured = to_measured(&noise, params);
        litho_noise_clear(&noise);
    }
    litho_noise_windows_free(windows);
    return measured;
}

// --- keeping -------------------------------------------------------------------------------------

void wp_forget_noise(WpJob *job)
{
    if (job->noise.n > 0)
        litho_noise_clear(&job->noise);
    job->noise = (LithoNoise){0};
    job->noise_of = 0;
    g_clear_pointer(&job->noise_from, litho_measured_unref);
    for (guint k = 0; k < G_N_ELEMENTS(job->powers); k++)
        g_clear_pointer(&job->powers[k], g_free);
}

guint64 wp_noise_threads_memory(const LithoGrid *in, const LithoWavepacketParams *p, int threads)
{
    return wp_noise_memory(in, p) > 0 ? threads * litho_noise_thread_memory(in, window, WINDOWS)
                                      : 0;
}

guint64 wp_measure_memory(const LithoGrid *in, const void *params, guint64 part, int threads)
{
    const gint64 samples = litho_grid_samples(in);
    const guint64 whole = 2 * sizeof(float) * samples + litho_clean_bytes(samples);
    const guint64 found =
        wp_noise_memory(in, params) + wp_noise_threads_memory(in, params, threads);
    return MAX(found, litho_noise_powers_memory(in, window, WINDOWS) + MIN(part, whole));
}

guint64 wp_noise_memory(const LithoGrid *in, const LithoWavepacketParams *p)
{
    const gboolean measures = p->mode == WP_DENOISE && !(p->sigma > 0);
    return measures ? litho_noise_windows_memory(in, window, WINDOWS) : 0;
}

static gboolean take_noise(WpJob *job, LithoMeasured *measured, GError **error)
{
    if (job->noise_from == measured)
        return TRUE;
    wp_forget_noise(job);
    if (!from_measured(measured, &job->noise, error))
        return FALSE;
    job->noise_from = litho_measured_ref(measured);
    return TRUE;
}

// The levels that were measured last. One depends on the cube, on what counts as a burst and on
// where it is measured, not on the boxes, so that a slider that moves the directions finds it
// measured, also where other cubes were judged meanwhile.
typedef struct Level {
    guint64 serial; // of the cube as it came, 0 = none
    double erratic;
    WpLevelFunc by;
    LithoNoise noise;
} Level;

enum { KEPT_LEVELS = 8 };
static GMutex levels_lock;
static Level levels[KEPT_LEVELS];
static int next_level;

static LithoNoise copy_of(const LithoNoise *noise)
{
    LithoNoise copy = *noise;
    copy.sigma = g_memdup2(noise->sigma, noise->n * sizeof *noise->sigma);
    return copy;
}

static gboolean recall(WpJob *job, guint64 serial, double erratic)
{
    gboolean known = FALSE;
    g_mutex_lock(&levels_lock);
    for (int k = 0; k < KEPT_LEVELS && !known; k++) {
        const Level *l = &levels[k];
        known = l->serial == serial && l->erratic == erratic && l->by == job->level;
        if (known)
            job->noise = copy_of(&l->noise);
    }
    g_mutex_unlock(&levels_lock);
    return known;
}

static void remember(const WpJob *job, guint64 serial, double erratic)
{
    g_mutex_lock(&levels_lock);
    Level *l = &levels[next_level];
    next_level = (next_level + 1) % KEPT_LEVELS;
    if (l->serial)
        litho_noise_clear(&l->noise);
    *l = (Level){serial, erratic, job->level, copy_of(&job->noise)};
    g_mutex_unlock(&levels_lock);
}

// Where there are bursts `clean` is another cube, with guesses.
static gboolean measure_noise(WpJob *job, const LithoCube *in, const LithoCube *clean,
                              LithoRun *run, GError **error)
{
    if (job->level)
        return job->level(clean, clean != in ? recorded_of(in) : NULL, window, WINDOWS, run,
                          &job->noise, error);
    if (clean != in)
        return litho_noise_measure_level(clean, recorded_of(in), NULL, window, WINDOWS, run,
                                         &job->noise, error);
    return litho_cube_host(in, error) &&
           litho_noise_measure(in, NULL, window, WINDOWS, run, &job->noise, error);
}

gboolean wp_know_noise(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    g_autoptr(GError) unknown = NULL;
    const LithoCube *in = pass->in;
    if (pass->measured)
        return take_noise(job, pass->measured, error);
    const LithoCube *clean = wp_clean(job, pass->params, in, run, error);
    if (!clean)
        return FALSE;
    if (!job->noise_from && job->noise_of == clean->serial)
        return TRUE;
    const double erratic = ((const LithoWavepacketParams *)pass->params)->erratic;
    wp_forget_noise(job);
    if (recall(job, in->serial, erratic)) {
        job->noise_of = clean->serial;
        return TRUE;
    }
    if (measure_noise(job, in, clean, run, &unknown)) {
        remember(job, in->serial, erratic);
    } else {
        job->noise = (LithoNoise){0};
        if (!g_error_matches(unknown, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
            g_propagate_error(error, g_steal_pointer(&unknown));
            return FALSE;
        }
    }
    job->noise_of = clean->serial;
    return TRUE;
}
