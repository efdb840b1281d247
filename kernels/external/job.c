// SPDX-License-Identifier: GPL-3.0-or-later
//
// The operator of a panel at work: what a region needs, the request, the answer. docs/external.md
// describes the protocol.
#include "kernels/external/job.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/show/script.h"
#include "kernels/external/program.h"

G_STATIC_ASSERT(G_BYTE_ORDER == G_LITTLE_ENDIAN); // samples pass as they lie in memory

#define MAGIC "LITHO-CUBE 1"
#define REFUSAL "LITHO-ERROR "

enum { LONGEST_LINE = 4096 };

typedef struct Plan {
    ExternalProgram *program; // or NULL: the next pass starts it
    // Ready in its place where passes are given up (a slider moves), so that none of them waits for
    // an interpreter to start; or NULL.
    ExternalProgram *spare;
    gboolean wants_spare;
} Plan;

static const ExternalPanel *panel_of(const void *params)
{
    return ((const ExternalParams *)params)->panel;
}

// --- regions ------------------------------------------------------------------------------------

// Samples of one axis in a parameter's unit: 1, or 1 / dt for a time or a depth. 0 = the axis does
// not say.
static double per_unit(const LithoAxis *axis, const char *unit)
{
    static const struct {
        const char *unit, *axis;
        double factor;
    } known[] = {{"s", "s", 1}, {"ms", "s", 1e-3}, {"m", "m", 1}, {"km", "m", 1e3}};
    for (guint k = 0; unit && k < G_N_ELEMENTS(known); k++)
        if (strcmp(unit, known[k].unit) == 0)
            return strcmp(axis->unit, known[k].axis) == 0 ? known[k].factor / fabs(axis->step) : 0;
    return 1;
}

static gint64 halo_of(const ExternalHalo *halo, const LithoAxis *axis, const void *params)
{
    if (halo->all)
        return axis->n;
    if (!halo->row)
        return (gint64)MIN(halo->fixed, (double)axis->n);
    const double factor = per_unit(axis, halo->row->unit);
    const double n = ceil(fabs(litho_param_get(halo->row, params)) * halo->times * factor - 1e-6);
    return factor == 0 ? axis->n : (gint64)MIN(n, (double)axis->n);
}

static LithoBox input_box(const LithoGrid *in, const void *params, LithoBox region)
{
    gint64 halo[3];
    for (int k = 0; k < 3; k++)
        halo[k] = halo_of(&panel_of(params)->halo[k], &in->axis[k], params);
    return litho_box_grow(in, region, halo);
}

// --- the request --------------------------------------------------------------------------------

// One cube on its way there and back.
typedef struct Exchange {
    const ExternalPanel *panel;
    const LithoPass *pass;
    LithoBox box; // of the input that is sent, and of the answer
    gint64 row;   // bytes of an inline of it

    char *header;
    gsize n_header;
    gint64 sent;    // inlines of `box`, -1 = the header is next
    float *sending; // one inline

    GString *line;    // of the answer, until it is whole
    gboolean begun;   // the line is whole
    gint64 got;       // inlines of the answer
    gint64 got_bytes; // of the next one
    float *getting;
} Exchange;

static JsonArray *numbers(const gint64 *value)
{
    JsonArray *array = json_array_new();
    for (int k = 0; k < 3; k++)
        json_array_add_int_element(array, value[k]);
    return array;
}

static JsonObject *box_object(LithoBox box, gint64 first[3])
{
    gint64 at[3], n[3];
    for (int k = 0; k < 3; k++) {
        at[k] = box.lo[k] - first[k];
        n[k] = litho_box_size(box, k);
    }
    JsonObject *object = json_object_new();
    json_object_set_array_member(object, "first", numbers(at));
    json_object_set_array_member(object, "shape", numbers(n));
    return object;
}

// Names of files are made whole: the program runs in another folder.
static JsonObject *values_of(const LithoOperator *op, const void *params)
{
    JsonObject *values = litho_params_to_json(&op->params, params);
    for (guint k = 0; k < op->params.n; k++) {
        const LithoParam *row = &op->params.rows[k];
        g_autofree char *text = litho_param_print(row, params);
        g_autofree char *whole = row->type == LITHO_PARAM_FILE && *text
                                     ? g_canonicalize_filename(text, NULL)
                                     : NULL;
        if (whole)
            json_object_set_string_member(values, row->key, whole);
    }
    return values;
}

