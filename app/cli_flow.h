// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/cli_files.h"
#include "core/text.h"
#include "core/backend.h"
#include "core/flow.h"

// The flow that a command applies, and its files.

// Steps are parted by "+". words[0] is an operator, a recipe file or a recipe itself (what "Copy as command" writes); the
// other words are settings of the operator (or of a recipe's only step), and files, which are added
// to `files`. `wants_out` as in litho_cli_files_add(). NULL sets `error`.
//
// A setting in a unit that the sample interval ties to the parameter's ("time_window=600ms" counts
// samples) waits in files->waiting until the survey is open.
LithoFlow *litho_cli_flow(char **words, LithoCliFiles *files, gboolean wants_out, GError **error);
// Applies what waits. `grid` is the survey's, NULL = the flow reads none (FALSE then, with the
// sentence that says so).
gboolean litho_cli_flow_settle(LithoFlow *flow, const LithoCliFiles *files, const LithoGrid *grid,
                               GError **error);
// Rows of a command's table that say where it computes.
// clang-format off
#define LITHO_CLI_DEVICE(backend, threads) \
    {"backend", 0, 0, G_OPTION_ARG_STRING, backend, _("auto, cpu, cuda or cuda:N"), "NAME"}, \
    {"threads", 0, 0, G_OPTION_ARG_INT, threads, _("CPU threads (0 = all)"), "N"}
// clang-format on
// The device that --backend names (NULL = auto, the CPU where a step of `flow`, which may be NULL,
// runs nowhere else). LITHO_ERROR_WORD: there is no such name.
gboolean litho_cli_device(const char *backend, const LithoFlow *flow, LithoDevice *device,
                          GError **error);
