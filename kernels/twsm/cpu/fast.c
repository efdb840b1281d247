// SPDX-License-Identifier: GPL-3.0-or-later
//
// algorithm=fast: blocks of two distant clusters through a few nodes (clusters.h), near blocks
// directly. Each target cluster is one task.
#include <omp.h>
#include <string.h>

#include "core/peers.h"
#include "kernels/twsm/clusters.h"

enum { NODES2 = TWSM_MAX_NODES * TWSM_MAX_NODES, N = TWSM_BLOCK };

typedef struct Fast {
    const TwsmLeg *leg;
    TwsmBand band;
    int n_rhs;
    TwsmClusterRule rule;
    const TwsmClusters *from, *to;
    const TwsmValue *u;
    TwsmValue *sum;
    gint64 direct_pairs, done;
    gint stop;
} Fast;

// One value per frequency of the block, real and imaginary parts apart.
typedef struct Row {
    float re[N], im[N];
} Row;

// E^k of a path of t turns for all frequencies of the block.
static inline void phases(float t, int k0, Row *e)
{
    for (int k = 0; k < N; k++)
        twsm_turn_times((float)(k0 + k), t, &e->re[k], &e->im[k]);
}

static inline void load(const TwsmValue *u, int n, Row *r)
{
    memset(r, 0, sizeof *r);
    for (int k = 0; k < n; k++) {
        r->re[k] = ((const float *)u)[2 * k];
        r->im[k] = ((const float *)u)[2 * k + 1];
    }
}

static inline void add_product(const Row *a, const Row *b, Row *sum)
{
    for (int k = 0; k < N; k++) {
        sum->re[k] += a->re[k] * b->re[k] - a->im[k] * b->im[k];
        sum->im[k] += a->re[k] * b->im[k] + a->im[k] * b->re[k];
    }
}

static inline void add_scaled(float w, const Row *a, Row *sum)
{
    for (int k = 0; k < N; k++) {
        sum->re[k] += w * a->re[k];
        sum->im[k] += w * a->im[k];
    }
}

static float distance(float ax, float ay, float az, const float b[3])
{
    float x = ax - b[0], y = ay - b[1], z = az - b[2];
    return sqrtf(x * x + y * y + z * z);
}

// Sources of cluster J, seen from the centre of I, gathered on J's nodes.
static void gather(const Fast *f, int q, const TwsmCluster *to, const TwsmCluster *from, int nodes,
                   Row *v)
{
    const TwsmPoints *p = f->leg->from;
    const float *w = twsm_cluster_weights(f->from, from->shape, nodes);
    float r0 = distance(to->square.centre[0], to->square.centre[1], to->square.centre[2],
                        from->square.centre);
    memset(v, 0, sizeof *v * nodes * nodes);
    for (int e = 0; e < twsm_cluster_size(from); e++) {
        int j = twsm_cluster_element(p, from, e);
        Row turn, u, product = {0};
        float r = distance(p->x[j], p->y[j], p->z[j], to->square.centre) - r0;
        phases(r * f->leg->pair.turns, f->band.k0, &turn);
        load(f->u + ((gsize)q * p->n + j) * f->band.n, f->band.n, &u);
        add_product(&turn, &u, &product);
        const float *s = f->from->smooth + 4 * (gsize)j, *c = to->square.centre;
        float sent = p->area[j] * twsm_facet_factor(f->leg->pair.side, p->nx[j], p->ny[j], p->nz[j],
                                                    s[0], s[1], s[2], c[0] - p->x[j],
                                                    c[1] - p->y[j], c[2] - p->z[j]);
        for (int m = 0; m < nodes * nodes; m++)
            add_scaled(w[e * NODES2 + m] * sent, &product, &v[m]);
    }
}

// From the nodes of J to the nodes of I: beams of unit area, without the phases that gather() and
// scatter() carry.
static void translate(const Fast *f, int i, int j, int nodes, const Row *v, Row *out)
{
    const TwsmCluster *to = &f->to->cluster[i], *from = &f->from->cluster[j];
    const TwsmNode *x = twsm_cluster_nodes(f->to, i, nodes);
    const TwsmNode *y = twsm_cluster_nodes(f->from, j, nodes);
    const TwsmPairScale *scale = &f->leg->pair;
    float r0 = distance(to->square.centre[0], to->square.centre[1], to->square.centre[2],
                        from->square.centre);
    memset(out, 0, sizeof *out * nodes * nodes);
    for (int a = 0; a < nodes * nodes; a++)
        for (int b = 0; b < nodes * nodes; b++) {
            float t, amp, cos_i, re = 1, im = 0;
            Row turn, beam;
            twsm_pair(scale, y[b].x, y[b].y, y[b].z, y[b].nx, y[b].ny, y[b].nz, 1, x[a].x, x[a].y,
                      x[a].z, x[a].nx, x[a].ny, x[a].nz, &t, &amp, &cos_i);
            if (f->leg->coef)
                twsm_coefficient(f->leg->coef, cos_i, &re, &im);
            if (scale->damp != 0)
                amp *= expf(-scale->damp * t / scale->turns);
            float known = distance(x[a].x, x[a].y, x[a].z, from->square.centre) +
                          distance(y[b].x, y[b].y, y[b].z, to->square.centre) - r0;
            phases(t - known * scale->turns, f->band.k0, &turn);
            for (int k = 0; k < N; k++) {
                beam.re[k] = amp * (re * turn.re[k] - im * turn.im[k]);
                beam.im[k] = amp * (re * turn.im[k] + im * turn.re[k]);
            }
            add_product(&beam, &v[b], &out[a]);
        }
}

