// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/volume.h"

// Inside a volume: what volume.c, volume_tile.c and the renderer share. Private to render/.

enum { LITHO_PIXEL_BUFFERS = 3 }; // the driver may still read one while the next is written
// Texels per row of the live mask: more where its rows would be more than any card takes.
enum { LITHO_LIVE_WIDTH = 4096, LITHO_LIVE_WIDEST = 16384 };

typedef struct LithoTile {
    guint texture;    // GL_TEXTURE_3D, or GL_TEXTURE_2D when folded
    gboolean folded;  // linear index in rows of a 2-D texture: slices beyond the 3-D limit
    LithoBox box;     // samples it has room for
    LithoCover has;   // filled at least once
    LithoCover clean; // equal to what the parts say now
    LithoCover fresh; // filled since litho_volume_begin()
    gpointer share;   // LithoGlShare handle, or NULL
    const struct LithoBackend *share_backend; // that gave it or refused it, and its device
    int share_device;
    gboolean share_refused;
    guint64 used; // clock of the last use
} LithoTile;

typedef struct LithoPart {
    LithoCube *cube;
    guint64 generation;
} LithoPart;

struct LithoVolume {
    gboolean has_grid;
    LithoGrid grid;
    GArray *parts; // of LithoPart, oldest first
    guint64 generation;
    GPtrArray *tiles; // of LithoTile; exactly one in the volume layout
    guint64 clock;
    guint64 budget;
    int limit;              // pretended texture limit, 0 = the real one
    guint8 *live;           // of the whole grid, in rows
    int live_width;         // texels in a row
    gint64 live_rows;
    gint64 dead; // traces not live
    gboolean live_dirty;
    guint live_texture;
    guint pixel_buffer[LITHO_PIXEL_BUFFERS];
    int next_buffer;
    LithoBox watch[3];              // slices of the last update by their axis; empty = none
    guint64 stamp[3], stamp_of_all; // litho_volume_stamp()
    gboolean lines[3];              // not counted yet
    LithoVolumeInfo info;
};

// --- textures, volume_tile.c --------------------------------------------------------------------

guint64 litho_box_bytes(LithoBox box);
// Decides between one 3-D texture and slices, once per grid.
void litho_tile_choose_layout(LithoVolume *volume);
// The tile that holds `box`, or NULL.
LithoTile *litho_tile_find(const LithoVolume *volume, LithoBox box);
// The tile that view `box` is drawn from, made when there is none yet; NULL when GL has no room.
LithoTile *litho_tile_for(LithoVolume *volume, LithoBox box);
void litho_tiles_free(LithoVolume *volume);
// Samples of one part inside `box`; the tile's texture must be bound. Returns what was written,
// which is the part's whole box when it went device to device; empty on failure.
LithoBox litho_tile_copy(LithoVolume *volume, LithoTile *tile, const LithoCube *cube, LithoBox box);
// Ends copies from a device: GL may draw from the tile again.
void litho_tile_flush(LithoVolume *volume, LithoTile *tile);
void litho_tile_set_nearest(guint target);
void litho_tile_reset_unpack(void);

// --- for the renderer ---------------------------------------------------------------------------

// The texture that holds slice `index` of `axis`, or NULL when it has not been filled.
const LithoTile *litho_volume_tile(const LithoVolume *volume, int axis, gint64 index);
guint litho_volume_live_texture(const LithoVolume *volume);
// FALSE when every trace is live: the mask need not be read.
gboolean litho_volume_is_masked(const LithoVolume *volume);
