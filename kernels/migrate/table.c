// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/table.h"

#include <math.h>
#include <string.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/text.h"
#include "kernels/migrate/units.h"

enum { SHOWN = 40 }; // letters of a line in a sentence

// One line of the table into the arrays. FALSE with a sentence.
static gboolean table_line(const char *path, guint line, const char *text, GArray *depth,
                           GArray *velocity, GError **error)
{
    char *end;
    double z = g_ascii_strtod(text, &end), v = 0;
    gboolean two = end != text;
    if (two) {
        const char *second = end + strspn(end, " \t,;");
        v = g_ascii_strtod(second, &end);
        two = end != second && end[strspn(end, " \t\r,;")] == 0;
    }
    if (!two || !isfinite(z)) {
        g_autofree char *shown = litho_text_plain(text, SHOWN);
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "%s, line %u: '%s' is not a depth (m) and a velocity (m/s)", path, line,
                            shown);
    }
    if (!litho_velocity_is_possible(v)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "%s, line %u: velocity %g m/s; it must be 10 to 100000 m/s", path, line, v);
        litho_velocity_add_likely(error, v);
        return FALSE;
    }
    const guint n = depth->len;
    if (n > 0 && (z < g_array_index(depth, double, n - 1) ||
                  (n > 1 && z == g_array_index(depth, double, n - 2))))
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "%s, line %u: depth %g m does not lie below the line before; depths "
                            "must grow, and two lines of one depth are a jump",
                            path, line, z);
    g_array_append_val(depth, z);
    g_array_append_val(velocity, v);
    return TRUE;
}

// The words of a text, which are parted by anything but small letters. g_strfreev().
static char **letters_of(const char *text)
{
    GStrvBuilder *words = g_strv_builder_new();
    while (*text) {
        const gsize n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
        g_autofree char *word = g_strndup(text, n);
        if (n > 0)
            g_strv_builder_add(words, word);
        text += MAX(n, 1);
    }
    char **list = g_strv_builder_end(words);
    g_strv_builder_unref(words);
    return list;
}

static gboolean has_word(char *const *words, const char *const *known)
{
    for (; *words; words++)
        if (g_strv_contains(known, *words))
            return TRUE;
    return FALSE;
}

// TRUE when a line above the table is a heading, one without a digit. FALSE with a sentence in
// `error` when it names columns that are not depth and velocity; FALSE alone: a line of numbers.
static gboolean table_heading(const char *path, const char *text, GError **error)
{
    if (strpbrk(text, "0123456789") || strpbrk(text, "-.") == text)
        return FALSE;
    static const char *const times[] = {"time", "times", "twt", "owt", NULL};
    static const char *const feet[] = {"feet", "foot", "ft", NULL};
    static const char *const kilometres[] = {"km", "kilometres", "kilometers", NULL};
    static const char *const velocities[] = {"v",   "vp",       "vint",       "vrms", "vnmo",
                                             "vel", "velocity", "velocities", NULL};
    g_autofree char *small = g_ascii_strdown(text, -1);
    g_auto(GStrv) words = letters_of(small);
    const char *why = NULL;
    if (has_word(words, times))
        why = _("names times; lines of depth (m) and velocity (m/s) are needed");
    else if (has_word(words, feet))
        why = _("names feet; lines of depth (m) and velocity (m/s) are needed");
    else if (has_word(words, kilometres))
        why = _("names km; lines of depth (m) and velocity (m/s) are needed");
    else if (*words && g_strv_contains(velocities, *words))
        why = _("names the velocity first; lines of depth (m) and velocity (m/s) are needed");
    g_autofree char *shown = litho_text_plain(text, SHOWN);
    return !why ||
           litho_refuse(error, LITHO_ERROR_FORMAT, "%s: the heading '%s' %s", path, shown, why);
}

gboolean litho_migrate_table_read(const char *path, GArray *depth, GArray *velocity, GError **error)
{
    gsize length = 0;
    g_autofree char *content = litho_contents_load(path, LITHO_CONTENTS_TEXT, &length, error);
    if (!content) {
        g_prefix_error(error, "velocity: ");
        return FALSE;
    }
    if (memchr(content, 0, length)) {
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_FORMAT,
            _("%s is not text; a velocity table has lines of depth and velocity, a velocity "
              "cube a name that tells its format (.sgy, .npy, .rsf)"),
            path);
        return FALSE;
    }
    g_autofree char *text = litho_contents_to_text(content, length, error);
    if (!text)
        return FALSE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GError *problem = NULL;
    for (guint k = 0; lines[k]; k++) {
        char *comment = strchr(lines[k], '#');
        if (comment)
            *comment = 0;
        g_strstrip(lines[k]);
        if (!*lines[k] || (depth->len == 0 && table_heading(path, lines[k], &problem)))
            continue;
        if (problem) {
            g_propagate_error(error, problem);
            return FALSE;
        }
        if (!table_line(path, k + 1, lines[k], depth, velocity, error))
            return FALSE;
    }
    if (depth->len == 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s holds no line of depth (m) and velocity (m/s)"), path);
        return FALSE;
    }
    return TRUE;
}
