// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level of the noise on the device: litho_noise_measure() for windows that are long enough for
// neighbouring frequencies to tell where events are. Others, and cubes that it has no memory for,
// are the host's.
#include "kernels/wavepacket/cuda/level.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mute.h"
#include "kernels/common/gaps.h"
#include "kernels/common/noise_job.h"
#include "kernels/cuda/floor.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

G_STATIC_ASSERT((int)WP_LEVEL_GROUPS == (int)NOISE_GROUPS);
G_STATIC_ASSERT((int)WP_LEVEL_CLASSES == (int)NOISE_CLASSES);
G_STATIC_ASSERT(sizeof(WpLevelSums) == sizeof(NoiseClassSums));

enum { DIGITS = 2048 };

// Places in one device array, asked for before it is there.
typedef struct Room {
    gsize bytes;
    char *data; // NULL while sizes are counted
} Room;

static gpointer take(Room *room, gsize bytes)
{
    gpointer at = room->data ? room->data + room->bytes : NULL;
    room->bytes += (bytes + 255) / 256 * 256;
    return at;
}

typedef struct Level {
    LithoCudaContext *context;
    NoiseJob *job;
    WpLevelTask task;
    WpSelect select;
    WpLevelSpread spread;
    WpLevelClasses classes;
    WpLevelAll all;
    float *loud;          // per window, and behind it per frequency: results of selections
    float *quiet;         // noise_map_quiet()
    float *median, *bare; // per frequency: of all coefficients, without real ones
    char *tables;         // what the host knows beforehand
    cufftHandle fft;
    LithoCudaArray room, work, floor;
} Level;

// --- memory --------------------------------------------------------------------------------------

// Everything that is on the device; the first time with an empty room, to count.
static void lay_out(Level *l, Room *room)
{
    const NoiseJob *job = l->job;
    const gsize nk = noise_wavenumbers(job), windows = job->windows, nf = job->nf;
    const gsize field = nf * windows * nk * sizeof(float);
    WpLevelTask *t = &l->task;
    t->samples = take(room, MAX(windows * nk * job->n[2] * sizeof(float), field)); // later `near`
    t->near = t->samples;
    t->spectra = take(room, windows * nk * nf * 2 * sizeof(float));
    t->smooth = (float *)t->spectra; // later
    t->power = take(room, field);
    t->share = take(room, windows * sizeof(float));
    t->scale = take(room, windows * sizeof(float));
    t->leak = take(room, windows * sizeof(float));
    t->muted = take(room, windows * sizeof(float));
    l->quiet = take(room, 2 * noise_map_bands(job) * windows * sizeof(float));
    t->holes = take(room, windows);
    l->loud = take(room, windows * sizeof(float));
    l->median = take(room, nf * sizeof(float));
    l->bare = take(room, nf * sizeof(float));
    l->classes.limit = take(room, nf * sizeof(float));
    l->classes.parts = take(room, nf * windows * NOISE_CLASSES * sizeof(WpLevelPart));
    l->classes.mean = take(room, nf * windows * sizeof(double));
    l->classes.sums = take(room, nf * 2 * NOISE_CLASSES * sizeof(WpLevelSums));
    l->all.mean = take(room, nf * sizeof(double));
    l->all.slices = take(room, nf * WP_LEVEL_SLICES * sizeof(WpLevelSlice));
    l->all.arrived = take(room, nf * sizeof(unsigned));
    l->all.rests = take(room, nf * sizeof(unsigned));
    l->select.counts = take(room, MAX(windows, nf) * DIGITS * sizeof(unsigned));
    l->select.rank = take(room, MAX(windows, nf) * sizeof(guint64));
    l->select.prefix = take(room, MAX(windows, nf) * sizeof(unsigned));
}

// Tables that the host fills, in one piece behind the rest: `host` is their copy here.
static void fill_tables(Level *l, Room *room, Room *host)
{
    const NoiseJob *job = l->job;
    const gint64 windows = job->windows;
    WpLevelTask *t = &l->task;
    gint64 *at = take(host, 3 * windows * sizeof *at);
    t->at = take(room, 3 * windows * sizeof *at);
    int *place = take(host, 2 * windows * sizeof *place);
    l->spread.place = take(room, 2 * windows * sizeof *place);
    guint8 *half = take(host, windows);
    l->classes.half = take(room, windows);
    for (gint64 w = 0; at && w < windows; w++) {
        for (int a = 0; a < 3; a++)
            at[3 * w + a] = noise_start_of(job, a, noise_place_of(job, w, a));
        for (int a = 0; a < 2; a++)
            place[2 * w + a] = (int)noise_place_of(job, w, a);
        half[w] = (guint8)noise_half_of(job, w);
    }
    for (int a = 0; a < 3; a++) {
        double *taper = take(host, job->n[a] * sizeof *taper);
        t->taper[a] = take(room, job->n[a] * sizeof *taper);
        if (taper)
            memcpy(taper, job->taper[a], job->n[a] * sizeof *taper);
    }
    NoiseSpread spread = {{NULL}};
    if (at)
        spread = noise_spread_new(job);
    for (int a = 0; a < 2; a++) {
        const gsize bytes = (gsize)job->count[a] * job->n[a] * sizeof(float);
        float *far = take(host, bytes), *near = take(host, bytes);
        l->spread.far[a] = take(room, bytes);
        l->spread.close[a] = take(room, bytes);
        if (far) {
            memcpy(far, spread.far[a], bytes);
            memcpy(near, spread.near[a], bytes);
        }
    }
    noise_spread_clear(&spread);
}

