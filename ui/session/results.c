// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/results.h"

struct LithoResults {
    guint64 tag; // of the newest wish
    // Kind of the newest wish, as text; how many different ones there have been; the first wish of
    // this one.
    char *kind_text;
    guint64 kind, first_tag;
    LithoResult *newest;
    LithoResult *backdrop; // newest whole result of the same grid, under the parts of `newest`
    guint64 n_repeated;    // results taken from elsewhere, for their generation
    GError *problem;
};

LithoResults *litho_results_new(void)
{
    return g_new0(LithoResults, 1);
}

void litho_results_free(LithoResults *results)
{
    if (!results)
        return;
    litho_results_drop(results);
    g_free(results->kind_text);
    g_free(results);
}

// --- wishes -------------------------------------------------------------------------------------

guint64 litho_results_tag(const LithoResults *results)
{
    return results->tag;
}

guint64 litho_results_kind(const LithoResults *results)
{
    return results->kind;
}

guint64 litho_results_next_tag(LithoResults *results)
{
    return ++results->tag;
}

// Everything about the flow but its numbers: while they move alone, figures of the last pass may
// stand until the next has told its own.
static char *describe_kind(const LithoFlow *flow, const LithoCube *in)
{
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%" G_GUINT64_FORMAT, in ? in->serial : 0);
    const char *volume = litho_flow_volume_step(flow) >= 0 ? flow->volume : NULL;
    g_string_append_printf(text, " %s", volume ? volume : "");
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (!step->enabled)
            continue;
        g_string_append_printf(text, "\n%s", step->op->key);
        for (guint r = 0; r < step->op->params.n; r++) {
            const LithoParam *row = &step->op->params.rows[r];
            if (row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT)
                continue;
            g_autofree char *value = litho_param_print(row, step->params);
            g_string_append_printf(text, " %s=%s", row->key, value);
        }
    }
    return g_string_free(text, FALSE);
}

gboolean litho_results_note_kind(LithoResults *results, const LithoFlow *flow, const LithoCube *in)
{
    g_autofree char *text = describe_kind(flow, in);
    if (g_strcmp0(text, results->kind_text) == 0)
        return FALSE;
    g_free(results->kind_text);
    results->kind_text = g_steal_pointer(&text);
    results->kind++;
    results->first_tag = results->tag + 1;
    return TRUE;
}

gboolean litho_results_is_own(const LithoResults *results, const LithoResult *result)
{
    return result && result->tag >= results->first_tag;
}

// --- results ------------------------------------------------------------------------------------

gboolean litho_results_take(LithoResults *results, LithoResult *result, const LithoGrid *out,
                            LithoCube **whole)
{
    LithoCube *last = g_ptr_array_index(result->parts, result->parts->len - 1);
    *whole = NULL;
    if (!litho_results_is_own(results, result) || !litho_grid_same_shape(&last->grid, out) ||
        (results->newest && result->tag < results->newest->tag)) {
        litho_result_unref(result); // of a flow or a file that has gone since, or overtaken
        return FALSE;
    }
    if (result->complete) {
        litho_result_unref(results->backdrop);
        results->backdrop = litho_result_ref(result);
        *whole = result->tag == results->tag ? last : NULL;
    }
    litho_result_unref(results->newest);
    results->newest = result;
    return TRUE;
}

LithoResult *litho_results_repeat(LithoResults *results, const LithoResult *known)
{
    // Numbers above all the worker's own: a view tells results apart by them.
    enum { ABOVE_BITS = 62 };
    LithoResult *result =
        litho_result_of(g_ptr_array_index(known->parts, 0), known->report, known->device);
    result->tag = ++results->tag;
    result->generation = (G_GUINT64_CONSTANT(1) << ABOVE_BITS) + ++results->n_repeated;
    result->seconds = known->seconds;
    result->wish_ms = litho_now_ms();
    return result;
}

const LithoResult *litho_results_newest(const LithoResults *results)
{
    return results->newest;
}

LithoCube *litho_results_whole(const LithoResults *results)
{
    const LithoResult *newest = results->newest;
    if (!newest || !newest->complete || newest->tag != results->tag)
        return NULL;
    return g_ptr_array_index(newest->parts, 0);
}

LithoCube *litho_results_holding(const LithoResults *results, LithoBox box)
{
    const LithoResult *newest[] = {results->newest, results->backdrop};
    for (guint r = 0; r < G_N_ELEMENTS(newest); r++) {
        guint n = litho_results_is_own(results, newest[r]) ? newest[r]->parts->len : 0;
        for (guint k = n; k-- > 0;) {
            LithoCube *part = g_ptr_array_index(newest[r]->parts, k);
            if (litho_box_contains(part->held, box))
                return part;
        }
    }
    return NULL;
}

gboolean litho_results_sample_of(LithoCube *cube, const gint64 at[3], float *value)
{
    LithoBox box = {{at[0], at[1], at[2]}, {at[0] + 1, at[1] + 1, at[2] + 1}};
    // A cube that is on a device only is not fetched for one number: it would stop the window.
    if (!cube || !g_atomic_pointer_get(&cube->samples) || !litho_box_contains(cube->held, box) ||
        !litho_cube_is_live(cube, at[0], at[1]))
        return FALSE;
    *value = litho_cube_trace(cube, at[0], at[1])[at[2] - cube->held.lo[2]];
    return TRUE;
}

gboolean litho_results_sample(const LithoResults *results, const gint64 at[3], float *value)
{
    const GPtrArray *parts = results->newest ? results->newest->parts : NULL;
    for (guint k = parts ? parts->len : 0; k-- > 0;)
        if (litho_results_sample_of(g_ptr_array_index(parts, k), at, value))
            return TRUE;
    return results->backdrop &&
           litho_results_sample_of(g_ptr_array_index(results->backdrop->parts, 0), at, value);
}

void litho_results_drop(LithoResults *results)
{
    g_clear_pointer(&results->newest, litho_result_unref);
    g_clear_pointer(&results->backdrop, litho_result_unref);
    g_clear_error(&results->problem);
}

// --- failures -----------------------------------------------------------------------------------

const GError *litho_results_problem(const LithoResults *results)
{
    return results->problem;
}

void litho_results_set_problem(LithoResults *results, const GError *problem)
{
    GError *copy = problem ? g_error_copy(problem) : NULL;
    g_clear_error(&results->problem);
    results->problem = copy;
}
