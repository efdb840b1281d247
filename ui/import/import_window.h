// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/survey.h"
#include "ui/window/window.h"

// The import view: which header bytes number the lines, with the evidence for each pair, what the
// first traces and the map look like when read so, and every choice open to be overruled by hand.
// Profiles keep a set of choices under a name.
//
// Opens for `paths` (NULL-terminated), starting from `options`; "Open" hands both to the window.
void litho_import_open(LithoWindow *window, const char *const *paths,
                       const LithoOpenOptions *options);
