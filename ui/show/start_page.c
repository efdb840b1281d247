// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/show/start_page.h"

#include <stdlib.h>
#include <string.h>

#include "core/show/script.h"
#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/window/recent.h"

struct LithoStartPage {
    GtkWidget *page, *greeting;
    GtkWidget *resume, *resume_label; // where one left off
    GtkWidget *open;
    GtkWidget *recent, *recent_title;
};

#define RESOURCES "/org/lithoscope/Lithoscope/start/"

static const char purpose[] =
    N_("Remove noise, fill traces, migrate and model seismic cubes, and see every change at once.");

static void set_action(GtkWidget *button, const char *action, const char *title, const char *text)
{
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(button), action);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

// --- demonstrations -----------------------------------------------------------------------------

// `file`: "1-NAME.png", by which the pictures stand in order.
static GtkWidget *make_picture(const char *file)
{
    g_autofree char *resource = g_strconcat(RESOURCES, file, NULL);
    g_autofree char *name = g_strndup(file + 2, strlen(file) - 2 - strlen(".png"));
    g_autofree char *path = litho_script_find(name, NULL);
    g_autoptr(LithoScript) script = path ? litho_script_load(path, NULL) : NULL;
    if (!script)
        return NULL; // a program that lies without its data: the other ways are there
    GtkWidget *button = gtk_button_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *picture = gtk_picture_new_for_resource(resource);
    const char *named = litho_text(script->title), *about = litho_text(script->summary);
    litho_name_widget(picture, named);
    gtk_widget_set_size_request(picture, 120, 90);
    gtk_picture_set_content_fit(GTK_PICTURE(picture), GTK_CONTENT_FIT_COVER);
    GtkWidget *title = gtk_label_new(named), *text = gtk_label_new(about);
    gtk_widget_add_css_class(title, "heading");
    gtk_widget_add_css_class(text, "dim-label");
    GtkWidget *const labels[] = {title, text};
    for (guint k = 0; k < G_N_ELEMENTS(labels); k++) {
        gtk_label_set_wrap(GTK_LABEL(labels[k]), TRUE);
        gtk_label_set_justify(GTK_LABEL(labels[k]), GTK_JUSTIFY_CENTER);
        gtk_label_set_max_width_chars(GTK_LABEL(labels[k]), 20);
    }
    gtk_box_append(GTK_BOX(box), picture);
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), text);
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "litho-choice");
    g_autofree char *action = g_strdup_printf("win.demo-play::%s", name);
    set_action(button, action, named, about);
    return button;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static GtkWidget *make_pictures(void)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    gtk_box_set_homogeneous(GTK_BOX(row), TRUE);
    g_auto(GStrv) files =
        g_resources_enumerate_children(RESOURCES, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    const guint n = files ? g_strv_length(files) : 0;
    if (n > 0)
        qsort(files, n, sizeof *files, by_name);
    for (guint k = 0; k < n; k++) {
        GtkWidget *picture = make_picture(files[k]);
        if (picture)
            gtk_box_append(GTK_BOX(row), picture);
    }
    return row;
}

// --- ways to data -------------------------------------------------------------------------------

static GtkWidget *make_way(const char *icon, const char *title, const char *text,
                           const char *action, GtkWidget **label)
{
    GtkWidget *button = gtk_button_new(), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 9),
              *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *image = gtk_image_new_from_icon_name(icon);
    gtk_image_set_pixel_size(GTK_IMAGE(image), 24);
    GtkWidget *body = litho_label_new(text, "dim-label");
    gtk_label_set_wrap(GTK_LABEL(body), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(body), PANGO_WRAP_WORD_CHAR); // names of files have no blanks
    gtk_label_set_max_width_chars(GTK_LABEL(body), 24);
    gtk_box_append(GTK_BOX(words), litho_label_new(title, "heading"));
    gtk_box_append(GTK_BOX(words), body);
    gtk_box_append(GTK_BOX(line), image);
    gtk_box_append(GTK_BOX(line), words);
    gtk_button_set_child(GTK_BUTTON(button), line);
    gtk_widget_add_css_class(button, "litho-way");
    set_action(button, action, title, text);
    if (label)
        *label = body;
    return button;
}

