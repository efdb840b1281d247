// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/apply.h"

// A file of kept coefficients. Layout, little endian:
//
//     "LITHOWP2"                      8 bytes
//     u32 n; n bytes of JSON          sizes, transform settings, counts, sizes of the two parts;
//                                     overlapA: of more than two segments along axis A, else 0
//     gaps                            zstd: distance to the previous kept coefficient, as a varint;
//                                     coefficients are numbered through all boxes and blocks
//     values                          zstd: the floats (re, im; residual box re), their bytes in
//                                     four planes, which is where zstd finds repetition
//     SHA-256 of all bytes before     32 bytes
//
// A file of the first version ("LITHOWP1") is the same without the sum and is still read.
// Nothing is rounded: reading gives the bits that were written.
typedef struct WpCoefficients WpCoefficients;

WpCoefficients *wp_coefficients_new(void);
void wp_coefficients_free(WpCoefficients *file); // NULL is fine
// Adds one block's coefficients (engine memory); zeros are left out.
gboolean wp_coefficients_append(WpCoefficients *file, WpLane *lane, const float *c, GError **error);
// Writes the file and reports its size. What was kept is gone then.
gboolean wp_coefficients_write(WpCoefficients *file, WpJob *job, const char *path, LithoRun *run,
                               GError **error);
// Bytes of a file and of what it unpacks to, from its description. FALSE: it is no file of at most
// `points` coefficients, which reading it refuses. Any thread.
gboolean wp_coefficients_sizes(const char *path, guint64 points, guint64 *packed,
                               guint64 *unpacked);
// Reads a file made with the same sizes and settings into job->result; reports the same.
gboolean wp_coefficients_expand(WpJob *job, const char *path, int corrections, LithoRun *run,
                                GError **error);
