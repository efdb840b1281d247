// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synth/synth_model.h"

#include <math.h>

#include "core/error.h"
#include "core/io/survey.h"
#include "core/text.h"

// --- models of a few numbers --------------------------------------------------------------------

// Depth (m) of reflector `k` under (x, y); NAN = no more.
static double reflector_depth(const LithoSynthModel *m, int k, double x, double y)
{
    const double z = m->depth, wide = m->n[2] * m->cell;
    switch (m->kind) {
    case LITHO_MODEL_FLAT:
        return k == 0 ? z : k == 1 ? 1.6 * z : NAN;
    case LITHO_MODEL_DIPPING: // 20 degrees along the crosslines, 8 along the inlines; a flat one
                              // below
        return k == 0   ? z + tan(20 * G_PI / 180) * x + tan(8 * G_PI / 180) * y
               : k == 1 ? 1.7 * z
                        : NAN;
    case LITHO_MODEL_SYNCLINE: // curved more than a wave from that depth: the record shows a bow
                               // tie
        return k == 0   ? 0.7 * z + 0.5 * z * exp(-pow(x / (0.12 * wide), 2))
               : k == 1 ? 1.6 * z
                        : NAN;
    case LITHO_MODEL_SALT:
        return k == 0 ? 0.5 * z : k == 1 ? 1.9 * z : NAN;
    case LITHO_MODEL_LENS:
        return k == 0 ? z : NAN;
    default:
        return NAN;
    }
}

static gboolean inside_salt(const LithoSynthModel *m, double x, double y, double z)
{
    const double wide = m->n[2] * m->cell;
    double a = x / (0.2 * wide), b = m->n[1] > 1 ? y / (0.3 * m->n[1] * m->cell) : 0;
    double c = (z - 1.15 * m->depth) / (0.35 * m->depth);
    return m->kind == LITHO_MODEL_SALT && a * a + b * b + c * c < 1;
}

// Velocity of the uppermost rock; a lens in it is 30 % slower in its middle, without a sharp edge.
static double top_velocity(const LithoSynthModel *m, double x, double y, double z)
{
    if (m->kind != LITHO_MODEL_LENS)
        return m->velocity;
    const double wide = m->n[2] * m->cell;
    double a = x / (0.12 * wide), b = m->n[1] > 1 ? y / (0.2 * m->n[1] * m->cell) : 0;
    double c = (z - 0.45 * m->depth) / (0.15 * m->depth);
    return m->velocity * (1 - 0.3 * exp(-a * a - b * b - c * c));
}

static double layered_velocity(const LithoSynthModel *m, double x, double y, double z)
{
    if (inside_salt(m, x, y, z))
        return 2 * m->velocity;
    double v = top_velocity(m, x, y, z);
    for (int k = 0;; k++) {
        double depth = reflector_depth(m, k, x, y);
        if (isnan(depth))
            return v;
        if (z >= depth)
            v *= 1.15;
    }
}

// --- a cube -------------------------------------------------------------------------------------

// Metres between samples of the cube's axis, in the order depth, inline, crossline.
static double spacing_of(const LithoGrid *grid, int k, double cell)
{
    if (k == 0)
        return grid->axis[LITHO_SAMPLE].source == LITHO_FROM_ASSUMED
                   ? cell
                   : fabs(grid->axis[LITHO_SAMPLE].step);
    gboolean stated = grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED;
    return stated ? litho_grid_spacing(grid, k - 1) : cell;
}

static gboolean check_velocities(LithoSynthModel *m, GError **error)
{
    const LithoGrid *grid = &m->cube->grid;
    m->fastest = 0;
    for (gint64 i = 0; i < grid->axis[0].n; i++)
        for (gint64 j = 0; j < grid->axis[1].n; j++) {
            const float *trace = litho_cube_trace(m->cube, i, j);
            for (gint64 k = 0; k < grid->axis[2].n; k++) {
                if (!litho_cube_is_live(m->cube, i, j) || !(trace[k] > 0) || !isfinite(trace[k])) {
                    litho_refuse(
                        error, LITHO_ERROR_PARAMETER,
                        "the velocity cube holds %g m/s at inline %g, crossline %g, sample "
                        "%" PRId64 "; every velocity must be there, positive and "
                        "finite",
                        trace[k], litho_axis_value(&grid->axis[0], i),
                        litho_axis_value(&grid->axis[1], j), k);
                    return FALSE;
                }
                m->fastest = fmax(m->fastest, trace[k]);
            }
        }
    return TRUE;
}

