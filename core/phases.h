// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Times of what a thread does, by name: where a long turn of a main loop was spent. Each thread has
// a table of its own, of the last litho_phases_take() or its first phase on. A phase inside another
// one is counted for itself, not for the outer one.

enum { LITHO_PHASES_MAX = 16 };

typedef struct LithoPhase {
    const char *name; // static text
    double ms;
    guint times; // begun
} LithoPhase;

// Begins `name`, a static text. Returns what litho_phase_end() is to be given: the phase around it,
// NULL for none.
const char *litho_phase_begin(const char *name);
void litho_phase_end(const char *around);

// The calling thread's phases in order of first appearance; its table is empty then, and the phase
// under way goes on. `phases` may be NULL. Phases beyond LITHO_PHASES_MAX names are not counted.
guint litho_phases_take(LithoPhase phases[LITHO_PHASES_MAX]);

// "texture copy 80.1 ms (3), drawing 4.2 ms": the longest first, without those below `least_ms`;
// "" for none. The caller frees it.
char *litho_phases_text(const LithoPhase *phases, guint n, double least_ms);
