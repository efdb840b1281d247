// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/survey_map.h"
#include "core/axis_names.h"
#include "core/text.h"

#include <math.h>

enum { SIDE = 192, MARGIN = 12 }; // cells of the picture along each axis, at most; pixels

struct _LithoSurveyMap {
    GtkWidget parent;
    GArray *points; // of gint32[2]
    gint32 lo[2], hi[2];
    LithoSurvey *survey;
};

G_DEFINE_TYPE(LithoSurveyMap, litho_survey_map, GTK_TYPE_WIDGET)

// --- filling ------------------------------------------------------------------------------------

static void describe(LithoSurveyMap *self)
{
    g_autofree char *text = NULL;
    if (self->survey) {
        const LithoGrid *g = litho_survey_grid(self->survey);
        LithoSurveyCounts c = litho_survey_counts(self->survey);
        g_autofree char *lines = litho_axis_counted(g, LITHO_INLINE);
        g_autofree char *traces = litho_axis_counted(g, LITHO_XLINE);
        g_autofree char *missing =
            g_strdup_printf(litho_text_plural("%" PRId64 " cell without a trace",
                                              "%" PRId64 " cells without a trace", c.missing),
                            c.missing);
        text = g_strdup_printf("%s, %s, %s", lines, traces, missing);
    } else {
        text = g_strdup_printf(_("%u traces drawn so far"), self->points->len);
    }
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                   -1);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void litho_survey_map_clear(LithoSurveyMap *self)
{
    g_array_set_size(self->points, 0);
    g_clear_pointer(&self->survey, litho_survey_unref);
    describe(self);
}

void litho_survey_map_add(LithoSurveyMap *self, const gint32 (*points)[2], guint n)
{
    for (guint k = 0; k < n; k++)
        for (int c = 0; c < 2; c++) {
            gboolean first = self->points->len == 0 && k == 0;
            self->lo[c] = first ? points[k][c] : MIN(self->lo[c], points[k][c]);
            self->hi[c] = first ? points[k][c] : MAX(self->hi[c], points[k][c]);
        }
    g_array_append_vals(self->points, points, n);
    describe(self);
}

guint litho_survey_map_count(LithoSurveyMap *self)
{
    return self->points->len;
}

void litho_survey_map_show(LithoSurveyMap *self, LithoSurvey *survey)
{
    litho_survey_map_clear(self);
    self->survey = litho_survey_ref(survey);
    describe(self);
}

// --- pictures -----------------------------------------------------------------------------------

// A8 picture of n2 columns and n1 rows, row 0 at the bottom (first inline).
static cairo_surface_t *picture_of_points(LithoSurveyMap *self, int *n1, int *n2)
{
    double span[2];
    for (int c = 0; c < 2; c++)
        span[c] = MAX((double)self->hi[c] - self->lo[c], 1);
    *n1 = (int)MIN(span[0] + 1, SIDE);
    *n2 = (int)MIN(span[1] + 1, SIDE);
    cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_A8, *n2, *n1);
    guint8 *pixels = cairo_image_surface_get_data(picture);
    int stride = cairo_image_surface_get_stride(picture);
    for (guint k = 0; k < self->points->len; k++) {
        const gint32 *p = ((gint32(*)[2])(void *)self->points->data)[k];
        int i = (int)((p[0] - (double)self->lo[0]) / span[0] * (*n1 - 1) + 0.5);
        int j = (int)((p[1] - (double)self->lo[1]) / span[1] * (*n2 - 1) + 0.5);
        pixels[(*n1 - 1 - i) * stride + j] = 255;
    }
    cairo_surface_mark_dirty(picture);
    return picture;
}

