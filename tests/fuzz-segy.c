// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target of everything behind core/io/survey.h. Built with -Dfuzz=true and clang:
//   fuzz-segy --seeds FOLDER     writes the seed corpus
//   fuzz-segy FOLDER -max_len=20000 -max_total_time=600
#include <string.h>

#include "tests/fuzz_one.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void exit(int status) __attribute__((noreturn));

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 3 && strcmp((*argv)[1], "--seeds") == 0) {
        litho_fuzz_seeds((*argv)[2]);
        exit(0);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    litho_fuzz_one(data, size);
    return 0;
}
