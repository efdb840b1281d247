// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/inputs.h"
#include "ui/session/job.h"
#include "ui/session/judgement.h"
#include "core/io/open_options.h"
#include "ui/session/snapshots.h"
#include "ui/session/state_writer.h"
#include "ui/show/podium.h"
#include "ui/window/blink.h"
#include "ui/window/busy_line.h"
#include "ui/window/header.h"
#include "ui/window/job_bar.h"
#include "ui/window/open_file.h"
#include "ui/window/panels.h"
#include "ui/window/middle.h"
#include "ui/window/tellers.h"
#include "ui/window/window.h"

struct _LithoWindow {
    GtkApplicationWindow parent;
    LithoSession *session;
    LithoJudgement *judgement; // of the result on screen
    LithoSettings *settings;
    LithoWatchdog *watchdog;
    LithoPodium *podium; // presenter, scripts, race

    LithoHeader *header;
    LithoBusyLine *busy; // the worker's progress
    LithoTellers *tellers;
    LithoPanels *panels;
    LithoMiddle *middle; // start page or views
    GtkWidget *params, *status;
    LithoBlink *blink;
    gboolean velocity_offered; // beside the open file, to the flow as it stands
    gboolean by_keyboard; // Tab has moved the focus since the last click
    enum { LITHO_CLOSING_NOT, LITHO_CLOSING_WHEN_SAVED, LITHO_CLOSING_NOW } closing; // as answered
    LithoJobBar *job; // opening, saving, picture: one at a time; and a save that waits

    GPtrArray *colours; // the user's own maps, of LithoColormap, borrowed
    LithoSnapshots *snapshots;
    LithoOpenFile *file;      // that is open
    LithoStateWriter *writer; // of its session, window_state.c; NULL once disposed
    char *damaged;            // sentence about a session that was set aside at start, or NULL
};

// Effect of opening on the flow: NORMAL: a file brings the session it was left with; one that was
// left without a flow takes the present one. CONTINUE: its session replaces the flow. AGAIN: the
// same file read otherwise, everything else stays.
typedef enum { LITHO_OPEN_NORMAL, LITHO_OPEN_CONTINUE, LITHO_OPEN_AGAIN } LithoOpenMode;

// window.c
void litho_window_show_title(LithoWindow *self); // name and sizes of what is open

// window_actions.c
void litho_window_actions_init(LithoWindow *self);
// window_keys.c, window_possible.c
void litho_window_keys_init(LithoWindow *self);
void litho_window_actions_update(LithoWindow *self); // enables the actions that are possible now

void litho_window_drop_init(LithoWindow *self); // window_drop.c
// window_layout.c
void litho_window_build(LithoWindow *self);
void litho_window_update_start(LithoWindow *self); // the start page: session, recent files

// window_dialogs.c
void litho_window_choose_open(LithoWindow *self);
void litho_window_choose_save(LithoWindow *self);
void litho_window_choose_picture(LithoWindow *self);
void litho_window_choose_report(LithoWindow *self);
void litho_window_choose_colours(LithoWindow *self);
void litho_window_choose_reference(LithoWindow *self);
void litho_window_choose_points(LithoWindow *self);
void litho_window_choose_recipe(LithoWindow *self, gboolean save);
// `path` as a person gave it to a dialog that has asked whether to replace it; with `suffix` where
// its name has none. NULL with a sentence: there is such a file, which nobody asked about.
// g_free().
char *litho_window_saved_path(const char *path, const char *suffix, GError **error);
// The one job at a time: the bar shows `sentence` and progress, `what` names it in "job-done".
void litho_window_start_job(LithoWindow *self, const char *what, const char *sentence,
                            const LithoJobFuncs *funcs, gpointer data);
