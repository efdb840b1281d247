// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/model.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_fields.h"
#include "core/io/survey.h"
#include "core/origin.h"
#include "core/text.h"
#include "kernels/migrate/place.h"
#include "kernels/migrate/table.h"
#include "kernels/migrate/units.h"

struct LithoMigrateModel {
    gint refs;
    guint n; // points of the table; 1 for a constant, 0 for a cube
    double *depth, *velocity;
    double *time; // of the points, one way from depth 0; 0 at points above it
    LithoCube *cube;
    double unit; // m/s that one of the cube's numbers is: 0.3048 where its file counts in feet
    LithoReach *reach; // of a cube
    LithoVelocityRange range;
    GPtrArray *notes;
};

static LithoMigrateModel *model_new(void)
{
    LithoMigrateModel *model = g_new0(LithoMigrateModel, 1);
    model->refs = 1;
    model->unit = 1;
    model->notes = g_ptr_array_new_with_free_func(g_free);
    return model;
}

LithoMigrateModel *litho_migrate_model_ref(LithoMigrateModel *model)
{
    g_atomic_int_inc(&model->refs);
    return model;
}

void litho_migrate_model_unref(LithoMigrateModel *model)
{
    if (!model || !g_atomic_int_dec_and_test(&model->refs))
        return;
    g_free(model->depth);
    g_free(model->velocity);
    g_free(model->time);
    litho_cube_unref(model->cube);
    litho_reach_free(model->reach);
    g_ptr_array_unref(model->notes);
    g_free(model);
}

LithoVelocityRange litho_migrate_model_range(const LithoMigrateModel *model)
{
    return model->range;
}

gboolean litho_migrate_model_is_layered(const LithoMigrateModel *model)
{
    return model->n > 0;
}

gboolean litho_migrate_model_traces(const LithoMigrateModel *model, gint64 n[2])
{
    for (int k = 0; model->cube && k < 2; k++)
        n[k] = model->cube->grid.axis[k].n;
    return model->cube != NULL;
}

const GPtrArray *litho_migrate_model_notes(const LithoMigrateModel *model)
{
    return model->notes;
}

static void note_unusual(LithoMigrateModel *model)
{
    const LithoVelocityRange *r = &model->range;
    double size;
    const char *unit = litho_velocity_likely_unit(r->min, r->max, &size);
    char *note = NULL;
    if (unit && model->cube)
        note = litho_text_printf(_("velocities from %.0f to %.0f m/s look like %s (%.0f to %.0f "
                                   "m/s); --scale %g of 'lithoscope-cli convert' makes them m/s"),
                                 r->min, r->max, unit, r->min * size, r->max * size, size);
    else if (unit && model->n == 1)
        note = litho_text_printf(_("a velocity of %g m/s looks like %s: %g%s are %.0f m/s"), r->min,
                                 unit, r->min, unit, r->min * size);
    else if (unit)
        note =
            litho_text_printf(_("velocities from %.0f to %.0f m/s look like %s (%.0f to %.0f m/s)"),
                              r->min, r->max, unit, r->min * size, r->max * size);
    else if (r->min < 300 || r->max > 9000)
        note = litho_text_printf(_("velocities from %g to %g m/s: are they metres per second?"),
                                 r->min, r->max);
    if (note)
        g_ptr_array_add(model->notes, note);
}

// --- a number, a table ------------------------------------------------------------------------

// First point of the table at or below depth z; n where there is none.
static guint table_point(const LithoMigrateModel *model, double z)
{
    guint low = 0, high = model->n;
    while (low < high) {
        const guint k = (low + high) / 2;
        if (model->depth[k] < z)
            low = k + 1;
        else
            high = k;
    }
    return low;
}

static double table_velocity(const LithoMigrateModel *model, double z)
{
    const guint k = table_point(model, z);
    if (k == 0)
        return model->velocity[0];
    if (k == model->n)
        return model->velocity[model->n - 1];
    double f = (z - model->depth[k - 1]) / (model->depth[k] - model->depth[k - 1]);
    return (1 - f) * model->velocity[k - 1] + f * model->velocity[k];
}

// Time across a layer whose velocity is linear: a logarithm.
static double linear_time(double thick, double top, double bottom)
{
    const double change = bottom / top - 1;
    return thick / top * (fabs(change) > 1e-9 ? log1p(change) / change : 1);
}

