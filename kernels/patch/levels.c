// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/levels.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "kernels/common/noise_job.h"
#include "kernels/common/noise_traces.h"
#include "kernels/common/offset.h"
#include "kernels/patch/floor.h"
#include "kernels/patch/gains.h"
#include "kernels/patch/levels_bands.h"
#include "kernels/patch/levels_cells.h"
#include "kernels/patch/levels_lines.h"
#include "kernels/patch/levels_traces.h"
#include "kernels/patch/choice.h"

// A narrow window has fewer traces along an axis (noise_tells_shape()).
enum { FEWEST_TRACES = 8 };

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoNoiseWindows, litho_noise_windows_free)

static void put(float *to, const LithoNoise *noise, int bins)
{
    for (int f = 0; f < bins; f++)
        to[f] = (float)noise->sigma[MIN(f, (int)noise->n - 1)];
}

// A survey that is measured: whole, or part by part.
typedef struct Measuring {
    PatchLevels *l;
    const LithoGrid *grid;
    int window[3];
    const PatchMeter *cleaner; // of the device, which finds the bursts; NULL: the host does
    const PatchMeter *meter;   // NULL: the host measures
    LithoNoiseWindows *whole;
    LithoNoiseWindows
        *sines;   // the same behind plain sines, for the floor of one cell; NULL: `whole`
    guint8 *done; // per cell; 2 = no trace lives there
    int n_done;
    gboolean any;         // a part that was read holds a sample that is not zero
    gboolean has_offset;  // which `any` is without
    LithoScatter scatter; // of the traces (gains.h)
    PatchFloor floor;
    PatchFaint *faint; // of few lines, [cell][frequency] (levels_lines.h); else NULL
    NoiseTraces *traces; // NULL: the level is one for all places, or nothing tells it
} Measuring;

static void measuring_clear(Measuring *m)
{
    litho_noise_windows_free(m->whole);
    litho_noise_windows_free(m->sines);
    patch_floor_clear(&m->floor);
    noise_traces_free(m->traces);
    g_free(m->faint);
    g_free(m->done);
}

// --- narrow windows ------------------------------------------------------------------------------

gboolean patch_is_narrow(const int window[2])
{
    return MIN(window[0], window[1]) < FEWEST_TRACES;
}

// Windows of few traces along an axis have few wavenumbers, and next to none is far from dense
// events: side lobes of the sine at the quiet ones are 50 dB below the events, and their level was
// up to 8 times too high where the noise is fainter. The cube of the sine, along axes of 8 traces
// and more, leaves 1.0 to 1.3 times the level at 40 dB. Along time noise differs from frequency to
// frequency: the filter's sine spreads it, and the level must hold that.
static void take_cubes(NoiseJob *job)
{
    job->energy = 1;
    for (int a = 0; a < 2; a++) {
        double energy = 0;
        for (int k = 0; k < job->n[a]; k++) {
            const double sine = job->taper[a][k];
            job->taper[a][k] = job->n[a] < FEWEST_TRACES ? sine : sine * sine * sine;
            energy += job->taper[a][k] * job->taper[a][k];
        }
        job->energy *= energy;
    }
}

gboolean patch_levels_have_cubes(const int window[3])
{
    return patch_is_narrow(window) && window[2] < PATCH_LONG_WINDOW;
}

// The windows of `box`, those of a whole survey where it is NULL. `cubes`: for the level.
static LithoNoiseWindows *windows_new(const Measuring *m, const LithoBox *box, int most,
                                      gboolean cubes, GError **error)
{
    const int dense = litho_patch_dense_of(m->window);
    LithoNoiseWindows *job = dense > 1
                                 ? noise_windows_dense(m->grid, box, m->window, most, dense, error)
                                 : litho_noise_windows_new(m->grid, box, m->window, most, error);
    if (job)
        job->flat = TRUE; // the floor is told here
    if (job && cubes)
        take_cubes(job);
    return job;
}

