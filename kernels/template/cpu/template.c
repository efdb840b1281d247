// SPDX-License-Identifier: GPL-3.0-or-later
//
// The example on the CPU: a plan that keeps what survives a change of a later stage (here the
// mean), exec() that starts at pass->first_stage and gives the same samples for any region,
// progress and cancel in one call. cuda/template.c has the same functions in the same order.
#include "kernels/template/template.h"

// Everything that outlives one exec().
typedef struct Plan {
    LithoGrid grid;
    LithoCube *mean; // result of stage 1 for the box it holds, or NULL
} Plan;

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)params;
    (void)run;
    (void)error;
    Plan *p = g_new0(Plan, 1);
    p->grid = *in;
    return p;
}

static void destroy(gpointer data)
{
    Plan *p = data;
    litho_cube_unref(p->mean);
    g_free(p);
}

// Mean over the live traces i-h..i+h of crossline j, samples lo..hi. Dead traces count as absent.
static void mean_trace(const LithoCube *in, LithoCube *out, gint64 i, gint64 j, int h)
{
    const gint64 lo = out->held.lo[2], n = litho_box_size(out->held, 2);
    float *mean = litho_cube_trace(out, i, j);
    int used = 0;
    for (gint64 k = MAX(i - h, 0); k <= MIN(i + h, in->grid.axis[0].n - 1); k++) {
        if (!litho_cube_is_live(in, k, j))
            continue;
        const float *trace = litho_cube_trace(in, k, j) + (lo - in->held.lo[2]);
        for (gint64 t = 0; t < n; t++)
            mean[t] += trace[t];
        used++;
    }
    for (gint64 t = 0; used > 1 && t < n; t++)
        mean[t] /= used;
}

static gboolean stage_mean(Plan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoTemplateParams *params = pass->params;
    double start = litho_now_ms();
    g_clear_pointer(&p->mean, litho_cube_unref);
    g_autoptr(LithoCube) mean = litho_cube_new_box(&p->grid, pass->region, error);
    if (!mean)
        return FALSE;
    litho_cube_inherit(mean, pass->in); // a dead trace of the input is one of the result
    litho_run_begin(run, "mean", "inlines");
    for (gint64 i = pass->region.lo[0]; i < pass->region.hi[0]; i++) {
        for (gint64 j = pass->region.lo[1]; j < pass->region.hi[1]; j++)
            mean_trace(pass->in, mean, i, j, params->halfwidth);
        if (!litho_run_step(run, i + 1 - pass->region.lo[0], litho_box_size(pass->region, 0),
                            error))
            return FALSE;
    }
    p->mean = g_steal_pointer(&mean);
    litho_run_time(run, "mean", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   8.0 * litho_box_count(pass->region), 0);
    return TRUE;
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    Plan *p = data;
    const LithoTemplateParams *params = pass->params;
    if (!litho_cube_host(pass->in, error))
        return FALSE;
    gboolean cached = p->mean && pass->first_stage > LITHO_TEMPLATE_STAGE_MEAN &&
                      litho_box_contains(p->mean->held, pass->region);
    if (!cached && !stage_mean(p, pass, run, error))
        return FALSE;
    double start = litho_now_ms();
    litho_cube_paste(pass->out, p->mean);
    gint64 n = litho_box_count(pass->out->held);
    for (gint64 k = 0; k < n; k++)
        pass->out->samples[k] *= (float)params->gain;
    litho_run_time(run, "gain", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 8.0 * n, n);
    return TRUE;
}

const LithoImpl litho_template_cpu = {.plan = plan, .exec = exec, .destroy = destroy};
