// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/operators_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/baselines/baselines.h"
#include "app/operators_text.h"
#include "render/sheet.h"
#include "core/engine/find.h"
#include "core/error.h"
#include "core/json.h"
#include "core/synth/synth.h"

// --- rows ---------------------------------------------------------------------------------------

// A cube, and its noise or its missing traces.
typedef struct Row {
    const char *cube;  // generator
    const char *noise; // its spectrum; NULL = none, traces are missing
    int level;         // dB; percent of missing traces, 0 = every second inline, trace of a line
} Row;

static void add_row(GArray *rows, const char *cube, const char *noise, int level)
{
    const Row row = {cube, noise, level};
    g_array_append_val(rows, row);
}

static char *row_id(const Row *row)
{
    if (row->noise)
        return g_strdup_printf("%s %s %d", row->cube, row->noise, row->level);
    return row->level ? g_strdup_printf("%s random %d", row->cube, row->level)
                      : g_strdup_printf("%s regular 50", row->cube);
}

static GArray *all_rows(void)
{
    static const char *const cubes[] = {"planes", "curved", "conflict", "fault"};
    static const char *const noises[] = {"white", "low", "band", "mixed"};
    static const int levels[] = {0, -6, 10}, missing[] = {50, 75, 0};
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));
    for (guint n = 0; n < G_N_ELEMENTS(noises); n++)
        for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
            for (guint c = 0; c < G_N_ELEMENTS(cubes); c++)
                add_row(rows, cubes[c], noises[n], levels[l]);
            if (n == 0)
                add_row(rows, "survey", noises[n], levels[l]);
        }
    for (guint m = 0; m < G_N_ELEMENTS(missing); m++)
        for (guint c = 1; c < G_N_ELEMENTS(cubes); c++)
            add_row(rows, cubes[c], NULL, missing[m]);
    return rows;
}

// TRUE where `id` has all words of one of the comma-separated groups; "noise" and "fill" name tasks.
static gboolean is_wanted(const char *id, const char *task, const char *groups)
{
    g_auto(GStrv) group = groups ? g_strsplit(groups, ",", -1) : NULL;
    g_auto(GStrv) words = g_strsplit(id, " ", -1);
    for (char **one = group; one && *one; one++) {
        g_auto(GStrv) asked = g_strsplit_set(g_strstrip(*one), " ", -1);
        gboolean all = TRUE;
        for (char **word = asked; *word; word++)
            all = all && (g_strv_contains((const char *const *)words, *word) ||
                          strcmp(*word, task) == 0);
        if (all)
            return TRUE;
    }
    return groups == NULL;
}

// --- a row under way ----------------------------------------------------------------------------

typedef struct Work {
    const LithoTableAsk *ask;
    const Row *row;
    LithoCube *in, *truth, *missing; // missing: live where a trace was taken away; NULL = noise row
    LithoNoise noise;                // n 0 = unknown, Find is not asked
    JsonArray *cells;                // borrowed
    GPtrArray *outputs;              // of LithoCube, with the defaults, for the pictures
    GPtrArray *titles;
} Work;

static gboolean set_number(const LithoSynth *synth, gpointer params, const char *key, double value,
                           GError **error)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(text, sizeof text, value);
    return litho_param_parse(&synth->params, params, key, text, error);
}

static gboolean make_cubes(Work *w, LithoRun *run, GError **error)
{
    const LithoSynth *synth = litho_synth_find(w->row->cube);
    const gboolean fill = w->row->noise == NULL;
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    const gint64 *size = w->ask->size;
    const gboolean line = size[0] == 1;
    const double n[3] = {fill && !line ? size[0] * 3 / 4 : size[0],
                         fill ? size[1] * 3 / 4 : size[1], fill ? size[2] * 3 / 8 : size[2]};
    if (!set_number(synth, params, "inlines", n[0], error) ||
        !set_number(synth, params, "xlines", n[1], error) ||
        !set_number(synth, params, "samples", n[2], error) ||
        !set_number(synth, params, "seed", w->ask->seed, error) ||
        !set_number(synth, params, "snr", fill ? 1000 : w->row->level, error) ||
        (fill && !set_number(synth, params, "missing", w->row->level, error)) ||
        (!fill && litho_param_find(&synth->params, "noise") &&
         !litho_param_parse(&synth->params, params, "noise", w->row->noise, error)) ||
        !synth->make(params, run, &w->in, &w->truth, NULL, error))
        return FALSE;
    if (!fill)
        return TRUE;
    const gint64 nt = w->in->grid.axis[2].n, nx = w->in->grid.axis[1].n;
    const gint64 traces = litho_grid_traces(&w->in->grid);
    for (gint64 t = 0; t < traces && w->row->level == 0; t++)
        if ((line ? t : t / nx) % 2) {
            w->in->live[t] = 0;
            memset(w->in->samples + t * nt, 0, nt * sizeof *w->in->samples);
        }
    w->missing = litho_cube_copy_box(w->truth, w->truth->held, error);
    for (gint64 t = 0; t < traces && w->missing; t++)
        w->missing->live[t] = !w->in->live[t];
    return w->missing != NULL;
}

