// SPDX-License-Identifier: GPL-3.0-or-later
// netCDF, classic and netCDF-4: the one variable of three dimensions that a file holds, and the
// coordinates of its dimensions, through the netCDF library.
#include <glib/gstdio.h>
#include <netcdf.h>
#include <string.h>

#include "core/error.h"
#include "core/io/array.h"
#include "core/io/coordinates.h"
#include "core/io/netcdf_size.h"
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
    // A number beyond float becomes infinite, which readers of surveys count.
    return status == NC_NOERR || status == NC_ERANGE ||
           litho_refuse(error, LITHO_ERROR_FORMAT,
                        "%s: the netCDF library cannot read the samples: %s", self->path,
                        nc_strerror(status));
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

// Attributes that say what stored numbers stand for.
static gboolean read_attributes(const char *path, int file, int variable, LithoArrayValues *values,
                                GError **error)
{
    char name[NC_MAX_NAME + 1] = "?";
    nc_type stored = NC_FLOAT;
    nc_inq_varname(file, variable, name);
    nc_inq_vartype(file, variable, &stored);
    const gboolean is_float = stored == NC_FLOAT || stored == NC_DOUBLE;
    size_t bytes = 0;
    nc_inq_type(file, stored, NULL, &bytes);
    gboolean has_fill = FALSE;
    for (guint k = 0; litho_array_attributes[k]; k++) {
        const char *key = litho_array_attributes[k];
        double number[LITHO_ARRAY_MISSING];
        char text[32] = "";
        size_t n = 0;
        nc_type type;
        if (nc_inq_att(file, variable, key, &type, &n) != NC_NOERR)
            continue;
        const gboolean is_number = type != NC_CHAR && type < NC_STRING;
        const gboolean fits = n <= G_N_ELEMENTS(number);
        if (!is_number)
            text_attribute(file, variable, key, text, sizeof text);
        else if (fits && nc_get_att_double(file, variable, key, number) != NC_NOERR)
            n = 0;
        const LithoArrayAttribute attribute = {key, is_number && fits && n > 0 ? number : NULL,
                                               is_number ? (guint)MIN(n, G_MAXUINT) : 0,
                                               is_number ? NULL : text,
                                               type == NC_FLOAT || type == NC_DOUBLE};
        if (!litho_array_values_read(values, path, name, &attribute, is_float ? 0 : (int)bytes,
                                     error))
            return FALSE;
        has_fill |= strcmp(key, "_FillValue") == 0;
    }
    // Samples that were never written; integers of this kind may be samples.
    static const double unwritten = NC_FILL_FLOAT;
    if (!has_fill && is_float)
        litho_array_values_take(values, &(LithoArrayAttribute){"_FillValue", &unwritten, 1}, 0);
    return TRUE;
}

// A dimension's coordinates; NULL = it has none. g_free().
static double *values_of(int file, const char *name, gint64 n, int *variable)
{
    int rank;
    LithoArrayValues how = {0};
    if (n < 2 || n > MOST_VALUES || nc_inq_varid(file, name, variable) != NC_NOERR ||
        nc_inq_varndims(file, *variable, &rank) != NC_NOERR || rank != 1)
        return NULL;
    double *value = g_new(double, n);
    const size_t start = 0, count = (size_t)n;
    if (nc_get_vara_double(file, *variable, &start, &count, value) != NC_NOERR ||
        !read_attributes(name, file, *variable, &how, NULL)) {
        g_free(value);
        return NULL;
    }
    for (gint64 k = 0; k < n; k++)
        value[k] = litho_array_value(&how, value[k]);
    return value;
}

static void sample_axis(int file, const char *name, LithoSurvey *survey)
{
    char unit[32];
    int variable;
    g_autofree double *value = values_of(file, name, survey->grid.axis[LITHO_SAMPLE].n, &variable);
    if (!value)
        return;
    text_attribute(file, variable, "units", unit, sizeof unit);
    if (!litho_coordinates_samples(value, name, unit, survey))
        litho_coordinates_note(survey, name, TRUE);
}

