// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cubes beyond memory: slices are read as they are looked at, and the flow is computed for those
// sections whose surroundings fit.
#include "ui/session_private.h"

#include "core/error.h"

// Shares of the memory that may be taken: slices kept, and what one view reads for the flow.
enum { KEEP_SHARE = 4, READ_SHARE = 8 };

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

static gboolean affordable(LithoSession *self, LithoBox view, LithoBox *need)
{
    const LithoGrid *grid = &self->input->grid;
    if (!litho_flow_input_box(self->flow, grid, view, need, NULL))
        return FALSE;
    need->lo[2] = 0; // files are read in whole traces
    need->hi[2] = grid->axis[2].n;
    return 4 * (guint64)litho_box_count(*need) <= self->page_memory / READ_SHARE;
}

static gboolean has_work(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return TRUE;
    return FALSE;
}

const char *litho_session_not_computed(LithoSession *self, int axis)
{
    LithoBox need;
    if (!self->pager || !self->input || self->preview || self->flow_problem ||
        !has_work(self->flow))
        return NULL;
    const LithoGrid *grid = &self->input->grid;
    gint64 index = MIN(self->display.slice[axis], grid->axis[axis].n - 1);
    if (litho_flow_is_local(self->flow) &&
        affordable(self, litho_box_slice(grid, axis, index), &need))
        return NULL;
    return "This slice of the result needs more\nthan memory holds: save the result (Ctrl+S).";
}

gboolean litho_session_paged_wish(LithoSession *self, LithoWish *wish)
{
    guint n = 0;
    for (guint k = 0; litho_flow_is_local(self->flow) && k < wish->n_views; k++)
        if (affordable(self, wish->views[k], &wish->needs[n]))
            wish->views[n++] = wish->views[k];
    wish->n_views = n;
    wish->survey = self->page_survey;
    wish->in = NULL;
    wish->whole = FALSE;
    if (n > 0)
        return TRUE;
    g_clear_error(&self->problem);
    self->problem = g_error_new_literal(
        LITHO_ERROR, LITHO_ERROR_MEMORY,
        "What is shown needs more of the cube at once than memory holds; look at an inline or a "
        "crossline, or save the result, which is computed piece by piece.");
    return FALSE;
}
