// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/medium.h"

#include <math.h>

static const char key[] = "litho-medium";

struct _LithoMedium {
    GObject parent;
    LithoSession *session; // owns it
    LithoLayer layer;      // cube NULL = none
    double lo, hi, opacity;
};

G_DEFINE_TYPE(LithoMedium, litho_medium, G_TYPE_OBJECT)

static guint changed_signal;

const LithoLayer *litho_medium_layer(LithoMedium *self)
{
    return self->layer.cube ? &self->layer : NULL;
}

void litho_medium_range(LithoMedium *self, double *lo, double *hi)
{
    *lo = self->lo;
    *hi = self->hi;
}

double litho_medium_opacity(LithoMedium *self)
{
    return self->opacity;
}

void litho_medium_set_opacity(LithoMedium *self, double opacity)
{
    opacity = CLAMP(opacity, 0, 1);
    if (opacity == self->opacity)
        return;
    self->opacity = opacity;
    g_signal_emit(self, changed_signal, 0);
}

// Layers are coarse: all of it is looked at.
static void measure(LithoMedium *self)
{
    const LithoCube *cube = self->layer.cube;
    self->lo = INFINITY;
    self->hi = -INFINITY;
    for (gint64 k = 0; cube && k < litho_grid_samples(&cube->grid); k++) {
        self->lo = MIN(self->lo, cube->samples[k]);
        self->hi = MAX(self->hi, cube->samples[k]);
    }
}

static void on_report(LithoMedium *self)
{
    g_autoptr(GArray) layers = litho_session_report_layers(self->session);
    const LithoLayer *newest =
        layers && layers->len > 0 ? &g_array_index(layers, LithoLayer, layers->len - 1) : NULL;
    if ((newest ? newest->cube : NULL) == self->layer.cube)
        return;
    litho_cube_unref(self->layer.cube);
    self->layer = newest ? *newest : (LithoLayer){.cube = NULL};
    if (newest)
        litho_cube_ref(newest->cube);
    measure(self);
    g_signal_emit(self, changed_signal, 0);
}

gboolean litho_medium_value(LithoMedium *self, const double at[3], double *value)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoCube *cube = self->layer.cube;
    double share[3], sum = 0;
    gint64 base[3];
    if (!cube || !grid || grid->is_depth != cube->grid.is_depth)
        return FALSE;
    for (int a = 0; a < 3; a++) {
        const LithoAxis *axis = &cube->grid.axis[a];
        double index = litho_axis_index(axis, litho_axis_value(&grid->axis[a], at[a]));
        index = CLAMP(index, 0, axis->n - 1);
        base[a] = MIN((gint64)index, MAX(axis->n - 2, 0));
        share[a] = index - base[a];
    }
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        gint64 c[3];
        for (int a = 0; a < 3; a++) {
            const int up = corner >> a & 1;
            weight *= up ? share[a] : 1 - share[a];
            c[a] = MIN(base[a] + up, cube->grid.axis[a].n - 1);
        }
        sum += weight * litho_cube_trace(cube, c[0], c[1])[c[2]];
    }
    *value = sum;
    return TRUE;
}

// --- life ---------------------------------------------------------------------------------------

static void finalize(GObject *object)
{
    litho_cube_unref(LITHO_MEDIUM(object)->layer.cube);
    G_OBJECT_CLASS(litho_medium_parent_class)->finalize(object);
}

static void litho_medium_init(LithoMedium *self)
{
    (void)self;
}

static void litho_medium_class_init(LithoMediumClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = finalize;
    changed_signal = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

LithoMedium *litho_medium_of(LithoSession *session)
{
    LithoMedium *self = g_object_get_data(G_OBJECT(session), key);
    if (self)
        return self;
    self = g_object_new(LITHO_TYPE_MEDIUM, NULL);
    self->session = session;
    g_object_set_data_full(G_OBJECT(session), key, self, g_object_unref);
    g_signal_connect_object(session, "report-changed", G_CALLBACK(on_report), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(on_report), self,
                            G_CONNECT_SWAPPED);
    on_report(self);
    return self;
}
