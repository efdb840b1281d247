// SPDX-License-Identifier: GPL-3.0-or-later
//
// Arrays of the engine over several GPUs: coefficients lie with the boxes, volumes on the first
// GPU.
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cuda/multi.h"
#include "kernels/wavepacket/local.h"

static gboolean multi_attach(WpEngine *engine, GError **error)
{
    return wp_first_part(engine)->class->attach(wp_first_part(engine), error);
}

// --- arrays --------------------------------------------------------------------------------------

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
    WpParts *a = (WpParts *)array;
    if (a)
        wp_multi_settle_windows(m, NULL);
    for (int k = m->n - 1; a && k >= 0; k--)
        m->part[k]->engine.class->release(&m->part[k]->engine, a->part[k]);
    g_free(a);
}

static float *multi_alloc(WpEngine *engine, gint64 floats, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    WpParts *a = g_new0(WpParts, 1);
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
    return ((const WpParts *)array)->part[1] != NULL;
}

// Makes requests of part k wait for rows on their way where floats at .. of the part's coefficients
// are the residual box.
static gboolean settle_piece(WpMulti *m, const float *array, int k, gint64 at, GError **error)
{
    const WpBox *residual = k == 0 ? wp_residual(&m->geometry[0]) : NULL;
    return !residual || !spread_out(array) || at < residual->at ||
           wp_multi_settle_windows(m, error);
}

static gboolean multi_download(WpEngine *engine, const float *array, gint64 at, float *to, gint64 n,
                               GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    const int k = spread_out(array) ? find_float(m, at, &at) : 0;
    WpEngine *part = &m->part[k]->engine;
    return settle_piece(m, array, k, at, error) && part->class->attach(part, error) &&
           part->class->download(part, wp_part_of(array, k), at, to, n, error) &&
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
    if (n > 0 && !part->class->fetch(part, wp_part_of(f->array, k), own, n, together, error))
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
    return wp_each_part((WpMulti *)engine, fetch_part, &f, NULL, error);
}

static gboolean multi_upload(WpEngine *engine, const float *from, float *array, gint64 at, gint64 n,
                             GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    const int k = spread_out(array) ? find_float(m, at, &at) : 0;
    WpEngine *part = &m->part[k]->engine;
    return settle_piece(m, array, k, at, error) && part->class->attach(part, error) &&
           part->class->upload(part, from, wp_part_of(array, k), at, n, error) &&
           multi_attach(engine, error);
}

// --- coefficients --------------------------------------------------------------------------------

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
    const WpBox *windows; // the residual box of part 0 where it is thresholded in local windows
    gboolean counts;
} Shrink;

// Where the rows begin whose local windows part k computes. The first part, which has the box, gets
// a quarter more than the others, whose rows go over the link and back.
static int first_row(const WpMulti *m, int k, int n)
{
    const double shares = m->n + 0.25, before = k > 0 ? k + 0.25 : 0;
    return k == m->n ? n : (int)(before / shares * n) / WP_LOCAL * WP_LOCAL;
}

static WpLocalRows rows_of_part(const WpMulti *m, int k, int n)
{
    return (WpLocalRows){first_row(m, k, n), first_row(m, k + 1, n)};
}

// Room for the share's rows on part k, which is not the first: with the rows around them that their
// windows need, and without.
static gboolean reserve_share(WpCuda *part, int lo, int hi, WpLocalShare *share, GError **error)
{
    const gint64 row = (gint64)share->box->n[1] * share->box->n[2], in = (hi - lo) * row;
    const gint64 own = (share->rows.to - share->rows.from) * row;
    if (!litho_cuda_reserve(part->context, &part->foreign, (in + own) * sizeof(float), error))
        return FALSE;
    share->x = (const float *)part->foreign.data - lo * row;
    share->out = (float *)part->foreign.data + in - share->rows.from * row;
    return TRUE;
}

// The rows come over the link while part k thresholds its own boxes.
static gboolean pull_share(WpMulti *m, int k, const Shrink *s, WpLocalShare *share, GError **error)
{
    WpCuda *part = m->part[k];
    const WpBox *box = s->windows;
    const gint64 row = (gint64)box->n[1] * box->n[2];
    const int lo = MAX(share->rows.from - WP_LOCAL / 2, 0);
    const int hi = MIN(share->rows.to + WP_LOCAL / 2, box->n[0]);
    share->beside = TRUE;
    return reserve_share(part, lo, hi, share, error) && wp_cuda_branch_off(part, error) &&
           LITHO_CUDA(cudaStreamWaitEvent(part->beside[1], m->done[0][WP_DONE_WINDOWS], 0),
                      error) &&
           LITHO_CUDA(cudaMemcpyAsync(
                          (float *)share->x + lo * row, wp_part_of(s->x, 0) + box->at + lo * row,
                          (hi - lo) * row * sizeof(float), cudaMemcpyDefault, part->beside[1]),
                      error);
}

