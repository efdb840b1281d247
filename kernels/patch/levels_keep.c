// SPDX-License-Identifier: GPL-3.0-or-later
//
// Levels from one pass to the next: they are measured once a cube, window and recipe.
#include "core/memory.h"
#include "kernels/common/noise_job.h"
#include "kernels/patch/levels_cells.h"

// Filling stops at the level of a frequency, also with mode=both: on a stack (300 samples x 100 x
// 10 traces) the power at each wavenumber holds weak events, and traces held out came back
// with 10.7, 7.1 and 6.0 dB where 20, 50 and 70 % were missing, not with 14.5, 12.2 and 10.6.
gboolean patch_levels_have_shape(const LithoPatchParams *params)
{
    return params->mode != LITHO_PATCH_FILL;
}

static gboolean is_current(const PatchLevels *l, const LithoPatchGeometry *g,
                           const LithoPatchParams *p, const LithoCube *in, LithoMeasured *measured)
{
    if (!l->sigma || l->table.bins != g->bins || l->params.sigma != p->sigma ||
        l->params.level != p->level ||
        patch_levels_have_shape(&l->params) != patch_levels_have_shape(p) ||
        (l->absent == PATCH_TOO_FEW && p->mode != LITHO_PATCH_FILL))
        return FALSE;
    if (p->sigma > 0)
        return TRUE;
    if (measured || l->measured)
        return measured == l->measured;
    return l->serial == in->serial && l->params.window == p->window &&
           l->params.window_il == p->window_il && l->params.window_xl == p->window_xl &&
           l->params.window_t == p->window_t;
}

void patch_levels_recall(PatchLevels *l, PatchLevels *kept, int n_kept, const LithoPatchGeometry *g,
                         const LithoPatchParams *params, const LithoCube *in,
                         LithoMeasured *measured)
{
    int at = 0; // stamps grow: the least is the oldest, 0 that of none
    if (is_current(l, g, params, in, measured))
        return;
    for (int k = 0; k < n_kept; k++) {
        if (is_current(&kept[k], g, params, in, measured)) {
            at = k;
            break;
        }
        if (kept[k].stamp < kept[at].stamp)
            at = k;
    }
    const PatchLevels other = kept[at];
    kept[at] = *l;
    *l = other;
}

gboolean patch_levels_update(PatchLevels *l, const LithoPatchGeometry *g,
                             const LithoPatchParams *params, const LithoCube *in,
                             const guint8 *recorded, LithoMeasured *measured,
                             const PatchMeter *meter, LithoRun *run, GError **error)
{
    if (is_current(l, g, params, in, measured))
        return TRUE;
    const int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    patch_levels_clear(l);
    l->params = *params;
    patch_cells_make(l, &in->grid, g);
    if (params->sigma > 0) {
        const gsize n = (gsize)patch_levels_cells(l) * g->bins;
        for (gsize k = 0; k < n; k++)
            l->sigma[k] = (float)params->sigma;
        l->total = l->low = l->high = params->sigma;
    } else if (!(measured ? patch_levels_from_measured(l, g, measured, error)
                          : patch_levels_measure(l, g, in, recorded, meter, run, error))) {
        patch_levels_clear(l);
        return FALSE;
    } else if (!measured && !(meter && patch_meter_takes(window))) {
        litho_memory_return(); // what the host's threads had is more than the filter's
    }
    static gint stamps; // atomic
    l->serial = in->serial;
    l->stamp = (guint)g_atomic_int_add(&stamps, 1) + 1;
    return TRUE;
}

void patch_levels_clear(PatchLevels *l)
{
    g_free(l->sigma);
    g_free(l->shape);
    litho_uneven_clear(&l->of);
    litho_measured_unref(l->measured);
    *l = (PatchLevels){0};
}

gboolean patch_levels_are_there(const PatchLevels *l, const LithoPatchGeometry *g, GError **error)
{
    return l->absent != PATCH_TOO_FEW || noise_too_few(g->axis[0].length, g->axis[1].length, error);
}
