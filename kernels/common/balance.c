// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/balance.h"

#include <math.h>
#include <stdlib.h>

#include "core/error.h"
#include "kernels/common/balance_sums.h"
#include "kernels/common/select.h"

enum { N = BALANCE_N, HALF = BALANCE_HALF, TRACES = BALANCE_TRACES };
enum { MEAN = 4, LEAST_TRACES = 128 };
enum { PART_INLINES = 64 }; // of a cube on a device, read at a time
// Traces near the borders of a block, where the taper is low, are left out.
enum { TIMES = 16, BORDER = 2, INNER = N - 2 * BORDER, INNERS = INNER * INNER };
enum { BLOCKS = 48, FIRST_BLOCKS = 16, TURNS = BLOCKS / FIRST_BLOCKS };
#define AGAINST 3 // standard deviations of a slope that is negative
static const float least_gain = 0.02f, most_gain = 50;
// Share of missing traces beyond which nothing is told: what is left of the events in windows with
// more gaps differs from trace to trace by itself.
static const double most_missing = 0.45;

// --- the gain of a trace -------------------------------------------------------------------------

typedef struct Piece {
    float ratio, weight;
} Piece;

static int by_ratio(const void *a, const void *b)
{
    const float x = ((const Piece *)a)->ratio, y = ((const Piece *)b)->ratio;
    return (x > y) - (x < y);
}

static void sort_pieces(Piece *pieces, gint64 n)
{
    enum { FEW = 32 };
    if (n > FEW) {
        qsort(pieces, n, sizeof *pieces, by_ratio);
        return;
    }
    for (gint64 k = 1; k < n; k++) {
        const Piece own = pieces[k];
        gint64 to = k;
        for (; to > 0 && own.ratio < pieces[to - 1].ratio; to--)
            pieces[to] = pieces[to - 1];
        pieces[to] = own;
    }
}

static float weighted_median(const BalanceSums *s, gint64 n, gint64 step, Piece *pieces)
{
    gint64 m = 0;
    double all = 0, below = 0;
    for (gint64 k = 0; k < n; k += step)
        if (s[k].kept > 0) {
            pieces[m++] = (Piece){s[k].product / s[k].kept, s[k].kept};
            all += s[k].kept;
        }
    sort_pieces(pieces, m);
    for (gint64 k = 0; k < m; k++)
        if ((below += pieces[k].weight) >= all / 2)
            return pieces[k].ratio;
    return 0;
}

// Energy of the misfit in a window.
static float misfit(const BalanceSums *s, float gain)
{
    const float energy = s->own - 2 * gain * s->product + gain * gain * s->kept;
    return MAX(energy, 0);
}

// From every `step`-th of n windows; `variance` is that of the gain's logarithm. 0 = not known.
static float gain_of(const BalanceSums *s, gint64 n, gint64 step, Piece *pieces, float *off,
                     float *variance)
{
    float gain = weighted_median(s, n, step, pieces);
    *variance = INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        double product = 0, kept = 0, error = 0;
        gint64 m = 0;
        for (gint64 k = 0; k < n; k += step)
            off[m++] = misfit(&s[k], gain);
        const float middle = litho_select_kth(off, m, m / 2);
        for (gint64 k = 0; k < n; k += step) {
            // The misfit's variance of a sample: the taper's energy in a window is half its length.
            const float misfits = misfit(&s[k], gain), own = MAX(misfits, 1e-30f);
            const double weight = 1 / MAX(own, middle);
            product += weight * s[k].product;
            kept += weight * s[k].kept;
            error += weight * weight * own / HALF * s[k].kept;
        }
        if (!(kept > 0) || !(product > 0))
            return 0;
        gain = (float)(product / kept);
        *variance = (float)(error / (product * product));
    }
    return CLAMP(gain, least_gain, most_gain);
}

// A trace whose events stand against those around it: the slope, without regard to the gain, in
// units of its own error, in every second of n windows from the `first`.
static gboolean is_against(const BalanceSums *s, gint64 n, gint64 first)
{
    double product = 0, error = 0;
    for (gint64 k = first; k < n; k += 2)
        if (s[k].own > 0) {
            product += s[k].product / s[k].own;
            error += s[k].kept / s[k].own / HALF;
        }
    return product < -AGAINST * sqrt(error);
}

