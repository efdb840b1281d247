// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Units of axes and coordinates as files write them: s, ms, us, ns and m, km, cm, mm, ft, kft,
// short, with a micro sign, or as English words. Any thread.

#define LITHO_FOOT 0.3048 // m

// Seconds or metres in one `unit`; *is_length says which. 0: the unit is none of these, NULL or "".
double litho_file_unit(const char *unit, gboolean *is_length);
