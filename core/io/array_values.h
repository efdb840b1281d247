// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Samples from the numbers that a netCDF, HDF5 or Zarr array stores, by the array's attributes:
// https://cfconventions.org/cf-conventions/cf-conventions.html#packed-data

enum { LITHO_ARRAY_MISSING = 8 };

typedef struct LithoArrayValues {
    gboolean is_packed;   // sample = stored * scale + offset
    double scale, offset; // used when is_packed
    double turn; // > 0: added to negative numbers, which are unsigned ones; < 0: added to those of
                 // -turn / 2 and more
    guint n_missing;
    float missing[LITHO_ARRAY_MISSING]; // stored numbers that stand for no sample
    gboolean has_least, has_most;
    float least, most; // of the numbers after `turn` that stand for samples
} LithoArrayValues;

// Names of the attributes that change samples, NULL-terminated, in the order in which they are to
// be taken.
extern const char *const litho_array_attributes[];

typedef struct LithoArrayAttribute {
    const char *key;
    const double *number; // `n` of them, LITHO_ARRAY_MISSING at most; NULL = more, or none
    guint n;
    const char *text; // NULL = numbers
    gboolean is_real; // the numbers are floats
} LithoArrayAttribute;

// Takes one of them. `bytes` of a stored integer, 0 = floats are stored. NULL = it was taken, or
// says nothing here; else the words for what is needed in its place, static. Bounds of valid
// numbers that are floats beside packed integers are bounds of samples:
// https://docs.unidata.ucar.edu/nug/current/best_practices.html
const char *litho_array_values_take(LithoArrayValues *values, const LithoArrayAttribute *attribute,
                                    int bytes);
// The attribute of the array `name` in the file `path`, taken or refused with a sentence of what
// was found and what is needed.
gboolean litho_array_values_read(LithoArrayValues *values, const char *path, const char *name,
                                 const LithoArrayAttribute *attribute, int bytes, GError **error);
// The sample that a stored number stands for; NaN = none.
double litho_array_value(const LithoArrayValues *values, double stored);
// All of them, in place.
void litho_array_values_apply(const LithoArrayValues *values, float *x, gint64 n);