static gboolean is_reversed(const BalanceSums *s, gint64 n)
{
    return is_against(s, n, 0) && is_against(s, n, 1);
}

// Logarithm of the amplitude of the noise, from every `step`-th of n windows: that of the median of
// what is left of the trace when all events, times its gain, are taken off. `list`: n floats.
// `events`: the logarithm of their amplitude.
static float level_of(const BalanceSums *s, gint64 n, gint64 step, float *list, float *events)
{
    double product = 0, kept = 0;
    gint64 m = 0;
    for (gint64 k = 0; k < n; k += step) {
        product += s[k].all_product;
        kept += s[k].all_kept;
    }
    const float gain = kept > 0 ? (float)(product / kept) : 0;
    for (gint64 k = 0; k < n; k += step)
        if (s[k].own > 0)
            list[m++] = s[k].own - 2 * gain * s[k].all_product + gain * gain * s[k].all_kept;
    const float middle = m > 0 ? litho_select_kth(list, m, m / 2) : 0;
    *events = 0.5f * logf((float)(kept / MAX(m, 1)) + 1e-30f);
    return middle > 0 ? 0.5f * logf(middle) : NAN;
}

// Logarithms less their mean over the traces within `reach`; NAN = not known.
static void less_mean(const float *log, const gint64 n[2], int reach, float *to)
{
    for (gint64 i = 0; i < n[0]; i++)
        for (gint64 j = 0; j < n[1]; j++) {
            double sum = 0;
            int count = 0;
            for (gint64 a = MAX(i - reach, 0); a <= MIN(i + reach, n[0] - 1); a++)
                for (gint64 b = MAX(j - reach, 0); b <= MIN(j + reach, n[1] - 1); b++)
                    if (isfinite(log[a * n[1] + b])) {
                        sum += log[a * n[1] + b];
                        count++;
                    }
            to[i * n[1] + j] = log[i * n[1] + j] - (float)(count > 0 ? sum / count : 0);
        }
}

static void logs_of(const BalanceJob *job, float *log, float *variance)
{
    const gint64 traces = litho_box_size(job->within, 0) * litho_box_size(job->within, 1);
#pragma omp parallel num_threads(litho_run_threads(job->run))
    {
        g_autofree Piece *pieces = g_new(Piece, job->n_times);
        g_autofree float *off = g_new(float, job->n_times);
#pragma omp for schedule(static)
        for (gint64 k = 0; k < traces; k++) {
            const float gain =
                gain_of(job->sums + k * job->n_times, job->n_times, 1, pieces, off, &variance[k]);
            log[k] = gain > 0 ? logf(gain) : NAN;
        }
    }
}

// --- whether gains scatter -----------------------------------------------------------------------

typedef struct Block {
    BalanceJob job;
    LithoCube *cube;
    // Logarithms of the gains and of the noise's amplitudes from either half of its pieces.
    float rest[2][INNERS], noise[2][INNERS];
    int reversed; // traces
} Block;

// A block is one column of windows.
static void block_measure(Block *b, BalanceScratch *s)
{
    enum { REACH = 2 };
    float log[INNERS], level[INNERS], off[TIMES], variance;
    Piece pieces[TIMES];
    BalanceSums sums[TRACES * TIMES] = {0};
    BalanceJob *job = &b->job;
    job->sums = sums;
    // Two windows of one transform share what is kept: they are of one half.
    for (gint64 k = 0; k < job->n_times; k++)
        if (k % 4 < 2)
            balance_run_pair(job, job->within.lo, (const gint64[2]){k, k + 2}, s);
    b->reversed = 0;
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < INNERS; k++) {
            const int trace = (k / INNER + BORDER) * N + k % INNER + BORDER;
            b->reversed += half == 0 && is_reversed(sums + trace * job->n_times, job->n_times);
            const float gain = gain_of(sums + trace * job->n_times + half, job->n_times - half, 2,
                                       pieces, off, &variance);
            log[k] = gain > 0 ? logf(gain) : NAN;
            level[k] = level_of(sums + trace * job->n_times + half, job->n_times - half, 2, off,
                                &variance);
        }
        less_mean(log, (const gint64[2]){INNER, INNER}, REACH, b->rest[half]);
        less_mean(level, (const gint64[2]){INNER, INNER}, REACH, b->noise[half]);
    }
    job->sums = NULL;
}

