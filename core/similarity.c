// SPDX-License-Identifier: GPL-3.0-or-later
//
// The Gaussian mean is separable: products are summed along one axis straight from the cubes, then
// along the others, each time over no more than the later sums need. The weights cancel in c, so
// that absent traces need no bookkeeping: they add nothing to any of the sums.
#include "core/similarity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "core/error.h"
#include "core/sort.h"
#include "core/text.h"

enum { OO, RR, OR, NOISE, SUMS }; // the last one where a probe tells it

typedef struct Job {
    const LithoCube *in, *out;
    const LithoSimilarityNoise *noise; // NULL = none
    int sums;
    LithoSimilarityPlan plan;
    LithoRun *run;
    int threads;
} Job;

// Sums of one box: SUMS floats a sample, plane by plane.
typedef struct Sums {
    LithoBox box;
    float *at[SUMS];
} Sums;

LithoSimilarityWidths litho_similarity_widths(void)
{
    return (LithoSimilarityWidths){.traces = {3, 3}, .seconds = 0.020};
}

LithoSimilarityWidths litho_similarity_widths_or_default(const LithoSimilarityWidths *w)
{
    return w && (w->traces[0] > 0 || w->traces[1] > 0 || w->seconds > 0)
               ? *w
               : litho_similarity_widths();
}

gboolean litho_similarity_widths_equal(LithoSimilarityWidths a, LithoSimilarityWidths b)
{
    return a.traces[0] == b.traces[0] && a.traces[1] == b.traces[1] &&
           fabs(a.seconds - b.seconds) < 1e-6;
}

gboolean litho_similarity_widths_parse(const char *text, LithoSimilarityWidths *widths,
                                       GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    double x[3] = {-1, -1, -1};
    const gboolean three = g_strv_length(words) == 3;
    for (int k = 0; three && k < 3; k++) {
        char *end;
        const double value = g_ascii_strtod(words[k], &end);
        x[k] = end != words[k] && *end == 0 && isfinite(value) ? value : -1;
    }
    const double most_ms = 1000 * LITHO_SIMILARITY_MOST_SECONDS;
    const gboolean legal = MIN(MIN(x[0], x[1]), x[2]) >= 0 && MAX(MAX(x[0], x[1]), x[2]) > 0 &&
                           MAX(x[0], x[1]) <= LITHO_SIMILARITY_MOST_TRACES && x[2] <= most_ms;
    if (!legal)
        return litho_refuse(
            error, LITHO_ERROR_PARAMETER,
            "'%s' is not three half widths: up to %d inlines, up to %d crosslines and "
            "up to %.0f ms are needed, as in 3,3,20",
            text, LITHO_SIMILARITY_MOST_TRACES, LITHO_SIMILARITY_MOST_TRACES, most_ms);
    *widths = (LithoSimilarityWidths){.traces = {x[0], x[1]}, .seconds = x[2] / 1000};
    return TRUE;
}

char *litho_similarity_widths_print(LithoSimilarityWidths w)
{
    char text[64];
    litho_text_put(text, sizeof text, "%g,%g,%g", w.traces[0], w.traces[1], 1000 * w.seconds);
    return g_strdup(text);
}

// --- weights ------------------------------------------------------------------------------------

static double half_width(const LithoGrid *grid, const LithoSimilarityWidths *widths, int axis)
{
    const LithoSimilarityWidths w = litho_similarity_widths_or_default(widths);
    if (axis != LITHO_SAMPLE)
        return w.traces[axis];
    return grid->is_depth ? 250 * w.seconds : w.seconds / fabs(grid->axis[LITHO_SAMPLE].step);
}

// Standard deviation of a Gaussian of this half width at half height.
static double deviation(double width)
{
    return width / sqrt(2 * G_LN2);
}

static int reach_of(const LithoGrid *grid, const LithoSimilarityWidths *widths, int axis)
{
    double reach = ceil(3 * deviation(half_width(grid, widths, axis)));
    return (int)CLAMP(reach, 0, 4096);
}

