// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rules 3 and 4 of geometry.h on a device: groups of windows, chunks of bins, order of launches.
// Filtered windows live for a few time windows only: 80 MB a window of 129 bins for 90,000 traces
// instead of 0.8 GB for all. Short time windows without absent traces are worked on several at a
// time: their bins are the bins of one longer window, and a card's blocks end together less often.
#include <math.h>

#include "core/error.h"
#include "kernels/fx/cuda/fx.h"

// --- layouts -------------------------------------------------------------------------------------

static gint64 size_of(const FxGroup *group)
{
    return litho_fx_taps(group->half_il, group->half_xl) + 1;
}

static gint64 matrix_pitch(const FxGroup *group)
{
    return litho_fx_packed_size(litho_fx_round4((int)size_of(group)));
}

static gint64 tile_area(const FxJob *job, const FxGroup *group)
{
    return (job->g.axis[0].length + 4 * group->half_il) *
           (gint64)(job->g.axis[1].length + 4 * group->half_xl);
}

// The largest group in each array, bytes a bin.
typedef struct BinNeed {
    gsize matrix, taps, good, tiles, states; // `states` do not depend on the bins
    gsize over, largest;
} BinNeed;

static gsize pieces_of(const FxJob *job)
{
    return (gsize)litho_fx_keep_pieces(job->g.axis[0].length) *
           litho_fx_keep_pieces(job->g.axis[1].length);
}

static BinNeed bin_need(const FxJob *job)
{
    BinNeed most = {0};
    for (int k = 0; k <= job->last - job->first; k++)
        for (guint n = 0; n < job->layouts[k]->groups->len; n++) {
            const FxGroup *g = &g_array_index(job->layouts[k]->groups, FxGroup, n);
            most.matrix = MAX(most.matrix, 4 * (gsize)(g->count * matrix_pitch(g)));
            most.taps = MAX(most.taps, 8 * (gsize)(g->n_slots * size_of(g)));
            most.good = MAX(most.good, (gsize)g->count);
            if (job->params->faults) {
                most.over = MAX(most.over, sizeof(float) * g->count * fx_out_pitch(job));
                most.largest = MAX(most.largest, sizeof(float) * g->count * pieces_of(job));
            }
            if (!g->holed)
                continue;
            most.tiles = MAX(most.tiles, 8 * (gsize)(g->count * tile_area(job, g)));
            most.states = MAX(most.states, (gsize)(g->count * tile_area(job, g)));
        }
    return most;
}

static gsize filtered_bytes(const FxJob *job)
{
    return (gsize)fx_windows(job) * fx_out_pitch(job) * sizeof(LithoFxComplex);
}

// Spots of all layouts in one array; those of the clean one come first.
static gboolean upload_spots(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(LithoFxSpot));
    if (job->clean)
        g_array_append_vals(all, job->clean->spots->data, job->clean->spots->len);
    for (int k = 0; k <= job->last - job->first; k++) {
        const FxLayout *layout = job->layouts[k];
        job->spots_at[k] = layout == job->clean ? 0 : (int)all->len;
        if (layout != job->clean)
            g_array_append_vals(all, layout->spots->data, layout->spots->len);
    }
    return litho_cuda_put(p->context, &p->spots, all->data, all->len * sizeof(LithoFxSpot), error);
}

static void make_layouts(FxJob *job)
{
    const FxPlan *p = job->p;
    const int n = job->last - job->first + 1;
    job->layouts = g_new0(FxLayout *, n);
    job->spots_at = g_new0(int, n);
    for (int k = 0; k < n; k++) {
        const int window = job->first + k - p->first;
        if (p->host_absent[window] > 0) {
            job->layouts[k] = fx_layout_new(job->params, &job->g, job->windows, job->held,
                                            p->host_present + window * fx_held_traces(job));
        } else {
            if (!job->clean)
                job->clean = fx_layout_new(job->params, &job->g, job->windows, job->held, NULL);
            job->layouts[k] = job->clean;
        }
        job->empty += job->layouts[k]->empty;
    }
}

