// SPDX-License-Identifier: GPL-3.0-or-later
//
// One engine over several GPUs: the boxes are dealt out (the papers' first variant), and the fine
// grid's FFT with them. Volumes and the residual box live on the first GPU. A transform is three
// steps, between which every GPU waits for all others, on the GPU, the host does not wait:
//
//   forward   pad and transform the planes of own samples, read from the first GPU
//             pull own columns of all planes, transform them
//             pull what own tiles touch of the others' columns; gather, box FFTs
//   adjoint   box FFTs, spread, collect what own tiles touch
//             sum own columns over all GPUs, transform them
//             pull the others' columns of own planes, transform them, crop into the first GPU's
//             volume
//
// Floor for n GPUs: the n-th part of the transform; what passes over the links is listed in
// cuda/share.cu.
#include "core/error.h"
#include "kernels/wavepacket/cuda/multi.h"

// --- the same on every GPU -----------------------------------------------------------------------

typedef struct OnDevice {
    WpPartFunc fn;
    gpointer data;
} OnDevice;

static gboolean on_device(WpMulti *m, int k, gpointer data, GError **error)
{
    const OnDevice *what = data;
    WpEngine *engine = &m->part[k]->engine;
    return engine->class->attach(engine, error) && what->fn(m, k, what->data, error);
}

gboolean wp_each_part(WpMulti *m, WpPartFunc fn, gpointer data, LithoRun *run, GError **error)
{
    OnDevice what = {fn, data};
    if (!wp_multi_settle_windows(m, error))
        return FALSE;
    for (int k = 0; k < m->n; k++)
        m->run[k] = run ? (LithoRun){.cancel = run->cancel,
                                     .superseded = run->superseded,
                                     .superseded_data = run->superseded_data}
                        : (LithoRun){0};
    return wp_all_parts(m, on_device, &what, error) &&
           m->part[0]->engine.class->attach(&m->part[0]->engine, error) &&
           litho_run_step(run, 0, 0, error);
}

// --- life ----------------------------------------------------------------------------------------

static void multi_free(WpEngine *engine)
{
    wp_multi_free_parts((WpMulti *)engine);
    wp_multi_free_crew((WpMulti *)engine);
    g_free(engine);
}

static gboolean begin_part(WpMulti *m, int k, gpointer data, GError **error)
{
    return m->part[k]->engine.class->begin(&m->part[k]->engine, k ? &m->run[k] : data, error);
}

static gboolean multi_begin(WpEngine *engine, LithoRun *run, GError **error)
{
    ((WpMulti *)engine)->counts_to = NULL;
    return wp_each_part((WpMulti *)engine, begin_part, run, run, error);
}

