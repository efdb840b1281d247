// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/model_grips.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

static const double REACH_PX = 11; // how near to a grip a press takes hold of it

typedef struct Grip {
    char key[32], label[64];
    double at[3];
    LithoGrip grip;
} Grip;

struct LithoModelGrips {
    GArray *list; // of Grip
    guint chosen;
    gboolean held;
    double from; // place of the held grip when it was taken
};

LithoModelGrips *litho_model_grips_new(void)
{
    LithoModelGrips *self = g_new0(LithoModelGrips, 1);
    self->list = g_array_new(FALSE, FALSE, sizeof(Grip));
    return self;
}

void litho_model_grips_free(LithoModelGrips *self)
{
    if (!self)
        return;
    g_array_unref(self->list);
    g_free(self);
}

static Grip *chosen(const LithoModelGrips *self)
{
    return self->chosen < self->list->len ? &g_array_index(self->list, Grip, self->chosen) : NULL;
}

void litho_model_grips_take(LithoModelGrips *self, const GArray *shapes, LithoSpace space)
{
    const Grip *last = chosen(self);
    const Grip kept = last ? *last : (Grip){.key = ""};
    g_array_set_size(self->list, 0);
    self->chosen = 0;
    for (guint k = 0; shapes && k < shapes->len; k++) {
        const LithoShape *shape = &g_array_index(shapes, LithoShape, k);
        if (!*shape->grip.param || shape->space != space || shape->n == 0)
            continue;
        Grip grip = {.grip = shape->grip};
        g_strlcpy(grip.key, shape->key, sizeof grip.key);
        g_strlcpy(grip.label, shape->label, sizeof grip.label);
        for (int axis = 0; axis < 3; axis++)
            grip.at[axis] = shape->xyz[axis];
        if (last && strcmp(grip.key, kept.key) == 0) {
            self->chosen = self->list->len;
            if (self->held)
                grip = kept;
        }
        g_array_append_val(self->list, grip);
    }
    self->held = self->held && self->list->len > 0;
}

guint litho_model_grips_length(const LithoModelGrips *self)
{
    return self->list->len;
}

double litho_model_grips_deepest(const LithoModelGrips *self)
{
    double deepest = -INFINITY;
    for (guint k = 0; k < self->list->len; k++)
        deepest = fmax(deepest, g_array_index(self->list, Grip, k).at[2]);
    return deepest;
}

// --- the picture --------------------------------------------------------------------------------

static gboolean project(const LithoGripScene *scene, const double at[3], double *x, double *y)
{
    double matrix[16], index[3];
    litho_scene_matrix(scene->grid, scene->view, scene->rect, matrix);
    for (int k = 0; k < 3; k++)
        index[k] = (at[k] - scene->grid->axis[k].first) / scene->grid->axis[k].step;
    return litho_scene_project(matrix, scene->rect, index, x, y, NULL);
}

// The grip nearest to the pixel within reach, -1 = none.
static int grip_under(const LithoModelGrips *self, const LithoGripScene *scene, double x, double y)
{
    double best = REACH_PX, px, py;
    int found = -1;
    for (guint k = 0; k < self->list->len; k++)
        if (project(scene, g_array_index(self->list, Grip, k).at, &px, &py) &&
            hypot(px - x, py - y) < best) {
            best = hypot(px - x, py - y);
            found = (int)k;
        }
    return found;
}

gboolean litho_model_grips_under(const LithoModelGrips *self, const LithoGripScene *scene, double x,
                                 double y)
{
    return grip_under(self, scene, x, y) >= 0;
}

gboolean litho_model_grips_hold(LithoModelGrips *self, const LithoGripScene *scene, double x,
                                double y)
{
    const int k = grip_under(self, scene, x, y);
    if (k < 0)
        return FALSE;
    self->chosen = (guint)k;
    self->held = TRUE;
    self->from = chosen(self)->at[2];
    return TRUE;
}

gboolean litho_model_grips_held(const LithoModelGrips *self)
{
    return self->held;
}

void litho_model_grips_release(LithoModelGrips *self)
{
    self->held = FALSE;
}

void litho_model_grips_next(LithoModelGrips *self)
{
    self->chosen = self->list->len > 0 ? (self->chosen + 1) % self->list->len : 0;
}

// --- a move -------------------------------------------------------------------------------------

// To the nearest step of its number, inside its own room and the box.
static gboolean bring(Grip *grip, const LithoGripScene *scene, double to)
{
    const LithoGrip *g = &grip->grip;
    const LithoAxis *depth = &scene->grid->axis[2];
    const double hi = fmin(g->hi, depth->first + 0.5 * depth->step);
    if (!(g->lo <= hi))
        return FALSE;
    to = g->offset + round((CLAMP(to, g->lo, hi) - g->offset) / g->step) * g->step;
    if (to == grip->at[2])
        return FALSE;
    grip->at[2] = to;
    return TRUE;
}

