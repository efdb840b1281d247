// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/blink.h"

enum { PERIOD_MS = 400 };

struct LithoBlink {
    LithoSession *session;
    guint timeout; // 0 = off
};

static gboolean blink_once(gpointer data)
{
    LithoBlink *blink = data;
    const gboolean held = litho_session_display(blink->session)->hold_input;
    litho_session_hold_input(blink->session, !held);
    return G_SOURCE_CONTINUE;
}

gboolean litho_blink_is_on(const LithoBlink *blink)
{
    return blink->timeout != 0;
}

gboolean litho_blink_toggle(LithoBlink *blink)
{
    if (blink->timeout) {
        g_clear_handle_id(&blink->timeout, g_source_remove);
        litho_session_hold_input(blink->session, FALSE);
    } else {
        blink->timeout = g_timeout_add(PERIOD_MS, blink_once, blink);
        blink_once(blink);
    }
    return litho_blink_is_on(blink);
}

LithoBlink *litho_blink_new(LithoSession *session)
{
    LithoBlink *blink = g_new0(LithoBlink, 1);
    blink->session = session;
    return blink;
}

void litho_blink_free(LithoBlink *blink)
{
    if (!blink)
        return;
    g_clear_handle_id(&blink->timeout, g_source_remove);
    g_free(blink);
}