static gboolean make_fft(Level *l, GError **error)
{
    int *n = l->job->n;
    size_t bytes = 0;
    return LITHO_CUFFT(cufftCreate(&l->fft), error) &&
           LITHO_CUFFT(cufftSetAutoAllocation(l->fft, 0), error) &&
           LITHO_CUFFT(cufftMakePlanMany(l->fft, 3, n, NULL, 1, 0, NULL, 1, 0, CUFFT_R2C,
                                         (int)l->job->windows, &bytes),
                       error) &&
           LITHO_CUFFT(cufftSetStream(l->fft, l->task.stream), error) &&
           litho_cuda_reserve(l->context, &l->work, MAX(bytes, 16), error) &&
           LITHO_CUFFT(cufftSetWorkArea(l->fft, l->work.data), error);
}

static void set_constants(Level *l)
{
    const NoiseJob *job = l->job;
    WpLevelTask *t = &l->task;
    for (int a = 0; a < 3; a++) {
        t->n[a] = job->n[a];
        t->box_lo[a] = job->box.lo[a];
        t->box_hi[a] = job->box.hi[a];
    }
    t->nf = job->nf;
    t->windows = (int)job->windows;
    t->mute_run = LITHO_MUTE_RUN;
    t->energy = job->energy;
    for (int i = 0; i < job->n[2]; i++)
        t->time_energy += job->taper[2][i] * job->taper[2][i];
    l->spread.loudest = NOISE_LOUD;
    l->spread.counts = NOISE_SPREAD_COUNTS;
    memcpy(l->classes.edge, noise_class_edge, sizeof l->classes.edge);
    for (int freedom = 1; freedom <= 2; freedom++) {
        const NoiseConstants c = noise_constants(freedom);
        l->all.of_median[freedom - 1] = c.median;
        l->all.below[freedom - 1] = c.share;
        l->all.cut = c.cut;
        l->all.passes = c.passes;
    }
}

static gboolean level_init(Level *l, GError **error)
{
    Room count = {0}, tables = {0};
    l->task.stream = litho_cuda_stream(l->context);
    set_constants(l);
    lay_out(l, &count);
    const gsize before = count.bytes;
    fill_tables(l, &count, &tables);
    if (!litho_cuda_reserve(l->context, &l->room, count.bytes, error))
        return FALSE;
    Room device = {0, l->room.data}, host = {0, g_malloc0(tables.bytes)};
    lay_out(l, &device);
    fill_tables(l, &device, &host);
    const gboolean sent =
        LITHO_CUDA(cudaMemcpyAsync((char *)l->room.data + before, host.data, host.bytes,
                                   cudaMemcpyHostToDevice, l->task.stream),
                   error);
    g_free(host.data); // it has left pageable memory when the call returns
    l->spread.median = l->median;
    l->spread.loud = l->loud;
    l->classes.loud = l->loud;
    l->all.median = l->bare;
    return sent && make_fft(l, error);
}

static void level_clear(Level *l)
{
    if (l->context)
        cudaStreamSynchronize(l->task.stream);
    if (l->fft)
        cufftDestroy(l->fft);
    litho_cuda_release(l->context, &l->room);
    litho_cuda_release(l->context, &l->work);
    litho_cuda_release(l->context, &l->floor);
    litho_noise_windows_free(l->job);
    litho_cuda_context_free(l->context);
}

// --- steps ---------------------------------------------------------------------------------------

static gboolean fetch(Level *l, gpointer to, gconstpointer from, gsize bytes, GError **error)
{
    return LITHO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, l->task.stream),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(l->task.stream), error);
}

static gboolean spectra(Level *l, GError **error)
{
    return LITHO_CUDA(wp_level_load(&l->task), error) &&
           LITHO_CUFFT(cufftExecR2C(l->fft, l->task.samples, (cufftComplex *)l->task.spectra),
                       error) &&
           LITHO_CUDA(wp_level_power(&l->task), error) &&
           fetch(l, l->job->share, l->task.share, l->job->windows * sizeof(float), error) &&
           fetch(l, l->job->leak, l->task.leak, l->job->windows * sizeof(float), error) &&
           fetch(l, l->job->muted, l->task.muted, l->job->windows * sizeof(float), error);
}

