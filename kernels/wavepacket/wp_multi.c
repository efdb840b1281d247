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
#include "kernels/wavepacket/wp_cuda.h"

enum { MAX_PARTS = 16 };

// The handle of an array: a volume has the first part only.
typedef struct Array {
    float *part[MAX_PARTS];
} Array;

typedef struct WpMulti {
    WpEngine engine;
    int n;
    WpCuda *part[MAX_PARTS];
    WpGeometry geometry[MAX_PARTS]; // the boxes of each; all else borrowed
    int *owner, *local;             // per box: its part and its number there
    float *u[MAX_PARTS];            // block-sized: copy of the volume, later the partial sum
    LithoRun run[MAX_PARTS];        // of the call under way
} WpMulti;

static float *part_of(const float *array, int k)
{
    return ((const Array *)array)->part[k];
}

// --- the same on every GPU --------------------------------------------------------------------------

typedef gboolean (*PartFunc)(WpMulti *m, int k, gpointer data, GError **error);

// Part 0 runs in the caller's thread. Afterwards its GPU is current here again.
static gboolean each_part(WpMulti *m, PartFunc fn, gpointer data, LithoRun *run, GError **error)
{
    GError *errors[MAX_PARTS] = {NULL};
    gboolean ok[MAX_PARTS], all = TRUE;
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

typedef struct Priced {
    int box;
    double cost;
} Priced;

static int dearer(const void *a, const void *b)
{
    const Priced *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1) : x->box - y->box;
}

// The dearest first, each to the GPU that has least to do.
static void deal_out(WpMulti *m)
{
    const WpGeometry *g = m->engine.geometry;
    g_autofree Priced *list = g_new(Priced, g->n_boxes);
    double load[MAX_PARTS] = {0};
    m->owner = g_new(int, g->n_boxes);
    m->local = g_new(int, g->n_boxes);
    for (int b = 0; b < g->n_boxes; b++)
        list[b] = (Priced){b, cost_of(&g->boxes[b])};
    qsort(list, g->n_boxes, sizeof *list, dearer);
    for (int i = 0; i < g->n_boxes; i++) {
        int least = 0;
        for (int k = 1; k < m->n; k++)
            if (load[k] < load[least])
                least = k;
        m->owner[list[i].box] = least;
        load[least] += list[i].cost;
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
    GError *errors[MAX_PARTS] = {NULL};
    gboolean ok[MAX_PARTS], all = TRUE;
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
    return each_part((WpMulti *)engine, begin_part, run, run, error);
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

static WpEngine *first(WpEngine *engine)
{
    return &((WpMulti *)engine)->part[0]->engine;
}

static gboolean multi_attach(WpEngine *engine, GError **error)
{
    return first(engine)->class->attach(first(engine), error);
}

static gboolean wait_part(WpMulti *m, int k, gpointer data, GError **error)
{
    (void)data;
    return m->part[k]->engine.class->wait(&m->part[k]->engine, error);
}

static gboolean multi_wait(WpEngine *engine, GError **error)
{
    return each_part((WpMulti *)engine, wait_part, NULL, NULL, error);
}

// --- arrays -----------------------------------------------------------------------------------------

static guint64 multi_available(WpEngine *engine)
{
    WpMulti *m = (WpMulti *)engine;
    guint64 least = G_MAXUINT64;
    for (int k = 0; k < m->n; k++)
        least = MIN(least, m->part[k]->engine.class->available(&m->part[k]->engine));
    multi_attach(engine, NULL);
    return least * (guint64)m->n;
}

static void multi_release(WpEngine *engine, float *array)
{
    WpMulti *m = (WpMulti *)engine;
    Array *a = (Array *)array;
    for (int k = m->n - 1; a && k >= 0; k--)
        m->part[k]->engine.class->release(&m->part[k]->engine, a->part[k]);
    g_free(a);
}

static float *multi_alloc(WpEngine *engine, gint64 floats, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    Array *a = g_new0(Array, 1);
    for (int k = floats == WP_COEFFICIENTS ? m->n - 1 : 0; k >= 0; k--) {
        WpEngine *part = &m->part[k]->engine;
        if (part->class->attach(part, error))
            a->part[k] = part->class->alloc(part, floats, error);
        if (a->part[k])
            continue;
        multi_release(engine, (float *)a);
        return NULL;
    }
    return (float *)a;
}

// The part that holds float `at` of a coefficient array, and where there.
static int find_float(const WpMulti *m, gint64 at, gint64 *local)
{
    const WpGeometry *g = m->engine.geometry;
    int lo = 0, hi = g->n_boxes;
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (g->boxes[middle].at <= at)
            lo = middle;
        else
            hi = middle;
    }
    const int k = m->owner[lo];
    *local = m->geometry[k].boxes[m->local[lo]].at + at - g->boxes[lo].at;
    return k;
}

static gboolean spread_out(const float *array)
{
    return ((const Array *)array)->part[1] != NULL;
}

static gboolean multi_download(WpEngine *engine, const float *array, gint64 at, float *to, gint64 n,
                               GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    const int k = spread_out(array) ? find_float(m, at, &at) : 0;
    WpEngine *part = &m->part[k]->engine;
    return part->class->attach(part, error) &&
           part->class->download(part, part_of(array, k), at, to, n, error) &&
           multi_attach(engine, error);
}

typedef struct Fetch {
    const float *array;
    const WpPiece *pieces;
    int n;
    float *to;
} Fetch;

// The pieces that part k holds, to their places.
static gboolean fetch_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Fetch *f = data;
    WpEngine *part = &m->part[k]->engine;
    g_autofree WpPiece *own = g_new(WpPiece, f->n);
    gint64 all = 0, local;
    int n = 0;
    for (int i = 0; i < f->n; i++)
        if (find_float(m, f->pieces[i].at, &local) == k) {
            own[n++] = (WpPiece){local, f->pieces[i].n};
            all += f->pieces[i].n;
        }
    g_autofree float *together = g_new(float, MAX(all, 1));
    const float *from = together;
    if (n > 0 && !part->class->fetch(part, part_of(f->array, k), own, n, together, error))
        return FALSE;
    float *to = f->to;
    for (int i = 0; i < f->n; to += f->pieces[i++].n)
        if (find_float(m, f->pieces[i].at, &local) == k) {
            memcpy(to, from, f->pieces[i].n * sizeof *to);
            from += f->pieces[i].n;
        }
    return TRUE;
}

