// SPDX-License-Identifier: GPL-3.0-or-later
//
// The example operator on CUDA: what every GPU implementation shares. The plan owns a context
// (stream, stage timing) and device arrays; exec() enters the context, asks for input and output on
// the device, launches chunks with litho_cuda_step() between them, and finishes.
#include "kernels/cuda/cuda.h"
#include "kernels/template/template.h"
#include "kernels/template/cuda/kernels.h"

// Samples of the mean a chunk may hold: 2^27 * 101 additions at most, about 10 ms.
enum { CHUNK = 1 << 27 };

typedef struct Plan {
    LithoGrid grid;
    LithoCudaContext *context;
    LithoCudaArray live; // mask of the input
    LithoCudaArray mean; // result of stage 1 for mean_box
    LithoBox mean_box;
    gboolean have_mean;
} Plan;

static void destroy(gpointer data)
{
    Plan *p = data;
    litho_cuda_release(p->context, &p->live);
    litho_cuda_release(p->context, &p->mean);
    litho_cuda_context_free(p->context);
    g_free(p);
}

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)params;
    LithoCudaContext *context = litho_cuda_context_new(run ? run->device : 0, error);
    if (!context)
        return NULL;
    Plan *p = g_new0(Plan, 1);
    p->grid = *in;
    p->context = context;
    return p;
}

static LithoTemplateBox dense(LithoBox box)
{
    LithoTemplateBox b;
    for (int k = 0; k < 3; k++) {
        b.lo[k] = box.lo[k];
        b.n[k] = litho_box_size(box, k);
    }
    return b;
}

static gboolean stage_mean(Plan *p, const LithoPass *pass, const float *in, LithoRun *run,
                           GError **error)
{
    const LithoTemplateParams *params = pass->params;
    cudaStream_t stream = litho_cuda_stream(p->context);
    const LithoBox box = pass->region;
    const gint64 traces = litho_box_size(pass->in->held, 0) * litho_box_size(pass->in->held, 1);
    p->have_mean = FALSE;
    if (!litho_cuda_reserve(p->context, &p->live, traces, error) ||
        !litho_cuda_reserve(p->context, &p->mean, litho_box_count(box) * sizeof(float), error) ||
        !LITHO_CUDA(
            cudaMemcpyAsync(p->live.data, pass->in->live, traces, cudaMemcpyHostToDevice, stream),
            error))
        return FALSE;
    const gint64 inline_samples = litho_box_size(box, 1) * litho_box_size(box, 2);
    const gint64 step = MAX(CHUNK / inline_samples, 1);
    LithoTemplateMean mean = {.out = p->mean.data,
                              .out_box = dense(box),
                              .in = in,
                              .live = p->live.data,
                              .in_box = dense(pass->in->held),
                              .n_inline = p->grid.axis[0].n,
                              .halfwidth = params->halfwidth};
    litho_run_begin(run, "mean", "inlines");
    for (gint64 i = box.lo[0]; i < box.hi[0]; i += step) {
        const gint64 n = MIN(step, box.hi[0] - i);
        mean.first = i;
        mean.count = n;
        litho_cuda_mark(p->context, "mean", LITHO_STAGE_COMPUTE, 8.0 * n * inline_samples,
                        (2.0 * params->halfwidth + 1) * n * inline_samples);
        if (!LITHO_CUDA(litho_template_mean(&mean, stream), error) ||
            !litho_cuda_step(p->context, run, i + n - box.lo[0], litho_box_size(box, 0), error))
            return FALSE;
    }
    p->mean_box = box;
    p->have_mean = TRUE;
    return TRUE;
}

// The context is entered.
static gboolean run_pass(Plan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoTemplateParams *params = pass->params;
    const float *in = litho_cuda_input(p->context, pass->in, run, error);
    float *out = in ? litho_cuda_output(p->context, pass->out, error) : NULL;
    if (!out)
        return FALSE;
    gboolean cached = p->have_mean && pass->first_stage > LITHO_TEMPLATE_STAGE_MEAN &&
                      litho_box_contains(p->mean_box, pass->region);
    if (!cached && !stage_mean(p, pass, in, run, error))
        return FALSE;
    const gint64 n = litho_box_count(pass->region);
    litho_cuda_mark(p->context, "gain", LITHO_STAGE_COMPUTE, 8.0 * n, n);
    const LithoTemplateGain gain = {.out = out,
                                    .out_box = dense(pass->out->held),
                                    .mean = p->mean.data,
                                    .mean_box = dense(p->mean_box),
                                    .region = dense(pass->region),
                                    .gain = (float)params->gain};
    return LITHO_CUDA(litho_template_gain(&gain, litho_cuda_stream(p->context)), error) &&
           litho_cuda_finish(p->context, run, error);
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    Plan *p = data;
    if (!litho_cuda_enter(p->context, error))
        return FALSE;
    const gboolean ok = run_pass(p, pass, run, error);
    if (!ok) // launches that read this call's memory must be over
        cudaStreamSynchronize(litho_cuda_stream(p->context));
    return ok;
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)threads;
    (void)known;
    const LithoTemplateParams *p = params;
    LithoBox need = litho_box_grow(in, region, (const gint64[3]){p->halfwidth, 0, 0});
    return 4 * (guint64)(litho_box_count(need) + 2 * litho_box_count(region));
}

const LithoImpl litho_cuda_template = {
    .plan = plan, .exec = exec, .destroy = destroy, .memory = memory};