gboolean litho_synth_model_load(LithoSynthModel *m, const char *path, LithoRun *run, GError **error)
{
    static const int axis[3] = {LITHO_SAMPLE, LITHO_INLINE, LITHO_XLINE};
    if (!*path) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("model=file needs a velocity cube; name it with file=PATH"));
        return FALSE;
    }
    m->cube = litho_cube_load(path, NULL, run, error);
    if (!m->cube)
        return FALSE;
    const LithoGrid *grid = &m->cube->grid;
    if (!grid->is_depth && grid->axis[LITHO_SAMPLE].source != LITHO_FROM_ASSUMED) {
        litho_refuse(
            error, LITHO_ERROR_GEOMETRY,
            "the velocity cube %s is sampled in time (%g s); velocity against depth is needed",
            path, grid->axis[LITHO_SAMPLE].step);
        return FALSE;
    }
    for (int k = 0; k < 3; k++) {
        m->spacing[k] = spacing_of(grid, k, m->cell);
        // A depth sample stands for the rock around it, traces stand on their places.
        double cells = k == 0 ? grid->axis[axis[k]].n * m->spacing[k] / m->cell
                              : (grid->axis[axis[k]].n - 1) * m->spacing[k] / m->cell + 1;
        if (!(cells <= 20000)) {
            litho_refuse(
                error, LITHO_ERROR_PARAMETER,
                "cells of %g m make %.0f of one axis of the velocity cube; 20000 are the most, "
                "raise cell",
                m->cell, cells);
            return FALSE;
        }
        m->n[k] = MAX(1, (int)(cells + 1e-6));
    }
    return check_velocities(m, error);
}

void litho_synth_model_clear(LithoSynthModel *m)
{
    g_clear_pointer(&m->cube, litho_cube_unref);
}

// Linear between the cube's traces and depths; beyond its edge the edge holds.
static double cube_velocity(const LithoSynthModel *m, double x, double y, double z)
{
    const LithoAxis *axis = m->cube->grid.axis;
    const double from_surface = axis[LITHO_SAMPLE].source == LITHO_FROM_ASSUMED
                                    ? 0
                                    : fmin(axis[LITHO_SAMPLE].first / axis[LITHO_SAMPLE].step, 1e9);
    const double at[3] = {y / m->spacing[1] + (axis[0].n - 1) / 2.0,
                          x / m->spacing[2] + (axis[1].n - 1) / 2.0,
                          z / m->spacing[0] - from_surface};
    gint64 low[3];
    double part[3];
    for (int k = 0; k < 3; k++) {
        double inside = CLAMP(at[k], 0, axis[k].n - 1.0);
        low[k] = MIN((gint64)inside, MAX(axis[k].n - 2, 0));
        part[k] = inside - (double)low[k];
    }
    double sum = 0;
    for (int c = 0; c < 4; c++) {
        const int i = c & 1, j = c >> 1;
        double share = (i ? part[0] : 1 - part[0]) * (j ? part[1] : 1 - part[1]);
        if (share == 0)
            continue;
        const float *v = litho_cube_trace(m->cube, low[0] + i, low[1] + j) + low[2];
        sum += share * (part[2] > 0 ? (1 - part[2]) * v[0] + part[2] * v[1] : v[0]);
    }
    return sum;
}

// --- both ---------------------------------------------------------------------------------------

static double velocity_at(const LithoSynthModel *m, double x, double y, double z)
{
    return m->cube ? cube_velocity(m, x, y, z) : layered_velocity(m, x, y, z);
}

double litho_synth_model_cell(const LithoSynthModel *m, const double place[3], gboolean top_only)
{
    enum { PIECES = 8 };
    if (top_only)
        return m->cube ? cube_velocity(m, place[2], place[1], 0)
                       : top_velocity(m, place[2], place[1], place[0]);
    double slowness = 0;
    for (int k = 0; k < PIECES; k++)
        slowness +=
            1 / velocity_at(m, place[2], place[1], place[0] + ((k + 0.5) / PIECES - 0.5) * m->cell);
    return PIECES / slowness;
}

void litho_synth_model_reflectors(const LithoSynthModel *m, double x, double y,
                                  void (*add)(double z, double strength, gpointer data),
                                  gpointer data)
{
    double depth;
    for (int k = 0; !isnan(depth = reflector_depth(m, k, x, y)); k++)
        add(depth, k ? 0.7 : 1, data);
    // Top and bottom of the body, by the change of velocity between samples.
    for (int k = 1; m->kind == LITHO_MODEL_SALT && k < m->n[0]; k++) {
        gboolean above = inside_salt(m, x, y, (k - 1) * m->cell);
        gboolean below = inside_salt(m, x, y, k * m->cell);
        if (above != below)
            add((k - 0.5) * m->cell, below ? 1 : -1, data);
    }
    // Reflection coefficients at vertical incidence and constant density.
    for (int k = 1; m->cube && k < m->n[0]; k++) {
        double above = cube_velocity(m, x, y, (k - 1) * m->cell);
        double below = cube_velocity(m, x, y, k * m->cell);
        if (above != below)
            add((k - 0.5) * m->cell, (below - above) / (below + above), data);
    }
}
