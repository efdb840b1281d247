// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <hdf5.h>

#include "core/io/array.h"

// Chunks of an HDF5 dataset that the library's own filters have packed: deflate, shuffle and
// checksums. They are unpacked here, into memory of known size: HDF5 1.10 itself reads beyond what a
// filter gave it where a file is damaged. The caller holds litho_array_lock().

// TRUE when these filters and no others have packed the dataset with these properties.
gboolean litho_hdf5_can_unpack(hid_t layout);
// The filter that keeps the dataset from being unpacked: "szip (4)". NULL = there is none.
// g_free().
char *litho_hdf5_other_filter(hid_t layout);
// One chunk at[] (in samples) of chunk[] samples as floats, its fill value where none is stored. FALSE without
// memory or where the bytes are no such chunk.
gboolean litho_hdf5_unpack(hid_t set, const hsize_t at[3], const hsize_t chunk[3], float *out);