static gboolean begin_whole(Measuring *m, GError **error)
{
    if (m->meter) {
        m->whole = noise_places_new(m->grid, NULL, m->window, patch_all_windows(m->window), error);
        return m->whole != NULL;
    }
    const gboolean cubes = patch_levels_have_cubes(m->window);
    if (!(m->whole = windows_new(m, NULL, patch_all_windows(m->window), cubes, error)))
        return FALSE;
    if (cubes && noise_tells_shape(m->window) && patch_levels_cells(m->l) == 1)
        m->sines = windows_new(m, NULL, patch_all_windows(m->window), FALSE, error);
    return m->sines || !cubes || !noise_tells_shape(m->window) || patch_levels_cells(m->l) > 1;
}

static gboolean measuring_begin(Measuring *m, PatchLevels *l, const LithoPatchGeometry *g,
                                const LithoGrid *grid, const PatchMeter *meter, LithoRun *run,
                                GError **error)
{
    *m = (Measuring){.l = l,
                     .grid = grid,
                     .window = {g->axis[0].length, g->axis[1].length, g->axis[2].length},
                     .done = g_malloc0(patch_levels_cells(l))};
    patch_floor_init(&m->floor, g, patch_levels_cells(l));
    m->cleaner = meter;
    const gboolean few = patch_lines_are_few(grid) && patch_levels_cells(l) > 1;
    m->faint = few ? g_new0(PatchFaint, (gsize)patch_levels_cells(l) * g->bins) : NULL;
    GError *trouble = NULL;
    m->traces = l->params.level == LITHO_PATCH_LOCAL ? noise_traces_new(grid, &trouble) : NULL;
    if (trouble) {
        g_propagate_error(error, trouble);
        return FALSE;
    }
    m->meter = meter && !few && patch_meter_takes(m->window) ? meter : NULL;
    litho_run_begin(run, "noise level", "cells");
    return begin_whole(m, error);
}

// Level and floor of cell `k`.
static gboolean level_of_cell(const Measuring *m, const LithoCube *part, const guint8 *recorded,
                              int k, LithoRun *run, PatchCellPowers *powers, LithoNoise *noise,
                              GError **error)
{
    const LithoBox box = patch_cells_box(m->l, m->grid, k);
    const gboolean cubes = patch_levels_have_cubes(m->window);
    const int threads = litho_run_threads(run);
    for (int pass = 0; pass <= cubes; pass++) {
        g_autoptr(LithoNoiseWindows) job =
            windows_new(m, &box, patch_cells_windows(m->l), cubes && pass == 0, error);
        if (!job || !litho_noise_windows_add(job, part, recorded, box, run, error) ||
            !noise_has_enough(job, error))
            return FALSE;
        job->run = run;
        if (pass == 0)
            noise_fill(job, threads, FALSE, noise);
        if (pass == 0 && m->faint)
            patch_lines_tell(m->l, k, job, m->faint + (gsize)k * m->l->table.bins);
        if (pass == cubes)
            patch_powers_tell(&m->floor, job, threads, powers);
        if (!litho_run_step(run, 1, 1, error)) {
            litho_noise_clear(noise);
            return FALSE;
        }
    }
    return TRUE;
}