// Adds the cell of one method; takes over `settings`.
static gboolean add_cell(Work *w, const char *method, char *settings, LithoCube *out,
                         double seconds, const GError *refused, GError **error)
{
    JsonObject *cell = json_object_new();
    json_object_set_string_member(cell, "method", method);
    json_object_set_string_member(cell, "settings", settings ? settings : "");
    g_free(settings);
    json_array_add_object_element(w->cells, cell);
    if (refused) {
        json_object_set_string_member(cell, "refused", refused->message);
        return TRUE;
    }
    LithoDifference d;
    // A filled trace counts, whatever the method says of it; without filling those recorded count.
    LithoCube *mask = w->missing ? w->missing : w->in;
    memcpy(out->live, mask->live, litho_grid_traces(&out->grid));
    if (!litho_qc_compare(out, w->truth, mask, &d, error))
        return FALSE;
    json_object_set_double_member(cell, "snr_db", isfinite(d.snr_db) ? d.snr_db : 200);
    json_object_set_double_member(cell, "lost_percent", 100 * (1 - d.scale));
    json_object_set_double_member(cell, "seconds", seconds);
    return TRUE;
}

static void keep_output(Work *w, LithoCube *out, const char *title)
{
    if (!w->ask->pictures)
        return;
    g_ptr_array_add(w->outputs, litho_cube_ref(out));
    g_ptr_array_add(w->titles, g_strdup(title));
}

// --- methods ------------------------------------------------------------------------------------

static gboolean run_flow(Work *w, const LithoFlow *flow, const char *method, gboolean is_default,
                         LithoRun *run, GError **error)
{
    LithoEngine *engine = litho_engine_new(w->ask->device);
    LithoRun one = {.cancel = run->cancel, .threads = run->threads};
    g_autoptr(GError) refused = NULL;
    const double start = litho_now_ms();
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, w->in, NULL, &one, &refused);
    const double seconds = 1e-3 * (litho_now_ms() - start);
    gboolean ok = TRUE;
    if (out && !litho_cube_host(out, &refused))
        g_clear_pointer(&out, litho_cube_unref);
    if (!out && litho_error_is_cancelled(refused)) {
        g_propagate_error(error, g_steal_pointer(&refused));
        ok = FALSE;
    }
    // The mask of the cell is the row's own, the output's may be shared: a copy has its own.
    g_autoptr(LithoCube) own = out ? litho_cube_copy_box(out, out->held, error) : NULL;
    ok = ok && (own || !out) &&
         add_cell(w, method, litho_flow_command(flow, "IN", "OUT"), own, seconds, refused, error);
    if (ok && own && is_default)
        keep_output(w, own, method);
    litho_engine_free(engine);
    return ok;
}

// The flow with the values that Find gives; NULL with *error not set: Find has no answer here.
static LithoFlow *found_flow(Work *w, const LithoFlow *flow, LithoRun *run, GError **error)
{
    LithoJudge *judge = litho_judge_new(w->ask->device);
    LithoRun one = {.cancel = run->cancel, .threads = run->threads};
    LithoFindAsk ask = {.quality = {.flow = flow,
                                    .in = w->in,
                                    .area = litho_box_full(&w->in->grid),
                                    .noise = &w->noise,
                                    .seed = 1},
                        .seconds = w->ask->seconds};
    g_autoptr(GError) none = NULL;
    LithoFlow *best = NULL;
    LithoFind find;
    if (litho_find(judge, &ask, &one, &find, &none)) {
        best = litho_flow_copy(flow);
        litho_find_apply(&find, G_MAXUINT, litho_flow_step(best, 0)->op,
                         litho_flow_step(best, 0)->params);
    } else if (litho_error_is_cancelled(none)) {
        g_propagate_error(error, g_steal_pointer(&none));
    }
    litho_judge_free(judge);
    return best;
}

