// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/flow.h"
#include "core/io/survey.h"

// The origin of an output, "OUT.provenance" beside it: program version, recipe with what was
// measured, device, input files with fingerprints, choices of reading. The same small JSON file
// serves every output format, for NumPy, SU and raw files have no place for it.
// core/engine/verify.h recomputes samples from it.
//
// Thread-safety: values of their maker; any thread.

// A file or a store that was read.
typedef struct LithoFileMark {
    char *path;               // absolute
    gint64 bytes, changed_ns; // of its LithoStamp (core/stamp.h)
    char *fingerprint;        // litho_fingerprint()
} LithoFileMark;

typedef struct LithoProvenance {
    char *version, *backend, *device, *finished; // "1.0.0", "cuda", "NVIDIA H200", ISO 8601
    int devices, ranks;                          // that computed
    LithoFlow *flow;       // as it ran: file parameters absolute, with what was measured
    LithoOpenOptions open; // its `dtype` is interned
    char **inputs;         // absolute paths as they were given; empty = none or standard input
    GArray *input_marks;   // of LithoFileMark: the files behind them
    GArray *step_marks;    // of LithoFileMark: files that parameters name
    gint64 size[3];        // of the output
} LithoProvenance;

// A run as its maker knows it; everything is borrowed.
typedef struct LithoProvenanceOf {
    const LithoFlow *flow;
    LithoSurvey *survey;     // NULL = none was read
    char *const *inputs;     // as given, NULL-terminated; NULL = none that can be read again
    const LithoOpenOptions *open;
    const LithoGrid *out;
    LithoDevice device;
    int devices, ranks;
} LithoProvenanceOf;

// "OUT.provenance"; g_free().
char *litho_provenance_path(const char *output);
// FALSE with a sentence: a file of another kind has the name of the provenance of `output`, and
// `force` does not allow to replace it. One of an earlier run is always replaced.
gboolean litho_provenance_check(const char *output, gboolean force, GError **error);
gboolean litho_provenance_save(const char *output, const LithoProvenanceOf *of, GError **error);
// NULL with a sentence: there is none beside `output`, or it cannot be read.
LithoProvenance *litho_provenance_load(const char *output, GError **error);
void litho_provenance_free(LithoProvenance *provenance); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoProvenance, litho_provenance_free)

// Name of a device without the threads that the CPU's may carry, which samples do not depend on.
char *litho_provenance_device(LithoDevice device); // g_free()
// FALSE with a sentence: the file at `path` is not the one that `mark` is of. A size and a time of
// change that agree are believed, else the fingerprint decides.
gboolean litho_file_mark_holds(const LithoFileMark *mark, const char *path, GError **error);
