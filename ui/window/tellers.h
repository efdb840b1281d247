// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "ui/window/bar.h"
#include "ui/window/notice.h"

// Places where the window tells something: the bars of errors, of notes about the open file and of
// an import profile that fits it, and the notice that goes by itself. Main thread only.
typedef struct LithoTellers LithoTellers;

LithoTellers *litho_tellers_new(void);
void litho_tellers_stop(LithoTellers *tellers);             // before the widgets go; NULL is fine
void litho_tellers_free(LithoTellers *tellers);             // NULL is fine
LithoBar *litho_tellers_error(const LithoTellers *tellers); // with "Read otherwise…" where it helps
LithoBar *litho_tellers_notes(const LithoTellers *tellers);
LithoBar *litho_tellers_offer(const LithoTellers *tellers);
LithoBar *litho_tellers_velocity(const LithoTellers *tellers); // of one that lies beside the file
LithoNotice *litho_tellers_notice(const LithoTellers *tellers);

// The error bar tells about the newest result, or does so no more: hidden then.
void litho_tellers_set_problem(LithoTellers *tellers, gboolean problem);
// Hides the error bar unless it tells about the newest result.
void litho_tellers_clear_error(LithoTellers *tellers);
// Repairs and assumptions of opening: the first sentence, the others behind Details. `cube` may be
// NULL.
void litho_tellers_show_notes(LithoTellers *tellers, const LithoCube *cube);
// One sentence in the place of those.
void litho_tellers_tell(LithoTellers *tellers, const char *sentence);
// Sentences (char *) about what a saved file could not hold, in the place of those; none: leaves
// what is shown.
void litho_tellers_show_saved(LithoTellers *tellers, const char *path, const GPtrArray *notes);
