// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_trial.h"

#include "app/cli_open.h"
#include "core/error.h"

LithoFlow *litho_cli_trial_flow(char **words, LithoCliTrial *trial, gboolean wants_out,
                                GError **error)
{
    g_autoptr(LithoFlow) flow = litho_cli_flow(words, &trial->files, wants_out, error);
    const LithoOperator *first =
        flow && litho_flow_length(flow) ? litho_flow_step(flow, 0)->op : NULL;
    if (first && !first->needs_input) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "%s takes no input, so that nothing here can be judged; 'lithoscope-cli run "
                     "%s' computes it",
                     first->key, first->key);
        return NULL;
    }
    return g_steal_pointer(&flow);
}

gboolean litho_cli_trial_begin(const LithoCliTrial *trial, LithoRun *run,
                               LithoCliProgress *progress, GError **error)
{
    *run = (LithoRun){.threads = trial->threads};
    return litho_cli_threads(trial->threads, error) &&
           litho_cli_judge_numbers(&trial->judge, error) &&
           litho_cli_progress_init(progress, trial->progress ? trial->progress : "auto", run,
                                   error);
}

LithoSurvey *litho_cli_trial_open(const LithoCliTrial *trial, LithoFlow *flow, const char *writes,
                                  LithoRun *run, LithoDevice *device, GError **error)
{
    const char *const read[] = {trial->judge.reference, NULL}, *const written[] = {writes, NULL};
    if (!litho_cli_device(trial->backend, flow, device, error) ||
        !litho_cli_files_check(&trial->files, flow, read, written, trial->force, error))
        return NULL;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)trial->files.in, &trial->open, run, error);
    if (!survey || !litho_cli_flow_settle(flow, &trial->files, litho_survey_grid(survey), error))
        return NULL;
    return g_steal_pointer(&survey);
}

void litho_cli_trial_clear(LithoCliTrial *trial)
{
    litho_cli_files_clear(&trial->files);
    litho_cli_judge_clear(&trial->judge);
    g_free(trial->backend);
    g_free(trial->progress);
}