static void line_axis(int file, const char *name, LithoSurvey *survey, LithoAxis *axis)
{
    int variable;
    g_autofree double *value = values_of(file, name, axis->n, &variable);
    if (value && !litho_coordinates_lines(value, name, axis))
        litho_coordinates_note(survey, name, FALSE);
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

// "amp (9 x 33 numbers), ...", for the sentence of a file without a cube. g_free().
static char *list_variables(int file)
{
    enum { MOST_LISTED = 3 };
    int count = 0;
    nc_inq_nvars(file, &count);
    GString *listed = g_string_new(count > 0 ? NULL : _("no variable"));
    for (int v = 0; v < MIN(count, MOST_LISTED); v++) {
        char name[NC_MAX_NAME + 1] = "?";
        int rank = 0;
        nc_type type = NC_FLOAT;
        nc_inq_varname(file, v, name);
        nc_inq_varndims(file, v, &rank);
        nc_inq_vartype(file, v, &type);
        g_autofree char *plain = litho_text_plain(name, 60);
        g_autofree int *own = g_new0(int, MAX(rank, 1));
        nc_inq_vardimid(file, v, own);
        g_string_append_printf(listed, "%s%s (", v ? ", " : "", plain);
        for (int k = 0; k < MIN(rank, 8); k++) {
            size_t size = 0;
            nc_inq_dimlen(file, own[k], &size);
            g_string_append_printf(listed, "%s%zu", k ? " x " : "", size);
        }
        g_string_append_printf(listed, "%s%s)", rank > 0 ? " " : "",
                               type == NC_CHAR || type == NC_STRING ? _("texts")
                               : type < NC_STRING                   ? _("numbers")
                                                                    : _("values of another type"));
    }
    if (count > MOST_LISTED)
        g_string_append_printf(listed, _(" and %u more"), (guint)(count - MOST_LISTED));
    return g_string_free(listed, FALSE);
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
    GStatBuf info;
    const gint64 told = litho_netcdf_size(self->path);
    if (g_stat(self->path, &info) == 0 && info.st_size < told)
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "%s has %" PRId64 " bytes and %" PRId64
                            " by its own header: it is cut off, copy it again",
                            self->path, (gint64)info.st_size, told);
    self->variable = find_variable(self->file, self->array.n, dimension, &cubes);
    if (self->variable < 0) {
        g_autofree char *found = list_variables(self->file);
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "%s is a netCDF file without a variable of three dimensions; "
                            "(inline, crossline, sample) is needed, found: %s",
                            self->path, found);
    }
    nc_inq_varname(self->file, self->variable, variable);
    for (int k = 0; k < 3; k++)
        nc_inq_dimname(self->file, dimension[k], name[k]);
    const char *const names[] = {name[0], name[1], name[2]};
    if (!litho_coordinates_check_order(self->path, variable, names, error))
        return FALSE;
    survey->grid = litho_grid_new(self->array.n[0], self->array.n[1], self->array.n[2]);
    line_axis(self->file, name[0], survey, &survey->grid.axis[LITHO_INLINE]);
    line_axis(self->file, name[1], survey, &survey->grid.axis[LITHO_XLINE]);
    sample_axis(self->file, name[2], survey);
    if (!read_attributes(self->path, self->file, self->variable, &self->array.values, error))
        return FALSE;
    g_autofree char *plain = litho_text_plain(variable, 60);
    survey->format = g_strdup_printf(_("netCDF, variable %s"), plain);
    if (cubes > 1)
        litho_survey_note(survey, "%u variables have three dimensions; the largest is read: %s",
                          cubes, plain);
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
    const gboolean is_named = good && nc_inq_varname(self->file, self->variable, name) == NC_NOERR;
    litho_array_unlock();
#ifdef LITHO_HAVE_HDF5
    if (is_named && self->array.is_packed)
        good = litho_hdf5_unpacker(path, name, self->array.n, &self->packed, error);
#else
    (void)is_named;
#endif
#ifdef LITHO_HAVE_HDF5
    // The cube of a file with groups lies below them, where HDF5 looks.
    int kind = 0;
    if (!good && self->file >= 0 && self->variable < 0 &&
        nc_inq_format(self->file, &kind) == NC_NOERR && kind == NC_FORMAT_NETCDF4) {
        netcdf_free(&self->array);
        g_clear_error(error);
        return litho_hdf5_open(survey, path, error);
    }
#endif
    if (!good)
        netcdf_free(&self->array);
    return good ? &self->array : NULL;
}
