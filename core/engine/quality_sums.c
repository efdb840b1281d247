// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/quality_sums.h"

#include <math.h>
#include <string.h>

#include "core/engine/probe.h"

const float *litho_quality_row(const LithoCube *cube, gint64 i, gint64 j)
{
    return litho_cube_trace(cube, i, j) - cube->held.lo[LITHO_SAMPLE];
}

// The pointers are NULL where there is no such cube.
typedef struct Trace {
    const float *y, *f, *b, *g, *guess;
    const double *weight; // by index in the grid
    gint64 from, to;
} Trace;

// Sums stand in registers along a trace: through a pointer each sample would wait for memory.
static void sum_removed(const Trace *t, LithoQualitySums *sums)
{
    gint64 n = 0;
    double energy = 0, removed = 0;
    for (gint64 k = t->from; k < t->to; k++) {
        const double y = t->y[k], r = y - t->f[k];
        if (!isfinite(r))
            continue;
        n++;
        energy += y * y;
        removed += r * r;
    }
    sums->n += n;
    sums->energy += energy;
    sums->removed += removed;
}

static void sum_probed(const Trace *t, LithoQualitySums *sums)
{
    gint64 n = 0;
    double yy = 0, rr = 0, yr = 0, div = 0, pass = 0;
    for (gint64 k = t->from; k < t->to; k++) {
        const double y = t->y[k], r = y - t->f[k];
        const gboolean muted = y == 0 && t->b[k] == 0;
        if (!isfinite(r) || muted)
            continue;
        n++;
        yy += y * y;
        rr += r * r;
        yr += y * r;
        const double moves = ((double)t->g[k] - t->f[k]) / LITHO_QUALITY_STEP;
        div += t->b[k] * moves;
        pass += moves * moves;
    }
    sums->n += n;
    sums->energy += yy;
    sums->removed += rr;
    sums->yy += yy;
    sums->rr += rr;
    sums->yr += yr;
    sums->div += div;
    sums->pass += pass;
    sums->scatter += div * div;
}

static gboolean is_muted(const Trace *t, gint64 k)
{
    return t->y[k] == 0 && t->b[k] == 0;
}

static double fourth_difference(const double r[5])
{
    return r[0] + r[4] - 4 * (r[1] + r[3]) + 6 * r[2];
}

// The noise near Nyquist, where no event is that a filter bends, by fourth differences along the
// trace, and the probe's likewise.
static void sum_rough(const Trace *t, LithoQualitySums *sums)
{
    double rough = 0, probe = 0, n = 0, seen_rough = 0, seen_probe = 0, seen_n = 0;
    double r[5] = {0}, b[5] = {0};
    gint64 run = 0; // samples that are not muted, one after the other
    for (gint64 k = t->from; k < t->to; k++) {
        memmove(r, r + 1, 4 * sizeof *r);
        memmove(b, b + 1, 4 * sizeof *b);
        r[4] = (double)t->y[k] - t->f[k];
        b[4] = t->b[k] - ((double)t->g[k] - t->f[k]) / LITHO_QUALITY_STEP;
        run = is_muted(t, k) || !isfinite(r[4] + b[4]) ? 0 : run + 1;
        if (run < 5)
            continue;
        const double own = fourth_difference(r), of_probe = fourth_difference(b);
        const double w = t->weight[k - 2];
        n++;
        rough += own * own;
        probe += of_probe * of_probe;
        seen_n += w;
        seen_rough += w * own * own;
        seen_probe += w * of_probe * of_probe;
    }
    sums->rough_n += n;
    sums->rough += rough;
    sums->rough_probe += probe;
    sums->seen_rough_n += seen_n;
    sums->seen_rough += seen_rough;
    sums->seen_rough_probe += seen_probe;
}

// The sums of samples by their weight.
static void sum_seen(const Trace *t, LithoQualitySums *sums)
{
    for (gint64 k = t->from; t->weight && k < t->to; k++) {
        const double r = (double)t->y[k] - t->f[k], w = t->weight[k];
        if (!isfinite(r) || is_muted(t, k))
            continue;
        const double moves = ((double)t->g[k] - t->f[k]) / LITHO_QUALITY_STEP;
        sums->bb += t->b[k] * t->b[k];
        sums->seen_bb += w * t->b[k] * t->b[k];
        sums->seen += w;
        sums->unseen += fabs(1 - w);
        sums->unseen_squared += (1 - w) * (1 - w);
        sums->seen_rr += w * r * r;
        sums->seen_div += w * t->b[k] * moves;
        sums->seen_pass += w * moves * moves;
    }
    if (t->weight)
        sum_rough(t, sums);
}

