// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/model.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/io/segy_fields.h"
#include "core/io/survey.h"
#include "core/origin.h"
#include "core/text.h"
#include "kernels/migrate/place.h"

enum { SHOWN = 40 }; // letters of a line in a sentence

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

// From mud to far beyond rock. Kilometres a second are refused, and what would bring a record's end
// to no depth at all or to the other side of the planet.
static gboolean is_velocity(double v)
{
    return v >= 10 && v <= 100000;
}

// The unit that a velocity has more likely than m/s, and its size in m/s; NULL = m/s are as likely.
// From slow sediment to the fastest rock: 300 to 9000 m/s.
static const char *likely_unit(double low, double high, double *size)
{
    static const struct {
        const char *unit;
        double size;
    } known[] = {{"km/s", 1000}, {"ft/s", 0.3048}};
    // A model without any rock slower than 4800 m/s is rare, and 4921 ft/s are water.
    if (low >= 300 && high <= 9000 && !(low > 4800 && high > 7000))
        return NULL;
    for (guint k = 0; k < G_N_ELEMENTS(known); k++)
        if (low * known[k].size >= 300 && high * known[k].size <= 9000) {
            *size = known[k].size;
            return known[k].unit;
        }
    return NULL;
}

// Behind the refusal of a velocity: the unit that it seems to have, or nothing.
static void add_likely(GError **error, double v)
{
    double size;
    const char *unit = likely_unit(v, v, &size);
    if (!error || !*error || !unit)
        return;
    g_autofree char *told = g_steal_pointer(&(*error)->message);
    (*error)->message = litho_text_printf(_("%s; it looks like %s, %g m/s"), told, unit, v * size);
}

static void note_unusual(LithoMigrateModel *model)
{
    const LithoVelocityRange *r = &model->range;
    double size;
    const char *unit = likely_unit(r->min, r->max, &size);
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
    if (!is_velocity(v)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "velocity is %g m/s; it must be 10 to 100000 m/s", v);
        add_likely(error, v);
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

// One line of the table into the arrays. FALSE with a sentence.
static gboolean table_line(const char *path, guint line, const char *text, GArray *depth,
                           GArray *velocity, GError **error)
{
    char *end;
    double z = g_ascii_strtod(text, &end), v = 0;
    gboolean two = end != text;
    if (two) {
        const char *second = end + strspn(end, " \t,;");
        v = g_ascii_strtod(second, &end);
        two = end != second && end[strspn(end, " \t\r,;")] == 0;
    }
    if (!two || !isfinite(z)) {
        g_autofree char *shown = litho_text_plain(text, SHOWN);
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "%s, line %u: '%s' is not a depth (m) and a velocity (m/s)", path, line,
                            shown);
    }
    if (!is_velocity(v)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "%s, line %u: velocity %g m/s; it must be 10 to 100000 m/s", path, line, v);
        add_likely(error, v);
        return FALSE;
    }
    if (depth->len > 0 && z <= g_array_index(depth, double, depth->len - 1)) {
        litho_refuse(error, LITHO_ERROR_FORMAT,
                     "%s, line %u: depth %g m does not lie below the line before", path, line, z);
        return FALSE;
    }
    g_array_append_val(depth, z);
    g_array_append_val(velocity, v);
    return TRUE;
}

// The words of a text, which are parted by anything but small letters. g_strfreev().
static char **letters_of(const char *text)
{
    GStrvBuilder *words = g_strv_builder_new();
    while (*text) {
        const gsize n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
        g_autofree char *word = g_strndup(text, n);
        if (n > 0)
            g_strv_builder_add(words, word);
        text += MAX(n, 1);
    }
    char **list = g_strv_builder_end(words);
    g_strv_builder_unref(words);
    return list;
}

static gboolean has_word(char *const *words, const char *const *known)
{
    for (; *words; words++)
        if (g_strv_contains(known, *words))
            return TRUE;
    return FALSE;
}

