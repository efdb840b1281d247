// SPDX-License-Identifier: GPL-3.0-or-later
//
// One engine over several GPUs: the boxes are dealt out (the papers' first variant). Every GPU makes
// the fine grid's spectrum from its own copy of the volume, interpolates its boxes and keeps their
// coefficients; the adjoint gives every GPU a partial volume, and the sum is made in pieces, one a GPU,
// so that all links are busy. Volumes live on the first GPU.
//
// Floor for n GPUs: what is not shared, the fine FFT of either direction with padding, cropping and
// collecting (2.6 of 9 ms at 256^3), and 4 bytes a sample out and twice back over the links.
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/wp_multi.h"

// --- the same on every GPU --------------------------------------------------------------------------

gboolean wp_each_part(WpMulti *m, WpPartFunc fn, gpointer data, LithoRun *run, GError **error)
{
    GError *errors[WP_MAX_PARTS] = {NULL};
    gboolean ok[WP_MAX_PARTS], all = TRUE;
    for (int k = 0; k < m->n; k++)
        m->run[k] = run ? (LithoRun){.cancel = run->cancel, .superseded = run->superseded,
                                     .superseded_data = run->superseded_data}
                        : (LithoRun){0};
#pragma omp parallel for num_threads(m->n) schedule(static, 1)
    for (int k = 0; k < m->n; k++) {
        WpEngine *engine = &m->part[k]->engine;
        ok[k] = engine->class->attach(engine, &errors[k]) && fn(m, k, data, &errors[k]);
    }
    for (int k = 0; k < m->n; k++) {
        if (!ok[k] && all)
            g_propagate_error(error, errors[k]);
        else
            g_clear_error(&errors[k]);
        all &= ok[k];
    }
    return all && m->part[0]->engine.class->attach(&m->part[0]->engine, error) &&
           litho_run_step(run, 0, 0, error);
}

// --- sharing out the boxes --------------------------------------------------------------------------

// About what a box costs: a point with a window twice what one without does (which only the FFT
// sees), a residual point 0.75 of that.
static double cost_of(const WpBox *box)
{
    return box->kind == WP_RESIDUAL ? 0.75 * (double)box->floats
                                    : 2.0 * (double)box->n_weights + 0.5 * (double)box->floats;
}

enum { BATCH = 12 }; // boxes of one size that stay together, for the sake of their FFTs

typedef struct Bundle {
    int first, n; // boxes
    double cost;
} Bundle;

static int dearer(const void *a, const void *b)
{
    const Bundle *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1) : x->first - y->first;
}

// Boxes of one size are neighbours in the geometry.
static int make_bundles(const WpGeometry *g, Bundle *bundles)
{
    int n = 0;
    for (int b = 0; b < g->n_boxes; b++) {
        Bundle *last = n > 0 ? &bundles[n - 1] : NULL;
        if (!last || last->n == BATCH || g->boxes[b].kind != g->boxes[b - 1].kind ||
            memcmp(g->boxes[b].n, g->boxes[b - 1].n, sizeof g->boxes[b].n) != 0) {
            last = &bundles[n++];
            *last = (Bundle){.first = b};
        }
        last->n++;
        last->cost += cost_of(&g->boxes[b]);
    }
    return n;
}

// The dearest first, each to the GPU that has least to do.
static void deal_out(WpMulti *m)
{
    const WpGeometry *g = m->engine.geometry;
    g_autofree Bundle *bundles = g_new(Bundle, g->n_boxes);
    double load[WP_MAX_PARTS] = {0};
    m->owner = g_new(int, g->n_boxes);
    m->local = g_new(int, g->n_boxes);
    const int n = make_bundles(g, bundles);
    m->n = MIN(m->n, n); // no GPU without boxes
    qsort(bundles, n, sizeof *bundles, dearer);
    for (int i = 0; i < n; i++) {
        int least = 0;
        for (int k = 1; k < m->n; k++)
            if (load[k] < load[least])
                least = k;
        for (int b = bundles[i].first; b < bundles[i].first + bundles[i].n; b++)
            m->owner[b] = least;
        load[least] += bundles[i].cost;
    }
}

// In the order of the whole geometry: equal sizes stay together and the residual box last.
static void make_geometries(WpMulti *m)
{
    const WpGeometry *g = m->engine.geometry;
    for (int k = 0; k < m->n; k++) {
        WpGeometry *to = &m->geometry[k];
        *to = *g;
        to->boxes = g_new0(WpBox, g->n_boxes);
        to->n_boxes = 0;
        to->floats = to->n_points = to->n_active = 0;
        for (int b = 0; b < g->n_boxes; b++) {
            if (m->owner[b] != k)
                continue;
            WpBox *box = &to->boxes[to->n_boxes];
            *box = g->boxes[b];
            m->local[b] = to->n_boxes++;
            box->at = to->floats;
            to->floats += (box->floats + 15) / 16 * 16;
            to->n_points += box->floats / (box->kind == WP_RESIDUAL ? 1 : 2);
            to->n_active += box->n_weights;
        }
    }
}

// --- life -------------------------------------------------------------------------------------------

static void multi_free(WpEngine *engine)
{
    WpMulti *m = (WpMulti *)engine;
    for (int k = m->n - 1; k >= 0; k--) {
        if (m->part[k]) {
            m->part[k]->engine.class->release(&m->part[k]->engine, m->u[k]);
            wp_engine_free(&m->part[k]->engine);
        }
        g_free(m->geometry[k].boxes);
    }
    g_free(m->owner);
    g_free(m->local);
    g_free(m);
}

