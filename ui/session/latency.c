// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/latency.h"
#include "core/sort.h"

#include <stdlib.h>
#include <string.h>

// Which axes have a new slice on screen with this result.
static void count_slices(LithoLatency *latency, const LithoResult *result)
{
    for (guint k = 0; k < result->parts->len; k++) {
        const LithoCube *part = g_ptr_array_index(result->parts, k);
        for (int a = 0; a < 3; a++)
            if ((result->complete || litho_box_size(part->held, a) == 1) &&
                result->tag != latency->slice_tag[a]) {
                latency->slice_tag[a] = result->tag;
                latency->n_slices[a]++;
            }
    }
}

const char *const litho_way_names[LITHO_N_WAYS] = {
    "waits for the worker", "computes",     "waits for the main thread", "waits for a frame",
    "goes into textures",   "paints views", "goes to the screen",
};

// A time that nobody noted takes the one before it.
static void note_way(LithoLatency *latency, const LithoResult *r, const LithoFrameTimes *f,
                     double now)
{
    const double at[LITHO_N_WAYS] = {r->begun_ms,  r->ready_ms,   r->taken_ms, f->begin_ms,
                                     f->filled_ms, f->painted_ms, now};
    double before = r->wish_ms;
    for (int k = 0; k < LITHO_N_WAYS; k++) {
        latency->way[k] = at[k] > before ? (float)(at[k] - before) : 0;
        before = MAX(at[k], before);
    }
}

gboolean litho_latency_drawn(LithoLatency *latency, const LithoResult *result,
                             const LithoFrameTimes *frame)
{
    count_slices(latency, result);
    if (result->tag == latency->drawn_tag)
        return FALSE;
    latency->drawn_tag = result->tag; // the first slice; what follows is the rest
    const double now = litho_now_ms();
    latency->ring[latency->n++ % LITHO_LATENCY_RING] = (float)(now - result->wish_ms);
    note_way(latency, result, frame, now);
    return TRUE;
}

void litho_latency_get(const LithoLatency *latency, double *last, double *median)
{
    guint n = MIN(latency->n, LITHO_LATENCY_RING);
    *last = *median = 0;
    if (n == 0)
        return;
    float sorted[LITHO_LATENCY_RING];
    memcpy(sorted, latency->ring, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, litho_compare_float);
    *median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    *last = latency->ring[(latency->n - 1) % LITHO_LATENCY_RING];
}

guint litho_latency_ring(const LithoLatency *latency, float ms[LITHO_LATENCY_RING])
{
    guint n = MIN(latency->n, LITHO_LATENCY_RING);
    for (guint k = 0; k < n; k++)
        ms[k] = latency->ring[(latency->n - n + k) % LITHO_LATENCY_RING];
    return n;
}

void litho_latency_restart(LithoLatency *latency)
{
    latency->n = 0;
}
