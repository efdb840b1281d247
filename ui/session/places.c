// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/places.h"

#include <math.h>
#include <string.h>

// Where one looks in a grid of a shape.
typedef struct Place {
    gint64 n[3]; // of the grid; n[0] = 0: nothing kept
    gint64 slice[3];
    double lo[3], hi[3];
    LithoSceneView scene;
} Place;

struct LithoPlaces {
    LithoGrid grid; // shown
    gboolean has_grid;
    // Place in the shape shown before, when it was left; and where it led to in the present one.
    Place left, arrived;
    guint n_visible;
    int visible[3]; // axes of the slices on screen
};

LithoPlaces *litho_places_new(void)
{
    return g_new0(LithoPlaces, 1);
}

void litho_places_free(LithoPlaces *places)
{
    g_free(places);
}

const LithoGrid *litho_places_grid(const LithoPlaces *places)
{
    return places->has_grid ? &places->grid : NULL;
}

static Place present(const LithoPlaces *places, const LithoDisplay *d)
{
    Place place = {.scene = d->scene};
    for (int a = 0; a < 3; a++) {
        place.n[a] = places->grid.axis[a].n;
        place.slice[a] = d->slice[a];
        place.lo[a] = d->lo[a];
        place.hi[a] = d->hi[a];
    }
    return place;
}

// Back in the shape of before: an axis that nobody has moved since goes where it was.
static void restore_unmoved(LithoDisplay *d, const Place *now, const Place *arrived,
                            const Place *left)
{
    for (int a = 0; a < 3; a++) {
        if (now->slice[a] == arrived->slice[a])
            d->slice[a] = left->slice[a];
        if (now->lo[a] == arrived->lo[a] && now->hi[a] == arrived->hi[a]) {
            d->lo[a] = left->lo[a];
            d->hi[a] = left->hi[a];
        }
    }
    if (memcmp(&now->scene.camera, &arrived->scene.camera, sizeof now->scene.camera) == 0)
        d->scene = left->scene;
}

// The slice of the new grid that shows the place of the present one.
static gint64 same_place(const LithoGrid *old, const LithoGrid *grid, const LithoDepthTime *curve,
                         int axis, gint64 slice)
{
    const LithoAxis *from = &old->axis[axis], *to = &grid->axis[axis];
    double there = axis == LITHO_SAMPLE
                       ? litho_depth_time_convert(curve, old, grid, (double)slice)
                       : litho_axis_index(to, litho_axis_value(from, (double)slice));
    return there > -0.5 && there < to->n - 0.5 ? llround(there) : to->n / 2;
}

// Slices and window stay where the axis is the one before, and lie at the same line, time or depth
// where it is another. The camera keeps its direction. `old` NULL: nothing was shown.
static void move_to(const LithoGrid *old, const LithoGrid *grid, const LithoDepthTime *curve,
                    LithoDisplay *d)
{
    const LithoSliceView whole = litho_slice_view(grid, LITHO_INLINE, 0);
    const LithoCamera camera = d->scene.camera;
    for (int a = 0; a < 3; a++) {
        if (old && old->axis[a].n == grid->axis[a].n)
            continue;
        d->slice[a] = old ? same_place(old, grid, curve, a, d->slice[a]) : grid->axis[a].n / 2;
        d->lo[a] = whole.lo[a];
        d->hi[a] = whole.hi[a];
    }
    d->scene = litho_scene_view(grid);
    if (old) {
        d->scene.camera.yaw = camera.yaw;
        d->scene.camera.pitch = camera.pitch;
    }
    d->has_cursor = FALSE;
}

void litho_places_adopt(LithoPlaces *places, const LithoGrid *grid, const LithoDepthTime *curve,
                        LithoDisplay *display)
{
    const LithoGrid *old = litho_places_grid(places);
    if (!old || !litho_grid_matches(old, grid)) {
        const Place now = present(places, display), arrived = places->arrived, left = places->left;
        const gboolean back = old && left.n[0] == grid->axis[0].n && left.n[1] == grid->axis[1].n &&
                              left.n[2] == grid->axis[2].n;
        move_to(old, grid, curve, display);
        if (back)
            restore_unmoved(display, &now, &arrived, &left);
        places->left = old ? now : (Place){0};
        places->grid = *grid;
        places->arrived = present(places, display);
    }
    places->grid = *grid;
    places->has_grid = TRUE;
}

void litho_places_forget(LithoPlaces *places)
{
    places->has_grid = FALSE;
    places->left = places->arrived = (Place){0};
}

gboolean litho_places_set_visible(LithoPlaces *places, guint n, const int *axes)
{
    n = MIN(n, G_N_ELEMENTS(places->visible));
    const gsize size = n * sizeof *axes;
    const gboolean same = n == places->n_visible && memcmp(axes, places->visible, size) == 0;
    places->n_visible = n;
    memcpy(places->visible, axes, size);
    return !same;
}

const int *litho_places_visible(const LithoPlaces *places, guint *n)
{
    *n = places->n_visible;
    return places->visible;
}