static void free_layouts(FxJob *job)
{
    for (int k = 0; k <= job->last - job->first; k++)
        if (job->layouts[k] != job->clean)
            fx_layout_free(job->layouts[k]);
    g_clear_pointer(&job->clean, fx_layout_free);
    g_clear_pointer(&job->layouts, g_free);
    g_clear_pointer(&job->spots_at, g_free);
}

// --- filter --------------------------------------------------------------------------------------

static LithoFxGroup device_group(const FxJob *job, int k, const FxGroup *g, int bin, int bins)
{
    const FxPlan *p = job->p;
    const gint64 traces = fx_held_traces(job);
    const gint64 window = job->first + k - p->first;
    const LithoFxParams *params = job->params;
    return (LithoFxGroup){
        .spots = (const LithoFxSpot *)p->spots.data + job->spots_at[k] + g->first,
        .n_spots = g->count,
        .n_slots = g->n_slots,
        .half_il = g->half_il,
        .half_xl = g->half_xl,
        .size = (int)size_of(g),
        .n_il = job->g.axis[0].n,
        .n_xl = job->g.axis[1].n,
        .held = job->held,
        .spectra = (const LithoFxComplex *)p->spectra.data + (window * p->bins + bin) * traces,
        .plane = traces,
        .present = (const guchar *)p->present.data + window * traces,
        .recorded = p->recorded.data,
        .bins = bins,
        .tiles = {p->tiles[0].data, p->tiles[1].data},
        .states = {p->states[0].data, p->states[1].data},
        .tile_il = job->g.axis[0].length + 4 * g->half_il,
        .tile_xl = job->g.axis[1].length + 4 * g->half_xl,
        .matrix = p->matrix.data,
        .matrix_pitch = (int)matrix_pitch(g),
        .taps = p->taps.data,
        .good = p->good.data,
        .scales = p->scales.data,
        .updates = g->few > 0 && params->fill_passes > 0 &&
                   litho_fx_box_serves(g->half_il, g->half_xl, params->form, g->max_il, g->max_xl,
                                       p->shared_limit),
        .out = p->filtered.data,
        .out_pitch = fx_out_pitch(job),
        .out_bins = bins,
        .counters = p->counters.data,
        .over = p->over.data,
        .largest = p->largest.data,
        .padding = (float)job->g.nfft / (float)job->g.axis[2].length,
        .share = litho_fx_share(params) / (float)size_of(g),
        .level = p->level.data,
        .lags = p->shared.noise.shape ? p->lags.data : NULL,
        .alike = fx_shared_alike(&p->shared),
        .reach_il = job->g.half[0],
        .reach_xl = job->g.half[1],
        .band_first = bin,
        .band_bins = MAX(p->bins, 1),
        .automatic = !(params->prewhitening > 0),
        .solver = params->solver,
        .form = params->form,
        .edge = params->form == LITHO_FX_ACF && params->edge == LITHO_FX_FIT ? LITHO_FX_RENORM
                                                                             : params->edge,
        .mute = params->outband == LITHO_FX_MUTE,
        .post = params->post,
    };
}

// Bytes moved and flops computed by the stages of one group for `bins` bins.
typedef struct Work {
    double matrix_bytes, matrix_flops, solve_bytes, solve_flops, apply_bytes, apply_flops;
    double singles; // single_equations(), a bin
    gboolean heavy;
} Work;

static Work work_of(const FxJob *job, const FxGroup *g, int bins)
{
    const double size = size_of(g), systems = (double)g->count * bins;
    const double n_il = job->g.axis[0].length, n_xl = job->g.axis[1].length;
    const double tile = (n_il + 2 * g->half_il) * (n_xl + 2 * g->half_xl);
    double products = 0; // per lag: products of the traces that shifted windows meet
    for (int il = 0; il <= 2 * g->half_il; il++)
        for (int xl = il == 0 ? 0 : -2 * g->half_xl; xl <= 2 * g->half_xl; xl++)
            products += (n_il + 2 * g->half_il - il) * (n_xl + 2 * g->half_xl - ABS(xl));
    const double packed = size * (size + 1) / 2, filters = (double)g->n_slots * bins;
    return (Work){
        .matrix_bytes = systems * (8 * tile + 4 * packed),
        .matrix_flops = systems * (8 * products + 2.5 * size * size),
        .solve_bytes = systems * 4 * packed + filters * 8 * size,
        .solve_flops = systems * (size * size * size / 3 + 2 * size * size) +
                       (filters - systems) * 4 * size * size,
        .apply_bytes = systems * 8 * (tile + n_il * n_xl + size),
        .apply_flops = systems * 8 * (size - 1) * n_il * n_xl,
    };
}

