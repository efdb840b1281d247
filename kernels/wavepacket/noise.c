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
#include "kernels/wavepacket/local.h"

// Windows long enough to tell quiet coefficients by their neighbours in frequency.
enum { TRACES = 16, SAMPLES = 64, WINDOWS = 2048 };
static const int window[3] = {TRACES, TRACES, SAMPLES};
static const int smaller[WP_SMALLER][3] = {{12, 12, 32}, {8, 8, 32}}; // leak.c
static const int shorter[3] = {TRACES, TRACES, SAMPLES / 2};          // times.c

// Variance of a coefficient of the box over sigma_b^2: the noise's spectrum seen through the window.
static double box_variance(const WpBox *box, const LithoNoise *noise)
{
    double sum = 0;
    for (int k = 0; k < WP_PROFILE; k++)
        sum += box->profile[k] * wp_noise_power(noise, 0.5 * (k + 0.5) / WP_PROFILE);
    return sum;
}

static double power_at(const double xi[3], gconstpointer noise)
{
    const double f = fabs(xi[2] - rint(xi[2])); // beyond Nyquist: its image
    return wp_noise_power(noise, f) * litho_noise_shape(noise, xi);
}

double wp_noise_power(const LithoNoise *noise, double f)
{
    const int last = (int)noise->n - 1; // Nyquist
    const double at = CLAMP(2 * f, 0, 1) * last;
    const int lo = MIN((int)at, last), hi = MIN(lo + 1, last);
    const double s = noise->sigma[lo] + (at - lo) * (noise->sigma[hi] - noise->sigma[lo]);
    return s * s;
}

static double *box_variances(const WpJob *job, int threads)
{
    const WpGeometry *g = job->geometry;
    double *variances = g_new0(double, g->n_boxes);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        if (box->kind != WP_COARSE)
            variances[b] = job->noise.shape && box->kind == WP_DIRECTION
                               ? wp_box_mean(g->tiling, box, power_at, &job->noise)
                               : box_variance(box, &job->noise);
    }
    return variances;
}

float *wp_noise_levels(WpJob *job, double k, int threads)
{
    const WpGeometry *g = job->geometry;
    float *level = g_new0(float, g->n_boxes);
    if (!job->variances)
        job->variances = box_variances(job, threads);
    for (int b = 0; b < g->n_boxes; b++)
        level[b] = (float)(k * g->boxes[b].sigma * sqrt(job->variances[b]));
    return level;
}

const double *wp_noise_powers(WpJob *job, const WpBox *box, const LithoNoise *noise, int threads)
{
    double **powers = &job->powers[box->kind == WP_COARSE];
    double **seen = &job->local_window[box->kind == WP_COARSE];
    if (job->powers_white != !noise)
        for (guint i = 0; i < G_N_ELEMENTS(job->powers); i++)
            g_clear_pointer(&job->powers[i], g_free);
    job->powers_white = !noise;
    if (!*seen)
        *seen = wp_local_window(job->geometry->tiling, box, threads);
    if (!*powers)
        *powers = wp_local_powers(*seen, box, noise, threads);
    return *powers;
}

// Less than a millisecond for one thread unless wavenumbers differ: others would wake no sooner.
void wp_prepare_noise(WpJob *job, const LithoRun *run)
{
    const WpGeometry *g = job->geometry;
    const WpBox *residual = wp_residual(g), *coarse = &g->boxes[0];
    const gboolean short_work = !job->noise.shape && job->local_window[1];
    const int threads = short_work ? 1 : litho_run_threads(run);
    if (!job->variances)
        job->variances = box_variances(job, threads);
    if (residual)
        wp_noise_powers(job, residual, &job->noise, threads);
    wp_noise_powers(job, coarse, &job->noise, threads);
}

// --- as numbers of the recipe --------------------------------------------------------------------

enum {
    VERSION = 1,
    WITH_SHAPE = 2,
    WITH_MAP = 4,
    WITH_BANDS = 8,
    WITH_GAINS = 16,
    WITH_SHARES = 32,
    OF_EACH = WITH_GAINS | WITH_SHARES,
    MOST = 4096
};

