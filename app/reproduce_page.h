// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

#include "core/backend.h"

// Figures of the papers as `reproduce` holds them, and the ways to tell their results. Texts that
// the functions return are the caller's; main thread only.

enum { LITHO_FIGURE_WORDS = 100 }; // of a command, the most

typedef struct LithoFigureValue {
    const char *what, *unit, *says, *path; // borrowed from the table
    const char *over;                      // path of what it is divided by; NULL = nothing
    const char *read;                      // the file in which both are; NULL = the figure's
    double scale, got;                     // got NAN = not there
} LithoFigureValue;

typedef struct LithoFigure {
    const char *id, *paper, *item, *what, *read, *refuse, *needs; // borrowed; NULL = none
    JsonArray *commands;                                          // borrowed; of arrays of words
    JsonArray *pictures;                                          // that they draw; or NULL
    GArray *values;                                               // of LithoFigureValue
    const char *left_out; // why it is not run on this device, in English; NULL = it is
    char *failed; // why there are no numbers; NULL = there are, or it was not run
    gboolean long_on_cpu; // run there only when it is named
    gboolean ran;
} LithoFigure;

typedef struct LithoFigures {
    GPtrArray *list;    // of LithoFigure
    GPtrArray *earlier; // of JsonNode: results of other machines, for the page
    char *machine;
    LithoDevice device;
} LithoFigures;

// The words of a command with the backend put in ("{backend}" and, for bench, "{backends}"), behind
// `program` where that is not NULL; g_strfreev().
char **litho_figures_argv(const LithoFigures *figures, JsonArray *words, const char *program);
// The command as a shell reads it.
char *litho_figures_command(const LithoFigures *figures, JsonArray *words);
// Figures that ran, failed or are refused, as JSON; values of those that ran, as CSV; all of them
// with what `earlier` says, as Markdown.
char *litho_figures_json(const LithoFigures *figures);
char *litho_figures_csv(const LithoFigures *figures);
char *litho_figures_markdown(const LithoFigures *figures);
