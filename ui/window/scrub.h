// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// Frames a second while slices sweep through the cube and the 3-D views turn: one step with every
// frame of the window, so that each frame shows something new. Nothing is computed meanwhile.

typedef struct LithoScrub {
    const char *key;   // "inline", "crossline" or what the axes count, "sample", "scene", "boxes"
    const char *label; // for people
    double seconds;    // it lasted
    guint frames;      // of the window
    guint pictures;    // of the view that moves: fewer where a frame has no time for all views
    double median_ms, p95_ms, longest_ms; // from picture to picture
    double block_ms;                      // longest main-thread block
    double busy_ms;                       // the most that the main thread itself computed in one go
    double busy_frame_ms;                 // and on average for a frame
} LithoScrub;

enum { LITHO_N_SCRUBS = 5 };

// `seconds` for each of the movements there are. The input has to be in its textures. `done` gets
// `n` of them, valid during the call. Main thread.
void litho_scrub_start(LithoWindow *window, double seconds,
                       void (*done)(const LithoScrub *scrubs, guint n, gpointer data),
                       gpointer data);
