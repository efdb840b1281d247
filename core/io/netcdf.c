// SPDX-License-Identifier: GPL-3.0-or-later
// netCDF, classic and netCDF-4: the one variable of three dimensions that a file holds, and the
// coordinates of its dimensions, through the netCDF library.
#include <math.h>
#include <netcdf.h>
#include <string.h>

#include "core/error.h"
#include "core/io/array.h"
#include "core/io/survey_private.h"

enum { MOST_VALUES = 1 << 24 }; // of a dimension's coordinates

typedef struct NetcdfArray {
    LithoArray array;
    char *path;
    int file, variable; // file -1 = not open
} NetcdfArray;

static void netcdf_free(LithoArray *array)
{
    NetcdfArray *self = (NetcdfArray *)array;
    litho_array_lock();
    if (self->file >= 0)
        nc_close(self->file);
    litho_array_unlock();
    g_free(self->path);
    g_free(self);
}

static gboolean netcdf_read(LithoArray *array, const gint64 first[3], const gint64 count[3],
                            float *out, GError **error)
{
    NetcdfArray *self = (NetcdfArray *)array;
    size_t start[3], size[3];
    for (int k = 0; k < 3; k++) {
        start[k] = (size_t)first[k];
        size[k] = (size_t)count[k];
    }
    litho_array_lock();
    const int status = nc_get_vara_float(self->file, self->variable, start, size, out);
    litho_array_unlock();
    return status == NC_NOERR || litho_refuse(error, LITHO_ERROR_FORMAT,
                                              "%s: the netCDF library cannot read the samples: %s",
                                              self->path, nc_strerror(status));
}

// --- axes ---------------------------------------------------------------------------------------

static void text_attribute(int file, int variable, const char *key, char *out, size_t size)
{
    size_t length = 0;
    nc_type type;
    *out = 0;
    if (nc_inq_att(file, variable, key, &type, &length) != NC_NOERR || type != NC_CHAR ||
        length >= size)
        return;
    if (nc_get_att_text(file, variable, key, out) == NC_NOERR)
        out[length] = 0;
    else
        *out = 0;
}

// First value and step of a dimension's coordinates. FALSE: there are none, or they are not evenly
// spaced (1e-3 of a step).
static gboolean even_values(int file, const char *name, gint64 n, double *first, double *step)
{
    int variable, rank;
    if (n < 2 || n > MOST_VALUES || nc_inq_varid(file, name, &variable) != NC_NOERR ||
        nc_inq_varndims(file, variable, &rank) != NC_NOERR || rank != 1)
        return FALSE;
    g_autofree double *value = g_new(double, n);
    const size_t start = 0, count = (size_t)n;
    if (nc_get_vara_double(file, variable, &start, &count, value) != NC_NOERR)
        return FALSE;
    *first = value[0];
    *step = (value[n - 1] - value[0]) / (double)(n - 1);
    gboolean even = isfinite(*first) && isfinite(*step) && *step != 0;
    for (gint64 k = 0; even && k < n; k++)
        even = fabs(value[k] - (*first + (double)k * *step)) <= 1e-3 * fabs(*step);
    return even;
}

static gboolean starts_like(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (g_ascii_strncasecmp(name, *words, strlen(*words)) == 0)
            return TRUE;
    return FALSE;
}

// Samples along "twt" or "time" in s or ms, "depth" or "z" in m or km.
static void sample_axis(int file, const char *name, LithoGrid *grid)
{
    static const char *const depths[] = {"depth", "z", NULL};
    static const struct {
        const char *unit;
        double factor;
        gboolean is_depth;
    } units[] = {{"s", 1, FALSE}, {"ms", 1e-3, FALSE}, {"us", 1e-6, FALSE}, {"sec", 1, FALSE},
                 {"m", 1, TRUE},  {"km", 1e3, TRUE},   {"ft", 0.3048, TRUE}};
    LithoAxis *axis = &grid->axis[LITHO_SAMPLE];
    double first, step, factor = 0;
    char unit[32];
    int variable;
    if (!even_values(file, name, axis->n, &first, &step) || step <= 0)
        return;
    nc_inq_varid(file, name, &variable);
    text_attribute(file, variable, "units", unit, sizeof unit);
    grid->is_depth = starts_like(name, depths);
    for (guint k = 0; k < G_N_ELEMENTS(units); k++)
        if (g_ascii_strcasecmp(unit, units[k].unit) == 0 ||
            (k < 2 && g_ascii_strncasecmp(unit, k ? "milli" : "second", k ? 5 : 6) == 0)) {
            factor = units[k].factor;
            grid->is_depth = units[k].is_depth;
        }
    if (factor == 0) // without a unit: no record has samples a tenth of a second apart
        factor = grid->is_depth || step < 0.1 ? 1 : 1e-3;
    axis->first = first * factor;
    axis->step = step * factor;
    axis->source = LITHO_FROM_FILE;
    g_strlcpy(axis->unit, grid->is_depth ? "m" : "s", sizeof axis->unit);
    g_snprintf(axis->evidence, sizeof axis->evidence, "coordinates '%.30s'", name);
}

