// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/snapshots.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/text.h"
#include "ui/session/job.h"

struct _LithoSnapshots {
    GObject parent;
    LithoSession *session;
    GPtrArray *list;      // of LithoSnapshot
    guint64 input_serial; // whose results are kept
    int compared;         // -1 = the input
    char wanted;          // letter of the snapshot that is being computed, 0 = none
    LithoJob *job;        // the newest one
    guint serial;         // of that job
    double part;          // of it that is done; NAN = not known
    gint64 told_us;       // when that was told, or when it began
};

G_DEFINE_TYPE(LithoSnapshots, litho_snapshots, G_TYPE_OBJECT)

enum { TOLD_US = 500000 }; // between two tellings of how far a snapshot has been computed

static guint changed_signal, progress_signal;

static LithoSnapshot *at(LithoSnapshots *self, guint k)
{
    return g_ptr_array_index(self->list, k);
}

static void changed(LithoSnapshots *self)
{
    g_signal_emit(self, changed_signal, 0);
}

static void snapshot_free(gpointer data)
{
    LithoSnapshot *s = data;
    g_free(s->name);
    litho_flow_free(s->flow);
    litho_result_unref(s->result);
    g_free(s);
}

static int find_letter(LithoSnapshots *self, char letter)
{
    for (guint k = 0; k < self->list->len; k++)
        if (at(self, k)->letter == letter)
            return k;
    return -1;
}

// --- names --------------------------------------------------------------------------------------

// Up to three values of `step` that are not those of `base` (the operator's parameters).
static char *list_changes(const LithoStep *step, gconstpointer base)
{
    GString *changes = g_string_new(NULL);
    guint n = 0;
    for (guint r = 0; r < step->op->params.n && n < 3; r++) {
        const LithoParam *row = &step->op->params.rows[r];
        if (litho_param_equal(row, step->params, base))
            continue;
        g_autofree char *value = litho_param_shown(row, step->params);
        const char *unit =
            row->unit && !litho_param_special(row, step->params) ? litho_text(row->unit) : "";
        g_string_append_printf(changes, "%s%s %s%s%s", n++ ? ", " : "", litho_text(row->label),
                               value, *unit ? " " : "", unit);
    }
    return g_string_free(changes, FALSE);
}

// "Window 12 traces, Half width 2 traces": what the enabled steps have apart from their defaults.
static char *describe(const LithoFlow *flow)
{
    GString *text = g_string_new(NULL);
    gboolean alone = litho_flow_length(flow) == 1; // then its name goes without saying
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (!step->enabled)
            continue;
        g_autofree void *defaults = g_malloc0(step->op->params.size);
        litho_param_defaults(&step->op->params, defaults);
        g_autofree char *changes = list_changes(step, defaults);
        g_string_append(text, text->len ? "; " : "");
        if (!alone || !*changes)
            g_string_append_printf(text, "%s%s", litho_text(step->op->title), *changes ? ": " : "");
        g_string_append(text, changes);
    }
    return g_string_free(text, FALSE);
}

// Differences from `before` where both are the same steps, two or more: titles of steps would fill
// the chips and push out the value by which these differ. NULL = describe() it.
static char *describe_since(const LithoFlow *flow, const LithoFlow *before)
{
    const guint n = litho_flow_length(flow);
    if (!before || n < 2 || litho_flow_length(before) != n)
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint k = 0; k < n; k++) {
        const LithoStep *step = litho_flow_step(flow, k), *old = litho_flow_step(before, k);
        if (step->op != old->op || step->enabled != old->enabled)
            return NULL;
        g_autofree char *changes = step->enabled ? list_changes(step, old->params) : g_strdup("");
        g_string_append_printf(text, "%s%s", text->len && *changes ? "; " : "", changes);
    }
    return text->len ? g_strdup(text->str) : NULL;
}

// `before`: of the newest snapshot, or NULL.
static LithoSnapshot *snapshot_new(char letter, const LithoFlow *flow, const char *name,
                                   const LithoFlow *before)
{
    LithoSnapshot *s = g_new0(LithoSnapshot, 1);
    s->letter = letter;
    s->flow = litho_flow_copy(flow);
    s->name = name && *name ? g_strdup(name) : describe_since(flow, before);
    if (!s->name)
        s->name = describe(flow);
    return s;
}

