// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <complex.h>
#include "core/run.h"
#include "kernels/twsm/contact_rule.h"

// Reflection and transmission of pressure at the contact of two acoustic half-spaces. All functions
// are pure; medium 1 is the one the wave comes from.

// Plane wave at incidence cos1 in 0..1. Beyond the critical angle complex, for the time factor
// exp(-i w t).
double complex twsm_coef_plane(const TwsmContact *contact, double cos1);
// The plane-wave coefficient with the angle held smoothly below the critical one, so that it is
// real and has no kink: a kink diffracts and its ring focuses on the axis (docs/twsm.md).
double twsm_coef_frozen(const TwsmContact *contact, double cos1);
// Exact interface pressure of a point source at distance r from a plane contact, divided by the
// incident exp(i chi)/chi; chi = w r / v1 >= 1, cos1 in 0.02..1. Sommerfeld integral on a complex
// path; error 1e-6 of unity or less, in the whole range.
double complex twsm_coef_effective(const TwsmContact *contact, double chi, double cos1);

// Coefficients over cosI in 0..1 for twsm_coefficient() of pair.h: TWSM_TABLE + 2 pairs (re, im).
// g_free().
float *twsm_coef_table(const TwsmContact *contact, gboolean plane);

// Effective coefficients for chi = 5..chi_max and cos_min..1, tabulated once; look-ups interpolate
// (cubic, in log chi and in cos1 on a grid refined around the critical angle) with an error under
// 1e-3, most of it at chi above 300 far beyond critical. Smaller chi and cosines take the edge.
// Seconds of work at high chi, unless an earlier call of any model made the table: the last few are
// kept, and their numbers do not depend on who asked first. NULL when `run` (may be NULL) was
// cancelled. Any thread.
typedef struct TwsmEffective TwsmEffective;
TwsmEffective *twsm_effective_new(const TwsmContact *contact, double chi_max, double cos_min,
                                  LithoRun *run);
void twsm_effective_free(TwsmEffective *table); // NULL is fine
// Coefficients at one incidence, re and im in turn, for n frequency numbers whose columns
// twsm_effective_columns() gave; chi1 the chi of number 1. Rounding to float32: 2e-7 of unity. Any
// thread.
void twsm_effective_row(const TwsmEffective *table, double chi1, double cos1, const double *column,
                        int n, float *value);
// Columns of frequency numbers k0 .. k0 + n - 1 relative to number 1.
void twsm_effective_columns(int k0, int n, double *column);
// The table for look-ups elsewhere; borrowed.
TwsmPieces twsm_effective_pieces(const TwsmEffective *table);
guint64 twsm_effective_serial(const TwsmEffective *table); // never that of another table
