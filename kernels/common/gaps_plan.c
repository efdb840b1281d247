// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/gaps_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

enum { N = LITHO_GAPS_WINDOW, HALF = N / 2 };

// Thresholds fall from the first to the last share of the largest coefficient, and end at so many
// standard deviations of the noise.
static const float first_share = 0.7f, last_share = 0.003f, noise_times = 2.5f;

static gint64 start_of(const LithoGapsPlan *plan, int axis, gint64 k)
{
    return plan->line[axis] ? 0 : (k - 1) * HALF;
}

gint64 litho_gaps_start(const LithoGapsPlan *plan, gint64 pair, int part)
{
    return start_of(plan, 2, 2 * pair + part);
}

gboolean litho_gaps_trace(const LithoGapsPlan *plan, const LithoGapsColumn *column, int k,
                          gint64 *trace, gboolean *again)
{
    const LithoBox held = plan->held;
    const gint64 il = column->at[0] + (plan->line[0] ? 0 : k / N);
    const gint64 xl = column->at[1] + (plan->line[1] ? 0 : k % N);
    *again = (plan->line[0] && k / N > 0) || (plan->line[1] && k % N > 0);
    *trace = (il - held.lo[0]) * litho_box_size(held, 1) + xl - held.lo[1];
    return il >= held.lo[0] && il < held.hi[0] && xl >= held.lo[1] && xl < held.hi[1];
}

// Traces from .. end - 1 of a column's 16 along an axis are held; one that is repeated counts once.
static void span_of(const LithoGapsPlan *plan, const LithoGapsColumn *column, int axis, int *from,
                    int *end)
{
    const gint64 lo = plan->held.lo[axis] - column->at[axis];
    const gint64 hi = plan->held.hi[axis] - column->at[axis];
    *from = (int)MAX(lo, 0);
    *end = (int)MIN(hi, plan->line[axis] ? 1 : N);
}

// Index of trace (i, 0) of a column in `held`.
static gint64 row_of(const LithoGapsPlan *plan, const LithoGapsColumn *column, int i)
{
    return (column->at[0] + i - plan->held.lo[0]) * litho_box_size(plan->held, 1) + column->at[1] -
           plan->held.lo[1];
}

// A column is used when something is missing and enough is there.
static gboolean is_used(LithoGapsPlan *plan, const LithoGapsColumn *column, gboolean pieces,
                        int one_in)
{
    int from[2], end[2], live = 0;
    for (int a = 0; a < 2; a++)
        span_of(plan, column, a, &from[a], &end[a]);
    for (int i = from[0]; i < end[0]; i++)
        for (int j = from[1]; j < end[1]; j++)
            live += plan->live[row_of(plan, column, i) + j];
    const int traces = MAX(end[0] - from[0], 0) * MAX(end[1] - from[1], 0);
    const gboolean used =
        (live < traces || pieces) && live > 0 && (one_in == 0 || one_in * live >= traces);
    int number;
    LITHO_GAPS_LADDER(number, plan->ladders, traces - live, traces)
    plan->passes += used ? plan->ladders[number].passes : 0;
    return used;
}

static void weigh(LithoGapsPlan *plan, const LithoGapsColumn *column)
{
    int from[2], end[2];
    for (int a = 0; a < 2; a++)
        span_of(plan, column, a, &from[a], &end[a]);
    for (int i = from[0]; i < end[0]; i++)
        for (int j = from[1]; j < end[1]; j++) {
            const float w = plan->taper[0][i] * plan->taper[1][j];
            plan->scale[row_of(plan, column, i) + j] += w * w;
        }
}

// |sum of mask exp(-i k x)| of 16 x 16 real values, [k0][k1], by sums: k1 from 0 to 8.
static void spectrum_of(float mask[N][N], float power[N][HALF + 1])
{
    float re[N][HALF + 1] = {{0}}, im[N][HALF + 1] = {{0}}, c[N], s[N];
    for (int k = 0; k < N; k++) {
        c[k] = (float)cos(2 * G_PI * k / N);
        s[k] = (float)sin(2 * G_PI * k / N);
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k <= HALF; k++)
            for (int j = 0; j < N; j++) {
                re[i][k] += mask[i][j] * c[j * k % N];
                im[i][k] -= mask[i][j] * s[j * k % N];
            }
    for (int k0 = 0; k0 < N; k0++)
        for (int k = 0; k <= HALF; k++) {
            float a = 0, b = 0;
            for (int i = 0; i < N; i++) {
                a += re[i][k] * c[i * k0 % N] + im[i][k] * s[i * k0 % N];
                b += im[i][k] * c[i * k0 % N] - re[i][k] * s[i * k0 % N];
            }
            power[k0][k] = sqrtf(a * a + b * b);
        }
}

// The least on the way from wavenumber zero to (k0, k1), as a share of that at zero.
static float valley_to(float power[N][HALF + 1], int k0, int k1)
{
    const int signed0 = k0 > HALF ? k0 - N : k0, steps = MAX(abs(signed0), k1);
    float least = 1;
    for (int t = 1; t < steps; t++) {
        const int at0 = (int)lrintf((float)(signed0 * t) / (float)steps);
        const int at1 = (int)lrintf((float)(k1 * t) / (float)steps);
        least = MIN(least, power[(at0 + N) % N][at1] / power[0][0]);
    }
    return least;
}

