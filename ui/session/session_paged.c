// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cubes beyond memory: slices are read as they are looked at, and the flow is computed for those
// sections whose surroundings fit.
#include "ui/session/session_private.h"

#include <string.h>

#include "core/error.h"
#include "render/cover.h"

// Shares of the memory that may be taken: slices kept, and what one view reads for the flow. A
// slice that needs more is computed in strips, if they are not too many, and read no more than so
// many times that memory in all: a minute from a disk, not an hour.
enum { KEEP_SHARE = 4, READ_SHARE = 8, STRIPS = LITHO_WORKER_MAX_VIEWS / 3, MOST_READ = 2 };

gboolean litho_session_is_paged(LithoSession *self)
{
    return self->pager != NULL;
}

static void want(LithoSession *self)
{
    const LithoGrid *grid = &self->input->grid;
    gint64 slice[3];
    for (int a = 0; a < 3; a++)
        slice[a] = MIN(self->display.slice[a], grid->axis[a].n - 1);
    litho_pager_want(self->pager, slice, self->visible, self->n_visible);
    litho_session_emit(self, SIGNAL_PROGRESS);
}

static void arrived(gpointer data)
{
    LithoSession *self = data;
    const char *problem = litho_pager_problem(self->pager);
    if (problem && !self->problem) {
        self->problem = g_error_new_literal(LITHO_ERROR, LITHO_ERROR_FORMAT, problem);
        litho_session_emit(self, SIGNAL_RESULT);
    }
    litho_session_area_look(self);
    litho_session_emit(self, SIGNAL_SLICES); // the views draw what has come
    litho_session_emit(self, SIGNAL_PROGRESS);
}

void litho_session_set_paged_input(LithoSession *self, LithoSurvey *survey, LithoCube *middle,
                                   guint64 memory)
{
    litho_session_drop_pager(self);
    self->page_survey = litho_survey_ref(survey);
    self->page_memory = memory;
    self->pager = litho_pager_new(survey, memory / KEEP_SHARE, arrived, self);
    litho_session_adopt_input(self, middle);
    want(self);
}

void litho_session_drop_pager(LithoSession *self)
{
    g_clear_pointer(&self->pager, litho_pager_free);
    g_clear_pointer(&self->page_survey, litho_survey_unref);
}

LithoSurvey *litho_session_page_survey(LithoSession *self)
{
    return self->page_survey;
}

const GPtrArray *litho_session_pages(LithoSession *self, guint64 *stamp, guint64 *dropped)
{
    *stamp = *dropped = 0;
    return self->pager && !self->preview ? litho_pager_parts(self->pager, stamp, dropped) : NULL;
}

gboolean litho_session_pages_wanted(LithoSession *self)
{
    return self->pager && litho_pager_is_busy(self->pager);
}

void litho_session_pages_moved(LithoSession *self)
{
    want(self);
}

// --- what can be computed -----------------------------------------------------------------------

static guint64 need_bytes(LithoSession *self, LithoBox view, LithoBox *need)
{
    g_autoptr(LithoWalk) walk = litho_walk_look(self->flow, &self->input->grid, NULL);
    if (!walk || walk->waits)
        return G_MAXUINT64;
    walk->measured = TRUE; // by the worker, before the first view
    *need = litho_walk_want(walk, &view);
    return 4 * (guint64)litho_box_count(*need);
}

// Divides a slice into `n` strips along inlines, an inline along crosslines. FALSE when what one of
// them needs does not fit, or all of them more than there is patience for; `total`: bytes of all.
static gboolean divide(LithoSession *self, LithoBox view, guint n, LithoBox *strips,
                       LithoBox *needs, guint64 *total)
{
    const int along = litho_box_size(view, LITHO_INLINE) > 1 ? LITHO_INLINE : LITHO_XLINE;
    const gint64 lo = view.lo[along], size = litho_box_size(view, along);
    gboolean fit = TRUE;
    *total = 0;
    for (guint k = 0; k < n; k++) {
        strips[k] = view;
        strips[k].lo[along] = lo + size * k / n;
        strips[k].hi[along] = lo + size * (k + 1) / n;
        guint64 bytes = need_bytes(self, strips[k], &needs[k]);
        fit = fit && bytes <= self->page_memory / READ_SHARE;
        *total += bytes;
    }
    return fit && *total <= MOST_READ * self->page_memory;
}