static LithoSimilarityKernel kernel_new(const LithoGrid *grid, const LithoSimilarityWidths *widths,
                                        int axis)
{
    const double sd = deviation(half_width(grid, widths, axis));
    LithoSimilarityKernel k = {.reach = reach_of(grid, widths, axis)};
    k.weight = g_new(float, 2 * k.reach + 1);
    double sum = 0;
    for (int m = -k.reach; m <= k.reach; m++)
        sum += sd > 0 ? exp(-0.5 * m * m / (sd * sd)) : 1;
    for (int m = -k.reach; m <= k.reach; m++)
        k.weight[m + k.reach] = (float)((sd > 0 ? exp(-0.5 * m * m / (sd * sd)) : 1) / sum);
    return k;
}

LithoBox litho_similarity_reach(const LithoGrid *grid, LithoBox box,
                                const LithoSimilarityWidths *widths)
{
    gint64 halo[3];
    for (int axis = 0; axis < 3; axis++)
        halo[axis] = reach_of(grid, widths, axis);
    return litho_box_grow(grid, box, halo);
}

// The axis along which the box is thinnest beside its reach comes first: what is left to sum is
// thin then. A slice costs a tenth of what it does the other way round.
static void order_axes(LithoSimilarityPlan *plan)
{
    double part[3];
    for (int axis = 0; axis < 3; axis++)
        part[axis] =
            (double)litho_box_size(plan->box, axis) / (double)litho_box_size(plan->reach, axis);
    for (int k = 0; k < 3; k++)
        plan->order[k] = k;
    for (int k = 0; k < 2; k++)
        for (int m = k; m >= 0 && part[plan->order[m + 1]] < part[plan->order[m]]; m--) {
            const int other = plan->order[m];
            plan->order[m] = plan->order[m + 1];
            plan->order[m + 1] = other;
        }
}

static void plan_init(LithoSimilarityPlan *plan, const LithoCube *in, const LithoCube *out,
                      LithoBox box, const LithoSimilarityWidths *widths)
{
    plan->box = box;
    plan->reach = litho_box_intersect(litho_similarity_reach(&in->grid, box, widths),
                                      litho_box_intersect(in->held, out->held));
    for (int axis = 0; axis < 3; axis++)
        plan->kernel[axis] = kernel_new(&in->grid, widths, axis);
    order_axes(plan);
}

static void plan_clear(LithoSimilarityPlan *plan)
{
    for (int axis = 0; axis < 3; axis++)
        g_free(plan->kernel[axis].weight);
}

// --- sums ---------------------------------------------------------------------------------------

static void sums_clear(Sums *s)
{
    for (int q = 0; q < SUMS; q++)
        g_free(s->at[q]);
    memset(s, 0, sizeof *s);
}

static gboolean sums_init(Sums *s, const Job *job, LithoBox box, GError **error)
{
    memset(s, 0, sizeof *s);
    s->box = box;
    for (int q = 0; q < job->sums; q++)
        if (!(s->at[q] = g_try_malloc0_n((gsize)litho_box_count(box), sizeof(float)))) {
            sums_clear(s);
            return litho_refuse(error, LITHO_ERROR_MEMORY,
                                "there is no memory for the similarity of this area");
        }
    return TRUE;
}

static const float *row_of(const LithoCube *cube, gint64 i, gint64 j, gint64 t)
{
    return litho_cube_trace(cube, i, j) + (t - cube->held.lo[2]);
}

static gboolean is_present(const Job *job, gint64 i, gint64 j)
{
    return litho_cube_is_live(job->in, i, j) && litho_cube_is_live(job->out, i, j);
}

// Adds weight * (o o, r r, o r) of one trace; samples that are not finite are left out.
static void add_products(const Job *job, gint64 i, gint64 j, float weight, gint64 n, float *oo,
                         float *rr, float * or)
{
    const float *a = row_of(job->in, i, j, job->plan.reach.lo[2]);
    const float *b = row_of(job->out, i, j, job->plan.reach.lo[2]);
#pragma omp simd
    for (gint64 t = 0; t < n; t++) {
        const gboolean finite = fabsf(a[t]) + fabsf(b[t]) <= G_MAXFLOAT;
        const float o = finite ? b[t] : 0, r = finite ? a[t] - b[t] : 0;
        oo[t] += weight * o * o;
        rr[t] += weight * r * r;
        or [t] += weight * o * r;
    }
}