// Cells may be measured beside each other: sums of whole numbers do not depend on their order.
static gboolean measure_cell(Measuring *m, const LithoCube *part, const guint8 *recorded, int k,
                             LithoRun *run, PatchCellPowers *powers, GError **error)
{
    g_autoptr(GError) trouble = NULL;
    LithoNoise noise = {0};
    const gboolean ok = level_of_cell(m, part, recorded, k, run, powers, &noise, &trouble);
    if (!ok && !g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
#pragma omp critical(patch_levels)
    {
        if (ok) {
            put(m->l->sigma + (gsize)k * m->l->table.bins, &noise, m->l->table.bins);
            patch_floor_add(&m->floor, k, powers);
        }
        m->done[k] = ok ? 1 : 2;
        m->n_done++;
    }
    litho_noise_clear(&noise);
    return TRUE;
}

// --- on a device ---------------------------------------------------------------------------------

// Cells from `k` on that lie in `within` and are not measured, as many as a batch takes; their
// numbers to `cells`. Where to go on.
static int next_batch(const Measuring *m, LithoBox within, int k, GArray *cells)
{
    const int all = patch_levels_cells(m->l);
    const gsize bytes = sizeof(float) * patch_cells_windows(m->l) * (gsize)m->l->table.bins *
                        m->window[0] * m->window[1];
    const guint most = (guint)MAX(PATCH_DEVICE_BYTES / bytes, 1);
    g_array_set_size(cells, 0);
    for (; k < all && cells->len < most; k++) {
        const LithoBox box = patch_cells_box(m->l, m->grid, k);
        if (!m->done[k] && all > 1 && litho_box_contains(within, box))
            g_array_append_val(cells, k);
    }
    return k;
}

static gboolean measure_batch(Measuring *m, const LithoCube *part, const guint8 *recorded,
                              LithoBox within, const GArray *cells, LithoRun *run, GError **error)
{
    const PatchMeter *meter = m->meter;
    g_autofree LithoNoise *noise = g_new0(LithoNoise, cells->len);
    g_autoptr(GPtrArray) jobs =
        g_ptr_array_new_with_free_func((GDestroyNotify)litho_noise_windows_free);
    for (guint c = 0; c < cells->len; c++) {
        const int k = g_array_index(cells, int, c);
        const LithoBox box = patch_cells_box(m->l, m->grid, k);
        NoiseJob *job =
            noise_places_new(m->grid, &box, m->window, patch_cells_windows(m->l), error);
        if (!job)
            return FALSE;
        g_ptr_array_add(jobs, job);
    }
    NoiseJob **list = (NoiseJob **)jobs->pdata;
    PatchFloorSums sums = patch_floor_sums_new(&m->floor, (int)cells->len);
    const gboolean ok =
        meter->spectra(meter->data, FALSE, list, (int)jobs->len, part, recorded, within, run,
                       error) &&
        meter->levels(meter->data, FALSE, list, (int)jobs->len, noise, &sums, run, error);
    if (ok)
        patch_floor_add_sums(&m->floor, (const int *)cells->data, (int)cells->len, &sums);
    patch_floor_sums_clear(&sums);
    for (guint c = 0; ok && c < cells->len; c++) {
        const int k = g_array_index(cells, int, c);
        m->done[k] = noise[c].n > 0 ? 1 : 2;
        if (noise[c].n > 0)
            put(m->l->sigma + (gsize)k * m->l->table.bins, &noise[c], m->l->table.bins);
        litho_noise_clear(&noise[c]);
    }
    m->n_done += ok ? (int)cells->len : 0;
    return ok;
}

static gboolean measure_part_there(Measuring *m, const LithoCube *part, const guint8 *recorded,
                                   LithoBox within, LithoRun *run, GError **error)
{
    g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(int));
    const int all = patch_levels_cells(m->l);
    if (!m->meter->spectra(m->meter->data, TRUE, &m->whole, 1, part, recorded, within, run, error))
        return FALSE;
    for (int k = 0; k < all;) {
        k = next_batch(m, within, k, cells);
        if (cells->len > 0 && !measure_batch(m, part, recorded, within, cells, run, error))
            return FALSE;
        if (!litho_run_step(run, m->n_done, all, error))
            return FALSE;
    }
    return TRUE;
}

// --- on the host ---------------------------------------------------------------------------------

// Cells that lie in `within` and are not measured.
static GArray *cells_within(const Measuring *m, LithoBox within)
{
    const int all = patch_levels_cells(m->l);
    GArray *cells = g_array_new(FALSE, FALSE, sizeof(int));
    for (int k = 0; k < all && all > 1; k++)
        if (!m->done[k] && litho_box_contains(within, patch_cells_box(m->l, m->grid, k)))
            g_array_append_val(cells, k);
    return cells;
}

// Cells on as many threads as `alone` leaves; progress is told by this one.
static gboolean measure_cells(Measuring *m, const LithoCube *part, const guint8 *recorded,
                              const GArray *cells, int together, LithoRun *alone, LithoRun *run,
                              GError **error)
{
    const int all = patch_levels_cells(m->l);
    GError *first = NULL;
#pragma omp parallel num_threads(together)
    {
        PatchCellPowers powers = patch_powers_new(&m->floor);
        LithoRun own = *alone;
#pragma omp for schedule(dynamic)
        for (guint c = 0; c < cells->len; c++) {
            g_autoptr(GError) trouble = NULL;
            const int k = g_array_index(cells, int, c);
            if (g_atomic_pointer_get(&first) ||
                (measure_cell(m, part, recorded, k, &own, &powers, &trouble) &&
                 (omp_get_thread_num() > 0 ||
                  litho_run_step(run, g_atomic_int_get(&m->n_done), all, &trouble))))
                continue;
#pragma omp critical(patch_levels)
            if (!first)
                first = g_steal_pointer(&trouble);
        }
        patch_powers_clear(&powers);
    }
    if (first)
        g_propagate_error(error, first);
    return !first;
}

