// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/wp_cuda.h"

// One engine over several GPUs, shared by wp_multi.c (making, transform) and wp_multi_arrays.c.

enum { WP_MAX_PARTS = 16 };

// The handle of an array: a volume has the first part only.
typedef struct WpParts {
    float *part[WP_MAX_PARTS];
} WpParts;

typedef struct WpMulti {
    WpEngine engine;
    int n;
    WpCuda *part[WP_MAX_PARTS];
    WpGeometry geometry[WP_MAX_PARTS]; // the boxes of each; all else borrowed
    int *owner, *local;                // per box: its part and its number there
    float *u[WP_MAX_PARTS];            // block-sized: copy of the volume, later the partial sum
    LithoRun run[WP_MAX_PARTS];        // of the call under way
} WpMulti;

static inline float *wp_part_of(const float *array, int k)
{
    return ((const WpParts *)array)->part[k];
}

static inline WpEngine *wp_first_part(WpEngine *engine)
{
    return &((WpMulti *)engine)->part[0]->engine;
}

typedef gboolean (*WpPartFunc)(WpMulti *multi, int k, gpointer data, GError **error);

// fn for every part at the same time, part 0 in the caller's thread, whose GPU is current here again
// afterwards.
gboolean wp_each_part(WpMulti *multi, WpPartFunc fn, gpointer data, LithoRun *run, GError **error);

// wp_multi_arrays.c: all of the table but free, begin, finish, wait, forward, adjoint.
extern const WpEngineClass wp_multi_arrays;
