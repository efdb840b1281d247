// SPDX-License-Identifier: GPL-3.0-or-later
//
// Scatter of the gains, and of the noise of single traces, from a few blocks of the survey.
#include <math.h>
#include <stdlib.h>

#include "core/error.h"
#include "kernels/common/balance_trace.h"
#include "kernels/common/select.h"

enum { N = BALANCE_N, TRACES = BALANCE_TRACES, LEAST_TRACES = 128 };
// Traces near the borders of a block, where the taper is low, are left out.
enum { TIMES = 16, BORDER = 2, INNER = N - 2 * BORDER, INNERS = INNER * INNER };
enum { BLOCKS = 48, FIRST_BLOCKS = 16, TURNS = BLOCKS / FIRST_BLOCKS };
#define LEAST 0.1f // of the largest coefficient, that windows keep
// Shares of missing traces beyond which no scatter of gains is told, nor one of the noise, where a
// trace has hardly a neighbour to be guessed from.
static const double most_missing = 0.75, most_missing_of_noise = BALANCE_GAPS_OF_NOISE;

typedef struct Block {
    BalanceJob job;
    LithoCube *cube;
    // Logarithms of the gains and of the noise's amplitudes from either half of its pieces.
    float rest[2][INNERS], noise[2][INNERS];
    int reversed; // traces
} Block;

// Levels of the noise are comparable where traces have them in the same windows: noise, and what is
// left of events, differ along time. Traces that have less than three quarters of the windows of
// those that have most say nothing.
static void less_short_traces(const BalanceJob *job, int half, float level[INNERS])
{
    int windows[INNERS], most = 0;
    for (int k = 0; k < INNERS; k++) {
        const int trace = (k / INNER + BORDER) * N + k % INNER + BORDER;
        windows[k] =
            balance_windows_of(job->sums + trace * job->n_times + half, job->n_times - half, 2);
        most = MAX(most, windows[k]);
    }
    for (int k = 0; k < INNERS; k++)
        if (4 * windows[k] < 3 * most)
            level[k] = NAN;
}

// A block is one column of windows.
static void block_measure(Block *b, BalanceScratch *s)
{
    enum { REACH = 2 };
    float log[INNERS], level[INNERS], off[TIMES], variance;
    BalancePiece pieces[TIMES];
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
            b->reversed +=
                half == 0 && balance_is_reversed(sums + trace * job->n_times, job->n_times);
            const float gain = balance_gain_of(sums + trace * job->n_times + half,
                                               job->n_times - half, 2, pieces, off, &variance);
            log[k] = gain > 0 ? logf(gain) : NAN;
            level[k] = balance_level_of(sums + trace * job->n_times + half, job->n_times - half, 2,
                                        off, &variance);
        }
        less_short_traces(job, half, level);
        balance_less_mean(log, (const gint64[2]){INNER, INNER}, REACH, b->rest[half]);
        balance_less_mean(level, (const gint64[2]){INNER, INNER}, REACH, b->noise[half]);
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

// Products of the numbers of a block's traces in both halves, and of those of traces side by side.
static void add_block(const float *one, const float *other, Product *own, Product *beside)
{
    for (int k = 0; k < INNERS; k++) {
        add_product(own, one[k], other[k]);
        if (k % INNER < INNER - 1) {
            add_product(beside, one[k], other[k + 1]);
            add_product(beside, other[k], one[k + 1]);
        }
        if (k + INNER < INNERS) {
            add_product(beside, one[k], other[k + INNER]);
            add_product(beside, other[k], one[k + INNER]);
        }
    }
}

// The square of the common scatter of both halves, less what traces side by side have in common,
// from medians; that which is sure, its error, the least that counts, and the share of traces that
// say nothing.
typedef struct Told {
    double common, sure, off, least, missing;
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
    told->missing = 1 - (double)sum->len / (double)(n * INNERS);
    if (traces < LEAST_TRACES || told->missing > most_missing)
        return FALSE;
    Product own = {0}, beside = {0};
    for (gint64 k = 0; k < n; k++)
        add_block(rest[k][0], rest[k][1], &own, &beside);
    const double in_both = own.sum / (double)own.n, shared = beside.sum / (double)MAX(beside.n, 1);
    const double alone = in_both > 0 ? CLAMP(1 - shared / in_both, 0, 1) : 0;
    const double plus = spread_of(sum), minus = spread_of(difference);
    told->common = alone * (plus - minus) / 4;
    // Medians of skewed logarithms, of traces with loud noise, differ without any scatter; products
    // are of logarithms up to 1.
    told->sure = fmin(told->common, in_both - shared);
    // The square of a deviation that was told by a median errs by 2.33 / sqrt(n), n traces.
    told->off = fmax(2.33 / sqrt(traces) * hypot(plus, minus) / 4,
                     2.0 / 3 * sqrt(own.squares) / (double)own.n);
    // Missing neighbours are the same in both halves, and scatter gains a little.
    told->least = LITHO_BALANCE_SCATTER * LITHO_BALANCE_SCATTER * (1 + told->missing / 2);
    return TRUE;
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
    for (gint64 b = 0; b < n; b++)
        add_block(blocks[b].noise[0], blocks[b].noise[1], &own, &beside);
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
                      .least = LEAST * LEAST,
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
    const gboolean clear = told && (t.sure + 2 * t.off < t.least || t.sure - 3 * t.off > t.least);
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
    if (t.sure > fmax(t.least, 3 * t.off))
        scatter->gains = sqrt(t.common);
    else if (!scatter->reversed && t.missing <= most_missing_of_noise)
        scatter->noise = noise_scatter(blocks, asked);
    return TRUE;
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
