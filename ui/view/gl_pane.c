// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/gl_pane.h"

struct _LithoGlPane {
    GtkGLArea parent;
    gboolean pictures;
    GskRenderNode *picture[LITHO_PANE_PICTURES];
};

G_DEFINE_TYPE(LithoGlPane, litho_gl_pane, GTK_TYPE_GL_AREA)

void litho_gl_pane_set_pictures(LithoGlPane *self, gboolean on)
{
    self->pictures = on;
}

void litho_gl_pane_show(LithoGlPane *self, guint which, cairo_surface_t *picture, LithoRect place)
{
    g_clear_pointer(&self->picture[which], gsk_render_node_unref);
    if (!picture)
        return;
    // Drawn by cairo, the picture goes to the window as it is. The node stays the same until the
    // picture changes, which tells GTK that there is nothing to draw.
    GskRenderNode *node =
        gsk_cairo_node_new(&GRAPHENE_RECT_INIT(place.x, place.y, place.w, place.h));
    cairo_t *cr = gsk_cairo_node_get_draw_context(node);
    cairo_set_source_surface(cr, picture, place.x, place.y);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_destroy(cr);
    self->picture[which] = node;
}

static void snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoGlPane *self = LITHO_GL_PANE(widget);
    GtkGLArea *area = GTK_GL_AREA(widget);
    if (!self->pictures || gtk_gl_area_get_error(area)) {
        GTK_WIDGET_CLASS(litho_gl_pane_parent_class)->snapshot(widget, snapshot);
        return;
    }
    gboolean drew = FALSE;
    gtk_gl_area_make_current(area);
    g_signal_emit_by_name(area, "render", gtk_gl_area_get_context(area), &drew);
    for (guint k = 0; k < LITHO_PANE_PICTURES; k++)
        if (self->picture[k])
            gtk_snapshot_append_node(snapshot, self->picture[k]);
}

static void dispose(GObject *object)
{
    for (guint k = 0; k < LITHO_PANE_PICTURES; k++)
        g_clear_pointer(&LITHO_GL_PANE(object)->picture[k], gsk_render_node_unref);
    G_OBJECT_CLASS(litho_gl_pane_parent_class)->dispose(object);
}

static void litho_gl_pane_init(LithoGlPane *self)
{
    (void)self;
}

static void litho_gl_pane_class_init(LithoGlPaneClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    GTK_WIDGET_CLASS(klass)->snapshot = snapshot;
}

GtkWidget *litho_gl_pane_new(void)
{
    return g_object_new(LITHO_TYPE_GL_PANE, NULL);
}