// Blocks are read one after the other and measured side by side.
static gboolean measure_blocks(Block *blocks, gint64 n, LithoRun *run, GError **error)
{
    int stop = 0; // atomic: 1 = cancelled, 2 = no memory
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        BalanceScratch *s = balance_scratch_new();
        if (!s)
            g_atomic_int_set(&stop, 2);
#pragma omp for schedule(dynamic)
        for (gint64 k = 0; k < n; k++) {
            if (!litho_run_checkpoint(run))
                g_atomic_int_set(&stop, 1);
            if (!g_atomic_int_get(&stop))
                block_measure(&blocks[k], s);
        }
        free(s);
    }
    if (stop == 2)
        return balance_no_memory(error);
    return !stop || litho_run_stopped(error);
}

// The taper and the threshold treat a trace by its place in the window: the mean of all blocks at a
// place is no gain. What it takes of the variance is put back. Where one block knows a place,
// nothing is known there. `rest`: what is left, as in the blocks. The number of independent traces.
static double less_places(const Block *blocks, gint64 n, float (*rest)[2][INNERS])
{
    double traces = 0;
    for (int k = 0; k < INNERS; k++) {
        double sum[2] = {0};
        int count = 0;
        for (gint64 b = 0; b < n; b++)
            if (isfinite(blocks[b].rest[0][k] + blocks[b].rest[1][k])) {
                count++;
                for (int half = 0; half < 2; half++)
                    sum[half] += blocks[b].rest[half][k];
            }
        const double by = count > 1 ? sqrt(count / (count - 1.0)) : NAN;
        for (gint64 b = 0; b < n; b++)
            for (int half = 0; half < 2; half++)
                rest[b][half][k] =
                    (float)(by * (blocks[b].rest[half][k] - sum[half] / MAX(count, 1)));
        traces += MAX(count - 1, 0);
    }
    return traces;
}

// BalanceSums and differences of both halves, to the ends of the lists.
static void list_halves(float rest[2][INNERS], GArray *sum, GArray *difference)
{
    for (int k = 0; k < INNERS; k++) {
        const float plus = rest[0][k] + rest[1][k], minus = rest[0][k] - rest[1][k];
        if (!isfinite(plus))
            continue;
        g_array_append_val(sum, plus);
        g_array_append_val(difference, minus);
    }
}

// Square of the standard deviation that the median of the distances from the median tells.
static double spread_of(GArray *list)
{
    float *x = (float *)(void *)list->data;
    const gint64 n = list->len;
    const float middle = litho_select_kth(x, n, n / 2);
    for (gint64 k = 0; k < n; k++)
        x[k] = fabsf(x[k] - middle);
    const double off = litho_select_kth(x, n, n / 2) / 0.6745;
    return off * off;
}

// Sets times[0 .. n - 1] to windows that do not overlap, from half a window after the first sample.
static gint64 place_times(const LithoBox *all, gint64 *times)
{
    const gint64 apart = litho_box_size(*all, 2) / N, n = MIN(apart, TIMES);
    for (gint64 k = 0; k < n; k++)
        times[k] = 1 + 2 * (k * apart / n);
    return n;
}

// Blocks whose inner traces cover the survey.
static gint64 places_along(const LithoBox *all, int axis)
{
    return (litho_box_size(*all, axis) - N + INNER - 1) / INNER + 1;
}

// Block k of n, spread over the survey; so are the first ones.
static LithoBox block_box(const LithoBox *all, gint64 k, gint64 n)
{
    const gint64 places[2] = {places_along(all, 0), places_along(all, 1)};
    gint64 turn = 0; // numbers 0, 3, 6 ..., then 1, 4, ...
    for (gint64 of_turn; k >= (of_turn = (n - turn + TURNS - 1) / TURNS); turn++)
        k -= of_turn;
    const gint64 place = (2 * (k * TURNS + turn) + 1) * places[0] * places[1] / (2 * n);
    const gint64 number[2] = {place / places[1], place % places[1]};
    LithoBox box = *all;
    for (int a = 0; a < 2; a++) {
        box.lo[a] += number[a] * (litho_box_size(*all, a) - N) / (places[a] - 1);
        box.hi[a] = box.lo[a] + N;
    }
    return box;
}

