// SPDX-License-Identifier: GPL-3.0-or-later
// OpenMP of one thread, for programs whose compiler has no OpenMP: pragmas are skipped there, and
// these are the calls that remain. The fuzzer of the parsers is built so, by clang.
#pragma once

static inline int omp_get_thread_num(void)
{
    return 0;
}