// Followed by n doubles; with a shape, by two whole numbers of wavenumbers and their floats; with a
// map, by three whole numbers, its knots and its levels: WITH_MAP is added to the version; with one
// of bands, by their number and a map again, whose levels are those of all bands: WITH_BANDS; with
// gains, or with shares, by one float a trace of the survey.
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
    return g_strdup_printf("noise level by frequency, bursts %s%s",
                           g_ascii_dtostr(erratic, sizeof erratic, p->erratic),
                           wp_gains_asked(p) ? "" : ", not balanced");
}

static gsize shape_bytes(const LithoNoise *noise)
{
    return sizeof *noise->shape * noise->n * noise->window[0] * noise->window[1];
}

static gsize knots_of(const LithoNoiseMap *map)
{
    return (gsize)map->n[0] + map->n[1] + map->n[2];
}

static gsize levels_of(const LithoNoiseMap *map)
{
    return (gsize)MAX(map->bands, 1) * map->n[0] * map->n[1] * map->n[2];
}

static void add(GByteArray *to, gconstpointer from, gsize bytes)
{
    g_byte_array_append(to, from, (guint)bytes);
}

static void add_map(GByteArray *to, const LithoNoiseMap *map)
{
    add(to, map->n, sizeof map->n);
    add(to, map->at, knots_of(map) * sizeof *map->at);
    add(to, map->level, levels_of(map) * sizeof *map->level);
}

static LithoMeasured *to_measured(const LithoGrid *grid, const LithoNoise *noise, LithoUneven of,
                                  const void *params)
{
    const LithoNoiseMap *map = &noise->map;
    const Head head = {(noise->shape ? WITH_SHAPE : VERSION) + (map->level ? WITH_MAP : 0) +
                           (noise->bands.level ? WITH_BANDS : 0) +
                           (of.gain    ? WITH_GAINS
                            : of.share ? WITH_SHARES
                                       : 0),
                       noise->n,
                       noise->df,
                       noise->total,
                       noise->low,
                       noise->high};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree char *key = wp_measure_key(params);
    g_autofree char *text = litho_text_printf(_("noise level %.4g"), noise->total);
    add(bytes, &head, sizeof head);
    add(bytes, noise->sigma, noise->n * sizeof *noise->sigma);
    if (noise->shape) {
        add(bytes, noise->window, sizeof noise->window);
        add(bytes, noise->shape, shape_bytes(noise));
    }
    if (map->level)
        add_map(bytes, map);
    if (noise->bands.level) {
        add(bytes, &noise->bands.bands, sizeof noise->bands.bands);
        add_map(bytes, &noise->bands);
    }
    if (head.version & OF_EACH)
        add(bytes, of.gain ? of.gain : of.share, litho_grid_traces(grid) * sizeof(float));
    return litho_measured_new(key, text, bytes->data, bytes->len);
}

// Numbers that are read one behind the other.
typedef struct Bytes {
    const guint8 *at;
    gsize left;
} Bytes;

static gboolean take(Bytes *from, gpointer to, gsize bytes)
{
    if (from->left < bytes)
        return FALSE;
    memcpy(to, from->at, bytes);
    from->at += bytes;
    from->left -= bytes;
    return TRUE;
}

// FALSE where they are no shape.
static gboolean take_shape(LithoNoise *noise, Bytes *from)
{
    gboolean good = take(from, noise->window, sizeof noise->window);
    for (int a = 0; a < 2; a++)
        good = good && noise->window[a] > 0 && noise->window[a] <= TRACES;
    if (!good || from->left < shape_bytes(noise))
        return FALSE;
    noise->shape = g_malloc(shape_bytes(noise));
    take(from, noise->shape, shape_bytes(noise));
    for (gsize k = 0; k < shape_bytes(noise) / sizeof *noise->shape; k++)
        good &= isfinite(noise->shape[k]) && noise->shape[k] >= 0;
    return good;
}