static gboolean multi_fetch(WpEngine *engine, const float *array, const WpPiece *pieces, int n,
                            float *to, GError **error)
{
    Fetch f = {array, pieces, n, to};
    return each_part((WpMulti *)engine, fetch_part, &f, NULL, error);
}

static gboolean multi_upload(WpEngine *engine, const float *from, float *array, gint64 at, gint64 n,
                             GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    const int k = spread_out(array) ? find_float(m, at, &at) : 0;
    WpEngine *part = &m->part[k]->engine;
    return part->class->attach(part, error) &&
           part->class->upload(part, from, part_of(array, k), at, n, error) &&
           multi_attach(engine, error);
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
    const float *u = part_of(t->u, 0);
    if (k > 0) {
        if (!LITHO_CUDA(cudaMemcpyPeerAsync(m->u[k], m->part[k]->ordinal, u, m->part[0]->ordinal,
                                            4 * volume_samples(m),
                                            litho_cuda_stream(m->part[k]->context)), error))
            return FALSE;
        u = m->u[k];
    }
    return part->class->forward(part, u, part_of(t->c, k), k ? &m->run[k] : t->run, error) &&
           part->class->wait(part, error);
}

static gboolean multi_forward(WpEngine *engine, const float *u, float *c, LithoRun *run,
                              GError **error)
{
    Transform t = {.u = u, .c = c, .run = run};
    return first(engine)->class->wait(first(engine), error) && // the copies read what it wrote
           each_part((WpMulti *)engine, forward_part, &t, run, error);
}

