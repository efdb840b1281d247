// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/text.h"
#include "core/run.h"

// Call once at the start of main(): Ctrl+C, SIGTERM, SIGHUP and a closed pipe cancel the command
// that runs between litho_cli_progress_init() and _end(), at other times they end the program; in
// both cases with status 3. A second signal ends it at once. Signals that the caller ignores stay
// ignored.
void litho_cli_signals_init(void);
// TRUE when nobody reads the standard output or error any more: nothing is said about it.
gboolean litho_cli_pipe_closed(void);

// The row of a command's table.
#define LITHO_CLI_PROGRESS(form)                                                                   \
    {                                                                                              \
        "progress", 0, 0, G_OPTION_ARG_STRING, form, _("auto, plain, jsonl or none"), "FORM"       \
    }

// Progress of a command on stderr and its cancel by a signal.
typedef struct LithoCliProgress {
    GCancellable *cancel;
    int form;        // private
    gint64 last_us;  // private
    gboolean talks;  // private: to a person
    double start_ms; // private
} LithoCliProgress;

// FALSE (LITHO_ERROR_PARAMETER): `form` is none of those below. NULL is fine.
gboolean litho_cli_progress_check(const char *form, GError **error);
// `form`: "auto" (a line that is rewritten when stderr is a terminal, else a line every 10 s),
// "plain" (a line every second), "jsonl" (an object a line), "none". FALSE sets
// LITHO_ERROR_PARAMETER. Listens to signals; one at a time per process. Fills run's cancel and progress.
gboolean litho_cli_progress_init(LithoCliProgress *progress, const char *form, LithoRun *run,
                                 GError **error);
// Takes the line of progress off the terminal, for something else that is printed before the end.
// In the thread that runs the job.
void litho_cli_progress_erase(void);
// Erases the line and frees.
void litho_cli_progress_end(LithoCliProgress *progress);
// Tells the person at the terminal that `path` was written and how long the command took; says
// nothing where progress goes to a program or nowhere. After litho_cli_progress_end().
void litho_cli_wrote(const LithoCliProgress *progress, const char *path);
