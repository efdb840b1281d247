// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/judgement.h"

#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/engine/probe.h"
#include "core/error.h"
#include "core/text.h"
#include "ui/session/job.h"
#include "ui/session/similarity_maps.h"

enum {
    SETTLE_MS = 150, // after the last result: a drag needs the processors
    FOLDS = 2,       // of hidden traces
    TOLD_MS = 500,   // between two looks at how far a long question has come
};

struct _LithoJudgement {
    GObject parent;
    LithoSession *session; // NULL once disposed
    guint64 input_serial;  // that truth and figures are of; 0 = none

    LithoJudge *judge; // used by the job's thread while there is one
    LithoDevice device;
    LithoJob *job;
    double part;    // of the job that is done; NAN = it has not run for long, or there is none
    const char *doing; // the stage that it is a part of, a literal
    double told_ms; // when that was told, or when the job began
    double left_s;  // until the job ends, as told then
    gboolean again; // something changed while the job ran
    guint timeout;

    LithoNoise given; // by a person; n = 0: the level is measured
    LithoNoise noise; // of that area of the input with that serial; n = 0: not known
    guint64 noise_serial;
    LithoBox noise_area;
    LithoQuality figures;
    LithoFlow *asked_flow; // of the newest question; NULL = none
    LithoBox asked_area;
    gboolean known, fresh;
    double best_db; // the highest expected SNR of all settings tried on that area of that input
    guint64 best_serial;
    LithoBox best_area;
    gboolean hidden_fresh; // the hidden figures are of the present parameters
    char *hidden_why; // why hidden traces say nothing; NULL = there are figures, or no question
    char *why;
    double hide;
    guint32 seed;
    LithoSimilarityWidths widths; // all 0 = the default
    LithoCube *truth; // of the input's shape, or NULL
    char *truth_name;

    gboolean maps_wanted;
    LithoSimilarityMaps *maps; // NULL once disposed
    LithoBeside *beside;       // of the present parameters, their newest question; NULL = not known
};

G_DEFINE_TYPE(LithoJudgement, litho_judgement, G_TYPE_OBJECT)

static guint changed_signal;

static void tell(LithoJudgement *self)
{
    g_signal_emit(self, changed_signal, 0);
}

gboolean litho_judgement_applies(LithoSession *session)
{
    const LithoFlow *flow = litho_session_flow(session);
    return litho_flow_has_work(flow) && !litho_flow_source(flow) && litho_session_input(session) &&
           !litho_session_is_paged(session) && litho_session_comparable(session);
}

LithoBox litho_judgement_view(LithoSession *session)
{
    const LithoDisplay *d = litho_session_display(session);
    LithoCube *in = litho_session_input(session);
    LithoBox box = {{0}, {0}};
    for (int a = 0; in && a < 3; a++) {
        box.lo[a] = CLAMP((gint64)floor(d->lo[a] + 0.5), 0, in->grid.axis[a].n - 1);
        box.hi[a] = CLAMP((gint64)ceil(d->hi[a] + 0.5), box.lo[a] + 1, in->grid.axis[a].n);
    }
    return in ? litho_box_intersect(box, in->held) : box;
}

LithoBox litho_judgement_area(LithoSession *session)
{
    return litho_quality_area(litho_session_flow(session), litho_judgement_view(session));
}

// --- figures ------------------------------------------------------------------------------------

typedef struct Question {
    LithoJudgement *self;
    LithoFlow *flow;
    LithoCube *in;
    LithoBox area;
    LithoDevice device;
    LithoNoise noise; // n = 0: to be measured
    gboolean given;   // that noise, by a person
    LithoCube *truth; // or NULL
    LithoSimilarityWidths widths;
    double hide;      // percent; 0 = the other figures are asked for
    guint32 seed;
} Question;

typedef struct Answer {
    LithoQuality quality;
    LithoNoise noise;
    LithoBeside *beside; // or NULL
} Answer;

static void question_free(gpointer data)
{
    Question *q = data;
    litho_flow_free(q->flow);
    litho_cube_unref(q->in);
    litho_cube_unref(q->truth);
    litho_noise_clear(&q->noise);
    g_object_unref(q->self);
    g_free(q);
}

static void answer_free(Answer *answer)
{
    if (answer) {
        litho_noise_clear(&answer->noise);
        litho_beside_unref(answer->beside);
    }
    g_free(answer);
}

