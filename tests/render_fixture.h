// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "core/cube.h"
#include "render/view.h"

// Cubes and pixel comparisons shared by the tests of drawing, with OpenGL and without.

// Small survey with line numbers 1001.., 2005.. step 2, 4 ms; survey coordinates known.
LithoGrid fixture_grid(gint64 ni, gint64 nj, gint64 nk);
// Sample (i, j, k) is its own linear index, so that a picture tells which sample it shows.
LithoCube *fixture_numbered(gint64 ni, gint64 nj, gint64 nk);
// Smooth dipping events with a gap of missing traces; amplitudes within -1..1.
LithoCube *fixture_events(gint64 ni, gint64 nj, gint64 nk, double noise);
void fixture_kill(LithoCube *cube, gint64 i, gint64 j);

guint32 fixture_pixel(cairo_surface_t *surface, int x, int y); // 0xRRGGBB
guint32 fixture_color(const LithoLook *look, LithoShow show, double value);
// Largest difference of a channel between two colours.
int fixture_distance(guint32 a, guint32 b);
// Share (0..1) of the pixels inside `rect` (device pixels; NULL = all) that differ by more than
// `limit` in a channel. Sizes must agree.
double fixture_differing(cairo_surface_t *a, cairo_surface_t *b, const LithoRect *rect, int limit);
// Compares with tests/golden/NAME, or writes it when LITHO_GOLDEN_UPDATE is set. Data rectangles
// (device pixels) are held to 1 % of pixels beyond 10; the whole picture, where fonts differ from
// machine to machine, to 4 % beyond 40.
void fixture_golden(cairo_surface_t *picture, const char *name, const LithoRect *data, guint n);
// TRUE for the hatch's greys (neither data nor background).
gboolean fixture_is_hatch(guint32 color);
