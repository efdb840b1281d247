// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stddef.h>
#include <stdint.h>

// Opens `data` as a file of the kind that its first byte chooses, with options from the second,
// reads, asks for headers and writes it again. Any crash, leak or sanitizer finding is a bug;
// refusing is fine. The parser "segy" of fuzz_parsers.h, and of the replay that every machine runs.
void litho_fuzz_one(const uint8_t *data, size_t size);
// Seeds: files of the generator with their two leading bytes, into `folder`.
void litho_fuzz_seeds(const char *folder);