static gint64 live_windows(const NoiseJob *job)
{
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++)
        n += job->share[w] > 0;
    return n;
}

// Value number `share` of n in ascending order, in every segment; NAN: the median of what is left
// without real coefficients.
static gboolean select_rank(Level *l, const float *values, gboolean by_window, double share,
                            float *result, GError **error)
{
    const NoiseJob *job = l->job;
    const gint64 nk = noise_wavenumbers(job), live = live_windows(job);
    const int segments = by_window ? (int)job->windows : job->nf;
    const gboolean bare = isnan(share);
    g_autofree guint64 *rank = g_new0(guint64, segments);
    for (int s = 0; s < segments; s++) {
        gint64 n = by_window ? (job->share[s] > 0 ? nk * job->nf : 0) : live * nk;
        if (bare)
            n -= live * noise_real_wavenumbers(job, s);
        rank[s] = bare || share == 0.5 ? (guint64)(n / 2) : (guint64)(share * n);
    }
    l->select.values = values;
    l->select.by_window = by_window;
    l->select.without_real = bare;
    l->select.result = result;
    return LITHO_CUDA(cudaMemcpyAsync(l->select.rank, rank, segments * sizeof *rank,
                                      cudaMemcpyHostToDevice, l->task.stream),
                      error) &&
           LITHO_CUDA(wp_level_select(&l->task, &l->select), error);
}

static gboolean know_loudness(Level *l, float *loud, GError **error)
{
    const gsize bytes = l->job->windows * sizeof *loud;
    if (!select_rank(l, l->task.near, TRUE, NOISE_QUIET, l->loud, error) ||
        !fetch(l, loud, l->loud, bytes, error))
        return FALSE;
    noise_settle_loudness(l->job, loud);
    return LITHO_CUDA(cudaMemcpyAsync(l->loud, loud, bytes, cudaMemcpyHostToDevice, l->task.stream),
                      error);
}

// noise_floor() of the windows.
static gboolean fetch_floor(Level *l, float *floor, GError **error)
{
    const NoiseJob *job = l->job;
    const gint64 nk = noise_wavenumbers(job);
    const gsize bytes = job->nf * nk * sizeof *floor;
    const LithoFloorJob all = {0, (int)job->windows};
    if (!litho_cuda_reserve(l->context, &l->floor, bytes + sizeof all, error))
        return FALSE;
    float *to = l->floor.data;
    gpointer table = (char *)l->floor.data + bytes;
    return LITHO_CUDA(
               cudaMemcpyAsync(table, &all, sizeof all, cudaMemcpyHostToDevice, l->task.stream),
               error) &&
           LITHO_CUDA(litho_noise_floor_launch(l->task.power, l->task.share, table, 1, job->nf,
                                               (int)nk, NOISE_FLOOR_PART, NOISE_FLOOR_WINDOWS, to,
                                               l->task.stream),
                      error) &&
           fetch(l, floor, to, bytes, error);
}

// From the powers to the level.
static gboolean levels(Level *l, LithoNoise *noise, GError **error)
{
    const NoiseJob *job = l->job;
    const gsize nf = job->nf, n_sums = nf * 2 * NOISE_CLASSES;
    g_autofree float *loud = g_new(float, job->windows);
    g_autofree NoiseClassSums *sums = g_new(NoiseClassSums, n_sums);
    g_autofree double *all = g_new0(double, nf), *leaking = g_new0(double, nf);
    g_autofree double *sigma = g_new0(double, (NOISE_GROUPS + 1) * nf);
    g_autofree float *floor = g_new(float, nf *noise_wavenumbers(job));
    const int bands = noise_map_bands(job);
    const gsize n_quiet = (gsize)2 * bands * job->windows;
    g_autofree float *quiet = g_new(float, n_quiet);
    if (!select_rank(l, l->task.power, FALSE, 0.5, l->median, error) ||
        !select_rank(l, l->task.power, FALSE, NAN, l->bare, error) ||
        !LITHO_CUDA(wp_level_all(&l->task, &l->all), error) ||
        !LITHO_CUDA(wp_level_smooth(&l->task, l->median), error) ||
        !LITHO_CUDA(wp_level_near(&l->task, NOISE_NEAR, NOISE_FAR), error) ||
        !know_loudness(l, loud, error) ||
        !LITHO_CUDA(wp_level_spread(&l->task, &l->spread), error) ||
        !select_rank(l, l->task.near, FALSE, NOISE_QUIET, (float *)l->classes.limit, error) ||
        !LITHO_CUDA(wp_level_classes(&l->task, &l->classes), error) ||
        !fetch(l, sums, l->classes.sums, n_sums * sizeof *sums, error) ||
        !fetch(l, all, l->all.mean, nf * sizeof *all, error) ||
        !LITHO_CUDA(wp_level_quiet(&l->task, bands, (int)noise_map_rank(job), l->quiet), error) ||
        !fetch(l, quiet, l->quiet, n_quiet * sizeof *quiet, error) || !fetch_floor(l, floor, error))
        return FALSE;
    for (gsize f = 0; f < nf; f++)
        all[f] = sqrt(all[f]);
    *noise = (LithoNoise){0};
    noise_quiet_conclude(job, sums, loud, sigma, leaking, noise);
    noise_map_common(job, quiet, noise);
    noise_conclude(job, TRUE, all, sigma, leaking, noise);
    noise_map_find_bands(job, quiet, noise);
    noise_take_floor(job, floor, noise);
    return TRUE;
}

