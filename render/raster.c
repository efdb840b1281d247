// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/raster.h"

#include <math.h>

#include "core/error.h"
#include "core/text.h"

// The twin of shaders/sample.glsl and shaders/slice.frag; the rules are explained there.

enum { TAPS = 4 };

static const double hatch_ground = 0.27, hatch_line = 0.43, paper = 0.965, ink_level = 0.04;

// Cells and weights that one pixel averages along one direction.
typedef struct Taps {
    int n;
    gint64 cell[TAPS];
    double weight[TAPS];
    double at;      // fractional index of the pixel
    gint64 nearest; // cell it lies in
} Taps;

typedef struct Painter {
    const LithoRaster *r;
    LithoSliceMap map;
    LithoBox cover;        // samples that all needed cubes hold
    double size_h, size_v; // samples per device pixel
    double lo, hi, wiggle_deflect, wiggle_limit;
    int wiggle_step;
    LithoTraceGain gain;
    const LithoColormap *colors;
} Painter;

static double fetch(const LithoCube *cube, const gint64 c[3])
{
    const LithoBox *b = &cube->held;
    gint64 nj = b->hi[1] - b->lo[1], nk = b->hi[2] - b->lo[2];
    return cube->samples[((c[0] - b->lo[0]) * nj + (c[1] - b->lo[1])) * nk + (c[2] - b->lo[2])];
}

static gboolean live_at(const LithoRaster *r, const gint64 c[3], LithoShow what)
{
    return (what == LITHO_SHOW_OUTPUT || litho_cube_is_live(r->input, c[0], c[1])) &&
           (what == LITHO_SHOW_INPUT || litho_cube_is_live(r->output, c[0], c[1]));
}

static double value_at(const LithoRaster *r, const gint64 c[3], LithoShow what)
{
    if (what == LITHO_SHOW_INPUT)
        return fetch(r->input, c);
    if (what == LITHO_SHOW_OUTPUT)
        return fetch(r->output, c);
    return fetch(r->input, c) - fetch(r->output, c);
}

static gboolean inside(const LithoBox *b, const gint64 c[3])
{
    for (int k = 0; k < 3; k++)
        if (c[k] < b->lo[k] || c[k] >= b->hi[k])
            return FALSE;
    return TRUE;
}

// Gain of the sample in `c`; see LithoTraceGain.
static double trace_gain(const Painter *p, const gint64 c[3], LithoShow what)
{
    const LithoTraceGain *g = &p->gain;
    gint64 at[3] = {c[0], c[1], c[2]};
    double sum = 0, count = 0;
    if (!g->on)
        return 1;
    if (g->half == 0)
        return pow(MAX(c[2] + g->first, 0.5) / g->middle, g->power);
    for (int k = 0; k < LITHO_GAIN_TAPS; k++) {
        at[2] = c[2] - g->half + k * 2 * g->half / (LITHO_GAIN_TAPS - 1);
        if (at[2] < p->cover.lo[2] || at[2] >= p->cover.hi[2])
            continue;
        double s = value_at(p->r, at, what);
        if (isfinite(s)) {
            sum += s * s;
            count++;
        }
    }
    return sum > 0 ? g->level / sqrt(sum / count) : 1;
}

static Taps taps_at(double p, double size, gboolean nearest)
{
    Taps t = {.at = p, .nearest = (gint64)floor(p + 0.5)};
    if (nearest) {
        t.n = 1;
        t.cell[0] = t.nearest;
        t.weight[0] = 1;
    } else if (size <= 1.05) {
        double base = floor(p);
        t.n = 2;
        t.cell[0] = (gint64)base;
        t.cell[1] = (gint64)base + 1;
        t.weight[1] = p - base;
        t.weight[0] = 1 - t.weight[1];
    } else {
        t.n = CLAMP((int)ceil(size - 0.05), 2, TAPS);
        for (int k = 0; k < t.n; k++) {
            t.cell[k] = (gint64)floor(p + ((k + 0.5) / t.n - 0.5) * size + 0.5);
            t.weight[k] = 1;
        }
    }
    return t;
}

static gboolean sample_mean(const Painter *p, const Taps *h, const Taps *v, gint64 c[3],
                            LithoShow what, double *mean)
{
    double sum = 0, weight = 0;
    for (int a = 0; a < h->n; a++) {
        c[p->map.h_axis] = h->cell[a];
        for (int b = 0; b < v->n; b++) {
            double w = h->weight[a] * v->weight[b];
            c[p->map.v_axis] = v->cell[b];
            if (w == 0 || !inside(&p->cover, c) || !live_at(p->r, c, what))
                continue;
            double s = value_at(p->r, c, what);
            if (isfinite(s)) {
                sum += w * s;
                weight += w;
            }
        }
    }
    *mean = weight > 0 ? sum / weight : 0;
    return weight > 0;
}