// In the thread. Noise that cannot be measured is told by the judge as a figure that is missing.
static gpointer judge(LithoRun *run, gpointer data, GError **error)
{
    Question *q = data;
    LithoJudgement *self = q->self;
    Answer *answer = g_new0(Answer, 1);
    answer->noise = q->noise;
    q->noise = (LithoNoise){0};
    if (answer->noise.n == 0 && !litho_quality_noise(q->in, &q->area, run, &answer->noise, NULL))
        answer->noise = (LithoNoise){0};
    if (self->judge && !litho_device_is_same(self->device, q->device))
        g_clear_pointer(&self->judge, litho_judge_free);
    if (!self->judge)
        self->judge = litho_judge_new(q->device);
    self->device = q->device;
    LithoQualityAsk ask = {.flow = q->flow,
                           .in = q->in,
                           .area = q->area,
                           .noise = answer->noise.n > 0 ? &answer->noise : NULL,
                           .reference = q->truth,
                           .hide = q->hide,
                           .only_hidden = q->hide > 0,
                           .folds = FOLDS,
                           .seed = q->seed,
                           .similarity = TRUE,
                           .widths = q->widths};
    if (!litho_cube_host(q->in, error) || (q->truth && !litho_cube_host(q->truth, error)) ||
        !litho_run_checkpoint(run) ||
        !litho_judge_run(self->judge, &ask, run, &answer->quality, error)) {
        litho_run_stopped(error); // unless there is another reason
        answer_free(answer);
        return NULL;
    }
    answer->beside = q->hide > 0 ? NULL : litho_judge_beside(self->judge);
    return answer;
}

static void look_soon(LithoJudgement *self);
static void map_look(LithoJudgement *self, double wish_ms);

static void on_progress(const LithoProgress *progress, gpointer data)
{
    Question *q = data;
    LithoJudgement *self = q->self;
    if (!self->session || progress->total <= 0 || litho_now_ms() - self->told_ms < TOLD_MS)
        return;
    self->part = CLAMP((double)progress->done / progress->total, 0, 1);
    self->left_s = progress->seconds_left;
    self->doing = progress->what;
    self->told_ms = litho_now_ms();
    tell(self);
}

// A bound is no figure to be reached.
static void remember_best(LithoJudgement *self, const Question *q, const LithoQuality *found)
{
    if (!isfinite(found->expected_snr_db) || found->expected_is_bound || found->is_beyond ||
        found->is_clean || found->is_filtered || found->counts_steep)
        return;
    if (self->best_serial != q->in->serial || !litho_box_equal(self->best_area, q->area))
        self->best_db = found->expected_snr_db;
    self->best_db = MAX(self->best_db, found->expected_snr_db);
    self->best_serial = q->in->serial;
    self->best_area = q->area;
}

// Hidden traces keep what they said: they have a question of their own.
static void take_figures(LithoJudgement *self, Answer *answer, const GError *error)
{
    if (answer && !self->again) {
        const LithoQuality before = self->figures;
        self->figures = answer->quality;
        self->figures.hidden_snr_db = before.hidden_snr_db;
        self->figures.hidden_off_db = before.hidden_off_db;
        self->figures.hidden_traces = before.hidden_traces;
        self->known = self->fresh = TRUE;
        g_clear_pointer(&self->why, g_free);
        litho_beside_unref(self->beside);
        self->beside = g_steal_pointer(&answer->beside);
        map_look(self, litho_now_ms());
    } else if (error && !litho_error_is_cancelled(error)) {
        self->known = FALSE;
        g_free(self->why);
        self->why = g_strdup(error->message);
    }
}

static void take_hidden(LithoJudgement *self, const Answer *answer, const GError *error)
{
    if (self->again || (error && litho_error_is_cancelled(error)))
        return;
    const LithoQuality *q = answer ? &answer->quality : NULL;
    self->figures.hidden_snr_db = q ? q->hidden_snr_db : NAN;
    self->figures.hidden_off_db = q ? q->hidden_off_db : NAN;
    self->figures.hidden_traces = q ? q->hidden_traces : 0;
    self->hidden_fresh = TRUE;
    g_free(self->hidden_why);
    self->hidden_why = q ? (*q->why ? g_strdup(q->why) : NULL) : g_strdup(error->message);
}

static void judged(gpointer result, const GError *error, gpointer data)
{
    Question *q = data;
    LithoJudgement *self = q->self;
    Answer *answer = result;
    self->job = NULL;
    self->part = NAN;
    if (!self->session) {
        answer_free(answer);
        return;
    }
    LithoCube *in = litho_session_input(self->session);
    if (answer && in == q->in && !q->given) {
        litho_noise_clear(&self->noise);
        self->noise = answer->noise;
        self->noise_serial = in->serial;
        self->noise_area = q->area;
        answer->noise = (LithoNoise){0};
    }
    if (answer && q->hide <= 0)
        remember_best(self, q, &answer->quality);
    if (q->hide > 0)
        take_hidden(self, answer, error);
    else
        take_figures(self, answer, error);
    answer_free(answer);
    if (self->again || self->fresh) // the hidden traces come next
        look_soon(self);
    tell(self);
}

