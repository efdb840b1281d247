// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/beside.h"
#include "core/engine/engine.h"
#include "core/engine/losses.h"
#include "core/qc_noise.h"
#include "core/similarity.h"

// Judges the result of a flow where nobody knows the truth: y = s + n is the input, f the flow with
// its parameters, C the covariance of the noise.
//
// Expected SNR, by Monte-Carlo SURE (Ramani, Blu, Unser 2008, IEEE Trans. Image Processing 17(9)):
//
//     mse = |y - f(y)|^2 / N - tr(C) / N + 2 tr(J C) / N,   tr(J C) ~ b . (f(y + e b) - f(y)) / e,
//     expected SNR = 10 lg((|y|^2 / N - tr(C) / N) / mse),
//
// where J is the derivative of f, b a cube of the noise's spectrum (random signs where the noise is
// white) and e = 0.1. Two runs of the flow. b depends on the seed and the sample's index alone, so
// that curves over a parameter are smooth and results do not depend on the cut.
//
// Signal that leaves, by the same two runs: Stein's identity is E(n . f(y)) = tr(J C), so that
//
//     lost = 1 - <s, f(y)> / <s, s>,    <s, f(y)> ~ y . f(y) - tr(J C),    <s, s> ~ |y|^2 - tr(C),
//
// is the part of the signal's amplitude that the output lacks. It is known to a few tenths of a
// percent where noise and signal are alike, which the error above is not: that is small beside the
// noise, this is a part of the signal.
//
// Hidden traces (Batson and Royer 2019, Noise2Self): a few percent of the live traces, at random,
// are declared absent and predicted from the others. Noise that differs from trace to trace cannot
// be predicted, so that the misfit is error^2 + sigma^2. One run a fold.
//
// The error of any operator is at least (sigma - rms(y - f(y)))^2: no smaller one is
// told, which ends what is told of filters that remove much less than the noise.
//
// A flow that only fills leaves recorded traces as they are (litho_flow_fills_alone()): nothing is
// told by SURE, and the truth is held against the traces that were filled.
//
// Counted are samples of live traces between the first and the last that is not zero, without mutes
// (core/mute.h): they hold no noise.

// Noise level of `box` (NULL = all held) for LithoQualityAsk, in windows of 64 samples: coarser
// bins smear what lies below a filter's lowest frequency, and its SNR is wrong by decibels in noise
// of low frequency. Where the data look filtered and the noise is seen beside their events, the
// level is that at each wavenumber (LithoNoise.shape). litho_noise_clear() it.
gboolean litho_quality_noise(const LithoCube *cube, const LithoBox *box, LithoRun *run,
                             LithoNoise *noise, GError **error);

typedef struct LithoQualityAsk {
    const LithoFlow *flow;   // output on the input's grid; every step with an input
    LithoCube *in;           // held covers what `area` needs (litho_flow_input_box)
    LithoBox area;           // samples that are judged; empty = all that `in` holds. A flow that is
                             // not local is applied to litho_quality_need(), cut out of the cube
    const LithoNoise *noise; // NULL = no expected SNR
    const LithoCube *reference; // truth on the input's grid that holds the area, or NULL
    double hide;                // percent of the traces hidden in a fold; 0 = no hidden traces
    guint folds;                // 0 = 2; no more than fit into all traces
    gboolean only_hidden;       // nothing but hidden traces: other figures stay unknown, and the
                                // judge's output is that of the question before
    guint32 seed;               // of signs and hidden traces
    gboolean similarity;        // compute `leak`
    LithoSimilarityWidths widths; // by these half widths; all 0 = the default
} LithoQualityAsk;

// An SNR above this, in dB, is told as such: the noise level of data without noise is that of what
// their events spread.
#define LITHO_QUALITY_CLEAN_DB 40

