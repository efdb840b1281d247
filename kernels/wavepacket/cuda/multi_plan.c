// SPDX-License-Identifier: GPL-3.0-or-later
//
// Division of the work when several GPUs share a volume. Boxes are dealt out by the component of
// their direction along axis 2, in the order of the grid's columns (0 .. 1/2, then -1/2 .. 0): a
// GPU's tiles then touch mostly its own columns, which need not come over the link.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cuda/multi.h"

// --- sharing out the boxes -----------------------------------------------------------------------

// About what a box costs: a point with a window twice what one without does (which only the FFT
// sees), a residual point as much as half of that (measured: forward and inverse together).
static double cost_of(const WpBox *box)
{
    return box->kind == WP_RESIDUAL ? (double)box->floats
                                    : 2.0 * (double)box->n_weights + 0.5 * (double)box->floats;
}

typedef struct Direction {
    int box;
    double place, cost;
} Direction;

// 0 .. 2 in the order of the columns. Of a box's two halves, xi and -xi, the one with xi_3 >= 0
// counts.
static double place_of(const WpBox *box)
{
    const double *nu = box->R[0], along2 = nu[2] < 0 ? -nu[1] : nu[1];
    return along2 < -1e-9 ? 2 + along2 : along2;
}

static int by_place(const void *a, const void *b)
{
    const Direction *x = a, *y = b;
    return x->place != y->place ? (x->place < y->place ? -1 : 1) : x->box - y->box;
}

// Zones of equal cost, one a GPU; the first has the residual box, whose samples are those of the
// volume.
static void deal_out(WpMulti *m)
{
    const WpGeometry *g = m->engine.geometry;
    g_autofree Direction *list = g_new(Direction, g->n_boxes);
    double all = 0, so_far = 0;
    int n = 0, last = 0;
    m->owner = g_new0(int, g->n_boxes);
    m->local = g_new0(int, g->n_boxes);
    for (int b = 0; b < g->n_boxes; b++) {
        const double cost = cost_of(&g->boxes[b]);
        all += cost;
        if (g->boxes[b].kind == WP_DIRECTION)
            list[n++] = (Direction){b, place_of(&g->boxes[b]), cost};
        else
            so_far += cost;
    }
    qsort(list, n, sizeof *list, by_place);
    for (int i = 0; i < n; i++) {
        const int fair = (int)((so_far + 0.5 * list[i].cost) / all * m->n);
        last = MIN(MIN(fair, last + 1), m->n - 1); // nobody is left out
        m->owner[list[i].box] = last;
        so_far += list[i].cost;
    }
    m->n = last + 1;
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

// --- what the tiles of a part touch --------------------------------------------------------------

static void widen(WpSpan *s, int lo, int hi)
{
    if (lo >= hi)
        return;
    *s = s->hi == 0 ? (WpSpan){(guint16)lo, (guint16)hi}
                    : (WpSpan){(guint16)MIN(s->lo, lo), (guint16)MAX(s->hi, hi)};
}

// A tile with its halo; what lies beyond the half spectrum stands for the mirrored points in it.
static void widen_by_tile(const WpDevGrid *g, int tile, WpSpan *spans)
{
    const int side = WP_TILE + g->w - 1, lo = tile % g->tiles[2] * WP_TILE - g->offset3;
    const int first1 = tile / (g->tiles[1] * g->tiles[2]) * WP_TILE;
    const int first2 = tile / g->tiles[2] % g->tiles[1] * WP_TILE, hi = lo + side;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            const int l1 = (first1 + i) % g->nf[0], l2 = (first2 + j) % g->nf[1];
            const int m1 = (g->nf[0] - l1) % g->nf[0], m2 = (g->nf[1] - l2) % g->nf[1];
            WpSpan *mirrored = &spans[m1 * g->nf[1] + m2];
            widen(&spans[l1 * g->nf[1] + l2], CLAMP(lo, 0, g->half), CLAMP(hi, 0, g->half));
            widen(mirrored, CLAMP(1 - hi, 0, g->half), CLAMP(1 - lo, 0, g->half));
            widen(mirrored, CLAMP(g->nf[2] + 1 - hi, 0, g->half),
                  CLAMP(g->nf[2] + 1 - lo, 0, g->half));
        }
}

static WpSpan *find_spans(WpCuda *part, GError **error)
{
    g_autofree guint32 *active = g_new(guint32, MAX(part->n_active, 1));
    if (!LITHO_CUDA(cudaMemcpy(active, part->active.data, part->n_active * sizeof *active,
                               cudaMemcpyDeviceToHost),
                    error))
        return NULL;
    WpSpan *spans = g_new0(WpSpan, (gint64)part->grid.nf[0] * part->grid.nf[1]);
    for (int i = 0; i < part->n_active; i++)
        widen_by_tile(&part->grid, (int)active[i], spans);
    return spans;
}

// --- life ----------------------------------------------------------------------------------------

// Number of devices from `device` on that can read each other's memory: through the host the
// exchange would take longer than it saves.
static int linked_devices(int device, int wanted)
{
    const int all = litho_cuda_backend()->n_devices;
    for (int n = 1; n < wanted; n++)
        for (int i = 0; i < n; i++) {
            const int a = litho_cuda_ordinal((device + n) % all);
            const int b = litho_cuda_ordinal((device + i) % all);
            int there = a == b, back = a == b;
            if (a != b && (cudaDeviceCanAccessPeer(&there, a, b) != cudaSuccess ||
                           cudaDeviceCanAccessPeer(&back, b, a) != cudaSuccess))
                there = 0;
            if (!there || !back)
                return n;
        }
    return wanted;
}

