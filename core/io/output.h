// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gio/gio.h>

// Every file that the program writes for a person goes through here: survey, picture, recipe,
// coefficients, timings. The bytes go to a temporary name in the folder of the target;
// litho_output_finish() syncs, closes and renames. Until then, and after every failure, the file
// that had the name before is untouched. Mode and owner of a replaced file stay, a symbolic link
// stays a link (the file it leads to is replaced). Temporary files whose process has died are
// removed when their target is written again.

// Existing files that an output may replace. An input of the process is never replaced.
typedef enum LithoReplace {
    LITHO_REPLACE_NONE, // no file at all
    LITHO_REPLACE_OWN,  // files that this process has written
    LITHO_REPLACE_ANY,  // every regular file: the user said so
} LithoReplace;

// --- files that the process reads ---------------------------------------------------------------

// A file by its identity, whatever names lead to it.
typedef struct LithoFileId {
    guint64 device, inode;
} LithoFileId;

// Holds a file as an input until as many releases. Any thread. A writer holds the survey whose
// headers it carries on, the command line whatever its command reads.
void litho_input_hold(LithoFileId id);
void litho_input_release(LithoFileId id);
// Holds the file or folder that `path` leads to until the process ends; outputs may not lie in a
// survey's folder (Zarr) that is held. A name without a file is passed over.
void litho_input_hold_path(const char *path);

// --- files that it writes -----------------------------------------------------------------------

typedef struct LithoOutput LithoOutput;

// Could every one of `paths` be written? TRUE when no one is an input, exists against `replace` or
// leads to the target of another one, and its folder takes files. For the start of a command;
// `paths` is NULL-terminated.
gboolean litho_outputs_check(const char *const *paths, LithoReplace replace, GError **error);

// Ownership: free with litho_output_free(), which removes what was not finished. One thread at a
// time, except litho_output_write_at(), which is safe anywhere.
LithoOutput *litho_output_new(const char *path, LithoReplace replace, GError **error);
// State of "TARGET.part" before an output that may outlive its process.
typedef enum LithoResume {
    LITHO_RESUME_FIRST, // not of an earlier run: another's file, which goes only by `replace`
    LITHO_RESUME_ANEW,  // of an earlier run; dropped
    LITHO_RESUME_KEPT,  // of an earlier run; gone on with
} LithoResume;

// Like litho_output_new(), for bytes that may outlive the process: they go to "TARGET.part", where
// another process finds them after litho_output_keep() or after the death of this one. Refused
// while another process has it.
LithoOutput *litho_output_resume(const char *path, LithoReplace replace, LithoResume how,
                                 GError **error);
// From now on litho_output_free() leaves the bytes where they are.
void litho_output_keep(LithoOutput *output);
// FALSE without a sentence: there are fewer bytes, or they cannot be read.
gboolean litho_output_read_at(LithoOutput *output, void *bytes, gint64 n, gint64 at);
// Appends.
gboolean litho_output_write(LithoOutput *output, const void *bytes, gsize n, GError **error);
gboolean litho_output_write_at(LithoOutput *output, const void *bytes, gint64 n, gint64 at,
                               GError **error);
// FALSE: the target is as it was.
gboolean litho_output_finish(LithoOutput *output, GError **error);
void litho_output_free(LithoOutput *output);
// Removes the temporary files of all outputs that are not finished, for a program that is about to
// end in the middle of its work: takes no lock and no memory, so that a signal handler may call it.
void litho_outputs_abandon(void);
// Standard input, output and error that were closed before the program started get a descriptor that
// can neither be read nor written. Without it the next file that is opened has their number, and a
// note for a person is written into a survey. Before any file is opened.
void litho_outputs_keep_standard(void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoOutput, litho_output_free)

// The short way for a text; n < 0 = up to its end.
gboolean litho_output_save(const char *path, const char *text, gssize n, LithoReplace replace,
                           GError **error);
