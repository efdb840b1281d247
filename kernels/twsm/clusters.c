// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/clusters.h"

#include <math.h>
#include <string.h>

enum { NODES2 = TWSM_MAX_NODES * TWSM_MAX_NODES, ORDERS = TWSM_MAX_NODES - 1 };

int twsm_cluster_size(const TwsmCluster *c)
{
    return 2 * c->n[0] * c->n[1];
}

int twsm_cluster_element(const TwsmPoints *mesh, const TwsmCluster *c, int e)
{
    int cell = e / 2, cx = cell % c->n[0], cy = cell / c->n[0];
    return 2 * ((c->first[1] + cy) * mesh->cells[0] + c->first[0] + cx) + e % 2;
}

const float *twsm_cluster_weights(const TwsmClusters *c, int shape, int nodes)
{
    return c->weights + ((gsize)shape * ORDERS + nodes - 2) * TWSM_CLUSTER_MAX * NODES2;
}

const TwsmNode *twsm_cluster_nodes(const TwsmClusters *c, int cluster, int nodes)
{
    return c->node + (gsize)cluster * TWSM_ALL_NODES + twsm_nodes_first(nodes);
}

static double chebyshev(int m, int n)
{
    return -cos(G_PI * (m + 0.5) / n);
}

static double lagrange(int m, int n, double x)
{
    double w = 1;
    for (int l = 0; l < n; l++)
        if (l != m)
            w *= (x - chebyshev(l, n)) / (chebyshev(m, n) - chebyshev(l, n));
    return w;
}

// Weights of one axis of n cells: centroids of the two triangles lie at 1/3 and 2/3 of their cell
// (mesh.c). [2 * cell + kind][node].
static void axis_weights(int n, int nodes, double w[TWSM_AXIS_ROWS][TWSM_MAX_NODES])
{
    for (int row = 0; row < 2 * n; row++)
        for (int m = 0; m < nodes; m++)
            w[row][m] = lagrange(m, nodes, 2 * (row / 2 + (1 + row % 2) / 3.0) / n - 1);
}

// Weights of one shape: products of both axes'.
static void fill_weights(TwsmClusters *c, int shape, const int n[2])
{
    double wx[TWSM_AXIS_ROWS][TWSM_MAX_NODES], wy[TWSM_AXIS_ROWS][TWSM_MAX_NODES];
    for (int nodes = 2; nodes <= TWSM_MAX_NODES; nodes++) {
        float *w = (float *)twsm_cluster_weights(c, shape, nodes);
        axis_weights(n[0], nodes, wx);
        axis_weights(n[1], nodes, wy);
        for (int e = 0; e < 2 * n[0] * n[1]; e++)
            for (int m = 0; m < nodes * nodes; m++)
                w[e * NODES2 + m] = (float)(wx[2 * (e / 2 % n[0]) + e % 2][m % nodes] *
                                            wy[2 * (e / 2 / n[0]) + e % 2][m / nodes]);
    }
}

// Weights of neighbouring cells' middles at cell coordinate u, and the first of these cells: a
// cubic through four, or what the mesh has.
static int neighbours(double u, int cells, int *first, double w[4])
{
    int n = MIN(cells, 4);
    *first = CLAMP((int)floor(u - 0.5) - (n - 1) / 2, 0, cells - n);
    for (int k = 0; k < n; k++) {
        w[k] = 1;
        for (int l = 0; l < n; l++)
            if (l != k)
                w[k] *= (u - 0.5 - *first - l) / (k - l);
    }
    return n;
}

// Smooth surface at cell coordinates (u, v): means of the two triangles of a cell stand for its
// middle, between them cubic. Bilinear ones would leave an error of 4e-5 in the traces.
static TwsmNode surface_at(const TwsmPoints *p, double u, double v)
{
    double sum[6] = {0}, wx[4], wy[4];
    int ix, iy, nx = neighbours(u, p->cells[0], &ix, wx), ny = neighbours(v, p->cells[1], &iy, wy);
    for (int cy = 0; cy < ny; cy++)
        for (int cx = 0; cx < nx; cx++) {
            double w = 0.5 * wx[cx] * wy[cy];
            for (int e = 2 * ((iy + cy) * p->cells[0] + ix + cx), last = e + 1; e <= last; e++) {
                const float at[6] = {p->x[e], p->y[e], p->z[e], p->nx[e], p->ny[e], p->nz[e]};
                for (int k = 0; k < 6; k++)
                    sum[k] += w * at[k];
            }
        }
    double norm = sqrt(sum[3] * sum[3] + sum[4] * sum[4] + sum[5] * sum[5]);
    return (TwsmNode){(float)sum[0],          (float)sum[1],          (float)sum[2],
                      (float)(sum[3] / norm), (float)(sum[4] / norm), (float)(sum[5] / norm)};
}

static void fill_nodes(TwsmClusters *c, int k, const TwsmPoints *mesh)
{
    const TwsmCluster *at = &c->cluster[k];
    for (int nodes = 2; nodes <= TWSM_MAX_NODES; nodes++) {
        TwsmNode *node = (TwsmNode *)twsm_cluster_nodes(c, k, nodes);
        for (int m = 0; m < nodes * nodes; m++)
            node[m] =
                surface_at(mesh, at->first[0] + 0.5 * (1 + chebyshev(m % nodes, nodes)) * at->n[0],
                           at->first[1] + 0.5 * (1 + chebyshev(m / nodes, nodes)) * at->n[1]);
    }
}

