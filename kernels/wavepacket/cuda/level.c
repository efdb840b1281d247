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
#include "kernels/wavepacket/apply.h"
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
    WpSelect select, bare_select; // that of the stream beside
    WpLevelSpread spread;
    WpLevelClasses classes;
    WpLevelAll all;
    float *loud;          // per window, and behind it per frequency: results of selections
    float *quiet;         // noise_map_quiet()
    float *median, *bare; // per frequency: of all coefficients, without real ones
    char *tables;         // what the host knows beforehand
    cufftHandle fft;
    LithoCudaArray room, work;
    // The stream on which all wavenumbers are looked at, beside the quiet ones.
    cudaStream_t beside;
    cudaEvent_t powers_known;
    float *floor; // [frequency][wavenumber], and its LithoFloorJob
    LithoFloorJob *floor_job;
} Level;

// --- memory --------------------------------------------------------------------------------------

static void lay_out_select(const NoiseJob *job, Room *room, WpSelect *select)
{
    const gsize segments = MAX(job->windows, job->nf);
    select->counts = take(room, segments * DIGITS * sizeof(unsigned));
    select->rank = take(room, segments * sizeof(guint64));
    select->prefix = take(room, segments * sizeof(unsigned));
}

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
    t->scale = take(room, windows * sizeof(float));
    t->share = take(room, windows * sizeof(float)); // from here on what fetch_windows() copies
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
    l->floor = take(room, nf * nk * sizeof(float));
    l->floor_job = take(room, sizeof *l->floor_job);
    lay_out_select(job, room, &l->select);
    lay_out_select(job, room, &l->bare_select);
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

static gboolean make_beside(Level *l, GError **error)
{
    int least = 0, greatest = 0;
    return LITHO_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest), error) &&
           LITHO_CUDA(cudaStreamCreateWithPriority(&l->beside, cudaStreamNonBlocking, greatest),
                      error) &&
           LITHO_CUDA(cudaEventCreateWithFlags(&l->powers_known, cudaEventDisableTiming), error);
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
    return sent && make_beside(l, error) && make_fft(l, error);
}

static void level_clear(Level *l)
{
    if (l->context)
        cudaStreamSynchronize(l->task.stream);
    if (l->beside) {
        cudaStreamSynchronize(l->beside);
        cudaStreamDestroy(l->beside);
    }
    if (l->powers_known)
        cudaEventDestroy(l->powers_known);
    if (l->fft)
        cufftDestroy(l->fft);
    litho_cuda_release(l->context, &l->room);
    litho_cuda_release(l->context, &l->work);
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

// Where windows are told apart: by their traces, and by noise_map_quiet(), in one copy.
static gboolean fetch_windows(Level *l, float *quiet, GError **error)
{
    NoiseJob *job = l->job;
    const gsize windows = job->windows, n_quiet = (gsize)2 * noise_map_bands(job) * windows;
    const float *from = l->task.share, *end = l->quiet + n_quiet;
    g_autofree float *host = g_new(float, end - from);
    if (!fetch(l, host, from, (end - from) * sizeof *host, error))
        return FALSE;
    memcpy(job->share, host, windows * sizeof *host);
    memcpy(job->leak, host + (l->task.leak - from), windows * sizeof *host);
    memcpy(job->muted, host + (l->task.muted - from), windows * sizeof *host);
    memcpy(quiet, host + (l->quiet - from), n_quiet * sizeof *host);
    return TRUE;
}

static gboolean spectra(Level *l, float *quiet, GError **error)
{
    const int bands = noise_map_bands(l->job), rank = (int)noise_map_rank(l->job);
    return LITHO_CUDA(wp_level_load(&l->task), error) &&
           LITHO_CUFFT(cufftExecR2C(l->fft, l->task.samples, (cufftComplex *)l->task.spectra),
                       error) &&
           LITHO_CUDA(wp_level_power(&l->task), error) &&
           LITHO_CUDA(cudaEventRecord(l->powers_known, l->task.stream), error) &&
           LITHO_CUDA(wp_level_quiet(&l->task, bands, rank, l->quiet), error) &&
           fetch_windows(l, quiet, error);
}

static gint64 live_windows(const NoiseJob *job)
{
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++)
        n += job->share[w] > 0;
    return n;
}

// Value number `share` of n in ascending order, in every segment; NAN: the median of what is left
// without real coefficients. On the stream of `task`.
static gboolean select_rank(const Level *l, const WpLevelTask *task, WpSelect *select,
                            const float *values, gboolean by_window, double share, float *result,
                            GError **error)
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
    select->values = values;
    select->by_window = by_window;
    select->without_real = bare;
    select->result = result;
    return LITHO_CUDA(cudaMemcpyAsync(select->rank, rank, segments * sizeof *rank,
                                      cudaMemcpyHostToDevice, task->stream),
                      error) &&
           LITHO_CUDA(wp_level_select(task, select), error);
}

