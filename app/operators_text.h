// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

// The rows of `compare --operators` as Markdown: SNR and lost amplitude with noise, SNR of filled
// traces, the settings found, and a line per baseline. g_free().
char *litho_operators_text(JsonArray *rows);