// On a stream beside: the boxes' transforms do not wait for it (wp_multi_settle_windows()).
static gboolean push_share(WpMulti *m, int k, const Shrink *s, const WpLocalShare *share,
                           GError **error)
{
    WpCuda *part = m->part[k];
    const gint64 row = (gint64)s->windows->n[1] * s->windows->n[2], at = share->rows.from * row;
    const gint64 n = (share->rows.to - share->rows.from) * row;
    return wp_cuda_branch_off(part, error) &&
           LITHO_CUDA(cudaMemcpyAsync(wp_part_of(s->out, 0) + s->windows->at + at, share->out + at,
                                      n * sizeof(float), cudaMemcpyDefault, part->beside[1]),
                      error) &&
           LITHO_CUDA(cudaEventRecord(m->done[k][WP_DONE_WINDOWS], part->beside[1]), error);
}

static gboolean ask_shrink(WpMulti *m, int k, gpointer data, GError **error)
{
    Shrink *s = data;
    WpCuda *part = m->part[k];
    unsigned long long *counts;
    g_autofree float *level = own_values(m, k, s->rule->level);
    const WpRule rule = {
        .level = level, .soft = s->rule->soft, .drops = s->rule->drops, .local = s->rule->local};
    WpLocalShare share = {.box = s->windows};
    if (s->windows)
        share.rows = rows_of_part(m, k, s->windows->n[0]);
    const gboolean shares = share.rows.to > share.rows.from;
    if (shares && k == 0) {
        share.x = wp_part_of(s->x, 0) + s->windows->at;
        share.out = wp_part_of(s->out, 0) + s->windows->at;
    } else if (shares && !pull_share(m, k, s, &share, error)) {
        return FALSE;
    }
    return wp_cuda_ask_shrink(part, wp_part_of(s->key, k), wp_part_of(s->x, k),
                              wp_part_of(s->out, k), &rule, shares ? &share : NULL, &counts,
                              error) &&
           (!s->counts || wp_cuda_ask_counts(part, counts, error)) &&
           (k == 0 || !shares || push_share(m, k, s, &share, error));
}

gboolean wp_multi_settle_windows(WpMulti *m, GError **error)
{
    gboolean ok = TRUE;
    for (int k = 1; m->windows_due && ok && k < m->n; k++)
        ok = LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(m->part[0]->context),
                                            m->done[k][WP_DONE_WINDOWS], 0),
                        error) &&
             LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(m->part[k]->context),
                                            m->done[k][WP_DONE_WINDOWS], 0),
                        error);
    m->windows_due = FALSE;
    return ok;
}

void wp_multi_settle_counts(WpMulti *m)
{
    const WpGeometry *g = m->engine.geometry;
    guint64 *kept = m->counts_to, in_windows = 0;
    m->counts_to = NULL;
    for (int b = 0; kept && b < g->n_boxes; b++)
        kept[b] += m->part[m->owner[b]]->counted[m->local[b]];
    for (int k = 0; kept && k < m->n; k++)
        in_windows += m->part[k]->counted[m->geometry[k].n_boxes];
    if (kept && m->windows_counted)
        kept[g->n_boxes - 1] += wp_local_share(wp_residual(g), in_windows);
}

// All parts threshold their own boxes and a part of the residual box's windows, whose rows lie on
// the first part before and after.
static gboolean multi_shrink(WpEngine *engine, const float *key, const float *x, float *out,
                             const WpRule *rule, guint64 *kept, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    const WpBox *windows = rule->local ? wp_residual(&m->geometry[0]) : NULL;
    Shrink s = {key, x, out, rule, windows, kept != NULL};
    cudaStream_t first = litho_cuda_stream(m->part[0]->context);
    if ((m->counts_to && !engine->class->wait(engine, error)) ||
        !wp_multi_settle_windows(m, error) ||
        !LITHO_CUDA(cudaEventRecord(m->done[0][WP_DONE_WINDOWS], first), error) ||
        !wp_each_part(m, ask_shrink, &s, NULL, error))
        return FALSE;
    m->windows_due = windows != NULL;
    m->windows_counted = windows != NULL;
    m->counts_to = kept;
    return TRUE;
}

typedef struct Looking {
    const float *c;
    const WpHistogram *asked; // NULL = none
    WpHistogram *part;        // per part
    WpBoxStats *per_box;      // NULL = none
} Looking;

