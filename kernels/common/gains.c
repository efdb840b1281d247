// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/gains.h"

#include <math.h>
#include <string.h>

guint64 litho_gains_bytes(const LithoGrid *grid, LithoBox box)
{
    const gint64 lines = MIN(grid->axis[0].n, grid->axis[1].n);
    return lines >= LITHO_BALANCE_LINES ? 4 * litho_box_count(box) : 0;
}

// --- what was measured last ----------------------------------------------------------------------

// Inputs of other plans: a parameter that makes a new plan asks for no new search.
typedef struct Kept {
    guint64 serial; // 0 = none
    gint64 traces;
    LithoUneven of;
} Kept;

enum { KEPT = 8 };
static GMutex kept_lock;
static Kept kept[KEPT];
static int next_kept;

static LithoUneven copy_of(LithoUneven of, gint64 traces)
{
    const gsize bytes = (gsize)traces * sizeof(float);
    return (LithoUneven){of.gain ? g_memdup2(of.gain, bytes) : NULL,
                         of.share ? g_memdup2(of.share, bytes) : NULL};
}

static gboolean recall(guint64 serial, LithoUneven *of)
{
    gboolean known = FALSE;
    g_mutex_lock(&kept_lock);
    for (int k = 0; k < KEPT && !known; k++) {
        known = serial > 0 && kept[k].serial == serial;
        if (known)
            *of = copy_of(kept[k].of, kept[k].traces);
    }
    g_mutex_unlock(&kept_lock);
    return known;
}

static void remember(guint64 serial, LithoUneven of, gint64 traces)
{
    g_mutex_lock(&kept_lock);
    Kept *k = &kept[next_kept];
    next_kept = (next_kept + 1) % KEPT;
    litho_uneven_clear(&k->of);
    *k = (Kept){serial, traces, copy_of(of, traces)};
    g_mutex_unlock(&kept_lock);
}

// --- over the gains ------------------------------------------------------------------------------

static gboolean take_gains(LithoGains *g, const LithoCube *in, const LithoReader *blocks,
                           LithoGainsFrom from, LithoRun *run, GError **error)
{
    static gint stamps; // atomic
    if (from.measured ? g->measured == from.measured : !g->measured && g->of_serial == in->serial)
        return TRUE;
    litho_gains_clear(g);
    if (from.measured) {
        g->of = from.read(&in->grid, from.measured);
        g->measured = litho_measured_ref(from.measured);
    } else {
        if (!recall(in->serial, &g->of)) {
            litho_run_begin(run, "gains of traces", "traces");
            if (!litho_balance_measure(in, blocks, run, &g->of, error))
                return FALSE;
            remember(in->serial, g->of, litho_grid_traces(&in->grid));
        }
        g->of_serial = in->serial;
    }
    g->stamp = (guint64)g_atomic_int_add(&stamps, 1) + 1;
    return TRUE;
}

static LithoCube *divide(const LithoGains *g, const LithoCube *in, const LithoGainsDevice *device,
                         LithoRun *run, GError **error)
{
    if (device)
        return device->divide(in, g->of.gain, run, device->data, error);
    return litho_cube_host(in, error) ? litho_balance_divide(in, g->of.gain, run, error) : NULL;
}

const LithoCube *litho_gains_divide(LithoGains *g, const LithoCube *in,
                                    const LithoGainsDevice *device, LithoGainsFrom from,
                                    LithoRun *run, GError **error)
{
    const LithoReader *blocks = device ? device->blocks : NULL;
    if ((!from.measured && !blocks && !litho_cube_host(in, error)) ||
        !take_gains(g, in, blocks, from, run, error))
        return NULL;
    if (!g->of.gain)
        return in;
    if (g->serial != in->serial) {
        g_clear_pointer(&g->cube, litho_cube_unref);
        g->serial = 0;
        if (!(g->cube = divide(g, in, device, run, error)))
            return NULL;
        g->serial = in->serial;
    }
    return g->cube;
}

void litho_gains_clear(LithoGains *g)
{
    litho_uneven_clear(&g->of);
    litho_cube_unref(g->cube);
    litho_measured_unref(g->measured);
    *g = (LithoGains){0};
}

