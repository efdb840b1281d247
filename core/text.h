// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <inttypes.h> // PRId64: the one name of a length that gettext knows, too
#include <stdarg.h>

#include <glib.h>

// Texts in the language of the person. Sentences stand in English in the source; _() marks one that
// is shown where it stands, N_() one in a table, which whoever shows it hands to litho_text().
// Keys, names of parameters and choices, files, JSON and commands are the same in every language.
#define _(text) litho_text(text)
#define N_(text) text

// The translation, or `text` itself; NULL is NULL. Lives as long as the program. Any thread.
const char *litho_text(const char *text) G_GNUC_FORMAT(1);
// "%u trace" or "%u traces": the form that the language has for `n`, of which there may be more
// than two. The sentence is translated as a whole and takes `n` like any other number. Lives as
// long as the program. Any thread.
const char *litho_text_plural(const char *one, const char *many, guint64 n) G_GNUC_FORMAT(1)
    G_GNUC_FORMAT(2);

// A name out of a file for a line of text: valid UTF-8, control characters as '?', `most`
// characters and "..." at the most. g_free().
char *litho_text_plain(const char *name, int most);
// A sentence for a terminal, in one line: control characters, which a file name may hold, as \n and
// \033. Other bytes stay as they are. g_free().
char *litho_text_visible(const char *text);

// A label such as "Time" inside a sentence: "time" in English and in languages that write nouns
// small, "Zeit" in German. g_free().
char *litho_text_inside(const char *label);

// A reason or a label as the beginning of a sentence: "the data look clean" with a capital T,
// "über" with a capital Ü. g_free().
char *litho_text_begin(const char *text);

// Takes the language from the environment (LANGUAGE, LC_ALL, LC_MESSAGES, LANG) and finds the
// program's translations. Once, at start, before threads; without it every text is English. The
// decimal point of the C library stays a point.
void litho_text_init(void);

// Texts are English from here on: those of JSON, which says the same in every language. Before
// threads.
void litho_text_to_english(void);

// Numbers that are read, not parsed: "2,5" where the person writes a comma. Only a program that
// asked for it by litho_text_take_mark() has another mark than the point.
//
// Takes the decimal mark of LC_NUMERIC. Once, at start, before threads.
void litho_text_take_mark(void);
// g_strdup_printf(), g_snprintf() and g_string_append_printf() with that mark.
char *litho_text_printf(const char *format, ...) G_GNUC_PRINTF(1, 2);
char *litho_text_vprintf(const char *format, va_list args) G_GNUC_PRINTF(1, 0);
void litho_text_put(char *out, gsize size, const char *format, ...) G_GNUC_PRINTF(3, 4);
void litho_text_add(GString *to, const char *format, ...) G_GNUC_PRINTF(2, 3);
// Puts the mark in the place of the points of `number`, or back: a number as it was typed becomes
// one that is parsed.
void litho_text_mark(char *number);
void litho_text_unmark(char *typed);
