// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "render/renderer.h"

// The last picture of several views, kept in a framebuffer, so that a frame paints again only what
// has changed. A renderer's frame looks like this:
//
//     litho_frame_cache_begin(cache, &target);
//     for each view whose litho_frame_cache_stale(cache, view, hash of all it shows):
//         paint it, litho_frame_cache_painted(cache, view, hash)
//     litho_frame_cache_end(cache);             // the whole picture into the framebuffer of before
//
// Needs the context current in every call but new(). One per context.

enum { LITHO_FRAME_VIEWS = 8 };

typedef struct LithoFrameCache LithoFrameCache;

LithoFrameCache *litho_frame_cache_new(void);
void litho_frame_cache_free(LithoFrameCache *cache); // NULL is fine
// Binds the cache's framebuffer. Another size than before empties it: every view is stale then, and
// the picture is undefined until it is cleared. TRUE when that happened.
gboolean litho_frame_cache_begin(LithoFrameCache *cache, const LithoTarget *target);
// TRUE when the view was painted with another hash, or never.
gboolean litho_frame_cache_stale(const LithoFrameCache *cache, guint view, guint64 hash);
void litho_frame_cache_painted(LithoFrameCache *cache, guint view, guint64 hash);
void litho_frame_cache_forget(LithoFrameCache *cache); // all views are stale
void litho_frame_cache_end(LithoFrameCache *cache);
// The picture of one rectangle as a surface of its own, its device scale the target's; NULL when it
// is empty. Waits for the drawing if it is not ready().
cairo_surface_t *litho_frame_cache_read(LithoFrameCache *cache, const LithoTarget *target,
                                        LithoRect rect);
// Lets OpenGL work on what has been painted so far, without waiting; ready() is TRUE when it has
// been painted, and where nothing was started.
void litho_frame_cache_start(LithoFrameCache *cache);
gboolean litho_frame_cache_ready(LithoFrameCache *cache);
// Instead of end(), where the picture is only read: binds the framebuffer of before.
void litho_frame_cache_leave(LithoFrameCache *cache);

// FNV-1a over bytes; begin with LITHO_HASH_BEGIN.
#define LITHO_HASH_BEGIN 14695981039346656037u
guint64 litho_hash_bytes(guint64 hash, const void *bytes, gsize size);
