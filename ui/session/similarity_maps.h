// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// Maps of the local similarity (core/similarity.h) of output and removed part on the three slices
// on screen, made in a thread; the newest question wins. Main thread only.
typedef struct LithoSimilarityMaps LithoSimilarityMaps;

// `changed`: maps have come, or could not be made.
LithoSimilarityMaps *litho_similarity_maps_new(void (*changed)(gpointer owner), gpointer owner);
void litho_similarity_maps_free(LithoSimilarityMaps *maps); // no call follows; NULL is fine
// Asks for the slices at these indices, one of each axis. References both cubes.
void litho_similarity_maps_ask(LithoSimilarityMaps *maps, LithoCube *in, LithoCube *out,
                               const gint64 slice[3]);
void litho_similarity_maps_forget(LithoSimilarityMaps *maps); // they are of another result
// The map that holds `slice`, a section across `axis`; NULL = not (yet). Borrowed.
LithoCube *litho_similarity_maps_get(const LithoSimilarityMaps *maps, int axis, LithoBox slice);
