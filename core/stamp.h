// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Marks by which a file, or a store, is known again. A store is a folder that programs hand on as
// one file: Zarr arrays, such as MDIO's; all files in it are part of it, a symbolic link as the
// link that it is.
//
// Thread-safety: any thread.

// Size and time of change stand for the contents; all names, sizes and times for those of a store.
typedef struct LithoStamp {
    gint64 bytes, changed_ns; // of a store: of all its files, of the one that changed last
    guint64 listing;          // of a store: a hash of what it holds; of a file 0
    guint64 device, inode;
} LithoStamp;

// TRUE for the folder of a store.
gboolean litho_is_store(const char *path);
// Costs one look at a file, and one at each file of a store. FALSE with a sentence: there is
// nothing at `path`, or it is neither a regular file nor a store.
gboolean litho_stamp_take(const char *path, LithoStamp *stamp, GError **error);
// The stamp of the regular file behind `fd`. FALSE leaves errno.
gboolean litho_stamp_take_open(int fd, LithoStamp *stamp);
gboolean litho_stamp_equal(const LithoStamp *a, const LithoStamp *b);

// SHA-256 of the size and of 64 pieces of 16 KiB spread evenly over the file (of all of a file up
// to 1 MiB): a terabyte costs as little as a megabyte. A store counts as one file, its files in the
// order of their names, and each name and size is added: a copy has the fingerprint of what it was
// made of. NULL with a sentence: it cannot be read. g_free().
char *litho_fingerprint(const char *path, GError **error);