void litho_gains_report(const LithoGains *g, const char *key, const LithoGrid *grid,
                        LithoReport *report)
{
    const gint64 n = litho_grid_traces(grid);
    gint64 noisy = 0, reversed = 0;
    double squares = 0;
    if (!report)
        return;
    for (gint64 k = 0; g->of.gain && k < n; k++) {
        squares += pow(log(fabsf(g->of.gain[k])), 2);
        reversed += g->of.gain[k] < 0;
    }
    for (gint64 k = 0; g->of.share && k < n; k++)
        noisy += g->of.share[k] < 1;
    if (reversed > 0) {
        litho_report_number(report, "reversed_traces", "traces of reversed polarity", "",
                            (double)reversed);
        litho_report_remark(report,
                            "%s: some traces have reversed polarity; they were turned for the "
                            "filter and back again",
                            key);
    }
    if (squares > 0) {
        litho_report_number(report, "gain_scatter", "scatter of the traces' gains", "%",
                            100 * sqrt(squares / n));
        litho_report_remark(report,
                            "%s: amplitudes differ from trace to trace; traces were filtered over "
                            "their gains and multiplied by them again",
                            key);
    }
    if (g->of.share)
        litho_report_number(report, "noisy_traces", "traces with more noise than others", "%",
                            100.0 * noisy / n);
}

// --- part by part --------------------------------------------------------------------------------

enum { PART = 64 }; // inlines of a part; crosslines too where a part of all of them is too large

static gboolean read_part(const LithoReader *survey, LithoBox within, LithoScatter scatter,
                          LithoUneven uneven, LithoRun *run, GError **error)
{
    const LithoBox need = litho_box_grow(
        survey->grid, within, (const gint64[3]){LITHO_BALANCE_TRACES, LITHO_BALANCE_TRACES, 0});
    g_autoptr(LithoCube) part = survey->read(&need, run, survey->data, error);
    return part && litho_cube_host(part, error) &&
           litho_balance_find(part, NULL, within, scatter, uneven, run, error);
}

static gboolean read_parts(const LithoReader *survey, LithoScatter scatter, LithoUneven uneven,
                           LithoRun *run, GError **error)
{
    const LithoBox all = litho_box_full(survey->grid);
    const gint64 rows = PART + 2 * LITHO_BALANCE_TRACES;
    // A part and the sums of its windows.
    const guint64 bytes =
        2 * sizeof(float) * (guint64)rows * litho_box_size(all, 1) * litho_box_size(all, 2);
    const gint64 across = survey->bytes && bytes > survey->bytes ? PART : all.hi[1];
    for (gint64 il = 0; il < all.hi[0]; il += PART)
        for (gint64 xl = 0; xl < all.hi[1]; xl += across) {
            LithoBox within = all;
            within.lo[0] = il;
            within.hi[0] = MIN(il + PART, all.hi[0]);
            within.lo[1] = xl;
            within.hi[1] = MIN(xl + across, all.hi[1]);
            if (!read_part(survey, within, scatter, uneven, run, error))
                return FALSE;
        }
    return TRUE;
}

gboolean litho_gains_read(const LithoReader *survey, LithoRun *run, LithoUneven *uneven,
                          GError **error)
{
    const double start = litho_now_ms();
    LithoRun quiet = litho_run_quiet(run);
    LithoScatter scatter;
    *uneven = (LithoUneven){0};
    litho_run_begin(run, "gains of traces", "traces");
    if (!litho_balance_scatter(survey, NULL, &quiet, &scatter, error))
        return FALSE;
    litho_uneven_begin(uneven, scatter, litho_grid_traces(survey->grid));
    if ((uneven->gain || uneven->share) && !read_parts(survey, scatter, *uneven, &quiet, error)) {
        litho_uneven_clear(uneven);
        return FALSE;
    }
    litho_run_time(run, "gains of traces", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return TRUE;
}

// --- as numbers of a recipe ----------------------------------------------------------------------

gboolean litho_gains_of_bytes(const LithoGrid *grid, gconstpointer bytes, gsize n, gboolean gains,
                              LithoUneven *uneven)
{
    const gsize traces = (gsize)litho_grid_traces(grid);
    *uneven = (LithoUneven){0};
    if (n / sizeof(float) < traces)
        return FALSE;
    float *number = g_new(float, MAX(traces, 1));
    memcpy(number, (const guint8 *)bytes + n - traces * sizeof *number, traces * sizeof *number);
    for (gsize k = 0; k < traces; k++)
        if (!isfinite(number[k]) || number[k] == 0 || (number[k] < 0 && !gains))
            number[k] = 1;
    *(gains ? &uneven->gain : &uneven->share) = number;
    return TRUE;
}