// With a preset "fill" where the operator has one, else with the settings that it names itself.
static gboolean prepare_fill(LithoStep *step)
{
    return litho_operator_preset(step->op, "fill", step->params, NULL) ||
           (step->op->fills &&
            litho_operator_settings(step->op, step->params, step->op->fills, NULL));
}

static gboolean run_operator(Work *w, const LithoOperator *op, LithoRun *run, GError **error)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, op);
    if (w->missing && !prepare_fill(litho_flow_step(flow, 0)))
        return TRUE;
    if (!run_flow(w, flow, op->key, TRUE, run, error))
        return FALSE;
    if (w->missing || w->noise.n == 0 || w->ask->seconds <= 0)
        return TRUE;
    GError *failed = NULL;
    g_autoptr(LithoFlow) best = found_flow(w, flow, run, &failed);
    if (!best) {
        g_propagate_error(error, failed);
        return failed == NULL;
    }
    g_autofree char *name = g_strdup_printf("%s, found", op->key);
    return run_flow(w, best, name, FALSE, run, error);
}

static gboolean run_baseline(Work *w, const LithoBaseline *b, LithoRun *run, GError **error)
{
    gboolean (*func)(const LithoCube *, LithoCube *, LithoRun *, GError **) =
        w->missing ? b->fill : b->denoise;
    if (!func)
        return TRUE;
    g_autoptr(LithoCube) out = litho_cube_new(&w->in->grid, error);
    LithoRun one = {.cancel = run->cancel, .threads = run->threads};
    g_autoptr(GError) refused = NULL;
    const double start = litho_now_ms();
    if (!out)
        return FALSE;
    if (!func(w->in, out, &one, &refused) && litho_error_is_cancelled(refused)) {
        g_propagate_error(error, g_steal_pointer(&refused));
        return FALSE;
    }
    const double seconds = 1e-3 * (litho_now_ms() - start);
    if (!add_cell(w, b->name, NULL, out, seconds, refused, error))
        return FALSE;
    if (!refused)
        keep_output(w, out, b->title);
    return TRUE;
}

static gboolean run_methods(Work *w, LithoRun *run, GError **error)
{
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        if ((*op)->needs_input && (*op)->find && is_wanted((*op)->key, "", w->ask->methods) &&
            !run_operator(w, *op, run, error))
            return FALSE;
    for (const LithoBaseline *const *b = litho_baselines(); *b; b++)
        if (is_wanted((*b)->name, "", w->ask->methods) && !run_baseline(w, *b, run, error))
            return FALSE;
    return TRUE;
}

// --- pictures -----------------------------------------------------------------------------------

static gboolean draw_cell(LithoSheet *sheet, guint number, LithoCube *cube, const char *title,
                          const LithoLook *look, GError **error)
{
    LithoSheetCell *cell = &sheet->cells[number];
    cell->picture =
        litho_sheet_slice(sheet, cube, LITHO_INLINE, cube->grid.axis[0].n / 2 | 1, look, error);
    cell->lines[0] = g_strdup(title);
    return cell->picture != NULL;
}