// Adds weight * Jb (b - Jb) of one trace, with |Jb|^2 as far as it passes.
static void add_noise(const Job *job, gint64 i, gint64 j, gint64 first, float weight, gint64 n,
                      float *to)
{
    const float step = (float)(1 / job->noise->step), passing = (float)job->noise->passing;
    const float *o = row_of(job->out, i, j, first);
    const float *b = row_of(job->noise->probe, i, j, first);
    const float *moved = row_of(job->noise->moved, i, j, first);
#pragma omp simd
    for (gint64 t = 0; t < n; t++) {
        const float passes = step * (moved[t] - o[t]);
        to[t] += fabsf(passes) <= G_MAXFLOAT ? weight * passes * (b[t] - passing * passes) : 0;
    }
}

static void add_row(float *to, const float *from, float weight, gint64 lo, gint64 hi)
{
#pragma omp simd
    for (gint64 t = lo; t < hi; t++)
        to[t] += weight * from[t];
}

// Means along a trace: `to` holds n of the `tall` samples of `from`, from sample `shift` on.
static void add_shifted(const LithoSimilarityKernel *k, const float *from, gint64 tall,
                        gint64 shift, gint64 n, float *to)
{
    for (int m = -k->reach; m <= k->reach; m++)
        add_row(to, from + shift + m, k->weight[m + k->reach], MAX(0, -(shift + m)),
                MIN(n, tall - shift - m));
}

// The sum of add_noise() around one sample.
static float noise_at(const Job *job, gint64 i, gint64 j, gint64 lo, gint64 n, const float *w)
{
    const float step = (float)(1 / job->noise->step), passing = (float)job->noise->passing;
    const float *o = row_of(job->out, i, j, lo), *b = row_of(job->noise->probe, i, j, lo);
    const float *moved = row_of(job->noise->moved, i, j, lo);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (gint64 m = 0; m < n; m++) {
        const float passes = step * (moved[m] - o[m]);
        sum += fabsf(passes) <= G_MAXFLOAT ? w[m] * passes * (b[m] - passing * passes) : 0;
    }
    return sum;
}

// Products of one trace, summed along it around one sample: what a time slice needs.
static void products_at(const Job *job, gint64 i, gint64 j, gint64 at, Sums *to)
{
    const LithoSimilarityKernel *k = &job->plan.kernel[2];
    const gint64 t = to->box.lo[2];
    const gint64 lo = MAX(job->plan.reach.lo[2], t - k->reach);
    const gint64 n = MIN(job->plan.reach.hi[2], t + k->reach + 1) - lo;
    const float *a = row_of(job->in, i, j, lo), *b = row_of(job->out, i, j, lo);
    const float *w = k->weight + (lo - t + k->reach);
    float oo = 0, rr = 0, or = 0;
#pragma omp simd reduction(+ : oo, rr, or)
    for (gint64 m = 0; m < n; m++) {
        const gboolean finite = fabsf(a[m]) + fabsf(b[m]) <= G_MAXFLOAT;
        const float o = finite ? b[m] : 0, r = finite ? a[m] - b[m] : 0;
        oo += w[m] * o * o;
        rr += w[m] * r * r;
        or += w[m] * o * r;
    }
    to->at[OO][at] = oo;
    to->at[RR][at] = rr;
    to->at[OR][at] = or ;
    if (job->noise)
        to->at[NOISE][at] = noise_at(job, i, j, lo, n, w);
}

// Products of one trace, summed along it.
static void products_down(const Job *job, gint64 i, gint64 j, gint64 at, Sums *to)
{
    const gint64 tall = litho_box_size(job->plan.reach, 2), n = litho_box_size(to->box, 2);
    g_autofree float *row = g_new0(float, SUMS *tall);
    if (!is_present(job, i, j))
        return;
    add_products(job, i, j, 1, tall, row, row + tall, row + 2 * tall);
    if (job->noise)
        add_noise(job, i, j, job->plan.reach.lo[2], 1, tall, row + NOISE * tall);
    for (int q = 0; q < job->sums; q++)
        add_shifted(&job->plan.kernel[2], row + q * tall, tall,
                    to->box.lo[2] - job->plan.reach.lo[2], n, to->at[q] + at);
}