static cairo_surface_t *picture_of_survey(LithoSurveyMap *self, int *n1, int *n2)
{
    const LithoGrid *g = litho_survey_grid(self->survey);
    *n1 = (int)MIN(g->axis[0].n, SIDE);
    *n2 = (int)MIN(g->axis[1].n, SIDE);
    cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_A8, *n2, *n1);
    guint8 *pixels = cairo_image_surface_get_data(picture);
    int stride = cairo_image_surface_get_stride(picture);
    for (int i = 0; i < *n1; i++)
        for (int j = 0; j < *n2; j++) {
            gint64 a = i * g->axis[0].n / *n1, b = j * g->axis[1].n / *n2;
            pixels[(*n1 - 1 - i) * stride + j] =
                litho_survey_has_trace(self->survey, a, b) ? 255 : 0;
        }
    cairo_surface_mark_dirty(picture);
    return picture;
}

// World (x east, y north) of the unit square's corners: (0, 0) first inline and crossline, (1, 0)
// last crossline, (0, 1) last inline.
static void frame_of(LithoSurveyMap *self, double origin[2], double right[2], double up[2])
{
    const LithoGrid *g = self->survey ? litho_survey_grid(self->survey) : NULL;
    if (g && g->has_xy) {
        for (int c = 0; c < 2; c++) {
            origin[c] = g->origin[c];
            right[c] = g->xline_step[c] * MAX(g->axis[1].n - 1, 1);
            up[c] = g->inline_step[c] * MAX(g->axis[0].n - 1, 1);
        }
        // A single line has no width; a map needs some.
        if (g->axis[0].n == 1) {
            up[0] = -right[1] * 0.03;
            up[1] = right[0] * 0.03;
        }
        return;
    }
    origin[0] = origin[1] = right[1] = up[0] = 0;
    right[0] = up[1] = 1;
}

// Fits the parallelogram into the rectangle: world -> pixels.
static cairo_matrix_t fit(const double origin[2], const double right[2], const double up[2],
                          double w, double h, gboolean stretch)
{
    double lo[2], hi[2];
    for (int c = 0; c < 2; c++) {
        double at[] = {origin[c], origin[c] + right[c], origin[c] + up[c],
                       origin[c] + right[c] + up[c]};
        lo[c] = MIN(MIN(at[0], at[1]), MIN(at[2], at[3]));
        hi[c] = MAX(MAX(at[0], at[1]), MAX(at[2], at[3]));
    }
    double sx = (w - 2 * MARGIN) / MAX(hi[0] - lo[0], 1e-9);
    double sy = (h - 2 * MARGIN) / MAX(hi[1] - lo[1], 1e-9);
    if (!stretch)
        sx = sy = MIN(sx, sy);
    cairo_matrix_t m;
    cairo_matrix_init(&m, sx, 0, 0, -sy, w / 2 - sx * (lo[0] + hi[0]) / 2,
                      h / 2 + sy * (lo[1] + hi[1]) / 2);
    return m;
}

static void draw_picture(cairo_t *cr, cairo_surface_t *picture, int n1, int n2,
                         const cairo_matrix_t *world, const double origin[2], const double right[2],
                         const double up[2])
{
    // Pixels of the picture (row 0 on top = last inline) -> unit square -> world -> screen.
    cairo_matrix_t unit = {1.0 / n2, 0, 0, -1.0 / n1, 0, 1};
    cairo_matrix_t square = {right[0], right[1], up[0], up[1], origin[0], origin[1]}, all;
    cairo_matrix_multiply(&all, &unit, &square);
    cairo_matrix_multiply(&all, &all, world);
    cairo_save(cr);
    cairo_transform(cr, &all);
    cairo_pattern_t *mask = cairo_pattern_create_for_surface(picture);
    cairo_pattern_set_filter(mask, CAIRO_FILTER_NEAREST);
    cairo_mask(cr, mask);
    cairo_pattern_destroy(mask);
    cairo_rectangle(cr, 0, 0, n2, n1);
    cairo_restore(cr);
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
}

