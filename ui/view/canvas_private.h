// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/frame_cache.h"
#include "ui/view/canvas.h"

enum {
    LITHO_N_SPACES = 2,
    LITHO_PAINTED_MODEL = LITHO_N_VIEWS, // the model's place behind the views of the data
    LITHO_N_PAINTED
};

// Views that a software OpenGL is painting: threads of its own do that, and the window goes on
// meanwhile. Read and shown in the first frame that finds it done.
typedef struct LithoBatch {
    gboolean painted[LITHO_N_PAINTED];
    LithoRect rect[LITHO_N_PAINTED];
    LithoTarget target;
    LithoResult *result; // that the textures held, or NULL
    gboolean stale;      // another file has been opened since: not to be shown
} LithoBatch;

struct _LithoCanvas {
    GtkWidget parent;
    LithoSession *session;
    GtkWidget *overlay, *area, *grid;
    LithoCubeView *views[LITHO_N_VIEWS];
    GtkWidget *cell, *model; // the 3-D panel: the scene of the data, or the operators' model
    GtkWidget *switches, *button[1 + LITHO_N_SPACES]; // data, then one per LithoSpace
    int wanted_space;                                 // of the model; -1 = the data
    int maximised;
    int section; // the one that a line has; -1 = the cube has three slices

    LithoRenderer *renderer;
    LithoFrameCache *cache; // lives with the renderer
    guint64 layout;         // hash of where the views lie in the cache
    guint64 paints[LITHO_N_PAINTED];
    guint first_view;    // whose turn it is when a frame has not time for all
    gboolean unfinished; // views wait for the next batch
    LithoBatch batch;
    LithoVolume *input, *output;
    guint64 input_serial, generation;   // what was put into the volumes
    char *identity;                     // of the file whose pictures are shown, and its axes
    guint64 result_tag;                 // of the wish whose parts came last
    GHashTable *parts_put;              // serials of its parts, of gint64
    guint64 newest_page, pages_dropped; // slices of a cube beyond memory
    char *gl_name;
    gboolean failed;
    guint fill_tick; // one more frame is wanted: textures are not whole, or a batch is not shown
    LithoResult
        *drawn; // on its way to the screen since the frame clock's last after-paint, or NULL
    LithoFrameTimes frame, drawn_frame; // of the pictures under way, and of those of `drawn`
    guint64 frames;
    gulong after_paint;
    GdkFrameClock *clock;
};

// canvas_paint.c: textures, and what is painted into them.
void litho_canvas_paint_init(LithoCanvas *self); // after the area is there
void litho_canvas_want_frame(LithoCanvas *self); // one more, although nothing has changed
// Takes the pictures off the screen, and those under way: they are of another file.
void litho_canvas_blank(LithoCanvas *self);
