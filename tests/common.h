// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib/gstdio.h>
#include <string.h>

#include "core/cube.h"
#include "core/timings.h"

// Helpers that tests of several areas share.

// 1 under a sanitizer, which makes the long loops of the operators ten times slower and sees as much
// in short ones: tests repeat less there and design shorter operators. Sizes that a property needs stay.
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define TEST_SANITIZED 1
#else
#define TEST_SANITIZED 0
#endif

// Adds a test of answers, whose code a smaller test of the same program or 'choices' walks: under a
// sanitizer it finds no more than that, and takes five times as long as elsewhere.
static inline void test_add_answers(const char *path, GTestFunc answers)
{
    if (!TEST_SANITIZED)
        g_test_add_func(path, answers);
}

// Independent numbers between -1 and 1, the same everywhere for one seed; a tenth of the traces not
// live when `holes`.
static inline LithoCube *test_random_cube(gint64 n1, gint64 n2, gint64 n3, guint32 seed,
                                          gboolean holes)
{
    LithoGrid grid = litho_grid_new(n1, n2, n3);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    GRand *rand = g_rand_new_with_seed(seed);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)g_rand_double_range(rand, -1, 1);
    for (gint64 k = 0; holes && k < n1 * n2; k++)
        cube->live[k] = g_rand_double(rand) > 0.1;
    g_rand_free(rand);
    return cube;
}

// Passes in which `stage` ran.
static inline guint test_passes_of(LithoTimings *timings, const char *stage)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    guint n = litho_timings_snapshot(timings, stages, LITHO_TIMINGS_STAGES);
    for (guint k = 0; k < n; k++)
        if (strcmp(stages[k].name, stage) == 0)
            return stages[k].count;
    return 0;
}

// g_test_run(); a program all of whose tests are skipped has not failed (77 is no success in TAP).
static inline int test_run(void)
{
    int status = g_test_run();
    return status == 77 ? 0 : status;
}

// Removes `folder` and all that is in it, and frees its name.
static inline void test_remove_folder(char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
            test_remove_folder(path);
            continue;
        }
        g_unlink(path);
        g_free(path);
    }
    if (dir)
        g_dir_close(dir);
    g_rmdir(folder);
    g_free(folder);
}
