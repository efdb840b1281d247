// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Commands of lithoscope-cli. Each takes its own name as argv[0] and returns the exit status.
enum { LITHO_EXIT_OK = 0, LITHO_EXIT_FAILED = 1, LITHO_EXIT_USAGE = 2, LITHO_EXIT_CANCELLED = 3 };

typedef struct LithoCommand {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *what;
} LithoCommand;

int litho_cli_list(int argc, char **argv);
int litho_cli_info(int argc, char **argv);
int litho_cli_convert(int argc, char **argv);
int litho_cli_run(int argc, char **argv);
int litho_cli_find(int argc, char **argv);
int litho_cli_sweep(int argc, char **argv);
int litho_cli_report(int argc, char **argv);
int litho_cli_bench(int argc, char **argv);
int litho_cli_synth(int argc, char **argv);
int litho_cli_render(int argc, char **argv);
int litho_cli_demo(int argc, char **argv);
int litho_cli_reproduce(int argc, char **argv);
int litho_cli_compare(int argc, char **argv);
int litho_cli_verify(int argc, char **argv);

// Prints "lithoscope-cli: SENTENCE" and gives the status that fits (cancelled, misused or
// failed). Takes over `error`.
int litho_cli_fail(GError *error);
// Says on stderr that the call was wrong: the sentence of `error` and where help is to be found.
int litho_cli_misused(const char *command, GError *error);
// Sets LITHO_ERROR_PARAMETER with the operators there are. Always FALSE.
gboolean litho_cli_no_operator(const char *word, GError **error);
