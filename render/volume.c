// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/volume-gl.h"

#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/run.h"

// The parts put into a volume are kept in order; what a texture should hold is a function of that
// list (later parts on top), so samples may be copied box by box in any order and a slice that
// becomes visible is composed at once. `clean` says where texture and list agree.

enum {
    MAX_PARTS = 64,           // thin parts beyond this are forgotten, oldest first
    MAX_TILES = 24,           // slice textures kept: those on screen and the last few steps
    CHUNK_BYTES = 8 << 20,    // one pixel buffer; about 2 ms of copying
    PIXEL_BUFFERS = 3,        // so that the driver may still read one while the next is written
};
static const guint64 default_budget = G_GUINT64_CONSTANT(1) << 30;

typedef struct Part {
    LithoCube *cube;
    guint64 generation;
} Part;

struct LithoVolume {
    gboolean has_grid;
    LithoGrid grid;
    GArray *parts;        // of Part, oldest first
    guint64 generation;
    GPtrArray *tiles;     // of LithoTile; exactly one in the volume layout
    guint64 clock;
    guint64 budget;
    int limit;            // pretended texture limit, 0 = the real one
    guint8 *live;         // of the whole grid, in rows of LITHO_LIVE_WIDTH
    gint64 live_rows, dead; // dead: traces not live
    gboolean live_dirty;
    guint live_texture;
    guint pixel_buffer[PIXEL_BUFFERS];
    int next_buffer;
    gboolean too_large;   // even slices do not fit: said once
    LithoVolumeInfo info;
};

static Part *part_at(const LithoVolume *volume, guint k)
{
    return &g_array_index(volume->parts, Part, k);
}

static void clear_part(gpointer part)
{
    litho_cube_unref(((Part *)part)->cube);
}

LithoVolume *litho_volume_new(void)
{
    LithoVolume *volume = g_new0(LithoVolume, 1);
    volume->parts = g_array_new(FALSE, TRUE, sizeof(Part));
    g_array_set_clear_func(volume->parts, clear_part);
    volume->tiles = g_ptr_array_new();
    return volume;
}

// --- tiles --------------------------------------------------------------------------------------

static guint64 box_bytes(LithoBox box)
{
    return (guint64)litho_box_count(box) * sizeof(float);
}

static void tile_free(LithoVolume *volume, LithoTile *tile)
{
    if (tile->share)
        tile->share_backend->gl->release(tile->share);
    glDeleteTextures(1, &tile->texture);
    volume->info.texture_bytes -= MIN(volume->info.texture_bytes, box_bytes(tile->box));
    g_free(tile);
}

static void free_tiles(LithoVolume *volume)
{
    for (guint k = 0; k < volume->tiles->len; k++)
        tile_free(volume, g_ptr_array_index(volume->tiles, k));
    g_ptr_array_set_size(volume->tiles, 0);
    volume->info.layout = LITHO_LAYOUT_NONE;
}

static void drain_errors(void)
{
    while (glGetError() != GL_NO_ERROR)
        ;
}

// Rows of a folded tile; its width is the largest power of two the limit allows, 8192 at most.
static void fold_size(const LithoTile *tile, int limit, gint64 *width, gint64 *rows)
{
    *width = MIN(limit, 8192);
    *rows = (litho_box_count(tile->box) + *width - 1) / *width;
}

static void set_nearest(GLenum target)
{
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAX_LEVEL, 0);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

static int texture_limit(const LithoVolume *volume, GLenum what)
{
    GLint limit = 0;
    glGetIntegerv(what, &limit);
    return volume->limit > 0 ? MIN(volume->limit * (what == GL_MAX_TEXTURE_SIZE ? 8 : 1), limit)
                             : limit;
}

static gboolean fits_3d(const LithoVolume *volume, LithoBox box)
{
    int limit = texture_limit(volume, GL_MAX_3D_TEXTURE_SIZE);
    return litho_box_size(box, 0) <= limit && litho_box_size(box, 1) <= limit &&
           litho_box_size(box, 2) <= limit;
}

