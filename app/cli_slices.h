// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/text.h"
#include "core/grid.h"

// The slices that a command draws, as --inline, --xline, --time and --depth name them.

typedef struct LithoCliSlices {
    char **words[3]; // --inline, --xline, --time
    char **depths;   // --depth
} LithoCliSlices;

typedef struct LithoCliSlice {
    int axis;
    gint64 index; // of the grid
} LithoCliSlice;

// clang-format off
#define LITHO_CLI_SLICES(slices, inlines) \
    {"inline", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(slices)->words[0], inlines, "N"}, \
    {"xline", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(slices)->words[1], _("Crossline section"), "N"}, \
    {"time", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(slices)->words[2], \
     _("Time slice: 1.24s or 1240ms"), "T"}, \
    {"depth", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(slices)->depths, _("Depth slice, m"), "Z"}
// clang-format on

void litho_cli_slices_clear(LithoCliSlices *slices);
// Before anything is read. FALSE with a sentence: a word is no number of any survey, or an axis has
// more than `most` slices.
gboolean litho_cli_slices_check(const LithoCliSlices *slices, guint most, GError **error);
// The slices of a survey on `grid`, inlines first: an array of LithoCliSlice, empty where none was
// named. A note to standard error tells where the nearest one is meant. NULL: the survey has no
// such slice.
GArray *litho_cli_slices_find(const LithoCliSlices *slices, const LithoGrid *grid, GError **error);
