// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/survey.h"

// A command's options: what its words are, what it does, its own options and those of `input`
// (taken over; NULL = none). g_option_context_free() when parsed.
GOptionContext *litho_cli_options(const char *words, const char *summary,
                                  const GOptionEntry *entries, GOptionGroup *input);
// Options that tell how to read input files, shared by all commands that open some. Fills `open`,
// which must outlive the parsing. For litho_cli_options().
GOptionGroup *litho_cli_open_group(LithoOpenOptions *open);
// The group for commands that also write: --format and --endian are the output's there, the input's
// are called --in-format and --in-endian.
GOptionGroup *litho_cli_input_group(LithoOpenOptions *open);
// "ibm", "ieee", "int16", ... or SEG-Y's own code to the code. FALSE sets LITHO_ERROR_PARAMETER.
gboolean litho_cli_format(const char *word, int *format, GError **error);
// --threads N to the number: 0 (all) to 1024. Likewise.
gboolean litho_cli_threads(int threads, GError **error);
// FALSE with a sentence: --seed N is below 0. Likewise.
gboolean litho_cli_seed(int seed, GError **error);
// "big" or "little" to 1 or 2. FALSE sets LITHO_ERROR_PARAMETER.
gboolean litho_cli_endian(const char *word, int *endian, GError **error);
// The words of --dt to the sample interval: seconds, or a number with its unit, "2ms"; metres for
// depth. `is_bare`: they name no unit of time. FALSE sets LITHO_ERROR_PARAMETER.
gboolean litho_cli_interval(const char *value, double *dt, gboolean *is_bare, GError **error);
// litho_interval_note() as a note to standard error, if there is one.
void litho_cli_note_interval(double dt, const char *option);
// A note to standard error where a flow that fills missing traces writes some that lie far from all
// recorded ones: the corners of a survey's grid, say.
void litho_cli_tell_far(const LithoSurvey *survey);
// Notes to standard error of what reading met so far: traces of zeros, samples that are no numbers.
void litho_cli_tell_masked(const LithoSurvey *survey);
