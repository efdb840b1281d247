// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/view.h"
#include "core/text.h"

#include <math.h>

static const int h_axes[3] = {LITHO_XLINE, LITHO_INLINE, LITHO_XLINE};
static const int v_axes[3] = {LITHO_SAMPLE, LITHO_SAMPLE, LITHO_INLINE};

enum { PANEL_GAP = 6, ZOOM_MIN_CELLS = 4, ZOOM_MAX_SURVEYS = 4 };
#define THIN 2.5 // a map takes at least 1 / THIN of the room in each direction

gboolean litho_rect_contains(LithoRect r, double x, double y)
{
    return x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
}

// --- window and mapping -------------------------------------------------------------------------

void litho_slice_view_fit(LithoSliceView *view, const LithoGrid *grid)
{
    for (int k = 0; k < 3; k++) {
        view->lo[k] = -0.5;
        view->hi[k] = grid->axis[k].n - 0.5;
    }
}

LithoSliceView litho_slice_view(const LithoGrid *grid, int axis, gint64 index)
{
    LithoSliceView view = {.axis = axis,
                           .index = CLAMP(index, 0, grid->axis[axis].n - 1),
                           .keep_aspect = axis == LITHO_SAMPLE};
    litho_slice_view_fit(&view, grid);
    return view;
}

// Widens [*a, *b] about its middle by `factor`.
static void widen(double *a, double *b, double factor)
{
    double middle = (*a + *b) / 2, half = (*b - *a) / 2 * factor;
    *a = middle - half;
    *b = middle + half;
}

// Metres between neighbours along an axis of a map; 0 for the sample axis, which has no common
// measure with the others.
static double metres(const LithoGrid *grid, int axis)
{
    return axis == LITHO_SAMPLE ? 0 : litho_grid_spacing(grid, axis);
}

// A survey of ten lines is a thread in a black view at its true shape: its short side is drawn
// longer, so that it takes 1 / THIN of the room. The same at every zoom.
static void stretch_thin(const LithoGrid *grid, int h, int v, LithoRect rect, double *mh,
                         double *mv)
{
    const double across = (double)grid->axis[h].n * *mh * rect.h;
    const double down = (double)grid->axis[v].n * *mv * rect.w;
    if (across > THIN * down && down > 0)
        *mv *= across / (THIN * down);
    else if (down > THIN * across && across > 0)
        *mh *= down / (THIN * across);
}

LithoSliceMap litho_slice_map(const LithoGrid *grid, const LithoSliceView *view, LithoRect rect)
{
    int h = h_axes[view->axis], v = v_axes[view->axis];
    LithoSliceMap map = {.axis = view->axis,
                         .h_axis = h,
                         .v_axis = v,
                         .index = view->index,
                         .rect = rect,
                         .left = view->lo[h],
                         .right = view->hi[h],
                         .top = view->lo[v],
                         .bottom = view->hi[v]};
    double mh = metres(grid, h), mv = metres(grid, v);
    if (view->keep_aspect)
        stretch_thin(grid, h, v, rect, &mh, &mv);
    if (view->keep_aspect && mh > 0 && mv > 0 && rect.w > 0 && rect.h > 0) {
        double sh = (map.right - map.left) * mh / rect.w; // metres per pixel
        double sv = (map.bottom - map.top) * mv / rect.h;
        if (sh < sv)
            widen(&map.left, &map.right, sv / sh);
        else
            widen(&map.top, &map.bottom, sh / sv);
    }
    if (v != LITHO_SAMPLE) { // a map: inlines grow upwards
        double swap = map.top;
        map.top = map.bottom;
        map.bottom = swap;
    }
    return map;
}

void litho_slice_map_to_index(const LithoSliceMap *map, double x, double y, double index[3])
{
    double u = map->rect.w > 0 ? (x - map->rect.x) / map->rect.w : 0;
    double v = map->rect.h > 0 ? (y - map->rect.y) / map->rect.h : 0;
    index[map->axis] = map->index;
    index[map->h_axis] = map->left + (map->right - map->left) * u;
    index[map->v_axis] = map->top + (map->bottom - map->top) * v;
}

void litho_slice_map_to_pixel(const LithoSliceMap *map, const double index[3], double *x, double *y)
{
    *x = map->rect.x + (index[map->h_axis] - map->left) / (map->right - map->left) * map->rect.w;
    *y = map->rect.y + (index[map->v_axis] - map->top) / (map->bottom - map->top) * map->rect.h;
}

