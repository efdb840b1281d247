// SPDX-License-Identifier: GPL-3.0-or-later
//
// When the frequencies of the area are asked for, and in which cubes: ui/session/area.h.
#include "ui/session/session_private.h"

// The input, or the slice of a cube beyond memory that has been read.
static LithoCube *input_with(LithoSession *self, LithoBox box)
{
    guint64 stamp, dropped;
    const GPtrArray *pages = litho_session_pages(self, &stamp, &dropped);
    for (guint k = 0; pages && k < pages->len; k++) {
        LithoCube *page = g_ptr_array_index(pages, k);
        if (litho_box_contains(page->held, box))
            return page;
    }
    return self->input;
}

void litho_session_area_look(LithoSession *self)
{
    const LithoGrid *grid = litho_session_grid(self);
    const LithoArea *area = litho_area_tool_area(self->area);
    if (!area->on || !grid)
        return;
    LithoBox box = litho_area_tool_box(self->area, grid, self->display.slice[area->axis]);
    gboolean same = litho_session_comparable(self);
    gboolean shows_input = litho_session_shown(self) == LITHO_SHOW_INPUT;
    LithoCube *in = same || shows_input ? input_with(self, box) : NULL;
    LithoCube *out = same || !shows_input ? litho_results_holding(self->results, box) : NULL;
    litho_area_tool_ask(self->area, in, out, box);
}

static void changed(gpointer owner)
{
    litho_session_emit(owner, SIGNAL_AREA);
}

void litho_session_area_init(LithoSession *self)
{
    self->area = litho_area_tool_new(changed, self);
}

void litho_session_area_forget(LithoSession *self)
{
    if (litho_area_tool_forget(self->area))
        litho_session_emit(self, SIGNAL_AREA);
    litho_session_area_look(self);
}

const LithoArea *litho_session_area(LithoSession *self)
{
    static const LithoArea none = {0};
    return self->preview ? &none : litho_area_tool_area(self->area); // it lies in the open file
}

const LithoAreaNumbers *litho_session_area_numbers(LithoSession *self)
{
    return self->preview ? NULL : litho_area_tool_numbers(self->area);
}

void litho_session_set_area(LithoSession *self, const LithoArea *area)
{
    litho_area_tool_set(self->area, area);
    litho_session_emit(self, SIGNAL_AREA);
    litho_session_area_look(self);
}
