// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/cli.h"

// A command described by itself: the source of the man page and of the shells' completion. The
// option tables live inside the commands; each command is started once in a state in which its
// options are noted down instead of parsed. Main thread only.

typedef struct LithoCliOption {
    char *name;        // "backend"
    char letter;       // 'i'; 0 = none
    char *argument;    // "FILE"; NULL = the option takes none
    char *doc;         // one sentence without its point
    gboolean is_file;  // the argument is the name of a file
    gboolean is_input; // one of those that tell how input files are read
} LithoCliOption;

typedef struct LithoCliPage {
    const LithoCommand *command; // borrowed
    char *words;                 // "OPERATOR key=A,B,C -i IN -o OUT"
    char *summary;               // what it does
    char *description;           // examples and more, lines; "" = none
    GArray *options;             // of LithoCliOption
} LithoCliPage;

// litho_cli_page_free()
LithoCliPage *litho_cli_page_new(const LithoCommand *command);
void litho_cli_page_free(LithoCliPage *page);
// The number of options of `page` that are of the command itself (FALSE) or of reading inputs.
guint litho_cli_page_count(const LithoCliPage *page, gboolean is_input);

// "; did you mean '--progress'?" for a word that is none of the options of the command that was
// started last, or ""; g_free().
char *litho_cli_option_hint(const char *word);

// For litho_cli_options() and its groups. A group's entries are noted before the context's own.
gboolean litho_cli_page_is_made(void);
void litho_cli_page_note(const GOptionEntry *entries, gboolean is_input);
void litho_cli_page_ask(GOptionContext *context, const char *words, const char *summary);
