// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/cli_files.h"
#include "app/cli_flow.h"
#include "app/cli_judge.h"
#include "app/progress.h"

// Options that find, sweep and report share: all of them try a flow on a part of a survey and judge
// the result.

// Starts as {.judge.seed = 1}.
typedef struct LithoCliTrial {
    LithoCliFiles files;
    LithoCliJudge judge;
    LithoOpenOptions open; // of litho_cli_open_group()
    char *backend, *progress;
    int threads;
    gboolean force; // outputs that exist are overwritten
} LithoCliTrial;

// Rows of a command's table, `overwrite` being the text of --force; the files have their own,
// LITHO_CLI_INPUT and LITHO_CLI_OUTPUT.
// clang-format off
#define LITHO_CLI_TRIAL(trial, overwrite) \
    LITHO_CLI_JUDGE(&(trial)->judge), \
    LITHO_CLI_DEVICE(&(trial)->backend, &(trial)->threads), \
    LITHO_CLI_PROGRESS(&(trial)->progress), \
    {"force", 0, 0, G_OPTION_ARG_NONE, &(trial)->force, overwrite, NULL}
// clang-format on

// The flow of a command that judges what a flow does to a survey, and its files, as
// litho_cli_flow() reads them. NULL for one that begins with a model, too: it has no survey.
LithoFlow *litho_cli_trial_flow(char **words, LithoCliTrial *trial, gboolean wants_out,
                                GError **error);
// Fills `run` and shows its progress until litho_cli_progress_end(). FALSE sets
// LITHO_ERROR_PARAMETER: --threads, --progress or a number of the judgement says nonsense.
gboolean litho_cli_trial_begin(const LithoCliTrial *trial, LithoRun *run,
                               LithoCliProgress *progress, GError **error);
// Chooses the device and opens the survey, by which settings of `flow` that wait for its sample
// interval are made. `writes`: the command's output beside files.out; NULL = none. NULL: `error`
// says which word, file or setting is wrong. litho_survey_unref().
LithoSurvey *litho_cli_trial_open(const LithoCliTrial *trial, LithoFlow *flow, const char *writes,
                                  LithoRun *run, LithoDevice *device, GError **error);
void litho_cli_trial_clear(LithoCliTrial *trial);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LithoCliTrial, litho_cli_trial_clear)