static gboolean look(gpointer data)
{
    LithoJudgement *self = data;
    self->timeout = 0;
    self->again = self->job != NULL;
    const gboolean hides = self->fresh && self->hide > 0 && !self->hidden_fresh;
    if (self->job || (self->fresh && !hides) || !litho_judgement_applies(self->session))
        return G_SOURCE_REMOVE;
    LithoCube *in = litho_session_input(self->session);
    Question *q = g_new0(Question, 1);
    q->self = g_object_ref(self);
    q->flow = litho_flow_copy(litho_session_flow(self->session));
    q->in = litho_cube_ref(in);
    q->area = litho_judgement_area(self->session);
    q->device = litho_session_device(self->session);
    q->truth = self->truth ? litho_cube_ref(self->truth) : NULL;
    q->hide = hides ? self->hide : 0;
    q->seed = self->seed;
    q->widths = self->widths;
    litho_flow_free(self->asked_flow);
    self->asked_flow = litho_flow_copy(q->flow);
    self->asked_area = q->area;
    const LithoNoise *noise = litho_judgement_noise(self, q->area);
    q->given = self->given.n > 0;
    if (noise)
        q->noise = litho_noise_copy(noise);
    self->told_ms = litho_now_ms();
    self->job = litho_job_start(&(LithoJobFuncs){judge, on_progress, judged, question_free}, q);
    return G_SOURCE_REMOVE;
}

// The question under way is not asked any more.
static void drop_question(LithoJudgement *self)
{
    self->again = self->job != NULL && litho_judgement_applies(self->session);
    litho_job_cancel(self->job);
}

static void look_soon(LithoJudgement *self)
{
    g_clear_handle_id(&self->timeout, g_source_remove);
    self->timeout = g_timeout_add(SETTLE_MS, look, self);
}

// --- maps ---------------------------------------------------------------------------------------

// Of what the sections show: during a drag the newest result may hold slices alone.
static void map_look(LithoJudgement *self, double wish_ms)
{
    LithoCube *in = litho_session_input(self->session), *out[3];
    const gint64 *slice = litho_session_display(self->session)->slice;
    if (!self->maps_wanted || !in || !litho_judgement_applies(self->session))
        return;
    for (int a = 0; a < 3; a++)
        out[a] = slice[a] < in->grid.axis[a].n
                     ? litho_session_holding(self->session, litho_box_slice(&in->grid, a, slice[a]))
                     : NULL;
    litho_similarity_maps_ask(self->maps, in, out, self->beside, slice, wish_ms);
}

LithoCube *litho_judgement_map(LithoJudgement *self, int axis)
{
    const LithoGrid *grid = self->session ? litho_session_grid(self->session) : NULL;
    if (!self->maps_wanted || !grid || axis >= 3)
        return NULL;
    LithoBox slice = litho_box_slice(grid, axis, litho_session_display(self->session)->slice[axis]);
    return litho_similarity_maps_get(self->maps, axis, slice);
}

gboolean litho_judgement_map_is_beside(LithoJudgement *self, int axis)
{
    return litho_judgement_map(self, axis) && litho_similarity_maps_is_beside(self->maps, axis);
}

LithoBeside *litho_judgement_beside(LithoJudgement *self)
{
    return self->beside;
}

void litho_judgement_map_drawn(LithoJudgement *self)
{
    if (self->maps)
        litho_similarity_maps_drawn(self->maps);
}

guint litho_judgement_map_latency(LithoJudgement *self, double *last_ms)
{
    return litho_similarity_maps_latency(self->maps, last_ms);
}

void litho_judgement_want_maps(LithoJudgement *self, gboolean wanted)
{
    if (self->maps_wanted == wanted)
        return;
    self->maps_wanted = wanted;
    litho_similarity_maps_forget(self->maps);
    map_look(self, litho_now_ms());
    tell(self);
}

gboolean litho_judgement_wants_maps(LithoJudgement *self)
{
    return self->maps_wanted;
}

// --- what the session tells ---------------------------------------------------------------------