gboolean litho_slice_map_pick(const LithoSliceMap *map, const LithoGrid *grid, double x, double y,
                              gint64 ijk[3])
{
    double index[3];
    litho_slice_map_to_index(map, x, y, index);
    if (!litho_rect_contains(map->rect, x, y))
        return FALSE;
    for (int k = 0; k < 3; k++) {
        ijk[k] = (gint64)floor(index[k] + 0.5);
        if (ijk[k] < 0 || ijk[k] >= grid->axis[k].n)
            return FALSE;
    }
    return TRUE;
}

// --- zoom and pan -------------------------------------------------------------------------------

// Keeps a window between 4 cells and 4 surveys long and its middle inside the survey.
static void limit_window(LithoSliceView *view, const LithoGrid *grid, int axis)
{
    double n = grid->axis[axis].n, length = view->hi[axis] - view->lo[axis];
    double middle = CLAMP((view->lo[axis] + view->hi[axis]) / 2, -0.5, n - 0.5);
    length = CLAMP(length, MIN(ZOOM_MIN_CELLS, n), ZOOM_MAX_SURVEYS * n);
    view->lo[axis] = middle - length / 2;
    view->hi[axis] = middle + length / 2;
}

// `factor` as far as an axis' limits allow.
static double zoom_factor(const LithoSliceView *view, const LithoGrid *grid, int axis,
                          double factor)
{
    double n = grid->axis[axis].n, length = view->hi[axis] - view->lo[axis];
    if (!(factor > 0))
        return 1;
    return length / CLAMP(length / factor, MIN(ZOOM_MIN_CELLS, n), ZOOM_MAX_SURVEYS * n);
}

void litho_slice_zoom(LithoSliceView *view, const LithoGrid *grid, LithoRect rect, double x,
                      double y, double factor, gboolean fx, gboolean fy)
{
    LithoSliceMap map = litho_slice_map(grid, view, rect);
    double at[3];
    litho_slice_map_to_index(&map, x, y, at);
    const int axes[2] = {map.h_axis, map.v_axis};
    const gboolean wanted[2] = {fx || view->keep_aspect, fy || view->keep_aspect};
    // Limits change the factor, not the window afterwards: the point under the mouse stays.
    double f[2] = {zoom_factor(view, grid, axes[0], factor),
                   zoom_factor(view, grid, axes[1], factor)};
    if (view->keep_aspect)
        f[0] = f[1] = fabs(log(f[0])) < fabs(log(f[1])) ? f[0] : f[1];
    for (int k = 0; k < 2; k++) {
        int a = axes[k];
        if (!wanted[k])
            continue;
        view->lo[a] = at[a] + (view->lo[a] - at[a]) / f[k];
        view->hi[a] = at[a] + (view->hi[a] - at[a]) / f[k];
        limit_window(view, grid, a);
    }
}

void litho_slice_pan(LithoSliceView *view, const LithoGrid *grid, LithoRect rect, double dx,
                     double dy)
{
    LithoSliceMap map = litho_slice_map(grid, view, rect);
    if (rect.w <= 0 || rect.h <= 0)
        return;
    double move[2] = {-dx * (map.right - map.left) / rect.w, -dy * (map.bottom - map.top) / rect.h};
    const int axes[2] = {map.h_axis, map.v_axis};
    for (int k = 0; k < 2; k++) {
        view->lo[axes[k]] += move[k];
        view->hi[axes[k]] += move[k];
        limit_window(view, grid, axes[k]);
    }
}

void litho_slice_zoom_to(LithoSliceView *view, const LithoGrid *grid, LithoRect rect, LithoRect box)
{
    if (box.w < 4 || box.h < 4)
        return;
    LithoSliceMap map = litho_slice_map(grid, view, rect);
    double a[3], b[3];
    litho_slice_map_to_index(&map, box.x, box.y, a);
    litho_slice_map_to_index(&map, box.x + box.w, box.y + box.h, b);
    const int axes[2] = {map.h_axis, map.v_axis};
    for (int k = 0; k < 2; k++) {
        view->lo[axes[k]] = MIN(a[axes[k]], b[axes[k]]);
        view->hi[axes[k]] = MAX(a[axes[k]], b[axes[k]]);
        limit_window(view, grid, axes[k]);
    }
}

// --- what and how -------------------------------------------------------------------------------

const double litho_divider_ink[4] = {0.45, 0.72, 1, 1};

const char *litho_show_name(LithoShow show)
{
    static const char *const names[] = {N_("Input"), N_("Output"), N_("Removed"), N_("Split"),
                                        N_("Side by side")};
    return litho_text(names[show]);
}

