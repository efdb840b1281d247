// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stddef.h>
#include <stdint.h>

// Every parser of a file, the surveys of core/io first: each gets `data` as its file and may refuse
// it; a crash, a leak, a hang or a sanitizer's finding is a bug. Shared by the libFuzzer program
// and the replay that every machine runs.
typedef struct LithoFuzzParser {
    const char *name; // "segy", "recipe", ...
    void (*parse)(const uint8_t *data, size_t size);
    const char *const *seeds; // texts, NULL-terminated; NULL = none beside tests/corpus/NAME
} LithoFuzzParser;

const LithoFuzzParser *litho_fuzz_parsers(void); // ends with a NULL name
// Sets up operators and scratch folders; once, before the first parse().
void litho_fuzz_parsers_start(void);
// Seed files of a parser, into `folder`.
void litho_fuzz_parsers_seed(const LithoFuzzParser *parser, const char *folder);