static gboolean multi_finish(WpEngine *engine, LithoRun *run, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    for (int k = m->n - 1; k >= 0; k--) {
        WpEngine *part = &m->part[k]->engine;
        if (!part->class->attach(part, error) || !part->class->finish(part, k ? NULL : run, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean wait_part(WpMulti *m, int k, gpointer data, GError **error)
{
    (void)data;
    return m->part[k]->engine.class->wait(&m->part[k]->engine, error);
}

static gboolean multi_wait(WpEngine *engine, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    if (!wp_each_part(m, wait_part, NULL, NULL, error))
        return FALSE;
    wp_multi_settle_counts(m);
    return TRUE;
}

// --- transform -----------------------------------------------------------------------------------

typedef struct Transform {
    const float *u; // handles
    float *to, *c;
    LithoRun *run;
    gboolean windows_due; // as the engine had it
} Transform;

// Each step of a transform is asked for on all GPUs, then the next.
static gboolean step_done(WpMulti *m, int k, int step, GError **error)
{
    return LITHO_CUDA(cudaEventRecord(m->done[k][step], litho_cuda_stream(m->part[k]->context)),
                      error);
}

// Makes later requests of part k wait until all parts have passed the step.
static gboolean wait_for_all(WpMulti *m, int k, int step, GError **error)
{
    for (int j = 0; j < m->n; j++)
        if (j != k && !LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(m->part[k]->context),
                                                      m->done[j][step], 0),
                                  error))
            return FALSE;
    return TRUE;
}

static float2 *grid_of(WpCuda *part)
{
    return part->u.data;
}

// On part k: the spans of part i; with i = n those of the columns.
static const WpSpan *spans_of(const WpMulti *m, int k, int i)
{
    const WpDevGrid *g = &m->part[k]->grid;
    return (const WpSpan *)m->spans[k].data + (gint64)i * g->nf[0] * g->nf[1];
}

static int samples_along_1(const WpMulti *m)
{
    return (int)m->engine.geometry->n[0];
}

static gboolean forward_planes(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpCuda *part = m->part[k];
    return wait_for_all(m, k, WP_DONE_PULLED, error) && // the others have done with this grid
           LITHO_CUDA(
               cudaStreamWaitEvent(litho_cuda_stream(part->context), m->done[0][WP_DONE_READY], 0),
               error) &&
           wp_cuda_begin_forward(part, wp_part_of(t->u, 0), wp_part_of(t->c, k), error) &&
           step_done(m, k, WP_DONE_FIRST, error);
}

static gboolean forward_columns(WpMulti *m, int k, gpointer data, GError **error)
{
    (void)data;
    WpCuda *part = m->part[k];
    wp_cuda_mark_exchange(part, m->link_bytes[k][WP_PULL_PLANES]);
    if (!wait_for_all(m, k, WP_DONE_FIRST, error) ||
        !LITHO_CUDA(wp_cuda_pull_planes(&part->grid, &part->share, samples_along_1(m),
                                        spans_of(m, k, m->n), &m->peers, grid_of(part),
                                        litho_cuda_stream(part->context)),
                    error))
        return FALSE;
    wp_cuda_mark_fine(part, "fine fft", FALSE);
    return wp_cuda_columns(part, CUFFT_FORWARD, error) && step_done(m, k, WP_DONE_SECOND, error);
}

static gboolean forward_boxes(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpCuda *part = m->part[k];
    wp_cuda_mark_exchange(part, m->link_bytes[k][WP_PULL_SPANS]);
    gboolean ok =
        wait_for_all(m, k, WP_DONE_SECOND, error) &&
        LITHO_CUDA(wp_cuda_pull_spans(&part->grid, &part->share, spans_of(m, k, k), &m->peers,
                                      grid_of(part), litho_cuda_stream(part->context)),
                   error) &&
        step_done(m, k, WP_DONE_PULLED, error) &&
        wp_cuda_end_forward(part, wp_part_of(t->u, 0), wp_part_of(t->c, k), error);
    litho_cuda_mark_end(part->context);
    return ok;
}

// A step that fails on one GPU leaves others at work on arrays that may go away.
static gboolean all_steps(WpMulti *m, const WpPartFunc *steps, int n, Transform *t, GError **error)
{
    gboolean ok = step_done(m, 0, WP_DONE_READY, error);
    for (int i = 0; i < n && ok; i++)
        ok = wp_each_part(m, steps[i], t, t->run, error);
    if (!ok)
        multi_wait(&m->engine, NULL);
    return ok;
}

static gboolean multi_forward(WpEngine *engine, const float *u, float *c, LithoRun *run,
                              GError **error)
{
    static const WpPartFunc steps[] = {forward_planes, forward_columns, forward_boxes};
    Transform t = {.u = u, .c = c, .run = run};
    return all_steps((WpMulti *)engine, steps, G_N_ELEMENTS(steps), &t, error);
}

// The residual box alone waits for rows of its windows that are on their way; what they came from
// is free for other use behind the boxes.
static gboolean wait_for_windows(WpMulti *m, int k, gboolean boxes_asked, GError **error)
{
    WpCuda *part = m->part[k];
    gboolean ok = TRUE;
    if (k > 0)
        return !boxes_asked || LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(part->context),
                                                              m->done[k][WP_DONE_WINDOWS], 0),
                                          error);
    for (int j = 1; j < m->n && ok && !boxes_asked; j++)
        ok =
            LITHO_CUDA(cudaStreamWaitEvent(part->beside[0], m->done[j][WP_DONE_WINDOWS], 0), error);
    return ok;
}