static gboolean ask_floor(Level *l, double part, GError **error)
{
    const NoiseJob *job = l->job;
    const WpLevelTask *t = &l->task;
    return LITHO_CUDA(litho_noise_floor_launch(t->power, t->share, l->floor_job, 1, job->nf,
                                               (int)noise_wavenumbers(job), part,
                                               NOISE_FLOOR_WINDOWS, l->floor, l->beside),
                      error);
}

static gboolean fetch_floor(Level *l, float *floor, GError **error)
{
    const gsize n = (gsize)l->job->nf * noise_wavenumbers(l->job);
    return LITHO_CUDA(cudaMemcpyAsync(floor, l->floor, n * sizeof *floor, cudaMemcpyDeviceToHost,
                                      l->beside),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(l->beside), error);
}

// Asks for the mean of all wavenumbers, and noise_floor() of the windows.
static gboolean ask_beside(Level *l, GError **error)
{
    const NoiseJob *job = l->job;
    const LithoFloorJob all = {0, (int)job->windows};
    WpLevelTask t = l->task;
    t.stream = l->beside;
    return LITHO_CUDA(cudaStreamWaitEvent(t.stream, l->powers_known, 0), error) &&
           select_rank(l, &t, &l->bare_select, t.power, FALSE, NAN, l->bare, error) &&
           LITHO_CUDA(wp_level_all(&t, &l->all), error) &&
           LITHO_CUDA(
               cudaMemcpyAsync(l->floor_job, &all, sizeof all, cudaMemcpyHostToDevice, t.stream),
               error) &&
           ask_floor(l, NOISE_FLOOR_PART, error);
}

static gboolean ask_loudness(Level *l, GError **error)
{
    const WpLevelTask *t = &l->task;
    return select_rank(l, t, &l->select, t->power, FALSE, 0.5, l->median, error) &&
           LITHO_CUDA(wp_level_smooth(t, l->median), error) &&
           LITHO_CUDA(wp_level_near(t, NOISE_NEAR, NOISE_FAR), error) &&
           select_rank(l, t, &l->select, t->near, TRUE, NOISE_QUIET, l->loud, error);
}

static gboolean know_loudness(Level *l, float *loud, GError **error)
{
    const gsize bytes = l->job->windows * sizeof *loud;
    if (!fetch(l, loud, l->loud, bytes, error))
        return FALSE;
    noise_settle_loudness(l->job, loud);
    return LITHO_CUDA(cudaMemcpyAsync(l->loud, loud, bytes, cudaMemcpyHostToDevice, l->task.stream),
                      error);
}

static gboolean fetch_beside(Level *l, double *all, float *floor, GError **error)
{
    return LITHO_CUDA(cudaMemcpyAsync(all, l->all.mean, l->job->nf * sizeof *all,
                                      cudaMemcpyDeviceToHost, l->beside),
                      error) &&
           fetch_floor(l, floor, error);
}

// The level at each wavenumber, where they hold more: another part of the windows is asked then.
static gboolean take_floor(Level *l, const float *tenth, LithoNoise *noise, GError **error)
{
    g_autofree float *half = NULL;
    if (!noise_holds_more(l->job, tenth, noise))
        return TRUE;
    half = g_new(float, (gsize)l->job->nf *noise_wavenumbers(l->job));
    if (!ask_floor(l, 0.5, error) || !fetch_floor(l, half, error)) {
        litho_noise_clear(noise);
        return FALSE;
    }
    noise_take_floor(l->job, tenth, half, noise);
    return TRUE;
}

// From the powers to the level.
static gboolean levels(Level *l, const float *quiet, const WpLevelBeside *beside, LithoNoise *noise,
                       GError **error)
{
    const NoiseJob *job = l->job;
    const gsize nf = job->nf, n_sums = nf * 2 * NOISE_CLASSES;
    g_autofree float *loud = g_new(float, job->windows);
    g_autofree NoiseClassSums *sums = g_new(NoiseClassSums, n_sums);
    g_autofree double *all = g_new0(double, nf), *leaking = g_new0(double, nf);
    g_autofree double *sigma = g_new0(double, (NOISE_GROUPS + 1) * nf);
    g_autofree float *floor = g_new(float, nf *noise_wavenumbers(job));
    if (!ask_loudness(l, error) || !ask_beside(l, error))
        return FALSE;
    const gboolean even = noise_map_is_even(job, quiet); // beside the device
    if (even && beside)
        beside->even(beside->data);
    if (!know_loudness(l, loud, error) ||
        !LITHO_CUDA(wp_level_spread(&l->task, &l->spread), error) ||
        !select_rank(l, &l->task, &l->select, l->task.near, FALSE, NOISE_QUIET,
                     (float *)l->classes.limit, error) ||
        !LITHO_CUDA(wp_level_classes(&l->task, &l->classes), error) ||
        !fetch_beside(l, all, floor, error) ||
        !fetch(l, sums, l->classes.sums, n_sums * sizeof *sums, error))
        return FALSE;
    for (gsize f = 0; f < nf; f++)
        all[f] = sqrt(all[f]);
    *noise = (LithoNoise){0};
    noise_quiet_conclude(job, sums, loud, sigma, leaking, noise);
    if (!even)
        noise_map_common(job, quiet, noise);
    noise_conclude(job, TRUE, all, sigma, leaking, noise);
    if (!even)
        noise_map_find_bands(job, quiet, noise);
    return take_floor(l, floor, noise, error);
}