static GtkWidget *make_ways(LithoStartPage *page)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    gtk_widget_set_halign(row, GTK_ALIGN_CENTER);
    page->greeting = make_way("help-about-symbolic", _("New here?"),
                              _("Three steps show how it works"), "win.demo-play::welcome", NULL);
    gtk_widget_add_css_class(page->greeting, "litho-first");
    gtk_box_append(GTK_BOX(row), page->greeting);
    page->resume = make_way("document-open-recent-symbolic", _("Continue where you were"), "",
                            "win.continue", &page->resume_label);
    gtk_widget_add_css_class(page->resume, "litho-first");
    gtk_box_append(GTK_BOX(row), page->resume);
    page->open = make_way("document-open-symbolic", _("Open a cube"),
                          _("SEG-Y, SU, NumPy, RSF; or drop a file here"), "win.open", NULL);
    gtk_box_append(GTK_BOX(row), page->open);
    gtk_box_append(GTK_BOX(row),
                   make_way("media-playback-start-symbolic", _("Try the demo"),
                            _("A faulted survey with noise, to work on"), "win.demo", NULL));
    return row;
}

static GtkWidget *make_recent(LithoStartPage *page)
{
    GtkWidget *list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *recent = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    page->recent_title = litho_label_new(_("Recent"), "dim-label");
    gtk_widget_add_css_class(page->recent_title, "litho-recent");
    gtk_widget_set_halign(page->recent_title, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(recent, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(list), page->recent_title);
    gtk_box_append(GTK_BOX(list), recent);
    page->recent = recent;
    return list;
}

// --- the page -----------------------------------------------------------------------------------

void litho_start_page_update(LithoStartPage *page, LithoSettings *settings, const char *name,
                             const char *about)
{
    gtk_widget_set_visible(page->greeting, !litho_settings_int(settings, "greeted", 0));
    gtk_widget_set_visible(page->resume, about != NULL);
    // One card is framed, the one that Enter opens.
    if (about)
        gtk_widget_remove_css_class(page->greeting, "litho-first");
    else
        gtk_widget_add_css_class(page->greeting, "litho-first");
    if (about) {
        g_autofree char *text = g_strdup_printf("%s\n%s", name, about);
        gtk_label_set_text(GTK_LABEL(page->resume_label), text);
        gtk_accessible_update_property(GTK_ACCESSIBLE(page->resume),
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
    }
    gtk_widget_set_visible(page->recent_title, litho_recent_fill(page->recent, 5, TRUE) > 0);
}

void litho_start_page_focus(const LithoStartPage *page)
{
    GtkWidget *const ways[] = {page->resume, page->greeting, page->open};
    for (guint k = 0; k < G_N_ELEMENTS(ways); k++)
        if (gtk_widget_get_visible(ways[k])) {
            gtk_widget_grab_focus(ways[k]);
            return;
        }
}

void litho_start_page_greeted(LithoSettings *settings)
{
    if (settings)
        litho_settings_set_int(settings, "greeted", 1);
}

LithoStartPage *litho_start_page_new(void)
{
    LithoStartPage *self = g_new0(LithoStartPage, 1);
    GtkWidget *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18),
              *scroll = gtk_scrolled_window_new(), *label = gtk_label_new(litho_text(purpose));
    gtk_widget_set_valign(page, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(page, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(page, "litho-start");
    gtk_widget_add_css_class(label, "litho-purpose");
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
    gtk_box_append(GTK_BOX(page), label);
    gtk_box_append(GTK_BOX(page), make_pictures());
    gtk_box_append(GTK_BOX(page), make_ways(self));
    gtk_box_append(GTK_BOX(page), make_recent(self));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), page);
    self->page = scroll;
    g_object_set_data_full(G_OBJECT(scroll), "litho-start-page", self, g_free);
    return self;
}

GtkWidget *litho_start_page_widget(const LithoStartPage *page)
{
    return page->page;
}

GtkWidget *litho_start_page_continue(const LithoStartPage *page)
{
    return page->resume;
}
