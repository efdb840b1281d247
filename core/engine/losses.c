// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/losses.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

enum { LEAST_BAND = 64, WINDOW = 32, LAGS = 6 };
#define EVENTS_LEAVE 0.15 // a share above this reads so, see litho_leak_reading()
#define CLEARLY_MORE 0.03
#define WORTH_TELLING 0.01 // of the input's energy in the band

static const float *row(const LithoCube *cube, gint64 i, gint64 j)
{
    return litho_cube_trace(cube, i, j) - cube->held.lo[LITHO_SAMPLE];
}

static gboolean is_present(const LithoCube *in, const LithoCube *out, gint64 i, gint64 j)
{
    return litho_cube_is_live(in, i, j) && litho_cube_is_live(out, i, j);
}

// The removed part of one trace over [from, to), 0 where it is no number; its energy.
static double removed_of(const LithoCube *in, const LithoCube *out, gint64 i, gint64 j, gint64 from,
                         gint64 to, float *r, double *input)
{
    const float *y = row(in, i, j), *f = row(out, i, j);
    double energy = 0;
    for (gint64 t = from; t < to; t++) {
        const float d = y[t] - f[t];
        const gboolean good = fabsf(d) <= G_MAXFLOAT;
        r[t - from] = good ? d : 0;
        energy += good ? (double)d * d : 0;
        if (input && good)
            *input += (double)y[t] * y[t];
    }
    return energy;
}

// The greatest squared correlation of a's window with those of b within LAGS of `at`.
static double correlation(const float *a, const float *b, gint64 at, gint64 n)
{
    double most = 0, aa = 0;
    for (int t = 0; t < WINDOW; t++)
        aa += (double)a[t] * a[t];
    for (gint64 lag = MAX(-LAGS, -at); lag <= LAGS && at + lag + WINDOW <= n; lag++) {
        const float *c = b + at + lag;
        float ab = 0, bb = 0;
        for (int t = 0; t < WINDOW; t++) {
            ab += a[t] * c[t];
            bb += c[t] * c[t];
        }
        if (aa > 0 && bb > 0 && ab > 0)
            most = MAX(most, (double)ab * ab / (aa * bb));
    }
    return most;
}

typedef struct Common {
    double weight, aligned, apart;
} Common;

// Adds the windows of two neighbours: correlated where they lie and a window apart.
static void add_pair(const float *a, const float *b, gint64 n, Common *c)
{
    for (gint64 at = 0; at + WINDOW <= n; at += WINDOW) {
        const gint64 other = at + 2 * WINDOW <= n ? at + WINDOW : at - WINDOW;
        double energy = 0;
        for (int t = 0; t < WINDOW; t++)
            energy += (double)a[at + t] * a[at + t];
        if (other < 0 || !(energy > 0))
            continue;
        c->weight += energy;
        c->aligned += energy * correlation(a + at, b, at, n);
        c->apart += energy * correlation(a + at, b, other, n);
    }
}

// Energies and the common share of one band; neighbours along crosslines, or along inlines where
// there is one crossline.
static gboolean judge_band(const LithoCube *in, const LithoCube *out, LithoBox box, LithoRun *run,
                           struct LithoLossBand *band, GError **error)
{
    const gint64 n = litho_box_size(box, LITHO_SAMPLE);
    const gboolean along_inline = litho_box_size(box, 1) < 2;
    const gint64 lines = litho_box_size(box, along_inline),
                 traces = litho_box_size(box, !along_inline);
    g_autofree float *memory = g_try_new(float, 2 * n);
    if (!memory)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for two traces");
    float *last = memory, *here = memory + n;
    Common c = {0};
    for (gint64 line = 0; line < lines; line++) {
        gboolean has_last = FALSE;
        for (gint64 x = 0; x < traces; x++) {
            const gint64 i = box.lo[0] + (along_inline ? x : line);
            const gint64 j = box.lo[1] + (along_inline ? line : x);
            if (!litho_run_checkpoint(run))
                return litho_run_step(run, 0, 1, error);
            if (!is_present(in, out, i, j)) {
                has_last = FALSE;
                continue;
            }
            band->removed += removed_of(in, out, i, j, box.lo[2], box.hi[2], here, &band->input);
            if (has_last)
                add_pair(last, here, n, &c);
            float *swap = last;
            last = here;
            here = swap;
            has_last = TRUE;
        }
    }
    if (c.weight > 0)
        band->common = sqrt(MAX(c.aligned - c.apart, 0) / c.weight);
    return TRUE;
}

gboolean litho_losses(const LithoCube *in, const LithoCube *out, LithoBox area,
                      const LithoSimilarityNoise *noise, LithoRun *run, LithoLosses *losses,
                      GError **error)
{
    const gint64 n = litho_box_size(area, LITHO_SAMPLE);
    memset(losses, 0, sizeof *losses);
    losses->n = (guint)CLAMP(n / LEAST_BAND, 1, LITHO_LOSS_BANDS);
    if (!litho_similarity_leak(in, out, area, NULL, noise, run, &losses->leak, error))
        return FALSE;
    for (guint k = 0; k < losses->n; k++) {
        struct LithoLossBand *band = &losses->band[k];
        LithoBox box = area;
        LithoLeak leak;
        box.lo[2] = band->from = area.lo[2] + n * k / losses->n;
        box.hi[2] = band->to = area.lo[2] + n * (k + 1) / losses->n;
        if (!litho_similarity_leak(in, out, box, NULL, noise, run, &leak, error) ||
            !judge_band(in, out, box, run, band, error))
            return FALSE;
        band->similar = leak.beside_noise;
    }
    return TRUE;
}

// Whether a share of the removed energy is told to be events, and more of them than before.
static gboolean leaves_more(double share_now, double removed_now, double share, double removed,
                            double input)
{
    return share > EVENTS_LEAVE && share > share_now + CLEARLY_MORE &&
           share * removed > share_now * removed_now && share * removed > WORTH_TELLING * input;
}

gboolean litho_losses_grow(const LithoLosses *now, const LithoLosses *found, const LithoGrid *grid,
                           char *why, gsize size)
{
    const LithoLeak *a = &now->leak, *b = &found->leak;
    if (leaves_more(a->beside_noise, a->removed, b->beside_noise, b->removed, 0)) {
        snprintf(why, size,
                 _("%.0f %% of the removed energy resembles the output, %.0f %% with the present "
                   "settings"),
                 100 * b->beside_noise, 100 * a->beside_noise);
        return TRUE;
    }
    for (guint k = 0; k < MIN(now->n, found->n); k++) {
        const struct LithoLossBand *p = &now->band[k], *q = &found->band[k];
        const gboolean similar =
            leaves_more(p->similar, p->removed, q->similar, q->removed, q->input);
        if (!similar && !leaves_more(p->common, p->removed, q->common, q->removed, q->input))
            continue;
        const LithoAxis *axis = &grid->axis[LITHO_SAMPLE];
        snprintf(why, size,
                 _("%.0f %% of the energy removed between %.4g and %.4g %s %s, %.0f %% with "
                   "the present settings"),
                 100 * (similar ? q->similar : q->common), litho_axis_value(axis, (double)q->from),
                 litho_axis_value(axis, (double)q->to), grid->is_depth ? "m" : "s",
                 similar ? _("resembles the output") : _("goes from trace to trace as events do"),
                 100 * (similar ? p->similar : p->common));
        return TRUE;
    }
    return FALSE;
}