typedef struct Making {
    int form, device; // of part 0
    int threads;      // of each: parts are made at the same time
} Making;

static gboolean make_part(WpMulti *m, int k, gpointer data, GError **error)
{
    const Making *making = data;
    LithoRun run = {.device = making->device + k, .threads = making->threads};
    m->part[k] = (WpCuda *)wp_engine_cuda(&m->geometry[k], making->form, k, m->n, &run, error);
    for (int i = 0; m->part[k] && i < WP_DONE_STEPS; i++)
        if (!LITHO_CUDA(cudaEventCreateWithFlags(&m->done[k][i], cudaEventDisableTiming), error))
            return FALSE;
    m->host_spans[k] = m->part[k] ? find_spans(m->part[k], error) : NULL;
    return m->host_spans[k] != NULL;
}

// Everybody's spans and grids to everybody; behind them what anybody touches of a column, at any
// l1.
static gboolean introduce(WpMulti *m, int k, gpointer data, GError **error)
{
    (void)data;
    WpCuda *part = m->part[k];
    const size_t columns = part->grid.nf[1], rows = part->grid.nf[0] * columns;
    g_autofree WpSpan *all = g_new0(WpSpan, rows * m->n + columns);
    for (int i = 0; i < m->n; i++) {
        memcpy(all + rows * i, m->host_spans[i], rows * sizeof *all);
        for (size_t r = 0; r < rows; r++)
            widen(&all[rows * m->n + r % columns], m->host_spans[i][r].lo, m->host_spans[i][r].hi);
    }
    m->peers.u[k] = part->u.data;
    return wp_cuda_send(part, &m->spans[k], all, (rows * m->n + columns) * sizeof *all, error);
}

// --- what passes over the links ------------------------------------------------------------------

static double width(WpSpan s)
{
    return s.hi - s.lo;
}

static gboolean has_column(const WpMulti *m, int k, int l2)
{
    const WpShare *s = &m->part[k]->share;
    return l2 >= s->column && l2 < s->column + s->columns;
}

// Bytes that part k reads from the others, as the kernels of cuda/share.cu do.
static void count_links(WpMulti *m, int k)
{
    const WpDevGrid *g = &m->part[k]->grid;
    const WpShare *share = &m->part[k]->share;
    const int rows = g->nf[0] * g->nf[1];
    double own = 0, others = 0, touched = 0, summed = 0; // points of the half spectrum
    g_autofree WpSpan *column = g_new0(WpSpan, g->nf[1]);
    for (int r = 0; r < rows; r++) {
        const int l2 = r % g->nf[1];
        const gboolean mine = has_column(m, k, l2);
        touched += mine ? 0 : width(m->host_spans[k][r]);
        for (int i = 0; i < m->n; i++) {
            widen(&column[l2], m->host_spans[i][r].lo, m->host_spans[i][r].hi);
            summed += mine && i != k ? width(m->host_spans[i][r]) : 0;
        }
    }
    for (int l2 = 0; l2 < g->nf[1]; l2++)
        *(has_column(m, k, l2) ? &own : &others) += width(column[l2]);
    const double point = sizeof(float) * 2;
    m->link_bytes[k][WP_PULL_PLANES] =
        point * own * (double)(m->engine.geometry->n[0] - share->samples);
    m->link_bytes[k][WP_PULL_SPANS] = point * touched;
    m->link_bytes[k][WP_SUM_SPANS] = point * summed;
    m->link_bytes[k][WP_PULL_COLUMNS] = point * others * share->samples;
}

gboolean wp_multi_make_parts(WpMulti *m, int form, int devices, const LithoRun *run, GError **error)
{
    Making making = {.form = form, .device = run ? run->device : 0};
    m->n = linked_devices(making.device, MIN(devices, WP_MAX_PARTS));
    deal_out(m);
    making.threads = MAX(litho_run_threads(run) / m->n, 1);
    make_geometries(m);
    if (!wp_all_parts(m, make_part, &making, error))
        return FALSE;
    for (int k = 0; k < m->n; k++)
        count_links(m, k);
    return wp_each_part(m, introduce, NULL, NULL, error);
}

static void free_part(WpMulti *m, int k)
{
    WpCuda *part = m->part[k];
    if (!part || !part->engine.class->attach(&part->engine, NULL))
        return;
    for (int i = 0; i < WP_DONE_STEPS; i++)
        if (m->done[k][i])
            cudaEventDestroy(m->done[k][i]);
    litho_cuda_release(part->context, &m->spans[k]);
    wp_engine_free(&part->engine);
}

void wp_multi_free_parts(WpMulti *m)
{
    for (int k = 0; k < m->n; k++) // a pass that failed may have left one reading another
        if (m->part[k] && m->part[k]->engine.class->attach(&m->part[k]->engine, NULL))
            m->part[k]->engine.class->wait(&m->part[k]->engine, NULL);
    for (int k = m->n - 1; k >= 0; k--) {
        free_part(m, k);
        g_free(m->geometry[k].boxes);
        g_free(m->host_spans[k]);
    }
    g_free(m->owner);
    g_free(m->local);
}
