// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/about.h"

#include "core/io/survey.h"
#include "core/text.h"

void litho_about_open(GtkWindow *window)
{
    const char *const authors[] = {_("Lithoscope developers"), NULL};
    static const char *const maps[] = {
        N_("Computed in Oklab (B. Ottosson, 2020); part of this program, GPL"), NULL};
    const char *const libraries[] = {_("GTK, GLib, json-glib, Cairo (LGPL)"),
                                     _("FFTW (GPL)"),
                                     _("OpenBLAS, Zstandard (BSD)"),
                                     _("libepoxy (MIT)"),
                                     _("libpng, zlib (libpng, zlib)"),
                                     _("HDF5, netCDF, Blosc, ZFP, Open MPI (BSD)"),
                                     NULL};
    g_autofree char *comments = g_strdup_printf(
        _("Seismic cubes, tuned while you look at them\nReads %s"), litho_survey_formats());
    GtkIconTheme *icons =
        gtk_icon_theme_get_for_display(gtk_widget_get_display(GTK_WIDGET(window)));
    gboolean installed = gtk_icon_theme_has_icon(icons, "org.lithoscope.Lithoscope");
    GtkAboutDialog *about = g_object_new(
        GTK_TYPE_ABOUT_DIALOG, "transient-for", window, "modal", TRUE, "destroy-with-parent", TRUE,
        "program-name", "Lithoscope", "version", LITHO_VERSION, "logo-icon-name",
        installed ? "org.lithoscope.Lithoscope" : "image-x-generic-symbolic", "license-type",
        GTK_LICENSE_GPL_3_0, "authors", authors, "comments", comments, NULL);
    gtk_about_dialog_add_credit_section(about, _("Colour maps"), (const char **)maps);
    gtk_about_dialog_add_credit_section(about, _("Libraries"), (const char **)libraries);
    gtk_window_present(GTK_WINDOW(about));
}
