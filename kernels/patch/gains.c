// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/gains.h"

#include <math.h>

gboolean patch_gains_asked(const LithoPatchParams *params)
{
    return params->balance == LITHO_PATCH_BALANCE_AUTO && params->mode == LITHO_PATCH_DENOISE &&
           !(params->sigma > 0);
}

guint64 patch_gains_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box)
{
    const gint64 lines = MIN(grid->axis[0].n, grid->axis[1].n);
    return patch_gains_asked(params) && lines >= LITHO_BALANCE_LINES ? 4 * litho_box_count(box) : 0;
}

static gboolean take_gains(PatchGains *g, const LithoCube *in, const LithoReader *blocks,
                           LithoMeasured *measured, LithoRun *run, GError **error)
{
    static gint stamps; // atomic
    if (measured ? g->measured == measured : !g->measured && g->of_serial == in->serial)
        return TRUE;
    patch_gains_clear(g);
    if (measured) {
        g->of = patch_gains_from_measured(&in->grid, measured);
        g->measured = litho_measured_ref(measured);
    } else if (litho_balance_measure(in, blocks, run, &g->of, error)) {
        g->of_serial = in->serial;
    } else {
        return FALSE;
    }
    g->stamp = (guint64)g_atomic_int_add(&stamps, 1) + 1;
    return TRUE;
}

static LithoCube *divide(const PatchGains *g, const LithoCube *in, const PatchGainsDevice *device,
                         LithoRun *run, GError **error)
{
    if (device)
        return device->divide(in, g->of.gain, run, device->data, error);
    return litho_cube_host(in, error) ? litho_balance_divide(in, g->of.gain, run, error) : NULL;
}

const LithoCube *patch_gains_divide(PatchGains *g, const LithoPatchParams *params,
                                    const LithoCube *in, const PatchGainsDevice *device,
                                    LithoMeasured *measured, LithoRun *run, GError **error)
{
    const LithoReader *blocks = device ? device->blocks : NULL;
    if (!patch_gains_asked(params)) {
        patch_gains_clear(g);
        return in;
    }
    if ((!measured && !blocks && !litho_cube_host(in, error)) ||
        !take_gains(g, in, blocks, measured, run, error))
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

void patch_gains_clear(PatchGains *g)
{
    litho_uneven_clear(&g->of);
    litho_cube_unref(g->cube);
    litho_measured_unref(g->measured);
    *g = (PatchGains){0};
}

LithoCleanRule patch_gains_clean_rule(const PatchGains *g, const LithoPatchParams *params)
{
    LithoCleanRule rule = litho_patch_clean_rule(params);
    rule.share = g->of.share;
    rule.share_of = g->of.share ? g->stamp : 0;
    return rule;
}

void patch_gains_report(const PatchGains *g, const LithoGrid *grid, LithoReport *report)
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
        litho_report_remark(report, "patch: some traces have reversed polarity; they were turned "
                                    "for the filter and back again");
    }
    if (squares > 0) {
        litho_report_number(report, "gain_scatter", "scatter of the traces' gains", "%",
                            100 * sqrt(squares / n));
        litho_report_remark(report, "patch: amplitudes differ from trace to trace; traces were "
                                    "filtered over their gains and multiplied by them again");
    }
    if (g->of.share)
        litho_report_number(report, "noisy_traces", "traces with more noise than others", "%",
                            100.0 * noisy / n);
}
