// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/levels.h"

#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/qc.h"
#include "core/text.h"
#include "kernels/common/noise_job.h"
#include "kernels/patch/floor.h"

enum {
    CELL_TRACES = 64,
    SHORTEST = 64,
    CELL_SAMPLES = 32 * 32 * SHORTEST,
    CELL_WINDOWS = 256, // at most
    LEAST_CELL_WINDOWS = 64,
    WINDOWS_OF_CELLS = 4096, // together, while each has LEAST_CELL_WINDOWS
    ALL_WINDOWS = 2048       // of the whole survey, for its own level
};
// Powers of the cells that a device measures at a time.
enum { DEVICE_BYTES = 128 << 20 };

// Samples of a cell along the traces: a quarter of a second, which follows noise that grows with
// time, and 64 at least. Cells of few traces or long windows are longer, up to a second: they hold
// as many samples as one of 32 x 32 traces, and four windows. On depth axes, and where a second is
// fewer than 64 samples, a second stands for 256.
static gint64 cell_samples(const LithoGrid *grid, const LithoPatchGeometry *g)
{
    const double axis = 1 / fabs(grid->axis[2].step);
    const gint64 second = grid->is_depth || axis < 64 ? 256 : (gint64)(axis + 0.5);
    const gint64 traces = MIN(grid->axis[0].n, CELL_TRACES) * MIN(grid->axis[1].n, CELL_TRACES);
    const gint64 least = MAX(MAX(second / 4, SHORTEST), CELL_SAMPLES / MAX(traces, 1));
    return MIN(MAX(least, 4 * g->axis[2].length), MAX(second, SHORTEST));
}

// The number of cells along an axis changes their places, not what they cover.
void patch_levels_divide(PatchLevels *l, int axis, int n)
{
    const float all = l->table.step[axis] * l->table.n[axis];
    l->table.n[axis] = n;
    l->table.step[axis] = all / n;
    l->table.first[axis] = 0.5f * l->table.step[axis] - 0.5f;
}

static void make_cells(PatchLevels *l, const LithoGrid *grid, const LithoPatchGeometry *g)
{
    const gint64 wish[3] = {CELL_TRACES, CELL_TRACES, cell_samples(grid, g)};
    for (int a = 0; a < 3; a++) {
        const gint64 n = grid->axis[a].n;
        const gboolean local = l->params.level == LITHO_PATCH_LOCAL;
        const gint64 most = a == 2 ? n / SHORTEST : n, rounded = (n + wish[a] / 2) / wish[a];
        l->table.n[a] = 1;
        l->table.step[a] = (float)n;
        patch_levels_divide(l, a, local ? (int)MAX(MIN(rounded, most), 1) : 1);
    }
    l->table.bins = g->bins;
    for (int a = 0; a < 2; a++)
        l->table.window[a] = g->axis[a].length;
    l->sigma = g_new0(float, (gsize)l->table.n[0] * l->table.n[1] * l->table.n[2] * g->bins);
    l->table.sigma = l->sigma;
}

static LithoBox cell_box(const PatchLevels *l, const LithoGrid *grid, const int cell[3])
{
    LithoBox box;
    for (int a = 0; a < 3; a++) {
        box.lo[a] = (gint64)((cell[a] - 0.5f) * l->table.step[a]);
        box.hi[a] = (gint64)((cell[a] + 1.5f) * l->table.step[a]);
    }
    return litho_box_intersect(box, litho_box_full(grid));
}

static void put(float *to, const LithoNoise *noise, int bins)
{
    for (int f = 0; f < bins; f++)
        to[f] = (float)noise->sigma[MIN(f, (int)noise->n - 1)];
}

// Windows of a cell. All cells share the shape over wavenumbers, so that each of many needs fewer.
static int cell_windows(const PatchLevels *l)
{
    return CLAMP(WINDOWS_OF_CELLS / patch_levels_cells(l), LEAST_CELL_WINDOWS, CELL_WINDOWS);
}

// A survey that is measured: whole, or part by part.
typedef struct Measuring {
    PatchLevels *l;
    const LithoGrid *grid;
    int window[3];
    const PatchMeter *cleaner; // of the device, which finds the bursts; NULL: the host does
    const PatchMeter *meter;   // NULL: the host measures
    LithoNoiseWindows *whole;
    guint8 *done; // per cell; 2 = no trace lives there
    int n_done;
    PatchFloor floor;
    float *powers; // of a cell on the host, [frequency][wavenumber]
} Measuring;