static void line_axis(int file, const char *name, LithoAxis *axis)
{
    double first, step;
    if (!even_values(file, name, axis->n, &first, &step) || first != rint(first) ||
        step != rint(step))
        return;
    axis->first = first;
    axis->step = step;
    axis->source = LITHO_FROM_FILE;
    g_snprintf(axis->evidence, sizeof axis->evidence, "coordinates '%.30s'", name);
}

// --- finding the array --------------------------------------------------------------------------

// The variable of three dimensions with the most samples; -1 = there is none.
static int find_variable(int file, gint64 n[3], int dimension[3], guint *cubes)
{
    int count = 0, best = -1;
    double most = 0;
    nc_inq_nvars(file, &count);
    for (int v = 0; v < count; v++) {
        int rank, own[3];
        nc_type type;
        size_t size[3] = {0, 0, 0};
        if (nc_inq_varndims(file, v, &rank) != NC_NOERR || rank != 3 ||
            nc_inq_vartype(file, v, &type) != NC_NOERR || type == NC_CHAR || type >= NC_STRING ||
            nc_inq_vardimid(file, v, own) != NC_NOERR)
            continue;
        double samples = 1;
        for (int k = 0; k < 3; k++) {
            nc_inq_dimlen(file, own[k], &size[k]);
            samples *= (double)size[k];
        }
        *cubes += samples > 0;
        if (samples <= most)
            continue;
        most = samples;
        best = v;
        for (int k = 0; k < 3; k++) {
            n[k] = (gint64)MIN(size[k], (size_t)(G_MAXINT64 / 16));
            dimension[k] = own[k];
        }
    }
    return best;
}

// Reads how the samples are stored, and sets a cache for chunks.
static gboolean set_chunks(NetcdfArray *self, GError **error)
{
    int storage = NC_CONTIGUOUS;
    nc_type type = NC_FLOAT;
    size_t bytes = 1;
    nc_inq_vartype(self->file, self->variable, &type);
    nc_inq_type(self->file, type, NULL, &bytes);
    self->array.sample_bytes = (int)CLAMP(bytes, 1, 16);
    size_t size[3];
    if (nc_inq_var_chunking(self->file, self->variable, &storage, size) != NC_NOERR ||
        storage != NC_CHUNKED)
        return TRUE; // classic files have none
    self->array.is_packed = TRUE;
    const gint64 chunk[3] = {(gint64)size[0], (gint64)size[1], (gint64)size[2]};
    if (!litho_array_check_chunk(self->path, chunk, error))
        return FALSE;
    nc_set_var_chunk_cache(self->file, self->variable,
                           litho_array_cache_bytes(self->array.n, chunk), 12421, 1);
    return TRUE;
}

static gboolean open_array(NetcdfArray *self, LithoSurvey *survey, GError **error)
{
    static const char *const samples[] = {"twt", "time", "depth", "z", "sample", NULL};
    char name[3][NC_MAX_NAME + 1], variable[NC_MAX_NAME + 1];
    int dimension[3];
    guint cubes = 0;
    const int status = nc_open(self->path, NC_NOWRITE, &self->file);
    if (status != NC_NOERR) {
        self->file = -1;
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "%s: the netCDF library cannot open the file (%s); copy it again",
                            self->path, nc_strerror(status));
    }
    self->variable = find_variable(self->file, self->array.n, dimension, &cubes);
    if (self->variable < 0)
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "%s is a netCDF file without a variable of three dimensions; "
                            "(inline, crossline, sample) is needed",
                            self->path);
    nc_inq_varname(self->file, self->variable, variable);
    for (int k = 0; k < 3; k++)
        nc_inq_dimname(self->file, dimension[k], name[k]);
    if (!starts_like(name[2], samples) &&
        (starts_like(name[0], samples) || starts_like(name[1], samples)))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "%s: the variable %s has the dimensions (%s, %s, %s); the samples must "
                            "be the last one, transpose it",
                            self->path, variable, name[0], name[1], name[2]);
    survey->grid = litho_grid_new(self->array.n[0], self->array.n[1], self->array.n[2]);
    line_axis(self->file, name[0], &survey->grid.axis[LITHO_INLINE]);
    line_axis(self->file, name[1], &survey->grid.axis[LITHO_XLINE]);
    sample_axis(self->file, name[2], &survey->grid);
    self->array.has_fill =
        nc_get_att_float(self->file, self->variable, "_FillValue", &self->array.fill) == NC_NOERR;
    survey->format = g_strdup_printf("netCDF, variable %.60s", variable);
    if (cubes > 1)
        litho_survey_note(survey, "%u variables have three dimensions; the largest is read: %s",
                          cubes, variable);
    return set_chunks(self, error);
}

LithoArray *litho_netcdf_open(LithoSurvey *survey, const char *path, GError **error)
{
    NetcdfArray *self = g_new0(NetcdfArray, 1);
    self->array = (LithoArray){.read = netcdf_read, .free = netcdf_free};
    self->path = g_strdup(path);
    self->file = -1;
    litho_array_lock();
    const gboolean good = open_array(self, survey, error);
    litho_array_unlock();
    if (!good)
        netcdf_free(&self->array);
    return good ? &self->array : NULL;
}
