// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/presets.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "core/io/output.h"
#include "core/text.h"

static const char suffix[] = ".json";

static char *folder_of(const LithoOperator *op)
{
    return g_build_filename(g_get_user_config_dir(), "lithoscope", "presets", op->key, NULL);
}

static char *path_of(const LithoOperator *op, const char *name)
{
    g_autofree char *base = g_strconcat(name, suffix, NULL), *dir = folder_of(op);
    return g_build_filename(dir, base, NULL);
}

static int compare_names(const void *a, const void *b)
{
    return g_utf8_collate(*(char *const *)a, *(char *const *)b);
}

char **litho_presets_of(const LithoOperator *op)
{
    g_autofree char *dir = folder_of(op);
    g_autoptr(GDir) open = g_dir_open(dir, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *name;
    while (open && (name = g_dir_read_name(open)))
        if (*name != '.' && g_str_has_suffix(name, suffix) && g_utf8_validate(name, -1, NULL))
            g_ptr_array_add(names, g_strndup(name, strlen(name) - strlen(suffix)));
    g_ptr_array_sort(names, compare_names);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_steal(names, NULL);
}

const char *litho_preset_bad_name(const LithoOperator *op, const char *name)
{
    if (!*name)
        return _("A preset needs a name.");
    if (*name == '.' || strpbrk(name, "/\\") || strlen(name) > 100)
        return _("The name of a preset has no slashes, does not begin with a dot and is not longer "
                 "than 100 letters.");
    for (guint k = 0; op->presets && op->presets[k].name; k++)
        if (strcmp(op->presets[k].name, name) == 0)
            return _("The operator brings a preset of that name; yours needs another.");
    return NULL;
}

gboolean litho_preset_exists(const LithoOperator *op, const char *name)
{
    g_autofree char *path = path_of(op, name);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static gboolean refuse(GError **error, const char *sentence)
{
    g_set_error_literal(error, LITHO_ERROR, LITHO_ERROR_PARAMETER, sentence);
    return FALSE;
}

gboolean litho_preset_save(const LithoStep *step, const char *name, GError **error)
{
    const LithoOperator *op = step->op;
    g_autofree char *dir = folder_of(op), *path = path_of(op, name);
    const char *bad = litho_preset_bad_name(op, name);
    if (bad)
        return refuse(error, bad);
    if (g_mkdir_with_parents(dir, 0700) != 0) {
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                    _("the folder %s cannot be made: %s"), dir, g_strerror(errno));
        return FALSE;
    }
    g_autoptr(LithoFlow) flow = litho_flow_new();
    memcpy(litho_flow_step(flow, litho_flow_append(flow, op))->params, step->params,
           op->params.size);
    return litho_flow_save(flow, path, error);
}

gboolean litho_preset_load(const LithoOperator *op, const char *name, void *params, GError **error)
{
    g_autofree char *path = path_of(op, name);
    g_autoptr(LithoFlow) flow = litho_flow_load(path, error);
    if (!flow)
        return FALSE;
    if (litho_flow_length(flow) != 1 || litho_flow_step(flow, 0)->op != op) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s is no preset of %s: that has one step, of this operator"), path,
                    litho_text(op->title));
        return FALSE;
    }
    memcpy(params, litho_flow_step(flow, 0)->params, op->params.size);
    return TRUE;
}

GBytes *litho_preset_remove(const LithoOperator *op, const char *name, GError **error)
{
    g_autofree char *path = path_of(op, name), *text = NULL;
    gsize length;
    if (!g_file_get_contents(path, &text, &length, error))
        return NULL;
    if (g_unlink(path) == 0)
        return g_bytes_new_take(g_steal_pointer(&text), length);
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                _("the preset %s cannot be removed: %s"), name, g_strerror(errno));
    return NULL;
}

// A name that is free, in `path`; g_free().
static gboolean take_name(const LithoOperator *op, const char *name, char **path, GError **error)
{
    const char *bad = litho_preset_bad_name(op, name);
    if (bad || litho_preset_exists(op, name))
        return refuse(error, bad ? bad : _("There is a preset of that name; give another."));
    *path = path_of(op, name);
    return TRUE;
}

gboolean litho_preset_restore(const LithoOperator *op, const char *name, GBytes *removed,
                              GError **error)
{
    g_autofree char *path = NULL;
    gsize length;
    const char *text = g_bytes_get_data(removed, &length);
    return take_name(op, name, &path, error) &&
           litho_output_save(path, text, (gssize)length, LITHO_REPLACE_NONE, error);
}

gboolean litho_preset_rename(const LithoOperator *op, const char *from, const char *to,
                             GError **error)
{
    g_autofree char *old = path_of(op, from), *path = NULL;
    if (!take_name(op, to, &path, error))
        return FALSE;
    if (g_rename(old, path) == 0)
        return TRUE;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                _("the preset %s cannot be renamed: %s"), from, g_strerror(errno));
    return FALSE;
}