// Guesses in place of missing traces count as nothing; `in` has its own where `known` tells which
// traces were recorded.
static gboolean measure(const LithoCube *in, const guint8 *known, const int window[3], int most,
                        LithoRun *run, LithoNoise *noise, GError **error)
{
    g_autoptr(LithoCube) guessed = NULL;
    const LithoCube *cube = in;
    const guint8 *recorded = known ? known : litho_gaps_any(in, in->held) ? in->live : NULL;
    LithoCudaGaps gaps = {0};
    const gsize traces = (gsize)litho_box_size(cube->held, 0) * litho_box_size(cube->held, 1);
    Level l = {.job = noise_places_new(&cube->grid, &cube->held, window, most, error)};
    LithoCudaArray masks = {0};
    if (!l.job)
        return FALSE;
    l.context = litho_cuda_context_new(run ? run->device : 0, error);
    gboolean ok = l.context && litho_cuda_enter(l.context, error) && level_init(&l, error) &&
                  litho_run_step(run, 0, 2, error);
    WpLevelTask *t = &l.task;
    if (ok && recorded && !known)
        cube = guessed =
            litho_cuda_gaps_guess(l.context, &gaps, in, NULL, (LithoGapsRule){0}, run, error);
    ok = ok && cube && (t->in = litho_cuda_input(l.context, cube, run, error)) != NULL &&
         litho_cuda_reserve(l.context, &masks, 2 * traces, error) &&
         LITHO_CUDA(
             cudaMemcpyAsync(masks.data, cube->live, traces, cudaMemcpyHostToDevice, t->stream),
             error) &&
         (!recorded || LITHO_CUDA(cudaMemcpyAsync((char *)masks.data + traces, recorded, traces,
                                                  cudaMemcpyHostToDevice, t->stream),
                                  error));
    for (int a = 0; a < 3; a++) {
        t->lo[a] = in->held.lo[a];
        t->size[a] = litho_box_size(in->held, a);
    }
    t->live = masks.data;
    t->recorded = recorded && masks.data ? (guint8 *)masks.data + traces : NULL;
    ok = ok && spectra(&l, error) && noise_has_enough(l.job, error) &&
         litho_run_step(run, 1, 2, error) && levels(&l, noise, error);
    if (ok && !litho_run_step(run, 2, 2, error)) {
        litho_noise_clear(noise);
        ok = FALSE;
    }
    litho_cuda_release(l.context, &masks);
    if (l.context)
        litho_cuda_gaps_release(l.context, &gaps);
    level_clear(&l);
    return ok;
}

static gboolean on_host(const LithoCube *cube, const guint8 *recorded, const int window[3],
                        int most, LithoRun *run, LithoNoise *noise, GError **error)
{
    return litho_cube_host(cube, error) &&
           (recorded ? litho_noise_measure_level(cube, recorded, NULL, window, most, run, noise,
                                                 NULL, error)
                     : litho_noise_measure(cube, NULL, window, most, run, noise, error));
}

gboolean wp_cuda_level(const LithoCube *cube, const guint8 *recorded, const int window[3], int most,
                       LithoRun *run, LithoNoise *noise, GError **error)
{
    const double start = litho_now_ms();
    g_autoptr(GError) trouble = NULL;
    for (int a = 0; a < 3; a++)
        if (litho_box_size(cube->held, a) < window[a])
            return on_host(cube, recorded, window, most, run, noise, error);
    litho_run_begin(run, "noise level", "windows");
    const gboolean ok = measure(cube, recorded, window, most, run, noise, &trouble);
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    if (ok)
        return TRUE;
    if (g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_MEMORY))
        return on_host(cube, recorded, window, most, run, noise, error);
    g_propagate_error(error, g_steal_pointer(&trouble));
    return FALSE;
}