static char *make_header(const Exchange *x, int threads)
{
    const LithoGrid *grid = &x->pass->in->grid;
    gint64 zero[3] = {0}, lo[3];
    memcpy(lo, x->box.lo, sizeof lo);
    JsonObject *root = json_object_new();
    json_object_set_object_member(root, "parameters", values_of(&x->panel->op, x->pass->params));
    json_object_set_object_member(root, "cube", box_object(x->box, zero));
    json_object_set_object_member(root, "wanted", box_object(x->pass->region, lo));
    json_object_set_object_member(root, "survey", box_object(litho_box_full(grid), zero));
    json_object_set_double_member(root, "sample_interval", grid->axis[2].step);
    json_object_set_double_member(root, "first_sample", litho_axis_value(&grid->axis[2], lo[2]));
    json_object_set_string_member(root, "sample_unit", grid->axis[2].unit);
    json_object_set_double_member(root, "inline_spacing", litho_grid_spacing(grid, 0));
    json_object_set_double_member(root, "xline_spacing", litho_grid_spacing(grid, 1));
    json_object_set_int_member(root, "threads", threads);
    g_autofree char *line = litho_json_object_line(root);
    return g_strdup_printf(MAGIC " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                                 "\n%s\n",
                           litho_box_size(x->box, 0), litho_box_size(x->box, 1),
                           litho_box_size(x->box, 2), line);
}

static void fill_inline(Exchange *x, gint64 i)
{
    const LithoCube *in = x->pass->in;
    const gint64 n = litho_box_size(x->box, 2);
    for (gint64 j = x->box.lo[1]; j < x->box.hi[1]; j++) {
        float *to = x->sending + (j - x->box.lo[1]) * n;
        if (litho_cube_is_live(in, i, j))
            memcpy(to, litho_cube_trace(in, i, j) + (x->box.lo[2] - in->held.lo[2]),
                   (gsize)n * sizeof *to);
        else
            for (gint64 t = 0; t < n; t++)
                to[t] = x->panel->missing_as_nan ? NAN : 0;
    }
}

static const char *give(gpointer data, gsize *n)
{
    Exchange *x = data;
    if (x->sent == litho_box_size(x->box, 0))
        return NULL;
    if (x->sent++ < 0) {
        *n = x->n_header;
        return x->header;
    }
    fill_inline(x, x->box.lo[0] + x->sent - 1);
    *n = (gsize)x->row;
    return (const char *)x->sending;
}

// --- the answer ---------------------------------------------------------------------------------

// `text` for a sentence: what can be printed of its beginning.
static char *shown(const char *text, gsize n)
{
    GString *said = g_string_new("'");
    for (gsize k = 0; k < MIN(n, 60); k++)
        g_string_append_c(said, g_ascii_isprint(text[k]) ? text[k] : '.');
    g_string_append(said, n > 60 ? "...'" : "'");
    return g_string_free(said, FALSE);
}

static gboolean refuse_line(const Exchange *x, GError **error)
{
    g_autofree char *found = shown(x->line->str, x->line->len);
    return litho_refuse(error, LITHO_ERROR_PROGRAM,
                        "began its answer with %s; the line '" MAGIC " %" PRId64 " %" PRId64
                        " %" PRId64 "' is needed",
                        found, litho_box_size(x->box, 0), litho_box_size(x->box, 1),
                        litho_box_size(x->box, 2));
}

// The line without its end is whole.
static gboolean read_line(const Exchange *x, GError **error)
{
    const char *text = x->line->str;
    if (g_str_has_prefix(text, REFUSAL)) {
        g_autofree char *sentence = g_utf8_make_valid(text + strlen(REFUSAL), -1);
        return litho_refuse(error, LITHO_ERROR_PROGRAM, "refuses: %s", sentence);
    }
    if (!g_str_has_prefix(text, MAGIC " "))
        return refuse_line(x, error);
    char *at = (char *)text + strlen(MAGIC);
    for (int k = 0; k < 3; k++) {
        char *end;
        const gint64 n = g_ascii_strtoll(at, &end, 10);
        if (end == at || n != litho_box_size(x->box, k))
            return refuse_line(x, error);
        at = end;
    }
    return *at == '\0' || refuse_line(x, error);
}

