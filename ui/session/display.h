// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/scene.h"
#include "render/view.h"

// How the data are looked at. Changing it computes nothing.
typedef struct LithoDisplay {
    LithoShow show;
    gboolean hold_input;  // Space is down, or blink's other half: the input instead of `show`
    LithoLook look;       // clip, colours, gains, divider
    LithoUnits units;     // of the axes
    int decibels;         // below the input's top that spectra and f-k pictures reach
    gint64 slice[3];      // indices of the visible slices
    double lo[3], hi[3];  // visible window of the linked views, indices
    LithoSceneView scene; // camera of the 3-D scene; its slices follow `slice`
    double cursor[3];     // grid indices under the pointer
    gboolean has_cursor;
} LithoDisplay;
