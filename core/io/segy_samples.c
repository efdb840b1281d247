// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/sample_codec.h"
#include "core/io/segy_fields.h"
#include "core/text.h"

// Do the samples look like what the header says they are? A few hundred traces spread over the
// file are decoded in every way that could be meant.

enum {
    MAX_TRACES = 512,
    CLUSTERS = 16, // places of a large file that are looked at
    MAX_BYTES = 16 * 1024 * 1024,
    MAX_WORDS = 1 << 17,
};

typedef struct Look {
    gint64 n;    // words that are not zero and differ from the word before
    double wild; // part of them that is NaN, infinite or absurdly large or small
    double huge; // part of them that is wild and not small
    double negative;
    double spread; // standard deviation of log2 |x| of the tame ones
    double hollow; // part with a first hex digit of the fraction of 0
    guint distinct;
} Look;

// A seismic amplitude outside 1e-20..1e20 is a wrong reading (nulls of 1e30 are rare enough).
static gboolean is_wild(float x)
{
    float a = fabsf(x);
    return !(a >= 1e-20f && a <= 1e20f);
}

static Look look(const guint8 *raw, gint64 words, int format, LithoOrder order)
{
    Look l = {0};
    double sum = 0, sum2 = 0;
    gint64 tame = 0;
    guint32 before = 0;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (gint64 k = 0; k < words; k++) {
        guint32 w = (guint32)litho_get_i32(raw + 4 * k, order);
        if ((w & 0x7fffffff) == 0 || w == before)
            continue;
        before = w;
        float x;
        litho_decode(raw + 4 * k, format, order, &x, 1);
        l.n++;
        l.negative += w >> 31;
        l.hollow += (w >> 20 & 15) == 0;
        if (g_hash_table_size(seen) < 4096)
            g_hash_table_add(seen, GUINT_TO_POINTER(w));
        if (is_wild(x)) {
            l.wild++;
            l.huge += !(fabsf(x) < 1);
            continue;
        }
        double e = log2(fabs((double)x));
        sum += e;
        sum2 += e * e;
        tame++;
    }
    l.distinct = g_hash_table_size(seen);
    if (l.n > 0) {
        l.wild /= l.n;
        l.huge /= l.n;
        l.negative /= l.n;
        l.hollow /= l.n;
    }
    if (tame > 1)
        l.spread = sqrt(MAX(sum2 / tame - (sum / tame) * (sum / tame), 0));
    return l;
}

// The first hex digit of a normalised IBM fraction is never 0; of an IEEE float the same four bits
// are the last exponent bit and the top of the mantissa, 0 in about one word of sixteen. With a
// thousand different words of both signs a wrong guess has no chance left.
static gboolean really_ieee(const Look *ibm, const Look *ieee)
{
    return ibm->n >= 512 && ibm->distinct >= 256 && ibm->hollow > 0.02 && ibm->hollow < 0.3 &&
           ibm->negative > 0.05 && ibm->negative < 0.95 && ieee->wild == 0 &&
           ibm->spread > 1.4 * ieee->spread;
}

static gboolean really_ibm(const Look *ieee, const Look *ibm)
{
    return ieee->n >= 1024 && ieee->distinct >= 512 && ieee->hollow == 0 && ieee->negative > 0.05 &&
           ieee->negative < 0.95 && ibm->wild == 0;
}

static gboolean refuse_mismatch(const LithoTraceFile *file, int better, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                _("%s says its samples are %s (format %d) but they look like %s; give --format %d, "
                  "or --format %d to insist"),
                file->path, litho_text(litho_format_name(file->format)), file->format,
                litho_text(litho_format_name(better)), better, file->format);
    return FALSE;
}

static gboolean judge_floats(LithoSurvey *survey, LithoTraceFile *file, const guint8 *raw,
                             gint64 words, const LithoOpenOptions *options, GError **error)
{
    int other = file->format == LITHO_FORMAT_IBM ? LITHO_FORMAT_IEEE : LITHO_FORMAT_IBM;
    LithoOrder turned = file->order == LITHO_ORDER_BIG ? LITHO_ORDER_LITTLE : LITHO_ORDER_BIG;
    Look own = look(raw, words, file->format, file->order);
    Look alternative = look(raw, words, other, file->order);
    if (own.n < 64)
        return TRUE;
    // A given byte order or format is not second-guessed.
    if (own.wild > 0.1) {
        Look swapped = look(raw, words, file->format, turned);
        if (!options->endian && swapped.wild < 0.005 && swapped.wild <= alternative.wild) {
            file->sample_order = turned;
            return litho_survey_repair(
                survey, options->strict, error, "headers are %s but samples are %s",
                litho_text(litho_order_name(file->order)), litho_text(litho_order_name(turned)));
        }
        if (!options->format && alternative.wild < 0.005)
            return refuse_mismatch(file, other, error);
        // Small ones alone are the tails of modelled wavelets.
        if (own.huge > 0 || own.wild > 0.9)
            litho_survey_note(survey, "%.0f %% of the samples looked at lie outside 1e-20..1e20",
                              100 * own.wild);
        return TRUE;
    }
    if (options->format)
        return TRUE;
    gboolean wrong = file->format == LITHO_FORMAT_IBM ? really_ieee(&own, &alternative)
                                                      : really_ibm(&own, &alternative);
    return wrong ? refuse_mismatch(file, other, error) : TRUE;
}

// --- integers -----------------------------------------------------------------------------------

// Entropy in bits of byte `at` of the words that are not zero, and how many there are.
static double byte_entropy(const guint8 *raw, gint64 words, int bytes, int at, gint64 *n)
{
    static const guint8 zero[4];
    gint64 count[256] = {0};
    double bits = 0;
    *n = 0;
    for (gint64 k = 0; k < words; k++)
        if (memcmp(raw + k * bytes, zero, (gsize)bytes) != 0) {
            count[raw[k * bytes + at]]++;
            ++*n;
        }
    for (int b = 0; b < 256; b++)
        if (count[b])
            bits -= (double)count[b] / *n * log2((double)count[b] / *n);
    return bits;
}