static gboolean adjoint_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Transform *t = data;
    WpEngine *part = &m->part[k]->engine;
    float *to = k ? m->u[k] : part_of(t->to, 0);
    return part->class->adjoint(part, part_of(t->c, k), to, k ? &m->run[k] : t->run, error) &&
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
    float *own = k ? m->u[k] : part_of(t->to, 0);
    for (int i = 1; i < m->n; i++) {
        const int j = (k + i) % m->n;
        const float *other = j ? m->u[j] : part_of(t->to, 0);
        if (!part->class->take(part, own, &m->part[j]->engine, other, piece(m, k),
                               piece(m, k + 1) - piece(m, k), TRUE, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean multi_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    Transform t = {.to = u, .c = c, .run = run};
    if (!each_part(m, adjoint_part, &t, run, error))
        return FALSE;
    litho_cuda_mark(m->part[0]->context, "sum of GPUs", LITHO_STAGE_TRANSFER,
                    8.0 * (double)volume_samples(m), 0);
    if (!each_part(m, sum_piece, &t, run, error))
        return FALSE;
    for (int k = 1; k < m->n; k++)
        if (!LITHO_CUDA(cudaMemcpyPeerAsync(part_of(u, 0) + piece(m, k), m->part[0]->ordinal,
                                            m->u[k] + piece(m, k), m->part[k]->ordinal,
                                            4 * (piece(m, k + 1) - piece(m, k)),
                                            litho_cuda_stream(m->part[0]->context)), error))
            return FALSE;
    litho_cuda_mark_end(m->part[0]->context);
    // The next transform writes what these copies read.
    return first(engine)->class->wait(first(engine), error);
}

// --- coefficients -----------------------------------------------------------------------------------

// Values per box of the whole as values per box of part k.
static float *own_values(const WpMulti *m, int k, const float *values)
{
    float *own = g_new(float, m->geometry[k].n_boxes);
    for (int b = 0; b < m->engine.geometry->n_boxes; b++)
        if (m->owner[b] == k)
            own[m->local[b]] = values[b];
    return own;
}

typedef struct Shrink {
    const float *key, *x;
    float *out;
    const WpRule *rule;
    guint64 *kept;
} Shrink;

static gboolean shrink_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Shrink *s = data;
    WpEngine *part = &m->part[k]->engine;
    g_autofree float *level = own_values(m, k, s->rule->level);
    g_autofree guint64 *kept = g_new0(guint64, m->geometry[k].n_boxes);
    const WpRule rule = {.level = level, .soft = s->rule->soft};
    if (!part->class->shrink(part, part_of(s->key, k), part_of(s->x, k), part_of(s->out, k), &rule,
                             s->kept ? kept : NULL, error))
        return FALSE;
    for (int b = 0; s->kept && b < m->engine.geometry->n_boxes; b++)
        if (m->owner[b] == k)
            s->kept[b] += kept[m->local[b]];
    return TRUE;
}

static gboolean multi_shrink(WpEngine *engine, const float *key, const float *x, float *out,
                             const WpRule *rule, guint64 *kept, GError **error)
{
    Shrink s = {key, x, out, rule, kept};
    return each_part((WpMulti *)engine, shrink_part, &s, NULL, error);
}

typedef struct Looking {
    const float *c;
    const WpHistogram *asked;
    WpHistogram *part; // per part
    WpBoxStats *per_box;
} Looking;

static gboolean histogram_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Looking *l = data;
    WpEngine *part = &m->part[k]->engine;
    g_autofree float *scale = own_values(m, k, l->asked->scale);
    l->part[k].scale = scale;
    l->part[k].prefix = l->asked->prefix;
    return part->class->histogram(part, part_of(l->c, k), &l->part[k], error);
}

static gboolean multi_histogram(WpEngine *engine, const float *c, WpHistogram *h, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    g_autofree WpHistogram *parts = g_new0(WpHistogram, m->n);
    Looking l = {.c = c, .asked = h, .part = parts};
    if (!each_part(m, histogram_part, &l, NULL, error))
        return FALSE;
    memset(h->bins, 0, sizeof h->bins);
    for (int k = 0; k < m->n; k++)
        for (int i = 0; i < WP_BINS; i++)
            h->bins[i] += parts[k].bins[i];
    return TRUE;
}

static gboolean stats_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Looking *l = data;
    WpEngine *part = &m->part[k]->engine;
    g_autofree WpBoxStats *own = g_new0(WpBoxStats, m->geometry[k].n_boxes);
    if (!part->class->stats(part, part_of(l->c, k), own, error))
        return FALSE;
    for (int b = 0; b < m->engine.geometry->n_boxes; b++)
        if (m->owner[b] == k)
            l->per_box[b] = own[m->local[b]];
    return TRUE;
}

static gboolean multi_stats(WpEngine *engine, const float *c, WpBoxStats *per_box, GError **error)
{
    Looking l = {.c = c, .per_box = per_box};
    return each_part((WpMulti *)engine, stats_part, &l, NULL, error);
}

