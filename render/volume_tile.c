// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/text.h"
#include "render/volume_gl.h"

#include <epoxy/gl.h>
#include <string.h>

// Textures of a volume and how samples get into them.

enum {
    MAX_TILES = 24,        // slice textures kept: those on screen and the last few steps
    CHUNK_BYTES = 8 << 20, // one pixel buffer; about 2 ms of copying
};
static const guint64 default_budget = G_GUINT64_CONSTANT(1) << 30;

// --- tiles --------------------------------------------------------------------------------------

guint64 litho_box_bytes(LithoBox box)
{
    return (guint64)litho_box_count(box) * sizeof(float);
}

static void tile_free(LithoVolume *volume, LithoTile *tile)
{
    if (tile->share)
        tile->share_backend->gl->release(tile->share);
    glDeleteTextures(1, &tile->texture);
    volume->info.texture_bytes -= MIN(volume->info.texture_bytes, litho_box_bytes(tile->box));
    g_free(tile);
}

void litho_tiles_free(LithoVolume *volume)
{
    for (guint k = 0; k < volume->tiles->len; k++)
        tile_free(volume, g_ptr_array_index(volume->tiles, k));
    g_ptr_array_set_size(volume->tiles, 0);
    volume->info.layout = LITHO_LAYOUT_NONE;
    volume->stamp_of_all++;
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

void litho_tile_set_nearest(GLenum target)
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
                   _("a slice of %" PRId64 " samples exceeds this OpenGL's texture limit"),
                   litho_box_count(box));
        g_free(tile);
        return NULL;
    }
    drain_errors();
    glGenTextures(1, &tile->texture);
    glBindTexture(target, tile->texture);
    litho_tile_set_nearest(target);
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
    volume->info.texture_bytes += litho_box_bytes(box);
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

void litho_tile_choose_layout(LithoVolume *volume)
{
    if (volume->info.layout != LITHO_LAYOUT_NONE || !volume->has_grid)
        return;
    LithoBox full = litho_box_full(&volume->grid);
    gboolean whole = fits_3d(volume, full) && litho_box_bytes(full) <= budget_of(volume);
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

LithoTile *litho_tile_find(const LithoVolume *volume, LithoBox box)
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
LithoTile *litho_tile_for(LithoVolume *volume, LithoBox box)
{
    LithoTile *tile = litho_tile_find(volume, box);
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
    volume->next_buffer = (volume->next_buffer + 1) % LITHO_PIXEL_BUFFERS;
    if (!volume->pixel_buffer[0])
        glGenBuffers(LITHO_PIXEL_BUFFERS, volume->pixel_buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, volume->pixel_buffer[volume->next_buffer]);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, bytes, NULL, GL_STREAM_DRAW); // new storage: no waiting
    return glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, bytes,
                            GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
}

void litho_tile_reset_unpack(void)
{
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 0);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 0);
}

// Through a pixel buffer, or from our own memory where GL has none to map or has lost what it
// mapped. FALSE: nothing is copied.
static gboolean copy_chunk(LithoVolume *volume, LithoTile *tile, const LithoCube *cube,
                           LithoBox box)
{
    const gsize bytes = litho_box_bytes(box);
    g_autofree float *own = NULL;
    float *pixels = map_pixels(volume, bytes);
    if (pixels)
        gather(cube, box, pixels);
    if (!pixels || !glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER)) {
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        own = g_try_malloc(bytes);
        if (!own)
            return FALSE;
        gather(cube, box, own);
    }
    glTexSubImage3D(GL_TEXTURE_3D, 0, box.lo[2] - tile->box.lo[2], box.lo[1] - tile->box.lo[1],
                    box.lo[0] - tile->box.lo[0], litho_box_size(box, 2), litho_box_size(box, 1),
                    litho_box_size(box, 0), GL_RED, GL_FLOAT, own);
    volume->info.host_bytes += bytes;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return TRUE;
}

// Splits along the longest of inline and crossline until a piece fits a pixel buffer.
static gboolean copy_host(LithoVolume *volume, LithoTile *tile, const LithoCube *cube, LithoBox box)
{
    int axis = litho_box_size(box, 0) > 1 ? 0 : 1;
    if (litho_box_bytes(box) <= CHUNK_BYTES || litho_box_size(box, axis) == 1)
        return copy_chunk(volume, tile, cube, box);
    gint64 middle = (box.lo[axis] + box.hi[axis]) / 2;
    LithoBox first = box, second = box;
    first.hi[axis] = second.lo[axis] = middle;
    return copy_host(volume, tile, cube, first) && copy_host(volume, tile, cube, second);
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
    volume->info.host_bytes += litho_box_bytes(box);
}

// Forgets the handle of another device than the buffer's, or its refusal.
static void turn_to(LithoTile *tile, const LithoBuffer *buffer)
{
    if (tile->share_backend == buffer->backend && tile->share_device == buffer->device)
        return;
    if (tile->share)
        tile->share_backend->gl->release(tile->share);
    tile->share = NULL;
    tile->share_refused = FALSE;
    tile->share_backend = buffer->backend;
    tile->share_device = buffer->device;
}

// Device to device; FALSE = not possible, go through the host.
static gboolean copy_shared(LithoVolume *volume, LithoTile *tile, const LithoCube *cube)
{
    const LithoBuffer *buffer = cube->device;
    if (!buffer || !buffer->backend->gl || tile->folded ||
        !litho_box_contains(tile->box, cube->held))
        return FALSE;
    g_autoptr(GError) error = NULL;
    turn_to(tile, buffer);
    if (tile->share_refused)
        return FALSE;
    if (!tile->share)
        tile->share = buffer->backend->gl->acquire(buffer->device, tile->texture, &error);
    const LithoBox *b = &cube->held;
    gint64 at[3], count[3];
    for (int k = 0; k < 3; k++) { // texel order: sample, crossline, inline
        at[k] = b->lo[2 - k] - tile->box.lo[2 - k];
        count[k] = b->hi[2 - k] - b->lo[2 - k];
    }
    if (tile->share && buffer->backend->gl->fill(tile->share, buffer, at, count, &error)) {
        volume->info.shared_bytes += litho_box_bytes(*b);
        volume->info.shared = TRUE;
        return TRUE;
    }
    tile->share_refused = TRUE; // asked once a texture, not once a frame
    if (error)
        g_strlcpy(volume->info.why_not, error->message, sizeof volume->info.why_not);
    return FALSE;
}

void litho_tile_flush(LithoVolume *volume, LithoTile *tile)
{
    g_autoptr(GError) error = NULL;
    if (tile->share && !tile->share_backend->gl->flush(tile->share, &error))
        g_strlcpy(volume->info.why_not, error->message, sizeof volume->info.why_not);
}

// Samples of one part inside `box`. Returns what was written, which is the part's whole box when it
// went device to device; empty on failure.
LithoBox litho_tile_copy(LithoVolume *volume, LithoTile *tile, const LithoCube *cube, LithoBox box)
{
    if (copy_shared(volume, tile, cube))
        return cube->held;
    g_autoptr(GError) error = NULL;
    if (!litho_cube_host(cube, &error)) {
        g_strlcpy(volume->info.why_not, error->message, sizeof volume->info.why_not);
        return (LithoBox){0};
    }
    volume->info.shared = FALSE;
    litho_tile_flush(volume, tile); // parts below have come from the device
    if (tile->folded)
        copy_folded(volume, tile, cube, box);
    else if (!copy_host(volume, tile, cube, box))
        return (LithoBox){0}; // it stays dirty, and is tried again
    return box;
}
