// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/survey_private.h"
#include "core/text.h"

#include <string.h>

// Code page 037 for the printable ASCII characters; 0 elsewhere. Index: ASCII - 32.
static const guint8 ebcdic[95] = {
    0x40, 0x5a, 0x7f, 0x7b, 0x5b, 0x6c, 0x50, 0x7d, 0x4d, 0x5d, 0x5c, 0x4e, 0x6b, 0x60, 0x4b, 0x61,
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0x7a, 0x5e, 0x4c, 0x7e, 0x6e, 0x6f,
    0x7c, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6,
    0xd7, 0xd8, 0xd9, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xba, 0xe0, 0xbb, 0xb0, 0x6d,
    0x79, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96,
    0x97, 0x98, 0x99, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xc0, 0x4f, 0xd0, 0xa1,
};

guint8 litho_text_to_ebcdic(char c)
{
    return c >= 32 && c < 127 ? ebcdic[c - 32] : 0x40;
}

// 0 = no printable character.
static char from_ebcdic(guint8 b)
{
    // Code page 500 differs from 037 in the places of these few.
    switch (b) {
    case 0x4a:
        return '[';
    case 0x15: // new line and the control codes that old writers left
    case 0x25:
    case 0x05:
        return ' ';
    }
    for (int k = 0; k < 95; k++)
        if (ebcdic[k] == b)
            return (char)(32 + k);
    return 0;
}

gboolean litho_text_is_ebcdic(const guint8 *text, gsize n)
{
    gsize wide = 0, ascii = 0;
    for (gsize k = 0; k < n; k++) {
        // Blanks, capitals and digits of either code; nothing else is counted, so that a header
        // full of nulls or line noise decides nothing.
        wide += text[k] == 0x40 || (text[k] >= 0xc1 && text[k] <= 0xe9) || text[k] >= 0xf0;
        ascii += text[k] == ' ' || g_ascii_isupper(text[k]) || g_ascii_isdigit(text[k]);
    }
    // '@' is the EBCDIC blank and some ASCII letters are unassigned there: the blank leads.
    return wide > ascii;
}

char *litho_text_decode(const guint8 text[LITHO_TEXT_BYTES])
{
    gboolean wide = litho_text_is_ebcdic(text, LITHO_TEXT_BYTES);
    GString *out = g_string_sized_new(LITHO_TEXT_BYTES + 100);
    gboolean blank = TRUE;
    for (int line = 0; line < 40; line++) {
        gsize start = out->len, keep = out->len;
        for (int k = 0; k < 80; k++) {
            guint8 b = text[80 * line + k];
            char c = wide ? from_ebcdic(b) : b >= 32 && b < 127 ? (char)b : 0;
            if (b == 0 || b == '\n' || b == '\r' || b == '\t')
                c = ' ';
            if (c)
                g_string_append_c(out, c);
            else
                g_string_append(out, "\302\267"); // middle dot
            if (c != ' ')
                keep = out->len;
        }
        g_string_truncate(out, keep);
        blank &= keep == start;
        g_string_append_c(out, '\n');
    }
    if (blank)
        g_string_truncate(out, 0);
    return g_string_free(out, FALSE);
}

// The number after "BYTE"/"BYTES" (or before a dash: "189-192") that follows `word` on its line.
static int byte_after(const char *line, const char *end, const char *word)
{
    gsize n = strlen(word);
    for (const char *p = line; p + n < end; p++) {
        if (g_ascii_strncasecmp(p, word, n) != 0)
            continue;
        for (const char *q = p + n; q + 4 < end; q++) {
            if (g_ascii_strncasecmp(q, "byte", 4) != 0)
                continue;
            while (q < end && !g_ascii_isdigit(*q))
                q++;
            int value = (int)MIN(g_ascii_strtoull(q, NULL, 10), 1000);
            return value >= 1 && value <= 237 ? value : 0;
        }
        break;
    }
    return 0;
}

