// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// A live demonstration, measured in the real window: waits for the first
// result, drags a parameter of the first step up and down its slider for some seconds at 125 events
// a second, then compares the texture on the card with the downloaded result; sweeps the slices
// through the cube and turns the 3-D views, one step with every frame.

typedef struct LithoMeasure {
    double seconds;      // of dragging; 0 = no drag
    double scrub;        // seconds of each sweep of slices and turn of the 3-D views; 0 = none
    gboolean similarity; // shown during the drag
    const char *param;   // key of the parameter; NULL = the first one with a slider
    const char *json;    // file for the figures; NULL = none
    const char *picture; // PNG of the window as the drag leaves it; NULL = none
    const char *race;    // PNG of the race of CPU and GPU, held after that; NULL = no race
    const char *prefix;  // of the table's lines, static; NULL = none
} LithoMeasure;

// Begins; prints a table on stdout when it is over and then closes the window. `status` becomes 0,
// or 1 when the texture differs from the result or nothing could be measured. Main thread.
void litho_measure_start(LithoWindow *window, const LithoMeasure *measure, int *status);
