// SPDX-License-Identifier: GPL-3.0-or-later
//
// Thresholds of the coarse box in local Fourier windows, for every engine.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/cpu/wavepacket.h"
#include "kernels/wavepacket/local.h"

// Coefficient p of an axis is centred p/n of a period behind the volume's middle. Half the axis
// further on it stands in spatial order, and the period's seam lies in the margin.
static int place_of(int p, int n)
{
    return (p + n / 2) % n;
}

// The lattice's frequencies begin at j0, not at 0: a phase from one position to the next.
static float complex *phases_of(const WpBox *box, int axis)
{
    const int n = box->n[axis];
    float complex *phase = g_new(float complex, n);
    for (int p = 0; p < n; p++)
        phase[p] =
            (float complex)cexp(2 * G_PI * I * fmod((double)box->j0[axis] * p, n) / (double)n);
    return phase;
}

// Coefficients as real samples in spatial order, or back.
static void convert(const WpBox *box, float *coefficients, float *samples, gboolean back)
{
    g_autofree float complex *a = phases_of(box, 0), *b = phases_of(box, 1), *c = phases_of(box, 2);
    const int *n = box->n;
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            float *row = samples + ((gsize)place_of(i, n[0]) * n[1] + place_of(j, n[1])) * n[2];
            float complex *z = (float complex *)coefficients + ((gsize)i * n[1] + j) * n[2];
            for (int k = 0; k < n[2]; k++)
                if (back)
                    z[k] = row[place_of(k, n[2])] * conjf(a[i] * b[j] * c[k]);
                else
                    row[place_of(k, n[2])] = crealf(z[k] * (a[i] * b[j] * c[k]));
        }
}

// The box's coefficients, with room behind them for as many; g_free().
static float *fetch(WpEngine *engine, const float *c, GError **error)
{
    const WpBox *box = &engine->geometry->boxes[0]; // it comes first
    float *z = litho_memory_new(2 * box->floats, sizeof *z, "the coarse box", error);
    if (z && engine->class->download(engine, c, box->at, z, box->floats, error))
        return z;
    g_free(z);
    return NULL;
}

// From what was fetched to out.
static gboolean shrink_fetched(WpEngine *engine, float *z, float *out, const WpRule *rule,
                               guint64 *kept, LithoRun *run, GError **error)
{
    const WpBox *box = &engine->geometry->boxes[0];
    WpBox samples = *box;
    const WpRule local = {.soft = rule->soft, .drops = rule->drops, .local = rule->coarse};
    const double start = litho_now_ms();
    guint64 count = 0;
    samples.floats = box->floats / 2;
    float *x = z + box->floats, *y = x + samples.floats;
    convert(box, z, x, FALSE);
    if (!wp_cpu_local(&samples, x, y, &local, litho_run_threads(run), run, &count, error))
        return FALSE;
    convert(box, z, y, TRUE);
    kept[0] += count;
    litho_run_time(run, "coarse box", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return engine->class->upload(engine, z, out, box->at, box->floats, error);
}

gboolean wp_coarse_shrink(WpEngine *engine, const float *c, float *out, const WpRule *rule,
                          guint64 *kept, LithoRun *run, GError **error)
{
    g_autofree float *z = fetch(engine, c, error);
    return z && shrink_fetched(engine, z, out, rule, kept, run, error);
}

gboolean wp_shrink_all(WpEngine *engine, const float *c, float *out, const WpRule *rule,
                       guint64 *kept, LithoRun *run, GError **error)
{
    g_autofree float *z = rule->coarse ? fetch(engine, c, error) : NULL;
    if ((rule->coarse && !z) || !engine->class->shrink(engine, c, c, out, rule, kept, error))
        return FALSE;
    return !z || shrink_fetched(engine, z, out, rule, kept, run, error);
}
