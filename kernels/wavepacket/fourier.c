// SPDX-License-Identifier: GPL-3.0-or-later
//
// The baseline every compression figure is shown beside: keep the largest values of a plain FFT.
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/wavepacket/engine.h"

// Energy of half-spectrum value k of a row of n3 samples: the mirrored half counts too.
static inline double weight_of(gint64 k, gint64 n3)
{
    return k == 0 || 2 * k == n3 ? 1 : 2;
}

// Rows of half a spectrum, `stride` floats apart.
typedef struct Rows {
    const float *m2;
    gint64 rows, half, stride;
} Rows;

// Counts values by their leading 16 bits, or with a prefix those that have it by their trailing
// ones.
static void count_row(const float *v, gint64 n, gint64 prefix, guint64 *bins)
{
    for (gint64 i = 0; i < n; i++) {
        guint32 bits;
        memcpy(&bits, &v[i], sizeof bits);
        if (prefix < 0)
            bins[bits >> 16]++;
        else if (bits >> 16 == prefix)
            bins[bits & 0xffff]++;
    }
}

static void count_rows(const Rows *r, gint64 prefix, guint64 *bins, const LithoRun *run)
{
    memset(bins, 0, sizeof(guint64) << 16);
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        g_autofree guint64 *own = g_new0(guint64, 1 << 16);
#pragma omp for
        for (gint64 i = 0; i < r->rows; i++)
            if (litho_run_checkpoint(run))
                count_row(r->m2 + i * r->stride, r->half, prefix, own);
#pragma omp critical
        for (int k = 0; k < 1 << 16; k++)
            bins[k] += own[k];
    }
}

// Value of the `keep`-th largest of the non-negative floats.
static float level_of(const Rows *r, guint64 keep, const LithoRun *run)
{
    g_autofree guint64 *bins = g_new(guint64, 1 << 16);
    gint64 prefix = -1;
    guint64 left = keep;
    guint32 bits = 0;
    for (int pass = 0; pass < 2; pass++) {
        count_rows(r, prefix, bins, run);
        int b = (1 << 16) - 1;
        while (b > 0 && bins[b] < left)
            left -= bins[b--];
        prefix = b;
        bits = bits << 16 | (guint32)b;
    }
    float level;
    memcpy(&level, &bits, sizeof level);
    return level;
}

// Energy of the values of a row of n3 samples below the level.
static double below(const float *m2, gint64 n3, float level)
{
    double sum = 0;
    for (gint64 k = 0; k < n3 / 2 + 1; k++)
        if (m2[k] < level)
            sum += weight_of(k, n3) * m2[k];
    return sum;
}

gboolean wp_fourier_lost(const float *m2, gint64 stride, const gint64 n[3], guint64 keep,
                         double *lost, const LithoRun *run, GError **error)
{
    const Rows rows = {m2, n[0] * n[1], n[2] / 2 + 1, stride};
    const float level = keep > 0 ? level_of(&rows, keep, run) : INFINITY;
    g_autofree double *sum = litho_memory_new(rows.rows, sizeof *sum, "sums of a spectrum", error);
    if (!sum)
        return FALSE;
#pragma omp parallel for num_threads(litho_run_threads(run))
    for (gint64 r = 0; r < rows.rows; r++)
        if (litho_run_checkpoint(run))
            sum[r] = below(m2 + r * stride, n[2], level);
    *lost = 0;
    for (gint64 r = 0; r < rows.rows; r++)
        *lost += sum[r];
    return litho_run_checkpoint(run) || litho_run_stopped(error);
}

void wp_engine_free(WpEngine *engine)
{
    if (engine)
        engine->class->free(engine);
}