// TRUE where the live traces of a column repeat: at some wavenumber their spectrum holds 0.6 of
// what it holds at zero, more than that of all traces that the column has, and half at most on the
// way there. A lone line or trace has no such way.
static gboolean is_regular(const LithoGapsPlan *plan, const LithoGapsColumn *column)
{
    const float most = 0.6f, least = 0.5f;
    float mask[2][N][N] = {{{0}}}, power[2][N][HALF + 1];
    gint64 trace;
    gboolean again;
    for (int k = 0; k < N * N; k++)
        if (litho_gaps_trace(plan, column, k, &trace, &again)) {
            const float w = plan->taper[0][k / N] * plan->taper[1][k % N];
            mask[0][k / N][k % N] = plan->live[trace] ? w : 0;
            mask[1][k / N][k % N] = w;
        }
    if (memcmp(mask[0], mask[1], sizeof mask[0]) == 0)
        return FALSE;
    for (int m = 0; m < 2; m++)
        spectrum_of(mask[m], power[m]);
    for (int k0 = 0; k0 < N; k0++)
        for (int k1 = 0; k1 <= HALF; k1++) {
            const float live = power[0][k0][k1] / power[0][0][0];
            const float all = power[1][k0][k1] / power[1][0][0];
            if (live > all + most && valley_to(power[0], k0, k1) < least)
                return TRUE;
        }
    return FALSE;
}

static void list_colour(LithoGapsPlan *plan, int colour, const gint64 first[2],
                        const gint64 count[2], gboolean pieces, int one_in)
{
    gint64 from[2];
    for (int a = 0; a < 2; a++)
        from[a] = first[a] + ((first[a] + (a == 0 ? colour / 2 : colour % 2)) & 1);
    for (gint64 k0 = from[0]; k0 < first[0] + count[0]; k0 += 2)
        for (gint64 k1 = from[1]; k1 < first[1] + count[1]; k1 += 2) {
            LithoGapsColumn column = {{start_of(plan, 0, k0), start_of(plan, 1, k1)}};
            if (!is_used(plan, &column, pieces, one_in))
                continue;
            column.regular = is_regular(plan, &column);
            plan->regular |= column.regular != 0;
            g_array_append_val(plan->columns, column);
            weigh(plan, &column);
        }
}

// Where windows were left out for want of live traces, the others' weights count as one.
static void invert_weights(LithoGapsPlan *plan, gint64 traces)
{
    const float least = 0.02f;
    for (gint64 k = 0; k < traces; k++)
        plan->scale[k] = plan->scale[k] > least ? 1 / plan->scale[k] : 0;
}

static void make_ladders(LithoGapsLadder *ladders)
{
    static const int above[] = {0, 60, 120, 250, 400, 600}, passes[] = {6, 9, 13, 19, 28, 84};
    G_STATIC_ASSERT(G_N_ELEMENTS(above) == LITHO_GAPS_LADDERS);
    G_STATIC_ASSERT(G_N_ELEMENTS(passes) == LITHO_GAPS_LADDERS);
    for (int k = 0; k < LITHO_GAPS_LADDERS; k++) {
        ladders[k] = (LithoGapsLadder){.above = above[k], .passes = passes[k]};
        for (int pass = 0; pass < passes[k]; pass++) {
            const float by = powf(last_share / first_share, (float)pass / (float)(passes[k] - 1));
            ladders[k].share[pass] = first_share * by * (first_share * by);
        }
    }
}

gboolean litho_gaps_plan(LithoGapsPlan *plan, const LithoCube *cube, gboolean pieces,
                         LithoGapsRule rule, GError **error)
{
    const LithoBox held = cube->held;
    const gint64 traces = litho_box_size(held, 0) * litho_box_size(held, 1);
    gint64 first[3], count[3];
    *plan = (LithoGapsPlan){.held = held,
                            .noise = noise_times * noise_times,
                            .flat = rule.faint ? LITHO_GAPS_FAINT : LITHO_GAPS_FLAT};
    for (int a = 0; a < 3; a++) {
        plan->line[a] = cube->grid.axis[a].n == 1;
        first[a] = plan->line[a] ? 0 : held.lo[a] / HALF;
        count[a] = plan->line[a] ? 1 : (held.hi[a] - 1) / HALF + 2 - first[a];
        for (int k = 0; k < N; k++)
            plan->taper[a][k] = plan->line[a] ? 1 : (float)sin(G_PI * (k + 0.5) / N);
    }
    plan->first_pair = first[2] / 2;
    plan->pairs = (first[2] + count[2] + 1) / 2 - first[2] / 2;
    make_ladders(plan->ladders);
    plan->live = g_try_malloc(traces);
    plan->scale = g_try_new0(float, traces);
    if (!plan->live || !plan->scale)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory for guesses of missing traces");
    memcpy(plan->live, cube->live, traces);
    plan->columns = g_array_new(FALSE, FALSE, sizeof(LithoGapsColumn));
    for (int colour = 0; colour < LITHO_GAPS_COLOURS; colour++) {
        list_colour(plan, colour, first, count, pieces, rule.one_in);
        plan->colour[colour + 1] = plan->columns->len;
    }
    invert_weights(plan, traces);
    if (rule.regular)
        *rule.regular = plan->regular;
    return TRUE;
}

double litho_gaps_flops(const LithoGapsPlan *plan)
{
    // Both transforms: 3 x 256 lines of 16, 5 n log2 n flops each.
    return plan->passes * (double)plan->pairs * 2 * 3 * N * N * 5 * N * 4;
}

void litho_gaps_plan_clear(LithoGapsPlan *plan)
{
    g_free(plan->live);
    g_free(plan->scale);
    if (plan->columns)
        g_array_unref(plan->columns);
}
