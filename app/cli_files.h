// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>
#include "core/flow.h"

// Files of a command. Every command takes them as -i IN and -o OUT or as bare words in that order.
typedef struct LithoCliFiles {
    char **in; // -i, which may be repeated
    char *out; // -o
    GPtrArray *waiting; // settings of the flow that need the survey's sample interval, see
                        // litho_cli_flow_settle(); NULL = none
} LithoCliFiles;

// clang-format off
#define LITHO_CLI_INPUT(files, what) \
    {"input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &(files)->in, what, "FILE"}
#define LITHO_CLI_OUTPUT(files, what) \
    {"output", 'o', 0, G_OPTION_ARG_FILENAME, &(files)->out, what, "FILE"}
// clang-format on

// Adds the bare words (NULL-terminated) to what the options said: of words alone the last one is
// the output, unless it is the only one of a command that may take an input. `most_in` is
// 0, 1 or G_MAXUINT = any number of inputs; commands that write nothing give wants_out = FALSE. A
// word too many sets LITHO_ERROR_PARAMETER; what is missing is left for the command to say.
gboolean litho_cli_files_add(LithoCliFiles *files, char *const *words, guint most_in,
                             gboolean wants_out, GError **error);
// Moves the words that are no settings of `table` (neither key=value nor the
// name of a parameter; NULL = there are none)
// out of `words`, which stays NULL-terminated. Returns them, NULL-terminated; g_free() of the array
// only.
char **litho_cli_settings(const LithoParamTable *table, char **words);
// A preset sets all parameters: it moves before the other words, which keep their order, so that
// "model=published preset=published" has that model.
void litho_cli_presets_first(char **words);
// Before a command opens anything for writing: holds everything that it reads (files->in, `reads`,
// the files that parameters of `flow` name) as inputs, and refuses when one of its outputs
// (files->out, `writes`, the files that parameters name for writing) is an input, exists without
// `force`, or is another output. `flow` and the lists, which end with NULL, may be NULL.
gboolean litho_cli_files_check(const LithoCliFiles *files, const LithoFlow *flow,
                               const char *const *reads, const char *const *writes, gboolean force,
                               GError **error);
// Writes a text; what exists is replaced where `force`.
gboolean litho_cli_save_text(const char *path, const char *text, gboolean force, GError **error);
void litho_cli_files_clear(LithoCliFiles *files);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LithoCliFiles, litho_cli_files_clear)
