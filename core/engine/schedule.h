// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// The policy of the thread behind the window: which part of a wish is computed next, and when the
// part under way gives way to a newer wish. No thread, no lock, no clock: the caller says what time
// it is (seconds, from any zero) and whether a newer wish waits.
//
// Visible boxes ("views") come first, the most important one first, then the rest of the cube
// ("whole"). While newer wishes wait, the views behind the first take together no more time than
// the first, each in its turn: during a drag the first follows closely and none stands still. Views
// that lately took less than 50 ms together are shown together; from 4 ms on the first one, where
// it is there before the next frame, is shown before the others. A view younger than
// LITHO_SCHEDULE_GRACE_MS is finished although a newer wish waits (cancelling at every event
// starves a drag); one that lately took less than LITHO_SCHEDULE_PATIENCE_MS may take that long.
// The rest of the cube, which nobody sees, gives way at once; so does what has been shown in a
// first look. A cube that lately took less than 25 ms, or than a turn of a drag, which is the first
// view and one other, or that one view shows whole, is computed as a whole from the start; not
// where the first view is there before the next frame and the whole is not, unless all views take
// longer than the whole. While that time is not known and the views are quick, a drag lets the
// whole run as long as a turn, twice at most: the first pass, which plans, does not tell it.
//
// While a slider moves, the rest of the cube is not begun: two wishes that came within
// LITHO_SCHEDULE_DRAG_MS of each other are a drag, which ends when none has come for
// LITHO_SCHEDULE_REST_MS. Its kernels would stand in the way of frames and of the next wish's
// views. What comes behind a first look waits likewise.
//
// A wish for a device that OpenGL draws on begins after the result before it is on the screen where
// that took more than LITHO_SCHEDULE_LONG_MS: the frame would wait behind the kernels of the next
// pass many times as long as it takes alone, and the wish that begins later is a newer one. It
// waits LITHO_SCHEDULE_SHOW_MS at most, and not at all while nobody draws. Quick passes and frames
// share the device well.
//
//     litho_schedule_begin(&s, ...);
//     wait litho_schedule_rest_s(&s, now), or until a newer wish comes, before each of these:
//     while ((task = litho_schedule_next(&s, now, newer)).what is VIEW or WHOLE) {
//         compute it, asking litho_schedule_gives_way(&s, now, newer) at every step;
//         litho_schedule_end(&s, now, finished);
//         if (!finished) break;
//     }
//
// Not safe for several threads at once: the caller guards it.

enum {
    LITHO_SCHEDULE_GRACE_MS = 150,
    LITHO_SCHEDULE_PATIENCE_MS = 1000,
    LITHO_SCHEDULE_DRAG_MS = 250,
    LITHO_SCHEDULE_REST_MS = 100,
    LITHO_SCHEDULE_SHOW_MS = 100,
    LITHO_SCHEDULE_LONG_MS = 80,
    LITHO_SCHEDULE_MAX_VIEWS = 24
};

typedef enum {
    LITHO_TASK_NONE,     // everything that was wished for is computed
    LITHO_TASK_VIEW,     // view `view` of the wish
    LITHO_TASK_WHOLE,    // the whole cube
    LITHO_TASK_GIVE_WAY, // a newer wish waits and has the next turn
} LithoTaskKind;

typedef struct LithoTask {
    LithoTaskKind what;
    guint view;
} LithoTask;

typedef struct LithoSchedule {
    // Times that the last finished computations took, s; 0 = not known.
    double view_s[LITHO_SCHEDULE_MAX_VIEWS], whole_s;
    guint next_other;     // of the views behind the first, 0 the second: whose turn is next
    double owed_s;        // to the first view, by the others
    gboolean whole_known; // whole_s is of a pass that found its plans made, or was quick
    guint trials;         // whole cubes that were given up when they did not pay
    guint viewed;         // wishes that began with views, up to two
    // The wish under way:
    guint n_views, turn; // turns taken
    gboolean views, whole;
    gboolean shared; // the whole goes on from what its views have computed
    gboolean singly; // views are published one by one: together they take too long
    gboolean early;  // the first is published alone, a frame before all of them
    LithoTask task;
    double began_s, grace_s; // of the task under way
    gboolean busy;           // a task is under way
    // Wishes as they were handed over:
    gboolean dragged; // the newest soon after the one before it
    double asked_s;   // the newest; 0 = none
    // Results on their way to the screen:
    gboolean awaits, unseen; // the newest is not on the screen; one before was not in time
    double published_s;
} LithoSchedule;

// Times of another kind of wish, or of another device, say nothing any more. Zero is a valid start.
void litho_schedule_forget(LithoSchedule *s);
// A wish of `n_views` views (0: none can be computed alone) begins; `whole`: also the rest of the
// cube. `sees_all`: one of the views is the whole cube. Without views the whole is computed in any
// case.
void litho_schedule_begin(LithoSchedule *s, guint n_views, gboolean whole, gboolean sees_all);
// Before a wish begins: its views and the whole have most of their work in common, which the first
// one does. The time of a whole that follows views is theirs, too, then.
void litho_schedule_share(LithoSchedule *s, gboolean shared);
LithoTask litho_schedule_next(LithoSchedule *s, double now_s, gboolean newer);
// A wish has been handed over; it begins later.
void litho_schedule_asked(LithoSchedule *s, double now_s);
// Seconds that the next task waits for a newer wish; 0 = it begins.
double litho_schedule_rest_s(const LithoSchedule *s, double now_s);
// Seconds that the task under way waits for a newer wish behind its first look; 0 = it goes on.
double litho_schedule_look_rest_s(const LithoSchedule *s, double now_s);
// The task under way has ended; `finished`: with its samples, rather than cancelled or failed.
void litho_schedule_end(LithoSchedule *s, double now_s, gboolean finished);
// All that is visible of the task under way has been shown, perhaps as a first look: from now on it
// gives way at once.
void litho_schedule_shown(LithoSchedule *s);
// TRUE when the task under way is to be given up for the newer wish.
gboolean litho_schedule_gives_way(const LithoSchedule *s, double now_s, gboolean newer);
// After a finished view: TRUE when the views computed so far should be shown now.
gboolean litho_schedule_shows(const LithoSchedule *s);
// A result has been published that took `took_s`, and is on the screen; `newest`: no other has been
// published since.
void litho_schedule_published(LithoSchedule *s, double now_s, double took_s);
void litho_schedule_drawn(LithoSchedule *s, gboolean newest);
// Seconds that the next wish waits for the screen unless a result is drawn before; 0 = it begins.
double litho_schedule_hold_s(LithoSchedule *s, double now_s);
// TRUE when all views of the wish are computed.
gboolean litho_schedule_has_all_views(const LithoSchedule *s);
