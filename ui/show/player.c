// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/show/player.h"

#include <math.h>

#include "core/engine/find.h"
#include "core/error.h"
#include "core/text.h"
#include "ui/show/place.h"
#include "ui/window/window_private.h"

enum { TICK_MS = 33, FIND_SECONDS = 20 };

// A step passes through these in turn.
typedef enum Phase {
    OPENING, // a job makes or reads its cube
    WAITING, // for its picture
    ACTING,  // a search or a race is under way
    LOOKING, // its time runs
    ENDED,   // it was the last one and its time is over
} Phase;

struct _LithoPlayer {
    GObject parent;
    LithoWindow *window;  // borrowed
    LithoRaceView *race;  // borrowed
    LithoScript *script;  // NULL = nothing plays
    LithoPlace *place;    // where to go back to
    LithoScriptCube cube; // that is open
    LithoFlow *found;     // what Find chose, until the script brings another flow; or NULL
    LithoFlow *found_for;
    guint at;
    Phase phase;
    double looked; // seconds of LOOKING
    gint64 last_us;
    gboolean paused;
    LithoJob *job;
    guint tick, serial; // serial: of the step, so that a job of another one is passed over
    char *note;
};

G_DEFINE_TYPE(LithoPlayer, litho_player, G_TYPE_OBJECT)

