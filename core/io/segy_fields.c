// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/segy_fields.h"
#include "core/text.h"

#include <string.h>

// SEG-Y revision 1 trace header, byte by byte; revision 2 keeps all of it.
static const LithoHeaderField trace_fields[] = {
    {1, 4, N_("trace sequence number within line")},
    {5, 4, N_("trace sequence number within file")},
    {9, 4, N_("original field record number")},
    {13, 4, N_("trace number within field record")},
    {17, 4, N_("energy source point number")},
    {21, 4, N_("ensemble number (CDP)")},
    {25, 4, N_("trace number within ensemble")},
    {29, 2, N_("trace identification code")},
    {31, 2, N_("vertically summed traces")},
    {33, 2, N_("horizontally stacked traces")},
    {35, 2, N_("data use")},
    {37, 4, "offset"},
    {41, 4, N_("receiver group elevation")},
    {45, 4, N_("surface elevation at source")},
    {49, 4, N_("source depth")},
    {53, 4, N_("datum elevation at receiver")},
    {57, 4, N_("datum elevation at source")},
    {61, 4, N_("water depth at source")},
    {65, 4, N_("water depth at group")},
    {69, 2, N_("scalar for elevations and depths")},
    {71, 2, N_("scalar for coordinates")},
    {73, 4, N_("source coordinate X")},
    {77, 4, N_("source coordinate Y")},
    {81, 4, N_("group coordinate X")},
    {85, 4, N_("group coordinate Y")},
    {89, 2, N_("coordinate units")},
    {91, 2, N_("weathering velocity")},
    {93, 2, N_("subweathering velocity")},
    {95, 2, N_("uphole time at source (ms)")},
    {97, 2, N_("uphole time at group (ms)")},
    {99, 2, N_("source static correction (ms)")},
    {101, 2, N_("group static correction (ms)")},
    {103, 2, N_("total static (ms)")},
    {105, 2, N_("lag time A (ms)")},
    {107, 2, N_("lag time B (ms)")},
    {109, 2, N_("delay recording time (ms)")},
    {111, 2, N_("mute time start (ms)")},
    {113, 2, N_("mute time end (ms)")},
    {115, 2, N_("samples in this trace")},
    {117, 2, N_("sample interval (us)")},
    {119, 2, N_("gain type")},
    {121, 2, N_("instrument gain constant")},
    {123, 2, N_("instrument early gain")},
    {125, 2, "correlated"},
    {127, 2, N_("sweep frequency at start")},
    {129, 2, N_("sweep frequency at end")},
    {131, 2, N_("sweep length (ms)")},
    {133, 2, N_("sweep type")},
    {135, 2, N_("sweep taper at start (ms)")},
    {137, 2, N_("sweep taper at end (ms)")},
    {139, 2, N_("taper type")},
    {141, 2, N_("alias filter frequency")},
    {143, 2, N_("alias filter slope")},
    {145, 2, N_("notch filter frequency")},
    {147, 2, N_("notch filter slope")},
    {149, 2, N_("low-cut frequency")},
    {151, 2, N_("high-cut frequency")},
    {153, 2, N_("low-cut slope")},
    {155, 2, N_("high-cut slope")},
    {157, 2, "year"},
    {159, 2, N_("day of year")},
    {161, 2, "hour"},
    {163, 2, "minute"},
    {165, 2, "second"},
    {167, 2, N_("time basis")},
    {169, 2, N_("trace weighting factor")},
    {171, 2, N_("group of roll switch position one")},
    {173, 2, N_("group of first trace")},
    {175, 2, N_("group of last trace")},
    {177, 2, N_("gap size")},
    {179, 2, N_("over travel")},
    {181, 4, "CDP X"},
    {185, 4, "CDP Y"},
    {189, 4, N_("inline number")},
    {193, 4, N_("crossline number")},
    {197, 4, N_("shotpoint number")},
    {201, 2, N_("scalar for shotpoint number")},
    {203, 2, N_("trace value unit")},
    {205, 4, N_("transduction constant mantissa")},
    {209, 2, N_("transduction constant exponent")},
    {211, 2, N_("transduction units")},
    {213, 2, N_("device or trace identifier")},
    {215, 2, N_("scalar for times")},
    {217, 2, N_("source type and orientation")},
    {219, 2, N_("source energy direction, vertical")},
    {221, 2, N_("source energy direction, crossline")},
    {223, 2, N_("source energy direction, inline")},
    {225, 4, N_("source measurement mantissa")},
    {229, 2, N_("source measurement exponent")},
    {231, 2, N_("source measurement unit")},
};

const LithoHeaderField *litho_segy_fields(guint *n)
{
    *n = G_N_ELEMENTS(trace_fields);
    return trace_fields;
}

gint32 litho_segy_field_value(const guint8 header[240], const LithoHeaderField *field)
{
    const guint8 *p = header + field->byte - 1;
    // These 16-bit fields are counts: unsigned, as lengths beyond 32767 are common.
    if (field->byte == 115 || field->byte == 117)
        return litho_get_u16(p, LITHO_ORDER_BIG);
    return field->size == 2 ? litho_get_i16(p, LITHO_ORDER_BIG) : litho_get_i32(p, LITHO_ORDER_BIG);
}