// After the points are known.
static void table_finish(LithoMigrateModel *model)
{
    model->time = g_new0(double, model->n);
    double top = 0, v = table_velocity(model, 0), time = 0;
    for (guint k = table_point(model, 0); k < model->n; k++) {
        time += linear_time(model->depth[k] - top, v, model->velocity[k]);
        model->time[k] = time;
        top = model->depth[k];
        v = model->velocity[k];
    }
    model->range.min = model->range.max = model->velocity[0];
    for (guint k = 0; k < model->n; k++) {
        model->range.min = MIN(model->range.min, model->velocity[k]);
        model->range.max = MAX(model->range.max, model->velocity[k]);
    }
    note_unusual(model);
}

static LithoMigrateModel *model_constant(double v, GError **error)
{
    if (!litho_velocity_is_possible(v)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "velocity is %g m/s; it must be 10 to 100000 m/s", v);
        litho_velocity_add_likely(error, v);
        return NULL;
    }
    LithoMigrateModel *model = model_new();
    model->n = 1;
    model->depth = g_new0(double, 1);
    model->velocity = g_new0(double, 1);
    model->velocity[0] = v;
    table_finish(model);
    return model;
}

static LithoMigrateModel *model_table(const char *path, GError **error)
{
    enum { SHALLOW = 50 }; // m
    g_autoptr(GArray) depth = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) velocity = g_array_new(FALSE, FALSE, sizeof(double));
    if (!litho_migrate_table_read(path, depth, velocity, error))
        return NULL;
    LithoMigrateModel *model = model_new();
    model->n = depth->len;
    model->depth = g_memdup2(depth->data, depth->len * sizeof(double));
    model->velocity = g_memdup2(velocity->data, velocity->len * sizeof(double));
    table_finish(model);
    const double bottom = model->depth[model->n - 1];
    if (model->n > 1 && fabs(bottom) < SHALLOW)
        g_ptr_array_add(model->notes,
                        litho_text_printf(_("the depths of %s end at %g m, and its last velocity "
                                            "holds below: are they m, or km or s?"),
                                          path, bottom));
    return model;
}

// --- a cube -----------------------------------------------------------------------------------

static gboolean refuse_cell(const LithoCube *cube, gint64 i, gint64 j, gint64 k, double v,
                            GError **error)
{
    const LithoAxis *axis = cube->grid.axis;
    litho_refuse(error, LITHO_ERROR_PARAMETER,
                 "the velocity model holds %g m/s at inline %g, crossline %g, sample "
                 "%" PRId64 "; it must be 10 to 100000 m/s",
                 v, litho_axis_value(&axis[0], i), litho_axis_value(&axis[1], j), k);
    litho_velocity_add_likely(error, v);
    return FALSE;
}

// Range of one inline of a cube.
typedef struct Line {
    double low, high;
    gint64 bad; // sample of the line that is no velocity, or trace * nz of a dead one; -1
} Line;

static Line scan_line(const LithoCube *cube, double unit, gint64 i, LithoReach *reach)
{
    const gint64 nj = cube->held.hi[1], nz = litho_box_size(cube->held, 2);
    Line line = {INFINITY, 0, -1};
    for (gint64 j = 0; j < nj; j++) {
        const float *trace = litho_cube_trace(cube, i, j);
        if (!litho_cube_is_live(cube, i, j)) {
            line.bad = j * nz;
            return line;
        }
        for (gint64 k = 0; k < nz; k++) {
            const double v = trace[k] * unit;
            if (!litho_velocity_is_possible(v)) {
                line.bad = j * nz + k;
                return line;
            }
            line.low = fmin(line.low, v);
            line.high = fmax(line.high, v);
        }
        litho_reach_add(reach, trace, unit);
    }
    return line;
}

static gboolean refuse_line(const LithoMigrateModel *model, gint64 i, gint64 bad, GError **error)
{
    const LithoCube *cube = model->cube;
    const gint64 nz = litho_box_size(cube->held, 2), j = bad / nz, k = bad % nz;
    if (litho_cube_is_live(cube, i, j))
        return refuse_cell(cube, i, j, k, litho_cube_trace(cube, i, j)[k] * model->unit, error);
    return litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "the velocity model has no velocities at inline %g, crossline %g: the "
                        "trace is missing, or holds zeros or no numbers; it must cover its whole "
                        "grid",
                        litho_axis_value(&cube->grid.axis[0], i),
                        litho_axis_value(&cube->grid.axis[1], j));
}

