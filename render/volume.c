// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/volume_gl.h"

#include <epoxy/gl.h>
#include <string.h>

#include "core/error.h"
#include "core/run.h"

// The parts put into a volume are kept in order; what a texture should hold is a function of that
// list (later parts on top), so samples may be copied box by box in any order and a slice that
// becomes visible is composed at once. `clean` says where texture and list agree.

enum {
    MAX_PARTS = 64,       // thin parts beyond this are forgotten, oldest first
    STEP_BYTES = 2 << 20, // copied between two looks at the clock; about half a millisecond
};

static LithoPart *part_at(const LithoVolume *volume, guint k)
{
    return &g_array_index(volume->parts, LithoPart, k);
}

static void clear_part(gpointer part)
{
    litho_cube_unref(((LithoPart *)part)->cube);
}

LithoVolume *litho_volume_new(void)
{
    LithoVolume *volume = g_new0(LithoVolume, 1);
    volume->parts = g_array_new(FALSE, TRUE, sizeof(LithoPart));
    g_array_set_clear_func(volume->parts, clear_part);
    volume->tiles = g_ptr_array_new();
    return volume;
}

// --- composing ----------------------------------------------------------------------------------

// Samples in `box` may be others now.
static void stamp(LithoVolume *volume, LithoBox box)
{
    for (int a = 0; a < 3; a++) {
        LithoBox common = litho_box_intersect(box, volume->watch[a]);
        gboolean line = FALSE;
        if (litho_box_empty(common))
            continue;
        for (int b = 0; b < 3; b++)
            line = line || (b != a && litho_box_size(common, b) == 1 &&
                            litho_box_size(volume->watch[a], b) > 1);
        if (line)
            volume->lines[a] = TRUE;
        else
            volume->stamp[a]++;
    }
}

static void mark(LithoVolume *volume, LithoTile *tile, LithoBox box, gboolean fresh)
{
    stamp(volume, box);
    litho_cover_add(&tile->has, box);
    litho_cover_add(&tile->clean, box);
    if (fresh)
        litho_cover_add(&tile->fresh, box);
    else
        litho_cover_subtract(&tile->fresh, box);
}

// Composes `box` of the tile from the parts: from the topmost that covers all of it upwards. A part
// that went device to device may have overwritten more than `box`; the parts above repair that.
static void compose(LithoVolume *volume, LithoTile *tile, LithoBox box)
{
    box = litho_box_intersect(box, tile->box);
    LithoCover touched = {.n = 1, .box = {box}};
    guint base = volume->parts->len;
    while (base > 0 && !litho_box_contains(part_at(volume, base - 1)->cube->held, box))
        base--;
    glBindTexture(tile->folded ? GL_TEXTURE_2D : GL_TEXTURE_3D, tile->texture);
    litho_tile_reset_unpack();
    for (guint k = base > 0 ? base - 1 : 0; k < volume->parts->len; k++) {
        LithoPart *part = part_at(volume, k);
        LithoCover now = touched;
        for (guint t = 0; t < now.n; t++) {
            LithoBox wanted = litho_box_intersect(now.box[t], part->cube->held);
            if (litho_box_empty(wanted))
                continue;
            LithoBox wrote = litho_tile_copy(volume, tile, part->cube, wanted);
            if (litho_box_empty(wrote))
                continue;
            mark(volume, tile, wrote, part->generation == volume->generation);
            litho_cover_add(&touched, wrote);
        }
    }
}

// --- live mask ----------------------------------------------------------------------------------

static void update_live(LithoVolume *volume)
{
    if (!volume->live_dirty || !volume->live)
        return;
    gboolean made = volume->live_texture == 0;
    if (made)
        glGenTextures(1, &volume->live_texture);
    glBindTexture(GL_TEXTURE_2D, volume->live_texture);
    litho_tile_set_nearest(GL_TEXTURE_2D);
    litho_tile_reset_unpack();
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, volume->live_width, volume->live_rows, 0, GL_RED,
                 GL_UNSIGNED_BYTE, volume->live);
    volume->live_dirty = FALSE;
    volume->stamp_of_all++;
}