void litho_text_hints(const char *text, int *inline_byte, int *xline_byte)
{
    static const char *const xline[] = {"crossline", "cross-line", "cross line", "xline", "x-line"};
    static const char *const inl[] = {"inline", "in-line", "in line", "iline"};
    *inline_byte = *xline_byte = 0;
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        int hit = 0;
        for (guint k = 0; !hit && k < G_N_ELEMENTS(xline); k++)
            hit = byte_after(line, end, xline[k]);
        if (hit && !*xline_byte)
            *xline_byte = hit;
        for (guint k = 0; !hit && k < G_N_ELEMENTS(inl); k++) {
            int own = byte_after(line, end, inl[k]);
            if (own && !*inline_byte)
                *inline_byte = own;
        }
        line = *end ? end + 1 : end;
    }
}

double litho_text_assumed_step(const char *text)
{
    static const char before[] = " AXIS: FIRST ", step[] = " STEP ";
    enum { LINE = 7 };
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", LINE + 1);
    if (g_strv_length(lines) <= LINE)
        return 0;
    const char *words = lines[LINE - 1], *axis = strstr(words, before);
    const char *number = axis ? strstr(axis + strlen(before), step) : NULL;
    return number && g_str_has_suffix(words, LITHO_TEXT_ASSUMED)
               ? g_ascii_strtod(number + strlen(step), NULL)
               : 0;
}

// A line is free when it holds nothing but its label ("C17") and blanks.
static gboolean line_is_free(const char *line)
{
    int k = 0;
    if (line[0] == 'C' || line[0] == 'c')
        for (k = 1; k < 3 && (line[k] == ' ' || g_ascii_isdigit(line[k])); k++)
            ;
    for (; k < 80; k++)
        if (line[k] != ' ')
            return FALSE;
    return TRUE;
}

enum { LINE_LETTERS = 76 }; // behind the label

// A note in the letters that a text header has: an umlaut is two of them, any other letter that it
// lacks one question mark, a line break a blank.
static char *plain_letters(const char *note)
{
    g_autofree char *valid = g_utf8_make_valid(note, -1);
    char *plain = g_str_to_ascii(valid, "de");
    for (char *p = plain; *p; p++)
        *p = g_ascii_isprint(*p) ? *p : ' ';
    return plain;
}

// Letters of `note` that go on one line: whole words, if the line is half full of them.
static gsize line_length(const char *note)
{
    if (strlen(note) <= LINE_LETTERS)
        return strlen(note);
    for (gsize k = LINE_LETTERS; k > LINE_LETTERS / 2; k--)
        if (note[k] == ' ')
            return k;
    return LINE_LETTERS;
}

// The first `n` letters of `note` into a line behind its label.
static void put_line(guint8 *raw, gboolean wide, int line, const char *note, gsize n)
{
    g_autofree char *letters = g_strndup(note, n);
    g_autofree char *plain = g_strdup_printf("C%2d %-76.76s", line + 1, letters);
    for (int k = 0; k < 80; k++)
        raw[k] = wide ? litho_text_to_ebcdic(plain[k]) : (guint8)plain[k];
}

gboolean litho_text_append(guint8 text[LITHO_TEXT_BYTES], const char *note)
{
    gboolean wide = litho_text_is_ebcdic(text, LITHO_TEXT_BYTES);
    gboolean any = FALSE;
    g_autofree char *letters = plain_letters(note);
    const char *rest = letters;
    for (int line = 0; line < 40 && *rest; line++) {
        guint8 *raw = text + 80 * line;
        char plain[80];
        for (int k = 0; k < 80; k++) {
            char c = wide ? from_ebcdic(raw[k]) : (char)raw[k];
            plain[k] = raw[k] == 0 ? ' ' : c ? c : '?';
        }
        if (!line_is_free(plain))
            continue;
        const gsize n = line_length(rest);
        put_line(raw, wide, line, rest, n);
        for (rest += n; *rest == ' ';)
            rest++;
        any = TRUE;
    }
    return any;
}

void litho_text_replace(guint8 text[LITHO_TEXT_BYTES], int line, const char *note)
{
    const gboolean wide = litho_text_is_ebcdic(text, LITHO_TEXT_BYTES);
    g_autofree char *letters = plain_letters(note);
    put_line(text + 80 * (line - 1), wide, line - 1, letters, LINE_LETTERS);
}