// The windows and cells that lie in `within`, which `part` holds.
static gboolean measure_part(Measuring *m, const LithoCube *part, const guint8 *recorded,
                             LithoBox within, LithoRun *run, GError **error)
{
    LithoRun silent = litho_run_quiet(run);
    if (m->traces && !noise_traces_add(m->traces, part, recorded, within, &silent, error))
        return FALSE;
    if (m->meter)
        return measure_part_there(m, part, recorded, within, run, error);
    if (!litho_cube_host(part, error)) // guesses may have been made on a device
        return FALSE;
    // Cells are small: progress is told here, threads and cancel there.
    LithoRun quiet = {.threads = litho_run_threads(run),
                      .timings = run ? run->timings : NULL,
                      .cancel = run ? run->cancel : NULL,
                      .superseded = run ? run->superseded : NULL,
                      .superseded_data = run ? run->superseded_data : NULL};
    if (!litho_noise_windows_add(m->whole, part, recorded, within, &quiet, error) ||
        (m->sines && !litho_noise_windows_add(m->sines, part, recorded, within, &quiet, error)))
        return FALSE;
    g_autoptr(GArray) cells = cells_within(m, within);
    const int together =
        patch_cells_together(m->l, m->grid, m->window, quiet.threads, (int)cells->len);
    const double start = litho_now_ms();
    quiet.timings = NULL;
    quiet.threads = together > 1 ? 1 : quiet.threads;
    const gboolean ok = measure_cells(m, part, recorded, cells, together, &quiet, run, error);
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return ok;
}

// Filling needs no level, and zeros have none: where there is nothing to measure it on, it is 0.
static gboolean do_without(const Measuring *m, gboolean any, GError *trouble, GError **error)
{
    PatchLevels *l = m->l;
    if ((l->params.mode != LITHO_PATCH_FILL && any) ||
        !g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
        g_propagate_error(error, trouble);
        return FALSE;
    }
    g_error_free(trouble);
    memset(l->sigma, 0, sizeof(float) * patch_levels_cells(l) * l->table.bins);
    l->absent = any ? PATCH_TOO_FEW : m->has_offset ? PATCH_ALL_ALIKE : PATCH_ALL_ZERO;
    return TRUE;
}

// Where the noise is louder for a short time or at some frequencies; nothing where the level is to
// be one for all places.
static gboolean find_bands(const Measuring *m, LithoRun *run, PatchBands *bands, GError **error)
{
    if (m->l->params.level != LITHO_PATCH_LOCAL)
        return TRUE;
    g_autofree float *quiet = m->meter ? m->meter->quiet(m->meter->data, m->whole, run, error)
                                       : noise_map_quiet(m->whole, litho_run_threads(run));
    if (!quiet)
        return FALSE;
    if (!litho_run_checkpoint(run))
        return litho_run_stopped(error);
    *bands = patch_bands_find(m->whole, quiet);
    return TRUE;
}

typedef struct Asked {
    Measuring *m;
    LithoRun *run;
} Asked;

static gboolean floors_of_whole(gpointer data, float *tenth, float *half, GError **error)
{
    const Asked *a = data;
    const PatchMeter *meter = a->m->meter;
    if (meter)
        return meter->floors(meter->data, a->m->whole, tenth, half, a->run, error);
    const int threads = litho_run_threads(a->run);
    noise_floor(a->m->whole, threads, tenth);
    noise_floor_by(a->m->whole, 0.5, threads, half);
    return litho_run_checkpoint(a->run) || litho_run_stopped(error);
}

static gboolean settle_traces(Measuring *m, LithoRun *run, GError **error)
{
    const int threads = litho_run_threads(run);
    GError *trouble = NULL;
    g_autofree float *powers = m->traces ? noise_traces_powers(m->traces, threads, &trouble) : NULL;
    if (trouble) {
        g_propagate_error(error, trouble);
        return FALSE;
    }
    return !powers || patch_traces_settle(powers, m->grid, m->window, threads, m->l, error);
}