// The square of the common scatter of both halves, its error, and the least that counts.
typedef struct Told {
    double common, off, least;
} Told;

// FALSE: too few traces, or too many of them missing.
static gboolean common_scatter(const LithoBox *all, const Block *blocks, gint64 n, Told *told)
{
    g_autoptr(GArray) sum = g_array_new(FALSE, FALSE, sizeof(float));
    g_autoptr(GArray) difference = g_array_new(FALSE, FALSE, sizeof(float));
    g_autofree float(*rest)[2][INNERS] = g_malloc_n(n, sizeof *rest);
    const double inner = (double)(litho_box_size(*all, 0) - 2 * BORDER) *
                         (double)(litho_box_size(*all, 1) - 2 * BORDER);
    // Blocks of a small survey share traces.
    const double traces = less_places(blocks, n, rest) * MIN(inner / (double)(n * INNERS), 1);
    for (gint64 k = 0; k < n; k++)
        list_halves(rest[k], sum, difference);
    const double missing = 1 - (double)sum->len / (double)(n * INNERS);
    if (traces < LEAST_TRACES || missing > most_missing)
        return FALSE;
    const double plus = spread_of(sum), minus = spread_of(difference);
    // The square of a deviation that was told by a median errs by 2.33 / sqrt(n), n traces.
    told->common = (plus - minus) / 4;
    told->off = 2.33 / sqrt(traces) * hypot(plus, minus) / 4;
    // Missing neighbours are the same in both halves, and scatter gains a little.
    told->least = LITHO_BALANCE_SCATTER * LITHO_BALANCE_SCATTER * (1 + missing / 2);
    return TRUE;
}

// The mean of products of numbers of two places, each of another half, and its error.
typedef struct Product {
    double sum, squares;
    gint64 n;
} Product;

static void add_product(Product *to, float a, float b)
{
    const double own = (double)CLAMP(a, -1, 1) * CLAMP(b, -1, 1);
    if (!isfinite(a) || !isfinite(b))
        return;
    to->sum += own;
    to->squares += own * own;
    to->n++;
}

// Means of places over all blocks are no noise, as with gains.
static void less_noise_of_places(Block *blocks, gint64 n)
{
    for (int k = 0; k < 2 * INNERS; k++) {
        double sum = 0;
        int count = 0;
        for (gint64 b = 0; b < n; b++)
            if (isfinite(blocks[b].noise[k / INNERS][k % INNERS])) {
                sum += blocks[b].noise[k / INNERS][k % INNERS];
                count++;
            }
        for (gint64 b = 0; b < n; b++)
            blocks[b].noise[k / INNERS][k % INNERS] -= (float)(sum / MAX(count, 1));
    }
}

// Scatter of the noise from trace to trace: what both halves of a trace have in common, and traces
// side by side have not: misfits of events, at faults and where they curve, change less. 0: none
// that counts.
static double noise_scatter(Block *blocks, gint64 n)
{
    Product own = {0}, beside = {0};
    less_noise_of_places(blocks, n);
    for (gint64 b = 0; b < n; b++) {
        const float *one = blocks[b].noise[0], *other = blocks[b].noise[1];
        for (int k = 0; k < INNERS; k++) {
            add_product(&own, one[k], other[k]);
            if (k % INNER < INNER - 1) {
                add_product(&beside, one[k], other[k + 1]);
                add_product(&beside, other[k], one[k + 1]);
            }
            if (k + INNER < INNERS) {
                add_product(&beside, one[k], other[k + INNER]);
                add_product(&beside, other[k], one[k + INNER]);
            }
        }
    }
    if (own.n < LEAST_TRACES)
        return 0;
    const double common = own.sum / own.n - beside.sum / MAX(beside.n, 1);
    const double off = sqrt(own.squares) / own.n;
    return common > fmax(LITHO_BALANCE_NOISE * LITHO_BALANCE_NOISE, 3 * off) ? sqrt(common) : 0;
}

// Reads and measures blocks lo ... hi - 1 of n.
static gboolean add_blocks(const BalanceJob *job, const LithoReader *reader, Block *blocks,
                           gint64 lo, gint64 hi, gint64 n, GError **error)
{
    gboolean ok = TRUE;
    gint64 k = lo;
    for (; ok && k < hi; k++) {
        Block *b = &blocks[k];
        b->job = *job;
        b->job.within = block_box(&job->all, k, n);
        b->job.in = b->cube = reader->read(&b->job.within, job->run, reader->data, error);
        ok = b->cube && litho_cube_host(b->cube, error);
    }
    ok = ok && measure_blocks(blocks + lo, hi - lo, job->run, error);
    while (k-- > lo)
        litho_cube_unref(blocks[k].cube);
    return ok;
}

