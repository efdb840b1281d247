// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/survey.h"

// Named ways to read files, kept in the user's configuration (lithoscope/import/NAME.json). A
// profile remembers the words of the text header it was made with and fits files that share most of
// them: what one company or program writes looks alike. The functions read and write files: any
// thread.

// Names in alphabetical order; g_strfreev().
char **litho_profiles(void);
// Sentence why `name` cannot name a profile; NULL = it can.
const char *litho_profile_bad_name(const char *name);
// Replaces a profile of the same name. `text` is the decoded text header, "" = none.
gboolean litho_profile_save(const char *name, const LithoOpenOptions *options, const char *text,
                            GError **error);
gboolean litho_profile_load(const char *name, LithoOpenOptions *options, GError **error);
gboolean litho_profile_delete(const char *name, GError **error);
// Name of the profile that fits a file with this text header best, NULL = none does. g_free().
char *litho_profile_match(const char *text);
