// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include <glib.h>

// A GL context and framebuffer without a display: EGL surfaceless (Mesa, llvmpipe) or an EGL device
// (NVIDIA). One thread at a time; the context is current in the thread that made it until freed.

typedef struct LithoOffscreen LithoOffscreen;

// width x height device pixels; `samples` for multisampling (0 or 1 = none). Makes its context
// current. NULL with the reason when this machine has no usable EGL.
LithoOffscreen *litho_offscreen_new(int width, int height, int samples, GError **error);
void litho_offscreen_free(LithoOffscreen *offscreen); // NULL is fine
// Context current and framebuffer bound.
gboolean litho_offscreen_bind(LithoOffscreen *offscreen, GError **error);
// Picture as it is now, first row on top (RGB24). cairo_surface_destroy() it.
cairo_surface_t *litho_offscreen_read(LithoOffscreen *offscreen);
