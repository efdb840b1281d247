// SPDX-License-Identifier: GPL-3.0-or-later
//
// Colour maps of the user's: CSV files whose names the settings keep.
#include "ui/window/window_private.h"

#include <string.h>

const LithoColormap *litho_window_find_colours(LithoWindow *self, const char *name)
{
    const LithoColormap *map = litho_colormap_find(name);
    for (guint k = 0; !map && k < self->colours->len; k++) {
        const LithoColormap *own = g_ptr_array_index(self->colours, k);
        map = strcmp(own->name, name) == 0 ? own : NULL;
    }
    return map;
}

// FALSE when the file is no colour map.
static gboolean add_colours(LithoWindow *self, const char *path, GError **error)
{
    const LithoColormap *map = litho_colormap_get(path, error);
    if (!map)
        return FALSE;
    if (!litho_window_find_colours(self, map->name))
        g_ptr_array_add(self->colours, (gpointer)map);
    return TRUE;
}

void litho_window_load_colours(LithoWindow *self, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    if (!add_colours(self, absolute, &error)) {
        litho_window_show_error(self, error->message, NULL);
        return;
    }
    litho_window_clear_error(self);
    LithoLook look = litho_session_display(self->session)->look;
    look.map = litho_colormap_get(absolute, NULL);
    litho_session_set_look(self->session, &look);
    g_autofree char *known = litho_settings_text(self->settings, "colour-files", "");
    g_auto(GStrv) paths = g_strsplit(known, "\n", -1);
    if (g_strv_contains((const char *const *)paths, absolute))
        return;
    g_autofree char *all = *known ? g_strconcat(known, "\n", absolute, NULL) : g_strdup(absolute);
    litho_settings_set_text(self->settings, "colour-files", all);
}

// A file that has gone since is no reason to complain at every start.
void litho_window_restore_colours(LithoWindow *self)
{
    g_autofree char *known = litho_settings_text(self->settings, "colour-files", "");
    g_auto(GStrv) paths = g_strsplit(known, "\n", -1);
    for (char **path = paths; *path; path++)
        if (**path)
            add_colours(self, *path, NULL);
}