enum { SIGNAL_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void changed(LithoPlayer *self)
{
    g_signal_emit(self, signals[SIGNAL_CHANGED], 0);
}

static void set_note(LithoPlayer *self, char *note)
{
    g_free(self->note);
    self->note = note;
    changed(self);
}

static const LithoScriptStep *step_of(LithoPlayer *self)
{
    return g_ptr_array_index(self->script->steps, self->at);
}

// --- what the views show ------------------------------------------------------------------------

static void show_moment(LithoPlayer *self, double part)
{
    const LithoScriptStep *step = step_of(self);
    LithoSession *session = self->window->session;
    const LithoGrid *grid = litho_session_grid(session);
    LithoLook look = litho_session_display(session)->look;
    look.split = litho_script_split_at(step, part);
    if (look.split != litho_session_display(session)->look.split)
        litho_session_set_look(session, &look);
    for (int a = 0; grid && a < 3; a++)
        litho_session_set_slice(session, a, litho_script_slice_at(step, grid, a, part));
    const gboolean is_found = self->found && litho_flow_equal(step->flow, self->found_for);
    g_autoptr(LithoFlow) flow =
        is_found ? litho_flow_copy(self->found) : litho_script_flow_at(step, part);
    const LithoFlow *now = litho_session_flow(session);
    if (litho_flow_equal(flow, now))
        return;
    if (litho_flow_length(flow) == 1 && litho_flow_length(now) == 1 &&
        litho_flow_step(flow, 0)->op == litho_flow_step(now, 0)->op) {
        litho_session_set_params(session, 0, litho_flow_step(flow, 0)->params, _("Demonstration"));
        return;
    }
    litho_session_set_flow(session, flow, _("Demonstration"));
    litho_session_select(session, 0);
}

static void show_step(LithoPlayer *self)
{
    const LithoScriptStep *step = step_of(self);
    show_moment(self, 0);
    litho_session_show(self->window->session, (LithoShow)step->show);
    litho_canvas_maximise(litho_window_canvas(self->window), step->view);
    self->phase = WAITING;
    set_note(self, NULL);
}

// --- cubes --------------------------------------------------------------------------------------

typedef struct Opening {
    LithoPlayer *player;
    LithoScriptCube cube;
    guint serial;
} Opening;

static void opening_free(gpointer data)
{
    Opening *o = data;
    g_object_unref(o->player);
    litho_script_cube_clear(&o->cube);
    g_free(o);
}

static gpointer open_work(LithoRun *run, gpointer data, GError **error)
{
    return litho_script_cube_open(&((Opening *)data)->cube, run, error);
}

static void open_done(gpointer result, const GError *error, gpointer data)
{
    Opening *o = data;
    LithoPlayer *self = o->player;
    g_autoptr(LithoCube) cube = result;
    if (o->serial != self->serial || !self->script || !self->window->session)
        return;
    self->job = NULL;
    if (!cube) {
        set_note(self, g_strdup(error->message));
        self->phase = ENDED;
        return;
    }
    litho_script_cube_clear(&self->cube);
    self->cube = litho_script_cube_copy(&o->cube);
    g_autoptr(LithoFlow) none = litho_flow_new(); // the flow of another cube is not run on this one
    litho_session_set_flow(self->window->session, none, _("Demonstration"));
    litho_place_show(self->window, cube);
    show_step(self);
}

static void open_cube(LithoPlayer *self)
{
    static const LithoJobFuncs funcs = {open_work, NULL, open_done, opening_free};
    Opening *o = g_new0(Opening, 1);
    o->player = g_object_ref(self);
    o->cube = litho_script_cube_copy(&step_of(self)->cube);
    o->serial = self->serial;
    self->phase = OPENING;
    set_note(self, g_strdup(_("making the cube")));
    self->job = litho_job_start(&funcs, o);
}

// --- Find ---------------------------------------------------------------------------------------

typedef struct Search {
    LithoPlayer *player;
    LithoFlow *flow;
    LithoCube *in;
    LithoDevice device;
    guint step, serial;
    LithoFind find;
} Search;

static void search_free(gpointer data)
{
    Search *s = data;
    g_object_unref(s->player);
    litho_flow_free(s->flow);
    litho_cube_unref(s->in);
    g_free(s);
}

static gpointer find_work(LithoRun *run, gpointer data, GError **error)
{
    Search *s = data;
    const LithoBox area = litho_quality_area(s->flow, s->in->held);
    LithoNoise noise = {0};
    if (!litho_cube_host(s->in, error) || !litho_quality_noise(s->in, &area, run, &noise, error))
        return NULL;
    LithoFindAsk ask = {
        .quality = {.flow = s->flow, .in = s->in, .area = area, .noise = &noise, .seed = 1},
        .step = s->step,
        .seconds = FIND_SECONDS};
    LithoJudge *judge = litho_judge_new(s->device);
    gboolean good = litho_find(judge, &ask, run, &s->find, error);
    litho_judge_free(judge);
    litho_noise_clear(&noise);
    return good ? s : NULL;
}

static void find_progress(const LithoProgress *p, gpointer data)
{
    Search *s = data;
    if (s->serial != s->player->serial || s->player->phase != ACTING)
        return;
    // Trials have no known end; the parts of one trial have.
    set_note(s->player,
             p->total > 0
                 ? litho_text_printf("%s %.0f %%", litho_text(p->what), 100.0 * p->done / p->total)
                 : g_strdup_printf("%s: %" G_GINT64_FORMAT, litho_text(p->what), p->done));
}

static void find_done(gpointer result, const GError *error, gpointer data)
{
    Search *s = data;
    LithoPlayer *self = s->player;
    if (s->serial != self->serial || !self->script || !self->window->session)
        return;
    self->job = NULL;
    self->phase = LOOKING;
    self->looked = 0;
    if (!result) {
        set_note(self, g_strdup(error->message));
        return;
    }
    g_clear_pointer(&self->found_for, litho_flow_free);
    g_clear_pointer(&self->found, litho_flow_free);
    self->found_for = litho_script_flow_at(step_of(self), 1);
    self->found = litho_flow_copy(s->flow);
    LithoStep *step = litho_flow_step(self->found, s->step);
    litho_find_apply(&s->find, G_MAXUINT, step->op, step->params);
    litho_session_set_params(self->window->session, s->step, step->params, _("Find"));
    set_note(self, litho_text_printf(_("expected %.1f dB, %+.1f dB by %u trials in %.0f s"),
                                     s->find.found.expected_snr_db, s->find.gain_db, s->find.trials,
                                     s->find.seconds));
}

static void start_find(LithoPlayer *self)
{
    static const LithoJobFuncs funcs = {find_work, find_progress, find_done, search_free};
    LithoSession *session = self->window->session;
    LithoCube *in = litho_session_input(session);
    Search *s = g_new0(Search, 1);
    s->player = g_object_ref(self);
    s->flow = litho_flow_copy(litho_session_flow(session));
    s->in = litho_cube_ref(in);
    s->device = litho_session_device(session);
    s->serial = self->serial;
    while (!litho_flow_step(s->flow, s->step)->enabled)
        s->step++;
    self->phase = ACTING;
    set_note(self, g_strdup(_("finding better values")));
    self->job = litho_job_start(&funcs, s);
}

// --- the course of a step -----------------------------------------------------------------------

static void enter(LithoPlayer *self, guint at)
{
    litho_job_cancel(self->job);
    self->job = NULL;
    self->serial++;
    self->at = at;
    self->looked = 0;
    if (gtk_widget_get_visible(GTK_WIDGET(self->race)))
        litho_race_view_close(self->race);
    const LithoScriptCube *wanted = &step_of(self)->cube;
    if ((wanted->synth || wanted->file) && !litho_script_cube_equal(wanted, &self->cube))
        open_cube(self);
    else
        show_step(self);
}

static gboolean picture_is_whole(LithoPlayer *self)
{
    LithoSession *session = self->window->session;
    return !litho_session_progress(session, NULL) && litho_session_grid(session) &&
           litho_canvas_is_whole(litho_window_canvas(self->window));
}

static void act(LithoPlayer *self)
{
    const LithoScriptStep *step = step_of(self);
    g_autoptr(GError) error = NULL;
    self->phase = LOOKING;
    if (step->act == LITHO_SCRIPT_SNAPSHOT)
        litho_snapshots_take(self->window->snapshots);
    else if (step->act == LITHO_SCRIPT_FIND && litho_session_input(self->window->session))
        start_find(self);
    else if (step->act == LITHO_SCRIPT_RACE) {
        if (litho_race_view_open(self->race, step->lanes, &error))
            self->phase = ACTING;
        else
            set_note(self, g_strdup(error->message));
    }
}

static void look(LithoPlayer *self, double seconds)
{
    const LithoScriptStep *step = step_of(self);
    self->looked += seconds;
    if (step->act != LITHO_SCRIPT_RACE)
        show_moment(self, step->dwell > 0 ? self->looked / step->dwell : 1);
    if (self->looked < step->dwell)
        return;
    if (self->at + 1 < self->script->steps->len)
        enter(self, self->at + 1);
    else if (self->script->loop)
        enter(self, 0);
    else {
        self->phase = ENDED;
        changed(self);
    }
}

static gboolean on_tick(gpointer data)
{
    LithoPlayer *self = data;
    const gint64 now = g_get_monotonic_time();
    const double seconds = MIN((double)(now - self->last_us) * 1e-6, 0.2);
    self->last_us = now;
    if (self->paused)
        return G_SOURCE_CONTINUE;
    if (self->phase == WAITING && picture_is_whole(self))
        act(self);
    else if (self->phase == ACTING && !self->job && !litho_race_view_is_running(self->race))
        self->phase = LOOKING;
    else if (self->phase == LOOKING)
        look(self, seconds);
    return G_SOURCE_CONTINUE;
}

// --- playing ------------------------------------------------------------------------------------

void litho_player_play(LithoPlayer *self, LithoScript *script)
{
    if (self->script)
        litho_player_end(self);
    self->script = script;
    self->place = litho_place_remember(self->window);
    self->paused = FALSE;
    self->last_us = g_get_monotonic_time();
    self->tick = g_timeout_add(TICK_MS, on_tick, self);
    enter(self, 0);
}

void litho_player_end(LithoPlayer *self)
{
    if (!self->script)
        return;
    litho_job_cancel(self->job);
    self->job = NULL;
    self->serial++;
    g_clear_handle_id(&self->tick, g_source_remove);
    g_clear_pointer(&self->script, litho_script_free);
    g_clear_pointer(&self->found, litho_flow_free);
    g_clear_pointer(&self->found_for, litho_flow_free);
    litho_script_cube_clear(&self->cube);
    g_clear_pointer(&self->note, g_free);
    if (self->window->session && gtk_widget_get_visible(GTK_WIDGET(self->race)))
        litho_race_view_close(self->race);
    litho_place_return(g_steal_pointer(&self->place));
    changed(self);
}

gboolean litho_player_is_playing(LithoPlayer *self)
{
    return self->script != NULL;
}

void litho_player_pause(LithoPlayer *self, gboolean pause)
{
    self->paused = pause;
    changed(self);
}

gboolean litho_player_is_paused(LithoPlayer *self)
{
    return self->paused;
}

void litho_player_go(LithoPlayer *self, int by)
{
    const int to = (int)self->at + by;
    if (self->script && to >= 0 && to < (int)self->script->steps->len)
        enter(self, (guint)to);
}

const LithoScript *litho_player_script(LithoPlayer *self, guint *step)
{
    if (step)
        *step = self->at;
    return self->script;
}

gboolean litho_player_is_at_end(LithoPlayer *self)
{
    return self->script && self->phase == ENDED;
}

const char *litho_player_note(LithoPlayer *self)
{
    return self->note ? self->note : "";
}

// --- the object ---------------------------------------------------------------------------------

static void dispose(GObject *object)
{
    LithoPlayer *self = LITHO_PLAYER(object);
    litho_job_cancel(self->job);
    self->job = NULL;
    self->serial++;
    g_clear_handle_id(&self->tick, g_source_remove);
    g_clear_pointer(&self->script, litho_script_free);
    g_clear_pointer(&self->place, litho_place_free);
    G_OBJECT_CLASS(litho_player_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    LithoPlayer *self = LITHO_PLAYER(object);
    litho_flow_free(self->found);
    litho_flow_free(self->found_for);
    litho_script_cube_clear(&self->cube);
    g_free(self->note);
    G_OBJECT_CLASS(litho_player_parent_class)->finalize(object);
}

static void litho_player_class_init(LithoPlayerClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    signals[SIGNAL_CHANGED] = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST,
                                           0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void litho_player_init(LithoPlayer *self)
{
    (void)self;
}

LithoPlayer *litho_player_new(LithoWindow *window, LithoRaceView *race)
{
    LithoPlayer *self = g_object_new(LITHO_TYPE_PLAYER, NULL);
    self->window = window;
    self->race = race;
    return self;
}
