// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Threads of GNU's OpenMP runtime that wait for each other turn round for 15 ms before they sleep,
// and keep a processor from whoever has work: other programs, ranks, the window's own drawing. Two
// programs beside each other on two processors take up to four times as long. 0.1 ms serves the
// operators as well. The runtime reads its settings before main() runs and keeps them, so this sets
// GOMP_SPINCOUNT and begins the program again, once, with its arguments.
//
// Nothing happens where a person has set GOMP_SPINCOUNT or OMP_WAIT_POLICY, or where the system
// cannot begin the program again. Call it first in main(), with main()'s arguments.
void litho_threads_calm(char **argv);