static double hatch_color(double x, double y, double scale)
{
    double across = fabs(fmod(x + y, 8) - 4) * G_SQRT2 / 2 * scale;
    return hatch_ground + (hatch_line - hatch_ground) * CLAMP(0.6 * scale + 0.5 - across, 0, 1);
}

// 0 = not there, 1 = missing, 2 = data.
static int slice_color(const Painter *p, const Taps *h, const Taps *v, LithoShow what, double x,
                       double y, double rgb[3])
{
    gint64 c[3];
    c[p->map.axis] = p->map.index;
    c[p->map.h_axis] = h->nearest;
    c[p->map.v_axis] = v->nearest;
    for (int k = 0; k < 3; k++)
        rgb[k] = p->r->look.background[k];
    if (!inside(&p->cover, c))
        return 0;
    double value;
    if (!live_at(p->r, c, what) || !isfinite(value_at(p->r, c, what)) ||
        !sample_mean(p, h, v, c, what, &value)) {
        rgb[0] = rgb[1] = rgb[2] = hatch_color(x, y, p->r->scale);
        return 1;
    }
    c[p->map.h_axis] = h->nearest; // moved by the mean
    c[p->map.v_axis] = v->nearest;
    value *= trace_gain(p, c, what);
    litho_colormap_at(p->colors, (value - p->lo) / (p->hi - p->lo), rgb);
    return 2;
}

// --- wiggles ------------------------------------------------------------------------------------

static gboolean deflection(const Painter *p, gint64 c[3], double s, double gain, LithoShow what,
                           double *d)
{
    gint64 last = p->r->grid->axis[LITHO_SAMPLE].n - 1;
    double base = CLAMP(floor(s), 0, last);
    c[2] = (gint64)base;
    if (!inside(&p->cover, c))
        return FALSE;
    double a = value_at(p->r, c, what);
    c[2] = MIN(c[2] + 1, last);
    if (!inside(&p->cover, c))
        return FALSE;
    double b = value_at(p->r, c, what), f = CLAMP(s - base, 0, 1);
    *d = CLAMP((a + (b - a) * f) * p->wiggle_deflect * gain, -p->wiggle_limit, p->wiggle_limit);
    return isfinite(a) && isfinite(b);
}

// Gain of the trace in `c` at sample position `s`.
static double gain_between(const Painter *p, const gint64 c[3], double s, LithoShow what)
{
    if (!p->gain.on)
        return 1;
    const gint64 last = p->r->grid->axis[LITHO_SAMPLE].n - 1;
    const double base = CLAMP(floor(s), 0, last), share = CLAMP(s - base, 0, 1);
    const gint64 low[3] = {c[0], c[1], (gint64)base}, high[3] = {c[0], c[1], MIN(low[2] + 1, last)};
    return trace_gain(p, low, what) * (1 - share) + trace_gain(p, high, what) * share;
}

static double wiggle_ink(const Painter *p, gint64 c[3], double s, double x, LithoShow what)
{
    double low = G_MAXDOUBLE, high = -G_MAXDOUBLE, d, gain = gain_between(p, c, s, what);
    int n = CLAMP((int)ceil(p->size_v), 1, 8);
    for (int k = 0; k <= n; k++) {
        if (!deflection(p, c, s + ((double)k / n - 0.5) * p->size_v, gain, what, &d))
            return 0;
        low = MIN(low, d);
        high = MAX(high, d);
    }
    double ink = 0.9 * CLAMP(0.5 * p->r->scale + 0.5 - MAX(low - x, x - high), 0, 1);
    if (p->r->look.wiggle == LITHO_WIGGLE_FILL && deflection(p, c, s, gain, what, &d) && d > 0)
        ink = MAX(ink, 0.8 * CLAMP(MIN(x, d - x) + 0.5, 0, 1));
    return ink;
}

static double wiggles(const Painter *p, const Taps *h, const Taps *v, LithoShow what)
{
    if (v->at < -0.5 || v->at > p->r->grid->axis[LITHO_SAMPLE].n - 0.5)
        return 0;
    gint64 nearest = (gint64)floor(h->at / p->wiggle_step + 0.5), c[3];
    double ink = 0;
    for (int k = -2; k <= 2; k++) {
        c[p->map.axis] = p->map.index;
        c[p->map.h_axis] = (nearest + k) * p->wiggle_step;
        c[2] = CLAMP(v->nearest, p->cover.lo[2], p->cover.hi[2] - 1);
        if (!inside(&p->cover, c) || !live_at(p->r, c, what))
            continue;
        double x = (h->at - (nearest + k) * p->wiggle_step) / p->size_h;
        ink = MAX(ink, wiggle_ink(p, c, v->at, x, what));
    }
    return ink;
}

// --- picture ------------------------------------------------------------------------------------

static guint32 pack(const double rgb[3])
{
    guint32 out = 0xff;
    for (int k = 0; k < 3; k++)
        out = out << 8 | (guint32)lrint(CLAMP(rgb[k], 0, 1) * 255);
    return out;
}