// Bytes of the line that came with these. FALSE: it is not the line.
static gboolean take_line(Exchange *x, const char *bytes, gsize n, gsize *used, GError **error)
{
    const char *end = memchr(bytes, '\n', n);
    *used = end ? (gsize)(end - bytes) + 1 : n;
    g_string_append_len(x->line, bytes, (gssize)(end ? *used - 1 : n));
    if (memchr(x->line->str, '\0', x->line->len) || x->line->len > LONGEST_LINE)
        return refuse_line(x, error);
    if (!end)
        return TRUE;
    if (x->line->len > 0 && x->line->str[x->line->len - 1] == '\r')
        g_string_truncate(x->line, x->line->len - 1);
    x->begun = read_line(x, error);
    return x->begun;
}

static gboolean refuse_value(const LithoGrid *grid, gint64 i, gint64 j, gint64 t, float value,
                             GError **error)
{
    const LithoAxis *axis = &grid->axis[2];
    return litho_refuse(error, LITHO_ERROR_NUMERICS,
                        "gave %s at inline %g, crossline %g, %g%s%s; finite numbers are needed",
                        isnan(value) ? "NaN" : "an infinite number",
                        litho_axis_value(&grid->axis[0], i), litho_axis_value(&grid->axis[1], j),
                        litho_axis_value(axis, t), *axis->unit ? " " : "", axis->unit);
}

// The part of an inline that is in the region. Missing traces stay so, unless they are filled.
static gboolean keep_inline(Exchange *x, gint64 i, GError **error)
{
    const LithoBox region = x->pass->region;
    LithoCube *out = x->pass->out;
    const gint64 n = litho_box_size(x->box, 2), lo = region.lo[2], count = litho_box_size(region, 2);
    if (i < region.lo[0] || i >= region.hi[0])
        return TRUE;
    for (gint64 j = region.lo[1]; j < region.hi[1]; j++) {
        const float *from = x->getting + (j - x->box.lo[1]) * n + (lo - x->box.lo[2]);
        float *to = litho_cube_trace(out, i, j) + (lo - out->held.lo[2]);
        if (!x->panel->fills && !litho_cube_is_live(x->pass->in, i, j)) {
            memset(to, 0, (gsize)count * sizeof *to);
            continue;
        }
        for (gint64 t = 0; t < count; t++)
            if (!isfinite(from[t]))
                return refuse_value(&out->grid, i, j, lo + t, from[t], error);
        memcpy(to, from, (gsize)count * sizeof *to);
        if (x->panel->fills)
            out->live[litho_cube_trace_index(out, i, j)] = 1;
    }
    return TRUE;
}

static gboolean is_whole(gpointer data, gint64 *done, gint64 *total)
{
    const Exchange *x = data;
    const gint64 traces = litho_box_size(x->box, 1);
    *done = x->got * traces;
    *total = litho_box_size(x->box, 0) * traces;
    return x->got == litho_box_size(x->box, 0);
}

static gboolean take(gpointer data, const char *bytes, gsize n, GError **error)
{
    Exchange *x = data;
    gsize used = 0;
    if (!x->begun && !take_line(x, bytes, n, &used, error))
        return FALSE;
    for (bytes += used, n -= used; n > 0; bytes += used, n -= used) {
        if (x->got == litho_box_size(x->box, 0))
            return litho_refuse(error, LITHO_ERROR_PROGRAM,
                                "wrote more than its answer's %" PRId64 " bytes of samples",
                                litho_box_size(x->box, 0) * x->row);
        used = MIN(n, (gsize)(x->row - x->got_bytes));
        memcpy((char *)x->getting + x->got_bytes, bytes, used);
        x->got_bytes += (gint64)used;
        if (x->got_bytes < x->row)
            continue;
        x->got_bytes = 0;
        if (!keep_inline(x, x->box.lo[0] + x->got++, error))
            return FALSE;
    }
    return TRUE;
}