gboolean litho_balance_scatter(const LithoReader *reader, const LithoBox *part, LithoRun *run,
                               LithoScatter *scatter, GError **error)
{
    const LithoBox all = part ? *part : litho_box_full(reader->grid);
    gint64 times[TIMES];
    BalanceJob job = {.all = all,
                      .times = times,
                      .n_times = place_times(&all, times),
                      .of_noise = TRUE,
                      .run = run};
    Told t = {0};
    *scatter = (LithoScatter){0};
    if (MIN(litho_box_size(all, 0), litho_box_size(all, 1)) < LITHO_BALANCE_LINES ||
        job.n_times < 4)
        return TRUE;
    balance_set_taper(&job);
    const gint64 n = MIN(places_along(&all, 0) * places_along(&all, 1), BLOCKS);
    const gint64 first = MIN(n, FIRST_BLOCKS);
    g_autofree Block *blocks = g_new(Block, n);
    if (!add_blocks(&job, reader, blocks, 0, first, n, error))
        return FALSE;
    gboolean told = common_scatter(&all, blocks, first, &t);
    const gboolean clear =
        told && (t.common + 2 * t.off < t.least || t.common - 3 * t.off > t.least);
    if (first < n && !clear) {
        if (!add_blocks(&job, reader, blocks, first, n, n, error))
            return FALSE;
        told = common_scatter(&all, blocks, n, &t);
    }
    const gint64 asked = first < n && !clear ? n : first;
    for (gint64 k = 0; k < asked; k++)
        scatter->reversed |= blocks[k].reversed > 0;
    if (!told)
        return TRUE;
    // Gains make misfits that pass for noise.
    if (t.common > fmax(t.least, 3 * t.off))
        scatter->gains = sqrt(t.common);
    else if (!scatter->reversed)
        scatter->noise = noise_scatter(blocks, asked);
    return TRUE;
}

// --- numbers of all traces -----------------------------------------------------------------------

// Sums of all windows of `within` and the traces around.
static gboolean sum_around(BalanceJob *job, const LithoCube *cube, const LithoBox *part,
                           LithoBox within, int around, LithoRun *run, GError **error)
{
    const LithoBox all = part ? *part : litho_box_full(&cube->grid);
    const LithoBox grown =
        litho_box_grow(&cube->grid, within, (const gint64[3]){around, around, 0});
    const gint64 n_times = (litho_box_size(all, 2) - 1) / HALF + 2;
    g_autofree gint64 *times = g_new(gint64, n_times);
    for (gint64 k = 0; k < n_times; k++)
        times[k] = k;
    job->in = cube;
    job->all = all;
    job->within = litho_box_intersect(all, grown);
    job->times = times;
    job->n_times = n_times;
    job->run = run;
    const gboolean ok = balance_sum_up(job, error);
    job->times = NULL;
    if (!ok)
        g_clear_pointer(&job->sums, g_free);
    return ok;
}

// -1 for reversed traces, whose products are turned, 1 for others; g_free().
static float *turn_reversed(const BalanceJob *job, gint64 traces)
{
    float *sign = g_new(float, MAX(traces, 1));
    for (gint64 k = 0; k < traces; k++) {
        BalanceSums *s = job->sums + k * job->n_times;
        sign[k] = is_reversed(s, job->n_times) ? -1 : 1;
        for (gint64 t = 0; sign[k] < 0 && t < job->n_times; t++)
            s[t].product = -s[t].product;
    }
    return sign;
}