gboolean litho_window_is_opening(LithoWindow *self); // that job is an opening
void litho_window_show_job(LithoWindow *self, const LithoProgress *p);
// FALSE when the window has been closed meanwhile: then there is nobody to tell.
gboolean litho_window_end_job(LithoWindow *self, const GError *error);
void litho_window_tell_done(LithoWindow *self, gboolean ok);
// window_close.c: FALSE while a file is being written; then a question is open.
gboolean litho_window_may_close(LithoWindow *self);
void litho_window_close_saved(LithoWindow *self, gboolean ok); // a job has ended: as was answered
// window_notice.c: a sentence that goes by itself, for what needs no answer
void litho_window_notice(LithoWindow *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
void litho_window_notice_saved(LithoWindow *self, const char *path); // with size and folder
// window_points.c: places for a table.
void litho_window_note_point(LithoWindow *self);
void litho_window_forget_points(LithoWindow *self);
void litho_window_save_points(LithoWindow *self, const char *path);
void litho_window_show_panel(LithoWindow *self, int panel, gboolean shown); // LITHO_PANEL_*
gboolean litho_window_wants_panel(LithoWindow *self, int panel);            // litho_panels_wants()
// window_command.c
// A line for a shell that repeats the flow on what is open, also when that is several files;
// g_free().
char *litho_window_command(LithoWindow *self);
// The flow's command with the names of the open file and of `out`, NULL: of a result beside it, for
// captions and headers; g_free().
char *litho_window_short_command(LithoWindow *self, const char *out);
// window_truth.c: TRUE when a reference is known, a file of the truth lay beside the open one when
// it was opened, or the demo is open.
gboolean litho_window_has_truth(LithoWindow *self);
// Everything that the window reads, held while something is written; litho_inputs_free().
LithoInputs *litho_window_inputs(LithoWindow *self);
void litho_window_compare_truth(LithoWindow *self); // or with the input again
// Any file of the survey's shape, read as the survey was.
void litho_window_compare_file(LithoWindow *self, const char *path);
void litho_window_forget_truth(LithoWindow *self); // also of its SNR
// window_velocity.c: asks whether a velocity beside the survey is to be taken, once, while a step
// has its default; and takes it.
void litho_window_offer_velocity(LithoWindow *self);
void litho_window_use_velocity(LithoWindow *self);
void litho_window_test_hidden(LithoWindow *self);  // predicts hidden traces, or no longer
// window_file.c
// Colour maps read from CSV files: the window remembers them.
void litho_window_load_colours(LithoWindow *self, const char *path);
void litho_window_restore_colours(LithoWindow *self);
const LithoColormap *litho_window_find_colours(LithoWindow *self, const char *name); // NULL = none
void litho_window_cancel_job(LithoWindow *self);
void litho_window_result_arrived(LithoWindow *self); // a waiting save may go on
// `paths` NULL = the demo. `options` may be NULL: as this file was read last time, or find out.
void litho_window_open_as(LithoWindow *self, const char *const *paths,
                          const LithoOpenOptions *options, LithoOpenMode mode);

// window_state.c: what is remembered about the file that is open
void litho_window_state_init(LithoWindow *self);
void litho_window_state_adopt(LithoWindow *self, const char *const *paths,
                              const LithoOpenOptions *options);  // this file is open now
void litho_window_state_leave(LithoWindow *self);                // another file follows
void litho_window_state_close(LithoWindow *self);                // nothing of a name is open
void litho_window_state_touched(LithoWindow *self);              // it will be saved soon
void litho_window_state_preview(LithoWindow *self, gboolean on); // another file's line is shown
void litho_window_state_back(LithoWindow *self);                 // it did not come: as before it
void litho_window_state_flush(LithoWindow *self);                // now
char *litho_window_state_text(LithoWindow *self); // all of it as it would be saved; g_free()
// All but the flow; with `keep_flow` the file's own is one undo away.
void litho_window_state_restore(LithoWindow *self, JsonNode *state, gboolean keep_flow);
void litho_window_state_restore_flow(LithoWindow *self, JsonNode *state);
guint litho_window_state_flow_length(JsonNode *state); // steps of its flow; 0 also when unreadable
void litho_window_state_result(LithoWindow *self); // a result arrived: its views may be restored
// Sentence about the session saved last, and the name of its cube; NULL = there is none, or its
// file has gone. g_free() both.
char *litho_window_state_last(char **name, GError **error);
void litho_window_continue(LithoWindow *self);