// Above: input and outputs. Below: truth and what each method took from the truth or left on it.
static gboolean draw(Work *w, const char *id, LithoRun *run, GError **error)
{
    const guint columns = w->outputs->len + 1;
    LithoSheet *sheet = litho_sheet_new(columns, 2);
    LithoStats stats;
    LithoLook look = litho_look_default();
    g_autofree char *name = g_strdup_printf("%s.png", id);
    g_strdelimit(name, " ", '-');
    g_autofree char *path = g_build_filename(w->ask->pictures, name, NULL);
    gboolean ok = litho_qc_stats(w->truth, run, &stats, error);
    const LithoRange range = litho_qc_range(w->truth, &stats, LITHO_CLIP_AUTO);
    litho_look_set_range(&look, &range);
    sheet->title = g_strdup(id);
    ok = ok && draw_cell(sheet, 0, w->in, "input", &look, error) &&
         draw_cell(sheet, columns, w->truth, "truth", &look, error);
    for (guint k = 0; ok && k < w->outputs->len; k++) {
        LithoCube *out = w->outputs->pdata[k];
        g_autoptr(LithoCube) rest = litho_cube_copy_box(out, out->held, error);
        g_autofree char *title = g_strdup_printf("error of %s", (char *)w->titles->pdata[k]);
        ok = rest && draw_cell(sheet, k + 1, out, w->titles->pdata[k], &look, error);
        for (gint64 i = 0, n = ok ? litho_cube_held_samples(rest) : 0; i < n; i++)
            rest->samples[i] -= w->truth->samples[i];
        ok = ok && draw_cell(sheet, columns + k + 1, rest, title, &look, error);
    }
    ok = ok && litho_sheet_save(sheet, path, w->ask->replace == LITHO_REPLACE_ANY, error);
    litho_sheet_free(sheet);
    return ok;
}

// --- the table ----------------------------------------------------------------------------------

static gboolean make_row(Work *w, const char *id, JsonObject *object, LithoRun *run, GError **error)
{
    g_autoptr(GError) unknown = NULL;
    JsonArray *cells = json_array_new();
    w->cells = cells;
    json_object_set_string_member(object, "id", id);
    json_object_set_string_member(object, "task", w->row->noise ? "noise" : "fill");
    json_object_set_int_member(object, "seed", w->ask->seed);
    json_object_set_array_member(object, "cells", cells);
    if (!make_cubes(w, run, error))
        return FALSE;
    g_autofree char *size =
        g_strdup_printf("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
                        w->in->grid.axis[0].n, w->in->grid.axis[1].n, w->in->grid.axis[2].n);
    json_object_set_string_member(object, "size", size);
    if (!w->missing && !litho_quality_noise(w->in, NULL, run, &w->noise, &unknown)) {
        w->noise.n = 0;
        if (litho_error_is_cancelled(unknown)) {
            g_propagate_error(error, g_steal_pointer(&unknown));
            return FALSE;
        }
    }
    return run_methods(w, run, error) && (!w->ask->pictures || draw(w, id, run, error));
}

static gboolean one_row(const LithoTableAsk *ask, const Row *row, const char *id, JsonObject *object,
                        LithoRun *run, GError **error)
{
    Work w = {.ask = ask, .row = row};
    LithoRun one = {.cancel = run->cancel, .threads = run->threads};
    w.outputs = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    w.titles = g_ptr_array_new_with_free_func(g_free);
    const gboolean ok = make_row(&w, id, object, &one, error);
    litho_cube_unref(w.in);
    litho_cube_unref(w.truth);
    litho_cube_unref(w.missing);
    if (w.noise.n > 0)
        litho_noise_clear(&w.noise);
    g_ptr_array_unref(w.outputs);
    g_ptr_array_unref(w.titles);
    return ok;
}

static JsonObject *row_of(JsonArray *rows, const char *id)
{
    for (guint k = 0; k < json_array_get_length(rows); k++) {
        JsonObject *row = litho_json_node_object(json_array_get_element(rows, k));
        if (row && g_strcmp0(litho_json_string_or(row, "id", NULL), id) == 0)
            return row;
    }
    return NULL;
}

// Rows of an earlier run; none where there is no file.
static gboolean read_rows(const char *path, JsonArray **rows, GError **error)
{
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return TRUE;
    g_autoptr(JsonNode) root = litho_json_load(path, error);
    JsonObject *object = root ? litho_json_node_object(root) : NULL;
    JsonArray *found = object ? litho_json_array_or_null(object, "rows") : NULL;
    if (!root)
        return FALSE;
    if (!found)
        return litho_refuse(error, LITHO_ERROR_FORMAT, "%s is no table of operators", path);
    json_array_unref(*rows);
    *rows = json_array_ref(found);
    return TRUE;
}

