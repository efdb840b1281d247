// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/frame_cache.h"
#include "render/renderer_gl.h"

#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

struct LithoFrameCache {
    guint framebuffer, colour, depth;
    GLsync fence;      // after what was started last, or NULL
    int width, height; // device pixels
    GLint outer;       // framebuffer that was bound at begin()
    gboolean known[LITHO_FRAME_VIEWS];
    guint64 hash[LITHO_FRAME_VIEWS];
};

LithoFrameCache *litho_frame_cache_new(void)
{
    return g_new0(LithoFrameCache, 1);
}

static void drop(LithoFrameCache *cache)
{
    if (cache->fence)
        glDeleteSync(cache->fence);
    cache->fence = NULL;
    if (cache->framebuffer == 0)
        return;
    glDeleteFramebuffers(1, &cache->framebuffer);
    glDeleteRenderbuffers(1, &cache->colour);
    glDeleteRenderbuffers(1, &cache->depth);
    cache->framebuffer = 0;
}

void litho_frame_cache_free(LithoFrameCache *cache)
{
    if (!cache)
        return;
    drop(cache);
    g_free(cache);
}

static void make(LithoFrameCache *cache, int width, int height)
{
    drop(cache);
    cache->width = width;
    cache->height = height;
    glGenFramebuffers(1, &cache->framebuffer);
    glGenRenderbuffers(1, &cache->colour);
    glGenRenderbuffers(1, &cache->depth);
    glBindRenderbuffer(GL_RENDERBUFFER, cache->colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, cache->depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, width, height);
    glBindRenderbuffer(GL_RENDERBUFFER, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, cache->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, cache->colour);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, cache->depth);
}

gboolean litho_frame_cache_begin(LithoFrameCache *cache, const LithoTarget *target)
{
    int width = MAX((int)lrint(target->width * target->scale), 1);
    int height = MAX((int)lrint(target->height * target->scale), 1);
    gboolean fresh = cache->framebuffer == 0 || width != cache->width || height != cache->height;
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &cache->outer);
    if (fresh) {
        make(cache, width, height);
        litho_frame_cache_forget(cache);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, cache->framebuffer);
    return fresh;
}

gboolean litho_frame_cache_stale(const LithoFrameCache *cache, guint view, guint64 hash)
{
    return !cache->known[view] || cache->hash[view] != hash;
}

void litho_frame_cache_painted(LithoFrameCache *cache, guint view, guint64 hash)
{
    cache->known[view] = TRUE;
    cache->hash[view] = hash;
}

void litho_frame_cache_forget(LithoFrameCache *cache)
{
    memset(cache->known, 0, sizeof cache->known);
}

void litho_frame_cache_start(LithoFrameCache *cache)
{
    if (cache->fence)
        glDeleteSync(cache->fence);
    cache->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glFlush();
}

gboolean litho_frame_cache_ready(LithoFrameCache *cache)
{
    if (cache->fence && glClientWaitSync(cache->fence, 0, 0) == GL_TIMEOUT_EXPIRED)
        return FALSE;
    if (cache->fence)
        glDeleteSync(cache->fence);
    cache->fence = NULL;
    return TRUE;
}

// OpenGL ES gives red first only.
static void swap_red_and_blue(guint8 *line, int width)
{
    for (int x = 0; x < width; x++, line += 4) {
        guint8 red = line[0];
        line[0] = line[2];
        line[2] = red;
    }
}

cairo_surface_t *litho_frame_cache_read(LithoFrameCache *cache, const LithoTarget *target,
                                        LithoRect rect)
{
    LithoPixels p = litho_target_pixels(target, rect);
    if (p.w <= 0 || p.h <= 0)
        return NULL;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, p.w, p.h);
    guint8 *pixels = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    gboolean native = epoxy_is_desktop_gl() && G_BYTE_ORDER == G_LITTLE_ENDIAN;
    gsize line = 4 * (gsize)p.w;
    g_autofree guint8 *upwards = g_malloc(line * p.h); // OpenGL's rows run from the bottom
    glBindFramebuffer(GL_READ_FRAMEBUFFER, cache->framebuffer);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(p.x, p.y, p.w, p.h, native ? GL_BGRA : GL_RGBA, GL_UNSIGNED_BYTE, upwards);
    cairo_surface_flush(surface);
    for (int row = 0; row < p.h; row++) {
        guint8 *from = upwards + line * (p.h - 1 - row);
        if (!native)
            swap_red_and_blue(from, p.w);
        memcpy(pixels + (gsize)stride * row, from, line);
    }
    cairo_surface_mark_dirty(surface);
    cairo_surface_set_device_scale(surface, target->scale, target->scale);
    return surface;
}

void litho_frame_cache_leave(LithoFrameCache *cache)
{
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)cache->outer);
}

void litho_frame_cache_end(LithoFrameCache *cache)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, cache->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)cache->outer);
    glDisable(GL_SCISSOR_TEST);
    glBlitFramebuffer(0, 0, cache->width, cache->height, 0, 0, cache->width, cache->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)cache->outer);
}

guint64 litho_hash_bytes(guint64 hash, const void *bytes, gsize size)
{
    const guint8 *p = bytes;
    for (gsize k = 0; k < size; k++)
        hash = (hash ^ p[k]) * 1099511628211u;
    return hash;
}