// --- memory and time of a chunk ------------------------------------------------------------------

// Equations one by one run at a tenth of the rate of the box sums.
enum { SINGLE_WEIGHT = 10, SOLVE_WEIGHT = 3 }; // solving, at a third of it

// A look at the cancel flag behind work of so many flops, where it takes a millisecond or more: a
// newer pass's slices wait for two such pieces at most.
static gboolean look(FxJob *job, double flops, GError **error)
{
    const FxPlan *p = job->p;
    return flops < FX_LOOK_FLOPS * p->processors ||
           litho_cuda_step(p->context, job->run, job->done, job->total, error);
}

// Flops of the equations one by one, weighed: of the traces that are there where most are absent or
// the box sums do not serve, of the absent ones elsewhere.
static double single_equations(const FxJob *job, const FxGroup *g, const FxLayout *layout)
{
    double points = 0;
    const gboolean all = !litho_fx_box_serves(g->half_il, g->half_xl, job->params->form, g->max_il,
                                              g->max_xl, job->p->shared_limit);
    for (int k = 0; k < g->count; k++) {
        const LithoFxSpot *s = &g_array_index(layout->spots, LithoFxSpot, g->first + k);
        const double n = (double)(s->c_il1 - s->c_il0) * (s->c_xl1 - s->c_xl0);
        points += all ? n - s->missing : fmin(s->missing, n - s->missing);
    }
    return SINGLE_WEIGHT * 2.0 * points * size_of(g) * size_of(g);
}

// Windows so large that one system takes a multiprocessor a millisecond: their passes are steps of
// their own.
static gboolean heavy(const FxJob *job, const FxGroup *g, const FxLayout *layout)
{
    return single_equations(job, g, layout) > 0.1 * FX_CHUNK_FLOPS * g->count;
}

// Flops of one step of time window k for one bin, roughly: all passes over all groups, of heavy
// groups one.
static double flops_per_bin(const FxJob *job, int k)
{
    static const double steps[] = {0, 100}; // Cholesky, Jacobi
    double sum = 0;
    for (guint n = 0; n < job->layouts[k]->groups->len; n++) {
        const FxGroup *g = &g_array_index(job->layouts[k]->groups, FxGroup, n);
        const Work w = work_of(job, g, 1);
        const double iterations = steps[job->params->solver] * 2 * size_of(g) * size_of(g);
        const gboolean once = !g->holed || heavy(job, g, job->layouts[k]);
        sum += (once ? 1 : 1 + job->params->fill_passes) *
               (w.matrix_flops + w.solve_flops + w.apply_flops + g->count * iterations +
                single_equations(job, g, job->layouts[k]));
    }
    return sum;
}

