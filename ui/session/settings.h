// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Choices remembered between two starts: ~/.config/lithoscope/settings.ini. Main thread.
typedef struct LithoSettings LithoSettings;

// `path` NULL = the user's file. A missing or broken file gives the defaults; a broken one is told
// on standard error and set aside, as sessions are.
LithoSettings *litho_settings_new(const char *path);
// Writes what changed, now; a failure is a warning on standard error.
void litho_settings_save(LithoSettings *settings);
// Writes what changed and frees.
void litho_settings_free(LithoSettings *settings);
int litho_settings_int(LithoSettings *settings, const char *key, int fallback);
void litho_settings_set_int(LithoSettings *settings, const char *key, int value);
// g_free().
char *litho_settings_text(LithoSettings *settings, const char *key, const char *fallback);
void litho_settings_set_text(LithoSettings *settings, const char *key, const char *value);