static gboolean find_gains(const LithoCube *cube, const LithoBox *part, LithoBox within,
                           double scatter, float *gain, LithoRun *run, GError **error)
{
    BalanceJob job = {0};
    if (!sum_around(&job, cube, part, within, MEAN, run, error))
        return FALSE;
    const gint64 n[2] = {litho_box_size(job.within, 0), litho_box_size(job.within, 1)};
    g_autofree float *log = g_new(float, n[0] * n[1]), *rest = g_new(float, n[0] * n[1]);
    g_autofree float *variance = g_new(float, n[0] * n[1]);
    g_autofree float *sign = turn_reversed(&job, n[0] * n[1]);
    logs_of(&job, log, variance);
    less_mean(log, n, MEAN, rest);
    g_free(job.sums);
    for (gint64 il = within.lo[0]; il < within.hi[0]; il++)
        for (gint64 xl = within.lo[1]; xl < within.hi[1]; xl++) {
            const gint64 k = (il - job.within.lo[0]) * n[1] + xl - job.within.lo[1];
            const double own = scatter * scatter;
            const double weight = own > 0 ? own / (own + variance[k]) : 0;
            gain[il * cube->grid.axis[1].n + xl] =
                sign[k] * (isfinite(rest[k]) ? (float)exp(weight * rest[k]) : 1);
        }
    return TRUE;
}

// The share of a trace whose noise is `own` times that of most around and `of_events` times its
// events (logarithms). Guesses miss curved events and faults by a few percent: where the noise is
// as weak, little is gained, and what is missed stays.
static float share_of(float own, float of_events)
{
    const float missed = 0.1f, most = 0.6f;
    const float least = 1 / (1 + expf(2 * of_events) / (missed * missed));
    const gboolean noisy = own > logf(LITHO_BALANCE_NOISY);
    return noisy && least < most ? MAX(expf(-1.5f * own), least) : 1;
}

// Median of the logarithms within REACH traces; NAN = none is known.
static float median_around(const float *log, const gint64 n[2], gint64 i, gint64 j)
{
    enum { REACH = 3, MOST = (2 * REACH + 1) * (2 * REACH + 1) };
    float list[MOST];
    gint64 m = 0;
    for (gint64 a = MAX(i - REACH, 0); a <= MIN(i + REACH, n[0] - 1); a++)
        for (gint64 b = MAX(j - REACH, 0); b <= MIN(j + REACH, n[1] - 1); b++)
            if (isfinite(log[a * n[1] + b]))
                list[m++] = log[a * n[1] + b];
    return m > 0 ? litho_select_kth(list, m, m / 2) : NAN;
}

enum { PIECE = 16 }; // samples of which fourth differences are summed

// Logarithm of the amplitude of the fourth difference of a trace, in which events are faint: that of
// the median piece. NAN: not known. `list`: a float for each piece.
static float sharp_of(const LithoCube *cube, gint64 il, gint64 xl, float *list)
{
    enum { TAPS = 5 };
    const float *x = litho_cube_trace(cube, il, xl);
    const gint64 nt = litho_box_size(cube->held, 2);
    gint64 m = 0;
    for (gint64 from = 0; litho_cube_is_live(cube, il, xl) && from + PIECE <= nt; from += PIECE) {
        float sum = 0;
        for (gint64 t = from; t + TAPS <= from + PIECE; t++) {
            const float d = x[t] - 4 * x[t + 1] + 6 * x[t + 2] - 4 * x[t + 3] + x[t + 4];
            sum += d * d;
        }
        if (sum > 0 && isfinite(sum))
            list[m++] = sum;
    }
    return m > 0 ? 0.5f * logf(litho_select_kth(list, m, m / 2)) : NAN;
}

static gboolean find_sharp(const LithoCube *cube, LithoBox within, float *to, LithoRun *run,
                           GError **error)
{
    const gint64 nx = litho_box_size(within, 1), traces = nx * litho_box_size(within, 0);
    int stop = 0; // atomic
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        g_autofree float *list = g_new(float, litho_box_size(cube->held, 2) / PIECE + 1);
#pragma omp for schedule(static)
        for (gint64 k = 0; k < traces; k++) {
            if (!litho_run_checkpoint(run))
                g_atomic_int_set(&stop, 1);
            if (!g_atomic_int_get(&stop))
                to[k] = sharp_of(cube, within.lo[0] + k / nx, within.lo[1] + k % nx, list);
        }
    }
    return !stop || litho_run_stopped(error);
}