static guint32 pixel(const Painter *p, const Taps *h, const Taps *v, double x, double y)
{
    const LithoRaster *r = p->r;
    double rgb[3];
    LithoShow what = r->show;
    if (what == LITHO_SHOW_SPLIT)
        what = x < r->look.split * p->map.rect.w ? LITHO_SHOW_INPUT : LITHO_SHOW_OUTPUT;
    int found = slice_color(p, h, v, what, x, y, rgb);
    if (found == 2 && !litho_look_has_density(&r->look, p->map.axis))
        rgb[0] = rgb[1] = rgb[2] = paper;
    if (p->wiggle_step > 0) {
        double ink = wiggles(p, h, v, what);
        for (int k = 0; k < 3; k++)
            rgb[k] += (ink_level - rgb[k]) * ink;
    }
    return pack(rgb);
}

// Cubes needed for what is shown; FALSE when one is not there or has another shape.
static gboolean prepare(Painter *p, GError **error)
{
    const LithoRaster *r = p->r;
    const LithoCube *need[2] = {r->show == LITHO_SHOW_OUTPUT ? NULL : r->input,
                                r->show == LITHO_SHOW_INPUT ? NULL : r->output};
    p->cover = litho_box_full(r->grid);
    if ((r->show != LITHO_SHOW_OUTPUT && !r->input) || (r->show != LITHO_SHOW_INPUT && !r->output))
        p->cover.hi[0] = 0; // nothing to show: background
    for (int k = 0; k < 2; k++) {
        if (!need[k])
            continue;
        if (!litho_grid_same_shape(&need[k]->grid, r->grid)) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                        _("the cubes shown together have different sizes"));
            return FALSE;
        }
        if (!litho_cube_host(need[k], error))
            return FALSE;
        p->cover = litho_box_intersect(p->cover, need[k]->held);
    }
    return TRUE;
}

static void prepare_wiggles(Painter *p)
{
    const LithoLook *look = &p->r->look;
    if (look->wiggle == LITHO_WIGGLE_OFF || p->map.v_axis != LITHO_SAMPLE)
        return;
    double trace = 1 / (p->size_h * p->r->scale); // logical pixels
    p->wiggle_step = litho_wiggle_step(trace);
    double apart = p->wiggle_step / p->size_h; // device pixels
    double gain = look->wiggle_gain > 0 ? look->wiggle_gain : 1;
    double top = MAX(fabs(p->lo), fabs(p->hi));
    p->wiggle_deflect = litho_look_sign(look, p->r->show) * apart * gain / (top > 0 ? top : 1);
    p->wiggle_limit = 1.5 * apart;
}

cairo_surface_t *litho_raster_slice(const LithoRaster *r, double width, double height,
                                    GError **error)
{
    int w = MAX((int)lrint(width * r->scale), 1), h = MAX((int)lrint(height * r->scale), 1);
    Painter p = {.r = r, .colors = litho_look_map(&r->look, r->show)};
    p.map = litho_slice_map(r->grid, &r->view, (LithoRect){0, 0, width, height});
    p.size_h = fabs(p.map.right - p.map.left) / (width * r->scale);
    p.size_v = fabs(p.map.bottom - p.map.top) / (height * r->scale);
    litho_look_range(&r->look, r->show, &p.lo, &p.hi);
    p.lo *= litho_look_sign(&r->look, r->show); // REMOVED is about zero
    p.hi *= litho_look_sign(&r->look, r->show);
    p.gain = litho_look_trace_gain(&r->look, r->grid, p.map.axis,
                                   r->show == LITHO_SHOW_SPLIT ? LITHO_SHOW_OUTPUT : r->show);
    if (!prepare(&p, error))
        return NULL;
    prepare_wiggles(&p);

    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, _("no memory for a picture of %d x %d"),
                    w, h);
        cairo_surface_destroy(surface);
        return NULL;
    }
    cairo_surface_flush(surface);
    guint8 *data = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    g_autofree Taps *columns = g_new(Taps, w);
    for (int x = 0; x < w; x++) {
        double u = (x + 0.5) / (width * r->scale);
        columns[x] =
            taps_at(p.map.left + (p.map.right - p.map.left) * u, p.size_h, r->look.nearest);
    }
    for (int y = 0; y < h; y++) {
        double u = (y + 0.5) / (height * r->scale);
        Taps row = taps_at(p.map.top + (p.map.bottom - p.map.top) * u, p.size_v, r->look.nearest);
        guint32 *out = (guint32 *)(data + (gsize)y * stride);
        for (int x = 0; x < w; x++)
            out[x] = pixel(&p, &columns[x], &row, (x + 0.5) / r->scale, (y + 0.5) / r->scale);
    }
    cairo_surface_mark_dirty(surface);
    return surface;
}
