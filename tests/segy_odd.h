// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/survey.h"
#include "tests/segy_make.h"

// Helpers that the tests of reading SEG-Y share: bytes made by segy_make.h go to a file, are
// opened, and must come back as the cube they were made from, or be refused in the expected words.
// Every failure ends the test program.

extern char *odd_folder; // for the files; made and removed by main()

char *odd_put(const char *name, const GByteArray *bytes); // path, g_free()
LithoSurvey *odd_open(const char *name, const GByteArray *bytes, const LithoOpenOptions *options,
                      GError **error);
LithoCube *odd_load(const Make *make, GByteArray *bytes, const LithoOpenOptions *options);

// One of the notes about what was repaired or assumed contains these words.
void odd_assert_note(const LithoCube *cube, const char *words);
// Every live trace is in the cell with its line numbers.
void odd_assert_samples(const Make *make, const LithoCube *cube);
// Numbers as above, sizes and steps are right, and every trace is live.
void odd_assert_full(const Make *make, const LithoCube *cube);

// Both take over `bytes`; `note` may be NULL.
void odd_expect_cube(const Make *make, GByteArray *bytes, const char *note);
void odd_expect_refusal(const char *name, GByteArray *bytes, const LithoOpenOptions *options,
                        const char *words);
// A file that begins with `data` and goes on with letters up to `padded` bytes.
GByteArray *odd_bytes(const void *data, gsize n, gsize padded);
