// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/quality.h"

// The best values of the parameters that an operator names (LithoOperator.find), by the expected
// SNR of the area: one parameter after the other, all values of choices and short ranges, a coarse
// row and a parabola on long ones, and a word ("automatic") that a row takes, on a part of the area
// where it is large (litho_quality_choosing()); then once more beside the values found, on all of
// it. Changes that gain nothing are taken back. Where the noise level is not given, or the flow
// only fills, hidden traces decide. Settings with which events leave that stay with the present
// ones are passed over, whatever they gain: the error over all samples is that of the loudest
// events, and tells nothing of weak ones (litho_losses_grow()).

enum { LITHO_FIND_MOST = 4 };

typedef struct LithoFound {
    const LithoParam *row;
    double now, found; // values
    double gain_db;    // what would be lost without this change; where time is up, the gain on the part
} LithoFound;

typedef struct LithoFind {
    guint n; // parameters that matter with the others' values
    LithoFound item[LITHO_FIND_MOST];
    LithoQuality now, found; // on the area searched
    double gain_db;          // of all changes
    double gain_low_db, gain_high_db; // with any noise level of the interval it was measured to;
                                      // NAN = it is not known
    LithoBox area;           // that was searched: a part of what was asked for
    guint trials;
    double seconds;
    char why[1024]; // notes for the reader: time was up, settings that gain more were passed over,
                    // the noise level leaves the gain open; "" = nothing
    gboolean is_out_of_time; // more trials would have followed
} LithoFind;

typedef struct LithoFindAsk {
    LithoQualityAsk quality; // flow, input, area, noise, seed; hide and folds where noise is NULL
    guint step;              // of the flow, whose operator is tuned
    gint64 samples;          // of the area, at most; 0 = the part of litho_quality_area(), or
                             // less where time is short; the noise level is of that part, too
    double seconds; // in which it ends, or with the first trial: no other begins later, and the one
                    // under way is given up; 0 = no end
    // After each trial, in the job's thread: values in the order of `find` and their score in dB.
    // May be NULL.
    void (*on_trial)(const LithoFind *so_far, gpointer data);
    gpointer data;
    double (*now_ms)(gpointer data); // the clock, asked by any thread; NULL = litho_now_ms()
} LithoFindAsk;

// FALSE: cancelled, the operator names nothing (LITHO_ERROR_UNSUPPORTED), or its first run fails.
// The first trial, of the present settings, ends in any case; where two such trials of the area
// would take more than half of the time it is of the part that tells settings apart, and so are the
// figures (LithoFind.area); what it took is kept for the last
// one, which asks the values found on the whole area: where that is not enough, the present
// settings stay, and `why` says so. Settings that the operator refuses are passed over. Where the
// first trial tells that no SNR can be told (LithoQuality.is_filtered), it is the only one, unless
// the noise level is known at each wavenumber (LithoQuality.is_rough), or too little for an SNR
// (is_unsure): settings are found then that gain 0.25 dB and more with any level of its interval.
// `judge` keeps plans between questions.
gboolean litho_find(LithoJudge *judge, const LithoFindAsk *ask, LithoRun *run, LithoFind *find,
                    GError **error);
// Writes the found values into a step's parameters: all items, or those whose bit is set in
// `which`.
void litho_find_apply(const LithoFind *find, guint which, const LithoOperator *op, gpointer params);
// { "now": {...}, "found": {...}, "gain_db", "seconds", ... }
JsonObject *litho_find_to_json(const LithoFind *find);
