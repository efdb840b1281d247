// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/beside.h"

// Maps of the local similarity (core/similarity.h) of output and removed part on the three slices
// on screen, made in a thread; the newest question wins. Main thread only.
typedef struct LithoSimilarityMaps LithoSimilarityMaps;

// `changed`: maps have come, or could not be made.
LithoSimilarityMaps *litho_similarity_maps_new(void (*changed)(gpointer owner), gpointer owner);
void litho_similarity_maps_free(LithoSimilarityMaps *maps); // no call follows; NULL is fine
// Asks for the slices at these indices, one of each axis, of the output's parts out[axis] (NULL =
// that slice is not there); a part that holds its slice alone gives the mean within the slice. With
// `beside`, which is of this input and output, slices that it reaches are of what was judged,
// beside the noise; NULL = noise counts. What has been made is not made again. References all.
// `wish_ms`: when the person asked (litho_now_ms()).
void litho_similarity_maps_ask(LithoSimilarityMaps *maps, LithoCube *in, LithoCube *const out[3],
                               LithoBeside *beside, const gint64 slice[3], double wish_ms);
// Half widths of the maps that are asked for from now on; all 0 = the default.
void litho_similarity_maps_set_widths(LithoSimilarityMaps *maps, LithoSimilarityWidths widths);
void litho_similarity_maps_forget(LithoSimilarityMaps *maps); // they are of another result
// A map has been drawn: the first time since it came, the time from the wish to now counts. The
// number of times so far, and the last one.
void litho_similarity_maps_drawn(LithoSimilarityMaps *maps);
guint litho_similarity_maps_latency(const LithoSimilarityMaps *maps, double *last_ms);
// The map of `slice`, a section across `axis`, which holds as much of it as was judged where it is
// beside the noise; NULL = not (yet). Borrowed.
LithoCube *litho_similarity_maps_get(const LithoSimilarityMaps *maps, int axis, LithoBox slice);
// TRUE where that map is beside the noise.
gboolean litho_similarity_maps_is_beside(const LithoSimilarityMaps *maps, int axis);