// The rows there are, in the order of `all`, whatever order they were made in.
static JsonArray *in_order(JsonArray *rows, GArray *all)
{
    JsonArray *sorted = json_array_new();
    for (guint k = 0; k < all->len; k++) {
        g_autofree char *id = row_id(&g_array_index(all, Row, k));
        JsonObject *row = row_of(rows, id);
        if (row)
            json_array_add_object_element(sorted, json_object_ref(row));
    }
    return sorted;
}

static gboolean save(const LithoTableAsk *ask, const char *json, JsonArray *unsorted, GArray *all,
                     LithoReplace replace, GError **error)
{
    JsonObject *object = json_object_new();
    JsonArray *rows = in_order(unsorted, all);
    json_object_set_string_member(object, "version", LITHO_VERSION);
    json_object_set_array_member(object, "rows", rows); // takes it over
    g_autofree char *text = litho_operators_text(rows);
    g_autofree char *figures = litho_json_object_text(object);
    return litho_output_save(json, figures, -1, replace, error) &&
           litho_output_save(ask->markdown, text, -1, replace, error);
}

// TRUE where every group names something of `ids` and `tasks`.
static gboolean all_found(const char *option, const char *groups, GPtrArray *ids, GPtrArray *tasks,
                          GError **error)
{
    g_auto(GStrv) group = groups ? g_strsplit(groups, ",", -1) : NULL;
    for (char **one = group; one && *one; one++) {
        gboolean found = FALSE;
        for (guint k = 0; k < ids->len && !found; k++)
            found = is_wanted(ids->pdata[k], tasks->pdata[k], *one);
        if (!found)
            return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s: there is no '%s' in the table",
                                option, g_strstrip(*one));
    }
    return TRUE;
}

gboolean litho_operators_table_check(const LithoTableAsk *ask, GError **error)
{
    g_autoptr(GArray) all = all_rows();
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) tasks = g_ptr_array_new(), methods = g_ptr_array_new();
    for (guint k = 0; k < all->len; k++) {
        const Row *row = &g_array_index(all, Row, k);
        g_ptr_array_add(rows, row_id(row));
        g_ptr_array_add(tasks, row->noise ? "noise" : "fill");
    }
    if (!all_found("--rows", ask->rows, rows, tasks, error))
        return FALSE;
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        if ((*op)->needs_input && (*op)->find)
            g_ptr_array_add(methods, (gpointer)(*op)->key);
    for (const LithoBaseline *const *b = litho_baselines(); *b; b++)
        g_ptr_array_add(methods, (gpointer)(*b)->name);
    g_ptr_array_set_size(tasks, 0);
    for (guint k = 0; k < methods->len; k++)
        g_ptr_array_add(tasks, "");
    return all_found("--methods", ask->methods, methods, tasks, error);
}

gboolean litho_operators_table(const LithoTableAsk *ask, LithoRun *run, GError **error)
{
    const gsize stem = strlen(ask->markdown) - strlen(".md");
    g_autofree char *json = g_strdup_printf("%.*s.json", (int)stem, ask->markdown);
    const char *const writes[] = {ask->markdown, json, NULL};
    LithoReplace replace = ask->resume ? LITHO_REPLACE_ANY : ask->replace;
    g_autoptr(GArray) wanted = all_rows();
    JsonArray *rows = json_array_new();
    gboolean ok = litho_outputs_check(writes, replace, error) &&
                  (!ask->resume || read_rows(json, &rows, error));
    // Figures of an earlier run alone make a table, too.
    if (ok && json_array_get_length(rows) > 0)
        ok = save(ask, json, rows, wanted, replace, error);
    for (guint k = 0; ok && k < wanted->len; k++) {
        const Row *row = &g_array_index(wanted, Row, k);
        g_autofree char *id = row_id(row);
        if (!is_wanted(id, row->noise ? "noise" : "fill", ask->rows) || row_of(rows, id))
            continue;
        JsonObject *object = json_object_new();
        litho_run_begin(run, "comparing", "rows");
        ok = litho_run_step(run, k, wanted->len, error) &&
             one_row(ask, row, id, object, run, error);
        if (!ok) {
            json_object_unref(object);
            break;
        }
        json_array_add_object_element(rows, object);
        ok = save(ask, json, rows, wanted, replace, error);
        replace = LITHO_REPLACE_ANY; // the first row has found the names free or to be replaced
    }
    json_array_unref(rows);
    return ok;
}