static gboolean scan_cube(LithoMigrateModel *model, LithoRun *run, GError **error)
{
    const LithoCube *cube = model->cube;
    const gint64 *n = cube->held.hi, nz = litho_box_size(cube->held, 2);
    g_autofree Line *lines = g_new0(Line, MAX(n[0], 1));
    LithoVelocityRange all = {INFINITY, 0};
    model->reach = litho_reach_new(nz);
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run))
    for (gint64 i = 0; i < n[0]; i++) {
        if (!litho_run_checkpoint(run))
            continue;
        g_autoptr(LithoReach) reach = litho_reach_new(nz);
        lines[i] = scan_line(cube, model->unit, i, reach);
#pragma omp critical(litho_migrate_reach)
        litho_reach_merge(model->reach, reach);
    }
    if (!litho_run_step(run, n[0], n[0], error))
        return FALSE;
    for (gint64 i = 0; i < n[0]; i++) {
        if (lines[i].bad >= 0)
            return refuse_line(model, i, lines[i].bad, error);
        all.min = fmin(all.min, lines[i].low);
        all.max = fmax(all.max, lines[i].high);
    }
    litho_reach_finish(model->reach);
    model->range = all;
    if (model->unit != 1)
        g_ptr_array_add(model->notes,
                        litho_text_printf(_("%s counts in feet: its velocities were read as ft/s, "
                                            "%.0f to %.0f m/s"),
                                          cube->name, all.min, all.max));
    note_unusual(model);
    return TRUE;
}

LithoMigrateModel *litho_migrate_model_from_cube(const LithoCube *cube, LithoRun *run,
                                                 GError **error)
{
    if (!litho_box_equal(cube->held, litho_box_full(&cube->grid))) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("the velocity cube is only a part of its grid"));
        return NULL;
    }
    if (cube->survey && litho_survey_is_turned(cube->survey)) {
        litho_refuse(error, LITHO_ERROR_GEOMETRY,
                     "the velocity cube %s has depth on another axis than the first, by its "
                     "labels; 'sftransp plane=12' or 13 turns it",
                     cube->name);
        return NULL;
    }
    if (!litho_cube_host(cube, error))
        return NULL;
    g_autoptr(LithoMigrateModel) model = model_new();
    model->cube = litho_cube_ref(cube);
    g_autofree char *bad = cube->survey ? litho_survey_bad_samples(cube->survey) : NULL;
    if (bad)
        g_ptr_array_add(model->notes, g_strdup_printf("%s: %s", cube->name, bad));
    if (cube->survey && ((const LithoOrigin *)cube->survey)->in_feet)
        model->unit = LITHO_FOOT;
    if (!scan_cube(model, run, error))
        return NULL;
    return g_steal_pointer(&model);
}

gboolean litho_migrate_model_check_depth(const LithoMigrateModel *model, double step,
                                         GError **error)
{
    const LithoGrid *grid = model->cube ? &model->cube->grid : NULL;
    if (!grid || grid->is_depth || step > 0 || grid->axis[2].source == LITHO_FROM_ASSUMED)
        return TRUE;
    // Thousandths where 16 bits or a file in km count them; no record has samples 0.1 s apart.
    const double stated = grid->axis[2].step;
    const double likely = (stated < 0.1 ? 1e3 : 1) * stated * model->unit;
    return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                        "the velocity cube %s is sampled in time (%g s); velocity against depth "
                        "is needed. If its samples are depths, velocity_dz=%g takes them as %g m "
                        "apart",
                        model->cube->name, stated, likely, likely);
}

