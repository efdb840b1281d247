// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Bytes that a classic netCDF file (versions 1, 2 and 5) takes by its own header, padding behind
// the last number left out; the netCDF library reads zeros where the file ends earlier. -1 = no
// such file, or a header that makes no sense.
// https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html
gint64 litho_netcdf_size(const char *path);