// From what was measured to levels; whole[frequency] is that of the survey.
static gboolean settle(Measuring *m, const PatchBands *bands, const float *whole, LithoRun *run,
                       GError **error)
{
    PatchLevels *l = m->l;
    const PatchFloorOfWhole floors = {floors_of_whole, &(Asked){m, run}};
    if (patch_levels_have_shape(&l->params) &&
        !patch_floor_end(&m->floor, m->done, bands->vary, &floors, l, error))
        return FALSE;
    if (m->faint && !l->shape)
        patch_lines_settle(l, m->faint, whole);
    if (patch_cells_are_small(l))
        patch_cells_settle(l);
    if (!settle_traces(m, run, error))
        return FALSE;
    if (l->shape || !bands->known)
        return TRUE;
    if (patch_is_narrow(m->window))
        return patch_times_settle(bands, l, error);
    return !bands->vary || patch_bands_settle(bands, patch_lines_are_few(m->grid), l, error);
}

// Cells without a live trace take the level of the whole. `in`: the survey in one piece, or NULL.
static gboolean measuring_end(Measuring *m, const LithoCube *in, const guint8 *recorded,
                              LithoRun *run, GError **error)
{
    PatchLevels *l = m->l;
    LithoNoise whole = {0};
    PatchBands bands = {0};
    GError *trouble = NULL;
    const gboolean alone = patch_levels_cells(l) == 1;
    PatchFloorSums sums = patch_floor_sums_new(&m->floor, 1);
    const gboolean ok = m->meter ? m->meter->levels(m->meter->data, TRUE, &m->whole, 1, &whole,
                                                    alone ? &sums : NULL, run, &trouble) &&
                                       noise_has_enough(m->whole, &trouble)
                                 : litho_noise_windows_finish(m->whole, run, &whole, &trouble);
    if (ok && alone && m->meter)
        patch_floor_add_sums(&m->floor, &(int){0}, 1, &sums);
    patch_floor_sums_clear(&sums);
    if (!ok)
        return do_without(
            m, in ? !litho_cube_host(in, NULL) || litho_offset_leaves_any(in, recorded) : m->any,
            trouble, error);
    l->total = whole.total;
    l->low = whole.low;
    l->high = whole.high;
    for (int k = 0; k < patch_levels_cells(l); k++)
        if (m->done[k] != 1)
            put(l->sigma + (gsize)k * l->table.bins, &whole, l->table.bins);
    g_autofree float *of_whole = g_new(float, l->table.bins);
    put(of_whole, &whole, l->table.bins);
    litho_noise_clear(&whole);
    if (alone && !m->meter) {
        PatchCellPowers powers = patch_powers_new(&m->floor);
        patch_powers_tell(&m->floor, m->sines ? m->sines : m->whole, litho_run_threads(run),
                          &powers);
        patch_floor_add(&m->floor, 0, &powers);
        patch_powers_clear(&powers);
    }
    if (alone)
        m->done[0] = 1;
    const gboolean found =
        find_bands(m, run, &bands, error) && settle(m, &bands, of_whole, run, error);
    patch_bands_clear(&bands);
    return found;
}

static gboolean measure_once(PatchLevels *l, const LithoPatchGeometry *g, const LithoCube *in,
                             gboolean has_offset, const guint8 *recorded, const PatchMeter *meter,
                             LithoRun *run, GError **error)
{
    Measuring m;
    gboolean ok = measuring_begin(&m, l, g, &in->grid, meter, run, error);
    m.has_offset = has_offset;
    ok = ok && measure_part(&m, in, recorded, in->held, run, error) &&
         measuring_end(&m, in, recorded, run, error);
    measuring_clear(&m);
    return ok;
}

// TRUE where the lowest frequency holds clearly more than any other, as an offset of the samples
// does behind the taper: up to nine times as much power.
static gboolean may_have_offset(const PatchLevels *l)
{
    const int cells = patch_levels_cells(l), bins = l->table.bins;
    g_autofree double *power = g_new0(double, bins);
    double most = 0;
    for (int k = 0; k < cells * bins; k++)
        power[k % bins] += (double)l->sigma[k] * l->sigma[k];
    for (int f = 1; f < bins; f++)
        most = fmax(most, power[f]);
    return power[0] > 2 * most;
}

