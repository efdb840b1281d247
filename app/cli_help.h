// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/cli.h"

// Texts that the build makes with the program itself, from the operators' declarations and the
// commands' options, so that none of them can differ from what the program does. `commands` ends
// with a NULL name. The texts belong to the caller, g_free().

// 'lithoscope-cli help --WHAT ...': prints one of them.
int litho_cli_help(const LithoCommand *commands, int argc, char **argv);

char *litho_cli_man(const LithoCommand *commands); // lithoscope-cli(1), troff
char *litho_cli_man_operators(void);               // lithoscope-operators(7), troff
char *litho_cli_completion_bash(const LithoCommand *commands);
char *litho_cli_completion_zsh(const LithoCommand *commands);
char *litho_cli_completion_fish(const LithoCommand *commands);
char *litho_cli_recipe_schema(void); // JSON Schema 2020-12 of a recipe