static void merge_live(LithoVolume *volume, const LithoCube *cube)
{
    const LithoBox *b = &cube->held;
    gint64 nj = volume->grid.axis[1].n;
    const guint8 *from = cube->live;
    for (gint64 i = b->lo[0]; i < b->hi[0]; i++)
        for (gint64 j = b->lo[1]; j < b->hi[1]; j++, from++) {
            guint8 value = *from ? 255 : 0, *to = &volume->live[i * nj + j];
            volume->live_dirty |= *to != value;
            volume->dead += (*to != 0) - (value != 0);
            *to = value;
        }
}

static void new_live(LithoVolume *volume)
{
    gint64 traces = litho_grid_traces(&volume->grid);
    g_free(volume->live);
    volume->live_width = traces > (gint64)LITHO_LIVE_WIDTH * LITHO_LIVE_WIDEST ? LITHO_LIVE_WIDEST
                                                                               : LITHO_LIVE_WIDTH;
    volume->live_rows = (traces + volume->live_width - 1) / volume->live_width;
    volume->live = g_malloc(volume->live_rows * volume->live_width);
    memset(volume->live, 255, volume->live_rows * volume->live_width);
    volume->live_dirty = TRUE;
    volume->dead = 0;
}

// --- putting and updating -----------------------------------------------------------------------

static gboolean is_whole(const LithoVolume *volume, LithoBox box)
{
    return litho_box_contains(box, litho_box_full(&volume->grid));
}

// Forgets parts hidden under a new one; beyond MAX_PARTS the oldest thin one.
static void drop_hidden(LithoVolume *volume, LithoBox box)
{
    for (guint k = volume->parts->len; k-- > 0;)
        if (litho_box_contains(box, part_at(volume, k)->cube->held))
            g_array_remove_index(volume->parts, k);
    for (guint k = 0; volume->parts->len >= MAX_PARTS && k < volume->parts->len; k++)
        if (!is_whole(volume, part_at(volume, k)->cube->held)) {
            g_array_remove_index(volume->parts, k);
            break;
        }
}

void litho_volume_put(LithoVolume *volume, LithoCube *cube)
{
    if (!volume->has_grid || !litho_grid_same_shape(&volume->grid, &cube->grid)) {
        litho_volume_clear(volume);
        volume->grid = cube->grid;
        volume->has_grid = TRUE;
        new_live(volume);
    }
    volume->grid = cube->grid; // same shape; axes may have been corrected
    LithoPart part = {litho_cube_ref(cube), volume->generation};
    drop_hidden(volume, cube->held);
    g_array_append_val(volume->parts, part);
    merge_live(volume, cube);
    for (guint k = 0; k < volume->tiles->len; k++) {
        LithoTile *tile = g_ptr_array_index(volume->tiles, k);
        litho_cover_subtract(&tile->clean, cube->held);
        litho_cover_subtract(&tile->fresh, cube->held);
    }
}

void litho_volume_begin(LithoVolume *volume)
{
    volume->generation++;
    for (guint k = 0; k < volume->tiles->len; k++)
        litho_cover_clear(&((LithoTile *)g_ptr_array_index(volume->tiles, k))->fresh);
}

void litho_volume_clear(LithoVolume *volume)
{
    g_array_set_size(volume->parts, 0);
    volume->has_grid = FALSE;
    volume->stamp_of_all++;
    volume->info.pending_bytes = 0;
    // Textures are GL's: they go at the next update, until then they hold nothing.
    for (guint k = 0; k < volume->tiles->len; k++) {
        LithoTile *tile = g_ptr_array_index(volume->tiles, k);
        litho_cover_clear(&tile->has);
        litho_cover_clear(&tile->clean);
        litho_cover_clear(&tile->fresh);
        tile->used = 0;
    }
}

