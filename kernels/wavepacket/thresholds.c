// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/common/select.h"

float *wp_levels(const WpJob *job, double k_sigma)
{
    const WpGeometry *g = job->geometry;
    float *level = g_new0(float, g->n_boxes);
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind != WP_COARSE)
            level[b] = (float)(k_sigma * g->boxes[b].sigma);
    return level;
}

// --- noise level ---------------------------------------------------------------------------------

// INSET: reach of the finest packets. PROBE_FEW: magnitudes that one thread has sooner than others
// are awake.
enum { PROBE_BOXES = 16, PROBE_PLANES = 6, INSET = 7, PROBE_FEW = 1 << 15 };

// A lattice plane as positions in the volume: those of translation (p1, p2, p3) begin at `from` and
// go on by `step` along p3. There are 27 of them, a lattice period apart; no two lie in the volume.
typedef struct Positions {
    double from[27][3], step[3];
} Positions;

static Positions positions_of_row(const WpJob *job, const WpBox *box, int p1, int p2)
{
    Positions at;
    for (int a = 0; a < 3; a++)
        at.step[a] = box->R[2][a] * box->M[2] / box->n[2];
    for (int code = 0; code < 27; code++) {
        const double t[3] = {box->M[0] * ((double)p1 / box->n[0] + code % 3 - 1),
                             box->M[1] * ((double)p2 / box->n[1] + code / 3 % 3 - 1),
                             box->M[2] * (code / 9 - 1)};
        for (int a = 0; a < 3; a++)
            at.from[code][a] = t[0] * box->R[0][a] + t[1] * box->R[1][a] + t[2] * box->R[2][a] +
                               job->geometry->n[a] / 2;
    }
    return at;
}

// Marks p3 = 0 .. n-1 where one of the positions sits well inside the block.
static void mark_inside(const WpJob *job, const Positions *at, int n, guint8 *inside)
{
    memset(inside, 0, n);
    for (int code = 0; code < 27; code++) {
        double lo = 0, hi = n - 1;
        for (int a = 0; a < 3; a++) {
            const gint64 size = MIN(job->geometry->n[a], job->n[a]); // of a thin volume a part
            const double inset = MIN(INSET, size / 5), step = at->step[a];
            const double from = inset - at->from[code][a];
            const double to = size - 1 - inset - at->from[code][a];
            if (fabs(step) < 1e-12) {
                if (from > 0 || to < 0)
                    hi = -1;
                continue;
            }
            lo = MAX(lo, MIN(from / step, to / step));
            hi = MIN(hi, MAX(from / step, to / step));
        }
        for (int p = (int)ceil(lo); p <= hi; p++)
            inside[p] = 1;
    }
}

static void fill_probe(const WpJob *job, WpProbe *probe)
{
    const WpBox *box = &job->geometry->boxes[probe->box];
    g_autofree guint8 *inside = g_malloc(box->n[2]);
    probe->inside = g_new(int, box->n[1] * box->n[2]);
    for (int j = 0; j < box->n[1]; j++) {
        const Positions at = positions_of_row(job, box, probe->plane, j);
        mark_inside(job, &at, box->n[2], inside);
        for (int k = 0; k < box->n[2]; k++)
            if (inside[k])
                probe->inside[probe->n++] = j * box->n[2] + k;
    }
}

// Chooses the coefficients of the noise level: planes spread over directions of the finest scale,
// and in them the packets that sit well inside the block. Packets in the margin or at a face see
// less noise and would pull the level down.
void wp_probes_new(WpJob *job, const LithoRun *run)
{
    const WpGeometry *g = job->geometry;
    g_autofree int *finest = g_new(int, g->n_boxes);
    int n = 0;
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind == WP_DIRECTION && g->boxes[b].scale == g->tiling->scales)
            finest[n++] = b;
    job->probes = g_array_new(FALSE, FALSE, sizeof(WpProbe));
    for (int i = 0; i < MIN(n, PROBE_BOXES); i++) {
        const int b = finest[(gint64)i * n / MIN(n, PROBE_BOXES)], planes = g->boxes[b].n[0];
        for (int k = 0; k < MIN(PROBE_PLANES, planes); k++) {
            const WpProbe probe = {.box = b, .plane = k * planes / MIN(PROBE_PLANES, planes)};
            g_array_append_val(job->probes, probe);
        }
    }
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (guint i = 0; i < job->probes->len; i++)
        fill_probe(job, &g_array_index(job->probes, WpProbe, i));
}

void wp_probes_free(WpJob *job)
{
    for (guint i = 0; job->probes && i < job->probes->len; i++)
        g_free(g_array_index(job->probes, WpProbe, i).inside);
    g_clear_pointer(&job->probes, g_array_unref);
}

