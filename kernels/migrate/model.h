// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/resolve.h"
#include "kernels/migrate/reach.h"

// The velocity model a migration runs through: one number, a table v(z) or a cube with a grid of
// its own. Immutable after loading; reference-counted, any thread.
typedef struct LithoMigrateModel LithoMigrateModel;

// TRUE when the user's velocity is a file: a text file of "depth velocity" lines (m, m/s; '#'
// starts a comment; linear between the lines, constant beyond, two lines of one depth a jump), or a
// cube. Else a number ("2000").
gboolean litho_migrate_model_is_file(const char *text);
// Reads the file, for LithoOperator.resolve; its data is a model. NULL with a sentence: not
// readable, or a velocity that is not positive and finite (its place is named; nothing is clamped).
LithoResolved *litho_migrate_model_resolve(const char *path, LithoRun *run, GError **error);
// The model of `known`, or of a number; a new reference. NULL with a sentence: the number is not
// positive and finite, the text is empty, or it is a file that has not been read.
LithoMigrateModel *litho_migrate_model_of(const char *text, LithoResolved *known, GError **error);
// From a cube in memory (m/s). Adds a reference to the cube.
LithoMigrateModel *litho_migrate_model_from_cube(const LithoCube *cube, LithoRun *run,
                                                 GError **error);
LithoMigrateModel *litho_migrate_model_ref(LithoMigrateModel *model);
void litho_migrate_model_unref(LithoMigrateModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoMigrateModel, litho_migrate_model_unref)

typedef struct LithoVelocityRange {
    double min, max; // m/s
} LithoVelocityRange;
LithoVelocityRange litho_migrate_model_range(const LithoMigrateModel *model);
// Distance of a cube's samples in depth (m): `stated` by the user, its file's, else the image's.
double litho_migrate_model_depth_step(const LithoMigrateModel *model, double stated, double image);
// One-way vertical time (s) from the surface to depth z (m) down a column of the model, whose
// samples lie `step` m apart, and the depth that a time reaches.
double litho_migrate_model_time(const LithoMigrateModel *model, LithoColumn column, double step,
                                double z);
double litho_migrate_model_depth(const LithoMigrateModel *model, LithoColumn column, double step,
                                 double time);
// TRUE when velocity does not change along the lines and crosslines.
gboolean litho_migrate_model_is_layered(const LithoMigrateModel *model);
// The inlines and crosslines of a cube; FALSE for a number and a table.
gboolean litho_migrate_model_traces(const LithoMigrateModel *model, gint64 n[2]);
// FALSE with a sentence when the model is a cube whose file states samples in time and `step`, the
// distance in m that the user states for them, is 0.
gboolean litho_migrate_model_check_depth(const LithoMigrateModel *model, double step,
                                         GError **error);
// Sentences worth showing (extended at the edges, sampling assumed). Borrowed, never NULL.
const GPtrArray *litho_migrate_model_notes(const LithoMigrateModel *model);

// Place of the model's traces under the image's: fractional model index = origin + i * along i + j
// * along j, per lateral axis; constant and layered models do not look.
typedef struct LithoModelMap {
    double at[2], by_inline[2], by_xline[2];
    double depth_step; // m between the model's samples
    gboolean assumed;  // the cube does not say: the image's interval
    gboolean stretched; // the two grids state nothing in common: the cube covers the image's area
    double bottom;     // m, of a cube; 0 = the model has no lower edge
} LithoModelMap;
// FALSE with a sentence when the two grids have nothing to be related by, or do not overlap.
gboolean litho_migrate_model_map(const LithoMigrateModel *model, const LithoGrid *image,
                                 LithoModelMap *map, GError **error);

// Mean slowness (s/m) of depths top..bottom (m) under cells (i, j), lo <= i < hi, into
// slowness[(i - lo_i) * n_j + j - lo_j]. Cells beyond the model take its edge.
void litho_migrate_model_slowness(const LithoMigrateModel *model, const LithoModelMap *map,
                                  const gint64 lo[2], const gint64 hi[2], double top, double bottom,
                                  float *slowness);
