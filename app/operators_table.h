// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/io/output.h"

// `lithoscope-cli compare --operators`: all operators that Find can tune, with their defaults and
// with the settings that Find gives, and the built-in baselines (app/baselines) on generated cubes of
// known truth. A row is a cube with its noise or its missing traces, a cell a method's result.

typedef struct LithoTableAsk {
    const char *markdown; // FILE.md; the figures go to FILE.json beside it
    const char *pictures; // folder for a sheet per row; NULL = none
    const char *rows;     // "white 0, fill": rows that have all words of one of these; NULL = all
    const char *methods;  // "fx, rank": NULL = all
    gint64 size[3];       // of cubes with noise; those with missing traces have 3/4, 3/4, 3/8 of it
    double seconds;       // for Find, per operator and row; 0 = defaults alone
    int seed;
    gboolean resume;      // rows that FILE.json has already stay
    LithoReplace replace;
    LithoDevice device;
} LithoTableAsk;

// FALSE with a sentence where `rows` or `methods` name what is not in the table.
gboolean litho_operators_table_check(const LithoTableAsk *ask, GError **error);
// Both files are written after every row. FALSE: cancelled, or a cube or file cannot be made; what
// an operator refuses is told in its cell.
gboolean litho_operators_table(const LithoTableAsk *ask, LithoRun *run, GError **error);