static void measuring_clear(Measuring *m)
{
    litho_noise_windows_free(m->whole);
    patch_floor_clear(&m->floor);
    g_free(m->done);
    g_free(m->powers);
}

static gboolean measuring_begin(Measuring *m, PatchLevels *l, const LithoPatchGeometry *g,
                                const LithoGrid *grid, const PatchMeter *meter, LithoRun *run,
                                GError **error)
{
    *m = (Measuring){.l = l,
                     .grid = grid,
                     .window = {g->axis[0].length, g->axis[1].length, g->axis[2].length},
                     .done = g_malloc0(patch_levels_cells(l)),
                     .powers = g_new(float, patch_levels_powers(g))};
    patch_floor_init(&m->floor, g, patch_levels_cells(l));
    m->cleaner = meter;
    m->meter = meter && patch_meter_takes(m->window) ? meter : NULL;
    litho_run_begin(run, "noise level", "cells");
    m->whole = m->meter ? noise_places_new(grid, NULL, m->window, ALL_WINDOWS, error)
                        : litho_noise_windows_new(grid, NULL, m->window, ALL_WINDOWS, error);
    if (m->whole)
        m->whole->flat = TRUE; // cells have a floor of their own
    return m->whole != NULL;
}

static gboolean measure_cell(Measuring *m, const LithoCube *part, const guint8 *recorded, int k,
                             LithoBox box, LithoRun *run, GError **error)
{
    g_autoptr(GError) trouble = NULL;
    LithoNoise noise;
    if (litho_noise_measure_level(part, recorded, &box, m->window, cell_windows(m->l), run, &noise,
                                  m->powers, &trouble)) {
        put(m->l->sigma + (gsize)k * m->l->table.bins, &noise, m->l->table.bins);
        patch_floor_add(&m->floor, k, m->powers);
        litho_noise_clear(&noise);
        m->done[k] = 1;
    } else if (g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
        m->done[k] = 2;
    } else {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    m->n_done++;
    return TRUE;
}

void patch_levels_bytes(const LithoGrid *grid, const LithoPatchGeometry *g,
                        const LithoPatchParams *params, int threads, guint64 *peak, guint64 *kept)
{
    const int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    enum { HEAP = 1 << 20 };    // larger blocks go back to the system (app/lithoscope-cli.c)
    enum { BESIDE = HEAP / 2 }; // a thread's stack, and gaps of its heap
    const guint64 one = litho_noise_thread_memory(grid, window, ALL_WINDOWS);
    const guint64 each = threads * (one + BESIDE);
    PatchLevels l = {.params = *params};
    LithoGrid cell = *grid;
    make_cells(&l, grid, g);
    for (int a = 0; a < 3; a++) // half of a neighbour on either side
        cell.axis[a].n = (gint64)MIN((double)grid->axis[a].n, ceil(2 * l.table.step[a]));
    *kept = one < HEAP ? each : (guint64)threads * HEAP; // of cells, whose windows are few
    *peak = each + litho_noise_windows_memory(grid, window, ALL_WINDOWS);
    if (patch_levels_cells(&l) > 1)
        *peak = MAX(*peak, litho_noise_powers_memory(grid, window, ALL_WINDOWS) +
                               litho_noise_windows_memory(&cell, window, cell_windows(&l)) +
                               MIN(threads, g->bins) * // each takes a frequency
                                   litho_noise_thread_memory(&cell, window, cell_windows(&l)));
    *peak += patch_floor_bytes(g, patch_levels_cells(&l));
    g_free(l.sigma);
}

// --- on a device ---------------------------------------------------------------------------------

gboolean patch_meter_takes(const int window[3])
{
    return window[2] < 32 && window[0] * window[1] <= 3072;
}

guint64 patch_meter_bytes(const LithoPatchGeometry *g)
{
    const int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    if (!patch_meter_takes(window))
        return 0;
    const guint64 window_bytes = sizeof(float) * g->bins * (guint64)window[0] * window[1];
    // Powers of the whole; spectra of as many windows, which are complex; powers of a batch of
    // cells.
    return 3 * ALL_WINDOWS * window_bytes + MAX(DEVICE_BYTES, CELL_WINDOWS * window_bytes);
}

// Cells from `k` on that lie in `within` and are not measured, as many as a batch takes; their
// numbers to `cells`. Where to go on.
static int next_batch(const Measuring *m, LithoBox within, int k, GArray *cells)
{
    const int *n = m->l->table.n, all = patch_levels_cells(m->l);
    const gsize bytes =
        sizeof(float) * CELL_WINDOWS * (gsize)m->l->table.bins * m->window[0] * m->window[1];
    const guint most = (guint)MAX(DEVICE_BYTES / bytes, 1);
    g_array_set_size(cells, 0);
    for (; k < all && cells->len < most; k++) {
        const int cell[3] = {k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]};
        if (!m->done[k] && all > 1 && litho_box_contains(within, cell_box(m->l, m->grid, cell)))
            g_array_append_val(cells, k);
    }
    return k;
}

