// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory that measuring levels takes, and how many cells are measured beside each other in it.
#include <math.h>

#include "kernels/common/noise_job.h"
#include "kernels/patch/floor.h"
#include "kernels/patch/levels_bands.h"
#include "kernels/patch/levels_cells.h"
#include "kernels/patch/levels_traces.h"

enum { HOST_BYTES = 64 << 20 }; // of cells that as many threads measure

// litho_noise_windows_memory() and litho_noise_thread_memory(); dense windows are told as short
// ones are, which takes half as much.
static guint64 windows_memory(const LithoGrid *grid, const int window[3], int most)
{
    return litho_patch_dense_of(window) > 1 ? litho_noise_powers_memory(grid, window, most)
                                            : litho_noise_windows_memory(grid, window, most);
}

static guint64 thread_memory(const LithoGrid *grid, const int window[3], int most)
{
    const guint64 bytes = litho_noise_thread_memory(grid, window, most);
    return litho_patch_dense_of(window) > 1 ? bytes / 2 : bytes;
}

// Bytes of the windows of a cell, and of a thread that works at them.
static void cell_bytes(const LithoGrid *grid, const int window[3], const PatchLevels *l,
                       guint64 *windows, guint64 *thread)
{
    LithoGrid cell = *grid;
    for (int a = 0; a < 3; a++) // half of a neighbour on either side
        cell.axis[a].n = (gint64)MIN((double)grid->axis[a].n, ceil(2 * l->table.step[a]));
    *windows = windows_memory(&cell, window, patch_cells_windows(l));
    *thread = thread_memory(&cell, window, patch_cells_windows(l));
}

int patch_cells_together(const PatchLevels *l, const LithoGrid *grid, const int window[3],
                         int threads, int n)
{
    guint64 windows, thread;
    cell_bytes(grid, window, l, &windows, &thread);
    return threads * (windows + thread) <= HOST_BYTES && n >= MIN(threads, l->table.bins)
               ? MAX(MIN(threads, n), 1)
               : 1;
}

static guint64 cells_bytes(const LithoGrid *grid, const LithoPatchGeometry *g, const PatchLevels *l,
                           int threads)
{
    const int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    const int together = patch_cells_together(l, grid, window, threads, patch_levels_cells(l));
    guint64 windows, thread;
    cell_bytes(grid, window, l, &windows, &thread);
    return together > 1 ? together * (windows + thread + 2 * sizeof(float) * patch_levels_powers(g))
                        : windows + MIN(threads, g->bins) * thread;
}

void patch_levels_bytes(const LithoGrid *grid, const LithoPatchGeometry *g,
                        const LithoPatchParams *params, int threads, guint64 *peak, guint64 *kept)
{
    const int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    enum { HEAP = 1 << 20 };    // larger blocks go back to the system (app/lithoscope-cli.c)
    enum { BESIDE = HEAP / 2 }; // a thread's stack, and gaps of its heap
    const guint64 one = thread_memory(grid, window, patch_all_windows(window));
    const guint64 each = threads * one;
    PatchLevels l = {.params = *params};
    patch_cells_make(&l, grid, g);
    // Threads that measure a cell each leave small blocks, which go back to the system.
    const gboolean alone =
        patch_cells_together(&l, grid, window, threads, patch_levels_cells(&l)) > 1;
    *kept = alone ? 0 : threads * (one < HEAP ? one + BESIDE : HEAP);
    *peak = each + windows_memory(grid, window, patch_all_windows(window));
    if (patch_levels_cells(&l) > 1)
        *peak = MAX(*peak, litho_noise_powers_memory(grid, window, patch_all_windows(window)) +
                               cells_bytes(grid, g, &l, threads));
    else if (patch_levels_have_cubes(window) && noise_tells_shape(window))
        *peak += litho_noise_powers_memory(grid, window, patch_all_windows(window));
    *peak += patch_floor_bytes(g, patch_levels_cells(&l)) + patch_bands_bytes(g) +
             (params->level == LITHO_PATCH_LOCAL ? patch_traces_bytes(grid, g) : 0);
    g_free(l.sigma);
}

// --- on a device ---------------------------------------------------------------------------------

gboolean patch_meter_takes(const int window[3])
{
    return window[2] < PATCH_LONG_WINDOW && window[0] * window[1] <= 3072 &&
           !patch_is_narrow(window);
}

// A survey whose windows may be dense is asked before; where they are not it is measured there.
guint64 patch_meter_bytes(const LithoPatchGeometry *g)
{
    int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    if (litho_patch_dense_of(window) > 1)
        window[2] = window[0];
    if (!patch_meter_takes(window))
        return 0;
    const guint64 bins = window[2] / 2 + 1;
    const guint64 window_bytes = sizeof(float) * bins * (guint64)window[0] * window[1];
    // Powers of the whole; spectra of as many windows, which are complex; powers of a batch of
    // cells, and a quarter of that for what finds their means.
    return patch_bands_bytes(g) + 3 * patch_all_windows(window) * window_bytes +
           MAX(PATCH_DEVICE_BYTES, PATCH_CELL_WINDOWS * window_bytes) * 5 / 4;
}
