// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"

static double *refuse(const char *path, const char *what, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                "%s %s; a NumPy file of two axes, float32 or float64, C order is needed", path,
                what);
    return NULL;
}

// Reads the header's dictionary: element size and shape. FALSE when it is of another kind.
static gboolean parse_header(const char *header, int *bytes, int shape[2])
{
    const char *descr = strstr(header, "'descr'"), *form = strstr(header, "'shape'");
    if (!descr || !form || strstr(header, "'fortran_order': True"))
        return FALSE;
    if (strstr(descr, "'<f4'"))
        *bytes = 4;
    else if (strstr(descr, "'<f8'"))
        *bytes = 8;
    else
        return FALSE;
    char closing = 0;
    return sscanf(form, "'shape': (%d, %d%c", &shape[0], &shape[1], &closing) == 3 &&
           closing == ')' && shape[0] > 0 && shape[1] > 0;
}

double *twsm_npy_read(const char *path, int shape[2], GError **error)
{
    g_autofree char *file = NULL;
    gsize size = 0;
    if (!g_file_get_contents(path, &file, &size, error))
        return NULL;
    if (size < 12 || memcmp(file, "\x93NUMPY", 6) != 0)
        return refuse(path, "does not begin as a NumPy file", error);
    const guint8 *b = (const guint8 *)file;
    gsize at = b[6] == 1 ? 10 : 12;
    gsize length = b[8] + 256 * (gsize)b[9];
    if (b[6] > 1)
        length += ((gsize)b[10] << 16) + ((gsize)b[11] << 24);
    if (at + length > size)
        return refuse(path, "ends inside its header", error);
    g_autofree char *header = g_strndup(file + at, length);
    int bytes = 0;
    if (!parse_header(header, &bytes, shape))
        return refuse(path, "is of another kind", error);
    gsize count = (gsize)shape[0] * shape[1];
    if (size - at - length < count * bytes)
        return refuse(path, "is shorter than its header says", error);
    double *out = g_new(double, count);
    const char *data = file + at + length;
    for (gsize k = 0; k < count; k++) {
        float single;
        if (bytes == 4)
            memcpy(&single, data + 4 * k, 4);
        else
            memcpy(&out[k], data + 8 * k, 8);
        if (bytes == 4)
            out[k] = single;
    }
    return out;
}
