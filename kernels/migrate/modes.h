// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/engine.h"

// An engine's bands from the record to its sums, coarse grids first: they are cheap, and the slabs
// that the image's own grid shows afterwards are whole.

// Watcher to whom finished depths are shown.
typedef struct MigWatch {
    MigEngine *engine;
    const LithoMigrateParams *params;
    const LithoCube *out;
    float scale; // of a sum that is only part of the image
    LithoRun *run;
} MigWatch;

gboolean mig_stack(MigEngine *engine, const LithoCube *in, MigWatch *watch, LithoRun *run,
                   GError **error);
gboolean mig_shots(MigEngine *engine, const LithoShots *shots, const LithoCube *in, MigWatch *watch,
                   LithoRun *run, GError **error);
gboolean mig_demigrate(MigEngine *engine, const LithoCube *in, LithoRun *run, GError **error);
// Depths first .. first + n - 1 of the engine's image as they are, to whoever watches the run; a
// MigSlab whose data is the watch.
gboolean mig_show(int first, int n, gpointer watch, GError **error);
