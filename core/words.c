// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/words.h"
#include "core/text.h"

#include <string.h>

enum { LONGEST = 40 }; // a longer word is no key

// Damerau and Levenshtein's distance with swaps of neighbours, letters without case.
static guint distance(const char *a, const char *b)
{
    guint d[LONGEST + 1][LONGEST + 1];
    const guint n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return G_MAXUINT;
    for (guint i = 0; i <= n; i++)
        d[i][0] = i;
    for (guint j = 0; j <= m; j++)
        d[0][j] = j;
    for (guint i = 1; i <= n; i++)
        for (guint j = 1; j <= m; j++) {
            const gboolean same = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 1]);
            d[i][j] = MIN(MIN(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + !same);
            if (i > 1 && j > 1 && g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 2]) &&
                g_ascii_tolower(a[i - 2]) == g_ascii_tolower(b[j - 1]))
                d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *litho_word_nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    guint least = CLAMP(strlen(word) / 3, 1, 3) + 1;
    for (; *words; words++) {
        const guint found = distance(word, *words);
        if (found < least) {
            least = found;
            best = *words;
        }
    }
    return best;
}

char *litho_word_hint(const char *word, const char *const *words)
{
    const char *near = litho_word_nearest(word, words);
    return near ? g_strdup_printf(_("; did you mean '%s'?"), near) : g_strdup("");
}

char *litho_word_choices(const char *word, const char *const *words)
{
    const char *near = litho_word_nearest(word, words);
    g_autofree char *known = g_strjoinv(", ", (char **)words);
    return near ? g_strdup_printf(_("did you mean '%s'? there are: %s"), near, known)
                : g_strdup_printf(_("there are: %s"), known);
}