// The strips, at most `room`, that make a slice of the result; 0 = it cannot be computed. `total`:
// bytes to be read for it, as far as it is known.
static guint strips_of(LithoSession *self, LithoBox view, guint room, LithoBox *strips,
                       LithoBox *needs, guint64 *total)
{
    *total = G_MAXUINT64;
    if (!litho_flow_is_local(self->flow))
        return 0;
    const gint64 longest =
        MAX(litho_box_size(view, LITHO_INLINE), litho_box_size(view, LITHO_XLINE));
    for (guint n = 1; n <= MIN(room, longest); n++)
        if (divide(self, view, n, strips, needs, total))
            return n;
    return 0;
}

static gboolean has_work(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return TRUE;
    return FALSE;
}

// The first step that takes all or nothing; NULL = there is none.
static const LithoOperator *greedy_step(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !step->op->input_box)
            return step->op;
    }
    return NULL;
}

static gboolean is_computed(LithoSession *self, LithoBox slice)
{
    LithoCover cover = {0};
    for (guint k = 0; self->result && k < self->result->parts->len; k++) {
        const LithoCube *part = g_ptr_array_index(self->result->parts, k);
        litho_cover_add(&cover, litho_box_intersect(part->held, slice));
    }
    return litho_cover_contains(&cover, slice);
}

const char *litho_session_not_computed(LithoSession *self, int axis)
{
    LithoBox strips[LITHO_WORKER_MAX_VIEWS], needs[LITHO_WORKER_MAX_VIEWS];
    guint64 total;
    if (!self->pager || !self->input || self->preview || self->flow_problem ||
        !has_work(self->flow))
        return NULL;
    const LithoGrid *grid = &self->input->grid;
    gint64 index = MIN(self->display.slice[axis], grid->axis[axis].n - 1);
    LithoBox slice = litho_box_slice(grid, axis, index);
    const gboolean output = self->display.show == LITHO_SHOW_OUTPUT; // the input lies below it
    if (!strips_of(self, slice, STRIPS, strips, needs, &total))
        return output
                   ? "Input: the result here needs more\nthan memory holds. Ctrl+S saves all of it."
                   : "This slice of the result needs more\nthan memory holds. Ctrl+S saves all of "
                     "it.";
    if (is_computed(self, slice))
        return NULL;
    return litho_session_progress(self, NULL)
               ? output ? "Input until the result is computed." : "The result is being computed."
           : output ? "Input where the result is not computed."
                    : "The result is not computed here.";
}

// What none of the views can show, in a sentence.
static char *refusal(LithoSession *self)
{
    const LithoOperator *greedy = greedy_step(self->flow);
    if (!greedy)
        return g_strdup(
            "What is shown needs more of the cube at once than memory holds; look at an "
            "inline or a crossline, or save the result, which is computed piece by piece.");
    return g_strdup_printf(
        "%s works on the whole cube at once, which is larger than the memory: the input "
        "is shown.",
        greedy->title);
}

gboolean litho_session_paged_wish(LithoSession *self, LithoWish *wish)
{
    LithoBox views[LITHO_WORKER_MAX_VIEWS];
    const guint n_views = wish->n_views;
    guint64 total;
    memcpy(views, wish->views, n_views * sizeof *views);
    wish->n_views = 0;
    for (guint k = 0; k < n_views; k++)
        wish->n_views += strips_of(self, views[k], STRIPS, wish->views + wish->n_views,
                                   wish->needs + wish->n_views, &total);
    wish->survey = self->page_survey;
    wish->in = NULL;
    wish->whole = FALSE;
    if (wish->n_views > 0)
        return TRUE;
    g_autofree char *why = refusal(self);
    g_clear_error(&self->problem);
    self->problem = g_error_new_literal(LITHO_ERROR, LITHO_ERROR_MEMORY, why);
    return FALSE;
}
