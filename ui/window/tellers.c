// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/tellers.h"

#include <string.h>

#include "core/text.h"
#include "ui/window/window.h"

struct LithoTellers {
    LithoBar *error, *notes, *offer, *velocity;
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
    tellers->velocity = litho_bar_new(GTK_MESSAGE_QUESTION, _("Use it"), "win.use-velocity");
    litho_bar_set_remedy(tellers->velocity, TRUE);
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

LithoBar *litho_tellers_velocity(const LithoTellers *tellers)
{
    return tellers->velocity;
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

// The first sentence behind `lead`, which may be empty, all of several behind Details. TRUE:
// another way to read the input would help.
static gboolean tell_list(LithoBar *bar, const char *lead, const GPtrArray *notes)
{
    g_autofree char *first = litho_plain_sentence(g_ptr_array_index(notes, 0));
    g_autofree char *one = g_strconcat(lead, first, NULL);
    g_autofree char *sentence = notes->len == 1
                                    ? g_strdup(one)
                                    : g_strdup_printf(_("%s (and %u more)"), one, notes->len - 1);
    GString *all = g_string_new(NULL);
    gboolean advised = FALSE;
    for (guint k = 0; k < notes->len; k++) {
        const char *note = g_ptr_array_index(notes, k);
        g_autofree char *plain = litho_plain_sentence(note);
        g_string_append_printf(all, "%s• %s", k ? "\n" : "", plain);
        advised |= strlen(plain) < strlen(note);
    }
    litho_bar_tell(bar, sentence, notes->len > 1 ? all->str : NULL);
    g_string_free(all, TRUE);
    return advised;
}

void litho_tellers_show_notes(LithoTellers *tellers, const LithoCube *cube)
{
    if (!cube || cube->notes->len == 0) {
        litho_bar_hide(tellers->notes);
        return;
    }
    const gboolean advised = tell_list(tellers->notes, "", cube->notes);
    litho_bar_set_remedy(tellers->notes, cube->survey && advised);
}

void litho_tellers_show_saved(LithoTellers *tellers, const char *path, const GPtrArray *notes)
{
    if (notes->len == 0)
        return;
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *lead = g_strdup_printf(_("%s was saved: "), base);
    tell_list(tellers->notes, lead, notes);
    litho_bar_set_remedy(tellers->notes, FALSE);
}

void litho_tellers_tell(LithoTellers *tellers, const char *sentence)
{
    g_autofree char *plain = litho_plain_sentence(sentence);
    litho_bar_tell(tellers->notes, plain, NULL);
    litho_bar_set_remedy(tellers->notes, FALSE);
}