// A texture for `box`, or NULL when GL has no room for it.
static LithoTile *tile_new(LithoVolume *volume, LithoBox box)
{
    LithoTile *tile = g_new0(LithoTile, 1);
    tile->box = box;
    tile->folded = !fits_3d(volume, box);
    GLenum target = tile->folded ? GL_TEXTURE_2D : GL_TEXTURE_3D;
    gint64 width, rows;
    int limit_2d = texture_limit(volume, GL_MAX_TEXTURE_SIZE);
    fold_size(tile, limit_2d, &width, &rows);
    if (tile->folded && rows > limit_2d) {
        g_snprintf(volume->info.why_not, sizeof volume->info.why_not,
                   "a slice of %" G_GINT64_FORMAT " samples exceeds this OpenGL's texture limit",
                   litho_box_count(box));
        g_free(tile);
        return NULL;
    }
    drain_errors();
    glGenTextures(1, &tile->texture);
    glBindTexture(target, tile->texture);
    set_nearest(target);
    if (tile->folded)
        glTexImage2D(target, 0, GL_R32F, width, rows, 0, GL_RED, GL_FLOAT, NULL);
    else
        glTexImage3D(target, 0, GL_R32F, litho_box_size(box, 2), litho_box_size(box, 1),
                     litho_box_size(box, 0), 0, GL_RED, GL_FLOAT, NULL);
    if (glGetError() != GL_NO_ERROR) {
        glDeleteTextures(1, &tile->texture);
        g_free(tile);
        return NULL;
    }
    volume->info.texture_bytes += box_bytes(box);
    tile->used = ++volume->clock;
    g_ptr_array_add(volume->tiles, tile);
    return tile;
}

#define GPU_MEMORY_AVAILABLE_NVX 0x9049 // kilobytes, GL_NVX_gpu_memory_info

static guint64 budget_of(const LithoVolume *volume)
{
    if (volume->budget > 0)
        return volume->budget;
    GLint kilobytes = 0;
    if (epoxy_has_gl_extension("GL_NVX_gpu_memory_info"))
        glGetIntegerv(GPU_MEMORY_AVAILABLE_NVX, &kilobytes);
    return kilobytes > 0 ? (guint64)kilobytes * 1024 / 2 : default_budget;
}

static void choose_layout(LithoVolume *volume)
{
    if (volume->info.layout != LITHO_LAYOUT_NONE || !volume->has_grid)
        return;
    LithoBox full = litho_box_full(&volume->grid);
    gboolean whole = fits_3d(volume, full) && box_bytes(full) <= budget_of(volume);
    volume->info.layout = LITHO_LAYOUT_SLICES;
    if (whole && tile_new(volume, full))
        volume->info.layout = LITHO_LAYOUT_VOLUME;
}

// The slice a thin box belongs to; FALSE when it is not thin.
static gboolean slice_of(const LithoGrid *grid, LithoBox box, LithoBox *slice)
{
    for (int k = 0; k < 3; k++)
        if (litho_box_size(box, k) == 1) {
            *slice = litho_box_slice(grid, k, box.lo[k]);
            return TRUE;
        }
    return FALSE;
}

static LithoTile *find_tile(const LithoVolume *volume, LithoBox box)
{
    for (guint k = 0; k < volume->tiles->len; k++) {
        LithoTile *tile = g_ptr_array_index(volume->tiles, k);
        if (litho_box_contains(tile->box, box))
            return tile;
    }
    return NULL;
}

static void drop_oldest_tile(LithoVolume *volume)
{
    guint oldest = 0;
    for (guint k = 1; k < volume->tiles->len; k++) {
        LithoTile *a = g_ptr_array_index(volume->tiles, k);
        LithoTile *b = g_ptr_array_index(volume->tiles, oldest);
        if (a->used < b->used)
            oldest = k;
    }
    tile_free(volume, g_ptr_array_index(volume->tiles, oldest));
    g_ptr_array_remove_index_fast(volume->tiles, oldest);
}