// --- one pass -----------------------------------------------------------------------------------

// The Python package of the program's own data folder goes before PYTHONPATH: where it is installed
// for one interpreter, the folder holds that one's other packages, which would mislead another.
static ExternalProgram *start_program(const ExternalPanel *panel, GError **error)
{
    g_autofree char *python = litho_data_file("python");
    return external_program_start(panel->command, panel->folder, panel->name, python, error);
}

static gboolean ensure_program(Plan *p, const ExternalPanel *panel, GError **error)
{
    if (p->program && !external_program_is_alive(p->program))
        external_program_kill(g_steal_pointer(&p->program));
    if (!p->program)
        p->program = g_steal_pointer(&p->spare);
    if (!p->program)
        p->program = start_program(panel, error);
    if (!p->program)
        g_prefix_error(error, "%s: ", panel->op.key);
    if (p->program && p->wants_spare && !p->spare)
        p->spare = start_program(panel, NULL);
    return p->program != NULL;
}

static gboolean exchange(Plan *p, Exchange *x, LithoRun *run, GError **error)
{
    const ExternalTalk talk = {give, take, is_whole, x};
    g_autoptr(GError) why = NULL;
    if (external_program_talk(p->program, &talk, x->panel->one_cube, run, &why)) {
        if (x->panel->one_cube)
            external_program_end(g_steal_pointer(&p->program));
        return TRUE;
    }
    external_program_kill(g_steal_pointer(&p->program));
    p->wants_spare = p->wants_spare || litho_error_is_cancelled(why);
    if (!litho_error_is_cancelled(why))
        g_prefix_error(&why, "%s: ", x->panel->op.key);
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    Plan *p = data;
    const double start = litho_now_ms();
    Exchange x = {.panel = panel_of(pass->params), .pass = pass, .sent = -1};
    x.box = input_box(&pass->in->grid, pass->params, pass->region);
    x.row = litho_box_size(x.box, 1) * litho_box_size(x.box, 2) * (gint64)sizeof(float);
    if (!litho_cube_host(pass->in, error) || !ensure_program(p, x.panel, error))
        return FALSE;
    g_autofree float *sending = litho_memory_new((gsize)x.row, 1, "an inline", error);
    g_autofree float *getting = sending ? litho_memory_new((gsize)x.row, 1, "an inline", error)
                                        : NULL;
    if (!getting)
        return FALSE;
    g_autofree char *header = make_header(&x, litho_run_threads(run));
    x.line = g_string_new(NULL);
    x.header = header;
    x.n_header = strlen(header);
    x.sending = sending;
    x.getting = getting;
    litho_run_begin(run, "program", "traces");
    const gboolean ok = exchange(p, &x, run, error);
    g_string_free(x.line, TRUE);
    litho_run_time(run, "program", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   2.0 * (double)litho_box_count(x.box) * sizeof(float), 0);
    return ok;
}

// Starts the program, so that its start passes beside what comes before the first region.
static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)run;
    Plan *p = g_new0(Plan, 1);
    (void)in;
    if (ensure_program(p, panel_of(params), error))
        return p;
    g_free(p);
    return NULL;
}

static void destroy(gpointer data)
{
    Plan *p = data;
    external_program_kill(p->spare);
    external_program_end(p->program);
    g_free(p);
}

// Ours, and what the panel says of the program's.
static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)threads;
    (void)known;
    const LithoBox box = input_box(in, params, region);
    const double inlines = 2.0 * (double)litho_box_size(box, 1) * (double)litho_box_size(box, 2);
    return (guint64)(sizeof(float) * ((1 + panel_of(params)->copies) * (double)litho_box_count(box) +
                                      (double)litho_box_count(region) + inlines));
}

static const LithoImpl cpu = {.plan = plan, .exec = exec, .destroy = destroy, .memory = memory};

void external_operator_make(ExternalPanel *panel)
{
    const ExternalHalo *halo = panel->halo;
    panel->op.cpu = &cpu;
    if (!(halo[0].all && halo[1].all && halo[2].all))
        panel->op.input_box = input_box; // else it is global
}
