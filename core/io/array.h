// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"
#include "core/io/array_values.h"

// Arrays that a library reads: HDF5, netCDF, and the chunks of Zarr. A reader sees them as a file of native float32
// samples without headers, inline slowest; the library finds and unpacks them.

typedef struct LithoArray LithoArray;

struct LithoArray {
    gint64 n[3]; // inlines, crosslines, samples; checked by litho_grid_check()
    // Reads the box of `count` samples from `first` on, sample fastest. Any thread.
    gboolean (*read)(LithoArray *array, const gint64 first[3], const gint64 count[3], float *out,
                     GError **error);
    void (*free)(LithoArray *array);
    int sample_bytes;   // of one sample in the file
    gint64 opened_ns;   // latest change of its files when it was opened; 0 = not known yet
    gint64 stored;      // bytes that the samples lie in; 0 = of the file itself
    gboolean is_packed; // samples may take less in the file, or nothing at all
    guint8 *live;       // owned; n[0] * n[1], 0 = the file says there is no trace; NULL = all are
    LithoArrayValues values; // what the numbers that read() gives stand for
};

// Bytes of the seeming file: `n` from byte `at` on, both whole samples. Fewer at its end; -1 sets
// `error`.
gint64 litho_array_read_bytes(LithoArray *array, void *buffer, gint64 n, gint64 at, GError **error);
void litho_array_free(LithoArray *array); // NULL is fine

// Cache for unpacked chunks of chunk[] samples, so that reading inline by inline unpacks each once:
// as many bytes as the chunks along an inline have, at most a quarter of the free memory.
gsize litho_array_cache_bytes(const gint64 n[3], const gint64 chunk[3]);
// FALSE with a sentence when one chunk is larger than 1 GiB or than the free memory.
gboolean litho_array_check_chunk(const char *path, const gint64 chunk[3], GError **error);

// HDF5 and netCDF are not made for several threads, and netCDF uses HDF5.
void litho_array_lock(void);
void litho_array_unlock(void);
