// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/mesh.h"

#include <math.h>
#include <string.h>

LithoMesh *litho_mesh_new(LithoMeshKind kind, guint n, const float *position, guint n_index,
                          const guint32 *index, const float rgba[4], float size, const char *name)
{
    static guint64 serial;
    LithoMesh *mesh = g_new0(LithoMesh, 1);
    mesh->kind = kind;
    mesh->n = n;
    mesh->position = g_memdup2(position, sizeof(float) * 3 * n);
    if (index && n_index > 0) {
        for (guint k = 0; k < n_index; k++)
            g_assert(index[k] < n);
        mesh->n_index = n_index;
        mesh->index = g_memdup2(index, sizeof(guint32) * n_index);
    }
    memcpy(mesh->rgba, rgba, sizeof mesh->rgba);
    mesh->size = size > 0 ? size : kind == LITHO_MESH_POINTS ? 5 : 1.5f;
    g_strlcpy(mesh->name, name ? name : "", sizeof mesh->name);
    mesh->serial = 1 + __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
    mesh->refs = 1;
    return mesh;
}

LithoMesh *litho_mesh_new_sheet(guint n_inline, guint n_xline, const float *sample_index,
                                const float rgba[4], const char *name)
{
    guint n = n_inline * n_xline;
    g_autofree float *position = g_new(float, 3 * MAX(n, 1));
    GArray *index = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint k = 0; k < n; k++) {
        position[3 * k] = k / n_xline;
        position[3 * k + 1] = k % n_xline;
        position[3 * k + 2] = isfinite(sample_index[k]) ? sample_index[k] : 0;
    }
    for (guint i = 0; i + 1 < n_inline; i++)
        for (guint j = 0; j + 1 < n_xline; j++) {
            guint32 a = i * n_xline + j, b = a + 1, c = a + n_xline, d = c + 1;
            if (!isfinite(sample_index[a]) || !isfinite(sample_index[b]) ||
                !isfinite(sample_index[c]) || !isfinite(sample_index[d]))
                continue;
            guint32 two[6] = {a, c, b, b, c, d};
            g_array_append_vals(index, two, 6);
        }
    // A sheet of holes only must not fall back to "vertices in order".
    LithoMesh *mesh = litho_mesh_new(LITHO_MESH_TRIANGLES, index->len ? n : 0, position, index->len,
                                     (guint32 *)index->data, rgba, 0, name);
    g_array_unref(index);
    return mesh;
}

void litho_mesh_set_colours(LithoMesh *mesh, const guint8 *colour)
{
    g_free(mesh->colour);
    mesh->colour = g_memdup2(colour, 4 * (gsize)mesh->n);
    mesh->rgba[3] = 1;
    for (guint k = 0; k < mesh->n; k++)
        mesh->rgba[3] = MIN(mesh->rgba[3], colour[4 * (gsize)k + 3] / 255.0f);
}

// Buckets of equal depth, counted and filled: linear in the triangles, and 4096 depths are more
// than the eye tells apart.
void litho_mesh_far_to_near(const LithoMesh *mesh, const double m[16], guint32 *order)
{
    enum { BUCKETS = 4096 };
    guint n = mesh->n_index / 3;
    g_autofree float *depth = g_new(float, MAX(n, 1));
    g_autofree guint *start = g_new0(guint, BUCKETS + 1);
    float near = G_MAXFLOAT, far = -G_MAXFLOAT;
    for (guint t = 0; t < n; t++) {
        depth[t] = 0;
        for (int c = 0; c < 3; c++) {
            const float *p = &mesh->position[3 * (gsize)mesh->index[3 * t + c]];
            depth[t] += (float)(m[3] * p[0] + m[7] * p[1] + m[11] * p[2]);
        }
        near = MIN(near, depth[t]);
        far = MAX(far, depth[t]);
    }
    float scale = far > near ? (BUCKETS - 1) / (far - near) : 0;
    for (guint t = 0; t < n; t++)
        start[(guint)((far - depth[t]) * scale) + 1]++;
    for (guint b = 0; b < BUCKETS; b++)
        start[b + 1] += start[b];
    for (guint t = 0; t < n; t++) {
        guint at = start[(guint)((far - depth[t]) * scale)]++;
        memcpy(&order[3 * (gsize)at], &mesh->index[3 * (gsize)t], 3 * sizeof *order);
    }
}

gboolean litho_mesh_is_translucent(const LithoMesh *mesh)
{
    return mesh->rgba[3] < 1;
}

void litho_mesh_unref(LithoMesh *mesh)
{
    if (!mesh || !g_atomic_int_dec_and_test(&mesh->refs))
        return;
    g_free(mesh->position);
    g_free(mesh->index);
    g_free(mesh->colour);
    g_free(mesh);
}
