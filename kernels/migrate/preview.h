// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"

// A first look at the image of a stack, before its waves are carried down cell by cell. Where rock
// does not vary to the sides, a step multiplies every lateral wavenumber by the value that its
// polynomial has there: the Laplacian is a number (Gazdag, 1978, with the polynomials in the place
// of the exact shift). That is a twelfth of the arithmetic and needs no neighbour. Rock that varies
// is taken at the mean of each step, and the depths under every cell are stretched to its own
// vertical time, so that flat events lie where they belong; waves that are bent to the sides do
// not. There is no border: waves that leave on one side come in on the other behind a margin.
// Everything is the full migration's otherwise, degree, largest dip and band included.

enum {
    LITHO_PREVIEW_NEW = 1,  // operators are others than in the step above
    LITHO_PREVIEW_STOP = 2, // steeper waves are taken away before the step
};

typedef struct LithoPreview {
    int nx, ny;    // periodic grid; the data's cells are its first
    guint8 *flags; // [n_steps] of LITHO_PREVIEW_NEW and _STOP
    float *slow2;  // [n_steps] mean slowness, squared
    float *time;   // [nz] vertical time down to every plane in mean rock, in units of
                   // slowness times steps; NULL: rock does not vary to the sides
    float scale;   // of the sum of the waves' real parts, inverse transform included
} LithoPreview;

// TRUE for a designed job that a preview can be made of.
gboolean litho_preview_suits(const LithoMigrateJob *job);
LithoPreview *litho_preview_new(const LithoMigrateJob *job);
void litho_preview_free(LithoPreview *preview); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoPreview, litho_preview_free)