// --- results ------------------------------------------------------------------------------------

static guint64 bytes_of(const LithoResult *result)
{
    LithoCube *cube = g_ptr_array_index(result->parts, 0);
    return 4 * (guint64)litho_cube_held_samples(cube);
}

// A quarter of what is free may hold results that nobody looks at.
static gboolean affordable(LithoSnapshots *self, const LithoResult *result)
{
    guint64 kept = 0;
    for (guint k = 0; k < self->list->len; k++)
        kept += at(self, k)->result ? bytes_of(at(self, k)->result) : 0;
    return kept + bytes_of(result) <= litho_memory_available() / 4;
}

static void forget_result(LithoSnapshots *self, guint k)
{
    g_clear_pointer(&at(self, k)->result, litho_result_unref);
    if (self->compared == (int)k) {
        self->compared = -1;
        litho_session_set_reference(self->session, NULL, NULL);
    }
}

// The present result belongs to every snapshot of the present flow.
static void attach(LithoSnapshots *self)
{
    const LithoResult *result = litho_session_result(self->session);
    int k = litho_snapshots_present(self);
    if (k < 0 || at(self, k)->result || !result || !result->complete ||
        !litho_session_output(self->session) || !affordable(self, result))
        return;
    at(self, k)->result = litho_result_ref((LithoResult *)result);
    changed(self);
}

// Nobody waits for the one that is being computed any more.
static void drop_wish(LithoSnapshots *self)
{
    litho_job_cancel(self->job);
    self->wanted = 0;
}

static void on_cube(LithoSession *session, LithoSnapshots *self)
{
    LithoCube *cube = litho_session_input(session);
    guint64 serial = cube ? cube->serial : 0;
    if (litho_session_previews(session) || serial == self->input_serial)
        return; // a preview may go again
    self->input_serial = serial;
    drop_wish(self);
    for (guint k = 0; k < self->list->len; k++)
        forget_result(self, k);
    changed(self);
}

// --- comparing ----------------------------------------------------------------------------------

typedef struct Question {
    LithoSnapshots *self;
    LithoFlow *flow;
    LithoCube *in;
    LithoDevice device;
    guint64 input_serial;
    guint serial;
} Question;

static void question_free(gpointer data)
{
    Question *q = data;
    g_object_unref(q->self);
    litho_flow_free(q->flow);
    litho_cube_unref(q->in);
    g_free(q);
}

static gpointer compute(LithoRun *run, gpointer data, GError **error)
{
    Question *q = data;
    LithoEngine *engine = litho_engine_new(q->device);
    LithoReport *report = litho_report_new();
    run->report = report;
    run->device = q->device.index;
    g_autoptr(LithoCube) out = litho_engine_run(engine, q->flow, q->in, NULL, run, error);
    // On the host: the engine and its device memory go away now.
    LithoResult *result =
        out && litho_cube_host(out, error) ? litho_result_of(out, report, q->device) : NULL;
    litho_report_unref(report);
    litho_engine_free(engine);
    return result;
}

static void on_progress(const LithoProgress *progress, gpointer data)
{
    const Question *q = data;
    LithoSnapshots *self = q->self;
    const gint64 now = g_get_monotonic_time();
    if (!self->wanted || q->serial != self->serial || progress->total <= 0 ||
        now - self->told_us < TOLD_US)
        return;
    self->part = CLAMP((double)progress->done / (double)progress->total, 0, 1);
    self->told_us = now;
    g_signal_emit(self, progress_signal, 0);
}

static void refer(LithoSnapshots *self, int k)
{
    LithoSnapshot *s = at(self, k);
    char name[16];
    g_snprintf(name, sizeof name, "%c", s->letter);
    self->compared = k;
    litho_session_set_reference(self->session, g_ptr_array_index(s->result->parts, 0), name);
}