// FALSE where they are no map.
static gboolean take_map(LithoNoiseMap *map, Bytes *from)
{
    const float most = 50; // of a logarithm
    gboolean good = take(from, map->n, sizeof map->n);
    for (int a = 0; a < 3; a++)
        good = good && map->n[a] > 0 && map->n[a] <= MOST;
    const gsize knots = knots_of(map) * sizeof *map->at;
    const gsize levels = levels_of(map) * sizeof *map->level;
    if (!good || from->left < knots + levels)
        return FALSE;
    map->at = g_malloc(knots);
    map->level = g_malloc(levels);
    take(from, map->at, knots);
    take(from, map->level, levels);
    const float *at = map->at;
    for (int a = 0; a < 3; at += map->n[a++])
        for (int k = 0; k < map->n[a]; k++)
            good &= isfinite(at[k]) && (k == 0 || at[k] > at[k - 1]);
    for (gsize k = 0; k < levels_of(map); k++)
        good &= isfinite(map->level[k]) && fabsf(map->level[k]) < most;
    return good;
}

// FALSE where they are no map of bands.
static gboolean take_bands(LithoNoiseMap *map, Bytes *from)
{
    return take(from, &map->bands, sizeof map->bands) && map->bands > 0 && map->bands <= MOST &&
           take_map(map, from);
}

LithoUneven wp_gains_from_measured(const LithoGrid *grid, const LithoMeasured *measured)
{
    LithoUneven of = {0};
    Head head = {0};
    Bytes from = {0};
    from.at = litho_measured_bytes(measured, &from.left);
    if (take(&from, &head, sizeof head) && (head.version & OF_EACH) != 0)
        litho_gains_of_bytes(grid, from.at, from.left, (head.version & WITH_GAINS) != 0, &of);
    return of;
}

static gboolean from_measured(const LithoGrid *grid, LithoMeasured *measured, LithoNoise *noise,
                              GError **error)
{
    Bytes from = {0};
    Head head = {0};
    from.at = litho_measured_bytes(measured, &from.left);
    gboolean good = take(&from, &head, sizeof head);
    const guint32 of_each = head.version & OF_EACH;
    const gsize traces = of_each ? litho_grid_traces(grid) * sizeof(float) : 0;
    const guint32 kind = head.version & ~(guint32)(WITH_MAP | WITH_BANDS | OF_EACH);
    const gboolean with_map = (head.version & WITH_MAP) != 0;
    const gboolean with_bands = (head.version & WITH_BANDS) != 0;
    const gsize levels = head.n * sizeof *noise->sigma;
    good = good && (kind == VERSION || kind == WITH_SHAPE) && head.n > 1 && head.n <= MOST &&
           from.left >= levels && head.df > 0 && isfinite(head.total) && head.total >= 0;
    if (good) {
        *noise = (LithoNoise){.n = head.n,
                              .df = head.df,
                              .total = head.total,
                              .low = head.low,
                              .high = head.high,
                              .sigma = g_malloc(levels)};
        take(&from, noise->sigma, levels);
        for (guint k = 0; k < noise->n; k++)
            good &= isfinite(noise->sigma[k]) && noise->sigma[k] >= 0;
        good = good && (kind == VERSION || take_shape(noise, &from)) &&
               (!with_map || take_map(&noise->map, &from)) &&
               (!with_bands || take_bands(&noise->bands, &from)) && from.left == traces;
        if (!good)
            litho_noise_clear(noise);
    }
    return good || litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "the measured noise level in the recipe cannot be read; without "
                                "\"measured\" it is measured again");
}

const guint8 *wp_recorded(const LithoCube *in)
{
    return litho_gaps_any(in, in->held) ? in->live : NULL;
}

static double energy_of(const LithoCube *cube, gint64 il)
{
    double sum = 0;
    for (gint64 xl = cube->held.lo[1]; xl < cube->held.hi[1]; xl++) {
        const float *trace = litho_cube_trace(cube, il, xl);
        for (gint64 t = 0; litho_cube_is_live(cube, il, xl) && t < cube->grid.axis[2].n; t++)
            sum += isfinite(trace[t]) ? (double)trace[t] * trace[t] : 0;
    }
    return sum;
}

// Samples of a survey, guesses included, and its recorded traces.
typedef struct Sums {
    double energy;
    gint64 recorded;
} Sums;

