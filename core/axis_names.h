// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"

// Names of the axes of a grid: the one place that views, pictures, reports and commands ask. The
// words are those of the user's language, but for litho_axis_key(). Thread-safety: pure functions.

// TRUE: the survey is a line that has no number of its own; `axis` is the one across it.
gboolean litho_axis_is_unnumbered(const LithoGrid *grid, int axis);

// "Inline", "Crossline", "CDP", "Shot", "Channel", "Offset", "Trace", "Time", "Depth"; "Line" where
// the axis is unnumbered. Static.
const char *litho_axis_name(const LithoGrid *grid, int axis);
// "Inlines", "CDPs", "Shots", ...; "Time" and "Depth" as they are. Static.
const char *litho_axis_plural(const LithoGrid *grid, int axis);
// Name and plural inside a sentence: "inline", "CDP", "shots"; g_free().
char *litho_axis_word(const LithoGrid *grid, int axis);
char *litho_axis_words(const LithoGrid *grid, int axis);
// Count and name of the axis's members, "1 inline", "32 shots"; g_free().
char *litho_axis_counted(const LithoGrid *grid, int axis);
// Before a number in a narrow place: "IL", "XL", "CDP", "Shot", "t", "z". Static.
const char *litho_axis_short(const LithoGrid *grid, int axis);
// In JSON and files: "inline", "crossline", "cdp", "shot", "channel", "offset", "trace", "sample".
// Never translated. Static.
const char *litho_axis_key(const LithoGrid *grid, int axis);
// FALSE: the axis counts something else than inlines or crosslines.
gboolean litho_axis_is_line(const LithoGrid *grid, int axis);

// A sentence where two cubes of one shape, which are compared trace by trace, both state axes that
// differ; NULL where they do not. g_free().
char *litho_axes_tell_others(const LithoGrid *a, const LithoGrid *b);