// Products of a trace's neighbours along `axis`, summed.
static void products_across(const Job *job, int axis, gint64 i, gint64 j, gint64 at, Sums *to)
{
    const LithoSimilarityKernel *k = &job->plan.kernel[axis];
    for (int m = -k->reach; m <= k->reach; m++) {
        const gint64 x = axis == 0 ? i + m : i, y = axis == 1 ? j + m : j;
        const gint64 on_axis = axis == 0 ? x : y;
        const gint64 n = litho_box_size(to->box, 2);
        const float weight = k->weight[m + k->reach];
        if (on_axis < job->plan.reach.lo[axis] || on_axis >= job->plan.reach.hi[axis] ||
            !is_present(job, x, y))
            continue;
        add_products(job, x, y, weight, n, to->at[OO] + at, to->at[RR] + at, to->at[OR] + at);
        if (job->noise)
            add_noise(job, x, y, to->box.lo[2], weight, n, to->at[NOISE] + at);
    }
}

// Products straight from the cubes, summed along `axis`.
static void sum_products(const Job *job, int axis, Sums *to)
{
    const gint64 n1 = litho_box_size(to->box, 1), n2 = litho_box_size(to->box, 2);
    const gint64 traces = litho_box_size(to->box, 0) * n1;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 64)
    for (gint64 x = 0; x < traces; x++) {
        const gint64 i = to->box.lo[0] + x / n1, j = to->box.lo[1] + x % n1;
        if (!litho_run_checkpoint(job->run))
            continue;
        if (axis != LITHO_SAMPLE)
            products_across(job, axis, i, j, x * n2, to);
        else if (n2 > 1)
            products_down(job, i, j, x * n2, to);
        else if (is_present(job, i, j))
            products_at(job, i, j, x, to);
    }
}

// Sums of `from` along `axis`, one of the lines', where both hold a single sample a trace: the
// traces of an inline lie side by side.
static void sum_flat(const Job *job, int axis, const Sums *from, Sums *to)
{
    const LithoSimilarityKernel *k = &job->plan.kernel[axis];
    const gint64 n0 = litho_box_size(to->box, 0), n1 = litho_box_size(to->box, 1);
    const gint64 wide = litho_box_size(from->box, 1), there = litho_box_size(from->box, 0);
    const gint64 shift = to->box.lo[axis] - from->box.lo[axis];
#pragma omp parallel for num_threads(job->threads)
    for (gint64 i = 0; i < n0; i++)
        for (int q = 0; q < job->sums && litho_run_checkpoint(job->run); q++) {
            float *row = to->at[q] + i * n1;
            if (axis == LITHO_XLINE) {
                add_shifted(k, from->at[q] + i * wide, wide, shift, n1, row);
                continue;
            }
            for (int m = -k->reach; m <= k->reach; m++)
                if (i + shift + m >= 0 && i + shift + m < there)
                    add_row(row, from->at[q] + (i + shift + m) * wide, k->weight[m + k->reach], 0,
                            n1);
        }
}

// Sums of `from` along `axis`.
static void sum_along(const Job *job, int axis, const Sums *from, Sums *to)
{
    const LithoSimilarityKernel *k = &job->plan.kernel[axis];
    const gint64 n1 = litho_box_size(to->box, 1), n2 = litho_box_size(to->box, 2);
    const gint64 wide = litho_box_size(from->box, 1), tall = litho_box_size(from->box, 2);
    const gint64 traces = litho_box_size(to->box, 0) * n1, there = litho_box_size(from->box, axis);
    const gint64 shift = to->box.lo[axis] - from->box.lo[axis];
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 64)
    for (gint64 x = 0; x < traces; x++) {
        const gint64 i = x / n1, j = x % n1;
        if (!litho_run_checkpoint(job->run))
            continue;
        for (int q = 0; q < job->sums; q++) {
            float *row = to->at[q] + x * n2;
            if (axis == LITHO_SAMPLE) {
                add_shifted(k, from->at[q] + (i * wide + j) * tall, tall, shift, n2, row);
                continue;
            }
            for (int m = -k->reach; m <= k->reach; m++) {
                const gint64 at = (axis == 0 ? i : j) + shift + m;
                const gint64 trace = axis == 0 ? at * wide + j : i * wide + at;
                if (at >= 0 && at < there)
                    add_row(row, from->at[q] + trace * tall, k->weight[m + k->reach], 0, n2);
            }
        }
    }
}