static void computed(gpointer data, const GError *error, gpointer question)
{
    Question *q = question;
    LithoSnapshots *self = q->self;
    LithoResult *result = data;
    const gboolean newest = q->serial == self->serial;
    int k = newest && self->wanted ? find_letter(self, self->wanted) : -1;
    gboolean mine = k >= 0 && litho_flow_equal(at(self, k)->flow, q->flow) &&
                    q->input_serial == self->input_serial;
    if (newest)
        self->job = NULL;
    if (!self->session) { // the window has gone
        litho_result_unref(result);
        return;
    }
    if (mine && result) {
        self->wanted = 0;
        litho_result_unref(at(self, k)->result);
        at(self, k)->result = litho_result_ref(result);
        refer(self, k);
    } else if (mine && error && !litho_error_is_cancelled(error)) {
        self->wanted = 0;
        g_signal_emit_by_name(self, "failed", error->message);
    }
    litho_result_unref(result);
    changed(self);
}

static void start_computing(LithoSnapshots *self, int k)
{
    static const LithoJobFuncs funcs = {compute, on_progress, computed, question_free};
    LithoCube *in = litho_session_input(self->session);
    self->wanted = at(self, k)->letter;
    self->part = NAN;
    self->told_us = g_get_monotonic_time();
    Question *q = g_new0(Question, 1);
    *q = (Question){.self = g_object_ref(self),
                    .flow = litho_flow_copy(at(self, k)->flow),
                    .in = in ? litho_cube_ref(in) : NULL,
                    .device = litho_session_device(self->session),
                    .input_serial = self->input_serial,
                    .serial = ++self->serial};
    self->job = litho_job_start(&funcs, q);
}

void litho_snapshots_compare(LithoSnapshots *self, int k)
{
    drop_wish(self);
    if (k < 0 || k >= (int)self->list->len) {
        self->compared = -1;
        litho_session_set_reference(self->session, NULL, NULL);
    } else if (at(self, k)->result) {
        refer(self, k);
    } else if (litho_session_is_paged(self->session)) {
        g_signal_emit_by_name(self, "failed",
                              _("A cube beyond memory has no whole results to compare."));
    } else {
        start_computing(self, k);
    }
    changed(self);
}

int litho_snapshots_compared(LithoSnapshots *self)
{
    return self->wanted ? find_letter(self, self->wanted) : self->compared;
}

gboolean litho_snapshots_is_computing(LithoSnapshots *self, double *part)
{
    *part = self->part;
    return self->wanted != 0;
}

// --- the list -----------------------------------------------------------------------------------

guint litho_snapshots_count(LithoSnapshots *self)
{
    return self->list->len;
}

const LithoSnapshot *litho_snapshots_get(LithoSnapshots *self, guint k)
{
    return at(self, k);
}

gboolean litho_snapshots_useful(LithoSnapshots *self)
{
    return self->list->len > 0 || litho_flow_length(litho_session_flow(self->session)) > 0;
}

int litho_snapshots_present(LithoSnapshots *self)
{
    const LithoFlow *flow = litho_session_flow(self->session);
    for (guint k = 0; k < self->list->len; k++)
        if (litho_flow_equal(at(self, k)->flow, flow))
            return k;
    return -1;
}

int litho_snapshots_take(LithoSnapshots *self)
{
    const LithoFlow *flow = litho_session_flow(self->session);
    int k = litho_snapshots_present(self);
    char letter = 'A';
    while (letter <= 'Z' && find_letter(self, letter) >= 0)
        letter++;
    if (k >= 0 || litho_flow_length(flow) == 0 || letter > 'Z')
        return k;
    const guint n = self->list->len;
    const LithoSnapshot *newest = n > 0 ? g_ptr_array_index(self->list, n - 1) : NULL;
    g_ptr_array_add(self->list, snapshot_new(letter, flow, NULL, newest ? newest->flow : NULL));
    litho_history_seal(litho_session_history(self->session));
    changed(self);
    attach(self);
    return self->list->len - 1;
}

