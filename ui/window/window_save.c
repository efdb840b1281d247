// SPDX-License-Identifier: GPL-3.0-or-later
//
// The one job at a time (opening, saving, a picture), and saving.
#include "core/text.h"
#include "ui/window/window_private.h"

#include <glib/gstdio.h>

#include "core/engine/provenance.h"
#include "core/engine/stream.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/io/survey.h"

// --- the job bar --------------------------------------------------------------------------------

gboolean litho_window_is_busy(LithoWindow *self)
{
    return litho_job_bar_is_at_work(self->job) || litho_job_bar_save(self->job) != NULL;
}

gboolean litho_window_is_opening(LithoWindow *self)
{
    return litho_job_bar_is_at_work(self->job) &&
           g_strcmp0(litho_job_bar_what(self->job), "open") == 0;
}

void litho_window_start_job(LithoWindow *self, const char *what, const char *sentence,
                            const LithoJobFuncs *funcs, gpointer data)
{
    litho_bar_hide(litho_tellers_error(self->tellers));
    litho_job_bar_start(self->job, what, sentence, funcs, data);
    litho_window_actions_update(self);
}

void litho_window_show_job(LithoWindow *self, const LithoProgress *p)
{
    litho_job_bar_show(self->job, p);
}

// The window may have been closed while the job was at work: then there is nobody to tell.
gboolean litho_window_end_job(LithoWindow *self, const GError *error)
{
    litho_job_bar_end(self->job);
    if (!self->session)
        return FALSE;
    litho_job_bar_hide(self->job);
    if (error && !litho_error_is_cancelled(error))
        litho_window_show_error(self, error->message, NULL);
    litho_window_actions_update(self);
    if (litho_state_writer_is_dirty(self->writer)) // nothing was written during the job
        litho_window_state_touched(self);
    return TRUE;
}

void litho_window_tell_done(LithoWindow *self, gboolean ok)
{
    g_signal_emit_by_name(self, "job-done", litho_job_bar_what(self->job), ok);
    if (self->session && litho_job_bar_save(self->job) &&
        !litho_job_bar_is_at_work(self->job)) { // it has waited for this job
        gboolean force;
        g_autofree char *path = litho_job_bar_take_save(self->job, &force);
        litho_window_save(self, path, force);
    }
    if (self->session)
        litho_window_close_saved(self, ok);
}

void litho_window_cancel_job(LithoWindow *self)
{
    litho_job_bar_cancel(self->job);
    if (litho_job_bar_save(self->job)) {
        litho_job_bar_set_save(self->job, NULL, FALSE);
        litho_window_close_saved(self, FALSE);
        litho_job_bar_hide(self->job);
        litho_window_actions_update(self); // no longer busy
    }
}

// --- saving -------------------------------------------------------------------------------------

typedef struct Saving {
    LithoWindow *window;
    LithoCube *cube;
    LithoFlow *flow;
    LithoSurvey *survey; // that was read, or NULL
    gboolean streamed;   // the result is computed piece by piece while it is written
    char **from;         // names of the survey's files, as given
    LithoOpenOptions open;
    LithoDevice device;
    LithoInputs *inputs;
    char *path, *note;
    GPtrArray *notes; // of char *: what the file could not hold
    char *unproven; // why no provenance stands beside the result; NULL = one does
    gboolean force;
} Saving;

static void saving_free(gpointer data)
{
    Saving *s = data;
    g_object_unref(s->window);
    litho_cube_unref(s->cube);
    litho_flow_free(s->flow);
    litho_survey_unref(s->survey);
    litho_inputs_free(s->inputs);
    g_strfreev(s->from);
    g_free(s->path);
    g_free(s->note);
    g_free(s->unproven);
    g_ptr_array_unref(s->notes);
    g_free(s);
}

// The file beside the result that tells where it came from, as of 'lithoscope-cli run'. A generated
// cube lies in no file that 'verify' could read again.
static void save_provenance(Saving *s, const LithoGrid *out, const LithoRun *run)
{
    const LithoProvenanceOf of = {.flow = s->flow,
                                  .survey = s->survey,
                                  .inputs = s->from,
                                  .open = &s->open,
                                  .out = out,
                                  .device = s->device,
                                  .devices = run->devices_used,
                                  .ranks = run->ranks_used};
    g_autoptr(GError) why = NULL;
    const gboolean known = (s->survey && s->from) || !litho_flow_needs_input(s->flow);
    if (known && litho_provenance_save(s->path, &of, &why))
        return;
    // An earlier output's provenance would tell of other samples.
    g_autofree char *path = litho_provenance_path(s->path);
    g_unlink(path);
    if (why)
        s->unproven = g_strdup(why->message);
}

