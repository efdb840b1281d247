// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/window/window.h"

// The program: one window, style sheet, light or dark as the system says, command line.
//
//     lithoscope [FILE ...] [--recipe FILE] [--operator KEY] [--demo] [--measure SECONDS ...]
#define LITHO_TYPE_APPLICATION (litho_application_get_type())
G_DECLARE_FINAL_TYPE(LithoApplication, litho_application, LITHO, APPLICATION, GtkApplication)

LithoApplication *litho_application_new(void);
// Style sheet, icons, accelerators and appearance for a display that is open already; what
// litho_application_new() does at its start-up. For tests that make a window without it. Returns
// the name of the OpenGL device where that is the processor, else NULL; g_free().
char *litho_application_prepare(GtkApplication *app, LithoSettings *settings);
// After g_application_run(): 1 when --measure found the screen at odds with the result, else 0.
int litho_application_status(LithoApplication *self);
