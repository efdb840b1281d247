// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// The rock under a survey: velocity and reflectors of known depth, described by a few numbers, or a
// velocity cube from a file. Places are metres: z down from the surface, y (inlines) and x
// (crosslines) from the survey's centre. Read-only after its making: any thread.

typedef enum {
    LITHO_MODEL_FLAT,
    LITHO_MODEL_DIPPING,
    LITHO_MODEL_DIFFRACTORS,
    LITHO_MODEL_SYNCLINE,
    LITHO_MODEL_SALT,
    LITHO_MODEL_LENS,
    LITHO_MODEL_FILE,
} LithoSynthModelKind;

typedef struct LithoSynthModel {
    LithoSynthModelKind kind;
    double velocity;   // of the top layer, m/s
    double depth;      // that the reflectors are scaled by, m
    double cell;       // size of the modelling's cells, m
    int n[3];          // such cells: depths, inlines, crosslines
    double fastest;    // no velocity is higher
    LithoCube *cube;   // LITHO_MODEL_FILE: owned; else NULL
    double spacing[3]; // of its samples, m: depths, inlines, crosslines
} LithoSynthModel;

// Reads the velocity cube of a LITHO_MODEL_FILE and sets n[] to the cells it covers; where the file
// does not state a spacing, its samples are `cell` apart. FALSE with a sentence where the file
// cannot be read, is sampled in time, or holds a velocity that is none.
gboolean litho_synth_model_load(LithoSynthModel *model, const char *path, LithoRun *run,
                                GError **error);
void litho_synth_model_clear(LithoSynthModel *model);

// Velocity (m/s) of a cell around a place {z, y, x}: slowness averaged over the cell's depth, so
// that interfaces keep their depth between the samples. `top_only`: of the uppermost rock there, to
// which a lens in it belongs.
double litho_synth_model_cell(const LithoSynthModel *model, const double place[3],
                              gboolean top_only);

// Tells `add` the depth (m) and strength of everything that reflects under (x, y), points aside.
void litho_synth_model_reflectors(const LithoSynthModel *model, double x, double y,
                                  void (*add)(double z, double strength, gpointer data),
                                  gpointer data);
