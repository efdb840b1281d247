// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"
#include "core/io/survey.h"

// Axes told by named coordinates, as netCDF and Zarr keep them. Thread-safety: the thread that
// opens the survey; functions of numbers alone are pure.

// First value and step of `n` coordinates. FALSE: fewer than two, or not evenly spaced (1e-3 of a
// step).
gboolean litho_coordinates_even(const double *value, gint64 n, double *first, double *step);
// Samples along "twt" or "time" in s, ms, us or ns, "depth" or "z" in m, km, cm, mm or ft, short or
// as words (core/io/units.h); `unit` "" = the file does not say; the survey has a note of one that
// is not known. FALSE: the coordinates do not rise evenly; nothing changes.
gboolean litho_coordinates_samples(const double *value, const char *name, const char *unit,
                                   LithoSurvey *survey);
// Line numbers: whole and evenly spaced; FALSE: they are not, nothing changes.
gboolean litho_coordinates_lines(const double *value, const char *name, LithoAxis *axis);
// Tells that the coordinates `name` of an axis were left.
void litho_coordinates_note(LithoSurvey *survey, const char *name, gboolean is_sample);
// FALSE with a sentence when the first or second of three dimensions bears the samples' name.
gboolean litho_coordinates_check_order(const char *path, const char *variable,
                                       const char *const name[3], GError **error);
