// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_hints.h"

#include <stdio.h>
#include <string.h>

#include "core/io/beside.h"
#include "core/text.h"
#include "core/walk.h"

// TRUE when the words of the command line set the row of a step, "velocity=2000".
static gboolean is_given(char **words, guint step, guint n_steps, const char *key)
{
    const gsize length = strlen(key);
    guint n_plus = 0;
    for (char **word = words; *word; word++)
        n_plus += strcmp(*word, "+") == 0;
    // Every "+" adds one step behind those of the first word, which may be a recipe of several.
    for (guint at = n_steps - 1 - n_plus; *words; words++)
        if (strcmp(*words, "+") == 0)
            at++;
        else if (at == step && strncmp(*words, key, length) == 0 && (*words)[length] == '=')
            return TRUE;
    return FALSE;
}

// A model or file that nobody named: the result depends on it. `velocity`: one that was not asked
// for, or NULL.
static void hint_default(const LithoStep *step, const LithoParam *row, const char *velocity)
{
    g_autofree char *value = litho_param_print(row, step->params);
    if (row->type != LITHO_PARAM_FILE || !*value || g_strcmp0(value, row->def_text) != 0)
        return;
    fprintf(stderr, _("note: %s: %s is %s%s%s, its default\n"), step->op->key, row->key, value,
            row->unit ? " " : "", row->unit ? row->unit : "");
    if (row->role == LITHO_ROLE_VELOCITY && velocity)
        fprintf(stderr, _("note: %s lies beside the input: %s=%s takes it\n"), velocity, row->key,
                velocity);
}

// A setting that was typed and that the others leave without effect.
static void hint_unused(const LithoStep *step, const LithoParam *row)
{
    if (row->when)
        fprintf(stderr, _("note: %s: %s changes nothing here; it acts with %s\n"), step->op->key,
                row->key, row->when);
}

void litho_cli_hint_settings(const LithoFlow *flow, char **words, char **in)
{
    g_autofree char *velocity = litho_velocity_beside((const char *const *)in);
    const guint steps = litho_flow_length(flow);
    for (guint k = 0; k < steps; k++) {
        const LithoStep *step = &g_array_index(flow->steps, LithoStep, k);
        const LithoParamTable *table = &step->op->params;
        for (guint r = 0; step->enabled && r < table->n; r++) {
            const LithoParam *row = &table->rows[r];
            const gboolean applies = litho_param_applies(table, row, step->params);
            const gboolean given = is_given(words, k, steps, row->key);
            if (applies && !given)
                hint_default(step, row, velocity);
            else if (!applies && given)
                hint_unused(step, row);
        }
    }
}

void litho_cli_hint_bands(const LithoFlow *flow, char **words, const LithoGrid *grid)
{
    g_autoptr(LithoWalk) walk = litho_walk_look(flow, grid, NULL);
    for (guint s = 0; walk && s < walk->n; s++) {
        const LithoWalkStep *at = &walk->step[s];
        const LithoParamTable *table = &at->step->op->params;
        guint k = 0;
        while (litho_flow_step(flow, k) != at->step)
            k++;
        for (guint r = 0; at->has_in && r < table->n; r++) {
            const LithoParam *row = &table->rows[r];
            const gboolean fits = !at->in.is_depth || row->depth_unit;
            const double nyquist = litho_grid_nyquist(&at->in);
            if (row->role != LITHO_ROLE_BAND_HIGH || !fits ||
                !(litho_param_get(row, at->step->params) > nyquist) ||
                !is_given(words, k, litho_flow_length(flow), row->key))
                continue;
            const char *unit = at->in.is_depth ? row->depth_unit : row->unit;
            fprintf(stderr,
                    _("note: %s: %s is %g %s; the samples end at the Nyquist frequency, %g %s\n"),
                    at->step->op->key, row->key, litho_param_get(row, at->step->params), unit,
                    nyquist, unit);
        }
    }
}

void litho_cli_hint_idle(const LithoCliJudge *judge, const LithoFlow *flow)
{
    const struct {
        const char *name;
        gboolean given;
    } idle[] = {{"--sigma", judge->sigma > 0},
                {"--area", judge->area != NULL},
                {"--seed", judge->seed != 1}};
    for (guint k = 0; k < G_N_ELEMENTS(idle); k++)
        if (idle[k].given)
            fprintf(stderr,
                    _("note: %s only judges: it does nothing without --report, --reference or "
                      "--hide\n"),
                    idle[k].name);
    gboolean has_own = FALSE;
    for (guint k = 0; k < litho_flow_length(flow); k++)
        has_own |= litho_param_find(&litho_flow_step(flow, k)->op->params, "sigma") != NULL;
    if (idle[0].given && has_own)
        fprintf(stderr, _("note: the noise level of the filter itself is sigma=%g, without --\n"),
                judge->sigma);
}
