// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/io/survey_private.h"
#include "core/io/units.h"

// Words of the binary header, 1-based bytes of the file as in the standard; [k] of a 400-byte
// block is byte - 3201.
enum {
    LITHO_BIN_DT = 3217,
    LITHO_BIN_NS = 3221,
    LITHO_BIN_FORMAT = 3225,
    LITHO_BIN_SORTING = 3229,
    LITHO_BIN_MEASUREMENT = 3255,
    LITHO_BIN_NS_EXTENDED = 3269,
    LITHO_BIN_DT_EXTENDED = 3273,
    LITHO_BIN_ENDIAN = 3297,
    LITHO_BIN_REVISION = 3501,
    LITHO_BIN_FIXED = 3503,
    LITHO_BIN_EXT_TEXT = 3505,
    LITHO_BIN_ADDITIONAL = 3507,
    LITHO_BIN_TRACES = 3513,
    LITHO_BIN_FIRST = 3521,
    LITHO_BIN_TRAILER = 3529,
};

// A step of depths below it counts metres (feet), any other thousandths of them.
enum { LITHO_LEAST_THOUSANDTHS = 200 };
enum { LITHO_DUMMY = 3 };      // trace identification of a trace that only fills a place
enum { LITHO_SU_DEPTH = 130 }; // trace identification of SU's live traces along depth

// Coordinates in the unit of the file; `scalar` is the word at byte 71.
double litho_scaled(double value, int scalar);
gboolean litho_scalar_standard(int scalar); // 0 or a power of ten to 10000, or minus it

// TRUE for an interval of time, in microseconds, that an old writer has stored negated: 61536 is
// -4000 and nothing else. Others beyond 32767 are unsigned, and depths all are.
gboolean litho_interval_negated(guint16 word);

// Changes the byte order of all words of a trace header or binary header in place.
void litho_segy_reorder_trace(guint8 header[240], LithoOrder from, LithoOrder to);
// Reorders a header of `survey`, whose line numbers and coordinates are whole words wherever
// they stand: at 213 the standard has two of half the width.
void litho_segy_reorder_survey(const LithoSurvey *survey, guint8 header[240], LithoOrder from,
                               LithoOrder to);
// Reorders the first extension of a trace header; other extensions stay as they are.
void litho_segy_reorder_extension(guint8 extension[240], LithoOrder from, LithoOrder to);
void litho_segy_reorder_binary(guint8 header[400], LithoOrder from, LithoOrder to);
