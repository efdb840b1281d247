// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/gaps.h"

#include <string.h>

#include "core/error.h"
#include "kernels/common/gaps_plan.h"
#include "kernels/cuda/gaps_kernels.h"

G_STATIC_ASSERT((int)LITHO_GAPS_CUDA_WINDOW == (int)LITHO_GAPS_WINDOW);
G_STATIC_ASSERT(sizeof(LithoGapsColumn) == 3 * sizeof(long long));

enum { PAIRS_A_LAUNCH = 32768 }; // some milliseconds: between two looks at the cancel flag

void litho_cuda_gaps_release(LithoCudaContext *context, LithoCudaGaps *gaps)
{
    litho_cuda_release(context, &gaps->live);
    litho_cuda_release(context, &gaps->scale);
    litho_cuda_release(context, &gaps->columns);
}

static gboolean make_task(LithoCudaContext *context, LithoCudaGaps *gaps, const LithoGapsPlan *plan,
                          const LithoGapPieces *pieces, float *x, LithoGapsTask *t, GError **error)
{
    const gint64 traces = litho_box_size(plan->held, 0) * litho_box_size(plan->held, 1);
    if (!litho_cuda_put(context, &gaps->live, plan->live, traces, error) ||
        !litho_cuda_put(context, &gaps->scale, plan->scale, traces * sizeof *plan->scale, error) ||
        !litho_cuda_put(context, &gaps->columns, plan->columns->data,
                        plan->columns->len * sizeof(LithoGapsColumn), error))
        return FALSE;
    *t = (LithoGapsTask){.x = x,
                         .live = gaps->live.data,
                         .scale = gaps->scale.data,
                         .columns = gaps->columns.data,
                         .first_pair = plan->first_pair,
                         .pairs = plan->pairs,
                         .flat = plan->flat,
                         .noise = plan->noise};
    for (int a = 0; a < 3; a++) {
        t->lo[a] = plan->held.lo[a];
        t->n[a] = litho_box_size(plan->held, a);
        t->line[a] = plan->line[a];
    }
    memcpy(t->taper, plan->taper, sizeof t->taper);
    memcpy(t->ladders, plan->ladders, sizeof t->ladders);
    if (pieces) {
        t->bad = pieces->bad;
        t->first = pieces->first;
        t->pieces = pieces->pieces;
        t->length = pieces->length;
        t->alone = pieces->alone;
    }
    return TRUE;
}

// Colours and parities take turns, so that sums have one order.
static gboolean run_columns(LithoCudaContext *context, const LithoGapsPlan *plan,
                            const LithoGapsTask *t, LithoRun *run, GError **error)
{
    const gint64 step = MAX(PAIRS_A_LAUNCH / MAX(plan->pairs, 1), 1);
    const gint64 total = 2 * (gint64)plan->columns->len;
    gint64 done = 0;
    for (int colour = 0; colour < LITHO_GAPS_COLOURS; colour++)
        for (int parity = 0; parity < 2; parity++)
            for (gint64 k = plan->colour[colour]; k < plan->colour[colour + 1]; k += step) {
                const gint64 end = MIN(k + step, plan->colour[colour + 1]);
                done += end - k;
                if (!LITHO_CUDA(litho_gaps_columns(t, k, end, parity, litho_cuda_stream(context)),
                                error) ||
                    !litho_cuda_step(context, run, done, total, error))
                    return FALSE;
            }
    return TRUE;
}

// `cube` may be `in`.
static gboolean guess(LithoCudaContext *context, LithoCudaGaps *gaps, const LithoCube *in,
                      LithoCube *cube, const LithoGapPieces *pieces, LithoGapsRule rule,
                      LithoRun *run, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(context);
    const gint64 traces = litho_box_size(in->held, 0) * litho_box_size(in->held, 1);
    const double samples = (double)litho_box_count(in->held);
    LithoGapsPlan plan = {0};
    LithoGapsTask t;
    const float *from = litho_cuda_input(context, in, run, error);
    float *x = from ? litho_cuda_output(context, cube, error) : NULL;
    litho_run_begin(run, "missing traces", NULL);
    gboolean ok = x && litho_gaps_plan(&plan, in, pieces != NULL, rule, error) &&
                  make_task(context, gaps, &plan, pieces, x, &t, error);
    if (ok)
        litho_cuda_mark(context, "missing traces", LITHO_STAGE_COMPUTE, 8 * samples,
                        litho_gaps_flops(&plan));
    ok = ok && LITHO_CUDA(litho_gaps_clear(&t, from, stream), error) &&
         run_columns(context, &plan, &t, run, error) &&
         LITHO_CUDA(litho_gaps_normalise(&t, stream), error);
    ok = (!x || LITHO_CUDA(cudaStreamSynchronize(stream), ok ? error : NULL)) && ok;
    for (gint64 k = 0; ok && k < traces && !(pieces && pieces->alone); k++)
        cube->live[k] |= plan.scale[k] > 0;
    litho_gaps_plan_clear(&plan);
    return ok;
}

LithoCube *litho_cuda_gaps_guess(LithoCudaContext *context, LithoCudaGaps *gaps,
                                 const LithoCube *in, const LithoGapPieces *pieces,
                                 LithoGapsRule rule, LithoRun *run, GError **error)
{
    g_autoptr(LithoCube) cube = litho_cuda_cube_like(context, in, error);
    const gboolean ok = cube && guess(context, gaps, in, cube, pieces, rule, run, error);
    return ok ? g_steal_pointer(&cube) : NULL;
}

gboolean litho_cuda_gaps_fill(LithoCudaContext *context, LithoCudaGaps *gaps, LithoCube *cube,
                              const LithoGapPieces *pieces, LithoGapsRule rule, LithoRun *run,
                              GError **error)
{
    return guess(context, gaps, cube, cube, pieces, rule, run, error);
}
