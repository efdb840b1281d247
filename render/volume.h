// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/cube.h"
#include "render/cover.h"

// One cube (input or output) as OpenGL textures, R32F. There is no third volume for "removed": the
// shader subtracts.
//
// Layout: one 3-D texture (x = sample, y = crossline, z = inline) when the cube fits the context's
// limits and the budget; otherwise one texture per slice on screen, filled as slices change.
//
// Filling: litho_volume_put() takes parts (boxes) in any order, later ones on top; the texture
// follows in litho_volume_update(), visible slices at once, the rest a few milliseconds per frame.
// Samples that lie on the device of this GL context go there without the host (LithoGlShare); when
// that is refused, through pixel buffers. The old content stays until the new one replaces it.
//
// Threads: everything in the thread that owns the GL context. Only update(), release() and free()
// touch GL and need the context current.

typedef struct LithoVolume LithoVolume;

typedef enum {
    LITHO_LAYOUT_NONE = 0, // nothing put yet
    LITHO_LAYOUT_VOLUME,   // one 3-D texture
    LITHO_LAYOUT_SLICES,   // a texture per visible slice
} LithoLayout;

typedef struct LithoVolumeInfo {
    LithoLayout layout;
    gboolean shared;       // the last fill went device to device
    char why_not[256];     // why sharing was refused, in one sentence; "" = never refused
    guint64 host_bytes;    // copied through the host since the volume was made
    guint64 shared_bytes;  // copied on the device
    guint64 texture_bytes; // texture memory now
    guint64 pending_bytes; // waiting to be copied; 0 = the textures are whole
    double last_fill_ms;   // time of the last update that copied anything
} LithoVolumeInfo;

LithoVolume *litho_volume_new(void);
// NULL is fine. With GL textures alive the context must be current.
void litho_volume_free(LithoVolume *volume);
// Frees the GL side (context goes away); the parts stay and fill a new context at the next update.
void litho_volume_release(LithoVolume *volume);

// Texture bytes above which slices are used instead of a 3-D texture. 0 = default: half of the
// free memory a NVIDIA driver tells, 1 GiB where nothing is told. Before the first update.
void litho_volume_set_budget(LithoVolume *volume, guint64 bytes);
// Pretends the context's texture limits are this small; for tests. 0 = the real ones.
void litho_volume_set_texture_limit(LithoVolume *volume, int limit);

// Adds a part; references it (never written afterwards). A part on another grid shape, or one that
// covers the whole grid, drops everything before it. Cheap, no GL.
void litho_volume_put(LithoVolume *volume, LithoCube *part);
// A new generation of results begins: what was put before is "stale" from now on, though it stays
// visible. See litho_volume_is_fresh().
void litho_volume_begin(LithoVolume *volume);
// Forgets all parts; nothing is drawn until the next put.
void litho_volume_clear(LithoVolume *volume);

// Brings textures up to date: all of `views` (index boxes, slices on screen), then other parts for
// about `budget_ms` (0 = views only, < 0 = everything). TRUE when nothing is left to do; FALSE =
// call again in the next frame. Failures fall back or leave the old content; the sentence is kept
// in info.why_not.
gboolean litho_volume_update(LithoVolume *volume, const LithoBox *views, guint n_views,
                             double budget_ms);

// Grows whenever the slice of `axis` among the views of the last update may look different. Lines
// where other slices that have arrived cross it are not worth drawing it again while more is to
// come: they count from the next litho_volume_count_lines() on.
guint64 litho_volume_stamp(const LithoVolume *volume, int axis);
void litho_volume_count_lines(LithoVolume *volume);

// Grid of what was put last; NULL before.
const LithoGrid *litho_volume_grid(const LithoVolume *volume);
// TRUE when `box` has been filled (maybe with an older generation).
gboolean litho_volume_has(const LithoVolume *volume, LithoBox box);
// TRUE when `box` has been filled since the last litho_volume_begin().
gboolean litho_volume_is_fresh(const LithoVolume *volume, LithoBox box);
// Reads inline `index` back from its texture into `samples` ([crossline][sample]): what is on the
// card, whatever memory says. FALSE when no texture holds that inline. Needs the context current.
gboolean litho_volume_read_inline(const LithoVolume *volume, gint64 index, float *samples);
void litho_volume_info(const LithoVolume *volume, LithoVolumeInfo *info);