// Tiles of a former shape are of no use.
static void drop_foreign_tiles(LithoVolume *volume)
{
    LithoBox full = volume->has_grid ? litho_box_full(&volume->grid) : (LithoBox){0};
    for (guint k = 0; k < volume->tiles->len; k++) {
        LithoTile *tile = g_ptr_array_index(volume->tiles, k), *first = tile;
        gboolean fits = volume->info.layout == LITHO_LAYOUT_VOLUME
                            ? litho_box_equal(first->box, full)
                            : tile->used != 0;
        if (!fits) {
            litho_tiles_free(volume);
            return;
        }
    }
    if (!volume->has_grid)
        volume->info.layout = LITHO_LAYOUT_NONE;
}

// Boxes that the parts hold and the tile does not.
static LithoCover pending(const LithoVolume *volume, const LithoTile *tile)
{
    LithoCover missing = {0};
    for (guint k = 0; k < volume->parts->len; k++)
        litho_cover_add(&missing, litho_box_intersect(part_at(volume, k)->cube->held, tile->box));
    for (guint k = 0; k < tile->clean.n; k++)
        litho_cover_subtract(&missing, tile->clean.box[k]);
    return missing;
}

// A box of the newest part that the tile does not show yet. Newest first: a part is then never
// composed together with all that lies below it.
static gboolean next_pending(const LithoVolume *volume, const LithoTile *tile, LithoBox *box)
{
    for (guint p = volume->parts->len; p-- > 0;) {
        LithoCover rest = {.n = 1,
                           .box = {litho_box_intersect(part_at(volume, p)->cube->held, tile->box)}};
        if (litho_box_empty(rest.box[0]))
            continue;
        for (guint k = 0; k < tile->clean.n && rest.n > 0; k++)
            litho_cover_subtract(&rest, tile->clean.box[k]);
        if (rest.n > 0) {
            *box = rest.box[0];
            return TRUE;
        }
    }
    return FALSE;
}

static guint64 cover_bytes(const LithoCover *cover)
{
    guint64 bytes = 0;
    for (guint k = 0; k < cover->n; k++)
        bytes += litho_box_bytes(cover->box[k]);
    return bytes;
}

// The first inlines of a box that make about 2 MiB: a step of a millisecond.
static LithoBox first_chunk(LithoBox box)
{
    LithoBox one = box;
    one.hi[0] = one.lo[0] + 1;
    gint64 lines = MAX((gint64)(STEP_BYTES / MAX(litho_box_bytes(one), 1)), 1);
    box.hi[0] = MIN(box.hi[0], box.lo[0] + lines);
    return box;
}

static gboolean update_views(LithoVolume *volume, const LithoBox *views, guint n_views)
{
    gboolean copied = FALSE;
    for (guint v = 0; v < n_views; v++) {
        LithoTile *tile = litho_tile_for(volume, views[v]);
        if (!tile || litho_cover_contains(&tile->clean, views[v]))
            continue;
        if (pending(volume, tile).n == 0)
            continue;
        copied = TRUE;
        // In the slices layout the whole slice: scrolling in it costs nothing later.
        if (volume->info.layout == LITHO_LAYOUT_SLICES) {
            compose(volume, tile, tile->box);
            continue;
        }
        // A slice that is there lacks a line only where another slice of a newer result cuts it.
        LithoCover rest = {.n = 1, .box = {views[v]}};
        for (guint k = 0; k < tile->clean.n && rest.n > 0; k++)
            litho_cover_subtract(&rest, tile->clean.box[k]);
        // Whole, also where a part of it is clean, when it was not there: it is then drawn in one
        // piece.
        if (!litho_cover_contains(&tile->has, views[v]))
            rest = (LithoCover){.n = 1, .box = {views[v]}};
        for (guint k = 0; k < rest.n; k++)
            compose(volume, tile, rest.box[k]);
    }
    return copied;
}

// Slices by the axis along which they are flat. On a line or in a single time slice a section is
// flat along two axes: it counts for both, since the axis that it is a slice of cannot be told.
static void set_watch(LithoVolume *volume, const LithoBox *views, guint n_views)
{
    LithoBox watch[3] = {{{0}}};
    for (guint v = 0; v < n_views; v++)
        for (int a = 0; a < 3; a++)
            if (litho_box_size(views[v], a) == 1)
                watch[a] = litho_box_union(watch[a], views[v]);
    for (int a = 0; a < 3; a++) {
        if (!litho_box_equal(watch[a], volume->watch[a]))
            volume->stamp[a]++;
        volume->watch[a] = watch[a];
    }
}

