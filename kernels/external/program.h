// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"

// A program of the user's own as a child process: bytes to its standard input and from its standard
// output, with cancel. Its standard error is kept for sentences about it. One thread at a time.

typedef struct ExternalProgram ExternalProgram;

// One exchange of bytes.
typedef struct ExternalTalk {
    // The next bytes for the program, `n` of them, which stay until the next call; NULL = all were
    // given.
    const char *(*give)(gpointer data, gsize *n);
    // Bytes that came. FALSE with a sentence: they are not what was asked for.
    gboolean (*take)(gpointer data, const char *bytes, gsize n, GError **error);
    // TRUE when the answer is whole. `done` of `total`: how far it has come.
    gboolean (*is_whole)(gpointer data, gint64 *done, gint64 *total);
    gpointer data;
} ExternalTalk;

// Starts `command` (its words; no shell reads them) in `folder`, in a process group of its own.
// `name` names it in sentences; `python` is put before PYTHONPATH, NULL = nothing is.
ExternalProgram *external_program_start(char *const *command, const char *folder, const char *name,
                                        const char *python, GError **error);
// FALSE when it has ended, reads no more, or has closed its output.
gboolean external_program_is_alive(ExternalProgram *program);
// Writes and reads at once until all was given and the answer is whole. `last`: its input is closed
// behind the bytes, and it must end by itself with status 0. FALSE: the program is of no use any
// more (cancelled, dead, a wrong answer), and external_program_kill() is what is left.
gboolean external_program_talk(ExternalProgram *program, const ExternalTalk *talk, gboolean last,
                               LithoRun *run, GError **error);
// Ends the program at once, and the programs it has started; takes `program` over. NULL is passed
// over.
void external_program_kill(ExternalProgram *program);
// Closes its input and gives it 100 ms to end by itself.
void external_program_end(ExternalProgram *program);
