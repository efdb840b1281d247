// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule.h"

#include <string.h>

// A whole cube that last took less than this, or than a turn of a drag, is not worth computing
// visible slices for first.
#define QUICK_WHOLE_S 0.025
// Part of a frame of the screen that is left for computing: a result that takes no longer is there
// before the next frame begins.
#define FRAME_S 0.009
// The first of the visible slices is shown before the others where all take longer: a result of 7
// ms misses the next frame on a slower host, one of 1 ms does not.
#define AT_ONCE_S 0.004
// Visible slices that together take longer are shown one by one, as they are ready.
#define QUICK_VIEWS_S 0.05
// Whole cubes begun in a drag, to learn their time: how many, and the longest.
#define TRIALS 2
#define TRIAL_S 0.2

void litho_schedule_forget(LithoSchedule *s)
{
    memset(s->view_s, 0, sizeof s->view_s);
    s->whole_s = s->owed_s = 0;
    s->whole_known = FALSE;
    s->trials = s->viewed = 0;
}

// A turn of a drag: the first view and one other, the slowest. 0 = not known.
static double turn_s(const LithoSchedule *s)
{
    double other_s = 0;
    for (guint k = 0; k < s->n_views; k++) {
        if (s->view_s[k] == 0)
            return 0;
        other_s = k > 0 ? MAX(other_s, s->view_s[k]) : 0;
    }
    return s->view_s[0] + other_s;
}

// Time in which the whole would pay; 0 = it is not tried. Nothing says how long it takes: a first
// pass makes plans and takes memory that later passes find ready, and in a drag no second one would
// ever end.
static double trial_s(const LithoSchedule *s)
{
    const double pays_s = turn_s(s);
    const gboolean open = s->whole && !s->whole_known && s->trials < TRIALS;
    return open && pays_s > 0 && pays_s < TRIAL_S ? MAX(pays_s, QUICK_WHOLE_S) : 0;
}

// Time of the views of the wish under way, when they were last computed.
static double views_s(const LithoSchedule *s)
{
    double sum_s = 0;
    for (guint k = 0; k < s->n_views; k++)
        sum_s += s->view_s[k];
    return sum_s;
}

// TRUE where the first view comes a frame earlier than the whole and all views take no longer, or
// may: those of a first pass, which measures and plans, tell less than a second try.
static gboolean views_come_earlier(const LithoSchedule *s)
{
    const gboolean known = turn_s(s) > 0;
    const gboolean earlier = s->view_s[0] <= FRAME_S && views_s(s) <= s->whole_s;
    return s->whole_s > FRAME_S && known && (earlier || s->viewed < 2);
}

static gboolean is_whole_quick(const LithoSchedule *s)
{
    return s->whole_s > 0 && !views_come_earlier(s) &&
           (s->whole_s <= QUICK_WHOLE_S || (s->whole_known && s->whole_s <= turn_s(s)));
}

void litho_schedule_begin(LithoSchedule *s, guint n_views, gboolean whole, gboolean sees_all)
{
    double last_s = 0;
    s->n_views = MIN(n_views, LITHO_SCHEDULE_MAX_VIEWS);
    s->turn = 0;
    s->views = s->n_views > 0 && (!whole || (!sees_all && !is_whole_quick(s)));
    s->whole = whole || !s->views;
    s->viewed += s->views && s->viewed < 2;
    for (guint k = 0; k < s->n_views; k++)
        last_s += s->view_s[k] > 0 ? s->view_s[k] : QUICK_VIEWS_S;
    s->singly = last_s > QUICK_VIEWS_S;
    s->early = s->view_s[0] > 0 && s->view_s[0] <= FRAME_S && last_s > AT_ONCE_S;
    s->busy = FALSE;
}

void litho_schedule_share(LithoSchedule *s, gboolean shared)
{
    s->shared = shared;
}

// The time of a first pass that was not quick says nothing about the next.
static void end_whole(LithoSchedule *s, double took_s, gboolean finished)
{
    s->whole = FALSE;
    if (finished) {
        s->whole_known = s->whole_known || s->whole_s > 0 || took_s <= QUICK_WHOLE_S;
        s->whole_s = took_s;
    } else if (took_s >= s->grace_s) {
        s->trials = s->whole_s > 0 ? TRIALS : s->trials + 1; // with its plans made it is slow
    }
}