// Inlines [lo, hi) with a window more at their end: every window lies in a part. Around them stands
// what guesses for bursts and missing traces need, which are those of the whole then.
static gboolean add_part(LithoNoiseWindows *windows, const LithoWavepacketParams *p,
                         const WpReader *from, gint64 lo, gint64 hi, Sums *sums, LithoRun *run,
                         GError **error)
{
    const LithoReader *reader = &from->over;
    LithoBox within = litho_box_full(reader->grid);
    LithoRun quiet = litho_run_quiet(run);
    within.lo[0] = MAX(lo - TRACES, 0);
    within.hi[0] = MIN(hi + TRACES, within.hi[0]);
    const LithoCleanRule rule =
        wp_gains_clean_rule(from->of, 1, wp_clean_rule(p, LITHO_CLEAN_GUESSED));
    const LithoBox need = litho_clean_box(reader->grid, rule, within);
    g_autoptr(LithoCube) part = reader->read(&need, &quiet, reader->data, error);
    LithoClean clean = {0};
    const LithoCube *guessed = part ? litho_clean(&clean, rule, part, &quiet, error) : NULL;
    const gboolean ok = guessed && litho_noise_windows_add(windows, guessed, wp_recorded(part),
                                                           within, &quiet, error);
    for (gint64 il = lo; ok && il < hi; il++) {
        sums->energy += energy_of(guessed, il);
        for (gint64 xl = 0; xl < reader->grid->axis[1].n; xl++)
            sums->recorded += litho_cube_is_live(part, il, xl);
    }
    litho_clean_clear(&clean);
    return ok;
}

// The level in windows of `size`. FALSE: there are no windows, cancelled, no memory.
static gboolean measure_parts(const LithoWavepacketParams *p, const WpReader *from,
                              const int size[3], LithoRun *run, LithoNoise *noise, Sums *sums,
                              GError **error)
{
    const LithoReader *reader = &from->over;
    const gint64 n = reader->grid->axis[0].n;
    const gint64 samples = litho_grid_samples(reader->grid);
    const guint64 row = (2 * sizeof(float) * samples + litho_clean_bytes(samples)) / n;
    const gint64 around = TRACES + LITHO_GAPS_TRACES + LITHO_ERRATIC_TRACES;
    gint64 step = reader->bytes ? (gint64)(reader->bytes / MAX(row, 1)) - 2 * around : n;
    LithoNoiseWindows *windows = litho_noise_windows_new(reader->grid, NULL, size, WINDOWS, error);
    gboolean ok = windows != NULL;
    *sums = (Sums){0};
    step = MAX(step, TRACES);
    litho_run_begin(run, "noise level", "inlines");
    for (gint64 lo = 0; ok && lo < n; lo += step)
        ok = litho_run_step(run, lo, n, error) &&
             add_part(windows, p, from, lo, MIN(lo + step, n), sums, run, error);
    ok = ok && litho_noise_windows_finish(windows, run, noise, error);
    litho_noise_windows_free(windows);
    return ok;
}

static gboolean is_line(const LithoGrid *grid)
{
    return MIN(grid->axis[0].n, grid->axis[1].n) < WP_FEWEST;
}

