// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer targets of all parsers of files, one program for all; LITHO_FUZZ names the parser.
//   LITHO_FUZZ=recipe fuzz-parsers --seeds FOLDER     writes the seed corpus
//   LITHO_FUZZ=recipe fuzz-parsers FOLDER -max_total_time=600
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz_parsers.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const LithoFuzzParser *parser;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("LITHO_FUZZ");
    parser = litho_fuzz_parsers();
    while (name && parser->name && strcmp(parser->name, name) != 0)
        parser++;
    if (!name || !parser->name)
        exit(2);
    litho_fuzz_parsers_start();
    if (*argc == 3 && strcmp((*argv)[1], "--seeds") == 0) {
        litho_fuzz_parsers_seed(parser, (*argv)[2]);
        exit(0);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parser->parse(data, size);
    return 0;
}