static gboolean make_part(WpMulti *m, int k, int form, int device, GError **error)
{
    const LithoRun run = {.device = device};
    const gint64 *n = m->engine.geometry->n;
    WpEngine *part = wp_engine_cuda(&m->geometry[k], form, &run, error);
    m->part[k] = (WpCuda *)part;
    if (part && k > 0)
        m->u[k] = part->class->alloc(part, n[0] * n[1] * n[2], error);
    return part && (k == 0 || m->u[k]);
}

static gboolean make_parts(WpMulti *m, int form, int device, GError **error)
{
    GError *errors[WP_MAX_PARTS] = {NULL};
    gboolean ok[WP_MAX_PARTS], all = TRUE;
#pragma omp parallel for num_threads(m->n) schedule(static, 1)
    for (int k = 0; k < m->n; k++)
        ok[k] = make_part(m, k, form, device + k, &errors[k]);
    for (int k = 0; k < m->n; k++) {
        if (!ok[k] && all)
            g_propagate_error(error, errors[k]);
        else
            g_clear_error(&errors[k]);
        all &= ok[k];
    }
    return all;
}

static gboolean begin_part(WpMulti *m, int k, gpointer data, GError **error)
{
    return m->part[k]->engine.class->begin(&m->part[k]->engine, k ? &m->run[k] : data, error);
}

static gboolean multi_begin(WpEngine *engine, LithoRun *run, GError **error)
{
    return wp_each_part((WpMulti *)engine, begin_part, run, run, error);
}

static gboolean multi_finish(WpEngine *engine, LithoRun *run, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    for (int k = m->n - 1; k >= 0; k--) {
        WpEngine *part = &m->part[k]->engine;
        if (!part->class->attach(part, error) ||
            !part->class->finish(part, k ? NULL : run, error))
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
    return wp_each_part((WpMulti *)engine, wait_part, NULL, NULL, error);
}

// --- transform --------------------------------------------------------------------------------------

typedef struct Transform {
    const float *u; // handles
    float *to, *c;
    LithoRun *run;
} Transform;

static gint64 volume_samples(const WpMulti *m)
{
    const gint64 *n = m->engine.geometry->n;
    return n[0] * n[1] * n[2];
}

static gboolean forward_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpEngine *part = &m->part[k]->engine;
    const float *u = wp_part_of(t->u, 0);
    if (k > 0) {
        if (!LITHO_CUDA(cudaMemcpyPeerAsync(m->u[k], m->part[k]->ordinal, u, m->part[0]->ordinal,
                                            4 * volume_samples(m),
                                            litho_cuda_stream(m->part[k]->context)), error))
            return FALSE;
        u = m->u[k];
    }
    return part->class->forward(part, u, wp_part_of(t->c, k), k ? &m->run[k] : t->run, error) &&
           part->class->wait(part, error);
}

static gboolean multi_forward(WpEngine *engine, const float *u, float *c, LithoRun *run,
                              GError **error)
{
    Transform t = {.u = u, .c = c, .run = run};
    return wp_first_part(engine)->class->wait(wp_first_part(engine), error) && // the copies read what it wrote
           wp_each_part((WpMulti *)engine, forward_part, &t, run, error);
}

static gboolean adjoint_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpEngine *part = &m->part[k]->engine;
    float *to = k ? m->u[k] : wp_part_of(t->to, 0);
    return part->class->adjoint(part, wp_part_of(t->c, k), to, k ? &m->run[k] : t->run, error) &&
           part->class->wait(part, error);
}

static gint64 piece(const WpMulti *m, int k)
{
    return volume_samples(m) * k / m->n;
}

// Part k sums piece k of all partial volumes, always in the same order but for its own, which is
// there already.
static gboolean sum_piece(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpEngine *part = &m->part[k]->engine;
    float *own = k ? m->u[k] : wp_part_of(t->to, 0);
    for (int i = 1; i < m->n; i++) {
        const int j = (k + i) % m->n;
        const float *other = j ? m->u[j] : wp_part_of(t->to, 0);
        if (!part->class->take(part, own, &m->part[j]->engine, other, piece(m, k),
                               piece(m, k + 1) - piece(m, k), TRUE, error))
            return FALSE;
    }
    return part->class->wait(part, error);
}

static gboolean multi_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    Transform t = {.to = u, .c = c, .run = run};
    if (!wp_each_part(m, adjoint_part, &t, run, error))
        return FALSE;
    litho_cuda_mark(m->part[0]->context, "sum of GPUs", LITHO_STAGE_TRANSFER,
                    8.0 * (double)volume_samples(m), 0);
    if (!wp_each_part(m, sum_piece, &t, run, error))
        return FALSE;
    for (int k = 1; k < m->n; k++)
        if (!LITHO_CUDA(cudaMemcpyPeerAsync(wp_part_of(u, 0) + piece(m, k), m->part[0]->ordinal,
                                            m->u[k] + piece(m, k), m->part[k]->ordinal,
                                            4 * (piece(m, k + 1) - piece(m, k)),
                                            litho_cuda_stream(m->part[0]->context)), error))
            return FALSE;
    litho_cuda_mark_end(m->part[0]->context);
    // The next transform writes what these copies read.
    return wp_first_part(engine)->class->wait(wp_first_part(engine), error);
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
    m->n = MIN(devices, WP_MAX_PARTS);
    deal_out(m);
    make_geometries(m);
    if (make_parts(m, form, run ? run->device : 0, error) && m->engine.class->attach(&m->engine, error) &&
        litho_run_step(run, 0, 0, error))
        return &m->engine;
    multi_free(&m->engine);
    return NULL;
}