// Faults leave much of a trace beside its events, too, and no guess is right there; but fourth
// differences are no stronger than in the traces around. The least of both counts.
static gboolean find_shares(const LithoCube *cube, const LithoBox *part, LithoBox within,
                            float *share, LithoRun *run, GError **error)
{
    BalanceJob job = {.of_noise = TRUE};
    if (!sum_around(&job, cube, part, within, MEAN, run, error))
        return FALSE;
    const gint64 n[2] = {litho_box_size(job.within, 0), litho_box_size(job.within, 1)};
    g_autofree float *log = g_new(float, n[0] * n[1]), *list = g_new(float, job.n_times);
    g_autofree float *events = g_new(float, n[0] * n[1]), *sharp = g_new(float, n[0] * n[1]);
    for (gint64 k = 0; k < n[0] * n[1]; k++)
        log[k] = level_of(job.sums + k * job.n_times, job.n_times, 1, list, &events[k]);
    g_free(job.sums);
    if (!find_sharp(cube, job.within, sharp, run, error))
        return FALSE;
    for (gint64 il = within.lo[0]; il < within.hi[0]; il++)
        for (gint64 xl = within.lo[1]; xl < within.hi[1]; xl++) {
            const gint64 i = il - job.within.lo[0], j = xl - job.within.lo[1];
            const float around = median_around(log, n, i, j), left = log[i * n[1] + j] - around;
            const float more = fminf(left, sharp[i * n[1] + j] - median_around(sharp, n, i, j));
            share[il * cube->grid.axis[1].n + xl] =
                isfinite(left) ? share_of(more, more + around - events[i * n[1] + j]) : 1;
        }
    return TRUE;
}

gboolean litho_balance_find(const LithoCube *cube, const LithoBox *part, LithoBox within,
                            LithoScatter scatter, LithoUneven uneven, LithoRun *run, GError **error)
{
    return (!uneven.gain ||
            find_gains(cube, part, within, scatter.gains, uneven.gain, run, error)) &&
           (!uneven.share || find_shares(cube, part, within, uneven.share, run, error));
}

// A cube in memory holds all boxes.
static LithoCube *whole_cube(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)box;
    (void)run;
    (void)error;
    return litho_cube_ref(data);
}

gboolean litho_balance_scatter_of(const LithoCube *cube, LithoRun *run, LithoScatter *scatter,
                                  GError **error)
{
    const LithoReader own = {.grid = &cube->grid, .read = whole_cube, .data = (gpointer)cube};
    return litho_balance_scatter(&own, &cube->held, run, scatter, error);
}

// Numbers of the traces of a cube that `blocks` reads, some inlines at a time.
static gboolean find_in_parts(const LithoCube *cube, const LithoReader *blocks,
                              LithoScatter scatter, LithoUneven uneven, LithoRun *run,
                              GError **error)
{
    const LithoBox held = cube->held;
    for (gint64 il = held.lo[0]; il < held.hi[0]; il += PART_INLINES) {
        LithoBox within = held, need = held;
        within.lo[0] = il;
        within.hi[0] = MIN(il + PART_INLINES, held.hi[0]);
        need.lo[0] = MAX(within.lo[0] - LITHO_BALANCE_TRACES, held.lo[0]);
        need.hi[0] = MIN(within.hi[0] + LITHO_BALANCE_TRACES, held.hi[0]);
        g_autoptr(LithoCube) part = blocks->read(&need, run, blocks->data, error);
        if (!part || !litho_cube_host(part, error) ||
            !litho_balance_find(part, &held, within, scatter, uneven, run, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_balance_measure(const LithoCube *cube, const LithoReader *blocks, LithoRun *run,
                               LithoUneven *uneven, GError **error)
{
    const double start = litho_now_ms();
    LithoScatter scatter;
    *uneven = (LithoUneven){0};
    if (!(blocks ? litho_balance_scatter(blocks, &cube->held, run, &scatter, error)
                 : litho_balance_scatter_of(cube, run, &scatter, error)))
        return FALSE;
    if (scatter.gains > 0 || scatter.noise > 0 || scatter.reversed) {
        litho_uneven_begin(uneven, scatter, litho_grid_traces(&cube->grid));
        if (blocks ? !find_in_parts(cube, blocks, scatter, *uneven, run, error)
                   : !litho_balance_find(cube, &cube->held, cube->held, scatter, *uneven, run,
                                         error)) {
            litho_uneven_clear(uneven);
            return FALSE;
        }
    }
    litho_run_time(run, "gains of traces", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   4.0 * litho_box_count(cube->held), 0);
    return TRUE;
}
