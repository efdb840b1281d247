// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_trial.h"

#include "app/cli_open.h"

gboolean litho_cli_trial_begin(const LithoCliTrial *trial, LithoRun *run,
                               LithoCliProgress *progress, GError **error)
{
    *run = (LithoRun){.threads = trial->threads};
    return litho_cli_threads(trial->threads, error) &&
           litho_cli_judge_numbers(&trial->judge, error) &&
           litho_cli_progress_init(progress, trial->progress ? trial->progress : "auto", run,
                                   error);
}

void litho_cli_trial_clear(LithoCliTrial *trial)
{
    litho_cli_files_clear(&trial->files);
    litho_cli_judge_clear(&trial->judge);
    g_free(trial->backend);
    g_free(trial->progress);
}
