// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "core/io/survey.h"

// The journal of a run that writes slab by slab: "OUT.journal" beside the output, lines of JSON.
// The first line says what is computed from what (fingerprints of input and recipe, program
// version, kind of device, measured numbers), every other line how far the file has come and a hash
// of the bytes since the line before. A run that ended before its time leaves both files behind,
// and the same command goes on where the bytes still agree. Slabs that are a part of their inlines
// wait in the journal for the others: behind a line with place and hash stand their samples and
// live traces, until the inlines are in the file.
//
// Thread-safety: one thread. Rank 0 alone has one.

typedef struct LithoJournal LithoJournal;

// A run is told by these. Texts are compared and owned by the maker; `flow` is borrowed.
typedef struct LithoJournalHead {
    char *input;           // sizes and times of the files read, and the survey's grid
    char *reading;         // options that the survey was read with
    char *recipe;          // as it was asked for
    char *programs;        // panels and programs of the user's own operators, sizes and times
    char *output;          // grid and format of the output
    const char *device;    // "cpu"
    const LithoFlow *flow; // with what was measured for it
} LithoJournalHead;

// The head of a run of `asked` on `survey` (NULL = the flow makes its own data) into a file of
// `out`. Looks at the files that are read; one that cannot be looked at leaves no trace in it.
// litho_journal_head_clear() it.
void litho_journal_head_init(LithoJournalHead *head, const LithoFlow *asked, LithoSurvey *survey,
                             const LithoGrid *out, const LithoSaveOptions *save,
                             const char *device);
void litho_journal_head_clear(LithoJournalHead *head);

// TRUE when an earlier run has left a journal for `path`.
gboolean litho_journal_exists(const char *path);
// Opens or makes the journal of the output `path`. `anew`: what it says is forgotten. Refused while
// another process has it open, or another file has the journal's name.
LithoJournal *litho_journal_open(const char *path, gboolean anew, GError **error);
// TRUE where litho_journal_open() made it: no earlier run has left any samples.
gboolean litho_journal_is_new(const LithoJournal *journal);
// TRUE when it tells of an earlier run, which must be of the same head; FALSE with a sentence in
// `error` when it is of another one, FALSE alone when there is nothing to go on with.
gboolean litho_journal_resumes(LithoJournal *journal, const LithoJournalHead *head, GError **error);
// With what the earlier run measured; borrowed, NULL = none.
const LithoFlow *litho_journal_flow(const LithoJournal *journal);
// Moves the writer as far as the marks agree with the file; what lies behind is forgotten, and with
// it the pieces.
void litho_journal_reach(LithoJournal *journal, LithoWriter *writer);
// Begins a journal of a new run. What cannot be written is given up: the run is not the journal's.
void litho_journal_begin(LithoJournal *journal, const LithoJournalHead *head);
// One line: the inlines that were put last are in the file. Their pieces go.
void litho_journal_mark(LithoJournal *journal, LithoWriter *writer);
// Marks in the journal that can be gone on from.
guint litho_journal_marks(const LithoJournal *journal);
// Keeps a slab that is a part of its inlines, host samples. Without room for it nothing is kept.
void litho_journal_keep(LithoJournal *journal, const LithoCube *piece);
// Pieces behind the last mark.
guint litho_journal_pieces(const LithoJournal *journal);
// Piece `k` of them, a new cube of `grid`. NULL: it is not that of `box`, its bytes do not agree or
// there is no memory; it and those behind it are forgotten.
LithoCube *litho_journal_piece(LithoJournal *journal, guint k, const LithoGrid *grid, LithoBox box);
// Closes it; `remove`: the file, too.
void litho_journal_close(LithoJournal *journal, gboolean remove); // NULL is fine
