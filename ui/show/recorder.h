// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/show/script.h"
#include "ui/window/window.h"

// Makes a script from what a person does in the window: each change of cube, flow or comparison
// that is left alone for a moment becomes a step; a slider that was dragged becomes a ramp, and the
// time until the next change the step's time. Main thread.
typedef struct LithoRecorder LithoRecorder;

// Begins with what the window shows. NULL with a sentence when that cannot be told in a script
// (nothing is open, or a cube in memory that no generator made).
LithoRecorder *litho_recorder_start(LithoWindow *window, GError **error);
// Ends and gives the script; litho_script_free(). Frees the recorder.
LithoScript *litho_recorder_stop(LithoRecorder *recorder);