// Chooses the number of bins at a time: as many as memory and 15 ms allow. Where rule 6 needs more
// at once to compare them, they are filtered in steps.
static void choose_chunk(FxJob *job, const BinNeed *need)
{
    FxPlan *p = job->p;
    double most = 1;
    for (int k = 0; k <= job->last - job->first; k++)
        if (k == 0 || job->layouts[k] != job->layouts[k - 1])
            most = fmax(most, flops_per_bin(job, k));
    const double in_time = FX_CHUNK_FLOPS * p->processors / most;
    const guint64 kept = p->spectra.bytes + p->present.bytes + p->spots.bytes + 2 * need->states;
    const guint64 filtered = filtered_bytes(job) + need->over + need->largest;
    const guint64 a_bin = need->matrix + need->taps + 5 * need->good + 2 * need->tiles;
    const guint64 together = job->params->faults ? MIN(LITHO_FX_KEEP_BINS, MAX(p->bins, 1)) : 1;
    guint64 room = job->room > kept ? job->room - kept : 0;
    guint64 bins = MIN(room, FX_CHUNK_BYTES) / (a_bin + filtered);
    if (bins < (guint64)p->bins || !fx_blends_itself(job, p->bins)) { // then they meet in `blended`
        const gsize blended = fx_blended_bytes(p, fx_region_traces(job));
        room = room > blended ? room - blended : 0;
        bins = MIN(room, FX_CHUNK_BYTES) / (a_bin + filtered);
    }
    if (bins < together) {
        room = MIN(room, FX_CHUNK_BYTES);
        bins = room > together * filtered ? (room - together * filtered) / a_bin : 0;
        bins = MIN(bins, together);
    }
    job->step_bins = job->chunk_bins = (int)CLAMP(fmin((double)bins, in_time), 1, 65535);
    if (job->params->faults && job->chunk_bins < p->bins) {
        const int groups = MAX(job->chunk_bins / LITHO_FX_KEEP_BINS, 1);
        job->chunk_bins = MIN(groups * LITHO_FX_KEEP_BINS, p->bins);
        job->step_bins = MIN(job->step_bins, job->chunk_bins);
    }
}

// Chooses how many time windows of the clean layout go together: as many as make up enough systems
// to fill a card many times over, all parts of the job alike.
static void choose_batch(FxJob *job)
{
    const FxPlan *p = job->p;
    const int n = job->last - job->first + 1;
    const gint64 systems = MAX(fx_windows(job) * p->bins, 1);
    job->batch = 1;
    if (!job->clean || p->bins == 0 || !fx_blends_itself(job, p->bins))
        return;
    const int most = (int)MIN(job->chunk_bins / p->bins, MAX(FX_BATCH_SYSTEMS / systems, 1));
    if (most > 1)
        job->batch = (n + (n + most - 1) / most - 1) / ((n + most - 1) / most);
}

static gboolean filter_memory(FxJob *job, const BinNeed *need, GError **error)
{
    FxPlan *p = job->p;
    LithoCudaContext *c = p->context;
    const gboolean whole = job->chunk_bins >= p->bins && fx_blends_itself(job, p->bins);
    const gsize bins = job->batch > 1 ? (gsize)job->batch * p->bins
                                      : MIN((gsize)job->chunk_bins, MAX((gsize)p->bins, 1));
    const gsize step = MIN(bins, (gsize)job->step_bins);
    const gsize blended = whole ? 1 : fx_blended_bytes(p, fx_region_traces(job));
    const gboolean fresh = p->blended.bytes < blended;
    gboolean ok =
        litho_cuda_reserve(c, &p->blended, blended, error) &&
        (!fresh ||
         LITHO_CUDA(cudaMemsetAsync(p->blended.data, 0, blended, litho_cuda_stream(c)), error)) &&
        litho_cuda_reserve(c, &p->filtered, bins * filtered_bytes(job), error) &&
        litho_cuda_reserve(c, &p->matrix, step * need->matrix, error) &&
        litho_cuda_reserve(c, &p->taps, step * need->taps, error) &&
        litho_cuda_reserve(c, &p->good, step * need->good, error) &&
        litho_cuda_reserve(c, &p->scales, step * need->good * sizeof(float), error) &&
        litho_cuda_reserve(c, &p->over, MAX(bins * need->over, 1), error) &&
        litho_cuda_reserve(c, &p->largest, MAX(bins * need->largest, 1), error);
    for (int k = 0; k < 2 && ok && need->tiles > 0; k++)
        ok = litho_cuda_reserve(c, &p->tiles[k], step * need->tiles, error) &&
             litho_cuda_reserve(c, &p->states[k], need->states, error);
    return ok;
}

// --- launches ------------------------------------------------------------------------------------