static gboolean bursts(const Trace *t)
{
    for (gint64 k = t->from; t->guess && k < t->to; k++)
        if (t->guess[k] != t->y[k])
            return TRUE;
    return FALSE;
}

// Stretches between bursts as traces of their own would scatter less: the trace has one product.
static void sum_bursting(const Trace *t, LithoQualitySums *sums)
{
    LithoQualitySums own = {0};
    for (gint64 k = t->from; k < t->to; k++) {
        const double y = t->y[k], r = y - t->f[k];
        Trace one = *t;
        one.from = k;
        one.to = k + 1;
        if (t->guess[k] == t->y[k]) {
            sum_probed(&one, &own);
        } else if (isfinite(r)) {
            sum_removed(&one, &own);
            own.n_bursts++;
            const double guess = t->guess[k], off = guess - t->f[k];
            own.guessed += guess * guess;
            own.off += off * off;
            own.guess_off += guess * off;
        }
    }
    sums->n += own.n;
    sums->energy += own.energy;
    sums->removed += own.removed;
    sums->n_bursts += own.n_bursts;
    sums->guessed += own.guessed;
    sums->off += own.off;
    sums->guess_off += own.guess_off;
    sums->yy += own.yy;
    sums->rr += own.rr;
    sums->yr += own.yr;
    sums->div += own.div;
    sums->pass += own.pass;
    sums->scatter += own.div * own.div;
}

static void sum_inline(const LithoQualityCase *c, const LithoCube *probe, const LithoCube *moved,
                       gint64 i, LithoQualitySums *sums)
{
    for (gint64 j = c->area.lo[1]; j < c->area.hi[1]; j++) {
        Trace t = {0};
        if (!litho_trace_span(c->in, i, j, c->area.lo[2], c->area.hi[2], &t.from, &t.to))
            continue;
        t.y = litho_quality_row(c->in, i, j);
        t.f = litho_quality_row(c->out, i, j);
        if (!probe) {
            sum_removed(&t, sums);
            continue;
        }
        t.b = litho_quality_row(probe, i, j);
        t.g = litho_quality_row(moved, i, j);
        t.guess = c->guesses ? litho_quality_row(c->guesses, i, j) : NULL;
        t.weight = c->weight ? c->weight - c->area.lo[2] : NULL;
        if (bursts(&t)) {
            sum_bursting(&t, sums);
        } else {
            sum_probed(&t, sums);
            sum_seen(&t, sums);
        }
    }
}

static void add(LithoQualitySums *to, const LithoQualitySums *from)
{
    to->n += from->n;
    to->energy += from->energy;
    to->removed += from->removed;
    to->n_bursts += from->n_bursts;
    to->yy += from->yy;
    to->rr += from->rr;
    to->yr += from->yr;
    to->div += from->div;
    to->scatter += from->scatter;
    to->pass += from->pass;
    to->guessed += from->guessed;
    to->off += from->off;
    to->guess_off += from->guess_off;
    to->bb += from->bb;
    to->seen_bb += from->seen_bb;
    to->seen += from->seen;
    to->unseen += from->unseen;
    to->unseen_squared += from->unseen_squared;
    to->seen_rr += from->seen_rr;
    to->seen_div += from->seen_div;
    to->seen_pass += from->seen_pass;
    to->rough += from->rough;
    to->rough_n += from->rough_n;
    to->seen_rough += from->seen_rough;
    to->seen_rough_n += from->seen_rough_n;
    to->rough_probe += from->rough_probe;
    to->seen_rough_probe += from->seen_rough_probe;
}

// Threads that share the area: a team meets later than one thread sums a few traces. A build
// without OpenMP, as the thread sanitizer's, asks nobody.
G_GNUC_UNUSED static int team(const LithoQualityCase *c, const LithoRun *run)
{
    enum { WORTH = 1 << 17 }; // samples a thread: 0.3 ms of one core
    return (int)CLAMP(litho_box_count(c->area) / WORTH, 1, litho_run_threads(run));
}