// The tile that view `box` is drawn from, made when there is none yet.
static LithoTile *tile_for(LithoVolume *volume, LithoBox box)
{
    LithoTile *tile = find_tile(volume, box);
    LithoBox slice;
    if (!tile && volume->info.layout == LITHO_LAYOUT_SLICES &&
        slice_of(&volume->grid, box, &slice)) {
        if (volume->tiles->len >= MAX_TILES)
            drop_oldest_tile(volume);
        tile = tile_new(volume, slice);
    }
    if (tile)
        tile->used = ++volume->clock;
    return tile;
}

// --- copying ------------------------------------------------------------------------------------

// Samples of `box` in texture order (inline, crossline, sample) from a host cube.
static void gather(const LithoCube *cube, LithoBox box, float *to)
{
    gint64 ns = litho_box_size(box, 2), skip = box.lo[2] - cube->held.lo[2];
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++) {
        const float *from = litho_cube_trace(cube, i, box.lo[1]) + skip;
        gint64 stride = litho_box_size(cube->held, 2);
        if (ns == 1) {
            for (gint64 j = box.lo[1]; j < box.hi[1]; j++, from += stride)
                *to++ = *from;
            continue;
        }
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++, from += stride, to += ns)
            memcpy(to, from, ns * sizeof *to);
    }
}

// A mapped pixel buffer of `bytes`, bound to GL_PIXEL_UNPACK_BUFFER; NULL when GL has no memory.
static float *map_pixels(LithoVolume *volume, gsize bytes)
{
    volume->next_buffer = (volume->next_buffer + 1) % PIXEL_BUFFERS;
    if (!volume->pixel_buffer[0])
        glGenBuffers(PIXEL_BUFFERS, volume->pixel_buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, volume->pixel_buffer[volume->next_buffer]);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, bytes, NULL, GL_STREAM_DRAW); // new storage: no waiting
    return glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, bytes,
                            GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
}

static void reset_unpack(void)
{
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 0);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 0);
}