// The three means over job->plan.box, into `means`.
static gboolean compute_means(const Job *job, Sums *means, GError **error)
{
    LithoBox box = job->plan.reach;
    Sums before = {0};
    for (int pass = 0; pass < 3; pass++) {
        const int axis = job->plan.order[pass];
        Sums now;
        box.lo[axis] = job->plan.box.lo[axis];
        box.hi[axis] = job->plan.box.hi[axis];
        if (!sums_init(&now, job, box, error)) {
            sums_clear(&before);
            return FALSE;
        }
        if (pass == 0)
            sum_products(job, axis, &now);
        else if (axis != LITHO_SAMPLE && litho_box_size(box, 2) == 1)
            sum_flat(job, axis, &before, &now);
        else
            sum_along(job, axis, &before, &now);
        sums_clear(&before);
        before = now;
    }
    *means = before;
    return TRUE;
}

// --- the answer ---------------------------------------------------------------------------------

// |c| of sample `k`; 0 where the output or the removed part is nothing.
static float similarity_at(const Sums *means, gint64 k)
{
    const double energy = (double)means->at[OO][k] * means->at[RR][k];
    return energy > 0 ? (float)MIN(fabs(means->at[OR][k]) / sqrt(energy), 1.0) : 0;
}

// The part of |c| that noise does not explain: none of it where noise explains more than there is,
// as where its level is told too high, and never more than all. An output louder than its input
// holds what a filter has spread from elsewhere, as into the quiet part above the first arrivals:
// what it takes away there is this with the other sign, and no event can leave that has not been
// there.
static float beside_noise(const Sums *means, gint64 k, float c)
{
    if (!means->at[NOISE])
        return c;
    const double oo = means->at[OO][k], or = means->at[OR][k];
    const double input = MAX(oo + means->at[RR][k] + 2 * or, 0);
    if (or == 0 || !(oo > 0))
        return 0;
    return c * (float)(CLAMP(1 - means->at[NOISE][k] / or, 0, 1) * MIN(input / oo, 1));
}

// A sample of the map: beside the noise where it is known, and faded where nothing is left.
static float shown_at(const Job *job, const Sums *means, gint64 k)
{
    const float own = beside_noise(means, k, similarity_at(means, k)), oo = means->at[OO][k];
    const double quiet = job->noise ? job->noise->quiet : 0;
    return oo >= quiet ? own : own * (float)MAX(1 + log10(oo / quiet + G_MINDOUBLE), 0);
}

// A sample of a mute: nothing there, before and after.
static gboolean is_muted(const Job *job, const float *in, const float *out, gint64 t)
{
    return in[t - job->in->held.lo[2]] == 0 && out[t - job->out->held.lo[2]] == 0;
}

static void fill_live(const Job *job, LithoCube *map)
{
    const LithoBox box = job->plan.box;
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++)
            map->live[litho_cube_trace_index(map, i, j)] = is_present(job, i, j);
}

static void fill_map(const Job *job, const Sums *means, LithoCube *map)
{
    fill_live(job, map);
    const gint64 n1 = litho_box_size(job->plan.box, 1), n2 = litho_box_size(job->plan.box, 2);
    const gint64 traces = litho_box_size(job->plan.box, 0) * n1;
#pragma omp parallel for num_threads(job->threads)
    for (gint64 x = 0; x < traces; x++) {
        const gint64 i = job->plan.box.lo[0] + x / n1, j = job->plan.box.lo[1] + x % n1;
        const gint64 first = job->plan.box.lo[2];
        const float *in = litho_cube_trace(job->in, i, j);
        const float *out = litho_cube_trace(job->out, i, j);
        for (gint64 t = 0; t < n2; t++)
            map->samples[x * n2 + t] = map->live[x] && !is_muted(job, in, out, first + t)
                                           ? shown_at(job, means, x * n2 + t)
                                           : 0;
    }
}

