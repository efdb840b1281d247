// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/pace.h"

#include <glib.h>

// Additions between two looks at the clock: some microseconds.
enum { ROUND = 20000 };

typedef struct Spin {
    gint64 end_us, rounds;
} Spin;

static gpointer spin(gpointer data)
{
    Spin *s = data;
    volatile float x = 1;
    while (g_get_monotonic_time() < s->end_us) {
        for (int k = 0; k < ROUND; k++)
            x = x * 0.999f + 0.1f;
        s->rounds++;
    }
    return NULL;
}

double litho_pace(int threads)
{
    const int n = MAX(threads, 1);
    const gint64 start = g_get_monotonic_time();
    g_autofree Spin *s = g_new0(Spin, n);
    g_autofree GThread **thread = g_new0(GThread *, n);
    gint64 rounds = 0;
    for (int k = 0; k < n; k++)
        s[k].end_us = start + (gint64)(LITHO_PACE_S * G_USEC_PER_SEC);
    for (int k = 0; k < n; k++)
        thread[k] = g_thread_try_new("litho-pace", spin, &s[k], NULL);
    for (int k = 0; k < n; k++) {
        if (thread[k])
            g_thread_join(thread[k]);
        rounds += s[k].rounds;
    }
    return 1e6 * (double)rounds / (double)MAX(g_get_monotonic_time() - start, 1);
}