static gboolean adjoint_boxes(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpCuda *part = m->part[k];
    return wait_for_all(m, k, WP_DONE_PULLED, error) &&
           (!t->windows_due || wait_for_windows(m, k, FALSE, error)) &&
           wp_cuda_begin_adjoint(part, wp_part_of(t->c, k), spans_of(m, k, k),
                                 k ? &m->run[k] : t->run, error) &&
           (!t->windows_due || wait_for_windows(m, k, TRUE, error)) &&
           step_done(m, k, WP_DONE_FIRST, error);
}

static gboolean adjoint_columns(WpMulti *m, int k, gpointer data, GError **error)
{
    (void)data;
    WpCuda *part = m->part[k];
    wp_cuda_mark_exchange(part, m->link_bytes[k][WP_SUM_SPANS]);
    if (!wait_for_all(m, k, WP_DONE_FIRST, error) ||
        !LITHO_CUDA(wp_cuda_sum_spans(&part->grid, &part->share, spans_of(m, k, 0), &m->peers,
                                      grid_of(part), litho_cuda_stream(part->context)),
                    error))
        return FALSE;
    wp_cuda_mark_fine(part, "fine ifft", TRUE);
    return wp_cuda_columns(part, CUFFT_INVERSE, error) && step_done(m, k, WP_DONE_SECOND, error);
}

static gboolean adjoint_planes(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpCuda *part = m->part[k];
    const WpBox *residual = wp_residual(&m->geometry[0]);
    wp_cuda_mark_exchange(part, m->link_bytes[k][WP_PULL_COLUMNS]);
    if (!wait_for_all(m, k, WP_DONE_SECOND, error) ||
        !LITHO_CUDA(wp_cuda_pull_columns(&part->grid, &part->share, samples_along_1(m),
                                         spans_of(m, k, m->n), &m->peers, grid_of(part),
                                         litho_cuda_stream(part->context)),
                    error) ||
        !step_done(m, k, WP_DONE_PULLED, error))
        return FALSE;
    wp_cuda_mark_fine(part, "fine ifft", FALSE);
    gboolean ok =
        wp_cuda_end_adjoint(part, residual, residual ? wp_part_of(t->c, 0) + residual->at : NULL,
                            wp_part_of(t->to, 0), error) &&
        step_done(m, k, WP_DONE_READY, error);
    litho_cuda_mark_end(part->context);
    return ok;
}

// The first GPU's volume is whole when all have put in their samples.
static gboolean multi_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error)
{
    static const WpPartFunc steps[] = {adjoint_boxes, adjoint_columns, adjoint_planes};
    WpMulti *m = (WpMulti *)engine;
    Transform t = {.to = u, .c = c, .run = run, .windows_due = m->windows_due};
    m->windows_due = FALSE;
    return all_steps(m, steps, G_N_ELEMENTS(steps), &t, error) &&
           wait_for_all(m, 0, WP_DONE_READY, error);
}

static const WpEngineClass *multi_class(void)
{
    static WpEngineClass class;
    static gsize once;
    if (g_once_init_enter(&once)) {
        class = wp_multi_arrays;
        class.free = multi_free;
        class.begin = multi_begin;
        class.finish = multi_finish;
        class.wait = multi_wait;
        class.forward = multi_forward;
        class.adjoint = multi_adjoint;
        g_once_init_leave(&once, 1);
    }
    return &class;
}

WpEngine *wp_engine_multi(const WpGeometry *geometry, int form, int devices, LithoRun *run,
                          GError **error)
{
    WpMulti *m = g_new0(WpMulti, 1);
    m->engine.class = multi_class();
    m->engine.geometry = geometry;
    if (wp_multi_make_parts(m, form, devices, run, error) && litho_run_step(run, 0, 0, error)) {
        m->engine.devices = m->n;
        return &m->engine;
    }
    multi_free(&m->engine);
    return NULL;
}
