// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text over the samples of a view: title, axes, colour bar. Each is kept as a drawing of its own,
// as large as it is and no larger: stepping a slice draws one line of text again, not the axes, and
// a frame moves few pixels beside those of the samples.
#include "core/text.h"
#include "render/frame_cache.h"
#include "ui/session/medium.h"
#include "ui/view/cube_view_private.h"
#include "ui/view/small_text.h"

#include <math.h>
#include <string.h>

LithoAxesStyle litho_cube_view_style(LithoCubeView *self)
{
    // Light ink in both themes: the background of the data is dark in both.
    double size = (self->large ? 12 : 11) * litho_text_scale(GTK_WIDGET(self));
    LithoAxesStyle style = {.font_size = size,
                            .ink = {0.86, 0.86, 0.86, 1},
                            .font = "sans",
                            .compact = !self->large,
                            .units = litho_session_display(self->session)->units};
    return style;
}

// --- title --------------------------------------------------------------------------------------

char *litho_cube_view_title(LithoCubeView *self, const LithoGrid *grid, gint64 index)
{
    if (self->axis == LITHO_VIEW_SCENE)
        return g_strdup(_("3-D scene"));
    char *label =
        litho_slice_label(grid, self->axis, index, litho_session_display(self->session)->units);
    label[0] = g_ascii_toupper(label[0]);
    return label;
}

// The velocity that lies over the section, as what may be read inside a sentence; NULL = none does.
static char *medium_name(LithoCubeView *self, LithoShow show)
{
    LithoMedium *medium = litho_medium_of(self->session);
    const LithoLayer *layer = litho_medium_layer(medium);
    const gboolean over = self->axis != LITHO_VIEW_SCENE && show != LITHO_SHOW_INPUT;
    return layer && over && litho_medium_opacity(medium) > 0
               ? litho_text_inside(litho_text(layer->label))
               : NULL;
}

char *litho_cube_view_note(LithoCubeView *self, LithoShow show)
{
    const LithoLook *look = &litho_session_display(self->session)->look;
    GString *note = g_string_new(NULL);
    g_autofree char *label = litho_session_show_label(self->session, show);
    g_autofree char *gain =
        litho_look_gain_name(look, litho_session_grid(self->session), self->axis);
    g_string_append(note, label);
    if (show == LITHO_SHOW_REMOVED && look->removed_gain > 1)
        litho_text_add(note, " ×%g", look->removed_gain);
    if (gain) // of the picture, not of the data: said wherever it is
        g_string_append_printf(note, ", %s", gain);
    g_autofree char *medium = medium_name(self, show);
    if (medium)
        g_string_append_printf(note, ", %s", medium);
    return g_string_free(note, FALSE);
}

// Two narrow panels side by side have room for one word each: the left one says which slice, the
// data are named by their titles.
static void title_texts(LithoCubeView *self, const LithoViewPanel *panel, char **left, char **right)
{
    g_autofree char *title = litho_cube_view_title(self, &panel->grid, panel->view.index);
    g_autofree char *note = litho_cube_view_note(self, panel->show);
    gboolean wide = self->n_panels == 1 || panel->frame.title.w > 180;
    gboolean numbered =
        panel == &self->panel[0] || (self->panel[0].of_input && self->axis == LITHO_SAMPLE);
    *left = g_strdup(wide ? title : note);
    const char *number = strchr(title, ' '); // a line has none
    *right = g_strdup(wide ? note : numbered && number ? number + 1 : "");
}

// --- drawing ------------------------------------------------------------------------------------

typedef struct Drawing {
    LithoCubeView *self;
    const LithoViewPanel *panel;
    LithoAxesStyle style;
    char *left, *right; // of the title
    const char *note;   // over the picture; NULL = none
} Drawing;

static void draw_title(cairo_t *cr, const Drawing *d)
{
    LithoRect left = d->panel->frame.title, right = left;
    if (d->self->covered <= left.x) {
        litho_axes_draw_title(cr, &d->style, left, d->left, d->right);
        return;
    }
    left.w = MIN(left.w, d->self->covered - left.x); // buttons begin right of the name
    right.x += left.w;
    right.w -= left.w;
    litho_axes_draw_title(cr, &d->style, left, d->left, NULL);
    litho_axes_draw_title(cr, &d->style, right, NULL, d->right);
}