static void copy_chunk(LithoVolume *volume, LithoTile *tile, const LithoCube *cube, LithoBox box)
{
    gsize bytes = box_bytes(box);
    float *pixels = map_pixels(volume, bytes);
    if (pixels) {
        gather(cube, box, pixels);
        glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
        glTexSubImage3D(GL_TEXTURE_3D, 0, box.lo[2] - tile->box.lo[2], box.lo[1] - tile->box.lo[1],
                        box.lo[0] - tile->box.lo[0], litho_box_size(box, 2), litho_box_size(box, 1),
                        litho_box_size(box, 0), GL_RED, GL_FLOAT, NULL);
        volume->info.host_bytes += bytes;
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

// Splits along the longest of inline and crossline until a piece fits a pixel buffer.
static void copy_host(LithoVolume *volume, LithoTile *tile, const LithoCube *cube, LithoBox box)
{
    int axis = litho_box_size(box, 0) > 1 ? 0 : 1;
    if (box_bytes(box) <= CHUNK_BYTES || litho_box_size(box, axis) == 1) {
        copy_chunk(volume, tile, cube, box);
        return;
    }
    gint64 middle = (box.lo[axis] + box.hi[axis]) / 2;
    LithoBox first = box, second = box;
    first.hi[axis] = second.lo[axis] = middle;
    copy_host(volume, tile, cube, first);
    copy_host(volume, tile, cube, second);
}

// A folded texture has no boxes: whole rows of the linear order are written, run by run.
static void copy_folded(LithoVolume *volume, LithoTile *tile, const LithoCube *cube, LithoBox box)
{
    gint64 width, rows, nj = litho_box_size(tile->box, 1), nk = litho_box_size(tile->box, 2);
    fold_size(tile, texture_limit(volume, GL_MAX_TEXTURE_SIZE), &width, &rows);
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++) {
            const float *from = litho_cube_trace(cube, i, j) + (box.lo[2] - cube->held.lo[2]);
            gint64 at = ((i - tile->box.lo[0]) * nj + (j - tile->box.lo[1])) * nk +
                        (box.lo[2] - tile->box.lo[2]);
            for (gint64 left = litho_box_size(box, 2); left > 0;) {
                gint64 run = MIN(left, width - at % width);
                glTexSubImage2D(GL_TEXTURE_2D, 0, at % width, at / width, run, 1, GL_RED, GL_FLOAT,
                                from);
                at += run;
                from += run;
                left -= run;
            }
        }
    volume->info.host_bytes += box_bytes(box);
}

// Device to device; FALSE = not possible, go through the host.
static gboolean copy_shared(LithoVolume *volume, LithoTile *tile, const LithoCube *cube)
{
    const LithoBuffer *buffer = cube->device;
    if (!buffer || !buffer->backend->gl || tile->folded ||
        !litho_box_contains(tile->box, cube->held))
        return FALSE;
    g_autoptr(GError) error = NULL;
    if (tile->share && tile->share_backend != buffer->backend) {
        tile->share_backend->gl->release(tile->share);
        tile->share = NULL;
        tile->share_refused = FALSE;
    }
    if (!tile->share && !tile->share_refused) {
        tile->share_backend = buffer->backend;
        tile->share = buffer->backend->gl->acquire(buffer->device, tile->texture, &error);
    }
    const LithoBox *b = &cube->held;
    gint64 at[3], count[3];
    for (int k = 0; k < 3; k++) { // texel order: sample, crossline, inline
        at[k] = b->lo[2 - k] - tile->box.lo[2 - k];
        count[k] = b->hi[2 - k] - b->lo[2 - k];
    }
    if (tile->share && buffer->backend->gl->fill(tile->share, buffer, at, count, &error)) {
        volume->info.shared_bytes += box_bytes(*b);
        volume->info.shared = TRUE;
        return TRUE;
    }
    tile->share_refused = TRUE; // asked once a texture, not once a frame
    if (error)
        g_strlcpy(volume->info.why_not, error->message, sizeof volume->info.why_not);
    return FALSE;
}

static gboolean can_share(const LithoTile *tile, const LithoCube *cube)
{
    return cube->device && cube->device->backend->gl && !tile->folded && !tile->share_refused &&
           litho_box_contains(tile->box, cube->held);
}

// Samples of one part inside `box`. Returns what was written, which is the part's whole box when it
// went device to device; empty on failure.
static LithoBox copy_part(LithoVolume *volume, LithoTile *tile, const LithoCube *cube,
                          LithoBox box)
{
    if (can_share(tile, cube) && copy_shared(volume, tile, cube))
        return cube->held;
    g_autoptr(GError) error = NULL;
    if (!litho_cube_host(cube, &error)) {
        g_strlcpy(volume->info.why_not, error->message, sizeof volume->info.why_not);
        return (LithoBox){0};
    }
    volume->info.shared = FALSE;
    if (tile->folded)
        copy_folded(volume, tile, cube, box);
    else
        copy_host(volume, tile, cube, box);
    return box;
}

static void mark(LithoTile *tile, LithoBox box, gboolean fresh)
{
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
    reset_unpack();
    for (guint k = base > 0 ? base - 1 : 0; k < volume->parts->len; k++) {
        Part *part = part_at(volume, k);
        LithoCover now = touched;
        for (guint t = 0; t < now.n; t++) {
            LithoBox wanted = litho_box_intersect(now.box[t], part->cube->held);
            if (litho_box_empty(wanted))
                continue;
            LithoBox wrote = copy_part(volume, tile, part->cube, wanted);
            if (litho_box_empty(wrote))
                continue;
            mark(tile, wrote, part->generation == volume->generation);
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
    set_nearest(GL_TEXTURE_2D);
    reset_unpack();
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, LITHO_LIVE_WIDTH, volume->live_rows, 0, GL_RED,
                 GL_UNSIGNED_BYTE, volume->live);
    volume->live_dirty = FALSE;
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
    volume->live_rows = (traces + LITHO_LIVE_WIDTH - 1) / LITHO_LIVE_WIDTH;
    volume->live = g_malloc(volume->live_rows * LITHO_LIVE_WIDTH);
    memset(volume->live, 255, volume->live_rows * LITHO_LIVE_WIDTH);
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
    Part part = {litho_cube_ref(cube), volume->generation};
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
    volume->too_large = FALSE;
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
            free_tiles(volume);
            return;
        }
    }
    if (!volume->has_grid)
        volume->info.layout = LITHO_LAYOUT_NONE;
}

