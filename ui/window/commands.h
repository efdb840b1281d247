// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/grid.h"

// The table of commands: keys, shortcuts window, help and palette are made from it.
typedef struct LithoWindowCommand {
    const char *group;  // "File", "Compare", ...
    const char *title;  // what it does
    const char *action; // "win.show"
    const char *target; // GVariant text, "'removed'"; NULL = none
    const char *accel;  // "<Control>o", "b"; several with blanks between; NULL = none
    gboolean single;    // a key without Ctrl: only when no widget wants it
    const char *words;  // others that people look for it with; NULL = none
} LithoWindowCommand;

const LithoWindowCommand *litho_commands(guint *n);
// The command's title in the user's language: sections of gathers are called by their axes. NULL
// grid: those of a survey. g_free().
char *litho_command_title(const LithoWindowCommand *command, const LithoGrid *grid);
// Command of a single key, NULL = none.
const LithoWindowCommand *litho_command_for_key(guint key, GdkModifierType state);
GVariant *litho_command_target(const LithoWindowCommand *command); // floating; NULL = none
// Makes the application's accelerators from the table.
void litho_commands_install(GtkApplication *app);

void litho_shortcuts_open(GtkWindow *parent);
void litho_help_open(GtkWindow *parent);
