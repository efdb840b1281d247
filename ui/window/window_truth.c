// SPDX-License-Identifier: GPL-3.0-or-later
//
// A reference takes the input's place in every comparison and gives the output's SNR: the known
// truth of a generated survey ("cube.sgy" and "cube-truth.sgy", or that of the demo), or any file
// of the survey's shape.
#include "core/axis_names.h"
#include "core/text.h"
#include "ui/window/window_private.h"

#include "core/io/beside.h"
#include "core/io/survey.h"
#include "core/synth/synth.h"

static const char truth_name[] = N_("Truth");

typedef struct Truth {
    LithoWindow *window;
    char *path; // NULL = that of the demo
    char *name; // on the screen
    LithoOpenOptions options;
    guint64 input_serial; // it is loaded for
} Truth;

static void truth_free(gpointer data)
{
    Truth *t = data;
    g_object_unref(t->window);
    g_free(t->path);
    g_free(t->name);
    g_free(t);
}

static gpointer load(LithoRun *run, gpointer data, GError **error)
{
    Truth *t = data;
    LithoCube *truth = NULL;
    if (t->path)
        return litho_cube_load(t->path, &t->options, run, error);
    litho_cube_unref(litho_synth_demo(run, &truth, error));
    return truth;
}

static void show_progress(const LithoProgress *progress, gpointer data)
{
    LithoWindow *self = ((Truth *)data)->window;
    if (self->session)
        litho_window_show_job(self, progress);
}

// The reference that is known takes the input's place, or gives it back.
static void compare(LithoWindow *self, gboolean on)
{
    const char *name;
    LithoCube *truth = litho_judgement_truth(self->judgement, &name);
    litho_snapshots_compare(self->snapshots, -1);
    litho_session_set_reference(self->session, on ? truth : NULL, name);
}

static gboolean compares(LithoWindow *self)
{
    return litho_judgement_truth(self->judgement, NULL) &&
           litho_session_against(self->session) == litho_judgement_truth(self->judgement, NULL);
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
        litho_judgement_set_truth(self->judgement, truth, t->name);
        compare(self, TRUE);
        g_autofree char *axes = litho_axes_tell_others(&input->grid, &truth->grid);
        if (axes)
            litho_tellers_tell(self->tellers, axes);
        litho_window_notice(self, "Compared with %s. Ctrl+T goes back to the input.",
                            t->path ? t->name : _("the truth of the demo"));
    } else if (truth) {
        g_autofree char *base = t->path ? g_path_get_basename(t->path) : g_strdup(t->name);
        g_autofree char *theirs = litho_grid_size_text(&truth->grid),
                        *ours = input ? litho_grid_size_text(&input->grid) : g_strdup("0");
        g_autofree char *text = g_strdup_printf(
            _("%s has another shape than the survey: %s samples, and not %s."), base, theirs, ours);
        litho_window_show_error(self, text, NULL);
    }
    litho_window_tell_done(self, fits);
}

gboolean litho_window_has_truth(LithoWindow *self)
{
    return (litho_open_file_truth(self->file) || litho_open_file_is_demo(self->file) ||
            litho_judgement_truth(self->judgement, NULL)) &&
           !litho_session_is_paged(self->session);
}

// `path` NULL = the truth of the demo.
static void start(LithoWindow *self, const char *path, const char *name)
{
    static const LithoJobFuncs funcs = {load, show_progress, loaded, truth_free};
    Truth *t = g_new0(Truth, 1);
    *t = (Truth){.window = g_object_ref(self),
                 .path = g_strdup(path),
                 .name = g_strdup(name),
                 .options = *litho_open_file_options(self->file),
                 .input_serial = litho_session_input(self->session)->serial};
    litho_window_start_job(self, "truth", _("Opening the reference"), &funcs, t);
}

void litho_window_compare_truth(LithoWindow *self)
{
    if (litho_judgement_truth(self->judgement, NULL)) { // it is known
        compare(self, !compares(self));
        return;
    }
    if (!litho_window_has_truth(self) || !litho_session_input(self->session) ||
        litho_window_is_busy(self)) {
        litho_window_show_error(self,
                                _("There is no truth to compare with: it is a file of the survey's "
                                  "name with -truth before the suffix, beside it."),
                                NULL);
        return;
    }
    start(self, litho_open_file_truth(self->file), litho_text(truth_name));
}

void litho_window_compare_file(LithoWindow *self, const char *path)
{
    if (!litho_session_input(self->session) || litho_window_is_busy(self))
        return;
    g_autofree char *base = g_path_get_basename(path);
    char *dot = strrchr(base, '.');
    if (dot && dot > base)
        *dot = 0;
    start(self, path, base);
}

void litho_window_forget_truth(LithoWindow *self)
{
    if (compares(self))
        compare(self, FALSE);
    litho_judgement_set_truth(self->judgement, NULL, NULL);
    litho_window_actions_update(self);
}

// With the share and the seed that the panel begins with.
void litho_window_test_hidden(LithoWindow *self)
{
    enum { USUAL_PERCENT = 5 };
    guint32 seed;
    const double share = litho_judgement_hidden(self->judgement, &seed);
    litho_judgement_hide(self->judgement, share > 0 ? 0 : USUAL_PERCENT, seed);
}