gboolean litho_migrate_model_map(const LithoMigrateModel *model, const LithoGrid *image,
                                 LithoModelMap *map, GError **error)
{
    memset(map, 0, sizeof *map);
    if (!model->cube)
        return TRUE;
    const LithoGrid *grid = &model->cube->grid;
    const LithoPlace by = litho_migrate_place(grid, image, map);
    if (!litho_migrate_place_overlaps(grid, image, map)) {
        if (litho_migrate_place_stated(grid) && image->has_no_place &&
            image->xy_source == LITHO_FROM_FILE)
            return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                                "the velocity cube %s does not lie over the survey: the "
                                "coordinates of a bent line are not used, and by their line "
                                "numbers the two have no trace in common; a table of depth and "
                                "velocity needs none",
                                model->cube->name);
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
            _("the velocity cube %s does not lie over the survey: by its %s the two have no "
              "trace in common"),
            model->cube->name, by == LITHO_PLACE_COORDINATES ? "coordinates" : _("line numbers"));
        return FALSE;
    }
    // A format without sampling says nothing about depth: taken as sampled like the image, and said
    // so.
    map->assumed = !grid->is_depth;
    map->stretched = by == LITHO_PLACE_STRETCHED;
    map->depth_step = litho_migrate_model_depth_step(model, 0, image->axis[2].step);
    map->bottom = grid->axis[2].n * map->depth_step;
    return TRUE;
}

static double cube_trace_velocity(const LithoCube *cube, gint64 i, gint64 j, double k)
{
    const float *trace = litho_cube_trace(cube, i, j);
    gint64 n = cube->grid.axis[2].n, k0 = (gint64)floor(k);
    if (k0 < 0)
        return trace[0];
    if (k0 >= n - 1)
        return trace[n - 1];
    double f = k - k0;
    return (1 - f) * trace[k0] + f * trace[k0 + 1];
}

static double cube_velocity(const LithoCube *cube, double i, double j, double k)
{
    i = CLAMP(i, 0, cube->grid.axis[0].n - 1.0);
    j = CLAMP(j, 0, cube->grid.axis[1].n - 1.0);
    gint64 i0 = MIN((gint64)i, MAX(cube->grid.axis[0].n - 2, 0));
    gint64 j0 = MIN((gint64)j, MAX(cube->grid.axis[1].n - 2, 0));
    gint64 i1 = MIN(i0 + 1, cube->grid.axis[0].n - 1), j1 = MIN(j0 + 1, cube->grid.axis[1].n - 1);
    double fi = i - i0, fj = j - j0, v = 0;
    if ((1 - fi) * (1 - fj) > 0)
        v += (1 - fi) * (1 - fj) * cube_trace_velocity(cube, i0, j0, k);
    if (fi * (1 - fj) > 0)
        v += fi * (1 - fj) * cube_trace_velocity(cube, i1, j0, k);
    if ((1 - fi) * fj > 0)
        v += (1 - fi) * fj * cube_trace_velocity(cube, i0, j1, k);
    if (fi * fj > 0)
        v += fi * fj * cube_trace_velocity(cube, i1, j1, k);
    return v;
}

// Mean slowness over top..bottom by the midpoint rule on pieces no longer than the model's own.
static double layered_slowness(const LithoMigrateModel *model, double top, double bottom)
{
    if (model->n == 1)
        return 1 / model->velocity[0];
    enum { PIECES = 16 };
    double sum = 0;
    for (int m = 0; m < PIECES; m++)
        sum += 1 / table_velocity(model, top + (bottom - top) * (m + 0.5) / PIECES);
    return sum / PIECES;
}

void litho_migrate_model_slowness(const LithoMigrateModel *model, const LithoModelMap *map,
                                  const gint64 lo[2], const gint64 hi[2], double top, double bottom,
                                  float *slowness)
{
    const gint64 nj = hi[1] - lo[1];
    if (!model->cube) {
        float s = (float)layered_slowness(model, top, bottom);
        for (gint64 k = 0; k < (hi[0] - lo[0]) * nj; k++)
            slowness[k] = s;
        return;
    }
    const LithoCube *cube = model->cube;
    const double first = cube->grid.is_depth ? cube->grid.axis[2].first : 0;
    int pieces = (int)CLAMP(ceil((bottom - top) / map->depth_step), 1, 16);
    for (gint64 i = lo[0]; i < hi[0]; i++)
        for (gint64 j = lo[1]; j < hi[1]; j++) {
            double fi = map->at[0] + i * map->by_inline[0] + j * map->by_xline[0];
            double fj = map->at[1] + i * map->by_inline[1] + j * map->by_xline[1];
            double sum = 0;
            for (int m = 0; m < pieces; m++) {
                double z = top + (bottom - top) * (m + 0.5) / pieces;
                // v[k] holds from sample k to k + 1: its middle lies half a sample below.
                sum += 1 / (cube_velocity(cube, fi, fj, (z - first) / map->depth_step - 0.5) *
                            model->unit);
            }
            slowness[(i - lo[0]) * nj + j - lo[1]] = (float)(sum / pieces);
        }
}