// What the parts hold and the tile does not, as boxes.
static LithoCover pending(const LithoVolume *volume, const LithoTile *tile)
{
    LithoCover todo = {0};
    for (guint k = 0; k < volume->parts->len; k++)
        litho_cover_add(&todo, litho_box_intersect(part_at(volume, k)->cube->held, tile->box));
    for (guint k = 0; k < tile->clean.n; k++)
        litho_cover_subtract(&todo, tile->clean.box[k]);
    return todo;
}

// A box of the newest part that the tile does not show yet. Newest first: a part is then never
// composed together with all that lies below it.
static gboolean next_pending(const LithoVolume *volume, const LithoTile *tile, LithoBox *box)
{
    for (guint p = volume->parts->len; p-- > 0;) {
        LithoCover rest = {.n = 1, .box = {litho_box_intersect(part_at(volume, p)->cube->held,
                                                               tile->box)}};
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
        bytes += box_bytes(cover->box[k]);
    return bytes;
}

// The first inlines of a box that make about 2 MiB: a step of a millisecond.
static LithoBox first_chunk(LithoBox box)
{
    LithoBox one = box;
    one.hi[0] = one.lo[0] + 1;
    gint64 lines = MAX((gint64)(CHUNK_BYTES / 4 / MAX(box_bytes(one), 1)), 1);
    box.hi[0] = MIN(box.hi[0], box.lo[0] + lines);
    return box;
}

static gboolean update_views(LithoVolume *volume, const LithoBox *views, guint n_views)
{
    gboolean copied = FALSE;
    for (guint v = 0; v < n_views; v++) {
        LithoTile *tile = tile_for(volume, views[v]);
        if (!tile || litho_cover_contains(&tile->clean, views[v]))
            continue;
        if (pending(volume, tile).n == 0)
            continue;
        // Whole, also where a part of it is clean: it is then drawn in one piece. In the slices
        // layout the whole slice: scrolling in it costs nothing later.
        compose(volume, tile,
                volume->info.layout == LITHO_LAYOUT_SLICES ? tile->box : views[v]);
        copied = TRUE;
    }
    return copied;
}

gboolean litho_volume_update(LithoVolume *volume, const LithoBox *views, guint n_views,
                             double budget_ms)
{
    double start = litho_now_ms();
    drop_foreign_tiles(volume);
    if (!volume->has_grid)
        return TRUE;
    choose_layout(volume);
    update_live(volume);
    gboolean copied = update_views(volume, views, n_views);
    LithoCover todo = {0};
    if (volume->info.layout == LITHO_LAYOUT_VOLUME) {
        LithoTile *tile = g_ptr_array_index(volume->tiles, 0);
        LithoBox box, last = {0};
        while ((budget_ms < 0 || litho_now_ms() - start < budget_ms) &&
               next_pending(volume, tile, &box) && !litho_box_equal(box, last)) {
            compose(volume, tile, first_chunk(box));
            copied = TRUE;
            last = box; // the same again: no samples to be had; the sentence is in why_not
        }
        todo = pending(volume, tile);
    }
    volume->info.pending_bytes = cover_bytes(&todo);
    if (copied)
        volume->info.last_fill_ms = litho_now_ms() - start;
    return todo.n == 0;
}

void litho_volume_release(LithoVolume *volume)
{
    free_tiles(volume);
    if (volume->live_texture)
        glDeleteTextures(1, &volume->live_texture);
    volume->live_texture = 0;
    volume->live_dirty = TRUE;
    if (volume->pixel_buffer[0])
        glDeleteBuffers(PIXEL_BUFFERS, volume->pixel_buffer);
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
    LithoTile *tile = find_tile(volume, box);
    return tile && litho_cover_contains(&tile->has, box);
}

gboolean litho_volume_is_fresh(const LithoVolume *volume, LithoBox box)
{
    LithoTile *tile = find_tile(volume, box);
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
    LithoTile *tile = find_tile(volume, litho_box_slice(&volume->grid, axis, index));
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
