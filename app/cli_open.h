// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/survey.h"

// Options that tell how to read input files, shared by all commands that open some. Fills `open`,
// which must outlive the parsing. g_option_context_add_group() takes the result over.
GOptionGroup *litho_cli_open_group(LithoOpenOptions *open);
// The same for commands that also write: --format and --endian are the output's there, the
// input's are called --in-format and --in-endian.
GOptionGroup *litho_cli_input_group(LithoOpenOptions *open);
// "big" or "little" to 1 or 2. FALSE sets LITHO_ERROR_PARAMETER.
gboolean litho_cli_endian(const char *word, int *endian, GError **error);
