// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/text.h"

#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <string.h>

#include "core/program.h"

static const char domain[] = "lithoscope";
static gboolean speaks; // set before threads, as all here
static char mark = '.';
static locale_t numbers; // with that mark; 0 = none but the point

const char *litho_text(const char *text)
{
    // The translation of "" is the head of the catalogue.
    return speaks && text && *text ? dgettext(domain, text) : text;
}

const char *litho_text_plural(const char *one, const char *many, guint64 n)
{
    return speaks ? dngettext(domain, one, many, (unsigned long)n) : n == 1 ? one : many;
}

char *litho_text_inside(const char *label)
{
    if (g_ascii_isupper(label[0]) && g_ascii_isupper(label[1]))
        return g_strdup(label); // an abbreviation: "CDP"
    // Translators: "nouns:large" where nouns begin with a capital letter inside a sentence.
    return strcmp(_("nouns:small"), "nouns:small") == 0 ? g_ascii_strdown(label, -1)
                                                        : g_strdup(label);
}

char *litho_text_begin(const char *text)
{
    const gunichar letter = g_utf8_get_char_validated(text, -1);
    if (letter == 0 || letter >= (gunichar)-2) // nothing, or a name of other bytes
        return g_strdup(text);
    g_autofree char *first = g_utf8_strup(text, g_utf8_next_char(text) - text);
    return g_strconcat(first, g_utf8_next_char(text), NULL);
}

// Beside the installed program, or in the build it was made in. NULL = the program tells no folder.
static char *catalogues(void)
{
    const char *given = g_getenv("LITHO_LOCALE_DIR");
    g_autofree char *here = given ? NULL : litho_program_folder();
    if (given || !here)
        return g_strdup(given);
    char *built = g_build_filename(here, "..", "data", "po", NULL);
    if (g_file_test(built, G_FILE_TEST_IS_DIR))
        return built;
    g_free(built);
    return g_build_filename(here, LITHO_DATADIR_FROM_BIN, "locale", NULL);
}

void litho_text_init(void)
{
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); // recipes, files, commands and JSON have a point
    g_autofree char *folder = catalogues();
    if (!folder)
        return;
    bindtextdomain(domain, folder);
    bind_textdomain_codeset(domain, "UTF-8");
    speaks = TRUE;
}

void litho_text_to_english(void)
{
    speaks = FALSE;
}

// --- numbers ------------------------------------------------------------------------------------

void litho_text_take_mark(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    locale_t own = plain ? newlocale(LC_NUMERIC_MASK, "", plain) : (locale_t)0;
    const char *radix = own ? nl_langinfo_l(RADIXCHAR, own) : ".";
    if (strcmp(radix, ",") == 0) { // other marks than these two are of several bytes
        mark = ',';
        numbers = own;
        return;
    }
    if (own) // which has taken `plain` over
        freelocale(own);
    else if (plain)
        freelocale(plain);
}

char *litho_text_vprintf(const char *format, va_list args)
{
    locale_t before = numbers ? uselocale(numbers) : (locale_t)0;
    char *text = g_strdup_vprintf(format, args);
    if (before)
        uselocale(before);
    return text;
}

char *litho_text_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = litho_text_vprintf(format, args);
    va_end(args);
    return text;
}

void litho_text_put(char *out, gsize size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = litho_text_vprintf(format, args);
    va_end(args);
    g_strlcpy(out, text, size);
}

void litho_text_add(GString *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = litho_text_vprintf(format, args);
    va_end(args);
    g_string_append(to, text);
}

void litho_text_mark(char *number)
{
    for (char *at = number; mark != '.' && *at; at++)
        if (*at == '.')
            *at = mark;
}

void litho_text_unmark(char *typed)
{
    // Several commas part a list, or thousands: none is a decimal mark.
    char *comma = strchr(typed, mark);
    if (mark != '.' && comma && !strchr(comma + 1, mark) && !strchr(typed, '.'))
        *comma = '.';
}

char *litho_text_visible(const char *text)
{
    GString *shown = g_string_new(NULL);
    for (const char *at = text; *at; at++) {
        // U+0080 to U+009F, which are controls to some terminals, too.
        const gboolean pair =
            (guchar)at[0] == 0xC2 && (guchar)at[1] >= 0x80 && (guchar)at[1] < 0xA0;
        if (pair) {
            g_string_append_printf(shown, "\\%03o\\%03o", (guchar)at[0], (guchar)at[1]);
            at++;
        } else if (g_ascii_iscntrl(*at))
            g_string_append_printf(shown, *at == '\n' ? "\\n" : "\\%03o", (guchar)*at);
        else
            g_string_append_c(shown, *at);
    }
    return g_string_free(shown, FALSE);
}

char *litho_text_plain(const char *name, int most)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    GString *plain = g_string_new(NULL);
    const char *at = valid;
    for (int k = 0; k < most && *at; k++, at = g_utf8_next_char(at)) {
        const gunichar c = g_utf8_get_char(at);
        g_string_append_unichar(plain, g_unichar_isprint(c) ? c : '?');
    }
    if (*at)
        g_string_append(plain, "...");
    return g_string_free(plain, FALSE);
}
