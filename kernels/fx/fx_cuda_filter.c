// SPDX-License-Identifier: GPL-3.0-or-later
//
// Rules 3 and 4 of fx_geometry.h on a device: groups of windows, chunks of bins, order of launches.
// Filtered windows live for one time window only: 80 MB for 90,000 traces instead of 0.8 GB.
#include <math.h>

#include "core/error.h"
#include "kernels/fx/fx_cuda.h"

// --- layouts
// ----------------------------------------------------------------------------------------

static gint64 systems_per_bin(const FxJob *job)
{
    return (gint64)(job->windows.il1 - job->windows.il0) * (job->windows.xl1 - job->windows.xl0);
}

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

// Bytes that one bin of the filter stage takes.
static gint64 bytes_per_bin(const FxJob *job)
{
    gint64 most = 0;
    for (int k = 0; k <= job->last - job->first; k++)
        for (guint n = 0; n < job->layouts[k]->groups->len; n++) {
            const FxGroup *g = &g_array_index(job->layouts[k]->groups, FxGroup, n);
            gint64 bytes = 4 * g->count * matrix_pitch(g) + 8 * g->n_slots * size_of(g) + g->count;
            if (g->holed)
                bytes += 2 * 8 * g->count * tile_area(job, g);
            most = MAX(most, bytes);
        }
    return most + 8 * fx_windows(job) * fx_out_pitch(job);
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
    const gsize bytes = all->len * sizeof(LithoFxSpot);
    cudaStream_t stream = litho_cuda_stream(p->context);
    return litho_cuda_reserve(p->context, &p->spots, bytes, error) &&
           LITHO_CUDA(
               cudaMemcpyAsync(p->spots.data, all->data, bytes, cudaMemcpyHostToDevice, stream),
               error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error); // `all` goes
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

// As many bins at a time as memory and 15 ms allow.
static gboolean choose_chunk(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    guint64 unused = 0, total = 0;
    if (!litho_cuda_memory(litho_cuda_device(p->context), &unused, &total, error))
        return FALSE;
    const gint64 passes = p->host_present ? 1 + job->params->fill_passes : 1;
    const gint64 room = MIN(FX_CHUNK_BYTES, unused / 2);
    const gint64 bins =
        MIN(room / bytes_per_bin(job), FX_CHUNK_SYSTEMS / (passes * fx_windows(job)));
    job->chunk_bins = (int)CLAMP(bins, 1, 65535);
    return TRUE;
}

// --- filter
// -----------------------------------------------------------------------------------------

static gboolean group_memory(FxJob *job, const FxGroup *g, int bins, GError **error)
{
    FxPlan *p = job->p;
    const gsize systems = (gsize)g->count * bins;
    gboolean ok =
        litho_cuda_reserve(p->context, &p->matrix, 4 * systems * matrix_pitch(g), error) &&
        litho_cuda_reserve(p->context, &p->taps, 8 * (gsize)g->n_slots * bins * size_of(g),
                           error) &&
        litho_cuda_reserve(p->context, &p->good, systems, error);
    for (int k = 0; k < 2 && ok && g->holed; k++)
        ok = litho_cuda_reserve(p->context, &p->tiles[k], 8 * systems * tile_area(job, g), error) &&
             litho_cuda_reserve(p->context, &p->states[k], g->count * tile_area(job, g), error);
    return ok;
}

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
        .bins = bins,
        .tiles = {p->tiles[0].data, p->tiles[1].data},
        .states = {p->states[0].data, p->states[1].data},
        .tile_il = job->g.axis[0].length + 4 * g->half_il,
        .tile_xl = job->g.axis[1].length + 4 * g->half_xl,
        .matrix = p->matrix.data,
        .matrix_pitch = (int)matrix_pitch(g),
        .taps = p->taps.data,
        .good = p->good.data,
        .out = p->filtered.data,
        .out_pitch = fx_out_pitch(job),
        .counters = p->counters.data,
        .share = (float)(fmax(params->prewhitening / 100, 1e-7) / size_of(g)),
        .solver = params->solver,
        .form = params->form,
        .edge = params->form == LITHO_FX_ACF && params->edge == LITHO_FX_FIT ? LITHO_FX_RENORM
                                                                             : params->edge,
        .mute = params->outband == LITHO_FX_MUTE,
        .post = params->post,
    };
}