static gpointer save_work(LithoRun *run, gpointer data, GError **error)
{
    Saving *s = data;
    LithoSaveOptions options = {.force = s->force, .notes = s->notes, .note = s->note};
    const LithoReplace replace = s->force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE;
    // The result first: a sentence about its folder names the file that the person chose.
    if (!litho_outputs_check((const char *const[]){s->path, NULL}, replace, error) ||
        !litho_provenance_check(s->path, s->force, error))
        return NULL;
    if (!s->streamed) {
        if (!litho_cube_save(s->cube, s->path, &options, run, error))
            return NULL;
        save_provenance(s, &s->cube->grid, run);
        return s->path;
    }
    g_autoptr(LithoFlow) ran = NULL;
    LithoStreamOptions stream = {.device = s->device, .save = options, .ran = &ran};
    LithoStreamPlan plan;
    if (!litho_stream_plan(s->flow, s->survey, &stream, run, &plan, error) ||
        !litho_stream_run(s->flow, s->survey, s->path, &stream, run, error))
        return NULL;
    if (ran) {
        litho_flow_free(s->flow);
        s->flow = g_steal_pointer(&ran);
    }
    save_provenance(s, &plan.out, run);
    return s->path;
}

static void save_progress(const LithoProgress *progress, gpointer data)
{
    Saving *s = data;
    if (s->window->session)
        litho_window_show_job(s->window, progress);
}

static void save_done(gpointer result, const GError *error, gpointer data)
{
    Saving *s = data;
    if (!litho_window_end_job(s->window, error))
        return;
    if (result && s->unproven)
        litho_window_notice(s->window, "Saved; %s, and 'verify' cannot check the result",
                            s->unproven);
    else if (result)
        litho_window_notice_saved(s->window, s->path);
    if (result)
        litho_tellers_show_saved(s->window->tellers, s->path, s->notes);
    litho_window_tell_done(s->window, result != NULL);
}

LithoInputs *litho_window_inputs(LithoWindow *self)
{
    LithoInputs *inputs = litho_inputs_new();
    const char *truth = litho_open_file_truth(self->file);
    for (char **path = litho_open_file_paths(self->file); path && *path; path++)
        litho_inputs_add(inputs, *path);
    if (truth)
        litho_inputs_add(inputs, truth);
    const LithoCube *reference = litho_judgement_truth(self->judgement, NULL);
    if (reference && reference->survey)
        litho_inputs_add(inputs, litho_survey_path(reference->survey));
    litho_inputs_add_flow(inputs, litho_session_flow(self->session));
    return inputs;
}

// `cube` NULL: the result of a cube beyond memory is computed while it is written.
static void save_start(LithoWindow *self, LithoCube *cube, const char *path, gboolean force)
{
    static const LithoJobFuncs funcs = {save_work, save_progress, save_done, saving_free};
    Saving *s = g_new0(Saving, 1);
    s->window = g_object_ref(self);
    s->cube = cube ? litho_cube_ref(cube) : NULL;
    const LithoCube *input = litho_session_input(self->session);
    LithoSurvey *survey =
        cube ? input ? input->survey : NULL : litho_session_page_survey(self->session);
    s->survey = survey ? litho_survey_ref(survey) : NULL;
    s->streamed = !cube;
    s->from = g_strdupv(litho_open_file_paths(self->file));
    s->open = *litho_open_file_options(self->file);
    s->device = litho_session_device(self->session);
    s->flow = litho_flow_copy(litho_session_flow(self->session));
    s->inputs = litho_window_inputs(self);
    s->path = g_strdup(path);
    s->notes = g_ptr_array_new_with_free_func(g_free);
    s->force = force;
    g_autofree char *command = litho_window_short_command(self, path);
    s->note = g_strdup_printf("Lithoscope " LITHO_VERSION ": %s", command);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *sentence = g_strdup_printf(_("Saving %s"), base);
    litho_window_start_job(self, "save", sentence, &funcs, s);
}

void litho_window_save(LithoWindow *self, const char *path, gboolean force)
{
    if (!litho_session_grid(self->session))
        return;
    const gboolean at_work = litho_job_bar_is_at_work(self->job);
    if (at_work && !litho_job_bar_save(self->job) &&
        g_strcmp0(litho_job_bar_what(self->job), "picture") == 0) {
        // The result does not depend on the picture: it is saved when that is done.
        litho_job_bar_set_save(self->job, path, force);
        litho_window_notice(self, "Saving begins when the picture is done.");
        return;
    }
    if (litho_window_is_busy(self)) {
        litho_window_show_error(self, _("Something is being opened or saved; cancel it or wait."),
                                NULL);
        return;
    }
    LithoCube *output = litho_session_output(self->session);
    if (output || litho_session_is_paged(self->session)) {
        save_start(self, output, path, force);
        return;
    }
    litho_job_bar_set_save(self->job, path, force);
    litho_job_bar_wait(self->job, _("Waiting for the whole result"));
    litho_session_pause(self->session, FALSE); // a paused result would never be whole
    litho_window_actions_update(self);
    if (!litho_session_progress(self->session, NULL))
        litho_session_recompute(self->session); // it had been cancelled
}

void litho_window_result_arrived(LithoWindow *self)
{
    if (litho_job_bar_is_at_work(self->job))
        return; // a save that waits for it goes on at its end
    const gboolean waits = litho_job_bar_save(self->job) != NULL;
    LithoCube *output = waits ? litho_session_output(self->session) : NULL;
    if (waits && litho_session_problem(self->session))
        litho_window_cancel_job(self);
    if (!output)
        return;
    gboolean force;
    g_autofree char *path = litho_job_bar_take_save(self->job, &force);
    save_start(self, output, path, force);
}