static gboolean measure_batch(Measuring *m, const LithoCube *part, const guint8 *recorded,
                              LithoBox within, const GArray *cells, LithoRun *run, GError **error)
{
    const PatchMeter *meter = m->meter;
    const int *n = m->l->table.n;
    g_autofree LithoNoise *noise = g_new0(LithoNoise, cells->len);
    const gsize n_powers = (gsize)m->l->table.bins * m->window[0] * m->window[1];
    g_autofree float *powers = g_new(float, cells->len *n_powers);
    g_autoptr(GPtrArray) jobs =
        g_ptr_array_new_with_free_func((GDestroyNotify)litho_noise_windows_free);
    for (guint c = 0; c < cells->len; c++) {
        const int k = g_array_index(cells, int, c);
        const LithoBox box =
            cell_box(m->l, m->grid, (const int[3]){k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]});
        NoiseJob *job = noise_places_new(m->grid, &box, m->window, cell_windows(m->l), error);
        if (!job)
            return FALSE;
        g_ptr_array_add(jobs, job);
    }
    NoiseJob **list = (NoiseJob **)jobs->pdata;
    if (!meter->spectra(meter->data, FALSE, list, (int)jobs->len, part, recorded, within, run,
                        error) ||
        !meter->levels(meter->data, FALSE, list, (int)jobs->len, noise, powers, run, error))
        return FALSE;
    for (guint c = 0; c < cells->len; c++) {
        const int k = g_array_index(cells, int, c);
        m->done[k] = noise[c].n > 0 ? 1 : 2;
        if (noise[c].n > 0) {
            put(m->l->sigma + (gsize)k * m->l->table.bins, &noise[c], m->l->table.bins);
            patch_floor_add(&m->floor, k, powers + c * n_powers);
        }
        litho_noise_clear(&noise[c]);
    }
    m->n_done += (int)cells->len;
    return TRUE;
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

// The windows and cells that lie in `within`, which `part` holds.
static gboolean measure_part(Measuring *m, const LithoCube *part, const guint8 *recorded,
                             LithoBox within, LithoRun *run, GError **error)
{
    const int *n = m->l->table.n, cells = patch_levels_cells(m->l);
    if (m->meter)
        return measure_part_there(m, part, recorded, within, run, error);
    if (!litho_cube_host(part, error)) // guesses may have been made on a device
        return FALSE;
    // Cells are small: progress is told here, threads and cancel there.
    LithoRun quiet = {.threads = run ? run->threads : 0,
                      .timings = run ? run->timings : NULL,
                      .cancel = run ? run->cancel : NULL,
                      .superseded = run ? run->superseded : NULL,
                      .superseded_data = run ? run->superseded_data : NULL};
    if (!litho_noise_windows_add(m->whole, part, recorded, within, &quiet, error))
        return FALSE;
    for (int k = 0; k < cells; k++) {
        const int cell[3] = {k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]};
        const LithoBox box = cell_box(m->l, m->grid, cell);
        if (m->done[k] || cells == 1 || !litho_box_contains(within, box))
            continue;
        if (!measure_cell(m, part, recorded, k, box, &quiet, error) ||
            !litho_run_step(run, m->n_done, cells, error))
            return FALSE;
    }
    return TRUE;
}

// Filling needs no level: where there is nothing to measure it on, it takes zeros.
static gboolean do_without(PatchLevels *l, GError *trouble, GError **error)
{
    if (l->params.mode != LITHO_PATCH_FILL ||
        !g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
        g_propagate_error(error, trouble);
        return FALSE;
    }
    g_error_free(trouble);
    memset(l->sigma, 0, sizeof(float) * patch_levels_cells(l) * l->table.bins);
    l->absent = TRUE;
    return TRUE;
}