// What the stages of one group must move and compute for `bins` bins.
typedef struct Work {
    double matrix_bytes, matrix_flops, solve_bytes, solve_flops, apply_bytes, apply_flops;
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

static gboolean design(FxJob *job, const FxGroup *g, const LithoFxGroup *d, const Work *work,
                       int pass, gboolean last, GError **error)
{
    LithoCudaContext *c = job->p->context;
    cudaStream_t stream = litho_cuda_stream(c);
    litho_cuda_mark(c, "matrix", LITHO_STAGE_COMPUTE, work->matrix_bytes, work->matrix_flops);
    if (!LITHO_CUDA(litho_fx_matrix(d, g->max_il, g->max_xl, pass, job->p->shared_limit, stream),
                    error))
        return FALSE;
    const int single = g->count - g->edged;
    litho_cuda_mark(c, "solve", LITHO_STAGE_COMPUTE, work->solve_bytes, work->solve_flops);
    return LITHO_CUDA(litho_fx_solve(d, 0, single, 0, last, stream), error) &&
           LITHO_CUDA(litho_fx_solve(d, single, g->edged, 1, last, stream), error);
}

static gboolean filter_group(FxJob *job, int k, const FxGroup *g, int bin, int bins, GError **error)
{
    FxPlan *p = job->p;
    LithoCudaContext *c = p->context;
    cudaStream_t stream = litho_cuda_stream(c);
    const Work work = work_of(job, g, bins);
    const int fills = g->holed ? job->params->fill_passes : 0;
    if (!group_memory(job, g, bins, error))
        return FALSE;
    const LithoFxGroup d = device_group(job, k, g, bin, bins);
    if (g->half_il == 0 && g->half_xl == 0) { // no filter: "bad" systems pass unchanged
        if (!LITHO_CUDA(cudaMemsetAsync(p->good.data, 0, (gsize)g->count * bins, stream), error))
            return FALSE;
        return LITHO_CUDA(litho_fx_apply(&d, 0, stream), error);
    }
    if (g->holed) {
        litho_cuda_mark(c, "fill", LITHO_STAGE_COMPUTE, 0, 0);
        if (!LITHO_CUDA(litho_fx_open(&d, stream), error))
            return FALSE;
    }
    for (int pass = 0; pass < fills; pass++) {
        if (!design(job, g, &d, &work, pass, FALSE, error))
            return FALSE;
        litho_cuda_mark(c, "fill", LITHO_STAGE_COMPUTE, 0, 0);
        if (!LITHO_CUDA(litho_fx_guess(&d, pass, stream), error))
            return FALSE;
    }
    if (!design(job, g, &d, &work, fills, TRUE, error))
        return FALSE;
    litho_cuda_mark(c, "apply", LITHO_STAGE_COMPUTE, work.apply_bytes, work.apply_flops);
    return LITHO_CUDA(litho_fx_apply(&d, fills, stream), error);
}

static gboolean filter_memory(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    const gint64 traces = fx_region_traces(job);
    const gint64 rounded = (traces + p->batch - 1) / p->batch * p->batch;
    const gsize blended = fx_blends_itself(job, MIN(job->chunk_bins, p->bins))
                              ? 1
                              : (gsize)rounded * (p->nfft / 2 + 1) * sizeof(LithoFxComplex);
    const gsize filtered = (gsize)fx_windows(job) * MIN(job->chunk_bins, MAX(p->bins, 1)) *
                           fx_out_pitch(job) * sizeof(LithoFxComplex);
    const gboolean fresh = p->blended.bytes < blended;
    cudaStream_t stream = litho_cuda_stream(p->context);
    return litho_cuda_reserve(p->context, &p->blended, blended, error) &&
           (!fresh || LITHO_CUDA(cudaMemsetAsync(p->blended.data, 0, blended, stream), error)) &&
           litho_cuda_reserve(p->context, &p->filtered, filtered, error);
}

static gboolean filter_window(FxJob *job, int k, GError **error)
{
    FxPlan *p = job->p;
    const GArray *groups = job->layouts[k]->groups;
    const gint64 total = (gint64)(job->last - job->first + 1) * MAX(p->bins, 1);
    for (int bin = 0; bin < MAX(p->bins, 1); bin += job->chunk_bins) {
        const int bins = MIN(job->chunk_bins, p->bins - bin);
        for (guint m = 0; m < groups->len && bins > 0; m++)
            if (!filter_group(job, k, &g_array_index(groups, FxGroup, m), bin, bins, error))
                return FALSE;
        if (!fx_inverse(job, k, bin, bins, error) ||
            !litho_cuda_step(p->context, job->run, (gint64)k * p->bins + bin + bins, total, error))
            return FALSE;
    }
    return TRUE;
}

gboolean fx_filter(FxJob *job, GError **error)
{
    litho_run_begin(job->run, "design + filter", "bins");
    make_layouts(job);
    gboolean ok = choose_chunk(job, error) && upload_spots(job, error) && filter_memory(job, error);
    for (int k = 0; ok && k <= job->last - job->first; k++)
        ok = filter_window(job, k, error);
    free_layouts(job);
    return ok;
}