// Pixels along the third axis where the grip stands, for one unit down.
static gboolean pixels_down(const LithoGripScene *scene, const Grip *grip, double from, double *dx,
                            double *dy)
{
    const double unit = 1e-3 * scene->grid->axis[2].step;
    double at[3] = {grip->at[0], grip->at[1], from}, x0, y0, x1, y1;
    if (!project(scene, at, &x0, &y0))
        return FALSE;
    at[2] += unit;
    if (!project(scene, at, &x1, &y1))
        return FALSE;
    *dx = (x1 - x0) / unit;
    *dy = (y1 - y0) / unit;
    return hypot(*dx, *dy) * scene->grid->axis[2].step > 4; // seen from above it has no length
}

gboolean litho_model_grips_drag(LithoModelGrips *self, const LithoGripScene *scene, double dx,
                                double dy)
{
    Grip *grip = chosen(self);
    double ux, uy;
    if (!self->held || !grip || !pixels_down(scene, grip, self->from, &ux, &uy))
        return FALSE;
    return bring(grip, scene, self->from + (dx * ux + dy * uy) / (ux * ux + uy * uy));
}

gboolean litho_model_grips_step(LithoModelGrips *self, const LithoGripScene *scene, int steps)
{
    Grip *grip = chosen(self);
    return grip && bring(grip, scene, grip->at[2] + steps * grip->grip.step);
}

// --- what it says -------------------------------------------------------------------------------

const LithoGrip *litho_model_grips_chosen(const LithoModelGrips *self, double *at)
{
    const Grip *grip = chosen(self);
    if (grip && at)
        *at = grip->at[2];
    return grip ? &grip->grip : NULL;
}

gboolean litho_model_grips_where(const LithoModelGrips *self, const LithoGripScene *scene,
                                 double *x, double *y)
{
    const Grip *grip = chosen(self);
    return grip && project(scene, grip->at, x, y);
}

char *litho_model_grips_text(const LithoModelGrips *self)
{
    const Grip *grip = chosen(self);
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    if (!grip)
        return NULL;
    // Steps are decimal: rounding in binary leaves digits that nobody wants.
    g_ascii_formatd(number, sizeof number, "%.9g", grip->at[2] - grip->grip.offset);
    return g_strconcat(grip->grip.before, number, grip->grip.after, NULL);
}

char *litho_model_grips_describe(const LithoModelGrips *self)
{
    const Grip *grip = chosen(self);
    return grip ? litho_text_printf("%s, %.6g m", grip->label, grip->at[2]) : NULL;
}

static void draw_arrow(cairo_t *cr, double x, double y, double up)
{
    cairo_move_to(cr, x, y + 8 * up);
    cairo_line_to(cr, x, y + 15 * up);
    cairo_move_to(cr, x - 3.5, y + 11.5 * up);
    cairo_line_to(cr, x, y + 15 * up);
    cairo_line_to(cr, x + 3.5, y + 11.5 * up);
}

// Dark under light: seen on every ground.
static void stroke_twice(cairo_t *cr, double width)
{
    cairo_set_source_rgba(cr, 0, 0, 0, 0.7);
    cairo_set_line_width(cr, width + 2);
    cairo_stroke_preserve(cr);
    cairo_set_source_rgba(cr, 1, 1, 1, 1);
    cairo_set_line_width(cr, width);
    cairo_stroke(cr);
}

static void draw_place(cairo_t *cr, const char *text, const LithoAxesStyle *style, LithoRect rect,
                       double x, double y)
{
    cairo_text_extents_t e;
    cairo_select_font_face(cr, style->font, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cr, style->font_size);
    cairo_text_extents(cr, text, &e);
    const double right = rect.x + rect.w - e.x_advance - 6;
    double left = x + 14 <= right ? x + 14 : x - 14 - e.x_advance;
    if (left < rect.x + 6) { // no room on either side of the grip: below its arrow
        left = fmax(fmin(x - e.x_advance / 2, right), rect.x + 6);
        y += 15 + style->font_size;
    }
    cairo_rectangle(cr, left - 4, y - style->font_size * 0.85, e.x_advance + 8,
                    style->font_size * 1.5);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.7);
    cairo_fill(cr);
    cairo_move_to(cr, left, y + style->font_size * 0.35);
    cairo_set_source_rgba(cr, 1, 1, 1, 1);
    cairo_show_text(cr, text);
}

void litho_model_grips_draw(const LithoModelGrips *self, cairo_t *cr, const LithoGripScene *scene,
                            const LithoAxesStyle *style, gboolean active)
{
    double x, y;
    for (guint k = 0; k < self->list->len; k++) {
        const gboolean marked = active && k == self->chosen;
        if (!project(scene, g_array_index(self->list, Grip, k).at, &x, &y))
            continue;
        cairo_new_path(cr);
        cairo_arc(cr, x, y, marked ? 6 : 4.5, 0, 2 * G_PI);
        stroke_twice(cr, marked ? 2.5 : 1.5);
        draw_arrow(cr, x, y, -1);
        draw_arrow(cr, x, y, 1);
        stroke_twice(cr, marked ? 2 : 1.2);
        if (marked) {
            g_autofree char *text = litho_model_grips_describe(self);
            draw_place(cr, text, style, scene->rect, x, y);
        }
    }
}