// Other parameters: the figures and the maps stay on show as those of before until their own are
// there. So does the section below the map. The noise that passes is another one.
static void on_changed_flow(LithoJudgement *self)
{
    gboolean applies = litho_judgement_applies(self->session);
    self->fresh = self->hidden_fresh = FALSE;
    g_clear_pointer(&self->beside, litho_beside_unref);
    drop_question(self);
    if (!applies)
        litho_similarity_maps_forget(self->maps);
    g_clear_pointer(&self->why, g_free);
    if (!applies)
        self->known = FALSE;
    tell(self);
}

static void forget_hidden(LithoJudgement *self)
{
    self->figures.hidden_snr_db = self->figures.hidden_off_db = NAN;
    self->figures.hidden_traces = 0;
    self->hidden_fresh = FALSE;
    g_clear_pointer(&self->hidden_why, g_free);
}

// Steps come and go: figures of another operator are nobody's. Choosing a step changes nothing.
static void on_other_flow(LithoJudgement *self)
{
    if (self->asked_flow && litho_flow_equal(self->asked_flow, litho_session_flow(self->session)))
        return;
    self->known = FALSE;
    forget_hidden(self);
    litho_similarity_maps_forget(self->maps);
    on_changed_flow(self);
}

static void forget_truth(LithoJudgement *self)
{
    g_clear_pointer(&self->truth, litho_cube_unref);
    g_clear_pointer(&self->truth_name, g_free);
}

// The line of a file that is being opened may go again: the reference stays with what is open.
static void on_cube(LithoJudgement *self)
{
    const LithoCube *in = litho_session_input(self->session);
    const guint64 serial = in ? in->serial : 0;
    if (litho_session_previews(self->session) || serial == self->input_serial) {
        on_changed_flow(self);
        return;
    }
    self->input_serial = serial;
    self->known = FALSE;
    forget_hidden(self);
    forget_truth(self);
    litho_noise_clear(&self->given);
    litho_similarity_maps_forget(self->maps);
    g_clear_pointer(&self->asked_flow, litho_flow_free);
    on_changed_flow(self);
}

static void on_result(LithoJudgement *self)
{
    const LithoResult *result = litho_session_result(self->session);
    if (!self->fresh && result)
        look_soon(self);
    map_look(self, result ? result->wish_ms : litho_now_ms());
}

// Another area is in view, or other slices of it. The noise that passes stays as it is, where it
// was told, until it is told of the new area.
static void on_slices(LithoJudgement *self)
{
    LithoBox area = litho_judgement_area(self->session);
    if (self->asked_flow && memcmp(&area, &self->asked_area, sizeof area) != 0) {
        self->fresh = self->hidden_fresh = FALSE;
        drop_question(self);
        look_soon(self);
        tell(self);
    }
    map_look(self, litho_now_ms());
}

const LithoQuality *litho_judgement_figures(LithoJudgement *self, gboolean *fresh)
{
    if (fresh)
        *fresh = self->fresh;
    return self->known ? &self->figures : NULL;
}

double litho_judgement_best_db(LithoJudgement *self)
{
    LithoCube *in = self->session ? litho_session_input(self->session) : NULL;
    const gboolean known = in && self->known && self->best_serial == in->serial &&
                           litho_box_equal(self->best_area, self->asked_area);
    return known ? self->best_db : NAN;
}

const char *litho_judgement_missing(LithoJudgement *self)
{
    if (self->known || !self->session)
        return NULL;
    const LithoFlow *flow = litho_session_flow(self->session);
    if (!litho_session_input(self->session) || litho_flow_length(flow) == 0)
        return NULL;
    if (self->why)
        return self->why;
    if (litho_session_is_paged(self->session))
        return _("A cube beyond memory is not judged as a whole.");
    if (!litho_judgement_applies(self->session))
        return NULL; // an image has no SNR against its record
    return _("The figures are being computed.");
}

gboolean litho_judgement_is_pending(LithoJudgement *self)
{
    return !self->known && self->session && !self->why && litho_judgement_applies(self->session);
}

double litho_judgement_part(LithoJudgement *self)
{
    return self->part;
}

const char *litho_judgement_doing(LithoJudgement *self)
{
    return isnan(self->part) ? NULL : self->doing;
}

const LithoNoise *litho_judgement_noise(LithoJudgement *self, LithoBox area)
{
    LithoCube *in = self->session ? litho_session_input(self->session) : NULL;
    if (self->given.n > 0)
        return &self->given;
    const gboolean known = in && self->noise.n > 0 && self->noise_serial == in->serial &&
                           litho_box_equal(self->noise_area, area);
    return known ? &self->noise : NULL;
}

double litho_judgement_left_s(LithoJudgement *self)
{
    return isnan(self->part) ? NAN : self->left_s;
}