// Cells without a live trace take the level of the whole.
static gboolean measuring_end(Measuring *m, LithoRun *run, GError **error)
{
    PatchLevels *l = m->l;
    LithoNoise whole = {0};
    GError *trouble = NULL;
    const gboolean alone = patch_levels_cells(l) == 1;
    const gboolean ok = m->meter ? m->meter->levels(m->meter->data, TRUE, &m->whole, 1, &whole,
                                                    alone ? m->powers : NULL, run, &trouble) &&
                                       noise_has_enough(m->whole, &trouble)
                                 : litho_noise_windows_finish(m->whole, run, &whole, &trouble);
    if (!ok)
        return do_without(l, trouble, error);
    if (alone && !m->meter)
        noise_floor(m->whole, litho_run_threads(run), m->powers);
    l->total = whole.total;
    l->low = whole.low;
    l->high = whole.high;
    for (int k = 0; k < patch_levels_cells(l); k++)
        if (m->done[k] != 1)
            put(l->sigma + (gsize)k * l->table.bins, &whole, l->table.bins);
    litho_noise_clear(&whole);
    if (alone) {
        patch_floor_add(&m->floor, 0, m->powers);
        m->done[0] = 1;
    }
    patch_floor_end(&m->floor, m->done, l);
    return TRUE;
}

static gboolean measure(PatchLevels *l, const LithoPatchGeometry *g, const LithoCube *in,
                        const guint8 *recorded, const PatchMeter *meter, LithoRun *run,
                        GError **error)
{
    Measuring m;
    const gboolean ok = measuring_begin(&m, l, g, &in->grid, meter, run, error) &&
                        measure_part(&m, in, recorded, in->held, run, error) &&
                        measuring_end(&m, run, error);
    measuring_clear(&m);
    return ok;
}

// --- part by part --------------------------------------------------------------------------------

// Part `k` of `n` along an axis: cells of all sizes that local levels have, and windows, lie in
// one. Cells are placed in single precision, which may be a trace lower.
static void part_along(const Measuring *m, int axis, int k, int n, LithoBox *box)
{
    const double step = (double)m->grid->axis[axis].n / n;
    box->lo[axis] = (gint64)((k - 0.5) * step) - 1;
    box->hi[axis] = (gint64)((k + 1.5) * step) + MAX(m->window[axis] - (gint64)step, 0) + 1;
}

static int parts_along(const LithoGrid *grid, int axis)
{
    return (int)MAX((grid->axis[axis].n + CELL_TRACES / 2) / CELL_TRACES, 1);
}

const LithoCube *patch_clean(LithoClean *clean, const LithoPatchParams *params, const LithoCube *in,
                             LithoRun *run, GError **error)
{
    return litho_clean(clean, litho_patch_clean_rule(params), in, run, error);
}

