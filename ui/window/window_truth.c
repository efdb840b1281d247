// SPDX-License-Identifier: GPL-3.0-or-later
//
// The known truth beside a generated survey ("cube.sgy" and "cube-truth.sgy") takes the input's
// place in every comparison.
#include "ui/window/window_private.h"

#include <string.h>

#include "core/io/survey.h"

static const char truth_name[] = "Truth";

// "cube.sgy" -> "cube-truth.sgy"; NULL when there is no such file, or several are open; g_free().
static char *truth_path(LithoWindow *self)
{
    if (!self->paths || !self->paths[0] || self->paths[1])
        return NULL;
    const char *path = self->paths[0], *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const gsize stem = dot && dot > (slash ? slash + 1 : path) ? (gsize)(dot - path) : strlen(path);
    g_autofree char *truth = g_strdup_printf("%.*s-truth%s", (int)stem, path, path + stem);
    return g_file_test(truth, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer(&truth) : NULL;
}

typedef struct Truth {
    LithoWindow *window;
    char *path;
    guint64 input_serial; // it is loaded for
} Truth;

static void truth_free(gpointer data)
{
    Truth *t = data;
    g_object_unref(t->window);
    g_free(t->path);
    g_free(t);
}

static gpointer load(LithoRun *run, gpointer data, GError **error)
{
    return litho_cube_load(((Truth *)data)->path, NULL, run, error);
}

static void show_progress(const LithoProgress *progress, gpointer data)
{
    LithoWindow *self = ((Truth *)data)->window;
    if (self->session)
        litho_window_show_job(self, progress);
}

static void loaded(gpointer result, const GError *error, gpointer data)
{
    Truth *t = data;
    LithoWindow *self = t->window;
    g_autoptr(LithoCube) truth = result;
    if (!litho_window_end_job(self, error))
        return;
    const LithoCube *input = litho_session_input(self->session);
    const gboolean fits = truth && input && input->serial == t->input_serial &&
                          litho_grid_same_shape(&truth->grid, &input->grid);
    if (fits) {
        litho_snapshots_compare(self->snapshots, -1);
        litho_session_set_reference(self->session, truth, truth_name);
        litho_window_notice(self, "Compared with the truth beside the file. The same command goes "
                                  "back to the input.");
    } else if (truth) {
        g_autofree char *base = g_path_get_basename(t->path);
        g_autofree char *text =
            g_strdup_printf("%s has another shape than the survey; a truth has the same.", base);
        litho_window_show_error(self, text, NULL);
    }
    litho_window_tell_done(self, fits);
}

gboolean litho_window_has_truth(LithoWindow *self)
{
    g_autofree char *path = truth_path(self);
    return path && !litho_session_is_paged(self->session);
}

void litho_window_compare_truth(LithoWindow *self)
{
    static const LithoJobFuncs funcs = {load, show_progress, loaded, truth_free};
    if (g_strcmp0(litho_session_reference_name(self->session), truth_name) == 0) {
        litho_session_set_reference(self->session, NULL, NULL);
        return;
    }
    g_autofree char *path = truth_path(self);
    const LithoCube *input = litho_session_input(self->session);
    if (!path || !input || litho_window_is_busy(self)) {
        litho_window_show_error(self,
                                "There is no truth to compare with: it is a file of the survey's "
                                "name with -truth before the suffix, beside it.",
                                NULL);
        return;
    }
    Truth *t = g_new0(Truth, 1);
    *t = (Truth){g_object_ref(self), g_steal_pointer(&path), input->serial};
    litho_window_start_job(self, "truth", "Opening the truth", &funcs, t);
}
