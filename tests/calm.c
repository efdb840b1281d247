// SPDX-License-Identifier: GPL-3.0-or-later
//
// Linked into tests of the core and of operators: they begin as the program does, whose threads
// that wait sleep soon. Tests beside each other then share the processors instead of turning round.
#include "core/calm.h"

// glibc hands main()'s arguments to constructors, too.
__attribute__((constructor)) static void begin_calm(int argc, char **argv)
{
    (void)argc;
    litho_threads_calm(argv);
}