// All probes' planes, one behind the other; g_free(). NULL = failed.
static float *read_probes(const WpJob *job, const WpLane *lane, const float *c, GError **error)
{
    const guint n = job->probes->len;
    g_autofree WpPiece *pieces = g_new(WpPiece, n);
    gint64 all = 0;
    for (guint i = 0; i < n; i++) {
        const WpProbe *probe = &g_array_index(job->probes, WpProbe, i);
        const WpBox *box = &job->geometry->boxes[probe->box];
        const gint64 plane = 2 * (gint64)box->n[1] * box->n[2];
        pieces[i] = (WpPiece){box->at + probe->plane * plane, plane};
        all += plane;
    }
    g_autofree float *planes =
        litho_memory_new(all, sizeof *planes, "coefficients to measure the noise", error);
    if (!planes)
        return NULL;
    if (n > 0 && !lane->engine->class->fetch(lane->engine, c, pieces, (int)n, planes, error))
        return NULL;
    return g_steal_pointer(&planes);
}

// Magnitudes of the probe's packets inside the volume; returns its plane's end.
static const float *take_magnitudes(const WpJob *job, const WpProbe *probe, const float *plane,
                                    float *to)
{
    const WpBox *box = &job->geometry->boxes[probe->box];
    for (int i = 0; i < probe->n; i++) {
        const float *z = plane + 2 * probe->inside[i];
        const double re = z[0], im = z[1];
        to[i] = (float)sqrt(re * re + im * im); // hypotf(), which no vector unit has
    }
    return plane + 2 * (gint64)box->n[1] * box->n[2];
}

// Probes of one box: their numbers, where their planes begin, and room for their magnitudes.
typedef struct ProbedBox {
    guint from, to;
    gint64 plane, value;
} ProbedBox;

static int list_probed(const WpJob *job, ProbedBox list[PROBE_BOXES], gint64 *values)
{
    const WpGeometry *g = job->geometry;
    gint64 plane = 0;
    int n = 0;
    *values = 0;
    for (guint i = 0; i < job->probes->len; i++) {
        const WpProbe *probe = &g_array_index(job->probes, WpProbe, i);
        const WpBox *box = &g->boxes[probe->box];
        if (n == 0 || g_array_index(job->probes, WpProbe, list[n - 1].from).box != probe->box)
            list[n++] = (ProbedBox){i, i, plane, *values};
        list[n - 1].to = i + 1;
        plane += 2 * (gint64)box->n[1] * box->n[2];
        *values += probe->n;
    }
    return n;
}

// The level of the noise by one box; negative: it has no packet inside.
static float level_of_box(const WpJob *job, const ProbedBox *list, const float *planes,
                          float *values)
{
    const WpBox *box = &job->geometry->boxes[g_array_index(job->probes, WpProbe, list->from).box];
    const float *at = planes + list->plane;
    int n = 0;
    for (guint i = list->from; i < list->to; i++) {
        const WpProbe *probe = &g_array_index(job->probes, WpProbe, i);
        at = take_magnitudes(job, probe, at, values + n);
        n += probe->n;
    }
    return n > 0 ? litho_select_kth(values, n, n / 2) / (float)(box->sigma * sqrt(M_LN2)) : -1;
}

// White noise of deviation s gives complex coefficients with P(|c| > t) = exp(-t^2/(s sigma_b)^2),
// median s sigma_b sqrt(ln 2). The median over directions of the finest scale, each the median over
// positions, is not moved by events: they are steep in few directions and present in few places.
struct WpEstimate {
    const WpJob *job;
    int block, n, threads;
    ProbedBox list[PROBE_BOXES];
    float *planes, *values;
    double sigma;
    GThread *thread; // NULL: it was worked out at once
};

static gpointer estimate(gpointer data)
{
    WpEstimate *e = data;
    float level[PROBE_BOXES];
    int used = 0;
#pragma omp parallel for num_threads(e->threads) schedule(dynamic) if (e->threads > 1)
    for (int i = 0; i < e->n; i++)
        level[i] = level_of_box(e->job, &e->list[i], e->planes, e->values + e->list[i].value);
    for (int i = 0; i < e->n; i++)
        if (level[i] >= 0)
            level[used++] = level[i];
    e->sigma = used ? litho_select_kth(level, used, used / 2) : 0;
    return NULL;
}

// Threads beside the pass: it has the card's time for it.
enum { BESIDE = 4 };

