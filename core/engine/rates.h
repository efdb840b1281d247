// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/stream.h"

// How fast this machine computes, reads and writes, learned from its own runs and kept in the
// user's cache folder (lithoscope/rates.json): what a dry run's time is told from.
//
// Computing is kept by device, operators and parameters, as times of slabs of several sizes: a
// slab takes a fixed time (its borders, launches) and a time for each sample, of the input and of
// the result: a migration to a few depths works on all of its traces. Of an operator on large
// pieces that overlap all samples of each count (core/engine/pieces.h). Reading and writing
// are kept by file format. Of each the 200 that were learned last are kept. Runs of fewer than
// LITHO_RATES_SAMPLES samples that compute for less than LITHO_RATES_SECONDS teach nothing: tip
// waves work for minutes on a few traces.
//
// Times of computing stand with the processor's pace behind the run (core/engine/pace.h), and are
// told for the pace it has now: other programs come and go. Runs that compute for less than
// LITHO_RATES_PACED seconds are not worth that measurement.
//
// Thread-safety: a value of its maker. Two processes that save at once keep the later one's.

enum { LITHO_RATES_SAMPLES = 1000000 };
static const double LITHO_RATES_SECONDS = 0.5;
static const double LITHO_RATES_PACED = 2;

typedef struct LithoRates LithoRates;

// A run as its rates are kept: everything is borrowed.
typedef struct LithoRatesOf {
    const LithoFlow *flow;
    LithoDevice device;
    int threads;        // 0 = all
    const char *reads;  // ".sgy IBM float", in no language; NULL = nothing is read
    const char *writes; // ".sgy"
    double pace; // of the processor now; 0 = litho_rates_tell() measures it where it was measured
                 // for what it tells from
} LithoRatesOf;

// The time of a run before it begins.
typedef struct LithoRatesTold {
    gboolean known;  // FALSE: nothing like it has run on this machine
    gboolean is_alike; // by a run with other parameters: rough
    gint64 runs;     // that it is told from
    int devices;     // that pay, of those that may compute slabs
    double seconds;  // of the whole
    double setup_s, measure_s, read_s, compute_s, write_s, finish_s; // its parts, some side by side
} LithoRatesTold;

// LithoRatesOf.reads of a survey: the kind of its first file. g_free().
char *litho_rates_reads(const LithoSurvey *survey);
// "~/.cache/lithoscope/rates.json"; g_free().
char *litho_rates_path(void);
// The rates of a file; an unreadable one counts as none.
LithoRates *litho_rates_load(const char *path);
LithoRates *litho_rates_new(void); // knows nothing
void litho_rates_free(LithoRates *rates); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoRates, litho_rates_free)
// Makes the folder where it is missing.
gboolean litho_rates_save(const LithoRates *rates, const char *path, GError **error);

// The processor's pace now, with the run's threads, which takes LITHO_PACE_S; 0 for a run that
// computes for `seconds` where that is not worth it, or a GPU computes.
double litho_rates_pace(const LithoRatesOf *of, double seconds);
// FALSE: the run was too short to learn from.
gboolean litho_rates_learn(LithoRates *rates, const LithoRatesOf *of, const LithoStreamTook *took);
// `in`: grid of the input, NULL = none. `ranks`: processes that share the slabs, 1 = alone. Takes
// LITHO_PACE_S where it measures the pace.
LithoRatesTold litho_rates_tell(const LithoRates *rates, const LithoRatesOf *of,
                                const LithoStreamPlan *plan, const LithoGrid *in, int ranks);
// Seconds of `n` slabs whose reading, computing and writing take so long in all, side by side: the
// slowest sets the pace, the others cost one slab each.
double litho_rates_side_by_side(gint64 n, double read_s, double compute_s, double write_s);
