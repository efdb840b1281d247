// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// Local similarity of the output o and the removed part r = input - output of a filter (Fomel 2007,
// Geophysics 72, A29; Chen and Fomel 2015, Geophysics 80, WD1):
//
//     c = <o r> / sqrt(<o o> <r r>),
//
// where < > is a Gaussian mean over neighbouring traces and samples. Noise resembles no event and
// gives |c| near 0; an event that leaves with the noise resembles itself and gives |c| near 1.
// Absent traces and samples that are not finite count as nothing. Reads the cubes only; any thread.

typedef struct LithoSimilarityWidths {
    double traces[2]; // half widths at half height along the inline and the crossline axis
    double seconds;   // the same in time; cubes in depth take 5 samples for each 20 ms
} LithoSimilarityWidths;

#define LITHO_SIMILARITY_MOST_TRACES 50
#define LITHO_SIMILARITY_MOST_SECONDS 1.0

// 3 traces, 3 traces, 20 ms.
LithoSimilarityWidths litho_similarity_widths(void);
// `widths` where any of them is above 0, else the default; NULL is fine.
LithoSimilarityWidths litho_similarity_widths_or_default(const LithoSimilarityWidths *widths);
gboolean litho_similarity_widths_equal(LithoSimilarityWidths a, LithoSimilarityWidths b);
// "3,3,20": inlines, crosslines, ms; 0 = no mean along this axis. LITHO_ERROR_PARAMETER: no such
// text, or beyond the limits above.
gboolean litho_similarity_widths_parse(const char *text, LithoSimilarityWidths *widths,
                                       GError **error);
// Text that the function above reads back; g_free().
char *litho_similarity_widths_print(LithoSimilarityWidths widths);

// Part of the input's energy that rounding removes: single precision as much of a constant.
#define LITHO_LEAK_ROUNDING 1e-8
// Beyond this |c| two signals count as alike.
#define LITHO_SIMILAR 0.3

typedef enum LithoLeakReading {
    LITHO_LEAK_NOISE,  // below 5 %
    LITHO_LEAK_SOME,   // 5 to 15 %
    LITHO_LEAK_EVENTS, // above, and a thousandth of the input's energy
} LithoLeakReading;

typedef struct LithoLeak {
    double share;    // of the removed energy, 0..1: where |c| > LITHO_SIMILAR and the output's
                     // envelope, sqrt(<o o>), exceeds its median
    double removed;  // removed energy as a part of the input's, 0..1 and more; 0 for no input and
                     // for what rounding removes: nothing is alike then
    double beside_noise; // `share` of what is alike beyond the noise of LithoSimilarityNoise; else
                         // `share`
    gint64 worst[3]; // the sample, in grid indices, around which most similar energy leaves beside
                     // the noise; the first one where `beside_noise` is 0
    gint64 count;    // samples of present traces in the box; 0 = nothing to tell
} LithoLeak;

// The sums of one question, for the host and for a device (LithoBackend.similarity).
typedef struct LithoSimilarityKernel {
    int reach;
    float *weight; // 2 reach + 1, their sum is 1
} LithoSimilarityKernel;

typedef struct LithoSimilarityPlan {
    LithoBox box, reach; // asked for; samples that both cubes have for it
    LithoSimilarityKernel kernel[3];
    int order[3]; // the axes, the one to be summed along first
} LithoSimilarityPlan;

// Map of the similarity over `box` of two cubes of one grid, both of which should hold `box` and
// three half widths around it (the mean ends at what they hold): |c| in a new cube that holds
// `box`, 0 in absent traces and where both cubes hold zeros, as in a mute. That of an output on a
// device is made there, and the output is not fetched; where the device cannot, the host does.
// `widths` NULL or all 0 = the default. FALSE: cancelled, no memory, or LITHO_ERROR_GEOMETRY.
// Visible slices take a few milliseconds.
gboolean litho_similarity(const LithoCube *in, const LithoCube *out, LithoBox box,
                          const LithoSimilarityWidths *widths, LithoRun *run, LithoCube **map,
                          GError **error);

// Noise of which a filter lets a part pass leaves and stays alike, as an event does that loses
// amplitude. A probe b of this noise tells how alike: its <Jb (b - Jb)>, Jb = (moved - out) / step.
// Both cubes hold the area and three half widths around it. Where thresholds jump |Jb|^2 is larger
// than the noise that passes: `passing` times it counts. Maps fade where the output's energy <o o>
// falls from `quiet` to a tenth of it: what leaves there is nothing beside the events.
typedef struct LithoSimilarityNoise {
    const LithoCube *probe, *moved; // host samples
    double step, passing;
    double quiet; // 0 = none
} LithoSimilarityNoise;

// litho_similarity() of what is alike beyond the noise, on the host: |c| times the part of <o r>
// that noise does not explain, from 0, where it explains more than there is, to 1. A low
// threshold's map is bright wherever noise stays in the output; this one is where events leave.
// `noise` must hold the box.
gboolean litho_similarity_beside(const LithoCube *in, const LithoCube *out, LithoBox box,
                                 const LithoSimilarityWidths *widths,
                                 const LithoSimilarityNoise *noise, LithoRun *run, LithoCube **map,
                                 GError **error);

// Numbers of the similarity, on the host; `noise` NULL = not known. Else as litho_similarity().
gboolean litho_similarity_leak(const LithoCube *in, const LithoCube *out, LithoBox box,
                               const LithoSimilarityWidths *widths,
                               const LithoSimilarityNoise *noise, LithoRun *run, LithoLeak *leak,
                               GError **error);
// The box of samples that litho_similarity() uses for `box`.
LithoBox litho_similarity_reach(const LithoGrid *grid, LithoBox box,
                                const LithoSimilarityWidths *widths);

// By the share; events that leave with less than a thousandth of the input's energy read as some
// signal.
LithoLeakReading litho_leak_reading(const LithoLeak *leak);
// "removed looks like noise", "some signal leaves", "events leave": as in files, litho_text() for a
// person. Static.
const char *litho_leak_words(LithoLeakReading reading);
// For a person: these words, or that nothing was removed that could look like something. Static.
const char *litho_leak_sentence(const LithoLeak *leak);
