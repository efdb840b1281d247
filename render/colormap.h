// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Colour maps: 256 sRGB entries. The built-in ones are computed at first use from a construction in
// Oklab (B. Ottosson, 2020), a perceptual space, so that equal steps of amplitude look equal; no
// table is copied from anywhere. See colormap.c for the anchors of each.
//
// Thread-safety: built-in maps are constants, any thread. User maps are immutable once loaded.

enum { LITHO_COLORMAP_SIZE = 256 };

typedef struct LithoColormap {
    char name[32];      // "blue-white-red"; for user maps the file's base name without suffix
    char title[64];     // "Blue, white, red": for menus
    gboolean diverging; // made for signed data: entry 127.5 is the middle colour, put at zero
    guint8 rgba[LITHO_COLORMAP_SIZE][4]; // sRGB, alpha always 255
} LithoColormap;

// All built-in maps, NULL-terminated, the default (blue-white-red) first; borrowed for ever.
const LithoColormap *const *litho_colormaps(void);
// The default: perceptual blue-white-red.
const LithoColormap *litho_colormap_default(void);
// The default of unsigned data (velocities, energies): perceptual, from dark to light.
const LithoColormap *litho_colormap_unsigned(void);
// By name; NULL when there is none.
const LithoColormap *litho_colormap_find(const char *name);
// By name (gray, viridis, magma and inferno stand for the nearest map), or else as a path of a CSV file (then owned by a process-wide cache, never freed).
// The error lists the names.
const LithoColormap *litho_colormap_get(const char *name_or_path, GError **error);
// A map of the user's: rows "r,g,b" (comma, semicolon or blanks), 0..255 or, when no number exceeds
// 1, 0..1; 2 rows or more, interpolated to 256 entries; '#' starts a comment, one header line is
// allowed. Taken as diverging when its middle is brighter (or darker) than both ends.
// g_free() it.
LithoColormap *litho_colormap_load(const char *path, GError **error);
// "blue-white-red, grey, ...": for help texts and messages; g_free().
char *litho_colormap_names(void);

// Colour at position t (0 first entry, 1 last; clamped, NaN is the middle), interpolated between
// entries as the shader does.
void litho_colormap_at(const LithoColormap *map, double t, double rgb[3]);
