// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/param.h"

// Numbers of a parameter's row: the slider's range and positions, the step of the arrows, and texts
// with units. Pure functions.

// Ends of the slider: the useful range where the row declares one, else the legal range.
void litho_param_slider_range(const LithoParam *row, double *lo, double *hi);
// Slider positions: value <-> the slider's own scale (its logarithm for log rows, whose lower end
// stands for 0).
double litho_param_slider_from_value(const LithoParam *row, double value);
double litho_param_slider_to_value(const LithoParam *row, double position);
// "1.25", "10", "300": as many digits as a row of this kind needs; the words for a special value.
// `out` gets at most `size` bytes.
void litho_param_format(const LithoParam *row, double value, char *out, gsize size);
// The value with its unit, which may be another one where the samples are depths.
void litho_param_format_unit(const LithoParam *row, double value, gboolean is_depth, char *out,
                             gsize size);
// A value of a row of any kind as people read it: the shown name of a choice, "on" or "off".
void litho_param_format_any(const LithoParam *row, double value, gboolean is_depth, char *out,
                            gsize size);
// The number that a special value stands for: three digits and the unit, "37 Hz".
void litho_param_format_used(const LithoParam *row, double value, gboolean is_depth, char *out,
                             gsize size);
// "2.7 sigma"; "automatic: 2.7 sigma" where the value leaves the choice to the operator, which took
// `used` (NAN = none is known). g_free().
char *litho_param_format_left(const LithoParam *row, double value, double used, gboolean is_depth);
// A limit as a number with its unit, whatever a special value at it stands for.
void litho_param_format_bound(const LithoParam *row, double value, gboolean is_depth, char *out,
                              gsize size);
// "7 to 50 traces"; "up to 250 Hz" where the lower end is the special value, "0 m or more" where
// there is no upper limit but the one of numbers, "any" where there is no lower one either.
// g_free().
char *litho_param_format_range(const LithoParam *row, double lo, double hi, gboolean is_depth);
// Step of the arrows beside the number.
double litho_param_step(const LithoParam *row);
// TRUE when `value` is the row's special value ("automatic").
gboolean litho_param_is_special(const LithoParam *row, double value);
// Unit of the row; "" = none. Static.
const char *litho_param_unit(const LithoParam *row, gboolean is_depth);
