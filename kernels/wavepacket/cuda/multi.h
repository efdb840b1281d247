// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/cuda/wavepacket.h"

// One engine over several GPUs, shared by cuda/multi.c (transform), cuda/multi_plan.c and
// cuda/multi_arrays.c.

// Events: the steps of a transform (cuda/multi.c); of the first part that its residual box is there,
// of the others that their share of its local windows is.
enum {
    WP_DONE_READY,
    WP_DONE_FIRST,
    WP_DONE_SECOND,
    WP_DONE_PULLED,
    WP_DONE_WINDOWS,
    WP_DONE_STEPS
};

// The reads of others' grids in a transform, in the order of cuda/share.cu.
enum { WP_PULL_PLANES, WP_PULL_SPANS, WP_SUM_SPANS, WP_PULL_COLUMNS, WP_LINKS };

// The handle of an array: a volume has the first part only.
typedef struct WpParts {
    float *part[WP_MAX_PARTS];
} WpParts;

typedef struct WpCrew WpCrew;

typedef struct WpMulti {
    WpEngine engine;
    int n;
    WpCuda *part[WP_MAX_PARTS];
    WpGeometry geometry[WP_MAX_PARTS]; // the boxes of each; all else borrowed
    int *owner, *local;                // per box: its part and its number there
    WpSpan *host_spans[WP_MAX_PARTS];  // what the tiles of each touch, a row of the grid each
    LithoCudaArray
        spans[WP_MAX_PARTS]; // on each: the spans of all parts, [part][l1][l2], then of all
                             //   parts and l1 together, [l2]
    WpPeers peers;           // all grids
    cudaEvent_t done[WP_MAX_PARTS][WP_DONE_STEPS];
    double link_bytes[WP_MAX_PARTS][WP_LINKS]; // over the links into each part
    LithoRun run[WP_MAX_PARTS];               // of the call under way
    WpCrew *crew;             // a thread for every part but the first; NULL until there is work
    gboolean windows_due;     // rows of the last shrink() are on their way to the first part
    guint64 *counts_to;       // shrink()'s `kept`, until they are added to it; NULL: they are
    gboolean windows_counted; // the residual box is among them by its windows
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

// cuda/multi_crew.c: fn for every part at the same time, part 0 in the caller's thread; the first
// error. One call at a time.
gboolean wp_all_parts(WpMulti *multi, WpPartFunc fn, gpointer data, GError **error);
void wp_multi_free_crew(WpMulti *multi);
// wp_all_parts() with the part's GPU current, part 0 in the caller's thread, whose GPU is current
// here again afterwards; rows on their way are waited for before.
gboolean wp_each_part(WpMulti *multi, WpPartFunc fn, gpointer data, LithoRun *run, GError **error);

// cuda/multi_plan.c: `devices` parts from run->device on, or as many as can read each other's
// memory.
gboolean wp_multi_make_parts(WpMulti *multi, int form, int devices, const LithoRun *run,
                             GError **error);
void wp_multi_free_parts(WpMulti *multi);

// cuda/multi_arrays.c: later requests of all parts wait for the rows that windows_due tells of.
gboolean wp_multi_settle_windows(WpMulti *multi, GError **error);
// Adds what the last shrink() counted to its `kept`, all parts having been waited for.
void wp_multi_settle_counts(WpMulti *multi);
// All of the table but free, begin, finish, wait, forward, adjoint.
extern const WpEngineClass wp_multi_arrays;
