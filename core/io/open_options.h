// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>
#include "core/io/survey.h"

// The user's choices about reading a file, kept in sessions and import profiles and repeated on the
// command line. Callbacks are no choices: they are neither kept nor compared. Pure functions.

// { "inline_byte": 9, ... }: only what differs from "find out". The caller owns the object.
JsonObject *litho_open_options_to_json(const LithoOpenOptions *options);
// Unknown keys and values of another type are ignored; NULL gives "find out everything".
LithoOpenOptions litho_open_options_from_json(JsonObject *object);
// " --inline-byte 9 --xline-byte 21": words for lithoscope-cli, each with a blank before; "" when
// everything is to be found out. g_free().
char *litho_open_options_words(const LithoOpenOptions *options);
gboolean litho_open_options_equal(const LithoOpenOptions *a, const LithoOpenOptions *b);