static void fill_smooth(TwsmClusters *c, const TwsmPoints *mesh, int threads)
{
    c->smooth = g_new(float, 4 * (gsize)mesh->n);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int e = 0; e < mesh->n; e++) {
        int cell = e / 2;
        double third = (1 + e % 2) / 3.0;
        TwsmNode at =
            surface_at(mesh, cell % mesh->cells[0] + third, cell / mesh->cells[0] + third);
        const float normal[4] = {at.nx, at.ny, at.nz, 0};
        memcpy(c->smooth + 4 * (gsize)e, normal, sizeof normal);
    }
}

static void measure(TwsmCluster *c, const TwsmPoints *mesh)
{
    int n = twsm_cluster_size(c);
    double sum[3] = {0};
    for (int e = 0; e < n; e++) {
        int j = twsm_cluster_element(mesh, c, e);
        sum[0] += mesh->x[j] / n, sum[1] += mesh->y[j] / n, sum[2] += mesh->z[j] / n;
    }
    for (int k = 0; k < 3; k++)
        c->square.centre[k] = (float)sum[k];
    for (int e = 0; e < n; e++) {
        int j = twsm_cluster_element(mesh, c, e);
        double d[3] = {mesh->x[j] - sum[0], mesh->y[j] - sum[1], mesh->z[j] - sum[2]};
        c->square.reach =
            MAX(c->square.reach, (float)sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    c->square.half = (float)(0.5 * MAX(c->n[0] * mesh->step[0], c->n[1] * mesh->step[1]));
}

// Clusters along an axis, and the cells of the last one.
static int cluster_side(const TwsmPoints *mesh, int axis)
{
    return (mesh->cells[axis] + TWSM_CLUSTER - 1) / TWSM_CLUSTER;
}

static int last_side(const TwsmPoints *mesh, int axis)
{
    return mesh->cells[axis] - (cluster_side(mesh, axis) - 1) * TWSM_CLUSTER;
}

TwsmClusters *twsm_clusters_new(const TwsmPoints *mesh, int threads)
{
    if (mesh->cells[0] == 0)
        return NULL;
    TwsmClusters *c = g_new0(TwsmClusters, 1);
    int side[2], rest[2];
    for (int a = 0; a < 2; a++) {
        side[a] = cluster_side(mesh, a);
        rest[a] = last_side(mesh, a);
    }
    c->n = side[0] * side[1];
    c->n_shapes = 4;
    c->cluster = g_new0(TwsmCluster, c->n);
    c->weights = g_new0(float, (gsize)4 * ORDERS * TWSM_CLUSTER_MAX * NODES2);
    c->node = g_new0(TwsmNode, (gsize)c->n * TWSM_ALL_NODES);
    for (int shape = 0; shape < 4; shape++)
        fill_weights(
            c, shape,
            (int[2]){shape & 1 ? rest[0] : TWSM_CLUSTER, shape & 2 ? rest[1] : TWSM_CLUSTER});
    fill_smooth(c, mesh, threads);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < c->n; k++) {
        TwsmCluster *at = &c->cluster[k];
        for (int a = 0; a < 2; a++) {
            int i = a ? k / side[0] : k % side[0];
            gboolean last = i == side[a] - 1;
            at->first[a] = i * TWSM_CLUSTER;
            at->n[a] = last ? rest[a] : TWSM_CLUSTER;
            at->shape |= last << a;
        }
        measure(at, mesh);
        fill_nodes(c, k, mesh);
    }
    return c;
}

void twsm_clusters_free(TwsmClusters *c)
{
    if (!c)
        return;
    g_free(c->cluster);
    g_free(c->weights);
    g_free(c->node);
    g_free(c->smooth);
    g_free(c);
}

void twsm_clusters_axis_weights(const TwsmPoints *mesh, float weights[TWSM_AXIS_WEIGHTS])
{
    float *to = weights;
    memset(weights, 0, TWSM_AXIS_WEIGHTS * sizeof *weights);
    for (int axis = 0; axis < 2; axis++)
        for (int last = 0; last < 2; last++)
            for (int nodes = 2; nodes <= TWSM_MAX_NODES; nodes++) {
                double w[TWSM_AXIS_ROWS][TWSM_MAX_NODES];
                int n = last ? last_side(mesh, axis) : TWSM_CLUSTER;
                axis_weights(n, nodes, w);
                for (int row = 0; row < TWSM_AXIS_ROWS; row++, to += TWSM_AXIS_NODES)
                    for (int m = 0; m < nodes && row < 2 * n; m++)
                        to[m] = (float)w[row][m];
            }
}

int twsm_cluster_rows(const TwsmPoints *mesh)
{
    return cluster_side(mesh, 1);
}

int twsm_cluster_row_first(const TwsmPoints *mesh, int row)
{
    return 2 * mesh->cells[0] * MIN(row * TWSM_CLUSTER, mesh->cells[1]);
}