// The equations of all windows, in launches of about 3 ms.
static gboolean equations(FxJob *job, const FxGroup *g, LithoFxGroup d, double flops, int pass,
                          GError **error)
{
    FxPlan *p = job->p;
    const double launches = ceil(flops / (FX_LAUNCH_FLOPS * p->processors));
    const int step = (int)CLAMP(ceil(g->count / fmax(launches, 1)), 1, g->count);
    for (int first = 0; first < g->count; first += step) {
        if (first > 0 && !litho_cuda_step(p->context, job->run, job->done, job->total, error))
            return FALSE;
        d.n_spots = MIN(step, g->count - first);
        if (!LITHO_CUDA(litho_fx_matrix(&d, g->max_il, g->max_xl, pass, p->shared_limit,
                                        litho_cuda_stream(p->context)),
                        error))
            return FALSE;
        d.spots += step;
        d.matrix += (gsize)step * d.bins * d.matrix_pitch;
        d.scales += (gsize)step * d.bins;
    }
    return TRUE;
}

static gboolean design(FxJob *job, const FxGroup *g, const LithoFxGroup *d, const Work *work,
                       int pass, gboolean last, GError **error)
{
    LithoCudaContext *c = job->p->context;
    cudaStream_t stream = litho_cuda_stream(c);
    litho_cuda_mark(c, "matrix", LITHO_STAGE_COMPUTE, work->matrix_bytes, work->matrix_flops);
    if (!equations(job, g, *d, work->matrix_flops + d->bins * work->singles, pass, error) ||
        (pass > 0 && d->updates &&
         !LITHO_CUDA(litho_fx_update(d, g->max_il, g->max_xl, g->few, pass, stream), error)) ||
        !(work->heavy ? litho_cuda_step(c, job->run, job->done, job->total, error)
                      : look(job, work->matrix_flops + d->bins * work->singles, error)))
        return FALSE;
    const int single = g->count - g->edged;
    litho_cuda_mark(c, "solve", LITHO_STAGE_COMPUTE, work->solve_bytes, work->solve_flops);
    return LITHO_CUDA(litho_fx_solve(d, 0, single, 0, last, stream), error) &&
           LITHO_CUDA(litho_fx_solve(d, single, g->edged, 1, last, stream), error) &&
           look(job, SOLVE_WEIGHT * work->solve_flops, error);
}

// Bins [bin, bin + bins) of time window first + k into `filtered`, which holds `out_bins` of them
// from bin `out_bin` on.
static gboolean filter_group(FxJob *job, int k, const FxGroup *g, int bin, int bins, int out_bin,
                             int out_bins, GError **error)
{
    FxPlan *p = job->p;
    LithoCudaContext *c = p->context;
    cudaStream_t stream = litho_cuda_stream(c);
    Work work = work_of(job, g, bins);
    const int fills = g->holed ? job->params->fill_passes : 0;
    LithoFxGroup d = device_group(job, k, g, bin, bins);
    d.out += (gint64)(bin - out_bin) * d.out_pitch;
    d.out_bins = out_bins;
    if (g->half_il == 0 && g->half_xl == 0) { // no filter: "bad" systems pass unchanged
        if (!LITHO_CUDA(cudaMemsetAsync(p->good.data, 0, (gsize)g->count * bins, stream), error))
            return FALSE;
        return LITHO_CUDA(litho_fx_apply(&d, 0, stream), error);
    }
    work.singles = single_equations(job, g, job->layouts[k]);
    work.heavy = heavy(job, g, job->layouts[k]);
    if (g->holed) {
        litho_cuda_mark(c, "fill", LITHO_STAGE_COMPUTE, 0, 0);
        if (!LITHO_CUDA(litho_fx_open(&d, stream), error))
            return FALSE;
    }
    for (int pass = 0; pass < fills; pass++) {
        if (!design(job, g, &d, &work, pass, FALSE, error))
            return FALSE;
        litho_cuda_mark(c, "fill", LITHO_STAGE_COMPUTE, 0, 0);
        if (!LITHO_CUDA(litho_fx_guess(&d, pass, stream), error) ||
            (work.heavy && !litho_cuda_step(c, job->run, job->done, job->total, error)))
            return FALSE;
    }
    if (!design(job, g, &d, &work, fills, TRUE, error))
        return FALSE;
    litho_cuda_mark(c, "apply", LITHO_STAGE_COMPUTE, work.apply_bytes, work.apply_flops);
    return LITHO_CUDA(litho_fx_apply(&d, fills, stream), error) &&
           look(job, work.apply_flops, error);
}