// Mean step from sample to sample, as a part of the mean magnitude.
static double roughness(const guint8 *raw, gint64 words, int format, LithoOrder order)
{
    double steps = 0, size = 0;
    float before = 0;
    for (gint64 k = 0; k < words; k++) {
        float x;
        litho_decode(raw + k * litho_format_bytes(format), format, order, &x, 1);
        steps += fabs((double)x - before);
        size += fabs((double)x);
        before = x;
    }
    return size > 0 ? steps / size : 0;
}

// Part of the words whose last byte does nothing but repeat the sign of the first one: numbers
// below 128 in the other order.
static double sign_only(const guint8 *raw, gint64 words, int bytes)
{
    gint64 n = 0, same = 0, negative = 0;
    for (gint64 k = 0; k < words; k++) {
        const guint8 *w = raw + k * bytes;
        if (w[0] == 0 && w[bytes - 1] == 0)
            continue;
        n++;
        negative += w[0] >> 7;
        same += w[bytes - 1] == (w[0] & 0x80 ? 0xff : 0);
    }
    return n >= 256 && negative * 20 > n ? (double)same / n : 0;
}

// Integers in the other byte order: their first byte, which hardly changes in a seismic trace,
// carries more than the last one, and they become smoother when turned.
static gboolean judge_integers(LithoSurvey *survey, LithoTraceFile *file, const guint8 *raw,
                               gint64 words, const LithoOpenOptions *options, GError **error)
{
    const int bytes = litho_format_bytes(file->format);
    const LithoOrder turned = file->order == LITHO_ORDER_BIG ? LITHO_ORDER_LITTLE : LITHO_ORDER_BIG;
    const int first = file->order == LITHO_ORDER_BIG ? 0 : bytes - 1;
    gint64 n;
    if (options->endian || file->order == LITHO_ORDER_PAIRS)
        return TRUE;
    double top = byte_entropy(raw, words, bytes, first, &n);
    double bottom = byte_entropy(raw, words, bytes, bytes - 1 - first, &n);
    if (n < 256)
        return TRUE;
    gboolean smoother = roughness(raw, words, file->format, turned) <
                        0.7 * roughness(raw, words, file->format, file->order);
    gboolean wrong =
        (top > bottom + 1 && smoother) || (first == 0 && sign_only(raw, words, bytes) > 0.95);
    if (!wrong)
        return TRUE;
    file->sample_order = turned;
    return litho_survey_repair(survey, options->strict, error, "headers are %s but samples are %s",
                               litho_text(litho_order_name(file->order)),
                               litho_text(litho_order_name(turned)));
}

gboolean litho_file_all_zero(const LithoTraceFile *file, const guint8 *p, gint64 n)
{
    enum { PIECE = 64 };
    const int bytes = litho_format_bytes(file->format);
    const gint64 all = n * bytes;
    if (all == 0 || (p[0] == 0 && memcmp(p, p + 1, all - 1) == 0))
        return TRUE;
    for (gint64 k = 0; k < all; k++) // of -0 the sign is set
        if (p[k] & 0x7f)
            return FALSE;
    for (gint64 k = 0; k < n; k += PIECE) {
        float x[PIECE];
        const gint64 take = MIN(n - k, PIECE);
        litho_decode(p + k * bytes, file->format, file->sample_order, x, take);
        for (gint64 s = 0; s < take; s++)
            if (x[s] != 0)
                return FALSE;
    }
    return TRUE;
}

gboolean litho_segy_check_samples(LithoSurvey *survey, LithoTraceFile *file,
                                  const LithoOpenOptions *options, GError **error)
{
    int bytes = litho_format_bytes(file->format);
    gint64 take = MIN(file->traces, MAX_TRACES);
    take = CLAMP(MAX_BYTES / MAX(file->ns * bytes, 1), 1, take);
    gboolean floats = file->format == LITHO_FORMAT_IBM || file->format == LITHO_FORMAT_IEEE;
    gboolean words =
        floats || file->format == LITHO_FORMAT_INT16 || file->format == LITHO_FORMAT_INT32;
    g_autoptr(GByteArray) kept = g_byte_array_new();
    g_autofree guint8 *trace = g_try_malloc(MAX(file->ns * bytes, 1));
    if (!trace) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, _("no memory for one trace of %s"),
                    file->path);
        return FALSE;
    }
    gint64 zero = 0, run = MAX(take / CLUSTERS, 1);
    for (gint64 k = 0; k < take; k++) {
        // All of a small file; of a large one, runs of neighbours at evenly spaced places.
        gint64 t =
            take == file->traces
                ? k
                : MIN((k / run) * (file->traces / MAX(take / run, 1)) + k % run, file->traces - 1);
        gint64 ns = litho_file_trace_samples(file, t);
        if (!litho_file_read_all(file, trace, ns * bytes,
                                 litho_file_trace_at(file, t) + file->header_bytes, error))
            return FALSE;
        zero += litho_file_all_zero(file, trace, ns);
        if (words && kept->len < 4 * MAX_WORDS)
            g_byte_array_append(kept, trace,
                                MIN(ns * bytes, 4 * MAX_WORDS / MAX(take / 2, 1)) & ~3);
    }
    survey->looked_at += take;
    survey->looked_zero += zero;
    if (!words)
        return TRUE;
    return floats ? judge_floats(survey, file, kept->data, kept->len / 4, options, error)
                  : judge_integers(survey, file, kept->data, kept->len / bytes, options, error);
}
