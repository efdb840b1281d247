// SPDX-License-Identifier: GPL-3.0-or-later
//
// The figures that operators tell beside their samples, as they come from the worker.
#include "core/text.h"
#include "ui/session/session_private.h"

static void tell(LithoSession *self)
{
    g_autoptr(GArray) curves = litho_session_report_curves(self);
    litho_depth_time_take(self->depth_time, curves);
    litho_session_emit(self, SIGNAL_REPORT);
}

void litho_session_report_drop(LithoSession *self)
{
    if (litho_figures_restart(self->figures, litho_results_tag(self->results) + 1))
        tell(self);
}

void litho_session_report_adopt(LithoSession *self, LithoReport *report)
{
    const guint64 tag = litho_results_tag(self->results);
    litho_figures_restart(self->figures, tag);
    litho_figures_take(self->figures, report, tag);
    tell(self);
}

void litho_session_report_look(LithoSession *self)
{
    guint64 tag;
    LithoReport *newest = litho_worker_report(self->worker, &tag);
    if (litho_figures_take(self->figures, newest, tag))
        tell(self);
    litho_report_unref(newest);
}

// A file that is being opened has no figures yet; the ones at hand are of the file before.
static gboolean shows(LithoSession *self)
{
    return !self->preview;
}

static gboolean is_running(LithoSession *self)
{
    return litho_session_progress(self, NULL);
}

GArray *litho_session_report_numbers(LithoSession *self)
{
    return shows(self) ? litho_figures_numbers(self->figures, is_running(self)) : NULL;
}

GArray *litho_session_report_curves(LithoSession *self)
{
    return shows(self) ? litho_figures_curves(self->figures, is_running(self)) : NULL;
}

GArray *litho_session_report_shapes(LithoSession *self)
{
    return shows(self) ? litho_figures_shapes(self->figures, is_running(self)) : NULL;
}

GArray *litho_session_report_layers(LithoSession *self)
{
    return shows(self) ? litho_figures_layers(self->figures, is_running(self)) : NULL;
}

gboolean litho_session_number_is_newest(LithoSession *self, const char *key)
{
    return litho_figures_is_newest(self->figures, key);
}

const char *litho_session_figures_missing(LithoSession *self)
{
    if (self->preview)
        return _("The figures follow when the file is open.");
    if (!litho_session_grid(self) || !litho_flow_has_work(self->flow))
        return NULL; // nobody expects figures of a result
    if (litho_results_is_own(self->results, litho_session_result(self)))
        return NULL;
    if (litho_session_flow_problem(self))
        return litho_session_result(self)
                   ? _("These parameters cannot be computed; the views show the last result.")
                   : _("There is no result: these parameters cannot be computed.");
    if (litho_session_problem(self))
        return litho_session_result(self)
                   ? _("Computing has failed; the views show the last result.")
                   : _("There is no result: computing it has failed.");
    if (is_running(self))
        return _("The result is being computed; its figures follow.");
    return self->pages ? NULL : _("There is no result yet. Ctrl+Return computes it.");
}
