// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/operators_text.h"

#include <math.h>
#include <string.h>

#include "app/baselines/baselines.h"
#include "core/json.h"

static JsonObject *row_at(JsonArray *rows, guint k)
{
    return litho_json_node_object(json_array_get_element(rows, k));
}

static gboolean is_of(JsonObject *row, const char *task)
{
    return row && strcmp(litho_json_string_or(row, "task", ""), task) == 0 &&
           litho_json_array_or_null(row, "cells");
}

static JsonObject *cell_at(JsonObject *row, guint k)
{
    return litho_json_node_object(json_array_get_element(litho_json_array_or_null(row, "cells"), k));
}

static JsonObject *cell_of(JsonObject *row, const char *method)
{
    for (guint k = 0; k < json_array_get_length(litho_json_array_or_null(row, "cells")); k++) {
        JsonObject *cell = cell_at(row, k);
        if (cell && strcmp(litho_json_string_or(cell, "method", ""), method) == 0)
            return cell;
    }
    return NULL;
}

// Names of the methods of a task, in the order of their first cell; strings are the cells'.
static GPtrArray *methods_of(JsonArray *rows, const char *task)
{
    GPtrArray *methods = g_ptr_array_new();
    for (guint k = 0; k < json_array_get_length(rows); k++) {
        JsonObject *row = row_at(rows, k);
        const guint n =
            is_of(row, task) ? json_array_get_length(litho_json_array_or_null(row, "cells")) : 0;
        for (guint c = 0; c < n; c++) {
            JsonObject *cell = cell_at(row, c);
            const char *method = cell ? litho_json_string_or(cell, "method", NULL) : NULL;
            if (method && !g_ptr_array_find_with_equal_func(methods, method, g_str_equal, NULL))
                g_ptr_array_add(methods, (gpointer)method);
        }
    }
    return methods;
}

static double value_of(JsonObject *row, const char *method, const char *key)
{
    JsonObject *cell = cell_of(row, method);
    return cell ? litho_json_number_or(cell, key, NAN) : NAN;
}

// A row a cube, a column a method; the largest value of a row in bold where that is the best one.
static void add_table(GString *text, JsonArray *rows, const char *task, const char *key,
                      gboolean bold)
{
    g_autoptr(GPtrArray) methods = methods_of(rows, task);
    if (methods->len == 0)
        return;
    g_string_append(text, "| cube |");
    for (guint m = 0; m < methods->len; m++)
        g_string_append_printf(text, " %s |", (char *)methods->pdata[m]);
    g_string_append(text, "\n|---|");
    for (guint m = 0; m < methods->len; m++)
        g_string_append(text, "---|");
    g_string_append_c(text, '\n');
    for (guint k = 0; k < json_array_get_length(rows); k++) {
        JsonObject *row = row_at(rows, k);
        double best = -INFINITY;
        if (!is_of(row, task))
            continue;
        for (guint m = 0; m < methods->len; m++)
            best = fmax(best, value_of(row, methods->pdata[m], key));
        g_string_append_printf(text, "| %s |", litho_json_string_or(row, "id", ""));
        for (guint m = 0; m < methods->len; m++) {
            const double value = value_of(row, methods->pdata[m], key);
            const char *mark = bold && value == best ? "**" : "";
            if (!isfinite(value))
                g_string_append(text, " |");
            else if (strcmp(key, "seconds") == 0) // a GPU's milliseconds as well as minutes
                g_string_append_printf(text, " %.2g |", value);
            else
                g_string_append_printf(text, " %s%.1f%s |", mark, value, mark);
        }
        g_string_append_c(text, '\n');
    }
    g_string_append_c(text, '\n');
}

// "half_width=2" of a word of a command, which may be quoted; numbers to four digits.
static void add_setting(GString *text, const char *word)
{
    g_autofree char *plain = g_shell_unquote(word, NULL);
    const char *value = plain ? strchr(plain, '=') : NULL;
    char *end;
    if (!value)
        return;
    const double number = g_ascii_strtod(value + 1, &end);
    g_string_append_printf(text, "%s%.*s", text->len ? " " : "", (int)(value + 1 - plain), plain);
    if (value[1] && *end == 0)
        g_string_append_printf(text, "%.4g", number);
    else
        g_string_append(text, value + 1);
}

// "lithoscope-cli run fx half_width=2 -i IN -o OUT" gives "half_width=2".
static char *settings_of(const char *command)
{
    g_auto(GStrv) words = g_strsplit(command, " ", -1);
    GString *text = g_string_new(NULL);
    for (char **word = words; *word; word++)
        add_setting(text, *word);
    return g_string_free(text, FALSE);
}

static void add_settings(GString *text, JsonArray *rows)
{
    g_autoptr(GPtrArray) methods = methods_of(rows, "noise");
    for (guint m = 0; m < methods->len; m++) {
        const char *method = methods->pdata[m];
        if (!g_str_has_suffix(method, ", found"))
            continue;
        g_string_append_printf(text, "%s:\n\n", method);
        for (guint k = 0; k < json_array_get_length(rows); k++) {
            JsonObject *row = row_at(rows, k), *cell;
            if (!is_of(row, "noise") || !(cell = cell_of(row, method)))
                continue;
            g_autofree char *settings = settings_of(litho_json_string_or(cell, "settings", ""));
            g_string_append_printf(text, "* %s: %s%s%s\n", litho_json_string_or(row, "id", ""),
                                   *settings ? "`" : "", *settings ? settings : "the defaults",
                                   *settings ? "`" : "");
        }
        g_string_append_c(text, '\n');
    }
}

char *litho_operators_text(JsonArray *rows)
{
    GString *text = g_string_new(NULL);
    g_string_append(text, "SNR of the output, dB:\n\n");
    add_table(text, rows, "noise", "snr_db", TRUE);
    g_string_append(text, "Amplitude of the signal that is lost, percent:\n\n");
    add_table(text, rows, "noise", "lost_percent", FALSE);
    g_string_append(text, "SNR on the missing traces, dB:\n\n");
    add_table(text, rows, "fill", "snr_db", TRUE);
    g_string_append(text, "Seconds:\n\n");
    add_table(text, rows, "noise", "seconds", FALSE);
    add_table(text, rows, "fill", "seconds", FALSE);
    g_string_append(text, "Settings found:\n\n");
    add_settings(text, rows);
    g_string_append(text, "| baseline | what it does |\n|---|---|\n");
    for (const LithoBaseline *const *b = litho_baselines(); *b; b++)
        g_string_append_printf(text, "| `%s`, %s | %s |\n", (*b)->name, (*b)->title, (*b)->doc);
    return g_string_free(text, FALSE);
}
