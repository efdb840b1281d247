// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/measured.h"
#include "kernels/patch/patch.h"

// Window and rule where they are left automatic: windows of LITHO_PATCH_WINDOW or LITHO_PATCH_WIDE
// samples, rule `single` or `energy`, as samples of the survey say.
//
// A window of 24 holds an event that is plane over its traces in fewer, larger coefficients; one
// that bends it holds in more. The energy of neighbours finds weak events among strong noise, and
// keeps more noise.
//
// Places of 24 x 24 x 24 samples, spread over the survey, are transformed as one wide window and as
// 27 windows of 16. The level of the noise at a frequency follows from the quieter coefficients of
// the place. Of both sizes, and of both rules in the smaller windows, the energy that is kept less
// twice the noise in it is held against the noise in it. A wide window must keep more by WIDE_PAYS
// times the noise in the mean of both, else the energy of neighbours by ENERGY_PAYS. On 160 cubes
// that chose neither number no wide window lost (docs/patch.md).
//
// Where samples are closer together than the survey's frequencies need (choice_dense.h), both
// windows, and the places, are longer along time.

typedef struct PatchFound {
    int window; // LITHO_PATCH_WINDOW or LITHO_PATCH_WIDE
    int rule;   // LITHO_PATCH_SINGLE or LITHO_PATCH_ENERGY
    // Lengths of the windows along the axes of lines (choice_lines.h), and where samples are dense
    // (choice_dense.h), else 0; the threshold of lines, else 0: by the window's size.
    int lengths[3];
    double threshold;
    int floor_steps; // halvings of LITHO_PATCH_FLOOR where filling has no floor (choice_fill.h)
} PatchFound;

// The last choice. One plan, one thread at a time.
typedef struct PatchChoice {
    guint64 serial; // of the cube; 0 = none
    double erratic; // bursts were sought with
    gboolean fills; // the choice is one for filling
    PatchFound found;
} PatchChoice;

// The parameters with what was found where they leave it open.
LithoPatchParams patch_choice_take(const LithoPatchParams *asked, PatchFound found);
// TRUE where no cube needs to be asked: `used` is the parameters of the pass with what it has
// measured, or with the choice for the cube before, or with 16 and `single` where nothing is to be
// chosen.
gboolean patch_choice_known(const PatchChoice *choice, const LithoGrid *grid, const LithoPass *pass,
                            LithoPatchParams *used);
// Where missing traces are filled, the last threshold of filling is what is chosen.
// Chooses in what `clean` reads, boxes of whole traces: the survey of the pass without bursts, with
// guesses for missing traces; `used` is its parameters with the choice. FALSE: cancelled,
// unreadable, no memory.
gboolean patch_choice_make(PatchChoice *choice, const LithoPass *pass, const LithoReader *clean,
                           LithoRun *run, LithoPatchParams *used, GError **error);
// The choice for a survey that is read part by part, as it is. FALSE: as above.
gboolean patch_choice_read(const LithoPatchParams *asked, const LithoReader *survey, LithoRun *run,
                           PatchFound *found, GError **error);
// Tells the window of `used` where `asked` gives none, and that neighbours decide.
void patch_choice_report(const LithoPatchParams *asked, const LithoPatchParams *used,
                         LithoReport *report);