// TRUE when a line above the table is a heading, one without a digit. FALSE with a sentence in
// `error` when it names columns that are not depth and velocity; FALSE alone: a line of numbers.
static gboolean table_heading(const char *path, const char *text, GError **error)
{
    if (strpbrk(text, "0123456789") || strpbrk(text, "-.") == text)
        return FALSE;
    static const char *const times[] = {"time", "times", "twt", "owt", NULL};
    static const char *const feet[] = {"feet", "foot", "ft", NULL};
    static const char *const velocities[] = {"v",   "vp",       "vint",       "vrms", "vnmo",
                                             "vel", "velocity", "velocities", NULL};
    g_autofree char *small = g_ascii_strdown(text, -1);
    g_auto(GStrv) words = letters_of(small);
    const char *why = NULL;
    if (has_word(words, times))
        why = _("names times; lines of depth (m) and velocity (m/s) are needed");
    else if (has_word(words, feet))
        why = _("names feet; lines of depth (m) and velocity (m/s) are needed");
    else if (*words && g_strv_contains(velocities, *words))
        why = _("names the velocity first; lines of depth (m) and velocity (m/s) are needed");
    g_autofree char *shown = litho_text_plain(text, SHOWN);
    return !why || litho_refuse(error, LITHO_ERROR_FORMAT, "%s: the heading '%s' %s", path, shown,
                                why);
}

static LithoMigrateModel *model_table(const char *path, GError **error)
{
    gsize length = 0;
    g_autofree char *content = litho_contents_load(path, LITHO_CONTENTS_TEXT, &length, error);
    if (!content) {
        g_prefix_error(error, "velocity: ");
        return NULL;
    }
    if (memchr(content, 0, length)) {
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_FORMAT,
            _("%s is not text; a velocity table has lines of depth and velocity, a velocity "
              "cube a name that tells its format (.sgy, .npy, .rsf)"),
            path);
        return NULL;
    }
    g_autofree char *text = litho_contents_to_text(content, length, error);
    if (!text)
        return NULL;
    g_autoptr(GArray) depth = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) velocity = g_array_new(FALSE, FALSE, sizeof(double));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GError *problem = NULL;
    for (guint k = 0; lines[k]; k++) {
        char *comment = strchr(lines[k], '#');
        if (comment)
            *comment = 0;
        g_strstrip(lines[k]);
        if (!*lines[k] || (depth->len == 0 && table_heading(path, lines[k], &problem)))
            continue;
        if (problem) {
            g_propagate_error(error, problem);
            return NULL;
        }
        if (!table_line(path, k + 1, lines[k], depth, velocity, error))
            return NULL;
    }
    if (depth->len == 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s holds no line of depth (m) and velocity (m/s)"), path);
        return NULL;
    }
    LithoMigrateModel *model = model_new();
    model->n = depth->len;
    model->depth = g_memdup2(depth->data, depth->len * sizeof(double));
    model->velocity = g_memdup2(velocity->data, velocity->len * sizeof(double));
    table_finish(model);
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
    add_likely(error, v);
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
            if (!is_velocity(v)) {
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
                        "the velocity model has no trace at inline %g, crossline %g; it must "
                        "cover its whole grid",
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
                        litho_text_printf(_("%s counts in feet (bytes 3255-3256): its velocities "
                                            "were read as ft/s, %.0f to %.0f m/s"),
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
    if (!litho_cube_host(cube, error))
        return NULL;
    g_autoptr(LithoMigrateModel) model = model_new();
    model->cube = litho_cube_ref(cube);
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
    return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                        "the velocity cube %s is sampled in time (%g s); velocity against depth "
                        "is needed. If its samples are depths, velocity_dz=%g takes them as %g m "
                        "apart",
                        model->cube->name, grid->axis[2].step, grid->axis[2].step * 1e3,
                        grid->axis[2].step * 1e3);
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
    const gboolean above = k > 0 && model->depth[k - 1] > 0;
    const double top = above ? model->depth[k - 1] : 0;
    return z <= 0 ? z / model->velocity[0]
                  : (above ? model->time[k - 1] : 0) +
                        linear_time(z - top, table_velocity(model, top), table_velocity(model, z));
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
