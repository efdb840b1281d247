// SPDX-License-Identifier: GPL-3.0-or-later
//
// The session's side of a cube beyond memory: which slices are read, and which sections of the flow
// are computed. ui/session/pages.h knows what fits.
#include "core/text.h"
#include "ui/session/session_private.h"

#include <string.h>

#include "core/error.h"
#include "render/cover.h"

gboolean litho_session_is_paged(LithoSession *self)
{
    return self->pages != NULL;
}

void litho_session_pages_moved(LithoSession *self)
{
    const LithoGrid *grid = &self->input->grid;
    gint64 slice[3];
    guint n;
    const int *axes = litho_places_visible(self->places, &n);
    for (int a = 0; a < 3; a++)
        slice[a] = MIN(self->display.slice[a], grid->axis[a].n - 1);
    litho_pager_want(litho_pages_pager(self->pages), slice, axes, n);
    litho_session_emit(self, SIGNAL_PROGRESS);
}

static void arrived(gpointer data)
{
    LithoSession *self = data;
    const char *problem = litho_pager_problem(litho_pages_pager(self->pages));
    if (problem && !litho_session_problem(self)) {
        g_autoptr(GError) error = g_error_new_literal(LITHO_ERROR, LITHO_ERROR_FORMAT, problem);
        litho_results_set_problem(self->results, error);
        litho_session_emit(self, SIGNAL_RESULT);
    }
    litho_session_area_look(self);
    litho_session_emit(self, SIGNAL_SLICES); // the views draw what has come
    litho_session_emit(self, SIGNAL_PROGRESS);
}

void litho_session_set_paged_input(LithoSession *self, LithoSurvey *survey, LithoCube *middle,
                                   guint64 memory)
{
    litho_session_drop_pages(self);
    self->pages = litho_pages_new(survey, memory, arrived, self);
    litho_session_adopt_input(self, middle);
    litho_session_pages_moved(self);
}

void litho_session_drop_pages(LithoSession *self)
{
    g_clear_pointer(&self->pages, litho_pages_free);
}

LithoSurvey *litho_session_page_survey(LithoSession *self)
{
    return self->pages ? litho_pages_survey(self->pages) : NULL;
}

const GPtrArray *litho_session_pages(LithoSession *self, guint64 *stamp, guint64 *dropped)
{
    *stamp = *dropped = 0;
    return self->pages && !self->preview
               ? litho_pager_parts(litho_pages_pager(self->pages), stamp, dropped)
               : NULL;
}

gboolean litho_session_pages_wanted(LithoSession *self)
{
    return self->pages && litho_pager_is_busy(litho_pages_pager(self->pages));
}

// --- sections of the flow -----------------------------------------------------------------------

static gboolean is_computed(const LithoResult *result, LithoBox slice)
{
    LithoCover cover = {0};
    for (guint k = 0; result && k < result->parts->len; k++) {
        const LithoCube *part = g_ptr_array_index(result->parts, k);
        litho_cover_add(&cover, litho_box_intersect(part->held, slice));
    }
    return litho_cover_contains(&cover, slice);
}

const char *litho_session_not_computed(LithoSession *self, int axis)
{
    LithoBox strips[LITHO_PAGES_STRIPS], needs[LITHO_PAGES_STRIPS];
    if (!self->pages || !self->input || self->preview || litho_session_flow_problem(self) ||
        !litho_flow_has_work(self->flow))
        return NULL;
    const LithoGrid *grid = &self->input->grid;
    gint64 index = MIN(self->display.slice[axis], grid->axis[axis].n - 1);
    LithoBox slice = litho_box_slice(grid, axis, index);
    const gboolean output = self->display.show == LITHO_SHOW_OUTPUT; // the input lies below it
    if (!litho_pages_strips(self->pages, self->flow, grid, slice, strips, needs))
        return output ? _("Input: the result here needs more\nthan memory holds. Ctrl+S saves all "
                          "of it.")
                      : _("This slice of the result needs more\nthan memory holds. Ctrl+S saves "
                          "all of "
                          "it.");
    if (is_computed(litho_session_result(self), slice))
        return NULL;
    return litho_session_progress(self, NULL) ? output ? _("Input until the result is computed.")
                                                       : _("The result is being computed.")
           : output ? _("Input where the result is not computed.")
                                              : _("The result is not computed here.");
}

gboolean litho_session_paged_wish(LithoSession *self, LithoWish *wish)
{
    LithoBox views[LITHO_WORKER_MAX_VIEWS];
    const guint n_views = wish->n_views;
    memcpy(views, wish->views, n_views * sizeof *views);
    wish->n_views = 0;
    for (guint k = 0; k < n_views; k++)
        wish->n_views +=
            litho_pages_strips(self->pages, self->flow, &self->input->grid, views[k],
                               wish->views + wish->n_views, wish->needs + wish->n_views);
    wish->survey = litho_pages_survey(self->pages);
    wish->in = NULL;
    wish->whole = FALSE;
    if (wish->n_views > 0)
        return TRUE;
    g_autofree char *why = litho_pages_refusal(self->flow);
    g_autoptr(GError) error = g_error_new_literal(LITHO_ERROR, LITHO_ERROR_MEMORY, why);
    litho_results_set_problem(self->results, error);
    return FALSE;
}
