// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/report.h"
#include "core/run.h"

// The figures that operators tell beside their samples (numbers, curves, shapes): those of the
// newest pass, and under them those of the pass before while the newest one runs, so that a drag
// does not empty the panels. Passes are known by the tag of their wish. Main thread only.
typedef struct LithoFigures LithoFigures;

LithoFigures *litho_figures_new(void);
void litho_figures_free(LithoFigures *figures); // NULL is fine

// Forgets everything and refuses reports of wishes before `first_tag`: another operator, mode or
// file begins, and a pass of the former one may still be telling. TRUE when there was something.
gboolean litho_figures_restart(LithoFigures *figures, guint64 first_tag);
// Takes note of `report` (referenced; NULL is fine) of the wish `tag`. TRUE when it told something
// since the last call; a pass that has told nothing yet changes nothing.
gboolean litho_figures_take(LithoFigures *figures, LithoReport *report, guint64 tag);

// In the order of the first telling; NULL = nothing was told; g_array_unref(). `running`: the pass
// of the newest report has not ended, so figures of the pass before fill in. Elements: LithoNumber,
// LithoCurve, LithoShape.
GArray *litho_figures_numbers(const LithoFigures *figures, gboolean running);
GArray *litho_figures_curves(const LithoFigures *figures, gboolean running);
GArray *litho_figures_shapes(const LithoFigures *figures, gboolean running);
GArray *litho_figures_layers(const LithoFigures *figures, gboolean running);
// FALSE when the number of that key is one of the pass before.
gboolean litho_figures_is_newest(const LithoFigures *figures, const char *key);
