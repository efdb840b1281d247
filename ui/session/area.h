// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/qc.h"

// A rectangle of the sections of one axis whose frequencies are looked at.
typedef struct LithoArea {
    gboolean on;
    int axis;     // LITHO_INLINE or LITHO_XLINE: it lies on the section that is shown of that axis
    LithoBox box; // indices; the pair of `axis` is not used
    int diagonal; // that was drawn with it, from its first trace: 1 downwards, -1 upwards; 0 = none
} LithoArea;

// Frequencies of the area in input, output and removed; n_f = 0 where one is not there.
typedef struct LithoAreaNumbers {
    LithoFk fk[3];
} LithoAreaNumbers;

// An area chosen by a person: f-k pictures of input, output and their difference, computed in a
// thread; the newest question wins. Main thread only.
typedef struct LithoAreaTool LithoAreaTool;

// `changed`: numbers have come.
LithoAreaTool *litho_area_tool_new(void (*changed)(gpointer owner), gpointer owner);
void litho_area_tool_free(LithoAreaTool *tool);                   // no call follows; NULL is fine
const LithoArea *litho_area_tool_area(const LithoAreaTool *tool); // borrowed; `on` FALSE = none
void litho_area_tool_set(LithoAreaTool *tool, const LithoArea *area); // NULL = none
// The box of the area on the section at index `slice` of its axis, within `grid`.
LithoBox litho_area_tool_box(const LithoAreaTool *tool, const LithoGrid *grid, gint64 slice);
// Numbers of `box`, a section of one trace or more, in `in` and `out`. Either may be NULL or lack
// the box: its part stays empty. References both.
void litho_area_tool_ask(LithoAreaTool *tool, LithoCube *in, LithoCube *out, LithoBox box);
// Drops numbers and the question under way; TRUE when there were numbers.
gboolean litho_area_tool_forget(LithoAreaTool *tool);
const LithoAreaNumbers *litho_area_tool_numbers(const LithoAreaTool *tool); // NULL = not (yet)