double litho_scaled(double value, int scalar)
{
    return scalar > 0 ? value * scalar : scalar < 0 ? value / -scalar : value;
}

gboolean litho_scalar_standard(int scalar)
{
    const int s = ABS(scalar);
    return s == 0 || s == 1 || s == 10 || s == 100 || s == 1000 || s == 10000;
}

gboolean litho_interval_negated(guint16 word)
{
    const int negated = 65536 - word;
    return word > 32767 && word % 250 != 0 && (negated % 250 == 0 || negated <= 16);
}

static void swap_bytes(guint8 *p, int n)
{
    for (int k = 0; k < n / 2; k++) {
        guint8 t = p[k];
        p[k] = p[n - 1 - k];
        p[n - 1 - k] = t;
    }
}

// Both conversions are their own inverse.
static void reorder_word(guint8 *p, int n, LithoOrder from, LithoOrder to)
{
    if (from == to)
        return;
    for (int turn = 0; turn < 2; turn++) { // through big endian
        LithoOrder order = turn == 0 ? from : to;
        if (order == LITHO_ORDER_LITTLE)
            swap_bytes(p, n);
        else if (order == LITHO_ORDER_PAIRS)
            for (int k = 0; k + 1 < n; k += 2)
                swap_bytes(p + k, 2);
    }
}

// Revision 2 names trace headers in their last eight bytes, in either code: "SEG00000" the first
// one, "SEG00001" the first extension.
static gboolean is_named(const guint8 *header, char last)
{
    static const char name[] = "SEG0000";
    gboolean ascii = TRUE, wide = TRUE;
    for (int k = 0; k < 8; k++) {
        const char c = k < 7 ? name[k] : last;
        ascii &= header[232 + k] == (guint8)c;
        wide &= header[232 + k] == litho_text_to_ebcdic(c);
    }
    return ascii || wide;
}

void litho_segy_reorder_trace(guint8 header[240], LithoOrder from, LithoOrder to)
{
    if (from == to)
        return;
    for (guint k = 0; k < G_N_ELEMENTS(trace_fields); k++)
        reorder_word(header + trace_fields[k].byte - 1, trace_fields[k].size, from, to);
    if (is_named(header, '0')) // revision 2
        return;
    reorder_word(header + 232, 4, from, to); // 233-240: unassigned, mostly two 32-bit words
    reorder_word(header + 236, 4, from, to);
}

void litho_segy_reorder_survey(const LithoSurvey *survey, guint8 header[240], LithoOrder from,
                               LithoOrder to)
{
    const int byte[] = {survey->key_byte[0], survey->key_byte[1], survey->xy_byte[0],
                        survey->xy_byte[1]};
    guint8 word[G_N_ELEMENTS(byte)][4];
    for (guint k = 0; k < G_N_ELEMENTS(byte); k++)
        memcpy(word[k], header + MAX(byte[k] - 1, 0), sizeof word[k]);
    litho_segy_reorder_trace(header, from, to);
    for (guint k = 0; k < G_N_ELEMENTS(byte); k++) {
        reorder_word(word[k], sizeof word[k], from, to);
        if (byte[k])
            memcpy(header + byte[k] - 1, word[k], sizeof word[k]);
    }
}

void litho_segy_reorder_extension(guint8 extension[240], LithoOrder from, LithoOrder to)
{
    static const struct {
        int count, width;
    } runs[] = {{17, 8}, {2, 4}, {1, 8}, {1, 4}, {2, 2}, {2, 8}};
    int at = 0;
    if (!is_named(extension, '1'))
        return; // of a writer's own: nobody knows its words
    for (guint k = 0; k < G_N_ELEMENTS(runs); k++)
        for (int c = 0; c < runs[k].count; c++, at += runs[k].width)
            reorder_word(extension + at, runs[k].width, from, to);
}

void litho_segy_reorder_binary(guint8 header[400], LithoOrder from, LithoOrder to)
{
    // Widths along the header, as {count, width}: revision 2.1. 3501/3502 are two single bytes; the
    // count at 3507 has four bytes in revision 2.0, where its upper half is zero.
    int count = litho_get_i16(header + LITHO_BIN_ADDITIONAL - 3201, from);
    gboolean wide = header[LITHO_BIN_REVISION - 3201] == 2 && count == 0;
    const struct {
        int count, width;
    } runs[] = {{3, 4}, {24, 2}, {3, 4},
                {2, 8}, {3, 4},  {200, 1},
                {2, 1}, {2, 2},  {wide ? 1 : 2, wide ? 4 : 2},
                {1, 2}, {2, 8},  {1, 4}};
    int at = 0;
    for (guint k = 0; k < G_N_ELEMENTS(runs); k++)
        for (int c = 0; c < runs[k].count; c++, at += runs[k].width)
            reorder_word(header + at, runs[k].width, from, to);
}
