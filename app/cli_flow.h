// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/cli_files.h"
#include "core/backend.h"
#include "core/flow.h"

// The flow that a command applies, and its files.

// Steps are parted by "+". words[0] is an operator, a recipe file or a recipe itself (what "Copy as command" writes); the
// other words are settings of the operator (or of a recipe's only step), and files, which are added
// to `files`. `wants_out` as in litho_cli_files_add(). NULL sets `error`.
LithoFlow *litho_cli_flow(char **words, LithoCliFiles *files, gboolean wants_out, GError **error);
// The device that --backend names (NULL = auto).
gboolean litho_cli_device(const char *backend, LithoDevice *device, GError **error);
