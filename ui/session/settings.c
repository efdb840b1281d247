// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/settings.h"

#include "core/io/output.h"
#include "core/text.h"
#include "ui/session/state_store.h"

#define GROUP "window"

struct LithoSettings {
    char *path;
    GKeyFile *file;
    gboolean changed;
};

LithoSettings *litho_settings_new(const char *path)
{
    LithoSettings *s = g_new0(LithoSettings, 1);
    s->path = path ? g_strdup(path)
                   : g_build_filename(g_get_user_config_dir(), "lithoscope", "settings.ini", NULL);
    s->file = g_key_file_new();
    g_autoptr(GError) error = NULL;
    if (!g_key_file_load_from_file(s->file, s->path, G_KEY_FILE_KEEP_COMMENTS, &error) &&
        !g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
        // The next save would replace all that one wrong line kept from being read.
        g_autofree char *aside = litho_state_set_aside(s->path);
        if (aside)
            g_message(_("the settings in %s cannot be read (%s); they are kept as %s"), s->path,
                      error->message, aside);
        else
            g_message(_("the settings in %s cannot be read (%s); the next change replaces them"),
                      s->path, error->message);
    }
    return s;
}

void litho_settings_save(LithoSettings *s)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_path_get_dirname(s->path);
    g_autofree char *text = g_key_file_to_data(s->file, NULL, NULL);
    if (s->changed && (g_mkdir_with_parents(folder, 0700) != 0 ||
                       !litho_output_save(s->path, text, -1, LITHO_REPLACE_ANY, &error)))
        g_warning("settings were not saved: %s", error ? error->message : folder);
    s->changed = FALSE;
}

void litho_settings_free(LithoSettings *s)
{
    if (!s)
        return;
    litho_settings_save(s);
    g_key_file_unref(s->file);
    g_free(s->path);
    g_free(s);
}

int litho_settings_int(LithoSettings *s, const char *key, int fallback)
{
    g_autoptr(GError) error = NULL;
    int value = g_key_file_get_integer(s->file, GROUP, key, &error);
    return error ? fallback : value;
}

void litho_settings_set_int(LithoSettings *s, const char *key, int value)
{
    g_key_file_set_integer(s->file, GROUP, key, value);
    s->changed = TRUE;
}

char *litho_settings_text(LithoSettings *s, const char *key, const char *fallback)
{
    char *value = g_key_file_get_string(s->file, GROUP, key, NULL);
    return value ? value : g_strdup(fallback);
}

void litho_settings_set_text(LithoSettings *s, const char *key, const char *value)
{
    g_key_file_set_string(s->file, GROUP, key, value);
    s->changed = TRUE;
}
