// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/cli_files.h"

// "-" as a file: standard input and output. Surveys are read and written at any place of the file,
// so what comes through a pipe passes a temporary file (in TMPDIR) that is gone when the command
// ends. "-" is SEG-Y, or NumPy where it begins as that does; "-.su", "-.npy" and "-.sgy" say it.

// TRUE when one of the files is "-".
gboolean litho_cli_pipe_is_asked(const LithoCliFiles *files);
// Before the files are looked at: takes standard input up, where an input asks for it, and gives
// both words the names of their temporary files. At most one input may be "-".
gboolean litho_cli_pipe_begin(LithoCliFiles *files, GError **error);
// After the output was written: to standard output with it. TRUE when nobody asked for that.
gboolean litho_cli_pipe_end(const LithoCliFiles *files, GError **error);
// TRUE when an input came from standard input: nobody can read it again.
gboolean litho_cli_pipe_from_stdin(const LithoCliFiles *files);
// TRUE when the output goes to standard output: nothing else may be printed there.
gboolean litho_cli_pipe_to_stdout(const LithoCliFiles *files);
// A sentence for the person at the screen: "standard input" and "standard output" stand for the
// names of the temporary files. New text.
char *litho_cli_pipe_words(const char *sentence);
// Removes the temporary files. Registered for the end of the process; takes neither lock nor memory,
// so that a signal handler may call it.
void litho_cli_pipe_abandon(void);
