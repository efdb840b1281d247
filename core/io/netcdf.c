// SPDX-License-Identifier: GPL-3.0-or-later
// netCDF, classic and netCDF-4: the one variable of three dimensions that a file holds, and the
// coordinates of its dimensions, through the netCDF library.
#include <netcdf.h>
#include <string.h>

#include "core/error.h"
#include "core/io/array.h"
#include "core/io/coordinates.h"
#include "core/io/survey_private.h"
#include "core/text.h"

enum { MOST_VALUES = 1 << 24 }; // of a dimension's coordinates

typedef struct NetcdfArray {
    LithoArray array;
    char *path;
    int file, variable; // file -1 = not open
    LithoArray *packed; // reads what filters have packed; NULL = the netCDF library reads
} NetcdfArray;

static void netcdf_free(LithoArray *array)
{
    NetcdfArray *self = (NetcdfArray *)array;
    litho_array_lock();
    if (self->file >= 0)
        nc_close(self->file);
    litho_array_unlock();
    litho_array_free(self->packed);
    g_free(self->path);
    g_free(self);
}

static gboolean netcdf_read(LithoArray *array, const gint64 first[3], const gint64 count[3],
                            float *out, GError **error)
{
    NetcdfArray *self = (NetcdfArray *)array;
    if (self->packed)
        return self->packed->read(self->packed, first, count, out, error);
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

// A dimension's coordinates; NULL = it has none. g_free().
static double *values_of(int file, const char *name, gint64 n, int *variable)
{
    int rank;
    if (n < 2 || n > MOST_VALUES || nc_inq_varid(file, name, variable) != NC_NOERR ||
        nc_inq_varndims(file, *variable, &rank) != NC_NOERR || rank != 1)
        return NULL;
    double *value = g_new(double, n);
    const size_t start = 0, count = (size_t)n;
    if (nc_get_vara_double(file, *variable, &start, &count, value) == NC_NOERR)
        return value;
    g_free(value);
    return NULL;
}

static void sample_axis(int file, const char *name, LithoGrid *grid)
{
    char unit[32];
    int variable;
    g_autofree double *value = values_of(file, name, grid->axis[LITHO_SAMPLE].n, &variable);
    if (!value)
        return;
    text_attribute(file, variable, "units", unit, sizeof unit);
    litho_coordinates_samples(value, name, unit, grid);
}

static void line_axis(int file, const char *name, LithoAxis *axis)
{
    int variable;
    g_autofree double *value = values_of(file, name, axis->n, &variable);
    if (value)
        litho_coordinates_lines(value, name, axis);
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
    const char *const names[] = {name[0], name[1], name[2]};
    if (!litho_coordinates_check_order(self->path, variable, names, error))
        return FALSE;
    survey->grid = litho_grid_new(self->array.n[0], self->array.n[1], self->array.n[2]);
    line_axis(self->file, name[0], &survey->grid.axis[LITHO_INLINE]);
    line_axis(self->file, name[1], &survey->grid.axis[LITHO_XLINE]);
    sample_axis(self->file, name[2], &survey->grid);
    self->array.has_fill =
        nc_get_att_float(self->file, self->variable, "_FillValue", &self->array.fill) == NC_NOERR;
    survey->format = g_strdup_printf(_("netCDF, variable %.60s"), variable);
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
    gboolean good = open_array(self, survey, error);
    char name[NC_MAX_NAME + 1];
    const gboolean is_named =
        good && nc_inq_varname(self->file, self->variable, name) == NC_NOERR;
    litho_array_unlock();
#ifdef LITHO_HAVE_HDF5
    if (is_named && self->array.is_packed)
        good = litho_hdf5_unpacker(path, name, self->array.n, &self->packed, error);
#else
    (void)is_named;
#endif
    if (!good)
        netcdf_free(&self->array);
    return good ? &self->array : NULL;
}
