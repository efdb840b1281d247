// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/volume.h"

// What the renderer needs to know of a volume; private to render/.

enum { LITHO_LIVE_WIDTH = 4096 }; // texels per row of the live mask; the same in sample.glsl

typedef struct LithoTile {
    guint texture;    // GL_TEXTURE_3D, or GL_TEXTURE_2D when folded
    gboolean folded;  // linear index in rows of a 2-D texture: slices beyond the 3-D limit
    LithoBox box;     // samples it has room for
    LithoCover has;   // filled at least once
    LithoCover clean; // equal to what the parts say now
    LithoCover fresh; // filled since litho_volume_begin()
    gpointer share;   // LithoGlShare handle, or NULL
    const struct LithoBackend *share_backend;
    gboolean share_refused;
    guint64 used;     // clock of the last use
} LithoTile;

// The texture that holds slice `index` of `axis`, or NULL when it has not been filled.
const LithoTile *litho_volume_tile(const LithoVolume *volume, int axis, gint64 index);
guint litho_volume_live_texture(const LithoVolume *volume);
// FALSE when every trace is live: the mask need not be read.
gboolean litho_volume_is_masked(const LithoVolume *volume);
