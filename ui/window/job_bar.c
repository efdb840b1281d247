// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/job_bar.h"

#include <math.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/parts.h"
#include "ui/window/bar.h"

struct LithoJobBar {
    GtkWidget *box, *label, *progress;
    LithoJob *job; // under way, or NULL
    const char *what;
    char *save; // path of a save that waits; NULL = none
    gboolean save_force;
};

LithoJobBar *litho_job_bar_new(void)
{
    LithoJobBar *bar = g_new0(LithoJobBar, 1);
    bar->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    gtk_widget_add_css_class(bar->box, "litho-work");
    bar->label = litho_label_new(NULL, "numeric");
    gtk_label_set_ellipsize(GTK_LABEL(bar->label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(bar->label, TRUE);
    bar->progress = gtk_progress_bar_new();
    litho_name_widget(bar->progress, _("Progress of opening, saving or drawing"));
    gtk_widget_set_valign(bar->progress, GTK_ALIGN_CENTER);
    gtk_widget_set_size_request(bar->progress, 180, -1);
    gtk_box_append(GTK_BOX(bar->box), bar->label);
    gtk_box_append(GTK_BOX(bar->box), bar->progress);
    gtk_box_append(GTK_BOX(bar->box),
                   litho_action_button(NULL, _("Cancel"), "win.cancel", _("Cancel (Escape)")));
    gtk_widget_set_visible(bar->box, FALSE);
    return bar;
}

void litho_job_bar_free(LithoJobBar *bar)
{
    if (bar)
        g_free(bar->save);
    g_free(bar);
}

void litho_job_bar_set_save(LithoJobBar *bar, const char *path, gboolean force)
{
    g_free(bar->save);
    bar->save = g_strdup(path);
    bar->save_force = force;
}

const char *litho_job_bar_save(const LithoJobBar *bar)
{
    return bar->save;
}

char *litho_job_bar_take_save(LithoJobBar *bar, gboolean *force)
{
    *force = bar->save_force;
    return g_steal_pointer(&bar->save);
}

GtkWidget *litho_job_bar_widget(const LithoJobBar *bar)
{
    return bar->box;
}

void litho_job_bar_wait(LithoJobBar *bar, const char *sentence)
{
    gtk_label_set_text(GTK_LABEL(bar->label), sentence);
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(bar->progress), 0);
    gtk_widget_set_visible(bar->box, TRUE);
}

void litho_job_bar_start(LithoJobBar *bar, const char *what, const char *sentence,
                         const LithoJobFuncs *funcs, gpointer data)
{
    bar->what = what;
    litho_job_bar_wait(bar, sentence);
    bar->job = litho_job_start(funcs, data);
}

void litho_job_bar_show(LithoJobBar *bar, const LithoProgress *p)
{
    GString *text = g_string_new(litho_text(p->what));
    const char *unit = p->unit ? litho_text(p->unit) : "";
    char done[32], total[32], rate[32];
    litho_format_number(done, sizeof done, p->done, 1);
    litho_format_number(total, sizeof total, p->total, 1);
    litho_format_number(rate, sizeof rate, rint(p->per_second), 1);
    text->str[0] = g_ascii_toupper(text->str[0]);
    if (p->total > 0)
        g_string_append_printf(text, _(" %s of %s %s"), done, total, unit);
    if (p->per_second > 0)
        g_string_append_printf(text, _(" · %s %s/s"), rate, unit);
    if (p->seconds_left >= 60)
        litho_text_add(text, _(" · %.0f min left"), ceil(p->seconds_left / 60));
    else if (p->seconds_left >= 1)
        litho_text_add(text, _(" · %.0f s left"), p->seconds_left);
    gtk_label_set_text(GTK_LABEL(bar->label), text->str);
    g_string_free(text, TRUE);
    double fraction = p->total > 0 ? (double)p->done / p->total : 0;
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(bar->progress), CLAMP(fraction, 0, 1));
}

void litho_job_bar_end(LithoJobBar *bar)
{
    bar->job = NULL;
}

void litho_job_bar_hide(LithoJobBar *bar)
{
    gtk_widget_set_visible(bar->box, FALSE);
}

void litho_job_bar_cancel(LithoJobBar *bar)
{
    litho_job_cancel(bar->job);
}

gboolean litho_job_bar_is_at_work(const LithoJobBar *bar)
{
    return bar->job != NULL;
}

const char *litho_job_bar_what(const LithoJobBar *bar)
{
    return bar->what;
}
