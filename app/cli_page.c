// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_page.h"

#include <string.h>

#include "core/error.h"
#include "core/operator.h"
#include "core/text.h"
#include "core/words.h"

static LithoCliPage *made;           // the page being made; NULL = commands work as usual
static GOptionContext *made_context; // the command's, valid while it parses
static GPtrArray *known_names;       // "--backend", of the command that was started last

gboolean litho_cli_page_is_made(void)
{
    return made != NULL;
}

static void option_clear(gpointer data)
{
    LithoCliOption *option = data;
    g_free(option->name);
    g_free(option->argument);
    g_free(option->doc);
}

static gboolean takes_argument(const GOptionEntry *entry)
{
    return entry->arg != G_OPTION_ARG_NONE && !(entry->flags & G_OPTION_FLAG_NO_ARG);
}

static void note_name(const GOptionEntry *entry)
{
    if (!known_names)
        known_names = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(known_names, g_strdup_printf("--%s", entry->long_name));
}

// "--window=10" for "window=10".
static gboolean is_parameter(const char *word)
{
    g_autofree char *key = g_strndup(word + 2, strcspn(word + 2, "="));
    if (strcmp(key, "preset") == 0)
        return TRUE;
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        if (litho_param_find(&(*op)->params, key))
            return TRUE;
    return FALSE;
}

char *litho_cli_option_hint(const char *word)
{
    if (is_parameter(word)) {
        const char *key = word + 2;
        return g_strdup_printf(_("; parameters have no dashes: %s%s"), key,
                               strchr(key, '=') ? "" : "=…");
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint k = 0; known_names && k < known_names->len; k++)
        g_ptr_array_add(names, known_names->pdata[k]);
    g_ptr_array_add(names, NULL);
    return litho_word_hint(word, (const char *const *)names->pdata);
}

void litho_cli_page_note(const GOptionEntry *entries, gboolean is_input)
{
    for (const GOptionEntry *entry = entries; entry->long_name; entry++)
        note_name(entry);
    for (const GOptionEntry *entry = entries; made && entry->long_name; entry++) {
        if (entry->flags & G_OPTION_FLAG_HIDDEN)
            continue;
        const char *argument = entry->arg_description ? entry->arg_description : "VALUE";
        LithoCliOption option = {
            .name = g_strdup(entry->long_name),
            .letter = entry->short_name,
            .argument = takes_argument(entry) ? g_strdup(argument) : NULL,
            .doc = g_strdup(entry->description ? entry->description : ""),
            .is_file =
                entry->arg == G_OPTION_ARG_FILENAME || entry->arg == G_OPTION_ARG_FILENAME_ARRAY,
            .is_input = is_input,
        };
        g_array_append_val(made->options, option);
    }
}

// Reached when the command parses "--help": the command has said all that it says of itself by
// then. The error makes it return without doing anything.
static gboolean on_help(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name, (void)value, (void)data;
    const char *description = g_option_context_get_description(made_context);
    made->description = g_strdup(description ? description : "");
    return litho_refuse(error, LITHO_ERROR_PARAMETER, "a page is made of the command");
}

// GLib's rule for an option of a group whose name the command has taken.
static void rename_taken(void)
{
    for (guint k = 0; k < made->options->len; k++) {
        LithoCliOption *of_input = &g_array_index(made->options, LithoCliOption, k);
        for (guint j = 0; of_input->is_input && j < made->options->len; j++) {
            const LithoCliOption *own = &g_array_index(made->options, LithoCliOption, j);
            if (!own->is_input && g_str_equal(own->name, of_input->name)) {
                g_autofree char *name = of_input->name;
                of_input->name = g_strdup_printf("input-%s", name);
                break;
            }
        }
    }
}

void litho_cli_page_ask(GOptionContext *context, const char *words, const char *summary)
{
    static const GOptionEntry help[] = {
        {"help", 0, G_OPTION_FLAG_NO_ARG | G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_CALLBACK, on_help,
         NULL, NULL},
        {NULL},
    };
    if (!made)
        return;
    made_context = context;
    rename_taken();
    made->words = g_strdup(words);
    made->summary = g_strdelimit(g_strdup(summary), "\n", ' ');
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_add_main_entries(context, help, NULL);
}

LithoCliPage *litho_cli_page_new(const LithoCommand *command)
{
    char *words[] = {(char *)command->name, (char *)"--help", NULL};
    made = g_new0(LithoCliPage, 1);
    made->command = command;
    made->options = g_array_new(FALSE, FALSE, sizeof(LithoCliOption));
    g_array_set_clear_func(made->options, option_clear);
    command->main(2, words);
    g_assert(made->description); // every command makes its options by litho_cli_options()
    return g_steal_pointer(&made);
}

void litho_cli_page_free(LithoCliPage *page)
{
    g_free(page->words);
    g_free(page->summary);
    g_free(page->description);
    g_array_unref(page->options);
    g_free(page);
}

guint litho_cli_page_count(const LithoCliPage *page, gboolean is_input)
{
    guint n = 0;
    for (guint k = 0; k < page->options->len; k++)
        n += g_array_index(page->options, LithoCliOption, k).is_input == is_input;
    return n;
}
