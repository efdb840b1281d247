// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Fourier transforms of windows of 16 x 16 x 16 complex numbers. Two real windows are the real and
// the imaginary part of one of them.
#include "kernels/common/isa.h"

enum { LITHO_WINDOW16 = 16 * 16 * 16 }; // numbers of an array

// In place, arrays aligned to 64 bytes. One of [first][second][third] axis comes out as
// [first][third][second] wavenumber, and goes back to what it was, times 4096.
void litho_window16_forward(float *re, float *im);
void litho_window16_backward(float *re, float *im);

// The parts of these: the first axis alone (times 16 backward) and the others (times 256).
void litho_window16_first_forward(float *re, float *im);
void litho_window16_first_backward(float *re, float *im);
void litho_window16_others_forward(float *re, float *im);
void litho_window16_others_backward(float *re, float *im);
// The others forward, zero where |F|^2 < limit [third][second] wavenumber (aligned, too), backward
// and over 256: taken over where `hole` [second][third] has all bits set, by all of the first axis.
// Elsewhere numbers stay.
void litho_window16_others_keep(float *re, float *im, const int *hole, const float *limit);
// Zero where |F|^2 < limit [third][second] wavenumber (aligned), of a transform.
void litho_window16_keep(float *re, float *im, const float *limit);
// |F|^2 of all numbers, as the bits of floats, which rise with them; returns the largest.
int litho_window16_powers(const float *re, const float *im, int *power);
// The middle one of LITHO_WINDOW16 powers.
int litho_window16_median(const int *power);
// Rows of 16 traces of 16 samples [trace][sample] to rows of traces, 256 numbers apart: samples
// times of_row of_trace[] of_sample[], zero where they are not finite.
void litho_window16_load(const float *traces, float of_row, const float *of_trace,
                         const float *of_sample, float *to);
// The order alone, of numbers of 32 bits.
void litho_window16_turn(const int *traces, int *to);

LITHO_ISA_DECLARE(litho_window16_forward);
LITHO_ISA_DECLARE(litho_window16_backward);
LITHO_ISA_DECLARE(litho_window16_first_forward);
LITHO_ISA_DECLARE(litho_window16_first_backward);
LITHO_ISA_DECLARE(litho_window16_others_forward);
LITHO_ISA_DECLARE(litho_window16_others_backward);
LITHO_ISA_DECLARE(litho_window16_others_keep);
LITHO_ISA_DECLARE(litho_window16_keep);
LITHO_ISA_DECLARE(litho_window16_powers);
LITHO_ISA_DECLARE(litho_window16_median);
LITHO_ISA_DECLARE(litho_window16_load);
LITHO_ISA_DECLARE(litho_window16_turn);
