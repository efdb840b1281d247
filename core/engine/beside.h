// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/similarity.h"

// Maps of the similarity beside the noise (litho_similarity_beside()) after the question that has
// told the noise: input, output and probe run that its figures are of, kept by reference, so that a
// map agrees with the figures and needs no run of the flow. Never written to; any thread.
typedef struct LithoBeside LithoBeside;

// The cubes of a question that a judge makes one of. Borrowed; host samples of one grid.
typedef struct LithoBesideMaker {
    const LithoGrid *survey; // of the question
    LithoCube *in, *out;     // that was judged
    LithoBox area;           // of their grid
    gint64 shift[3];         // from their grid to the survey's
    LithoSimilarityNoise noise;
} LithoBesideMaker;

LithoBeside *litho_beside_new(const LithoBesideMaker *maker);
LithoBeside *litho_beside_ref(LithoBeside *beside);
void litho_beside_unref(LithoBeside *beside); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoBeside, litho_beside_unref)

// Differs from that of every other one that was made of another run.
guint64 litho_beside_serial(const LithoBeside *beside);
// The part of `box` of the survey that was judged; empty = none of it, NULL for `beside` included.
LithoBox litho_beside_part(const LithoBeside *beside, LithoBox box);
// Map over that part, which must not be empty, as a new cube of the survey's grid. `widths` NULL or
// all 0 = the default. FALSE: cancelled, no memory, or nothing of the box was judged.
gboolean litho_beside_map(const LithoBeside *beside, LithoBox box,
                          const LithoSimilarityWidths *widths, LithoRun *run, LithoCube **map,
                          GError **error);
