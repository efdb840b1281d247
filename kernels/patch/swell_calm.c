// SPDX-License-Identifier: GPL-3.0-or-later
//
// The input without its swell, of plans and of what reads a survey part by part.
#include "core/error.h"
#include "kernels/patch/swell.h"

static LithoCube *read_cube(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    return litho_cube_copy_box(data, *box, error);
}

static gboolean take_numbers(PatchCalm *c, const LithoPatchParams *params, const LithoCube *in,
                             const LithoReader *reader, LithoMeasured *measured, LithoRun *run,
                             GError **error)
{
    if (measured ? c->measured == measured : !c->measured && c->of_serial == in->serial)
        return TRUE;
    patch_swell_clear(c);
    if (measured) {
        c->of = patch_swell_from_measured(measured);
        c->measured = litho_measured_ref(measured);
        return TRUE;
    }
    if (!patch_swell_find(reader, params, run, &c->of, error))
        return FALSE;
    c->of_serial = in->serial;
    return TRUE;
}

const LithoCube *patch_swell_calm(PatchCalm *c, const LithoPatchParams *params, const LithoCube *in,
                                  const LithoReader *blocks, LithoMeasured *measured, LithoRun *run,
                                  GError **error)
{
    const LithoReader own = {.grid = &in->grid, .read = read_cube, .data = (gpointer)in};
    const LithoReader *reader = blocks ? blocks : &own;
    if (!patch_swell_asked(&in->grid, params)) {
        patch_swell_clear(c);
        return in;
    }
    if ((!blocks && !litho_cube_host(in, error)) ||
        !take_numbers(c, params, in, reader, measured, run, error))
        return NULL;
    if (!c->of.found)
        return in;
    if (c->serial == in->serial)
        return c->cube;
    g_clear_pointer(&c->cube, litho_cube_unref);
    c->serial = 0;
    LithoRun quiet = litho_run_quiet(run);
    g_autoptr(LithoCube) cube = reader->read(&in->held, &quiet, reader->data, error);
    if (!cube || !patch_swell_remove(&c->of, cube, &c->part, run, error))
        return NULL;
    c->cube = g_steal_pointer(&cube);
    c->serial = in->serial;
    return c->cube;
}

void patch_swell_clear(PatchCalm *c)
{
    litho_cube_unref(c->cube);
    litho_measured_unref(c->measured);
    *c = (PatchCalm){0};
}

void patch_swell_report(const PatchCalm *c, LithoReport *report)
{
    if (!report || !c->cube)
        return;
    litho_report_number(report, "swell_traces", "traces with swell", "%", 100 * c->part);
    litho_report_remark(report,
                        "patch: noise of low frequency lasts, as swell does; on %.0f %% of "
                        "the traces it was drawn down to the level of the other noise "
                        "before the filter (swell=off leaves it)",
                        100 * c->part);
}

// A LithoReader's read(): with the surroundings that the swell of the box depends on.
static LithoCube *read_calm(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const PatchCalmReader *c = data;
    const LithoBox need = patch_swell_box(c->survey->grid, c->params, *box);
    g_autoptr(LithoCube) cube = c->survey->read(&need, run, c->survey->data, error);
    if (!cube || !litho_cube_host(cube, error))
        return NULL;
    g_autoptr(LithoCube) own = litho_cube_copy_box(cube, need, error);
    g_clear_pointer(&cube, litho_cube_unref);
    if (!own || !patch_swell_remove(&c->swell, own, NULL, run, error))
        return NULL;
    return litho_cube_copy_box(own, *box, error);
}

void patch_swell_read(PatchCalmReader *c, const LithoReader *survey, const LithoPatchParams *params,
                      PatchSwell swell)
{
    *c = (PatchCalmReader){.survey = survey, .params = params, .swell = swell, .reader = *survey};
    if (swell.found) {
        c->reader.read = read_calm;
        c->reader.data = c;
    }
}