// --- vertical times ---------------------------------------------------------------------------

double litho_migrate_model_depth_step(const LithoMigrateModel *model, double stated, double image)
{
    const LithoGrid *grid = model->cube ? &model->cube->grid : NULL;
    return stated > 0 ? stated : grid && grid->is_depth ? grid->axis[2].step : image;
}

static double table_time(const LithoMigrateModel *model, double z)
{
    const guint k = table_point(model, z);
    if (z <= 0)
        return z / model->velocity[0];
    // The point above, of two the one below their jump, or the surface.
    const gboolean above = k > 0 && model->depth[k - 1] >= 0;
    const double top = above ? model->depth[k - 1] : 0;
    const double v = above ? model->velocity[k - 1] : table_velocity(model, 0);
    return (above ? model->time[k - 1] : 0) + linear_time(z - top, v, table_velocity(model, z));
}

double litho_migrate_model_time(const LithoMigrateModel *model, LithoColumn column, double step,
                                double z)
{
    if (!model->cube)
        return table_time(model, z);
    const LithoGrid *grid = &model->cube->grid;
    const double first = grid->is_depth ? grid->axis[2].first : 0;
    return step * (litho_reach_time(model->reach, column, (z - first) / step) -
                   litho_reach_time(model->reach, column, -first / step));
}

double litho_migrate_model_depth(const LithoMigrateModel *model, LithoColumn column, double step,
                                 double time)
{
    double low = 0, high = fmax(time, 0) * model->range.max;
    if (model->n == 1)
        return high;
    for (int k = 0; k < 60 && high - low > 1e-9 * high; k++) {
        const double z = (low + high) / 2;
        *(litho_migrate_model_time(model, column, step, z) < time ? &low : &high) = z;
    }
    return high;
}

// --- loading ----------------------------------------------------------------------------------

static LithoMigrateModel *model_file(const char *path, LithoRun *run, GError **error)
{
    if (!litho_survey_is_name(path))
        return model_table(path, error);
    g_autoptr(LithoCube) cube = litho_cube_load(path, NULL, run, error);
    return cube ? litho_migrate_model_from_cube(cube, run, error) : NULL;
}

static guint64 model_bytes(const LithoMigrateModel *model)
{
    return sizeof *model + 3 * sizeof(double) * model->n +
           (model->cube ? sizeof(float) * litho_cube_held_samples(model->cube) +
                              3 * sizeof(double) * (model->reach->n + 1)
                        : 0);
}

static void unref_model(gpointer data)
{
    litho_migrate_model_unref(data);
}

LithoResolved *litho_migrate_model_resolve(const char *path, LithoRun *run, GError **error)
{
    g_autoptr(LithoResolved) resolved = litho_resolved_new();
    if (!litho_resolved_add_file(resolved, path, error)) {
        g_prefix_error(error, "%s", _("velocity is neither m/s nor a file: "));
        return NULL;
    }
    LithoMigrateModel *model = model_file(path, run, error);
    if (!model)
        return NULL;
    litho_resolved_set(resolved, model, unref_model, model_bytes(model));
    return g_steal_pointer(&resolved);
}

// TRUE when the whole text is one number.
static gboolean as_number(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    return end != text && end[strspn(end, " \t")] == 0;
}

gboolean litho_migrate_model_is_file(const char *text)
{
    double unused;
    return *text && !as_number(text, &unused);
}

LithoMigrateModel *litho_migrate_model_of(const char *text, LithoResolved *known, GError **error)
{
    double v;
    if (known)
        return litho_migrate_model_ref(litho_resolved_data(known));
    if (as_number(text, &v))
        return model_constant(v, error);
    if (!*text)
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "velocity is empty; give m/s, or a file of v(z) or of a velocity cube");
    else
        litho_refuse(error, LITHO_ERROR_PARAMETER, "the velocity file %s has not been read", text);
    return NULL;
}