static gboolean look_at_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Looking *l = data;
    WpEngine *part = &m->part[k]->engine;
    WpHistogram *h = l->asked ? &l->part[k] : NULL;
    g_autofree float *scale = h ? own_values(m, k, l->asked->scale) : NULL;
    g_autofree WpBoxStats *own = g_new0(WpBoxStats, m->geometry[k].n_boxes);
    if (h) {
        h->scale = scale;
        h->prefix = l->asked->prefix;
    }
    if (!(l->per_box ? part->class->stats(part, wp_part_of(l->c, k), own, h, error)
                     : part->class->histogram(part, wp_part_of(l->c, k), h, error)))
        return FALSE;
    for (int b = 0; l->per_box && b < m->engine.geometry->n_boxes; b++)
        if (m->owner[b] == k)
            l->per_box[b] = own[m->local[b]];
    return TRUE;
}

static gboolean look_at(WpMulti *m, const float *c, WpBoxStats *per_box, WpHistogram *h,
                        GError **error)
{
    g_autofree WpHistogram *parts = h ? g_new0(WpHistogram, m->n) : NULL;
    Looking l = {.c = c, .asked = h, .part = parts, .per_box = per_box};
    if (!wp_each_part(m, look_at_part, &l, NULL, error))
        return FALSE;
    for (int i = 0; h && i < WP_BINS; i++) {
        h->bins[i] = 0;
        for (int k = 0; k < m->n; k++)
            h->bins[i] += parts[k].bins[i];
    }
    return TRUE;
}

static gboolean multi_histogram(WpEngine *engine, const float *c, WpHistogram *h, GError **error)
{
    return look_at((WpMulti *)engine, c, NULL, h, error);
}

static gboolean multi_stats(WpEngine *engine, const float *c, WpBoxStats *per_box, WpHistogram *h,
                            GError **error)
{
    return look_at((WpMulti *)engine, c, per_box, h, error);
}

typedef struct Linear {
    double a, b;
    const float *x, *y;
    double sum[WP_MAX_PARTS];
} Linear;

static gboolean blend_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Linear *l = data;
    WpEngine *part = &m->part[k]->engine;
    return part->class->blend(part, l->a, wp_part_of(l->x, k), l->b, wp_part_of(l->y, k),
                              WP_COEFFICIENTS, error);
}

static gboolean multi_blend(WpEngine *engine, double a, const float *x, double b, float *y,
                            gint64 n, GError **error)
{
    Linear l = {.a = a, .b = b, .x = x, .y = y};
    if (n != WP_COEFFICIENTS)
        return wp_first_part(engine)->class->blend(wp_first_part(engine), a, wp_part_of(x, 0), b,
                                                   wp_part_of(y, 0), n, error);
    return wp_each_part((WpMulti *)engine, blend_part, &l, NULL, error);
}

static gboolean dot_part(WpMulti *m, int k, gpointer data, GError **error)
{
    Linear *l = data;
    WpEngine *part = &m->part[k]->engine;
    return part->class->dot(part, wp_part_of(l->x, k), wp_part_of(l->y, k), WP_COEFFICIENTS,
                            &l->sum[k], error);
}

static gboolean multi_dot(WpEngine *engine, const float *x, const float *y, gint64 n,
                          double *result, GError **error)
{
    WpMulti *m = (WpMulti *)engine;
    Linear l = {.x = x, .y = y};
    if (n != WP_COEFFICIENTS)
        return wp_first_part(engine)->class->dot(wp_first_part(engine), wp_part_of(x, 0),
                                                 wp_part_of(y, 0), n, result, error);
    if (!wp_each_part(m, dot_part, &l, NULL, error))
        return FALSE;
    *result = 0;
    for (int k = 0; k < m->n; k++)
        *result += l.sum[k];
    return TRUE;
}

// --- volumes: the first GPU's affair -------------------------------------------------------------

static gboolean multi_distance(WpEngine *engine, const float *x, const float *y, const float *m,
                               gint64 traces, gint64 n3, double *result, GError **error)
{
    WpEngine *first = wp_first_part(engine);
    return first->class->distance(first, wp_part_of(x, 0), wp_part_of(y, 0),
                                  m ? wp_part_of(m, 0) : NULL, traces, n3, result, error);
}

static gboolean multi_insert(WpEngine *engine, const float *x, const float *m, float *y,
                             gint64 traces, gint64 n3, GError **error)
{
    WpEngine *first = wp_first_part(engine);
    return first->class->insert(first, x ? wp_part_of(x, 0) : NULL, wp_part_of(m, 0),
                                wp_part_of(y, 0), traces, n3, error);
}

static gboolean multi_scale(WpEngine *engine, const LithoNoiseMap *map, gboolean over,
                            const gint64 at[3], const gint64 n[3], float *volume, GError **error)
{
    WpEngine *first = wp_first_part(engine);
    return first->class->scale(first, map, over, at, n, wp_part_of(volume, 0), error);
}

typedef struct Weigh {
    const WpPlacesLevels *levels;
    gboolean over;
    float *c;
} Weigh;

