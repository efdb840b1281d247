// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/about.h"

#include "core/io/survey.h"

void litho_about_open(GtkWindow *window)
{
    static const char *const authors[] = {"Lithoscope developers", NULL};
    static const char *const maps[] = {
        "Computed in Oklab (B. Ottosson, 2020); part of this program, GPL", NULL};
    static const char *const libraries[] = {"GTK, GLib, json-glib, Cairo (LGPL)",
                                            "FFTW (GPL)",
                                            "OpenBLAS, Zstandard (BSD)",
                                            "libepoxy (MIT)",
                                            "libpng (libpng)",
                                            "HDF5, netCDF (BSD)",
                                            NULL};
    g_autofree char *comments = g_strdup_printf(
        "Seismic cubes, tuned while you look at them\nReads %s", litho_survey_formats());
    GtkIconTheme *icons =
        gtk_icon_theme_get_for_display(gtk_widget_get_display(GTK_WIDGET(window)));
    gboolean installed = gtk_icon_theme_has_icon(icons, "org.lithoscope.Lithoscope");
    GtkAboutDialog *about = g_object_new(
        GTK_TYPE_ABOUT_DIALOG, "transient-for", window, "modal", TRUE, "destroy-with-parent", TRUE,
        "program-name", "Lithoscope", "version", LITHO_VERSION, "logo-icon-name",
        installed ? "org.lithoscope.Lithoscope" : "image-x-generic-symbolic", "license-type",
        GTK_LICENSE_GPL_3_0, "authors", authors, "comments", comments, NULL);
    gtk_about_dialog_add_credit_section(about, "Colour maps", (const char **)maps);
    gtk_about_dialog_add_credit_section(about, "Libraries", (const char **)libraries);
    gtk_window_present(GTK_WINDOW(about));
}
