// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/twsm/chain.h"
#include "kernels/twsm/cluster_rule.h"

// Clusters for algorithm=fast. The elements of a regular mesh are grouped into squares of
// TWSM_CLUSTER cells a side. Between clusters I and J with centres x_I, y_J the beam is
//     a(x, y) E(R(x,y)) = E(R(x, y_J)) * [ a E(R(x,y) - R(x,y_J) - R(x_I,y) + R(x_I,y_J)) ]
//                         * E(R(x_I, y) - R(x_I, y_J)).
// The bracket's phase is the mixed second difference of R, about dx.dy / R: smooth, so polynomials
// through m x m Chebyshev nodes of the two squares stand for it (m = 2..TWSM_MAX_NODES by distance
// and frequency). 128 x 128 beams become 16 x 16, 64 x 64 at most.

enum { TWSM_CLUSTER = 8, TWSM_CLUSTER_MAX = 2 * TWSM_CLUSTER * TWSM_CLUSTER };

typedef struct TwsmCluster {
    int shape;          // index into `weights`
    int first[2], n[2]; // cells
    TwsmSquare square;
} TwsmCluster;

// Point of interpolation: position and normal of the smooth surface.
typedef struct TwsmNode {
    float x, y, z, nx, ny, nz;
} TwsmNode;

typedef struct TwsmClusters {
    int n, n_shapes;
    TwsmCluster *cluster; // owned
    // Weights of m x m nodes at each element of a cluster of one shape, [shape][m][element][m * m]
    // with rows of TWSM_MAX_NODES^2; elements in the cluster's own order, 2 (cy n[0] + cx) + kind.
    float *weights; // owned
    // Nodes [cluster][TWSM_ALL_NODES], m x m of them from twsm_nodes_first(m) on.
    TwsmNode *node; // owned
    // Normals of the smooth surface at the mesh's elements, [element][nx, ny, nz, 0].
    float *smooth; // owned
} TwsmClusters;

// NULL when the mesh is not a regular one.
TwsmClusters *twsm_clusters_new(const TwsmPoints *mesh, int threads);
void twsm_clusters_free(TwsmClusters *clusters); // NULL is fine
int twsm_cluster_size(const TwsmCluster *cluster);
// Element number in the mesh of element e of a cluster.
int twsm_cluster_element(const TwsmPoints *mesh, const TwsmCluster *cluster, int e);
const float *twsm_cluster_weights(const TwsmClusters *clusters, int shape, int nodes);
const TwsmNode *twsm_cluster_nodes(const TwsmClusters *clusters, int cluster, int nodes);

// Weights of one axis, whose products are those above: [axis][last row?][m - 2][2 * cell +
// kind][node], rows of TWSM_AXIS_NODES; zeros for cells that the last row does not have.
enum { TWSM_AXIS_NODES = 8, TWSM_AXIS_ROWS = 2 * TWSM_CLUSTER };
enum { TWSM_AXIS_WEIGHTS = 2 * 2 * (TWSM_MAX_NODES - 1) * TWSM_AXIS_ROWS * TWSM_AXIS_NODES };
void twsm_clusters_axis_weights(const TwsmPoints *mesh, float weights[TWSM_AXIS_WEIGHTS]);
// Rows of clusters of a mesh, and the first element of row `row` (of the row behind the last: the
// number of elements). Elements of a row lie together.
int twsm_cluster_rows(const TwsmPoints *mesh);
int twsm_cluster_row_first(const TwsmPoints *mesh, int row);