guint64 litho_volume_stamp(const LithoVolume *volume, int axis)
{
    return volume->stamp_of_all + volume->stamp[axis];
}

void litho_volume_count_lines(LithoVolume *volume)
{
    for (int a = 0; a < 3; a++) {
        volume->stamp[a] += volume->lines[a];
        volume->lines[a] = FALSE;
    }
}

gboolean litho_volume_update(LithoVolume *volume, const LithoBox *views, guint n_views,
                             double budget_ms)
{
    double start = litho_now_ms();
    drop_foreign_tiles(volume);
    set_watch(volume, views, n_views);
    if (!volume->has_grid)
        return TRUE;
    litho_tile_choose_layout(volume);
    update_live(volume);
    gboolean copied = update_views(volume, views, n_views);
    LithoCover missing = {0};
    if (volume->info.layout == LITHO_LAYOUT_VOLUME) {
        LithoTile *tile = g_ptr_array_index(volume->tiles, 0);
        LithoBox box, last = {0};
        while ((budget_ms < 0 || litho_now_ms() - start < budget_ms) &&
               next_pending(volume, tile, &box) && !litho_box_equal(box, last)) {
            compose(volume, tile, first_chunk(box));
            copied = TRUE;
            last = box; // the same again: no samples to be had; the sentence is in why_not
        }
        missing = pending(volume, tile);
    }
    for (guint k = 0; k < volume->tiles->len; k++)
        litho_tile_flush(volume, g_ptr_array_index(volume->tiles, k));
    volume->info.pending_bytes = cover_bytes(&missing);
    if (copied)
        volume->info.last_fill_ms = litho_now_ms() - start;
    return missing.n == 0;
}

void litho_volume_release(LithoVolume *volume)
{
    litho_tiles_free(volume);
    if (volume->live_texture)
        glDeleteTextures(1, &volume->live_texture);
    volume->live_texture = 0;
    volume->live_dirty = TRUE;
    if (volume->pixel_buffer[0])
        glDeleteBuffers(LITHO_PIXEL_BUFFERS, volume->pixel_buffer);
    memset(volume->pixel_buffer, 0, sizeof volume->pixel_buffer);
}

void litho_volume_free(LithoVolume *volume)
{
    if (!volume)
        return;
    if (volume->tiles->len > 0 || volume->live_texture)
        litho_volume_release(volume);
    g_ptr_array_unref(volume->tiles);
    g_array_unref(volume->parts);
    g_free(volume->live);
    g_free(volume);
}

// --- asking -------------------------------------------------------------------------------------

void litho_volume_set_budget(LithoVolume *volume, guint64 bytes)
{
    volume->budget = bytes;
}

void litho_volume_set_texture_limit(LithoVolume *volume, int limit)
{
    volume->limit = limit;
}

const LithoGrid *litho_volume_grid(const LithoVolume *volume)
{
    return volume->has_grid ? &volume->grid : NULL;
}

gboolean litho_volume_has(const LithoVolume *volume, LithoBox box)
{
    LithoTile *tile = litho_tile_find(volume, box);
    return tile && litho_cover_contains(&tile->has, box);
}

gboolean litho_volume_is_fresh(const LithoVolume *volume, LithoBox box)
{
    LithoTile *tile = litho_tile_find(volume, box);
    return tile && litho_cover_contains(&tile->fresh, box);
}

void litho_volume_info(const LithoVolume *volume, LithoVolumeInfo *info)
{
    *info = volume->info;
}

const LithoTile *litho_volume_tile(const LithoVolume *volume, int axis, gint64 index)
{
    if (!volume->has_grid)
        return NULL;
    LithoTile *tile = litho_tile_find(volume, litho_box_slice(&volume->grid, axis, index));
    return tile && tile->has.n > 0 ? tile : NULL;
}

guint litho_volume_live_texture(const LithoVolume *volume)
{
    return volume->live_texture;
}

gboolean litho_volume_is_masked(const LithoVolume *volume)
{
    return volume->dead > 0;
}
