// SPDX-License-Identifier: GPL-3.0-or-later
//
// A velocity that lies beside the survey ("cube-velocity.sgy") is offered to a step whose velocity
// is still the operator's default, which fits no survey.
#include <string.h>

#include "core/text.h"
#include "ui/window/window_private.h"

// The row of the first enabled step that has its default where a velocity is asked for; NULL =
// none.
static const LithoParam *default_velocity(LithoWindow *self, guint *at)
{
    const LithoFlow *flow = litho_session_flow(self->session);
    for (*at = 0; *at < litho_flow_length(flow); (*at)++) {
        const LithoStep *step = litho_flow_step(flow, *at);
        const LithoParamTable *table = &step->op->params;
        for (guint r = 0; step->enabled && r < table->n; r++) {
            const LithoParam *row = &table->rows[r];
            if (row->role != LITHO_ROLE_VELOCITY || !litho_param_applies(table, row, step->params))
                continue;
            g_autofree char *value = litho_param_print(row, step->params);
            if (g_strcmp0(value, row->def_text) == 0)
                return row;
        }
    }
    return NULL;
}

void litho_window_offer_velocity(LithoWindow *self)
{
    guint at;
    const char *path = litho_open_file_velocity(self->file);
    LithoBar *bar = litho_tellers_velocity(self->tellers);
    const LithoParam *row = path ? default_velocity(self, &at) : NULL;
    if (!row) {
        litho_bar_hide(bar);
        self->velocity_offered = FALSE;
        return;
    }
    if (self->velocity_offered) // it stands there, or a person has closed it
        return;
    self->velocity_offered = TRUE;
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *text =
        g_strdup_printf(_("%s lies beside the survey; the velocity is %s %s, the default."), name,
                        row->def_text, row->unit ? row->unit : "");
    litho_bar_tell(bar, text, NULL);
}

void litho_window_use_velocity(LithoWindow *self)
{
    guint at;
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_strdup(litho_open_file_velocity(self->file));
    const LithoParam *row = path ? default_velocity(self, &at) : NULL;
    if (row && !litho_session_set_param(self->session, at, row, 0, path, &error))
        litho_window_show_error(self, error->message, NULL);
}
