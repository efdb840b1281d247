// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/points.h"

#include <math.h>

#include "core/axis_names.h"

static const char key[] = "litho-points";

struct _LithoPoints {
    GObject parent;
    LithoSession *session; // owns it
    guint64 input_serial;  // they are of; 0 = none
    GArray *list;          // of LithoPoint
};

G_DEFINE_TYPE(LithoPoints, litho_points, G_TYPE_OBJECT)

static guint changed_signal;

guint litho_points_count(LithoPoints *self)
{
    return self->list->len;
}

const LithoPoint *litho_points_get(LithoPoints *self, guint k)
{
    return &g_array_index(self->list, LithoPoint, k);
}

void litho_points_clear(LithoPoints *self)
{
    if (self->list->len == 0)
        return;
    g_array_set_size(self->list, 0);
    g_signal_emit(self, changed_signal, 0);
}

GArray *litho_points_copy(LithoPoints *self)
{
    return g_array_copy(self->list);
}

void litho_points_set(LithoPoints *self, const GArray *list)
{
    g_array_set_size(self->list, 0);
    g_array_append_vals(self->list, list->data, list->len);
    g_signal_emit(self, changed_signal, 0);
}

// The line of a file that is being opened comes and may go again: the points are of what is open.
static void on_cube(LithoPoints *self)
{
    const LithoCube *in = litho_session_input(self->session);
    const guint64 serial = in ? in->serial : 0;
    if (litho_session_previews(self->session) || serial == self->input_serial)
        return;
    self->input_serial = serial;
    litho_points_clear(self);
}

static double amplitude(LithoPoints *self, gboolean output, const gint64 at[3])
{
    float value;
    gboolean known = (!output || litho_session_result(self->session)) &&
                     litho_session_sample(self->session, output, at, &value);
    return known ? value : NAN;
}

guint litho_points_add(LithoPoints *self, const gint64 at[3])
{
    const LithoGrid *grid = litho_session_grid(self->session);
    for (int a = 0; a < 3; a++)
        if (!grid || at[a] < 0 || at[a] >= grid->axis[a].n)
            return 0;
    gint64 there[3] = {at[0], at[1], at[2]}; // the same place in the input
    if (!litho_session_comparable(self->session) && litho_session_side_by_side(self->session))
        there[2] = llround(litho_session_to_input(self->session, at[2]));
    LithoPoint p = {
        .line = {litho_axis_value(&grid->axis[0], at[0]), litho_axis_value(&grid->axis[1], at[1])},
        .xy = {NAN, NAN},
        .sample = litho_axis_value(&grid->axis[2], at[2]),
        .is_depth = grid->is_depth,
        .in = amplitude(self, FALSE, there),
        .out = amplitude(self, TRUE, at)};
    for (int c = 0; c < 2 && litho_grid_is_placed(grid) && !grid->has_no_place; c++)
        p.xy[c] = grid->origin[c] + at[0] * grid->inline_step[c] + at[1] * grid->xline_step[c];
    g_array_append_val(self->list, p);
    g_signal_emit(self, changed_signal, 0);
    return self->list->len;
}

gboolean litho_points_place(LithoPoints *self, guint k, double at[3])
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoPoint *p = litho_points_get(self, k);
    if (!grid || grid->is_depth != p->is_depth)
        return FALSE;
    for (int a = 0; a < 2; a++)
        at[a] = litho_axis_index(&grid->axis[a], p->line[a]);
    at[2] = litho_axis_index(&grid->axis[2], p->sample);
    return TRUE;
}

// An empty field where nothing is known; with a point, whatever the locale.
static void add_field(GString *text, double value, const char *format)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_c(text, ',');
    if (isfinite(value))
        g_string_append(text, g_ascii_formatd(number, sizeof number, format, value));
}

char *litho_points_csv(LithoPoints *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    GString *text = g_string_new("point,");
    g_string_append_printf(text, "%s,%s,x_m,y_m,time_s,depth_m,input,output\n",
                           grid ? litho_axis_key(grid, LITHO_INLINE) : "inline",
                           grid ? litho_axis_key(grid, LITHO_XLINE) : "crossline");
    for (guint k = 0; k < self->list->len; k++) {
        const LithoPoint *p = litho_points_get(self, k);
        g_string_append_printf(text, "%u", k + 1);
        for (int a = 0; a < 2; a++)
            add_field(text, p->line[a], "%.10g");
        for (int c = 0; c < 2; c++)
            add_field(text, p->xy[c], "%.2f");
        add_field(text, p->is_depth ? NAN : p->sample, "%.6f");
        add_field(text, p->is_depth ? p->sample : NAN, "%.3f");
        add_field(text, p->in, "%.9g");
        add_field(text, p->out, "%.9g");
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}

// --- life ---------------------------------------------------------------------------------------

static void finalize(GObject *object)
{
    g_array_unref(LITHO_POINTS(object)->list);
    G_OBJECT_CLASS(litho_points_parent_class)->finalize(object);
}

static void litho_points_init(LithoPoints *self)
{
    self->list = g_array_new(FALSE, FALSE, sizeof(LithoPoint));
}

static void litho_points_class_init(LithoPointsClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = finalize;
    changed_signal = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

LithoPoints *litho_points_of(LithoSession *session)
{
    LithoPoints *self = g_object_get_data(G_OBJECT(session), key);
    if (self)
        return self;
    self = g_object_new(LITHO_TYPE_POINTS, NULL);
    self->session = session;
    g_object_set_data_full(G_OBJECT(session), key, self, g_object_unref);
    on_cube(self); // of what is open already
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(on_cube), self, G_CONNECT_SWAPPED);
    return self;
}