// Rule 6 on bins [bin, bin + bins) of time window first + k, or of several from there on.
static gboolean keep_groups(FxJob *job, int k, const GArray *groups, int bin, int bins,
                            GError **error)
{
    LithoCudaContext *c = job->p->context;
    for (guint m = 0; m < groups->len && bins > 0 && job->params->faults; m++) {
        const FxGroup *g = &g_array_index(groups, FxGroup, m);
        const LithoFxGroup d = device_group(job, k, g, bin, bins);
        if ((g->half_il > 0 || g->half_xl > 0) &&
            !LITHO_CUDA(litho_fx_keep(&d, MIN(bins, job->p->bins), litho_cuda_stream(c)), error))
            return FALSE;
    }
    return TRUE;
}

// Time windows first + k to first + k + n - 1, which share the clean layout, at once.
static gboolean filter_batch(FxJob *job, int k, int n, GError **error)
{
    FxPlan *p = job->p;
    const GArray *groups = job->clean->groups;
    for (guint m = 0; m < groups->len; m++)
        if (!filter_group(job, k, &g_array_index(groups, FxGroup, m), 0, n * p->bins, 0,
                          n * p->bins, error))
            return FALSE;
    job->done = (gint64)(k + n) * p->bins;
    return keep_groups(job, k, groups, 0, n * p->bins, error) && fx_inverse_all(job, k, n, error) &&
           litho_cuda_step(p->context, job->run, job->done, job->total, error);
}

static gboolean filter_window(FxJob *job, int k, GError **error)
{
    FxPlan *p = job->p;
    const GArray *groups = job->layouts[k]->groups;
    for (int bin = 0; bin < MAX(p->bins, 1); bin += job->chunk_bins) {
        const int bins = MIN(job->chunk_bins, p->bins - bin);
        for (int from = bin; from < bin + bins; from += job->step_bins) {
            const int step = MIN(job->step_bins, bin + bins - from);
            for (guint m = 0; m < groups->len; m++)
                if (!filter_group(job, k, &g_array_index(groups, FxGroup, m), from, step, bin, bins,
                                  error))
                    return FALSE;
            job->done = (gint64)k * p->bins + from + step;
            if (from + step < bin + bins &&
                !litho_cuda_step(p->context, job->run, job->done, job->total, error))
                return FALSE;
        }
        if (!keep_groups(job, k, groups, bin, bins, error) ||
            !fx_inverse(job, k, bin, bins, error) ||
            !litho_cuda_step(p->context, job->run, job->done, job->total, error))
            return FALSE;
    }
    return TRUE;
}

// Time windows of the clean layout from first + k on that go together.
static int batch_at(const FxJob *job, int k)
{
    int n = 0;
    while (n < job->batch && k + n <= job->last - job->first && job->layouts[k + n] == job->clean)
        n++;
    return n;
}

gboolean fx_filter(FxJob *job, GError **error)
{
    litho_run_begin(job->run, "design + filter", "bins");
    make_layouts(job);
    gboolean ok = upload_spots(job, error);
    const BinNeed need = bin_need(job);
    if (ok) {
        choose_chunk(job, &need);
        choose_batch(job);
    }
    ok = ok && filter_memory(job, &need, error);
    job->total = (gint64)(job->last - job->first + 1) * MAX(job->p->bins, 1);
    for (int k = 0, n; ok && k <= job->last - job->first; k += MAX(n, 1)) {
        n = batch_at(job, k);
        ok = n > 1 ? filter_batch(job, k, n, error) : filter_window(job, k, error);
    }
    free_layouts(job);
    return ok;
}
