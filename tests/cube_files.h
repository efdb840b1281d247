// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib/gstdio.h>

#include "core/io/survey.h"
#include "tests/common.h"

// Cubes that a test writes into a folder of its own and reads again.

static char *folder;
static const LithoSaveOptions forced = {.force = TRUE};

static inline char *in_folder(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static inline char *put_file(const char *name, const GByteArray *bytes)
{
    char *path = in_folder(name);
    g_unlink(path); // and no fsync, which would cost more than all tests together
    g_assert_true(g_file_set_contents_full(path, (const char *)bytes->data, bytes->len,
                                           G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    return path;
}

static inline LithoCube *load(const char *path, const LithoOpenOptions *options)
{
    GError *error = NULL;
    LithoCube *cube = litho_cube_load(path, options, NULL, &error);
    g_assert_no_error(error);
    return cube;
}

static inline void save(const LithoCube *cube, const char *path, const LithoSaveOptions *options)
{
    GError *error = NULL;
    gboolean good = litho_cube_save(cube, path, options, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(good);
}