// Draws a note about samples that the panel cannot show: at its foot, light on dark, over any
// colours.
static void draw_note(cairo_t *cr, const Drawing *d)
{
    g_auto(GStrv) lines = g_strsplit(d->note, "\n", -1);
    LithoRect r = d->panel->frame.data;
    double line = 1.5 * d->style.font_size, h = line * g_strv_length(lines) + 6;
    cairo_rectangle(cr, r.x, r.y + r.h - h, r.w, h);
    cairo_set_source_rgba(cr, 0, 0, 0, 0.72);
    cairo_fill(cr);
    for (guint k = 0; lines[k]; k++)
        litho_axes_draw_caption(cr, &d->style,
                                (LithoRect){r.x + 6, r.y + r.h - h + 3 + k * line, r.w - 12, line},
                                lines[k]);
}

static void draw_axes(cairo_t *cr, const Drawing *d)
{
    litho_axes_draw(cr, &d->style, &d->panel->grid, &d->panel->map);
}

static void draw_labels(cairo_t *cr, const Drawing *d)
{
    LithoSceneView scene = litho_cube_view_scene(d->self);
    litho_scene_draw_labels(cr, &d->style, &d->panel->grid, &scene, d->panel->frame.data, NULL);
}

static void draw_bar(cairo_t *cr, const Drawing *d)
{
    LithoLook look = litho_session_look_for(d->self->session, d->panel->show);
    if (d->self->axis == LITHO_SAMPLE)
        look.agc = 0;
    litho_colorbar_draw(cr, &d->style, d->panel->frame.bar, &look, d->panel->show,
                        litho_session_unit(d->self->session));
}

static void append(GtkSnapshot *snapshot, const Drawing *drawing,
                   void (*draw)(cairo_t *cr, const Drawing *drawing), LithoRect r)
{
    if (r.w <= 0 || r.h <= 0)
        return;
    // Whole pixels, and one more around: letters reach over their line a little.
    double x = floor(r.x) - 1, y = floor(r.y) - 1;
    double w = ceil(r.x + r.w) + 1 - x, h = ceil(r.y + r.h) + 1 - y;
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(x, y, w, h));
    draw(cr, drawing);
    cairo_destroy(cr);
}

// Numbers and ticks lie left and on top; the other two sides of the frame are plain lines.
static void append_axes(GtkSnapshot *snapshot, const Drawing *drawing)
{
    LithoRect d = drawing->panel->frame.data, t = drawing->panel->frame.title;
    LithoRect all = drawing->panel->area;
    double top = t.y + t.h, bottom = all.y + all.h;
    const double *ink = drawing->style.ink;
    const GdkRGBA colour = {ink[0], ink[1], ink[2], 0.75f * (float)ink[3]};
    append(snapshot, drawing, draw_axes, (LithoRect){all.x, top, all.w, d.y + 1 - top});
    append(snapshot, drawing, draw_axes,
           (LithoRect){all.x, d.y + 3, d.x - all.x, bottom - d.y - 3});
    gtk_snapshot_append_color(snapshot, &colour,
                              &GRAPHENE_RECT_INIT(d.x + d.w, d.y + 2, 1, d.h - 1));
    gtk_snapshot_append_color(snapshot, &colour,
                              &GRAPHENE_RECT_INIT(d.x + 1, d.y + d.h, d.w - 1, 1));
}

// --- pieces -------------------------------------------------------------------------------------

enum { TITLE, AXES, BAR }; // LITHO_VIEW_PIECES of them

static guint64 hash_rect(guint64 hash, LithoRect r)
{
    return litho_hash_bytes(hash, &r, sizeof r);
}

// Hash of all that a piece shows.
static guint64 hash_of(const Drawing *d, int piece)
{
    const LithoViewPanel *panel = d->panel;
    guint64 hash = litho_hash_bytes(LITHO_HASH_BEGIN, &d->style.font_size, sizeof(double));
    hash = litho_hash_bytes(hash, &d->style.units, sizeof d->style.units);
    if (piece == TITLE) {
        hash = hash_rect(hash, panel->frame.title);
        hash = litho_hash_bytes(hash, &d->self->covered, sizeof d->self->covered);
        hash = litho_hash_bytes(hash, d->left, strlen(d->left) + 1);
        hash = litho_hash_bytes(hash, d->right, strlen(d->right) + 1);
        hash = hash_rect(hash, d->note ? panel->frame.data : (LithoRect){0});
        return litho_hash_bytes(hash, d->note ? d->note : "", d->note ? strlen(d->note) : 0);
    }
    hash = hash_rect(hash_rect(hash, panel->frame.data), panel->area);
    if (piece == BAR) {
        LithoLook look = litho_session_look_for(d->self->session, panel->show);
        const char *unit = litho_session_unit(d->self->session);
        hash = litho_hash_bytes(hash, &panel->show, sizeof panel->show);
        hash = litho_hash_bytes(hash, &unit, sizeof unit); // static texts
        return litho_hash_bytes(hash, &look, sizeof look);
    }
    hash = litho_hash_bytes(hash, &panel->grid, sizeof panel->grid);
    if (d->self->axis == LITHO_VIEW_SCENE) {
        LithoSceneView scene = litho_cube_view_scene(d->self);
        memset(scene.index, 0, sizeof scene.index); // labels stand around the box
        return litho_hash_bytes(hash, &scene, sizeof scene);
    }
    const double window[4] = {panel->map.left, panel->map.right, panel->map.top, panel->map.bottom};
    return litho_hash_bytes(hash, window, sizeof window);
}