// From the nodes of I to its elements.
static void scatter(const Fast *f, const TwsmCluster *to, const TwsmCluster *from, int nodes,
                    const Row *v, Row *y)
{
    const TwsmPoints *p = f->leg->to;
    const float *w = twsm_cluster_weights(f->to, to->shape, nodes);
    for (int e = 0; e < twsm_cluster_size(to); e++) {
        int i = twsm_cluster_element(p, to, e);
        Row turn, sum = {0};
        phases(distance(p->x[i], p->y[i], p->z[i], from->square.centre) * f->leg->pair.turns,
               f->band.k0, &turn);
        for (int m = 0; m < nodes * nodes; m++)
            add_scaled(w[e * NODES2 + m], &v[m], &sum);
        add_product(&turn, &sum, &y[e]);
    }
}

static void direct(const Fast *f, int q, const TwsmCluster *to, const TwsmCluster *from, Row *y)
{
    const TwsmPoints *p = f->leg->from;
    for (int a = 0; a < twsm_cluster_size(to); a++) {
        int i = twsm_cluster_element(f->leg->to, to, a);
        for (int b = 0; b < twsm_cluster_size(from); b++) {
            int j = twsm_cluster_element(p, from, b);
            float t, re, im;
            Row turn, beam, u;
            twsm_pair_columns(f->leg, i, j, 1, &t, &re, &im);
            phases(t, f->band.k0, &turn);
            load(f->u + ((gsize)q * p->n + j) * f->band.n, f->band.n, &u);
            for (int k = 0; k < N; k++) {
                beam.re[k] = re * turn.re[k] - im * turn.im[k];
                beam.im[k] = re * turn.im[k] + im * turn.re[k];
            }
            add_product(&beam, &u, &y[a]);
        }
    }
}

// All that arrives at one cluster.
static gint64 run_target(Fast *f, int i, int q, Row *y, const LithoRun *run)
{
    const TwsmCluster *to = &f->to->cluster[i];
    int size = twsm_cluster_size(to);
    gint64 direct_pairs = 0;
    memset(y, 0, sizeof *y * size);
    for (int j = 0; j < f->from->n && litho_run_checkpoint(run); j++) {
        const TwsmCluster *from = &f->from->cluster[j];
        int nodes = twsm_square_rule(f->leg->pair.turns, f->rule, &to->square, &from->square,
                                     f->band.k0 + f->band.n - 1);
        Row at_from[NODES2], at_to[NODES2];
        if (nodes == 0) {
            direct(f, q, to, from, y);
            direct_pairs += (gint64)size * twsm_cluster_size(from);
            continue;
        }
        gather(f, q, to, from, nodes, at_from);
        translate(f, i, j, nodes, at_from, at_to);
        scatter(f, to, from, nodes, at_to, y);
    }
    for (int e = 0; e < size; e++) {
        int at = twsm_cluster_element(f->leg->to, to, e);
        for (int k = 0; k < f->band.n; k++)
            f->sum[((gsize)q * f->leg->to->n + at) * f->band.n + k] = y[e].re[k] + I * y[e].im[k];
    }
    return direct_pairs;
}

static void run_targets(Fast *f, const TwsmHow *how, LithoRun *run)
{
    gint64 tasks = (gint64)f->to->n * f->n_rhs;
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        g_autofree Row *y = g_new(Row, TWSM_CLUSTER_MAX);
#pragma omp for schedule(dynamic)
        for (gint64 task = litho_run_rank(run); task < tasks; task += litho_run_ranks(run)) {
            if (g_atomic_int_get(&f->stop))
                continue;
            gint64 pairs = run_target(f, task % f->to->n, task / f->to->n, y, run), done;
#pragma omp atomic
            f->direct_pairs += pairs;
#pragma omp atomic capture
            done = ++f->done;
            const double part = (double)done * litho_run_ranks(run) / tasks;
            if (omp_get_thread_num() == 0 ? !twsm_step(how, part, run, NULL)
                                          : !litho_run_checkpoint(run))
                g_atomic_int_set(&f->stop, 1);
        }
    }
}

gboolean LITHO_ISA_NAME(twsm_cpu_fast)(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                                       const TwsmValue *u, TwsmValue *sum, TwsmValue *near,
                                       LithoRun *run, GError **error)
{
    (void)near;
    const int threads = litho_run_threads(run);
    TwsmClusters *from = twsm_clusters_new(leg->from, threads);
    TwsmClusters *to = twsm_clusters_new(leg->to, threads);
    Fast f = {.leg = leg,
              .band = band,
              .n_rhs = n_rhs,
              .rule = how->rule,
              .from = from,
              .to = to,
              .u = u,
              .sum = sum};
    run_targets(&f, how, run);
    double pairs = (double)f.direct_pairs;
    // Rows of other processes are zeros here.
    const gboolean ok = twsm_stopped(f.stop, error) &&
                        litho_run_sum_floats(run, (float *)sum,
                                             2 * (gsize)n_rhs * leg->to->n * band.n, error) &&
                        litho_run_sum_doubles(run, &pairs, 1, error);
    how->direct_share = pairs / ((double)leg->from->n * leg->to->n * n_rhs);
    twsm_clusters_free(from);
    twsm_clusters_free(to);
    return ok;
}
