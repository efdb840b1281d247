// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/open_file.h"

#include "ui/session/state_store.h"

struct LithoOpenFile {
    char **paths;
    LithoOpenOptions options;
    char *key, *truth, *velocity;
    char **failed;
    char *profile;
    JsonObject *views[LITHO_N_VIEWS_KEPT];
};

LithoOpenFile *litho_open_file_new(void)
{
    return g_new0(LithoOpenFile, 1);
}

void litho_open_file_free(LithoOpenFile *file)
{
    if (!file)
        return;
    litho_open_file_close(file);
    litho_open_file_set_failed(file, NULL);
    litho_open_file_set_profile(file, NULL);
    for (LithoViewsKept k = 0; k < LITHO_N_VIEWS_KEPT; k++)
        litho_open_file_keep_views(file, k, NULL);
    g_free(file);
}

void litho_open_file_adopt(LithoOpenFile *file, const char *const *paths,
                           const LithoOpenOptions *options)
{
    char **copy = g_strdupv((char **)paths); // they may be the ones that go
    const LithoOpenOptions how = *options;
    litho_open_file_close(file);
    file->paths = copy;
    file->options = how;
    file->key = litho_state_key((const char *const *)copy);
}

void litho_open_file_leave(LithoOpenFile *file)
{
    g_clear_pointer(&file->key, g_free);
}

void litho_open_file_close(LithoOpenFile *file)
{
    litho_open_file_leave(file);
    g_clear_pointer(&file->paths, g_strfreev);
    g_clear_pointer(&file->truth, g_free);
    g_clear_pointer(&file->velocity, g_free);
}

// `text` may be part of the old one.
static void set_text(char **to, const char *text)
{
    char *old = *to;
    *to = g_strdup(text);
    g_free(old);
}

void litho_open_file_set_truth(LithoOpenFile *file, const char *path)
{
    set_text(&file->truth, path);
}

const char *litho_open_file_truth(const LithoOpenFile *file)
{
    return file->truth;
}

void litho_open_file_set_velocity(LithoOpenFile *file, const char *path)
{
    set_text(&file->velocity, path);
}

const char *litho_open_file_velocity(const LithoOpenFile *file)
{
    return file->velocity;
}

char **litho_open_file_paths(const LithoOpenFile *file)
{
    return file->paths;
}

const char *litho_open_file_path(const LithoOpenFile *file)
{
    return file->paths ? file->paths[0] : NULL;
}

const LithoOpenOptions *litho_open_file_options(const LithoOpenFile *file)
{
    return &file->options;
}

const char *litho_open_file_key(const LithoOpenFile *file)
{
    return file->key;
}

gboolean litho_open_file_is_demo(const LithoOpenFile *file)
{
    return file->key && !file->paths;
}

void litho_open_file_set_failed(LithoOpenFile *file, char **paths)
{
    g_strfreev(file->failed);
    file->failed = paths;
}

char **litho_open_file_failed(const LithoOpenFile *file)
{
    return file->failed;
}

void litho_open_file_set_profile(LithoOpenFile *file, const char *name)
{
    set_text(&file->profile, name);
}

const char *litho_open_file_profile(const LithoOpenFile *file)
{
    return file->profile;
}

void litho_open_file_keep_views(LithoOpenFile *file, LithoViewsKept which, JsonObject *views)
{
    JsonObject *kept = views ? json_object_ref(views) : NULL;
    g_clear_pointer(&file->views[which], json_object_unref);
    file->views[which] = kept;
}

JsonObject *litho_open_file_views(const LithoOpenFile *file, LithoViewsKept which)
{
    return file->views[which];
}
