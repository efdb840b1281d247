// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <omp.h>

#include "core/run.h"

// Cancel and progress from any thread of a loop of OpenMP. FALSE once it is to end: `stop`, atomic,
// is set for all of its threads. `done` of `total` are told by the first one.
static inline gboolean patch_goes_on(LithoRun *run, const gint64 *done, gint64 total, gint *stop,
                                     GError **error)
{
    if (g_atomic_int_get(stop))
        return FALSE;
    const gint64 so_far = __atomic_load_n(done, __ATOMIC_RELAXED);
    if (omp_get_thread_num() == 0 ? !litho_run_step(run, so_far, total, error)
                                  : !litho_run_checkpoint(run))
        g_atomic_int_set(stop, 1);
    return !g_atomic_int_get(stop);
}