void litho_snapshots_remove(LithoSnapshots *self, guint k)
{
    if (k >= self->list->len)
        return;
    if (self->wanted == at(self, k)->letter)
        drop_wish(self);
    forget_result(self, k);
    g_ptr_array_remove_index(self->list, k);
    if (self->compared > (int)k)
        self->compared--;
    changed(self);
}

void litho_snapshots_rename(LithoSnapshots *self, guint k, const char *name)
{
    if (k >= self->list->len || !*name || strcmp(at(self, k)->name, name) == 0)
        return;
    g_free(at(self, k)->name);
    at(self, k)->name = g_strdup(name);
    changed(self);
}

void litho_snapshots_adopt(LithoSnapshots *self, guint k)
{
    if (k >= self->list->len ||
        litho_flow_equal(at(self, k)->flow, litho_session_flow(self->session)))
        return;
    LithoSnapshot *s = at(self, k);
    g_autofree char *why = g_strdup_printf(_("Snapshot %c"), s->letter);
    litho_session_set_flow(self->session, s->flow, why);
    if (s->result)
        litho_session_adopt_result(self->session, s->result);
    changed(self);
}

void litho_snapshots_clear(LithoSnapshots *self)
{
    litho_snapshots_compare(self, -1);
    g_ptr_array_set_size(self->list, 0);
    changed(self);
}

// --- sessions -----------------------------------------------------------------------------------

JsonArray *litho_snapshots_to_json(LithoSnapshots *self)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < self->list->len; k++) {
        JsonObject *object = json_object_new();
        char letter[2] = {at(self, k)->letter, 0};
        json_object_set_string_member(object, "letter", letter);
        json_object_set_string_member(object, "name", at(self, k)->name);
        json_object_set_member(object, "recipe", litho_flow_to_json(at(self, k)->flow));
        json_array_add_object_element(array, object);
    }
    return array;
}

void litho_snapshots_from_json(LithoSnapshots *self, JsonArray *array)
{
    litho_snapshots_clear(self);
    for (guint k = 0; array && k < json_array_get_length(array); k++) {
        JsonObject *object = litho_json_node_object(json_array_get_element(array, k));
        if (!object)
            continue;
        const char *letter = litho_json_string_or(object, "letter", "");
        g_autoptr(LithoFlow) flow =
            litho_flow_from_json(json_object_get_member(object, "recipe"), NULL);
        if (!flow || *letter < 'A' || *letter > 'Z' || find_letter(self, *letter) >= 0)
            continue;
        const char *name = litho_json_string_or(object, "name", NULL);
        g_ptr_array_add(self->list, snapshot_new(*letter, flow, name, NULL));
    }
    attach(self);
    changed(self);
}

// --- the object ---------------------------------------------------------------------------------

static void litho_snapshots_init(LithoSnapshots *self)
{
    self->list = g_ptr_array_new_with_free_func(snapshot_free);
    self->compared = -1;
}

static void dispose(GObject *object)
{
    LithoSnapshots *self = LITHO_SNAPSHOTS(object);
    drop_wish(self);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_snapshots_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    g_ptr_array_unref(LITHO_SNAPSHOTS(object)->list);
    G_OBJECT_CLASS(litho_snapshots_parent_class)->finalize(object);
}

static void litho_snapshots_class_init(LithoSnapshotsClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    changed_signal = g_signal_new("changed", LITHO_TYPE_SNAPSHOTS, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
    progress_signal = g_signal_new("progress", LITHO_TYPE_SNAPSHOTS, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
    // Computing a snapshot for a comparison failed: one sentence.
    g_signal_new("failed", LITHO_TYPE_SNAPSHOTS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 1, G_TYPE_STRING);
}

LithoSnapshots *litho_snapshots_new(LithoSession *session)
{
    LithoSnapshots *self = g_object_new(LITHO_TYPE_SNAPSHOTS, NULL);
    self->session = g_object_ref(session);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(on_cube), self, 0);
    g_signal_connect_object(session, "result", G_CALLBACK(attach), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "params-changed", G_CALLBACK(changed), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "flow-changed", G_CALLBACK(changed), self, G_CONNECT_SWAPPED);
    return self;
}