gboolean patch_levels_measure(PatchLevels *l, const LithoPatchGeometry *g, const LithoCube *in,
                              const guint8 *recorded, const PatchMeter *meter, LithoRun *run,
                              GError **error)
{
    if (!measure_once(l, g, in, FALSE, recorded, meter, run, error))
        return FALSE;
    if (!may_have_offset(l))
        return TRUE;
    GError *trouble = NULL;
    g_autoptr(LithoCube) without =
        litho_cube_host(in, &trouble)
            ? litho_offset_without(in, recorded, in->held, LITHO_OFFSET_ABOVE, &trouble)
            : NULL;
    if (!without) {
        if (trouble)
            g_propagate_error(error, trouble);
        return !trouble;
    }
    g_clear_pointer(&l->shape, g_free);
    l->table.shape = NULL;
    return measure_once(l, g, without, TRUE, recorded, meter, run, error);
}

// --- part by part --------------------------------------------------------------------------------

// Part `k` of `n` along an axis: the boxes of cells, and windows, lie in one. Those of the largest
// cells are the parts; smaller ones lie across their borders. Cells are placed in single precision,
// which may be a trace lower.
static void part_along(const Measuring *m, int axis, int k, int n, LithoBox *box)
{
    const double step = (double)m->grid->axis[axis].n / n;
    const double cell = 2 * (double)m->l->table.step[axis];
    const double across = cell < 2 * step - 1 ? cell + 1 : 0;
    const double longest = MAX(m->window[axis], across);
    box->lo[axis] = (gint64)((k - 0.5) * step) - 1;
    box->hi[axis] = (gint64)((k + 1.5) * step + MAX(longest - step, 0)) + 1;
}

static int parts_along(const LithoGrid *grid, int axis)
{
    return (int)MAX((grid->axis[axis].n + PATCH_CELL_TRACES / 2) / PATCH_CELL_TRACES, 1);
}

static gboolean is_uneven(const Measuring *m)
{
    return m->l->of.gain || m->l->of.share;
}

// The numbers of the traces of `within`, and the part over their gains, as far as it goes.
static gboolean balance_part(Measuring *m, LithoCube **part, LithoBox within, LithoRun *run,
                             GError **error)
{
    const float *gain = m->l->of.gain;
    if (!litho_cube_host(*part, error) ||
        !litho_balance_find(*part, NULL, within, m->scatter, m->l->of, run, error))
        return FALSE;
    g_autoptr(LithoCube) inner = litho_cube_copy_box(*part, within, error);
    LithoCube *balanced = !inner ? NULL
                          : gain ? litho_balance_divide(inner, gain, run, error)
                                 : g_steal_pointer(&inner);
    if (!balanced)
        return FALSE;
    litho_cube_unref(*part);
    *part = balanced;
    return TRUE;
}

// Measures `in`, which is `raw` without bursts, without an offset.
static gboolean measure_part_without(Measuring *m, const LithoCube *raw, const LithoCube *in,
                                     LithoBox within, LithoRun *run, GError **error)
{
    GError *trouble = NULL;
    if (!litho_cube_host(raw, error))
        return FALSE;
    g_autoptr(LithoCube) rest =
        litho_offset_without(raw, raw->live, raw->held, LITHO_OFFSET_ABOVE, &trouble);
    g_autoptr(LithoCube) without =
        rest && litho_cube_host(in, &trouble)
            ? litho_offset_without(in, raw->live, in->held, LITHO_OFFSET_ABOVE, &trouble)
            : NULL;
    if (trouble) {
        g_propagate_error(error, trouble);
        return FALSE;
    }
    m->has_offset = m->has_offset || without;
    m->any = m->any || litho_offset_leaves_any(without ? without : raw, raw->live);
    return measure_part(m, without ? without : in, raw->live, within, run, error);
}