static GskRenderNode *make(const Drawing *d, int piece)
{
    g_autoptr(GtkSnapshot) snapshot = gtk_snapshot_new();
    if (piece == TITLE) {
        append(snapshot, d, draw_title, d->panel->frame.title);
        if (d->note)
            append(snapshot, d, draw_note, d->panel->frame.data);
    } else if (piece == BAR)
        append(snapshot, d, draw_bar,
               (LithoRect){d->panel->frame.bar.x, d->panel->area.y, d->panel->frame.bar.w,
                           d->panel->area.h});
    else if (d->self->axis == LITHO_VIEW_SCENE)
        append(snapshot, d, draw_labels, d->panel->frame.data);
    else
        append_axes(snapshot, d);
    return gtk_snapshot_to_node(snapshot);
}

// TRUE when the removed part is so weak beside the colours that its section looks empty.
static gboolean is_faint(LithoCubeView *self, LithoShow show)
{
    const double least = 0.02; // of half the colours: the next shade of white
    const LithoCubeNumbers *in = litho_session_numbers(self->session, LITHO_NUMBERS_IN);
    const LithoQuality *q = self->judgement ? litho_judgement_figures(self->judgement, NULL) : NULL;
    if (self->axis == LITHO_VIEW_SCENE || show != LITHO_SHOW_REMOVED || !in || !q ||
        litho_session_reference_name(self->session))
        return FALSE;
    const LithoLook look = litho_session_look_for(self->session, show);
    const double rms = in->stats.rms * sqrt(q->removed) * MAX(look.removed_gain, 1) * look.gain;
    return rms > 0 && rms < least * (look.hi - look.lo) / 2;
}

gboolean litho_cube_view_overlay_update(LithoCubeView *self)
{
    gboolean changed = self->n_drawn != self->n_panels;
    self->n_drawn = self->n_panels;
    for (guint k = 0; k < self->n_panels; k++) {
        Drawing d = {.self = self, .panel = &self->panel[k], .style = litho_cube_view_style(self)};
        d.style.beside = self->panel[k].beside;
        if (self->axis != LITHO_VIEW_SCENE && d.panel->show != LITHO_SHOW_INPUT)
            d.note = litho_session_not_computed(self->session, self->axis);
        if (!d.note && is_faint(self, d.panel->show))
            d.note = _("Fainter than these colours show: } amplifies the removed part.");
        title_texts(self, d.panel, &d.left, &d.right);
        for (int p = 0; p < LITHO_VIEW_PIECES; p++) {
            LithoViewPiece *piece = &self->piece[k][p];
            guint64 hash = hash_of(&d, p);
            if (piece->node && piece->hash == hash)
                continue;
            g_clear_pointer(&piece->node, gsk_render_node_unref);
            piece->node = make(&d, p);
            changed = changed || piece->hash != hash;
            piece->hash = hash;
        }
        g_free(d.left);
        g_free(d.right);
    }
    return changed;
}

void litho_cube_view_overlay_append(LithoCubeView *self, GtkSnapshot *snapshot)
{
    for (guint k = 0; k < self->n_drawn; k++)
        for (int p = 0; p < LITHO_VIEW_PIECES; p++)
            if (self->piece[k][p].node)
                gtk_snapshot_append_node(snapshot, self->piece[k][p].node);
}

void litho_cube_view_overlay_clear(LithoCubeView *self)
{
    for (int k = 0; k < LITHO_VIEW_PANELS; k++)
        for (int p = 0; p < LITHO_VIEW_PIECES; p++)
            g_clear_pointer(&self->piece[k][p].node, gsk_render_node_unref);
}
