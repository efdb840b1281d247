// SPDX-License-Identifier: GPL-3.0-or-later
//
// The baseline every compression figure is shown beside: keep the largest values of a plain FFT.
#include <math.h>
#include <string.h>

#include "kernels/wavepacket/engine.h"

// Energy of half-spectrum value k of a row of n3 samples: the mirrored half counts too.
static inline double weight_of(gint64 k, gint64 n3)
{
    return k == 0 || 2 * k == n3 ? 1 : 2;
}

// Value of the `keep`-th largest of n non-negative floats, by counting their leading and then
// their trailing bits.
static float level_of(const float *v, gint64 n, guint64 keep)
{
    g_autofree guint64 *bins = g_new0(guint64, 1 << 16);
    guint32 prefix = 0;
    guint64 left = keep;
    for (int pass = 0; pass < 2; pass++) {
        memset(bins, 0, sizeof(guint64) << 16);
        for (gint64 i = 0; i < n; i++) {
            guint32 bits;
            memcpy(&bits, &v[i], sizeof bits);
            if (pass == 0)
                bins[bits >> 16]++;
            else if (bits >> 16 == prefix)
                bins[bits & 0xffff]++;
        }
        int b = (1 << 16) - 1;
        while (b > 0 && bins[b] < left)
            left -= bins[b--];
        if (pass == 0)
            prefix = (guint32)b;
        else
            prefix = prefix << 16 | (guint32)b;
    }
    float level;
    memcpy(&level, &prefix, sizeof level);
    return level;
}

double wp_fourier_lost(const float *m2, const gint64 n[3], guint64 keep)
{
    const gint64 half = n[2] / 2 + 1;
    const float level = keep > 0 ? level_of(m2, n[0] * n[1] * half, keep) : INFINITY;
    double sum = 0;
    for (gint64 r = 0; r < n[0] * n[1]; r++)
        for (gint64 k = 0; k < half; k++)
            if (m2[r * half + k] < level)
                sum += weight_of(k, n[2]) * m2[r * half + k];
    return sum / ((double)n[0] * (double)n[1] * (double)n[2]);
}

void wp_engine_free(WpEngine *engine)
{
    if (engine)
        engine->class->free(engine);
}
