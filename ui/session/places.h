// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/session/depth_time.h"
#include "ui/session/display.h"

// The grid that the views show, and where one looks in it: slices, window and camera go along when
// another grid takes its place, and come back unchanged with the grid before. An operator switched
// on and off again leaves everything as it was. Main thread only; no I/O.
typedef struct LithoPlaces LithoPlaces;

LithoPlaces *litho_places_new(void);
void litho_places_free(LithoPlaces *places);                   // NULL is fine
const LithoGrid *litho_places_grid(const LithoPlaces *places); // NULL = nothing is shown
// The views show `grid` from here on. Slices and window of `display` stay where an axis has as many
// samples as before, and lie at the same line, time or depth where it has not; `curve` lays times
// and depths upon each other.
void litho_places_adopt(LithoPlaces *places, const LithoGrid *grid, const LithoDepthTime *curve,
                        LithoDisplay *display);
void litho_places_forget(LithoPlaces *places); // another survey: nothing of it is kept
// Axes of the slices on screen, the most important first, 3 at most. TRUE when they are others.
gboolean litho_places_set_visible(LithoPlaces *places, guint n, const int *axes);
const int *litho_places_visible(const LithoPlaces *places, guint *n); // borrowed
