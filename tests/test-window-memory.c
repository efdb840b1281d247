// SPDX-License-Identifier: GPL-3.0-or-later
//
// A day's files in one window under a virtual display: memory of those that were closed comes back.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/common.h"
#include "tests/gui/files.h"
#include "ui/window/window_private.h"

enum {
    FILES = 56,
    STEADY = 8, // from here on nothing new is kept
    N1 = 64,
    N2 = 64,
    N3 = 400,
    REAL_BYTES = 64 << 20, // larger files of ../shared/data are left out
};

static Gui gui;

static double resident(void)
{
    long all, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    g_assert_true(file && fscanf(file, "%ld %ld", &all, &pages) == 2);
    fclose(file);
    return (double)pages * sysconf(_SC_PAGESIZE);
}

// Real surveys, where they are: any may be refused, none may stay in memory.
static int open_real(const char *folder, int depth)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    int opened = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autoptr(GFile) file = g_file_new_for_path(path);
        g_autoptr(GFileInfo) info = g_file_query_info(file, "standard::size,standard::type",
                                                      G_FILE_QUERY_INFO_NONE, NULL, NULL);
        if (!info)
            continue;
        if (g_file_info_get_file_type(info) == G_FILE_TYPE_DIRECTORY)
            opened += depth > 0 ? open_real(path, depth - 1) : 0;
        else if ((g_str_has_suffix(name, ".sgy") || g_str_has_suffix(name, ".segy")) &&
                 g_file_info_get_size(info) < REAL_BYTES) {
            gui_open_file(&gui, path);
            opened++;
        }
    }
    return opened;
}

// Property: after 56 files the program holds no more than after eight. At any moment it holds input,
// result and a texture of each: four cubes may come or go between two looks, and the allocator may
// keep some blocks. One cube that is kept of every file would be five times that.
static void test_many_files(void)
{
    const double cube = 4.0 * N1 * N2 * N3, allowed = 4 * cube + (64 << 20);
    double steady = 0;
    const char *root = g_getenv("LITHO_SOURCE_ROOT");
    g_autofree char *data = g_build_filename(root ? root : ".", "../shared/data", NULL);
    for (int k = 0; k < FILES; k++) {
        // Three surveys of three formats in turn, each a file of its own.
        static const char *const kinds[] = {"npy", "sgy", "rsf"};
        g_autofree char *name = g_strdup_printf("day-%d.%s", k % 6, kinds[k % 3]);
        g_autofree char *path = gui_path(&gui, name);
        if (k < 6)
            g_free(gui_write_cube(&gui, name, N1 - k, N2, N3));
        gui_open_file(&gui, path);
        g_assert_null(litho_window_error(gui.window));
        gui_spin(&gui, 0.1);
        if (k == STEADY)
            steady = resident();
    }
    double now = resident();
    g_test_message("%d files: %.0f MB after %d, %.0f MB at the end", FILES, steady / 1e6, STEADY,
                   now / 1e6);
    g_assert_cmpfloat(now, <, steady + allowed);
    const int real = open_real(data, 2);
    if (real == 0)
        return;
    g_autofree char *again = gui_path(&gui, "day-0.npy");
    gui_open_file(&gui, again);
    gui_spin(&gui, 0.5);
    now = resident();
    g_test_message("%d real files behind them: %.0f MB", real, now / 1e6);
    g_assert_cmpfloat(now, <, steady + allowed + REAL_BYTES);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/memory/many-files", test_many_files);
    int status = test_run();
    gui_close(&gui);
    return status;
}