gboolean wp_ask_sigma(WpJob *job, WpLane *lane, int block, const float *c, GError **error)
{
    const double start = litho_now_ms();
    wp_take_sigma(job, lane);
    gint64 most;
    WpEstimate *e = g_new0(WpEstimate, 1);
    lane->estimate = e;
    e->job = job;
    e->block = block;
    e->n = list_probed(job, e->list, &most);
    e->planes = read_probes(job, lane, c, error);
    e->values = e->planes
                    ? litho_memory_new(most, sizeof *e->values, "magnitudes of coefficients", error)
                    : NULL;
    if (!e->values) {
        wp_drop_sigma(lane);
        return FALSE;
    }
    const gboolean beside = job->level && most > PROBE_FEW;
    e->threads = most > PROBE_FEW ? CLAMP(litho_run_threads(lane->run), 1, MAX(e->n, 1)) : 1;
    if (beside) {
        e->threads = MIN(e->threads, BESIDE);
        e->thread = g_thread_new("wavepacket-level", estimate, e);
    } else {
        estimate(e);
    }
    litho_run_time(lane->run, "estimated level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return TRUE;
}

gboolean wp_ask_sigma_late(WpJob *job, GError **error)
{
    if (!job->sigma_late || job->n_blocks > 1)
        return TRUE;
    job->sigma_late = FALSE;
    return wp_ask_sigma(job, &job->lanes[0], 0, job->c[0], error);
}

static void end_estimate(WpEstimate *e)
{
    if (e->thread)
        g_thread_join(e->thread);
    e->thread = NULL;
}

void wp_take_sigma(WpJob *job, WpLane *lane)
{
    WpEstimate *e = lane->estimate;
    if (!e)
        return;
    end_estimate(e);
    job->block_sigma[e->block] = e->sigma;
    wp_drop_sigma(lane);
}

void wp_drop_sigma(WpLane *lane)
{
    WpEstimate *e = lane->estimate;
    lane->estimate = NULL;
    if (!e)
        return;
    end_estimate(e);
    g_free(e->planes);
    g_free(e->values);
    g_free(e);
}

double wp_job_sigma(WpJob *job)
{
    if (job->sigma >= 0)
        return job->sigma;
    for (int k = 0; k < job->n_lanes; k++)
        wp_take_sigma(job, &job->lanes[k]);
    // The median over the blocks that have any noise.
    int used = 0;
    for (int b = 0; b < job->n_blocks; b++)
        if (job->block_sigma[b] > 0)
            job->block_sigma[used++] = job->block_sigma[b];
    qsort(job->block_sigma, used, sizeof *job->block_sigma, litho_compare_double);
    job->sigma = used ? job->block_sigma[used / 2] : 0;
    return job->sigma;
}

// --- a level by count ----------------------------------------------------------------------------

typedef struct Counting {
    const float *scale; // per box
    int prefix;
    guint64 total[WP_BINS];
    GMutex lock; // of `total`
} Counting;

static gboolean count_block(WpJob *job, WpLane *lane, int b, gpointer data, GError **error)
{
    Counting *to = data;
    g_autofree WpHistogram *h = g_new0(WpHistogram, 1);
    const float *c = wp_lane_coefficients(job, lane, b, error);
    h->scale = to->scale;
    h->prefix = to->prefix;
    if (!c || !lane->engine->class->histogram(lane->engine, c, h, error))
        return FALSE;
    g_mutex_lock(&to->lock);
    for (int i = 0; i < WP_BINS; i++)
        to->total[i] += h->bins[i];
    g_mutex_unlock(&to->lock);
    return TRUE;
}

static gboolean count_all(WpJob *job, Counting *counting, LithoRun *run, GError **error)
{
    const WpWork work = {
        .stage = "count", .from = job->volume, .each = count_block, .data = counting};
    memset(counting->total, 0, sizeof counting->total);
    return wp_lanes_work(job, &work, run, error);
}

// The bin in which the `count`-th largest value lies; *left = how many of that bin are wanted.
static int bin_of(const guint64 *bins, guint64 count, guint64 *left)
{
    for (int i = WP_BINS - 1; i >= 0; i--) {
        if (bins[i] >= count) {
            *left = count;
            return i;
        }
        count -= bins[i];
    }
    return -1; // fewer values than wanted: keep all
}

gboolean wp_level_for_count(WpJob *job, guint64 count, double *level, double *counts, LithoRun *run,
                            GError **error)
{
    g_autofree Counting *counting = g_new0(Counting, 1);
    g_autofree float *scale = g_new(float, job->geometry->n_boxes);
    guint64 left = 0;
    for (int b = 0; b < job->geometry->n_boxes; b++)
        scale[b] = 1;
    counting->scale = scale;
    counting->prefix = -1;
    *level = 0;
    if (!count_all(job, counting, run, error))
        return FALSE;
    for (int i = 0; i < WP_BINS; i++)
        counts[i] = (double)counting->total[i];
    counting->prefix = bin_of(counting->total, MAX(count, 1), &left);
    if (counting->prefix < 0)
        return TRUE;
    if (!count_all(job, counting, run, error))
        return FALSE;
    int low = bin_of(counting->total, left, &left);
    guint32 bits = ((guint32)counting->prefix << 16) | ((guint32)MAX(low, 0) << 1);
    float value;
    memcpy(&value, &bits, sizeof value);
    *level = value;
    return TRUE;
}