static gboolean read_part(Measuring *m, const LithoReader *reader, LithoBox within, LithoRun *run,
                          GError **error)
{
    const LithoPatchParams *params = &m->l->params;
    const LithoBox around = litho_patch_with_erratic(m->grid, params, within);
    const gint64 more = is_uneven(m) ? LITHO_BALANCE_TRACES : 0;
    const LithoBox need = litho_box_grow(m->grid, around, (const gint64[3]){more, more, 0});
    LithoRun quiet = litho_run_quiet(run);
    LithoClean clean = {0};
    g_autoptr(LithoCube) raw = reader->read(&need, &quiet, reader->data, error);
    if (raw && is_uneven(m) && !balance_part(m, &raw, around, &quiet, error))
        return FALSE;
    LithoCleanRule rule = litho_patch_clean_rule(params);
    rule.share = m->l->of.share;
    rule.share_of = rule.share ? 1 : 0;
    // Noisy traces are found on the host, where the part is then.
    const LithoCube *in = !raw ? NULL
                          : m->cleaner && !rule.share
                              ? m->cleaner->clean(m->cleaner->data, params, raw, &quiet, error)
                              : litho_clean(&clean, rule, raw, &quiet, error);
    const gboolean ok = in && measure_part_without(m, raw, in, within, run, error);
    litho_clean_clear(&clean);
    return ok;
}

// Bytes of one of n0 parts along the inlines, with half a neighbour on either side and a copy.
static guint64 bytes_of_inlines(const LithoGrid *grid, int n0)
{
    return 2 * 4 * 2 * (guint64)litho_grid_samples(grid) / n0;
}

guint64 patch_levels_part_bytes(const LithoGrid *grid, guint64 bytes)
{
    const guint64 most = MIN(bytes_of_inlines(grid, parts_along(grid, 0)),
                             4 * 2 * (guint64)litho_grid_samples(grid));
    return most <= bytes ? most : 2 * most / MAX(parts_along(grid, 1), 2);
}

// Inlines in parts; crosslines too where a part of all of them would be too large.
static gboolean measure_parts(Measuring *m, const LithoReader *reader, LithoRun *run,
                              GError **error)
{
    const int n0 = parts_along(m->grid, 0);
    const guint64 bytes = bytes_of_inlines(m->grid, n0);
    const int n1 = reader->bytes && bytes > reader->bytes ? parts_along(m->grid, 1) : 1;
    for (int i = 0; i < n0; i++)
        for (int j = 0; j < n1; j++) {
            LithoBox within = litho_box_full(m->grid);
            part_along(m, 0, i, n0, &within);
            if (n1 > 1)
                part_along(m, 1, j, n1, &within);
            within = litho_box_intersect(within, litho_box_full(m->grid));
            if (!read_part(m, reader, within, run, error))
                return FALSE;
        }
    return TRUE;
}

LithoMeasured *litho_patch_measure(const void *params, const LithoReader *reader, LithoRun *run,
                                   GError **error)
{
    return patch_measure_with(params, reader, NULL, run, error);
}

static gboolean find_scatter(Measuring *m, const LithoReader *reader, LithoRun *run, GError **error)
{
    if (!patch_gains_asked(&m->l->params))
        return TRUE;
    if (!litho_balance_scatter(reader, NULL, run, &m->scatter, error))
        return FALSE;
    litho_uneven_begin(&m->l->of, m->scatter, litho_grid_traces(m->grid));
    return TRUE;
}

LithoMeasured *patch_measure_with(const LithoPatchParams *asked, const LithoReader *survey,
                                  const PatchMeter *meter, LithoRun *run, GError **error)
{
    PatchFound found;
    PatchSwell swell;
    PatchCalmReader calm;
    if (!patch_swell_find(survey, asked, run, &swell, error))
        return NULL;
    patch_swell_read(&calm, survey, asked, swell);
    const LithoReader *reader = &calm.reader;
    if (!patch_choice_read(asked, reader, run, &found, error))
        return NULL;
    const LithoPatchParams params = patch_choice_take(asked, found);
    const LithoPatchGeometry g = litho_patch_grid_geometry(reader->grid, &params);
    PatchLevels l = {.params = params, .swell = swell};
    Measuring m;
    patch_cells_make(&l, reader->grid, &g);
    const gboolean ok = measuring_begin(&m, &l, &g, reader->grid, meter, run, error) &&
                        find_scatter(&m, reader, run, error) &&
                        measure_parts(&m, reader, run, error) &&
                        measuring_end(&m, NULL, NULL, run, error);
    LithoMeasured *measured = ok ? patch_levels_to_measured(&l, &g, asked, found) : NULL;
    measuring_clear(&m);
    patch_levels_clear(&l);
    return measured;
}
