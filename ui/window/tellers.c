// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/tellers.h"

#include <string.h>

#include "core/text.h"
#include "ui/window/window.h"

struct LithoTellers {
    LithoBar *error, *notes, *offer;
    LithoNotice *notice;
    gboolean problem; // the error bar tells about the newest result
};

LithoTellers *litho_tellers_new(void)
{
    const char *again = _("Read otherwise…");
    LithoTellers *tellers = g_new0(LithoTellers, 1);
    tellers->error = litho_bar_new(GTK_MESSAGE_ERROR, again, "win.import");
    tellers->notes = litho_bar_new(GTK_MESSAGE_INFO, again, "win.import");
    tellers->offer = litho_bar_new(GTK_MESSAGE_QUESTION, _("Use it"), "win.use-profile");
    litho_bar_set_remedy(tellers->offer, TRUE);
    tellers->notice = litho_notice_new();
    return tellers;
}

void litho_tellers_stop(LithoTellers *tellers)
{
    if (tellers)
        g_clear_pointer(&tellers->notice, litho_notice_free);
}

void litho_tellers_free(LithoTellers *tellers)
{
    litho_tellers_stop(tellers);
    g_free(tellers);
}

LithoBar *litho_tellers_error(const LithoTellers *tellers)
{
    return tellers->error;
}

LithoBar *litho_tellers_notes(const LithoTellers *tellers)
{
    return tellers->notes;
}

LithoBar *litho_tellers_offer(const LithoTellers *tellers)
{
    return tellers->offer;
}

LithoNotice *litho_tellers_notice(const LithoTellers *tellers)
{
    return tellers->notice;
}

void litho_tellers_set_problem(LithoTellers *tellers, gboolean problem)
{
    if (tellers->problem && !problem)
        litho_bar_hide(tellers->error); // it has been overcome
    tellers->problem = problem;
}

void litho_tellers_clear_error(LithoTellers *tellers)
{
    if (!tellers->problem)
        litho_bar_hide(tellers->error);
}

void litho_tellers_show_notes(LithoTellers *tellers, const LithoCube *cube)
{
    const GPtrArray *notes = cube ? cube->notes : NULL;
    guint n = notes ? notes->len : 0;
    if (n == 0) {
        litho_bar_hide(tellers->notes);
        return;
    }
    const char *first = g_ptr_array_index(notes, 0);
    g_autofree char *lead = litho_plain_sentence(first);
    g_autofree char *sentence =
        n == 1 ? g_strdup(lead) : g_strdup_printf(_("%s (and %u more)"), lead, n - 1);
    GString *all = g_string_new(NULL);
    gboolean advised = FALSE; // another way to read it would help
    for (guint k = 0; k < n; k++) {
        const char *note = g_ptr_array_index(notes, k);
        g_autofree char *plain = litho_plain_sentence(note);
        g_string_append_printf(all, "%s• %s", k ? "\n" : "", plain);
        advised |= strlen(plain) < strlen(note);
    }
    litho_bar_tell(tellers->notes, sentence, n > 1 ? all->str : NULL);
    litho_bar_set_remedy(tellers->notes, cube->survey && advised);
    g_string_free(all, TRUE);
}
