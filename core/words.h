// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Words that a person mistyped. Pure functions, any thread.

// The word of the NULL-terminated list that is nearest to `word`: at most a third of its letters, and
// three at most, added, left out, changed or swapped with a neighbour. NULL = none is near.
const char *litho_word_nearest(const char *word, const char *const *words);
// "did you mean 'window'? there are: window, stride", or without the question when no word is near;
// behind "there is no ...; ". g_free().
char *litho_word_choices(const char *word, const char *const *words);
// "; did you mean 'window'?", or "" when no word is near; for the end of a sentence. g_free().
char *litho_word_hint(const char *word, const char *const *words);