static gboolean read_part(Measuring *m, const LithoReader *reader, LithoBox within, LithoRun *run,
                          GError **error)
{
    const LithoPatchParams *params = &m->l->params;
    const LithoBox need = litho_patch_with_erratic(m->grid, params, within);
    LithoRun quiet = run ? *run : (LithoRun){0};
    quiet.on_progress = NULL;
    quiet.report = NULL;
    LithoClean clean = {0};
    g_autoptr(LithoCube) raw = reader->read(&need, &quiet, reader->data, error);
    const LithoCube *in = !raw ? NULL
                          : m->cleaner
                              ? m->cleaner->clean(m->cleaner->data, params, raw, &quiet, error)
                              : patch_clean(&clean, params, raw, &quiet, error);
    const gboolean ok = in && measure_part(m, in, raw->live, within, run, error);
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

LithoMeasured *patch_measure_with(const LithoPatchParams *params, const LithoReader *reader,
                                  const PatchMeter *meter, LithoRun *run, GError **error)
{
    const LithoPatchGeometry g = litho_patch_grid_geometry(reader->grid, params);
    PatchLevels l = {.params = *params};
    Measuring m;
    make_cells(&l, reader->grid, &g);
    const gboolean ok = measuring_begin(&m, &l, &g, reader->grid, meter, run, error) &&
                        measure_parts(&m, reader, run, error) && measuring_end(&m, run, error);
    LithoMeasured *measured = ok ? patch_levels_to_measured(&l, &g) : NULL;
    measuring_clear(&m);
    patch_levels_clear(&l);
    return measured;
}

// --- keeping -------------------------------------------------------------------------------------

static gboolean is_current(const PatchLevels *l, const LithoPatchGeometry *g,
                           const LithoPatchParams *p, const LithoCube *in, LithoMeasured *measured)
{
    if (!l->sigma || l->table.bins != g->bins || l->params.sigma != p->sigma ||
        l->params.level != p->level || (l->absent && p->mode != LITHO_PATCH_FILL))
        return FALSE;
    if (p->sigma > 0)
        return TRUE;
    if (measured || l->measured)
        return measured == l->measured;
    return l->serial == in->serial && l->params.window == p->window &&
           l->params.window_il == p->window_il && l->params.window_xl == p->window_xl &&
           l->params.window_t == p->window_t;
}

void patch_levels_recall(PatchLevels *l, PatchLevels *kept, int n_kept, const LithoPatchGeometry *g,
                         const LithoPatchParams *params, const LithoCube *in,
                         LithoMeasured *measured)
{
    int at = 0; // stamps grow: the least is the oldest, 0 that of none
    if (is_current(l, g, params, in, measured))
        return;
    for (int k = 0; k < n_kept; k++) {
        if (is_current(&kept[k], g, params, in, measured)) {
            at = k;
            break;
        }
        if (kept[k].stamp < kept[at].stamp)
            at = k;
    }
    const PatchLevels other = kept[at];
    kept[at] = *l;
    *l = other;
}

gboolean patch_levels_update(PatchLevels *l, const LithoPatchGeometry *g,
                             const LithoPatchParams *params, const LithoCube *in,
                             const guint8 *recorded, LithoMeasured *measured,
                             const PatchMeter *meter, LithoRun *run, GError **error)
{
    if (is_current(l, g, params, in, measured))
        return TRUE;
    patch_levels_clear(l);
    l->params = *params;
    make_cells(l, &in->grid, g);
    if (params->sigma > 0) {
        const gsize n = (gsize)patch_levels_cells(l) * g->bins;
        for (gsize k = 0; k < n; k++)
            l->sigma[k] = (float)params->sigma;
        l->total = l->low = l->high = params->sigma;
    } else if (!(measured ? patch_levels_from_measured(l, g, measured, error)
                          : measure(l, g, in, recorded, meter, run, error))) {
        patch_levels_clear(l);
        return FALSE;
    } else if (!measured) {
        litho_memory_return(); // what its threads had is more than the filter's
    }
    static gint stamps; // atomic
    l->serial = in->serial;
    l->stamp = (guint)g_atomic_int_add(&stamps, 1) + 1;
    return TRUE;
}

void patch_levels_clear(PatchLevels *l)
{
    g_free(l->sigma);
    g_free(l->shape);
    litho_measured_unref(l->measured);
    *l = (PatchLevels){0};
}

// Squares of all frequencies of a cell together; those but the first and the last stand for two.
static float square_of(const PatchLevels *l, int cell)
{
    const int bins = l->table.bins;
    const float *sigma = l->sigma + (gsize)cell * bins;
    double sum = 0;
    for (int f = 0; f < bins; f++)
        sum += (double)sigma[f] * sigma[f] * (f == 0 || f == bins - 1 ? 1 : 2);
    return (float)(sum / MAX(2 * (bins - 1), 1));
}

// Levels of one number a cell along a trace, at samples [from, upto): the four columns of cells
// around it blended into `column`, which is interpolated along time.
static void volume_trace(const LithoPatchLevels *l, float il, float xl, gint64 from, gint64 upto,
                         float *column, float *to)
{
    float share[2];
    const int first = litho_patch_cell(l, 0, il, &share[0]);
    const int second = litho_patch_cell(l, 1, xl, &share[1]);
    memset(column, 0, l->n[2] * sizeof *column);
    for (int corner = 0; corner < 4; corner++) {
        const int up[2] = {corner / 2, corner % 2};
        const float weight = (up[0] ? share[0] : 1 - share[0]) * (up[1] ? share[1] : 1 - share[1]);
        const float *level = l->sigma + ((first + up[0]) * l->n[1] + second + up[1]) * l->n[2];
        for (int k = 0; weight > 0 && k < l->n[2]; k++)
            column[k] += weight * level[k];
    }
    for (gint64 t = from; t < upto; t++) {
        float along;
        const int k = litho_patch_cell(l, 2, (float)t, &along);
        to[t - from] = along > 0 ? (1 - along) * column[k] + along * column[k + 1] : column[k];
    }
}

gboolean patch_levels_volume(const PatchLevels *l, LithoBox region, LithoCube *out, LithoRun *run,
                             GError **error)
{
    const int cells = patch_levels_cells(l), threads = litho_run_threads(run);
    const gint64 rows = litho_box_size(region, 0);
    g_autofree float *level = g_new(float, cells), *columns = g_new(float, threads * l->table.n[2]);
    LithoPatchLevels table = l->table; // of one number a cell
    gint64 done = 0;
    gint stop = 0;
    for (int k = 0; k < cells; k++)
        level[k] = sqrtf(square_of(l, k));
    table.bins = 1;
    table.sigma = level;
    litho_run_begin(run, "noise level", "inlines");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (gint64 il = region.lo[0]; il < region.hi[0]; il++) {
        float *column = columns + omp_get_thread_num() * table.n[2];
        for (gint64 xl = region.lo[1]; !g_atomic_int_get(&stop) && xl < region.hi[1]; xl++)
            volume_trace(&table, il, xl, region.lo[2], region.hi[2], column,
                         litho_cube_trace(out, il, xl) + region.lo[2] - out->held.lo[2]);
        const gint64 told = __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
        if (omp_get_thread_num() == 0 ? !litho_run_step(run, told, rows, NULL)
                                      : !litho_run_checkpoint(run))
            g_atomic_int_set(&stop, 1);
    }
    return !stop || litho_run_stopped(error);
}

gboolean patch_levels_are_there(const PatchLevels *l, const LithoPatchGeometry *g, GError **error)
{
    return !l->absent || noise_too_few(g->axis[0].length, g->axis[1].length, error);
}

gboolean patch_levels_exec(PatchLevels *l, LithoClean *clean, const LithoGrid *grid,
                           const LithoPass *pass, LithoRun *run, LithoCube *out, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(grid, params);
    if (!litho_cube_host(pass->in, error))
        return FALSE;
    const LithoCube *in = patch_clean(clean, params, pass->in, run, error);
    if (!in ||
        !patch_levels_update(l, &g, params, in, pass->in->live, pass->measured, NULL, run, error) ||
        !patch_levels_are_there(l, &g, error))
        return FALSE;
    if (!patch_levels_volume(l, pass->region, out, run, error))
        return FALSE;
    if (run)
        patch_levels_report(l, grid, params, run->report);
    return TRUE;
}

// RMS over the cells.
static double mean_level(const PatchLevels *l, int f)
{
    const int cells = l->table.n[0] * l->table.n[1] * l->table.n[2];
    double sum = 0;
    for (int k = 0; k < cells; k++) {
        const double s = l->sigma[(gsize)k * l->table.bins + f];
        sum += s * s;
    }
    return sqrt(sum / cells);
}

void patch_levels_report(const PatchLevels *l, const LithoGrid *grid,
                         const LithoPatchParams *params, LithoReport *report)
{
    static const char *const lengths[] = {"window_il", "window_xl", "window_t"};
    const LithoPatchGeometry g = litho_patch_grid_geometry(grid, params);
    for (int k = 0; k < 3; k++)
        litho_report_used(report, "patch", lengths[k], litho_patch_window_length(params, k));
    if (l->absent) {
        litho_report_remark(report,
                            "patch: no window of %d x %d traces has half of them live, so "
                            "that the noise cannot be measured; filling goes on without it",
                            g.axis[0].length, g.axis[1].length);
        return;
    }
    if (l->shape)
        litho_report_remark(report, "patch: the noise keeps to some wavenumbers, as in migrated "
                                    "or mixed data; its level was measured at each of them");
    litho_report_used(report, "patch", "threshold", litho_patch_threshold(&g, params));
    if (!report || !l->sigma)
        return;
    litho_report_number(report, "noise_sigma", "standard deviation of the noise", "", l->total);
    litho_report_used(report, "patch", "sigma", l->total);
    litho_report_number(report, "noise_low", "standard deviation of the noise, at least", "",
                        l->low);
    litho_report_number(report, "noise_high", "standard deviation of the noise, at most", "",
                        l->high);
    g_autofree double *x = g_new(double, l->table.bins), *y = g_new(double, l->table.bins);
    const double per = grid->is_depth ? 1000 : 1;
    for (int f = 0; f < l->table.bins; f++) {
        x[f] = per * f / ((l->table.bins - 1) * 2.0 * fabs(grid->axis[2].step));
        y[f] = mean_level(l, f);
    }
    litho_report_curve(report, N_("noise_level"), N_("Level of the noise"),
                       grid->is_depth ? N_("wavenumber (1/km)") : N_("frequency (Hz)"),
                       N_("standard deviation"), l->table.bins, x, y);
}