void litho_quality_sum(const LithoQualityCase *c, const LithoCube *probe, const LithoCube *moved,
                       const LithoRun *run, LithoQualitySums *sums)
{
    const gint64 n = litho_box_size(c->area, 0), traces = n * litho_box_size(c->area, 1);
    g_autofree LithoQualitySums *inlines = g_new0(LithoQualitySums, MAX(n, 1));
    *sums = (LithoQualitySums){0};
#pragma omp parallel for num_threads(team(c, run)) schedule(static)
    for (gint64 i = 0; i < n; i++)
        sum_inline(c, probe, moved, c->area.lo[0] + i, &inlines[i]);
    for (gint64 i = 0; i < n; i++)
        add(sums, &inlines[i]);
    // Traces' sums are nearly independent: n times their variance is that of the total.
    if (traces > 0)
        sums->scatter = MAX(sums->scatter - sums->div * sums->div / traces, 0);
}

void litho_quality_sum_errors(const LithoQualityCase *c, const LithoCube *reference,
                              gboolean filled, LithoQualityErrors *errors)
{
    *errors = (LithoQualityErrors){0};
    for (gint64 i = c->area.lo[0]; i < c->area.hi[0]; i++)
        for (gint64 j = c->area.lo[1]; j < c->area.hi[1]; j++) {
            const gboolean recorded = litho_cube_is_live(c->in, i, j);
            if (filled ? recorded || !litho_cube_is_live(c->out, i, j) : !recorded)
                continue;
            const float *s =
                litho_quality_row(reference, i + c->shift[0], j + c->shift[1]) + c->shift[2];
            const float *y = litho_quality_row(c->in, i, j), *f = litho_quality_row(c->out, i, j);
            double ss = 0, ee = 0, nn = 0, sf = 0;
            for (gint64 t = c->area.lo[2]; t < c->area.hi[2]; t++) {
                const double e = (double)f[t] - s[t], n = (double)y[t] - s[t];
                if (!isfinite(e + n))
                    continue;
                ss += (double)s[t] * s[t];
                ee += e * e;
                nn += n * n;
                sf += (double)s[t] * f[t];
            }
            errors->traces++;
            errors->ss += ss;
            errors->ee += ee;
            errors->nn += nn;
            errors->sf += sf;
        }
}

// --- what the level saw --------------------------------------------------------------------------

void litho_quality_scale_probe(const LithoNoise *noise, LithoQualitySums *s)
{
    const double variance = noise->total * noise->total;
    if (!(s->seen > 0) || !(s->bb > 0) || !(s->seen_bb > 0))
        return;
    const double all = (double)(s->n - s->n_bursts) * variance / s->bb;
    const double seen = s->seen * variance / noise->ends / s->seen_bb;
    s->div *= all;
    s->pass *= all;
    s->scatter *= all * all;
    s->seen_div *= seen;
    s->seen_pass *= seen;
}

// TRUE where windows reach from half a window before the area's traces to half a window behind
// them, along inlines or crosslines.
static gboolean is_between(const LithoNoise *noise, const LithoQualityCase *c, int axis)
{
    const double half = fmax(noise->place_step[axis], 8);
    const double first = noise->first_place[axis] - (double)c->shift[axis];
    const double last = first + noise->place_step[axis] * (noise->n_places[axis] - 1);
    const double off = last - (double)c->area.hi[axis];
    return fabs(first - (double)c->area.lo[axis]) < 1 && off > -1.25 && off < half;
}

double *litho_quality_weights(const LithoNoise *noise, const LithoQualityCase *c)
{
    enum { FEW = 3 };
    const gint64 n = litho_box_size(c->area, 2), window = 2 * ((gint64)noise->n - 1);
    const double step = noise->place_step[2];
    const double first = noise->first_place[2] - 0.5 * (double)(window - 1) - (double)c->shift[2];
    const double last = first + step * (noise->n_places[2] - 1);
    if (!noise->local && (noise->n_places[2] < FEW || c->guesses || !is_between(noise, c, 0) ||
                          !is_between(noise, c, 1)))
        return NULL;
    if (noise->n_places[2] == 0 || fabs(first - (double)c->area.lo[2]) > 0.25 ||
        fabs(last + (double)window - (double)c->area.hi[2]) > 0.25)
        return NULL;
    double *weight = g_new0(double, n);
    for (int k = 0; k < noise->n_places[2]; k++) {
        const gint64 at = (gint64)(k * step + 1e-6); // as noise_start_of()
        for (gint64 t = 0; t < window && at + t < n; t++)
            weight[at + t] += pow(sin(G_PI * ((double)t + 0.5) / (double)window), 2);
    }
    double sum = 0, squares = 0; // windows may lie closer than half of their length
    for (gint64 t = 0; t < n; t++) {
        sum += weight[t];
        squares += weight[t] * weight[t];
    }
    for (gint64 t = 0; t < n; t++)
        weight[t] *= sum / squares;
    return weight;
}
