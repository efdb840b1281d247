// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Operators that are programs of the user's own: each is one JSON panel (docs/external.md) in a
// folder that is known to us. Recipes and sessions name an operator by its key and never bring a
// command.

// Takes the words "--operators DIR" and "--operators=DIR" out of `argv` and adds the operators of
// these folders, of the user's own folder and of the installed one, in this order; a key that is
// taken already is passed over but for one of a built-in operator, which is a mistake. A panel that
// is not right is told by litho_operators_problems(). FALSE (wrong usage): the option has no folder
// behind it, or the folder cannot be read. Once at start, behind litho_kernels_init().
gboolean litho_external_init(int *argc, char **argv, GError **error);
// Adds the panels of one folder. FALSE: it cannot be read.
gboolean litho_external_load_folder(const char *folder, GError **error);
