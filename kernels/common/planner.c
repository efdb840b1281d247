// SPDX-License-Identifier: GPL-3.0-or-later
//
// One lock for FFTW's planner, which is shared by all that plan in this process: the worker's
// operators and the window's spectra do at the same time. FFTW takes it itself, whenever it makes
// or destroys a plan in single precision; nobody else needs to know of it.
//
// fftwf_make_planner_thread_safe() does nothing in the OpenMP flavour of FFTW 3.3; what it calls in
// the other flavours is this, exported but not in fftw3.h.
//
// Plans are made with FFTW_ESTIMATE everywhere: a planner that measures chooses another algorithm,
// and so other roundings, from run to run. The same command must give the same bytes.
#include <glib.h>

void fftwf_set_planner_hooks(void (*before)(void), void (*after)(void));

static GMutex planner;

static void lock_planner(void)
{
    g_mutex_lock(&planner);
}

static void unlock_planner(void)
{
    g_mutex_unlock(&planner);
}

// When the library is loaded: programs, tests and the CUDA module all have the lock.
static void __attribute__((constructor)) set_hooks(void)
{
    fftwf_set_planner_hooks(lock_planner, unlock_planner);
}
