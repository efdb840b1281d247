// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

#include "core/io/array.h"
#include "core/io/survey.h"

// Zarr 2 and 3, as MDIO uses it: a folder for each array, a JSON text that tells how it is stored,
// and a file for each chunk. https://zarr-specs.readthedocs.io
//
// Thread-safety: any thread; what takes a survey belongs to the thread that opens it.

typedef enum {
    LITHO_ZARR_PLAIN,
    LITHO_ZARR_ZLIB, // gzip, too
    LITHO_ZARR_ZSTD,
    LITHO_ZARR_BLOSC,
    LITHO_ZARR_ZFP,
    LITHO_ZARR_CHECKSUM, // CRC-32C: four bytes behind the others
} LithoZarrCodec;

enum { LITHO_ZARR_CODECS = 4, LITHO_ZARR_NAME = 64 };

// One array. Sizes of less than three dimensions have ones in front.
typedef struct LithoZarrMeta {
    int version, rank; // rank 0 = more than three dimensions
    gint64 n[3], chunk[3];
    char kind;                          // of a number: 'f', 'i', 'u', 'b'; 0 = no number
    int bytes;                          // of one
    gboolean is_big_endian, has_prefix; // "c/0/0/0"
    char separator;                     // of a chunk's name
    LithoZarrCodec codec[LITHO_ZARR_CODECS];
    guint n_codecs;                     // in the order in which they are undone
    double fill;                        // of chunks that are not there
    LithoArrayValues values;            // what the stored numbers stand for
    char dimension[3][LITHO_ZARR_NAME]; // "" = has no name
    char unread[2 * LITHO_ZARR_NAME];   // what of it cannot be read, "the codec 'delta'"; "" = all
} LithoZarrMeta;

// Reads .zarray (`attributes`: .zattrs, may be NULL) or zarr.json. FALSE: no array that makes
// sense. Pure.
gboolean litho_zarr_meta_read(JsonObject *object, JsonObject *attributes, LithoZarrMeta *meta);

// Undoes the codecs of a chunk of `samples` numbers; NULL = it is damaged. g_free().
guint8 *litho_zarr_unpack(const LithoZarrMeta *meta, const guint8 *packed, gsize n, gsize samples);
// Most bytes that a chunk of so many numbers takes in its file.
gsize litho_zarr_most_packed(const LithoZarrMeta *meta, gsize samples);
// Number k of what litho_zarr_unpack() gave.
double litho_zarr_number(const LithoZarrMeta *meta, const guint8 *raw, gsize k);
// All of them.
void litho_zarr_floats(const LithoZarrMeta *meta, const guint8 *raw, gsize samples, float *out);

// The metadata of the array in `folder`; FALSE: the folder holds no array. (zarr.c)
gboolean litho_zarr_read_meta(const char *folder, LithoZarrMeta *meta);
// All numbers of the array in `folder` when its sizes are n[0] x n[1] (`rank` 2) or n[1] (`rank`
// 1, n[0] = 1), the last fastest; NULL: no such array, or it cannot be read. g_free().
double *litho_zarr_read_numbers(const char *folder, int rank, const gint64 n[2]);
// TRUE when the folder holds an array, of any kind.
gboolean litho_zarr_is_array(const char *folder);
// Unit of the numbers of an array, "ms"; "" = not told.
void litho_zarr_read_unit(const char *folder, int version, char *out, gsize size);

// Reads MDIO's mask and coordinates of the cube in `folder`, beside it or under `root`
// (zarr_traces.c): the mask goes to array->live, coordinates to survey->grid. Axes come first.
void litho_zarr_read_traces(LithoSurvey *survey, LithoArray *array, const char *root,
                            const char *folder);