// Median of <o o> over present traces, from at most about 20000 samples spread evenly.
static float median_energy(const Job *job, const Sums *means)
{
    const gint64 n = litho_box_count(job->plan.box), n1 = litho_box_size(job->plan.box, 1);
    const gint64 n2 = litho_box_size(job->plan.box, 2);
    const gint64 stride = MAX(n / 20000, 1) | 1; // odd: no walking down the same samples
    g_autofree float *some = g_new(float, n / stride + 1);
    gsize count = 0;
    for (gint64 k = 0; k < n; k += stride)
        if (is_present(job, job->plan.box.lo[0] + k / n2 / n1, job->plan.box.lo[1] + k / n2 % n1))
            some[count++] = means->at[OO][k];
    qsort(some, count, sizeof *some, litho_compare_float);
    return count > 0 ? some[count / 2] : 0;
}

static void find_leak(const Job *job, const Sums *means, LithoLeak *leak)
{
    const gint64 n1 = litho_box_size(job->plan.box, 1), n2 = litho_box_size(job->plan.box, 2);
    const gint64 traces = litho_box_size(job->plan.box, 0) * n1;
    const float median = median_energy(job, means);
    double input = 0, removed = 0, similar = 0, beside = 0;
    float worst = 0;
    memset(leak, 0, sizeof *leak);
    for (gint64 x = 0; x < traces; x++) {
        const gint64 i = job->plan.box.lo[0] + x / n1, j = job->plan.box.lo[1] + x % n1;
        if (!is_present(job, i, j))
            continue;
        const float *a = row_of(job->in, i, j, job->plan.box.lo[2]);
        const float *b = row_of(job->out, i, j, job->plan.box.lo[2]);
        for (gint64 t = 0; t < n2; t++) {
            const gint64 k = x * n2 + t;
            const double r = (double)a[t] - b[t];
            if (!isfinite(r))
                continue;
            leak->count++;
            input += (double)a[t] * a[t];
            removed += r * r;
            const float c = similarity_at(means, k), own = beside_noise(means, k, c);
            const float leaves = own * own * means->at[RR][k];
            if (means->at[OO][k] <= median)
                continue;
            similar += c > LITHO_SIMILAR ? r * r : 0;
            beside += own > LITHO_SIMILAR ? r * r : 0;
            if (own > LITHO_SIMILAR && leaves > worst) {
                worst = leaves;
                leak->worst[0] = i;
                leak->worst[1] = j;
                leak->worst[2] = job->plan.box.lo[2] + t;
            }
        }
    }
    if (input > 0 && removed <= LITHO_LEAK_ROUNDING * input)
        removed = 0;
    leak->share = removed > 0 ? similar / removed : 0;
    leak->removed = input > 0 ? removed / input : 0;
    leak->beside_noise = removed > 0 ? beside / removed : 0;
    for (int axis = 0; axis < 3 && !(leak->beside_noise > 0); axis++)
        leak->worst[axis] = job->plan.box.lo[axis];
}

static gboolean check(const LithoCube *in, const LithoCube *out, LithoBox box, GError **error)
{
    if (!litho_grid_same_shape(&in->grid, &out->grid))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "similarity compares input and output of one shape; these two differ");
    if (litho_box_empty(box) || !litho_box_contains(in->held, box) ||
        !litho_box_contains(out->held, box))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the cubes do not hold the area whose similarity is asked for");
    return TRUE;
}

static LithoCube *map_new(const LithoCube *in, LithoBox box, GError **error)
{
    LithoCube *map = litho_cube_new_box(&in->grid, box, error);
    if (map)
        g_strlcpy(map->name, "similarity", sizeof map->name);
    return map;
}

static gboolean on_host(const Job *job, LithoCube **map, LithoLeak *leak, GError **error)
{
    Sums means = {0};
    gboolean ok = litho_cube_host(job->in, error) && litho_cube_host(job->out, error) &&
                  compute_means(job, &means, error) && litho_run_step(job->run, 0, 1, error);
    LithoCube *cube = ok && map ? map_new(job->in, job->plan.box, error) : NULL;
    ok = ok && (cube || !map);
    if (cube)
        fill_map(job, &means, cube);
    if (ok && leak)
        find_leak(job, &means, leak);
    if (cube)
        *map = cube;
    sums_clear(&means);
    return ok;
}