gboolean litho_judgement_is_hiding(LithoJudgement *self)
{
    return self->hide > 0 && !self->hidden_fresh && self->known;
}

const char *litho_judgement_hidden_why(LithoJudgement *self)
{
    return self->hide > 0 ? self->hidden_why : NULL;
}

// The question is another one, the flow is not.
static void ask_again(LithoJudgement *self)
{
    drop_question(self);
    if (litho_judgement_applies(self->session))
        look_soon(self);
    tell(self);
}

void litho_judgement_set_sigma(LithoJudgement *self, double sigma)
{
    if (litho_judgement_sigma(self) == sigma)
        return;
    litho_noise_clear(&self->given);
    self->given = sigma > 0 ? litho_noise_white(sigma, sigma, sigma) : (LithoNoise){0};
    self->fresh = self->hidden_fresh = FALSE;
    self->best_serial = 0; // by another level
    ask_again(self);
}

double litho_judgement_sigma(LithoJudgement *self)
{
    return self->given.n > 0 ? self->given.total : 0;
}

void litho_judgement_hide(LithoJudgement *self, double percent, guint32 seed)
{
    if (self->hide == percent && self->seed == seed)
        return;
    self->hide = percent;
    self->seed = seed;
    forget_hidden(self);
    ask_again(self);
}

void litho_judgement_set_widths(LithoJudgement *self, LithoSimilarityWidths widths)
{
    if (litho_similarity_widths_equal(self->widths, widths))
        return;
    self->widths = widths;
    self->fresh = FALSE;
    litho_similarity_maps_set_widths(self->maps, widths);
    map_look(self, litho_now_ms());
    ask_again(self);
}

LithoSimilarityWidths litho_judgement_widths(LithoJudgement *self)
{
    return litho_similarity_widths_or_default(&self->widths);
}

double litho_judgement_hidden(LithoJudgement *self, guint32 *seed)
{
    *seed = self->seed;
    return self->hide;
}

void litho_judgement_set_truth(LithoJudgement *self, LithoCube *truth, const char *name)
{
    if (truth == self->truth)
        return;
    forget_truth(self);
    self->truth = truth ? litho_cube_ref(truth) : NULL;
    self->truth_name = truth ? g_strdup(name) : NULL;
    self->figures.snr_db = self->figures.gain_db = NAN;
    self->fresh = FALSE;
    ask_again(self);
}

LithoCube *litho_judgement_truth(LithoJudgement *self, const char **name)
{
    if (name)
        *name = self->truth_name;
    return self->truth;
}

// --- life ---------------------------------------------------------------------------------------

static void dispose(GObject *object)
{
    LithoJudgement *self = LITHO_JUDGEMENT(object);
    g_clear_handle_id(&self->timeout, g_source_remove);
    litho_job_cancel(self->job);
    self->again = FALSE;
    g_clear_pointer(&self->maps, litho_similarity_maps_free);
    g_clear_pointer(&self->beside, litho_beside_unref);
    forget_truth(self);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_judgement_parent_class)->dispose(object);
}

// The last reference goes after the last job.
static void finalize(GObject *object)
{
    LithoJudgement *self = LITHO_JUDGEMENT(object);
    litho_judge_free(self->judge);
    litho_noise_clear(&self->noise);
    litho_noise_clear(&self->given);
    litho_flow_free(self->asked_flow);
    g_free(self->why);
    g_free(self->hidden_why);
    G_OBJECT_CLASS(litho_judgement_parent_class)->finalize(object);
}

static void maps_changed(gpointer owner)
{
    tell(owner);
}

static void litho_judgement_init(LithoJudgement *self)
{
    self->maps = litho_similarity_maps_new(maps_changed, self);
    self->seed = 1;
    self->part = NAN;
}

static void litho_judgement_class_init(LithoJudgementClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    changed_signal = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

LithoJudgement *litho_judgement_new(LithoSession *session)
{
    LithoJudgement *self = g_object_new(LITHO_TYPE_JUDGEMENT, NULL);
    self->session = g_object_ref(session);
    const struct {
        const char *signal;
        void (*func)(LithoJudgement *self);
    } wires[] = {{"cube-changed", on_cube},
                 {"flow-changed", on_other_flow},
                 {"params-changed", on_changed_flow},
                 {"result", on_result},
                 {"slices-changed", on_slices}};
    for (guint k = 0; k < G_N_ELEMENTS(wires); k++)
        g_signal_connect_object(session, wires[k].signal, G_CALLBACK(wires[k].func), self,
                                G_CONNECT_SWAPPED);
    return self;
}