typedef struct Linear {
    double a, b;
    const float *x, *y;
    double sum[MAX_PARTS];
} Linear;

static gboolean blend_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Linear *l = data;
    WpEngine *part = &m->part[k]->engine;
    return part->class->blend(part, l->a, part_of(l->x, k), l->b, part_of(l->y, k), WP_COEFFICIENTS,
                              error);
}

static gboolean multi_blend(WpEngine *engine, double a, const float *x, double b, float *y,
                            gint64 n, GError **error)
{
    Linear l = {.a = a, .b = b, .x = x, .y = y};
    if (n != WP_COEFFICIENTS)
        return first(engine)->class->blend(first(engine), a, part_of(x, 0), b, part_of(y, 0), n,
                                           error);
    return each_part((WpMulti *)engine, blend_part, &l, NULL, error);
}

static gboolean dot_part(WpMulti *m, int k, gpointer data, GError **error)
{
    Linear *l = data;
    WpEngine *part = &m->part[k]->engine;
    return part->class->dot(part, part_of(l->x, k), part_of(l->y, k), WP_COEFFICIENTS, &l->sum[k],
                            error);
}

static gboolean multi_dot(WpEngine *engine, const float *x, const float *y, gint64 n,
                          double *result, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    Linear l = {.x = x, .y = y};
    if (n != WP_COEFFICIENTS)
        return first(engine)->class->dot(first(engine), part_of(x, 0), part_of(y, 0), n, result,
                                         error);
    if (!each_part(m, dot_part, &l, NULL, error))
        return FALSE;
    *result = 0;
    for (int k = 0; k < m->n; k++)
        *result += l.sum[k];
    return TRUE;
}

// --- volumes: the first GPU's affair ----------------------------------------------------------------

static gboolean multi_insert(WpEngine *engine, const float *x, const float *mask, float *y,
                             gint64 traces, gint64 n3, GError **error)
{
    return first(engine)->class->insert(first(engine), part_of(x, 0), mask, part_of(y, 0), traces,
                                        n3, error);
}

static gboolean multi_load(WpEngine *engine, const LithoCube *cube, float *volume, LithoRun *run,
                           GError **error)
{
    return first(engine)->class->load(first(engine), cube, part_of(volume, 0), run, error);
}

static gboolean multi_store(WpEngine *engine, const float *volume, LithoCube *cube, GError **error)
{
    return first(engine)->class->store(first(engine), part_of(volume, 0), cube, error);
}

static LithoCube *multi_new_cube(WpEngine *engine, const LithoGrid *grid, GError **error)
{
    return first(engine)->class->new_cube(first(engine), grid, error);
}

static gboolean multi_fourier(WpEngine *engine, const float *volume, const gint64 n[3],
                              guint64 keep, double *lost, LithoRun *run, GError **error)
{
    return first(engine)->class->fourier(first(engine), part_of(volume, 0), n, keep, lost, run,
                                         error);
}

// A single block is never cut out of, pasted into or taken from anything.
static const WpEngineClass multi_class = {
    .free = multi_free,
    .begin = multi_begin,
    .finish = multi_finish,
    .attach = multi_attach,
    .wait = multi_wait,
    .available = multi_available,
    .alloc = multi_alloc,
    .release = multi_release,
    .download = multi_download,
    .upload = multi_upload,
    .fetch = multi_fetch,
    .forward = multi_forward,
    .adjoint = multi_adjoint,
    .shrink = multi_shrink,
    .histogram = multi_histogram,
    .stats = multi_stats,
    .blend = multi_blend,
    .dot = multi_dot,
    .insert = multi_insert,
    .load = multi_load,
    .store = multi_store,
    .new_cube = multi_new_cube,
    .fourier = multi_fourier,
};

WpEngine *wp_engine_multi(const WpGeometry *geometry, int form, int devices, LithoRun *run,
                          GError **error)
{
    WpMulti *m = g_new0(WpMulti, 1);
    m->engine.class = &multi_class;
    m->engine.geometry = geometry;
    m->n = MIN(devices, MAX_PARTS);
    deal_out(m);
    make_geometries(m);
    if (make_parts(m, form, run ? run->device : 0, error) && multi_attach(&m->engine, error) &&
        litho_run_step(run, 0, 0, error))
        return &m->engine;
    multi_free(&m->engine);
    return NULL;
}