// The map of an output on a device, which stays there. NULL: not offered, or the device has failed
// or has no memory for it, which leaves the host to do it.
static LithoCube *on_device(const Job *job)
{
    const LithoBuffer *there = job->out->device;
    if (!there || !there->backend->similarity)
        return NULL;
    LithoCube *map = map_new(job->in, job->plan.box, NULL);
    if (map && there->backend->similarity(&job->plan, job->in, job->out, map->samples, NULL)) {
        fill_live(job, map);
        return map;
    }
    litho_cube_unref(map);
    return NULL;
}

// A team of threads takes longer to meet than a slice of moderate size to sum, and spins meanwhile.
static int threads_for(const LithoSimilarityPlan *plan, const LithoRun *run)
{
    const double least = 1 << 24; // multiply-adds that a thread more is worth
    double work = 0;
    LithoBox box = plan->reach;
    for (int pass = 0; pass < 3; pass++) {
        const int axis = plan->order[pass];
        box.lo[axis] = plan->box.lo[axis];
        box.hi[axis] = plan->box.hi[axis];
        work += NOISE * (2.0 * plan->kernel[axis].reach + 1) * (double)litho_box_count(box);
    }
    return (int)MIN(litho_run_threads(run), 1 + work / least);
}

// Either is NULL where it is not asked for.
static gboolean with_noise(const LithoCube *in, const LithoCube *out, LithoBox box,
                           const LithoSimilarityWidths *widths, const LithoSimilarityNoise *noise,
                           LithoRun *run, LithoCube **map, LithoLeak *leak, GError **error)
{
    if (!check(in, out, box, error))
        return FALSE;
    Job job = {.in = in, .out = out, .noise = noise, .sums = noise ? SUMS : NOISE, .run = run};
    plan_init(&job.plan, in, out, box, widths);
    if (noise)
        job.plan.reach = litho_box_intersect(
            job.plan.reach, litho_box_intersect(noise->probe->held, noise->moved->held));
    job.threads = threads_for(&job.plan, run);
    litho_run_begin(run, "similarity", NULL);
    const gboolean ok = on_host(&job, map, leak, error);
    plan_clear(&job.plan);
    return ok;
}

gboolean litho_similarity_leak(const LithoCube *in, const LithoCube *out, LithoBox box,
                               const LithoSimilarityWidths *widths,
                               const LithoSimilarityNoise *noise, LithoRun *run, LithoLeak *leak,
                               GError **error)
{
    return with_noise(in, out, box, widths, noise, run, NULL, leak, error);
}

gboolean litho_similarity_beside(const LithoCube *in, const LithoCube *out, LithoBox box,
                                 const LithoSimilarityWidths *widths,
                                 const LithoSimilarityNoise *noise, LithoRun *run, LithoCube **map,
                                 GError **error)
{
    return with_noise(in, out, box, widths, noise, run, map, NULL, error);
}

gboolean litho_similarity(const LithoCube *in, const LithoCube *out, LithoBox box,
                          const LithoSimilarityWidths *widths, LithoRun *run, LithoCube **map,
                          GError **error)
{
    if (!check(in, out, box, error))
        return FALSE;
    Job job = {.in = in, .out = out, .sums = NOISE, .run = run};
    plan_init(&job.plan, in, out, box, widths);
    job.threads = threads_for(&job.plan, run);
    litho_run_begin(run, "similarity", NULL);
    LithoCube *there = on_device(&job);
    gboolean ok = there ? litho_run_step(run, 1, 1, error) : on_host(&job, map, NULL, error);
    if (there && ok)
        *map = g_steal_pointer(&there);
    litho_cube_unref(there);
    plan_clear(&job.plan);
    return ok;
}

LithoLeakReading litho_leak_reading(const LithoLeak *leak)
{
    if (leak->share < 0.05)
        return LITHO_LEAK_NOISE;
    return leak->share <= 0.15 || leak->share * leak->removed < 0.001 ? LITHO_LEAK_SOME
                                                                      : LITHO_LEAK_EVENTS;
}

const char *litho_leak_words(LithoLeakReading reading)
{
    static const char *const words[] = {N_("removed looks like noise"), N_("some signal leaves"),
                                        N_("events leave")};
    return words[reading];
}

const char *litho_leak_sentence(const LithoLeak *leak)
{
    return leak->removed > 0 ? litho_text(litho_leak_words(litho_leak_reading(leak)))
                             : _("nothing was removed");
}
