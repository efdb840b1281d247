// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stdio.h>

#include "core/text.h"
#include "core/engine/quality.h"
#include "core/io/survey.h"

// Shared by run, find, sweep and report: the options of a judgement, the part of a survey it is
// made on, and how its figures are told.

typedef struct LithoCliJudge {
    char *reference, *area;
    char *similarity; // half widths; NULL = the default
    double sigma; // 0 = estimated
    double hide;  // percent
    int seed;
} LithoCliJudge;

// clang-format off
#define LITHO_CLI_JUDGE(judge) \
    {"reference", 0, 0, G_OPTION_ARG_FILENAME, &(judge)->reference, \
     _("The truth: SNR and gain are told"), "FILE"}, \
    {"hide", 0, 0, G_OPTION_ARG_DOUBLE, &(judge)->hide, \
     _("Share of traces that are hidden and predicted from the others"), "PERCENT"}, \
    {"seed", 0, 0, G_OPTION_ARG_INT, &(judge)->seed, _("Which traces are hidden (default 1)"), "N"}, \
    {"sigma", 0, 0, G_OPTION_ARG_DOUBLE, &(judge)->sigma, \
     _("Standard deviation of white noise (default: estimated, each frequency apart)"), "S"}, \
    {"area", 0, 0, G_OPTION_ARG_STRING, &(judge)->area, \
     _("Line numbers and s or m that are judged: I:I,X:X,T:T; an empty piece is all"), "AREA"}
// clang-format on

// Beside it where a share or a map of the similarity is told.
// clang-format off
#define LITHO_CLI_SIMILARITY(judge) \
    {"similarity", 0, 0, G_OPTION_ARG_STRING, &(judge)->similarity, \
     _("Half widths of the local similarity: inlines, crosslines, ms (default 3,3,20)"), "IL,XL,MS"}
// clang-format on

void litho_cli_judge_clear(LithoCliJudge *judge);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LithoCliJudge, litho_cli_judge_clear)

// A part of a survey with all that a flow needs to compute it.
typedef struct LithoCliPart {
    LithoCube *in, *reference; // reference NULL = none
    LithoBox asked;            // --area, or the whole survey
    LithoBox area;             // the part of it that the figures are told of
    gboolean is_all;  // the area is the whole survey
    LithoNoise noise; // n 0 = unknown, `why_not` says why
    char why_not[256];
} LithoCliPart;

void litho_cli_part_clear(LithoCliPart *part);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LithoCliPart, litho_cli_part_clear)

// FALSE with a sentence when --sigma, --hide or --similarity is nothing that can be asked for.
gboolean litho_cli_judge_numbers(const LithoCliJudge *judge, GError **error);
// Reads the part of the area asked for, or of the survey, that figures are told of
// (litho_quality_area()), and measures its noise. FALSE sets `error`.
gboolean litho_cli_part(LithoSurvey *survey, const LithoFlow *flow, const LithoCliJudge *judge,
                        const LithoOpenOptions *open, LithoRun *run, LithoCliPart *part,
                        GError **error);
// Reads the surroundings of the area that `flow` needs, where the part does not hold them: other
// values of a parameter reach further. FALSE: not read; a flow that refuses the survey is no error.
gboolean litho_cli_part_cover(LithoSurvey *survey, const LithoFlow *flow, LithoRun *run,
                              LithoCliPart *part, GError **error);
// FALSE with a sentence when the area asked for is none of this survey.
gboolean litho_cli_judge_check(const LithoCliJudge *judge, const LithoGrid *grid, GError **error);
// Half widths of --similarity, which litho_cli_judge_numbers() has passed; all 0 = the default.
LithoSimilarityWidths litho_cli_widths(const LithoCliJudge *judge);
// The question of `judge` about `flow` on `part`; everything is borrowed.
LithoQualityAsk litho_cli_ask(const LithoCliJudge *judge, const LithoCliPart *part,
                              const LithoFlow *flow);

// Lines for people.
void litho_cli_print_quality(FILE *to, const LithoQuality *quality, const LithoCliPart *part);
// The figures, the area, the noise level, the flow and the files as one object. `command`: the line
// that repeats the run, or NULL. `slice`: grid indices of the pictures beside them, or NULL.
JsonObject *litho_cli_quality_json(const LithoQuality *quality, const LithoCliPart *part,
                                   const LithoCliJudge *judge, const LithoFlow *flow,
                                   const char *input, const char *command, const gint64 *slice);
// Takes over `object`; replaces a file with `force` only.
gboolean litho_cli_save_json(JsonObject *object, const char *path, gboolean force, GError **error);