static LithoMeasured *measure_over(const void *params, const WpReader *from, LithoRun *run,
                                   GError **error)
{
    const LithoReader *reader = &from->over;
    g_autoptr(GError) none = NULL;
    LithoNoise noise, others[WP_SMALLER];
    Sums sums, again;
    if (!measure_parts(params, from, window, run, &noise, &sums, error))
        return NULL;
    LithoMeasured *measured = NULL;
    const double power = sums.energy / (double)litho_grid_samples(reader->grid);
    const double recorded = (double)sums.recorded / (double)litho_grid_traces(reader->grid);
    gboolean ok = TRUE;
    if (wp_noise_may_leak(&noise, power)) {
        int n = 0;
        while (n < WP_SMALLER &&
               measure_parts(params, from, smaller[n], run, &others[n], &again, &none))
            n++;
        if (n == WP_SMALLER)
            wp_noise_take_leak(&noise, others, power, 1 - recorded, is_line(reader->grid));
        while (n > 0)
            litho_noise_clear(&others[--n]);
        ok = !none || g_error_matches(none, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    }
    wp_noise_check_map(&noise, power);
    if (ok && noise.map.level) {
        ok = measure_parts(params, from, shorter, run, &others[0], &again, &none);
        if (ok) {
            wp_noise_take_times(&noise, &others[0]);
            litho_noise_clear(&others[0]);
        }
    }
    if (ok)
        measured = to_measured(reader->grid, &noise, from->of, params);
    else
        g_propagate_error(error, g_steal_pointer(&none));
    litho_noise_clear(&noise);
    return measured;
}

LithoMeasured *wp_measure(const void *params, const LithoReader *reader, LithoRun *run,
                          GError **error)
{
    WpReader from;
    if (!wp_reader_begin(&from, params, reader, run, error))
        return NULL;
    LithoMeasured *measured = measure_over(params, &from, run, error);
    wp_reader_end(&from);
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
    g_clear_pointer(&job->variances, g_free);
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

static gboolean measures(const LithoWavepacketParams *p)
{
    return (p->mode == WP_DENOISE || p->mode == WP_INTERPOLATE) && !(p->sigma > 0);
}

guint64 wp_noise_memory(const LithoGrid *in, const LithoWavepacketParams *p)
{
    return measures(p) ? litho_noise_windows_memory(in, window, WINDOWS) : 0;
}

guint64 wp_noise_powers_memory(const LithoGrid *in, const LithoWavepacketParams *p)
{
    return measures(p) ? litho_noise_powers_memory(in, window, WINDOWS) : 0;
}

static gboolean take_noise(WpJob *job, LithoMeasured *measured, GError **error)
{
    if (job->noise_from == measured)
        return TRUE;
    wp_forget_noise(job);
    if (!from_measured(&job->survey, measured, &job->noise, error))
        return FALSE;
    job->noise_from = litho_measured_ref(measured);
    return TRUE;
}

// The levels that were measured last. One depends on the cube, on what counts as a burst and on
// where it is measured, not on the boxes, so that a slider that moves the directions finds it
// measured, also where other cubes were judged meanwhile. Before filling there are no guesses yet.
typedef struct Level {
    guint64 serial; // of the cube as it came, 0 = none
    double erratic;
    gboolean filling;
    WpLevelFunc by;
    LithoNoise noise;
} Level;

enum { KEPT_LEVELS = 8 };
static GMutex levels_lock;
static Level levels[KEPT_LEVELS];
static int next_level;

static gboolean is_of(const Level *l, const WpJob *job, guint64 serial,
                      const LithoWavepacketParams *p)
{
    return l->serial == serial && l->erratic == p->erratic && l->by == job->level &&
           l->filling == (p->mode == WP_INTERPOLATE);
}

static gboolean recall(WpJob *job, guint64 serial, const LithoWavepacketParams *p)
{
    gboolean known = FALSE;
    g_mutex_lock(&levels_lock);
    for (int k = 0; k < KEPT_LEVELS && !known; k++) {
        known = is_of(&levels[k], job, serial, p);
        if (known)
            job->noise = litho_noise_copy(&levels[k].noise);
    }
    g_mutex_unlock(&levels_lock);
    return known;
}

gboolean wp_noise_is_kept(const WpJob *job, const LithoPass *pass)
{
    gboolean known = FALSE;
    g_mutex_lock(&levels_lock);
    for (int k = 0; k < KEPT_LEVELS; k++)
        known |= is_of(&levels[k], job, pass->in->serial, pass->params);
    g_mutex_unlock(&levels_lock);
    return known;
}

static void remember(const WpJob *job, guint64 serial, const LithoWavepacketParams *p)
{
    g_mutex_lock(&levels_lock);
    Level *l = &levels[next_level];
    next_level = (next_level + 1) % KEPT_LEVELS;
    if (l->serial)
        litho_noise_clear(&l->noise);
    *l = (Level){serial, p->erratic, p->mode == WP_INTERPOLATE, job->level,
                 litho_noise_copy(&job->noise)};
    g_mutex_unlock(&levels_lock);
}

// Where there are bursts `clean` is another cube, with guesses.
static gboolean measure_in(const WpJob *job, const LithoCube *in, const LithoCube *clean,
                           const int size[3], const WpLevelBeside *beside, LithoRun *run,
                           LithoNoise *noise, GError **error)
{
    if (job->level)
        return job->level(clean, clean != in ? wp_recorded(in) : NULL, size, WINDOWS, beside, run,
                          noise, error);
    if (clean != in)
        return litho_noise_measure_level(clean, wp_recorded(in), NULL, size, WINDOWS, run, noise,
                                         NULL, error);
    return litho_cube_host(in, error) &&
           litho_noise_measure(in, NULL, size, WINDOWS, run, noise, error);
}

// The level of the large windows, less what leaks. No small windows: the level stays.
static gboolean take_leak(WpJob *job, const LithoCube *in, const LithoCube *clean, double recorded,
                          double power, LithoRun *run, GError **error)
{
    g_autoptr(GError) none = NULL;
    LithoNoise others[WP_SMALLER];
    int n = 0;
    while (n < WP_SMALLER && measure_in(job, in, clean, smaller[n], NULL, run, &others[n], &none))
        n++;
    if (n == WP_SMALLER)
        wp_noise_take_leak(&job->noise, others, power, 1 - recorded, is_line(&job->grid));
    while (n > 0)
        litho_noise_clear(&others[--n]);
    if (none && !g_error_matches(none, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
        g_propagate_error(error, g_steal_pointer(&none));
        return FALSE;
    }
    return TRUE;
}

gboolean wp_measure_noise(WpJob *job, const LithoPass *pass, const LithoCube *clean,
                          const WpLevelBeside *beside, LithoRun *run, GError **error)
{
    // Before filling missing traces are zero.
    const gboolean filling = ((const LithoWavepacketParams *)pass->params)->mode == WP_INTERPOLATE;
    const LithoCube *in = filling ? clean : pass->in;
    const guint8 *recorded_too;
    if (!measure_in(job, in, clean, window, beside, run, &job->noise, error))
        return FALSE;
    if (beside && !beside->wait(beside->data, &clean, &recorded_too)) {
        litho_noise_clear(&job->noise);
        return litho_run_stopped(error);
    }
    const double recorded =
        (double)litho_cube_count_live(in) / (double)litho_grid_traces(&job->grid);
    const double power = job->input_energy / (double)job->samples / (filling ? recorded : 1);
    if (wp_noise_may_leak(&job->noise, power) &&
        !take_leak(job, in, clean, recorded, power, run, error)) {
        litho_noise_clear(&job->noise);
        return FALSE;
    }
    wp_noise_check_map(&job->noise, power);
    if (!job->noise.map.level)
        return TRUE;
    LithoNoise other;
    if (!measure_in(job, in, clean, shorter, NULL, run, &other, error)) {
        litho_noise_clear(&job->noise);
        return FALSE;
    }
    wp_noise_take_times(&job->noise, &other);
    litho_noise_clear(&other);
    return TRUE;
}

gboolean wp_keep_noise(WpJob *job, const LithoPass *pass, const LithoCube *clean, gboolean measured,
                       GError *trouble, GError **error)
{
    if (measured) {
        remember(job, pass->in->serial, pass->params);
    } else {
        job->noise = (LithoNoise){0};
        if (!g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
            g_propagate_error(error, trouble);
            return FALSE;
        }
        g_error_free(trouble);
    }
    job->noise_of = clean->serial;
    return TRUE;
}

gboolean wp_look_up_noise(WpJob *job, const LithoPass *pass, const LithoCube **clean,
                          gboolean *known, LithoRun *run, GError **error)
{
    *known = TRUE;
    *clean = NULL;
    if (pass->measured)
        return take_noise(job, pass->measured, error);
    *clean = wp_clean(job, pass->params, pass->in, run, error);
    if (!*clean)
        return FALSE;
    if (!job->noise_from && job->noise_of == (*clean)->serial)
        return TRUE;
    wp_forget_noise(job);
    *known = recall(job, pass->in->serial, pass->params);
    if (*known)
        job->noise_of = (*clean)->serial;
    return TRUE;
}

gboolean wp_know_noise(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoCube *clean;
    GError *trouble = NULL;
    gboolean known;
    if (job->beside)
        return wp_beside_end(job, error);
    if (!wp_look_up_noise(job, pass, &clean, &known, run, error))
        return FALSE;
    if (known)
        return TRUE;
    const gboolean measured = wp_measure_noise(job, pass, clean, NULL, run, &trouble);
    return wp_keep_noise(job, pass, clean, measured, trouble, error);
}