guint litho_show_panels(LithoShow show, LithoRect rect, LithoRect panels[2], LithoShow shows[2])
{
    panels[0] = rect;
    shows[0] = show;
    if (show != LITHO_SHOW_SIDE)
        return 1;
    panels[0].w = MAX((rect.w - PANEL_GAP) / 2, 0);
    panels[1] = panels[0];
    panels[1].x = rect.x + rect.w - panels[1].w;
    shows[0] = LITHO_SHOW_INPUT;
    shows[1] = LITHO_SHOW_OUTPUT;
    return 2;
}

LithoLook litho_look_default(void)
{
    return (LithoLook){.map = litho_colormap_default(),
                       .lo = -1,
                       .hi = 1,
                       .gain = 1,
                       .removed_gain = 1,
                       .wiggle_gain = 1,
                       .split = 0.5,
                       .background = {0.17, 0.17, 0.17}};
}

void litho_look_set_clip(LithoLook *look, double clip)
{
    look->hi = isfinite(clip) && clip > 0 ? clip : 1;
    look->lo = -look->hi;
}

void litho_look_set_range(LithoLook *look, const LithoRange *range)
{
    look->lo = range->lo;
    look->hi = range->hi;
    look->map = range->is_unsigned ? litho_colormap_unsigned() : litho_colormap_default();
}

gboolean litho_look_is_signed(const LithoLook *look)
{
    return look->lo == -look->hi;
}

static double or_one(double gain)
{
    return gain > 0 ? gain : 1;
}

void litho_look_range(const LithoLook *look, LithoShow show, double *lo, double *hi)
{
    double gain = or_one(look->gain);
    *lo = look->lo / gain;
    *hi = look->hi / gain;
    if (show == LITHO_SHOW_REMOVED) {
        double half = (look->hi - look->lo) / 2 / gain / or_one(look->removed_gain);
        *lo = -half;
        *hi = half;
    }
}

LithoTraceGain litho_look_trace_gain(const LithoLook *look, const LithoGrid *grid, int axis,
                                     LithoShow show)
{
    const LithoAxis *t = &grid->axis[LITHO_SAMPLE];
    LithoTraceGain gain = {.first = t->step != 0 ? t->first / t->step : 0, .middle = 1};
    double lo, hi;
    if (!litho_look_is_signed(look))
        return gain;
    if (look->agc > 1 && axis != LITHO_SAMPLE) {
        litho_look_range(look, show, &lo, &hi);
        gain.half = MAX(look->agc / 2, 1);
        gain.level = LITHO_GAIN_LEVEL * (hi - lo) / 2; // the middle of the colours, as a rule
    } else if (look->agc <= 1) {
        gain.power = look->time_power;
        gain.middle = MAX(gain.first + 0.5 * t->n, 1);
    }
    gain.on = gain.half > 0 || gain.power != 0;
    return gain;
}

gboolean litho_look_has_density(const LithoLook *look, int axis)
{
    return !look->no_density || axis == LITHO_SAMPLE;
}

char *litho_look_gain_name(const LithoLook *look, const LithoGrid *grid, int axis)
{
    if (!litho_look_is_signed(look))
        return NULL;
    if (look->agc > 1 && axis == LITHO_SAMPLE)
        return NULL;
    if (look->agc > 1) {
        const double length = look->agc * fabs(grid->axis[LITHO_SAMPLE].step);
        return litho_text_printf("AGC %.4g %s", length * (grid->is_depth ? 1 : 1000),
                                 grid->is_depth ? "m" : "ms");
    }
    const char *letter = grid->is_depth ? "z" : "t";
    if (look->time_power == 1 || look->time_power == 2)
        return g_strdup_printf(_("gain %s%s"), letter, look->time_power == 2 ? "²" : "");
    if (look->time_power != 0)
        return litho_text_printf(_("gain %s^%.3g"), letter, look->time_power);
    return NULL;
}

int litho_look_sign(const LithoLook *look, LithoShow show)
{
    return look->reversed && show == LITHO_SHOW_REMOVED ? -1 : 1;
}

const LithoColormap *litho_look_map(const LithoLook *look, LithoShow show)
{
    const LithoColormap *map = look->map ? look->map : litho_colormap_default();
    gboolean unfit = show == LITHO_SHOW_REMOVED && !litho_look_is_signed(look) && !map->diverging;
    return unfit ? litho_colormap_default() : map;
}

int litho_wiggle_step(double px_per_trace)
{
    const double wanted = 6; // below that, curves run together
    static const int mantissa[] = {1, 2, 5};
    if (!(px_per_trace > 0))
        return 1;
    for (int power = 1; power < 100000000; power *= 10)
        for (int k = 0; k < 3; k++)
            if (mantissa[k] * power * px_per_trace >= wanted)
                return mantissa[k] * power;
    return 100000000;
}
