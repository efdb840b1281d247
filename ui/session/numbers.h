// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/qc.h"
#include "core/suggest.h"

enum { LITHO_HISTOGRAM_BINS = 4096 };

// Samples counted in bins of one width.
typedef struct LithoHistogram {
    double lo, hi; // amplitudes: both ends
    double *count; // LITHO_HISTOGRAM_BINS; NULL = none
} LithoHistogram;

// Numbers of one cube, computed in a thread.
typedef struct LithoCubeNumbers {
    LithoStats stats;
    LithoSpectrum spectrum; // n = 0: the cube has too few samples for one
    LithoSpectrum removed;  // of input less this result, as far as both are there; n = 0 = none
    LithoEvents events;     // of the input alone
    LithoRange range;       // of the 99th percentile
    LithoHistogram whole;   // of all samples
    LithoHistogram near;    // around `range`, where spikes make the bins of the whole one too wide
    double counted; // samples in `whole`: of the cube, or of what a drag shows of the next one
} LithoCubeNumbers;

// Share of the samples between lo and hi, 0 to 1, by the finer histogram of the two; a bin that is
// cut counts in proportion.
double litho_cube_numbers_share(const LithoCubeNumbers *numbers, double lo, double hi);

enum { LITHO_NUMBERS_IN, LITHO_NUMBERS_OUT, LITHO_N_NUMBERS }; // of the input, of the result

// Numbers of the input and of the result: percentiles, histogram, spectra, each found in a thread.
// One cube of either kind is at work at a time; of cubes that come meanwhile the newest is next.
// Main thread only.
typedef struct LithoNumbers LithoNumbers;

typedef struct LithoNumbersFuncs {
    void (*arrived)(int which, gpointer owner); // numbers of the cube last asked about are there
    // Answer to litho_numbers_find_range(), unless another cube was asked about meanwhile.
    void (*found)(int which, const LithoRange *range, gpointer owner);
} LithoNumbersFuncs;

// `funcs` must outlive it; `owner` is handed to its functions.
LithoNumbers *litho_numbers_new(const LithoNumbersFuncs *funcs, gpointer owner);
void litho_numbers_free(LithoNumbers *numbers); // no call follows; NULL is fine
// Asks for the numbers of `cube`; a result's are begun when no other has come for 200 ms, since
// results of a drag come faster than anybody reads and the worker needs the processors. `from`:
// the input that the result can be taken from, for the spectrum of the difference; or NULL. Both
// cubes are referenced.
void litho_numbers_want(LithoNumbers *numbers, int which, LithoCube *cube, LithoCube *from);
// A newer result than the one whose numbers are known shows these parts (NULL = none): its
// histogram takes the place of the known one, over the known one's range, until all numbers come.
// Parts on a device are counted there, of others the slices at these indices. Nothing while none
// are known.
void litho_numbers_glance(LithoNumbers *numbers, LithoCube *const parts[3], const gint64 slice[3]);
void litho_numbers_forget(LithoNumbers *numbers, int which); // also what is under way
const LithoCubeNumbers *litho_numbers_get(const LithoNumbers *numbers, int which); // NULL = not yet
// Asks for the range of that percentile, 50 to 100, of `cube`, whose numbers are there: FALSE when
// they are not, or the percentile is none.
gboolean litho_numbers_find_range(LithoNumbers *numbers, int which, LithoCube *cube,
                                  double percent);
