// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/output.h"
#include "ui/session/session.h"

// Places that a person has noted, for a table: line numbers, coordinates, time or depth, amplitudes
// of input and output. Forgotten with the file. Main thread.
//
// Signal "changed": a point more, or none any more.
#define LITHO_TYPE_POINTS (litho_points_get_type())
G_DECLARE_FINAL_TYPE(LithoPoints, litho_points, LITHO, POINTS, GObject)

typedef struct LithoPoint {
    double line[2];    // inline and crossline number, or of what the axes count
    double xy[2];      // m; NAN = the file tells no coordinates
    double sample;     // s, or m in depth
    gboolean is_depth; // of `sample`
    double in, out;    // amplitudes when it was noted; NAN = there was none
} LithoPoint;

LithoPoints *litho_points_of(LithoSession *session); // borrowed: the session's own
// Notes the sample at these grid indices; returns its number, from 1; 0: it lies outside.
guint litho_points_add(LithoPoints *points, const gint64 at[3]);
void litho_points_clear(LithoPoints *points);
// All of them for litho_points_set(), of LithoPoint; g_array_unref().
GArray *litho_points_copy(LithoPoints *points);
void litho_points_set(LithoPoints *points, const GArray *list); // in place of those that are there
guint litho_points_count(LithoPoints *points);
const LithoPoint *litho_points_get(LithoPoints *points, guint k); // from 0; borrowed
// Grid indices in the grid that is shown; FALSE when it has another kind of samples.
gboolean litho_points_place(LithoPoints *points, guint k, double at[3]);
// The table, comma-separated with a line of names, which are those of the grid's axes: "inline",
// "crossline", or "shot", "channel", ...; g_free().
char *litho_points_csv(LithoPoints *points);
