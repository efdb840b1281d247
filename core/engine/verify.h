// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/provenance.h"

// Is an output what its provenance says? Parts of it, chosen at random, are computed once more from
// the input and compared with the file. The samples of a flow do not depend on the part asked for,
// so that a part is as good as the whole; where a step needs the whole survey, all of it is
// computed.
//
// Thread-safety: one thread a call, which takes as long as a run of the parts.

typedef struct LithoVerifyAsk {
    const char *output;
    const LithoProvenance *provenance; // of it
    char *const *inputs;               // where the input lies now, NULL-terminated; NULL = where
                                       // the provenance says
    LithoDevice device;
    int slabs;        // parts that are recomputed, 1 or more; all when there are not more
    double share;     // percent of the inlines instead of `slabs`; 0 = by `slabs`
    guint32 seed;     // of the choice
    double tolerance; // allowed norm of the difference over the norm, where bytes may differ
} LithoVerifyAsk;

// How the recomputed samples stand to the file's.
typedef enum LithoAgreement {
    LITHO_AGREES_BITS,      // equal in every bit
    LITHO_AGREES_TOLERANCE, // within the tolerance, on another kind of device, number of devices
                            // or version of the program
    LITHO_DIFFERS,
} LithoAgreement;

typedef struct LithoVerified {
    LithoAgreement agreement;
    gboolean bits_expected; // equal program and device: nothing but equal bytes will do
    gint64 slabs, all_slabs, inlines, all_inlines, samples;
    char line[64], lines[64]; // what they are called: "inline", "inlines" or "shot", "shots", ...
    gint64 differing;       // inlines that differ in a bit
    double first_line;      // number of the first of them
    double relative, largest; // norm of the difference over the norm; largest difference
    gboolean input_touched; // an input's time of change is another one, its fingerprint is not
} LithoVerified;

// FALSE with a sentence: cancelled, an input is missing or has changed, the output is of another
// size, or the parts cannot be computed. That they differ is no failure: see `agreement`.
gboolean litho_verify_run(const LithoVerifyAsk *ask, LithoRun *run, LithoVerified *verified,
                          GError **error);
