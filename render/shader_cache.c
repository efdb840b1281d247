// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/shader_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// Bytes that a new cache needs: Mesa's index has 1.3 MB, its folders take the rest.
#define LEAST_ROOM (G_GUINT64_CONSTANT(4) << 20)

static char *cache_folder(void)
{
    static const char *const asked_for[] = {"MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR"};
    const char *base = NULL;
    for (guint k = 0; !base && k < G_N_ELEMENTS(asked_for); k++)
        base = g_getenv(asked_for[k]);
    return g_build_filename(base ? base : g_get_user_cache_dir(), "mesa_shader_cache", NULL);
}

// FALSE when the disk cannot take the holes of the file. A file system that cannot reserve blocks
// is taken at its word about its free room.
static gboolean fill_holes(int index, const struct stat *info)
{
    const int code = info->st_size > 0 ? posix_fallocate(index, 0, info->st_size) : 0;
    return code != ENOSPC && code != EDQUOT;
}

// The disk is that of the folder, or of the nearest one above it that exists.
static gboolean has_room(const char *folder)
{
    g_autofree char *path = g_strdup(folder);
    struct statvfs disk;
    while (statvfs(path, &disk) != 0) {
        if (errno != ENOENT || strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
            return TRUE; // cannot be told
        char *above = g_path_get_dirname(path);
        g_free(path);
        path = above;
    }
    return (guint64)disk.f_bavail * disk.f_frsize >= LEAST_ROOM;
}

void litho_shader_cache_guard(void)
{
    g_autofree char *folder = cache_folder();
    g_autofree char *name = g_build_filename(folder, "index", NULL);
    gboolean safe;
    const int index = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat info;
    if (index >= 0 && fstat(index, &info) == 0 && S_ISREG(info.st_mode))
        safe = fill_holes(index, &info);
    else
        safe = has_room(folder);
    if (index >= 0)
        close(index);
    if (!safe)
        g_setenv("MESA_SHADER_CACHE_DISABLE", "true", FALSE);
}