// "Inlines 10–52", "Inline 7".
static char *range_text(const char *one, const char *many, const LithoAxis *a)
{
    return a->n == 1
               ? litho_text_printf("%s %.10g%s%s", one, a->first, *a->unit ? "\u00a0" : "", a->unit)
               : litho_text_printf("%s %.10g–%.10g%s%s", many, a->first,
                                   litho_axis_value(a, (double)(a->n - 1)),
                                   *a->unit ? "\u00a0" : "", a->unit);
}

// The four ends of the axes, so that a swapped or mirrored survey shows itself; in two lines where
// one has no room. NULL = nothing to say.
static PangoLayout *make_labels(LithoSurveyMap *self, double w)
{
    g_autofree char *text = NULL;
    if (self->survey) {
        const LithoGrid *grid = litho_survey_grid(self->survey);
        g_autofree char *name = litho_axis_word(grid, LITHO_XLINE);
        g_autofree char *names = litho_axis_words(grid, LITHO_XLINE);
        g_autofree char *lines =
            range_text(litho_axis_name(grid, LITHO_INLINE), litho_axis_plural(grid, LITHO_INLINE),
                       &grid->axis[LITHO_INLINE]);
        g_autofree char *traces = range_text(name, names, &grid->axis[LITHO_XLINE]);
        text = g_strdup_printf("%s · %s", lines, traces);
    } else if (self->points->len > 0) {
        text = g_strdup_printf("%d–%d · %d–%d", self->lo[0], self->hi[0], self->lo[1], self->hi[1]);
    }
    if (!text)
        return NULL;
    PangoLayout *layout = gtk_widget_create_pango_layout(GTK_WIDGET(self), text);
    pango_layout_set_width(layout, (int)w * PANGO_SCALE);
    pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER);
    return layout;
}

static void snapshot_map(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoSurveyMap *self = LITHO_SURVEY_MAP(widget);
    double w = gtk_widget_get_width(widget), h = gtk_widget_get_height(widget);
    double origin[2], right[2], up[2];
    int n1, n2;
    if ((!self->survey && self->points->len == 0) || w < 4 * MARGIN || h < 4 * MARGIN)
        return;
    GdkRGBA ink;
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), &ink);
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(0, 0, w, h));
    gdk_cairo_set_source_rgba(cr, &ink);
    cairo_surface_t *picture =
        self->survey ? picture_of_survey(self, &n1, &n2) : picture_of_points(self, &n1, &n2);
    frame_of(self, origin, right, up);
    gboolean has_xy = self->survey && litho_survey_grid(self->survey)->has_xy;
    g_autoptr(PangoLayout) labels = make_labels(self, w);
    int foot = 0;
    if (labels)
        pango_layout_get_pixel_size(labels, NULL, &foot);
    cairo_matrix_t world = fit(origin, right, up, w, h - MAX(foot - MARGIN, 0), !has_xy);
    draw_picture(cr, picture, n1, n2, &world, origin, right, up);
    if (labels) {
        cairo_move_to(cr, 0, h - foot);
        pango_cairo_show_layout(cr, labels);
    }
    cairo_surface_destroy(picture);
    cairo_destroy(cr);
}

// --- the widget ---------------------------------------------------------------------------------

static void litho_survey_map_init(LithoSurveyMap *self)
{
    gtk_widget_set_direction(GTK_WIDGET(self), GTK_TEXT_DIR_LTR); // in every language
    self->points = g_array_new(FALSE, FALSE, sizeof(gint32[2]));
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-map");
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Map of the survey"), -1);
}

static void finalize(GObject *object)
{
    LithoSurveyMap *self = LITHO_SURVEY_MAP(object);
    g_array_unref(self->points);
    litho_survey_unref(self->survey);
    G_OBJECT_CLASS(litho_survey_map_parent_class)->finalize(object);
}

static void litho_survey_map_class_init(LithoSurveyMapClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = finalize;
    GTK_WIDGET_CLASS(klass)->snapshot = snapshot_map;
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_IMG);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "surveymap");
}

GtkWidget *litho_survey_map_new(void)
{
    return g_object_new(LITHO_TYPE_SURVEY_MAP, NULL);
}
