// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dips and coherence of a result that is on the device: inlines in chunks that bound the memory of
// the products.
#include "core/error.h"
#include "kernels/patch/cuda/plan.h"
#include "kernels/patch/structure.h"

// Memory for products and their sums over crosslines.
#define CHUNK_BYTES ((guint64)512 << 20)
// Inlines of a launch are counted in 16 bits.
enum { MOST_INLINES = 32768, AROUND = LITHO_PATCH_TENSOR_TRACES };

static LithoBox sums_box(const LithoGrid *grid, LithoBox region)
{
    return litho_box_grow(grid, region, (const gint64[3]){AROUND, AROUND, 0});
}

static guint64 inline_bytes(const LithoGrid *grid, LithoBox region)
{
    const LithoBox sums = sums_box(grid, region);
    return sizeof(float) * LITHO_PATCH_PRODUCTS * litho_box_size(region, 2) *
           (litho_box_size(sums, 1) + litho_box_size(region, 1));
}

// Inlines of a chunk; 0: the device does not answer.
static gint64 chunk_inlines(const PatchPlan *p, LithoBox region, GError **error)
{
    guint64 unused = 0, total = 0;
    if (!litho_cuda_memory(litho_cuda_device(p->context), &unused, &total, error))
        return 0;
    const guint64 room = MIN(unused / 2, CHUNK_BYTES);
    return CLAMP((gint64)(room / inline_bytes(&p->grid, region)) - 2 * AROUND, 4, MOST_INLINES);
}

guint64 patch_structure_bytes(const LithoGrid *grid, LithoBox region)
{
    const guint64 row = inline_bytes(grid, region), least = 4 + 2 * AROUND;
    const guint64 rows =
        MIN(MAX(CHUNK_BYTES / row, least), (guint64)litho_box_size(sums_box(grid, region), 0));
    return 4 * litho_box_count(region) +
           rows * (row + litho_box_size(sums_box(grid, region), 1) * sizeof(LithoPatchFit));
}

static gboolean run_chunk(PatchPlan *p, LithoPatchDips *t, LithoBox region, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    const LithoBox sums = sums_box(&p->grid, region);
    const gsize traces = litho_box_size(sums, 0) * litho_box_size(sums, 1);
    const gsize samples = litho_box_size(region, 2), products = LITHO_PATCH_PRODUCTS;
    const gsize across = litho_box_size(sums, 0) * litho_box_size(region, 1) * samples;
    if (!litho_cuda_reserve(p->context, &p->fits, traces * sizeof(LithoPatchFit), error) ||
        !litho_cuda_reserve(p->context, &p->products, sizeof(float) * products * traces * samples,
                            error) ||
        !litho_cuda_reserve(p->context, &p->across, sizeof(float) * products * across, error))
        return FALSE;
    t->region = patch_box(region);
    t->sums = patch_box(sums);
    t->fits = p->fits.data;
    t->products = p->products.data;
    t->across = p->across.data;
    litho_cuda_mark(p->context, "gradients", LITHO_STAGE_COMPUTE,
                    4.0 * traces * samples * (1 + products),
                    6.0 * LITHO_PATCH_FIT_TRACES * traces * samples);
    if (!LITHO_CUDA(litho_patch_fits(t, stream), error) ||
        !LITHO_CUDA(litho_patch_products(t, stream), error))
        return FALSE;
    litho_cuda_mark(p->context, "dips", LITHO_STAGE_COMPUTE,
                    4.0 * products * (traces * samples + 2 * across), 0);
    return LITHO_CUDA(litho_patch_across(t, stream), error) &&
           LITHO_CUDA(litho_patch_dips(t, stream), error);
}

gboolean patch_structure(PatchPlan *p, const LithoPass *pass, const LithoCube *result, int volume,
                         LithoRun *run, GError **error)
{
    const gint64 step = chunk_inlines(p, pass->region, error);
    LithoPatchDips task = {.held = patch_box(result->held),
                           .n = {p->grid.axis[0].n, p->grid.axis[1].n, p->grid.axis[2].n},
                           .out_held = patch_box(pass->out->held),
                           .volume = volume,
                           .unit = litho_patch_dip_unit(&p->grid)};
    task.in = step > 0 ? litho_cuda_input(p->context, result, run, error) : NULL;
    task.out = task.in ? litho_cuda_output(p->context, pass->out, error) : NULL;
    if (!task.out || !patch_upload_live(p, result, error))
        return FALSE;
    task.live = p->live.data;
    litho_run_begin(run, "dips", "inlines");
    for (gint64 il = pass->region.lo[0]; il < pass->region.hi[0]; il += step) {
        LithoBox part = pass->region;
        part.lo[0] = il;
        part.hi[0] = MIN(il + step, part.hi[0]);
        if (!run_chunk(p, &task, part, error) ||
            !litho_cuda_step(p->context, run, part.hi[0] - pass->region.lo[0],
                             litho_box_size(pass->region, 0), error))
            return FALSE;
    }
    return litho_cuda_finish(p->context, run, error);
}
