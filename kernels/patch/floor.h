// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/levels.h"

// The noise's level at each wavenumber of the windows, where the noise does not come to all of them
// alike: data were migrated, or neighbouring traces mixed. The quiet wavenumbers hold next to no
// noise there, and a level that is taken from them leaves the noise where it is.
//
// Dense events fill all windows of a line at many wavenumbers, as noise does, but not evenly: their
// powers differ from window to window by more than exponentially distributed ones: the tenth part
// of the windows, with least power, and their half must tell the same mean. Where windows have few
// traces along an axis each cell says so, else the windows that are spread over the survey. And the
// noise that dense events stand in comes to all wavenumbers: it is of those that hold least, too.
//
// All cells of a survey share the shape over the wavenumbers of a frequency, and each has a level
// of its own. The figures do not depend on the order in which cells are measured.
#define PATCH_FLOOR_UNIT 0x1p32

typedef struct PatchFloor {
    int n[2], bins, cells; // wavenumbers, frequencies
    gboolean narrow;       // windows have few traces along an axis
    gint64 *sum;           // [frequency][wavenumber] of all cells, each in units of its mean
    gint64 *middle;        // the same of the half; zeros where windows are not narrow
    float *mean, *below;   // [cell][frequency]: mean power over the wavenumbers, of all and below
                           // events
    float *scratch;        // a plane
    gint64 recorded;       // part of the traces, of all cells
} PatchFloor;

// Powers of a cell's windows on the host.
typedef struct PatchCellPowers {
    float *tenth, *half; // mean |F|^2 [frequency][wavenumber] as noise_floor() tells it, and by the
                         // half of the windows that have least power: zeros in windows that are
                         // not narrow
    float *mean, *below; // [frequency]: mean of `tenth` over the wavenumbers, of all and below
                         // events; 0 where there is none
    double recorded;     // part of the traces
} PatchCellPowers;

void patch_floor_init(PatchFloor *floor, const LithoPatchGeometry *g, int cells);
void patch_floor_clear(PatchFloor *floor);
guint64 patch_floor_bytes(const LithoPatchGeometry *g, int cells);
PatchCellPowers patch_powers_new(const PatchFloor *floor);
void patch_powers_clear(PatchCellPowers *powers);
void patch_powers_tell(const PatchFloor *floor, const LithoNoiseWindows *windows, int threads,
                       PatchCellPowers *to);
void patch_floor_add(PatchFloor *floor, int cell, const PatchCellPowers *powers);
// Takes what a device made of the powers of `n` cells, steps of 1 / PATCH_FLOOR_UNIT of their
// means.
void patch_floor_add_sums(PatchFloor *floor, const int *cells, int n, const PatchFloorSums *sums);
PatchFloorSums patch_floor_sums_new(const PatchFloor *floor, int n);
void patch_floor_sums_clear(PatchFloorSums *sums);
// Floors of the windows of the whole survey by a tenth and a half of them, as noise_floor_by();
// FALSE: cancelled, or the device failed.
typedef struct PatchFloorOfWhole {
    gboolean (*tell)(gpointer data, float *tenth, float *half, GError **error);
    gpointer data;
} PatchFloorOfWhole;

// Gives `levels` the shape and the levels that belong to it, where the wavenumbers hold clearly
// more below their events than the levels that it has, and most of that is like noise; else leaves
// it. done[cell] is 1 where the cell was measured. `whole` is asked where windows are not narrow.
gboolean patch_floor_end(PatchFloor *floor, const guint8 *done, gboolean varies,
                         const PatchFloorOfWhole *whole, PatchLevels *levels, GError **error);
