// SPDX-License-Identifier: GPL-3.0-or-later
//
// Extents of the boxes, and the plans of cuFFT that depend on them, for the directions that a
// slider has not reached yet: a thread makes them while nobody waits. The thread begins when a plan
// differs from the one before in its directions alone, which is a slider at work: a program that
// plans once makes nothing that it does not need.
#include <stdlib.h>
#include <string.h>

#include "kernels/wavepacket/cuda/wavepacket.h"

// Directions on either side. While plans of cuFFT are made, the driver lets other work of the card
// wait, so that no more are made than a slider may reach next.
enum { REACH = 2 };

typedef struct Ahead {
    WpSpec spec; // of the newest plan
    int device, toward;
} Ahead;

static GMutex lock;
static GCond changed;
static WpSpec newest; // cleared before anybody fills it
static int newest_device;
static Ahead wish;
static gboolean wished, at_work, leaving;
static int stop; // atomic: a newer wish, or the end of the program

static gboolean without_windows(WpGeometry *geometry, LithoRun *run, GError **error)
{
    (void)geometry;
    (void)run;
    (void)error;
    return TRUE;
}

static gboolean make(const Ahead *a, int directions)
{
    WpSpec spec;
    memcpy(&spec, &a->spec, sizeof spec);
    spec.directions = directions;
    WpGeometry *g = wp_geometry_new_with(&spec, without_windows, NULL, NULL);
    const gboolean ok = g && wp_cuda_make_ffts_ahead(g, a->device, &stop);
    wp_geometry_free(g);
    return ok;
}

// The direction in which the slider moves comes first.
static void make_all(const Ahead *a)
{
    for (int far = 1; far <= REACH; far++)
        for (int side = 1; side >= -1; side -= 2) {
            const int directions = a->spec.directions + a->toward * side * far;
            if (directions >= WP_LEAST_DIRECTIONS && directions <= WP_MOST_DIRECTIONS &&
                !make(a, directions))
                return;
        }
}

static gpointer work(gpointer data)
{
    (void)data;
    g_mutex_lock(&lock);
    while (wished && !leaving) {
        const Ahead a = wish;
        wished = FALSE;
        g_atomic_int_set(&stop, 0);
        g_mutex_unlock(&lock);
        make_all(&a);
        g_mutex_lock(&lock);
    }
    at_work = FALSE;
    g_cond_broadcast(&changed);
    g_mutex_unlock(&lock);
    return NULL;
}

// CUDA goes with the program: no thread may be inside it then.
static void leave(void)
{
    g_mutex_lock(&lock);
    leaving = TRUE;
    g_atomic_int_set(&stop, 1);
    while (at_work)
        g_cond_wait(&changed, &lock);
    g_mutex_unlock(&lock);
}

void wp_cuda_look_ahead(const WpSpec *spec, int device)
{
    static gboolean registered;
    g_mutex_lock(&lock);
    WpSpec before;
    memcpy(&before, &newest, sizeof before);
    before.directions = spec->directions;
    const int moved = spec->directions - newest.directions;
    const gboolean slider = moved != 0 && device == newest_device && newest.directions > 0 &&
                            memcmp(&before, spec, sizeof before) == 0;
    memcpy(&newest, spec, sizeof newest);
    newest_device = device;
    if (slider && !leaving) {
        if (!registered)
            atexit(leave);
        registered = TRUE;
        wish = (Ahead){.device = device, .toward = moved > 0 ? 1 : -1};
        memcpy(&wish.spec, spec, sizeof wish.spec);
        wished = TRUE;
        g_atomic_int_set(&stop, 1);
        if (!at_work)
            g_thread_unref(g_thread_new("fft-ahead", work, NULL));
        at_work = TRUE;
    }
    g_mutex_unlock(&lock);
}
