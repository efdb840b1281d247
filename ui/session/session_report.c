// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the operators tell beside their samples, as it comes: numbers, curves and shapes of the pass
// that runs, over those of the last whole result.
#include "ui/session/session_private.h"

#include <string.h>

void litho_session_report_drop(LithoSession *self)
{
    if (!self->report && !self->report_before)
        return;
    g_clear_pointer(&self->report, litho_report_unref);
    g_clear_pointer(&self->report_before, litho_report_unref);
    self->report_serial = 0;
    litho_session_side_look(self);
    litho_session_emit(self, SIGNAL_REPORT);
}

void litho_session_report_look(LithoSession *self)
{
    LithoReport *newest = litho_worker_report(self->worker);
    guint serial = newest ? litho_report_serial(newest) : 0;
    // A pass that has not told anything yet changes nothing.
    gboolean news = serial > 0 && (newest != self->report || serial != self->report_serial);
    if (news && newest != self->report) {
        litho_report_unref(self->report_before);
        self->report_before = self->report;
        self->report = litho_report_ref(newest);
    }
    litho_report_unref(newest);
    if (!news)
        return;
    self->report_serial = serial;
    litho_session_side_look(self);
    litho_session_emit(self, SIGNAL_REPORT);
}

// Elements begin with their key. Those of `newest` in place of the ones of the same key in
// `before`, new ones behind; takes both. Without this, a drag would empty the plots at the begin of
// each pass.
static GArray *merge(GArray *before, GArray *newest)
{
    gsize size = g_array_get_element_size(newest), n = newest->len;
    if (!before)
        return newest;
    g_autofree gboolean *used = g_new0(gboolean, n + 1);
    for (guint k = 0; k < before->len; k++) {
        char *old = before->data + k * size;
        for (guint m = 0; m < n; m++) {
            char *other = newest->data + m * size;
            if (used[m] || strcmp(old, other) != 0)
                continue;
            g_autofree char *swap = g_memdup2(old, size); // the old one is freed with `newest`
            memcpy(old, other, size);
            memcpy(other, swap, size);
            used[m] = TRUE;
            break;
        }
    }
    for (guint m = 0; m < n; m++)
        if (!used[m]) {
            g_array_append_vals(before, newest->data + m * size, 1);
            memset(newest->data + m * size, 0, size); // moved
        }
    g_array_unref(newest);
    return before;
}

static GArray *collect(LithoSession *self, GArray *(*get)(LithoReport *report))
{
    if (!self->report)
        return NULL;
    // A pass that has ended has told everything: what it did not repeat is no longer true.
    gboolean running = litho_session_progress(self, NULL);
    GArray *before = running && self->report_before ? get(self->report_before) : NULL;
    return merge(before, get(self->report));
}

GArray *litho_session_report_numbers(LithoSession *self)
{
    return collect(self, litho_report_numbers);
}

GArray *litho_session_report_curves(LithoSession *self)
{
    return collect(self, litho_report_curves);
}

GArray *litho_session_report_shapes(LithoSession *self)
{
    return collect(self, litho_report_shapes);
}
