// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"

// Parameter sets of the user's, by operator and name: each a recipe of one step at
// ~/.config/lithoscope/presets/OPERATOR/NAME.json, so that `lithoscope-cli run --recipe` takes it,
// too. Main thread.

// Names in alphabetical order, NULL-terminated; g_strfreev().
char **litho_presets_of(const LithoOperator *op);
// Why it cannot be a name, one sentence; NULL = it can. Static.
const char *litho_preset_bad_name(const LithoOperator *op, const char *name);
// The user has a set of that name, readable or not.
gboolean litho_preset_exists(const LithoOperator *op, const char *name);
// The step's parameters under that name; replaces a set of that name.
gboolean litho_preset_save(const LithoStep *step, const char *name, GError **error);
// Into `params`, the operator's struct.
gboolean litho_preset_load(const LithoOperator *op, const char *name, void *params, GError **error);
// The file's bytes, by which litho_preset_restore() brings it back, or NULL; g_bytes_unref().
GBytes *litho_preset_remove(const LithoOperator *op, const char *name, GError **error);
// Both refuse a name that is taken.
gboolean litho_preset_restore(const LithoOperator *op, const char *name, GBytes *removed,
                              GError **error);
gboolean litho_preset_rename(const LithoOperator *op, const char *from, const char *to,
                             GError **error);