static LithoTask begin_task(LithoSchedule *s, LithoTask task, double now_s)
{
    const gboolean awaited = task.what == LITHO_TASK_VIEW || !s->views; // nothing is shown yet
    const double last_s = task.what == LITHO_TASK_VIEW ? s->view_s[task.view] : s->whole_s;
    const gboolean patient = last_s * 1000 < LITHO_SCHEDULE_PATIENCE_MS;
    s->task = task;
    s->began_s = now_s;
    s->grace_s = !awaited  ? trial_s(s)
                 : patient ? 1e-3 * LITHO_SCHEDULE_PATIENCE_MS
                           : 1e-3 * LITHO_SCHEDULE_GRACE_MS;
    s->busy = TRUE;
    return task;
}

// The first view, or the next one of the others, which take turns over many wishes.
static LithoTask next_view(LithoSchedule *s)
{
    guint view = 0;
    if (s->turn > 0) {
        const guint others = s->n_views - 1;
        view = 1 + s->next_other % others;
        s->next_other = (s->next_other + 1) % others;
    }
    return (LithoTask){LITHO_TASK_VIEW, view};
}

LithoTask litho_schedule_next(LithoSchedule *s, double now_s, gboolean newer)
{
    const LithoTask give_way = {LITHO_TASK_GIVE_WAY, 0};
    const gboolean has_way = newer && s->views && trial_s(s) == 0;
    if (s->views && s->turn < s->n_views) {
        // The first view and one other are computed whatever waits, unless the others have taken
        // more than their share.
        const gboolean enough = s->turn > 1 || (s->turn > 0 && s->owed_s > 0);
        if (!(newer && s->singly && enough))
            return begin_task(s, next_view(s), now_s);
        if (has_way)
            return give_way;
    }
    if (!s->whole)
        return (LithoTask){LITHO_TASK_NONE, 0};
    if (has_way)
        return give_way;
    return begin_task(s, (LithoTask){LITHO_TASK_WHOLE, 0}, now_s);
}

void litho_schedule_asked(LithoSchedule *s, double now_s)
{
    s->dragged = s->asked_s > 0 && now_s - s->asked_s <= 1e-3 * LITHO_SCHEDULE_DRAG_MS;
    s->asked_s = now_s;
}

double litho_schedule_look_rest_s(const LithoSchedule *s, double now_s)
{
    return s->dragged ? MAX(s->asked_s + 1e-3 * LITHO_SCHEDULE_REST_MS - now_s, 0) : 0;
}

double litho_schedule_rest_s(const LithoSchedule *s, double now_s)
{
    const gboolean unseen = s->whole && s->views && s->turn >= s->n_views;
    return unseen && trial_s(s) == 0 ? litho_schedule_look_rest_s(s, now_s) : 0;
}

void litho_schedule_end(LithoSchedule *s, double now_s, gboolean finished)
{
    const double took_s = now_s - s->began_s;
    s->busy = FALSE;
    if (s->task.what == LITHO_TASK_WHOLE) {
        end_whole(s, took_s + (finished && s->shared && s->views ? views_s(s) : 0), finished);
        return;
    }
    s->owed_s = s->task.view > 0 ? s->owed_s + took_s : MAX(s->owed_s - took_s, 0);
    s->turn++;
    if (!finished)
        return;
    s->view_s[s->task.view] = took_s;
    if (s->turn == s->n_views)
        s->owed_s = 0; // all are there
}

void litho_schedule_shown(LithoSchedule *s)
{
    s->grace_s = 0;
}

gboolean litho_schedule_gives_way(const LithoSchedule *s, double now_s, gboolean newer)
{
    return newer && s->busy && now_s - s->began_s > s->grace_s;
}

gboolean litho_schedule_shows(const LithoSchedule *s)
{
    return s->singly || s->turn == s->n_views || (s->early && s->turn == 1);
}

void litho_schedule_published(LithoSchedule *s, double now_s, double took_s)
{
    s->awaits = took_s * 1000 > LITHO_SCHEDULE_LONG_MS;
    s->published_s = now_s;
}

void litho_schedule_drawn(LithoSchedule *s, gboolean newest)
{
    s->awaits = s->awaits && !newest;
    s->unseen = FALSE;
}

double litho_schedule_hold_s(LithoSchedule *s, double now_s)
{
    const double left_s = s->published_s + 1e-3 * LITHO_SCHEDULE_SHOW_MS - now_s;
    if (s->awaits && !s->unseen && left_s > 0)
        return left_s;
    s->unseen = s->unseen || s->awaits; // until somebody draws
    s->awaits = FALSE;
    return 0;
}

gboolean litho_schedule_has_all_views(const LithoSchedule *s)
{
    return s->turn == s->n_views;
}