typedef struct Input {
    const LithoCube *in;
    const guint8 *known; // traces of `in`, which has its guesses, that were recorded; NULL = none
    const WpLevelBeside *beside;
} Input;

// Samples and masks on the device. Guesses in place of missing traces count as nothing.
static gboolean put_input(Level *l, Input *input, LithoCudaGaps *gaps, LithoCudaArray *masks,
                          LithoCube **guessed, LithoRun *run, GError **error)
{
    const LithoCube *in = input->in, *cube = in;
    const guint8 *recorded = input->known                   ? input->known
                             : litho_gaps_any(in, in->held) ? in->live
                                                            : NULL;
    const gsize traces = (gsize)litho_box_size(in->held, 0) * litho_box_size(in->held, 1);
    WpLevelTask *t = &l->task;
    if (recorded && !input->known)
        cube = *guessed =
            litho_cuda_gaps_guess(l->context, gaps, in, NULL, (LithoGapsRule){0}, run, error);
    if (!cube || !(t->in = litho_cuda_input(l->context, cube, run, error)) ||
        !litho_cuda_reserve(l->context, masks, 2 * traces, error))
        return FALSE;
    guint8 *live = masks->data;
    for (int a = 0; a < 3; a++) {
        t->lo[a] = in->held.lo[a];
        t->size[a] = litho_box_size(in->held, a);
    }
    t->live = live;
    t->recorded = recorded ? live + traces : NULL;
    return LITHO_CUDA(cudaMemcpyAsync(live, cube->live, traces, cudaMemcpyHostToDevice, t->stream),
                      error) &&
           (!recorded || LITHO_CUDA(cudaMemcpyAsync(live + traces, recorded, traces,
                                                    cudaMemcpyHostToDevice, t->stream),
                                    error));
}

static gboolean arrived(Input *input, GError **error)
{
    const WpLevelBeside *b = input->beside;
    return !b || b->wait(b->data, &input->in, &input->known) || litho_run_stopped(error);
}

static gboolean measure(Input *input, const int window[3], int most, LithoRun *run,
                        LithoNoise *noise, GError **error)
{
    g_autoptr(LithoCube) guessed = NULL;
    const LithoCube *sizes = input->in;
    LithoCudaGaps gaps = {0};
    LithoCudaArray masks = {0};
    Level l = {.job = noise_places_new(&sizes->grid, &sizes->held, window, most, error)};
    if (!l.job)
        return FALSE;
    const gsize n_quiet = (gsize)2 * noise_map_bands(l.job) * l.job->windows;
    g_autofree float *quiet = g_new(float, n_quiet);
    l.context = litho_cuda_context_new_urgent(run ? run->device : 0, error);
    gboolean ok = l.context && litho_cuda_enter(l.context, error) && level_init(&l, error) &&
                  litho_run_step(run, 0, 2, error) && arrived(input, error) &&
                  put_input(&l, input, &gaps, &masks, &guessed, run, error) &&
                  spectra(&l, quiet, error) && noise_has_enough(l.job, error) &&
                  litho_run_step(run, 1, 2, error) &&
                  levels(&l, quiet, input->beside, noise, error);
    if (ok && !litho_run_step(run, 2, 2, error)) {
        litho_noise_clear(noise);
        ok = FALSE;
    }
    if (l.context) {
        cudaStreamSynchronize(l.task.stream);
        litho_cuda_release(l.context, &masks);
        litho_cuda_gaps_release(l.context, &gaps);
    }
    level_clear(&l);
    return ok;
}

static gboolean on_host(Input *input, const int window[3], int most, LithoRun *run,
                        LithoNoise *noise, GError **error)
{
    if (!arrived(input, error) || !litho_cube_host(input->in, error))
        return FALSE;
    return input->known ? litho_noise_measure_level(input->in, input->known, NULL, window, most,
                                                    run, noise, NULL, error)
                        : litho_noise_measure(input->in, NULL, window, most, run, noise, error);
}

gboolean wp_cuda_level(const LithoCube *cube, const guint8 *recorded, const int window[3], int most,
                       const WpLevelBeside *beside, LithoRun *run, LithoNoise *noise,
                       GError **error)
{
    const double start = litho_now_ms();
    Input input = {cube, recorded, beside};
    g_autoptr(GError) trouble = NULL;
    for (int a = 0; a < 3; a++)
        if (litho_box_size(cube->held, a) < window[a])
            return on_host(&input, window, most, run, noise, error);
    litho_run_begin(run, "noise level", "windows");
    const gboolean ok = measure(&input, window, most, run, noise, &trouble);
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    if (ok)
        return TRUE;
    if (g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_MEMORY))
        return on_host(&input, window, most, run, noise, error);
    g_propagate_error(error, g_steal_pointer(&trouble));
    return FALSE;
}