// NAN = was not asked for or cannot be told; `why` says so then.
typedef struct LithoQuality {
    double expected_snr_db, expected_low_db, expected_high_db; // interval of 95 %: from the noise
                                                               // level's own, and of the sum
    gboolean expected_is_bound; // the error cannot be told from none: SNR is a lower bound
    gboolean is_beyond;         // SURE tells less than the flow can leave: the SNR is the highest
                                // possible, and the noise level is doubtful
    gboolean is_clean;       // whatever the flow leaves, the SNR is above LITHO_QUALITY_CLEAN_DB
    gboolean is_filtered;    // the data look filtered or clean (LithoNoise.lumps): noise left in
                             // them where their events are counts as signal, events that spread
                             // count as noise. The SNR is not known, nor are its interval and a
                             // gain
    gboolean is_rough;       // so they look, but the noise is seen beside the events: its level at
                             // each wavenumber ranks settings
    gboolean is_unsure;      // the noise's level is not known well enough for so small an error: it
                        // varies from place to place, or the survey is small. It ranks settings
                        // and tells no SNR, nor its interval and a gain
    gboolean counts_steep; // the SNR counts noise as signal that is steep and of low frequency, as
                           // ground roll is (LithoNoise.steep): it has no interval and no gain
    double mse;              // of the output as SURE tells it, also below what can be told from 0:
                             // what settings are ranked by
    double mse_ends[3];      // of the output, with the lowest and the highest noise level, and with
                             // half as much noise again where it passes; NAN = not known
    double input_snr_db;     // what the noise level says of the input
    double expected_gain_db; // expected less input's
    double noise_sigma;      // as was given, with offsets and hum of the input; units of the data
    gboolean fills_alone;    // the flow fills, and leaves recorded traces as they are
    guint filled_traces;     // that `snr_db` is of then; 0 = there is no reference
    double hidden_snr_db;   // against the clean traces where the noise level is known, else against
                            // the recorded ones
    double hidden_recorded_db; // against the recorded ones in any case: settings are ranked by it
    guint hidden_traces;       // in all folds
    double hidden_off_db;   // half of the interval of 95 %, from the scatter between traces
    double removed;         // removed energy as a part of the input's
    double lost, lost_low, lost_high; // part of the signal's amplitude that leaves, and its
                                      // interval of 95 %, which may begin below 0
    LithoLeak leak;         // count 0 = was not asked for
    LithoSimilarityWidths widths; // that it was computed with
    double snr_db, gain_db; // against the reference: of the output, and less that of the input
    double true_lost;       // `lost` as the reference tells it
    double seconds;         // of one run of the flow
    gint64 count;           // samples counted
    char why[512];          // a sentence on what could not be told; "" = nothing
} LithoQuality;

// No figure at all.
LithoQuality litho_quality_unknown(void);
// TRUE where a level that tells no SNR ranks settings by both ends of its interval.
gboolean litho_quality_only_ranks(const LithoQuality *quality);

// FALSE (LITHO_ERROR_UNSUPPORTED): what the flow gives of a survey on `in` cannot be judged, such
// as an image on another grid. Reads the files that the flow names.
gboolean litho_quality_check(const LithoFlow *flow, const LithoGrid *in, GError **error);

typedef struct LithoJudge LithoJudge;

// A judge has engines of its own, so that it works in a job's thread beside the window's worker,
// and keeps their plans and stages between questions: one judge, one thread at a time.
LithoJudge *litho_judge_new(LithoDevice device);
void litho_judge_free(LithoJudge *judge); // NULL is fine

// Progress in runs of the flow; cancelled as fast as the flow is. FALSE: cancelled, or the flow
// fails, or LITHO_ERROR_UNSUPPORTED where output and input cannot be compared.
gboolean litho_judge_run(LithoJudge *judge, const LithoQualityAsk *ask, LithoRun *run,
                         LithoQuality *quality, GError **error);
// The output of the last question over its area, on the grid it was computed on, or, of a flow that
// is not local, on a grid of its own; borrowed until the next question. NULL before the first.
LithoCube *litho_judge_output(const LithoJudge *judge);

// Map of the similarity over the last question's area, on the grid of litho_judge_output(), by half
// widths as LithoQualityAsk has them: beside the noise where the question had a level
// (litho_similarity_beside()), then *is_beside is TRUE, else as it is. FALSE: cancelled, no memory.
gboolean litho_judge_similarity(LithoJudge *judge, const LithoSimilarityWidths *widths,
                                LithoRun *run, LithoCube **map, gboolean *is_beside,
                                GError **error);

// The cubes of the last question that tell the noise's part of the similarity, for maps made later
// and elsewhere; NULL where it had no level. litho_beside_unref().
LithoBeside *litho_judge_beside(const LithoJudge *judge);

// Events that leave in the last question's area, by bands of time. FALSE: cancelled, no memory.
gboolean litho_judge_losses(LithoJudge *judge, LithoRun *run, LithoLosses *losses, GError **error);

