// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/model.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

void twsm_model_free(TwsmModel *model)
{
    if (!model)
        return;
    for (int b = 0; b < TWSM_MAX_LAYERS; b++) {
        g_free(model->boundary[b].file);
        twsm_heights_free(model->boundary[b].heights);
        twsm_sheet_free(model->boundary[b].sheet);
    }
    g_free(model);
}

guint64 twsm_model_bytes(const TwsmModel *model)
{
    guint64 bytes = sizeof *model;
    for (int b = 0; b < model->n_boundaries; b++) {
        const TwsmHeights *h = model->boundary[b].heights;
        const TwsmSheet *s = model->boundary[b].sheet;
        bytes += h ? sizeof *h->z * h->nx * h->ny : 0;
        bytes += s ? sizeof *s->vertex * s->n_vertices + sizeof *s->triangle * s->n_triangles : 0;
    }
    return bytes;
}

static double gaussian(const TwsmBoundary *b, double x, double y)
{
    double u = b->sigma[0] > 0 ? (x - b->centre[0]) / b->sigma[0] : 0;
    double v = b->sigma[1] > 0 ? (y - b->centre[1]) / b->sigma[1] : 0;
    return b->depth + b->amplitude * exp(-0.5 * (u * u + v * v));
}

double twsm_boundary_depth(const TwsmBoundary *b, double x, double y)
{
    switch (b->shape) {
    case TWSM_DIPPING:
        return b->depth + b->slope[0] * x + b->slope[1] * y;
    case TWSM_GAUSSIAN:
        return gaussian(b, x, y);
    case TWSM_HEIGHTS:
    case TWSM_SHEET:
        return b->shift + (b->heights ? twsm_heights_at(b->heights, x, y) : 0);
    default:
        return b->depth;
    }
}

int twsm_model_layer(const TwsmModel *model, double x, double y, double z)
{
    int layer = 0;
    for (int b = 0; b < model->n_boundaries; b++)
        layer += z > twsm_boundary_depth(&model->boundary[b], x, y);
    return layer;
}

void twsm_model_receiver(const TwsmModel *model, int ix, int iy, double at[3])
{
    at[0] = model->receiver_first[0] + ix * model->receiver_step[0];
    at[1] = model->receiver_first[1] + iy * model->receiver_step[1];
    at[2] = model->receiver_z;
}

// --- wave codes -------------------------------------------------------------------------------

static gboolean trace_code(const TwsmModel *model, TwsmCode *code, int layer, GError **error)
{
    for (int m = 0; m < code->n; m++) {
        int b = code->hit[m].boundary;
        code->layer[m] = layer;
        if (b != layer && b != layer - 1) {
            char bounds[40];
            if (layer > 0 && layer < model->n_boundaries)
                g_snprintf(bounds, sizeof bounds, _("boundaries %d and %d"), layer - 1, layer);
            else
                g_snprintf(bounds, sizeof bounds, _("boundary %d"), layer > 0 ? layer - 1 : layer);
            g_set_error(
                error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                _("wave code '%s': hit %d is at boundary %d, but the wave is in layer %d then, "
                  "which ends at %s"),
                code->text, m + 1, b, layer, bounds);
            return FALSE;
        }
        if (code->hit[m].transmit)
            layer = b == layer ? layer + 1 : layer - 1;
    }
    code->layer[code->n] = layer;
    return TRUE;
}

// A point of a boundary is in no layer, and its distance to the element under it is 0.
static gboolean check_off_boundaries(const TwsmModel *model, const char *what, int number,
                                     const double at[3], GError **error)
{
    for (int b = 0; b < model->n_boundaries; b++) {
        if (fabs(twsm_boundary_depth(&model->boundary[b], at[0], at[1]) - at[2]) > 0.01)
            continue;
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("%s %d lies on boundary %d; it must be in a layer"), what, number, b);
        return FALSE;
    }
    return TRUE;
}

static gboolean check_receivers(const TwsmModel *model, const TwsmCode *code, GError **error)
{
    for (int iy = 0; iy < model->receiver_count[1]; iy++)
        for (int ix = 0; ix < model->receiver_count[0]; ix++) {
            double p[3];
            twsm_model_receiver(model, ix, iy, p);
            int layer = twsm_model_layer(model, p[0], p[1], p[2]);
            if (!check_off_boundaries(model, "receiver", iy * model->receiver_count[0] + ix + 1, p,
                                      error))
                return FALSE;
            if (layer == code->layer[code->n])
                continue;
            litho_refuse(error, LITHO_ERROR_GEOMETRY,
                         "the receiver at (%g, %g, %g) m is in layer %d; wave code '%s' ends in "
                         "layer %d",
                         p[0], p[1], p[2], layer, code->text, code->layer[code->n]);
            return FALSE;
        }
    return TRUE;
}

gboolean twsm_model_trace_codes(TwsmModel *model, GError **error)
{
    for (int s = 0; s < model->n_sources; s++)
        if (!check_off_boundaries(model, "source", s + 1, model->source[s], error))
            return FALSE;
    const double *first = model->source[0];
    int layer = twsm_model_layer(model, first[0], first[1], first[2]);
    for (int s = 1; s < model->n_sources; s++) {
        const double *p = model->source[s];
        if (twsm_model_layer(model, p[0], p[1], p[2]) == layer)
            continue;
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
            _("source %d is in another layer than source 1 (layer %d); all sources must be in "
              "one layer"),
            s + 1, layer);
        return FALSE;
    }
    for (int c = 0; c < model->n_codes; c++)
        if (!trace_code(model, &model->code[c], layer, error) ||
            !check_receivers(model, &model->code[c], error))
            return FALSE;
    return TRUE;
}