static gboolean weigh_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Weigh *w = data;
    const int *n = w->levels->map->n;
    const gsize cells = (gsize)n[0] * n[1] * n[2];
    WpEngine *part = &m->part[k]->engine;
    g_autofree float *level = g_new(float, m->geometry[k].n_boxes *cells);
    WpPlacesLevels own = *w->levels;
    for (int b = 0; b < m->engine.geometry->n_boxes; b++)
        if (m->owner[b] == k)
            memcpy(level + m->local[b] * cells, w->levels->level + b * cells,
                   cells * sizeof *level);
    own.level = level;
    return part->class->weigh(part, &own, w->over, wp_part_of(w->c, k), error);
}

static gboolean multi_weigh(WpEngine *engine, const WpPlacesLevels *levels, gboolean over, float *c,
                            GError **error)
{
    Weigh w = {levels, over, c};
    return wp_each_part((WpMulti *)engine, weigh_part, &w, NULL, error);
}

static gboolean multi_load(WpEngine *engine, const LithoCube *cube, float *volume, LithoRun *run,
                           GError **error)
{
    return wp_first_part(engine)->class->load(wp_first_part(engine), cube, wp_part_of(volume, 0),
                                              run, error);
}

static LithoCube *multi_guess(WpEngine *engine, const LithoCube *in, LithoRun *run, GError **error)
{
    return multi_attach(engine, error)
               ? wp_first_part(engine)->class->guess(wp_first_part(engine), in, run, error)
               : NULL;
}

static const LithoCube *multi_clean(WpEngine *engine, LithoClean *clean, LithoCleanRule rule,
                                    const LithoCube *in, LithoRun *run, GError **error)
{
    return multi_attach(engine, error) ? wp_first_part(engine)->class->clean(
                                             wp_first_part(engine), clean, rule, in, run, error)
                                       : NULL;
}

static const LithoCube *multi_over_gains(WpEngine *engine, LithoGains *gains, const LithoCube *in,
                                         LithoGainsFrom from, LithoRun *run, GError **error)
{
    WpEngine *first = wp_first_part(engine);
    return multi_attach(engine, error)
               ? first->class->over_gains(first, gains, in, from, run, error)
               : NULL;
}

static gboolean multi_times_gains(WpEngine *engine, const float *by, LithoCube *out, LithoBox box,
                                  GError **error)
{
    WpEngine *first = wp_first_part(engine);
    return multi_attach(engine, error) && first->class->times_gains(first, by, out, box, error);
}

static gboolean multi_store(WpEngine *engine, const float *volume, LithoCube *cube, GError **error)
{
    return wp_first_part(engine)->class->store(wp_first_part(engine), wp_part_of(volume, 0), cube,
                                               error);
}

static LithoCube *multi_new_cube(WpEngine *engine, const LithoGrid *grid, GError **error)
{
    return wp_first_part(engine)->class->new_cube(wp_first_part(engine), grid, error);
}

static gboolean multi_fourier(WpEngine *engine, const float *volume, const gint64 n[3],
                              guint64 keep, double *lost, LithoRun *run, GError **error)
{
    return wp_first_part(engine)->class->fourier(wp_first_part(engine), wp_part_of(volume, 0), n,
                                                 keep, lost, run, error);
}

static gboolean multi_cut(WpEngine *engine, const float *volume, const gint64 n[3],
                          const WpBlock *b, float *u, GError **error)
{
    WpEngine *first = wp_first_part(engine);
    return first->class->cut(first, wp_part_of(volume, 0), n, b, wp_part_of(u, 0), error);
}

static gboolean multi_paste(WpEngine *engine, const float *u, const WpBlock *b, float *volume,
                            const gint64 n[3], GError **error)
{
    WpEngine *first = wp_first_part(engine);
    return first->class->paste(first, wp_part_of(u, 0), b, wp_part_of(volume, 0), n, error);
}

// There is one engine: nothing is taken from another.
const WpEngineClass wp_multi_arrays = {
    .attach = multi_attach,
    .available = multi_available,
    .alloc = multi_alloc,
    .release = multi_release,
    .download = multi_download,
    .upload = multi_upload,
    .fetch = multi_fetch,
    .shrink = multi_shrink,
    .histogram = multi_histogram,
    .stats = multi_stats,
    .blend = multi_blend,
    .dot = multi_dot,
    .distance = multi_distance,
    .insert = multi_insert,
    .scale = multi_scale,
    .weigh = multi_weigh,
    .cut = multi_cut,
    .paste = multi_paste,
    .load = multi_load,
    .guess = multi_guess,
    .clean = multi_clean,
    .over_gains = multi_over_gains,
    .times_gains = multi_times_gains,
    .store = multi_store,
    .new_cube = multi_new_cube,
    .fourier = multi_fourier,
};