// Part of `area` of at most `samples` samples around its middle, with all samples in time while
// that leaves 16 traces a side: what a question about a large area is answered on. A fifth of its
// thickness is no good for filters, so thin areas stay as they are.
LithoBox litho_quality_part(LithoBox area, gint64 samples);
// The part of `area` that the figures of a flow are told of, and its noise level is measured on:
// four million samples, or as many as are five million with the lines beside them where the flow is
// not local. Panel, sweeps, `find` and `run` ask on this part, so that a setting has one figure
// wherever it is told.
LithoBox litho_quality_area(const LithoFlow *flow, LithoBox area);
// The part of that area that ranks settings as the area does: a quarter of it, of a million samples
// at most, or a million with the lines beside them where the flow is not local.
LithoBox litho_quality_choosing(const LithoFlow *flow, LithoBox area);
// Samples of a survey on `grid` that a judge looks at for figures of `area`: the area and its
// surroundings in whole blocks, of a flow that is not local twelve samples on all sides. A cube
// that holds them gives the figures of the whole survey. FALSE: the flow refuses the grid.
gboolean litho_quality_need(const LithoFlow *flow, const LithoGrid *grid, LithoBox area,
                            LithoBox *need, GError **error);
// The samples of `box` as a cube of its own: its grid begins there. NULL: not held, no memory.
LithoCube *litho_quality_cut(const LithoCube *cube, LithoBox box, GError **error);
// "13.90 dB (13.35 to 14.55)", "at most 33.96 dB" where no higher SNR is possible, "at least 19.32
// dB" where the error cannot be told from none, "more than 40 dB" or "not known" where the data
// look clean or filtered, "13.90 dB with steep noise as signal". g_free().
char *litho_quality_expected_text(const LithoQuality *quality);
// dB that the output is worse than the input: by the reference where there is one, else as
// expected; 0 where it is not, by less than LITHO_QUALITY_EVEN_DB, or where that is not known.
#define LITHO_QUALITY_EVEN_DB 0.2
double litho_quality_loss_db(const LithoQuality *quality);
// Part of the input's energy that is noise as its level tells; NAN = the level is not known, or is
// doubtful where the events are.
double litho_quality_noise_part(const LithoQuality *quality);
// TRUE: the flow removes less than half as much energy as the noise has.
gboolean litho_quality_noise_stays(const LithoQuality *quality);
// Reading of the signal that leaves, by the lost amplitude where it is known and by the similarity,
// whichever is worse. Noise that stays and resembles what leaves is no event.
LithoLeakReading litho_quality_leak_reading(const LithoQuality *quality);
// TRUE where the reading has a place to look at: LithoLeak.worst.
gboolean litho_quality_leak_has_place(const LithoQuality *quality);
// The reading in words. Static.
const char *litho_quality_leak_sentence(const LithoQuality *quality);
// The part that leaves, 0..1: of the signal's amplitude (`lost`) where it is known, else of the
// removed energy, beside the noise where that is known (LithoLeak.beside_noise) and no more than
// the error, as the reading counts it; NAN = neither is known.
double litho_quality_leaving(const LithoQuality *quality);
// Text of that part: "5.6 ±0.9 %", "44 %"; g_free().
char *litho_quality_leaving_text(const LithoQuality *quality);
// "38.2 %", "< 0.1 %" where it is little and not nothing: the removed energy; g_free().
char *litho_quality_removed_text(const LithoQuality *quality);
// The sentence when hidden traces and SURE tell different things (by more than 1 dB), with the
// reason; "" = they agree or one of them is not known. Static.
const char *litho_quality_disagreement(const LithoQuality *quality);
// The members of reports: expected_snr_db, expected_snr_interval_db (two numbers; in its place
// expected_snr_is_doubtful true where the data look clean or filtered, or noise is steep),
// noise_sigma, signal_lost_percent, signal_lost_interval_percent, signal_reading, similarity_share,
// removed_percent, noise_percent, true_lost_percent, snr_db, gain_db, hidden_snr_db,
// hidden_off_db, ...; members that are not known are left out.
void litho_quality_to_json(const LithoQuality *quality, JsonObject *object);

// "inlines 10 to 50, crosslines 1 to 80, time 0 to 1.2 s": an area in words; g_free().
char *litho_quality_area_text(const LithoGrid *grid, LithoBox area);

// Parts of a record of a judgement beside the figures. All borrowed; NULL and 0 = not there.
typedef struct LithoQualityRecord {
    const LithoQuality *quality;
    const LithoGrid *grid; // of the survey
    LithoBox area;         // that was judged
    const LithoNoise *noise;
    const char *noise_unknown; // why there is no noise level
    double hide;               // percent of hidden traces, chosen by the seed
    gint64 seed;
    const char *input, *reference; // names of the files
    const LithoFlow *flow;
    const char *command; // the line that repeats the run
    const gint64 *slice; // grid indices of the three slices drawn beside the figures
} LithoQualityRecord;

// The figures, the area, the noise level, the flow and the files as one object: what `run`,
// `report` and the window's report write.
JsonObject *litho_quality_record_json(const LithoQualityRecord *record);
