// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are something else than what can be read, told by their first bytes or, for folders,
// by what lies in them: one sentence that names the format and says how to get at the samples.
#include <string.h>

#include "core/error.h"
#include "core/io/survey_private.h"
#include "core/text.h"

#define TO_NPY "save the cube with numpy.save as .npy"
#define WITHOUT_NETCDF "build the program with libnetcdf-dev, or read it with xarray and " TO_NPY

static const struct {
    const char *bytes;
    int n;
    const char *what, *need;
} signatures[] = {
    // Seismic data in formats of their own. ZGY: OpenZGY, file header; VDS: OpenVDS,
    // HueBulkDataStore; CBVS and SEG-2 have their signatures in their own documents.
    {"VBS\0", 4, N_("a ZGY file"), "export it as SEG-Y, or read it with pyzgy and " TO_NPY},
    {"VCS\0", 4, N_("a compressed ZGY file"), N_("export it as SEG-Y")},
    {"HueDataStore", 12, N_("a VDS file"), N_("export it as SEG-Y with OpenVDS's SEGYExport")},
// Where the libraries are, core/io/array_open.c reads these files.
#ifndef LITHO_HAVE_HDF5
    {"\x89HDF\r\n\x1a\n", 8, N_("an HDF5 or netCDF-4 file"),
     "build the program with libhdf5-dev, or read it with h5py or xarray and " TO_NPY},
#endif
#ifndef LITHO_HAVE_NETCDF
    {"CDF\x01", 4, N_("a netCDF file"), WITHOUT_NETCDF},
    {"CDF\x02", 4, N_("a netCDF file"), WITHOUT_NETCDF},
    {"CDF\x05", 4, N_("a netCDF file"), WITHOUT_NETCDF},
#endif
    {"MATLAB 7.3 MAT", 14, N_("a MATLAB 7.3 file (HDF5)"), "read it with h5py and " TO_NPY},
    {"MATLAB 5.0 MAT", 14, N_("a MATLAB file"), "read it with scipy.io.loadmat and " TO_NPY},
    {"PAR1", 4, N_("a Parquet table"), N_("export the cube as SEG-Y or .npy")},
    {"\x55\x3a\x01\x00", 4, N_("a SEG-2 file"), N_("convert it to SEG-Y first")},
    {"\x3a\x55\x00\x01", 4, N_("a SEG-2 file"), N_("convert it to SEG-Y first")},
    // Packed files.
    {"\x1f\x8b\x08", 3, N_("a gzip file"), N_("decompress it first")},
    {"PK\x03\x04", 4, N_("a zip file"), N_("unpack it first")},
    {"\xfd"
     "7zXZ",
     5, N_("an xz file"), N_("decompress it first")},
    {"BZh", 3, N_("a bzip2 file"), N_("decompress it first")},
    {"\x28\xb5\x2f\xfd", 4, N_("a zstd file"), N_("decompress it first")},
    {"7z\xbc\xaf", 4, N_("a 7-zip file"), N_("unpack it first")},
    {"Rar!", 4, N_("a RAR file"), N_("unpack it first")},
    // Anything else by a seismic name.
    {"%PDF", 4, N_("a PDF document"), N_("a seismic file is needed")},
    {"\x89PNG", 4, N_("a PNG picture"), N_("a seismic file is needed")},
    {"\xff\xd8\xff", 3, N_("a JPEG picture"), N_("a seismic file is needed")},
    {"GIF8", 4, N_("a GIF picture"), N_("a seismic file is needed")},
    {"II*\0", 4, N_("a TIFF picture"), N_("a seismic file is needed")},
    {"MM\0*", 4, N_("a TIFF picture"), N_("a seismic file is needed")},
    {"\x7f"
     "ELF",
     4, N_("a program"), N_("a seismic file is needed")},
};

static const char *const html_starts[] = {"<!doctype html", "<html", "<?xml"};

// --- SEG-D --------------------------------------------------------------------------------------

static int bcd(guint8 byte)
{
    const int high = byte >> 4, low = byte & 15;
    return high > 9 || low > 9 ? -1 : 10 * high + low;
}

// General header block 1 has no signature but a code of the data's format in bytes 3-4 and, as
// decimal digits, the file, the date and the time of recording (SEG-D rev 1 to 3). A SEG-Y or SU
// file fails one of these: its bytes there are letters or the zeros of a small number.
static gboolean is_segd(const guint8 *h)
{
    static const int codes[] = {8015, 8022, 8024, 8036, 8038, 8042, 8044, 8048, 8058};
    const int code = bcd(h[2]) * 100 + bcd(h[3]);
    gboolean known = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(codes); k++)
        known |= bcd(h[2]) >= 0 && bcd(h[3]) >= 0 && code == codes[k];
    const gboolean is_numbered =
        (bcd(h[0]) >= 0 && bcd(h[1]) >= 0) || (h[0] == 0xff && h[1] == 0xff);
    const int day = 100 * (h[11] & 15) + bcd(h[12]);
    const gboolean is_dated = bcd(h[10]) >= 0 && bcd(h[12]) >= 0 && day >= 1 && day <= 366;
    const gboolean is_timed = bcd(h[13]) >= 0 && bcd(h[13]) < 24 && bcd(h[14]) >= 0 &&
                              bcd(h[14]) < 60 && bcd(h[15]) >= 0 && bcd(h[15]) < 60;
    return known && is_numbered && is_dated && is_timed && bcd(h[16]) > 0; // [16] is the maker
}

// --- asking -------------------------------------------------------------------------------------

static gboolean refuse(const char *path, const char *what, const char *need, GError **error)
{
    return litho_refuse(error, LITHO_ERROR_FORMAT, "%s is %s, which cannot be read; %s", path, what,
                        need);
}

gboolean litho_foreign_check(const LithoTraceFile *file, GError **error)
{
    enum { SEEN = 160, TAPE_LABEL = 128 };
    char head[SEEN + 1] = {0};
    if (litho_file_read(file, head, SEEN, 0, error) < 0)
        return FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(signatures); k++)
        if (memcmp(head, signatures[k].bytes, signatures[k].n) == 0)
            return refuse(file->path, litho_text(signatures[k].what),
                          litho_text(signatures[k].need), error);
    const gboolean is_labelled = memcmp(head + 4, "SD", 2) == 0; // tape label of SEG-D rev 1 on
    if (is_segd((const guint8 *)head + (is_labelled ? TAPE_LABEL : 0)))
        return refuse(file->path, _("a SEG-D field tape"),
                      _("convert it to SEG-Y first, with segdread of Seismic Unix for example"),
                      error);
    const char *text = head;
    while (g_ascii_isspace(*text))
        text++;
    for (guint k = 0; k < G_N_ELEMENTS(html_starts); k++)
        if (g_ascii_strncasecmp(text, html_starts[k], strlen(html_starts[k])) == 0)
            return refuse(file->path, _("a web page (HTML)"), _("download the file itself"), error);
    return TRUE;
}

static gboolean holds(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

gboolean litho_foreign_refuse_folder(const char *path, GError **error)
{
    if (holds(path, "VolumeDataLayout") || holds(path, "LayerStatus"))
        return refuse(path, _("a VDS folder"), _("export it as SEG-Y with OpenVDS's SEGYExport"),
                      error);
    return litho_refuse(error, LITHO_ERROR_FORMAT, "%s is a folder, a regular file is needed",
                        path);
}
