// SPDX-License-Identifier: GPL-3.0-or-later
// Which files a library reads, and a survey made of its array.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/io/survey_private.h"
#include "core/text.h"

typedef LithoArray *(*Opener)(LithoSurvey *survey, const char *path, GError **error);

static const struct {
    const char *bytes;
    int n;
    Opener open;
} formats[] = {
#ifdef LITHO_HAVE_HDF5
    {"\x89HDF\r\n\x1a\n", 8, litho_hdf5_open},
#endif
#ifdef LITHO_HAVE_NETCDF
    {"CDF\x01", 4, litho_netcdf_open},
    {"CDF\x02", 4, litho_netcdf_open},
    {"CDF\x05", 4, litho_netcdf_open},
#endif
    {NULL, 0, NULL},
};

const char *litho_survey_formats(void)
{
    return "SEG-Y, SU, NumPy, RSF, raw"
#ifdef LITHO_HAVE_HDF5
           ", HDF5"
#endif
#ifdef LITHO_HAVE_NETCDF
           ", netCDF"
#endif
           ", Zarr";
}

static Opener opener_of(const char *path)
{
    char head[8] = "";
    gboolean is_hdf5 = FALSE;
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return litho_is_store(path) ? litho_zarr_open : NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
#ifdef LITHO_HAVE_HDF5
    // HDF5 may begin behind bytes of another program: 512, 1024, 2048 and so on.
    char late[8] = "";
    for (off_t at = 512; fd >= 0 && !is_hdf5 && at <= 1 << 16; at *= 2)
        is_hdf5 = pread(fd, late, sizeof late, at) == sizeof late &&
                  memcmp(late, formats[0].bytes, sizeof late) == 0;
#endif
    if (fd >= 0)
        close(fd);
    for (guint k = 0; formats[k].bytes; k++)
        if (got >= formats[k].n && memcmp(head, formats[k].bytes, formats[k].n) == 0)
            return formats[k].open;
    return is_hdf5 ? formats[0].open : NULL; // the first where HDF5 is read
}

gboolean litho_array_is(const char *path)
{
    return opener_of(path) != NULL;
}

// netCDF-4 files are HDF5 files whose dimensions have names and coordinates.
static LithoArray *open_any(LithoSurvey *survey, const char *path, GError **error)
{
    const Opener opener = opener_of(path);
#if defined LITHO_HAVE_HDF5 && defined LITHO_HAVE_NETCDF
    if (opener == litho_hdf5_open && litho_hdf5_is_netcdf(path))
        return litho_netcdf_open(survey, path, error);
#endif
    if (opener)
        return opener(survey, path, error);
    litho_refuse(error, LITHO_ERROR_FORMAT, "%s was changed while it was opened", path);
    return NULL;
}

// Packing makes zeros at most a thousand times smaller: what claims more is no survey.
static gboolean check_size(const LithoTraceFile *file, GError **error)
{
    enum { MOST_PACKED = 1100 };
    const gint64 *n = file->array->n;
    const double samples = (double)n[0] * (double)n[1] * (double)n[2];
    const gint64 stored = file->array->stored ? file->array->stored : file->stamp.bytes;
    const double held = (double)stored * (file->array->is_packed ? MOST_PACKED : 1);
    if (samples * file->array->sample_bytes <= held)
        return TRUE;
    return litho_refuse(error, LITHO_ERROR_FORMAT,
                        "%s says it holds %" PRId64 " x %" PRId64 " x %" PRId64
                        " samples in %" PRId64 " bytes: it is damaged or cut off",
                        file->path, n[0], n[1], n[2], stored);
}

// Traces that a mask says are not there get no number in the table.
static gboolean leave_out(LithoSurvey *survey, const guint8 *live, GError **error)
{
    gint64 missing = 0;
    for (gint64 t = 0; live && t < survey->traces; t++)
        missing += !live[t];
    if (missing == 0)
        return TRUE;
    survey->table = g_try_new(gint64, survey->traces);
    if (!survey->table)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "no memory for a table of %" PRId64 " traces", survey->traces);
    for (gint64 t = 0; t < survey->traces; t++)
        survey->table[t] = live[t] ? t : -1;
    survey->counts.missing = missing;
    return TRUE;
}

gboolean litho_array_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                          GError **error)
{
    LithoTraceFile file;
    if (litho_file_open(&file, path, error) && (file.array = open_any(survey, path, error))) {
        file.array->opened_ns = file.stamp.changed_ns;
        const gint64 *n = file.array->n;
        const LithoGrid sizes = litho_grid_new(n[0], n[1], n[2]);
        file.format = LITHO_FORMAT_IEEE;
        file.sample_order = litho_order_native();
        if (litho_grid_check(&sizes, error) && check_size(&file, error)) {
            file.size = litho_grid_samples(&sizes) * (gint64)sizeof(float);
            if (litho_regular_finish(survey, &file, n, options, error) &&
                leave_out(survey, file.array->live, error)) {
                g_array_append_val(survey->files, file);
                return TRUE;
            }
        }
    }
    litho_file_close(&file);
    return FALSE;
}
