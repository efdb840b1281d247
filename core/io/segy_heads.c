// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "core/error.h"
#include "core/io/segy_geometry.h"

gint64 litho_file_trace_at(const LithoTraceFile *file, gint64 t)
{
    return file->offsets ? file->offsets[t] : file->first + t * file->stride;
}

gint64 litho_file_trace_samples(const LithoTraceFile *file, gint64 t)
{
    if (!file->offsets)
        return file->ns;
    return (file->offsets[t + 1] - file->offsets[t] - file->header_bytes) /
           litho_format_bytes(file->format);
}

gboolean litho_segy_auxiliary(const LithoTraceFile *file, const guint8 header[240])
{
    const int id = litho_get_i16(header + 28, file->order);
    const gboolean is_later = id == 9 || id == 10 || (id >= 18 && id <= 22);
    return (id >= 4 && id <= 8) || (is_later && file->revision >= 0x0100);
}

gint32 litho_head_i32(const LithoHeads *heads, guint k, int byte)
{
    return litho_get_i32(heads->bytes + (gsize)k * LITHO_HEADER_BYTES + byte - 1,
                         (LithoOrder)heads->order[k]);
}

gint16 litho_head_i16(const LithoHeads *heads, guint k, int byte)
{
    return litho_get_i16(heads->bytes + (gsize)k * LITHO_HEADER_BYTES + byte - 1,
                         (LithoOrder)heads->order[k]);
}

int litho_head_scalar(const LithoHeads *heads, guint k)
{
    return heads->scalar ? heads->scalar : litho_head_i16(heads, k, 71);
}

gboolean litho_head_empty(const LithoHeads *heads, guint k)
{
    if ((heads->judged && heads->foreign[k]) || (heads->apart && heads->auxiliary[k]))
        return TRUE;
    if (heads->bare)
        return FALSE;
    const guint8 *p = heads->bytes + (gsize)k * LITHO_HEADER_BYTES;
    return p[0] == 0 && memcmp(p, p + 1, LITHO_HEADER_BYTES - 1) == 0;
}

guint litho_heads_lead(const LithoHeads *heads)
{
    guint lead = 0;
    while (lead < heads->n && (heads->foreign[lead] || litho_head_empty(heads, lead)))
        lead++;
    return lead;
}

gboolean litho_heads_vary(const LithoHeads *heads, int byte, gboolean wide)
{
    gint32 first = 0;
    gboolean have = FALSE;
    for (guint k = 0; k < heads->n; k++) {
        gint32 v = wide ? litho_head_i32(heads, k, byte) : litho_head_i16(heads, k, byte);
        if (v == G_MININT32 || litho_head_empty(heads, k)) // the first is what NaN becomes
            continue;
        if (have && v != first)
            return TRUE;
        first = v;
        have = TRUE;
    }
    return FALSE;
}

// --- floats in integer words --------------------------------------------------------------------

static const guint8 line_bytes[] = {5,   9,   13,  17,  21,  25,  189, 193,
                                    197, 201, 213, 217, 221, 225, 233, 237};
static const guint8 xy_bytes[] = {73, 77, 81, 85, 181, 185};

// A float of 1 to 1e8 read as an integer is a number of a billion and more, which is no line and no
// coordinate; so hardly a word of another kind passes.
static gboolean holds_floats(const LithoHeads *heads, int byte)
{
    guint n = 0, good = 0;
    for (guint k = 0; k < heads->n; k++) {
        gint32 word = litho_head_i32(heads, k, byte);
        if (word == 0 || litho_head_empty(heads, k))
            continue;
        float v;
        memcpy(&v, &word, sizeof v);
        n++;
        good += fabsf(v) >= 1 && fabsf(v) <= 1e8f;
    }
    return n >= 4 && (gint64)good * 100 >= (gint64)n * 99;
}

static void make_integers(LithoHeads *heads, int byte, gboolean coordinates)
{
    for (guint k = 0; k < heads->n; k++) {
        gint32 word = litho_head_i32(heads, k, byte);
        float v;
        memcpy(&v, &word, sizeof v);
        double whole = coordinates ? 100 * litho_scaled(v, litho_head_scalar(heads, k)) : v;
        word = fabs(whole) < G_MAXINT32 ? (gint32)rint(whole) : 0;
        litho_put_32(heads->bytes + (gsize)k * LITHO_HEADER_BYTES + byte - 1,
                     (LithoOrder)heads->order[k], (guint32)word);
    }
}

// Seismic Unix keeps floats where SEG-Y has coordinates and line numbers: 181 d1, 185 f1, 189 d2,
// 193 f2. Whole numbers there come from a SEG-Y file and stay; as floats they are next to nothing.
static void take_su_words(LithoHeads *heads, LithoSurvey *survey, const LithoOpenOptions *options)
{
    for (guint w = 0; w < G_N_ELEMENTS(heads->su); w++) {
        const int byte = 181 + 4 * (int)w;
        gboolean su = byte != options->inline_byte && byte != options->xline_byte &&
                      byte != options->x_byte && byte != options->y_byte;
        heads->su[w] = 0;
        for (guint k = 0; k < heads->n && su; k++) {
            const gint32 word = litho_head_empty(heads, k) ? 0 : litho_head_i32(heads, k, byte);
            float v;
            memcpy(&v, &word, sizeof v);
            su = v == 0 ? word == 0 : fabsf(v) >= 1e-6f && fabsf(v) <= 1e8f;
            if (su && heads->su[w] == 0)
                heads->su[w] = v;
        }
        if (!su)
            heads->su[w] = 0;
        survey->float_word[byte] = heads->su[w] != 0 ? LITHO_FLOAT_OF_SU : 0;
        for (guint k = 0; k < heads->n && survey->float_word[byte]; k++)
            litho_put_32(heads->bytes + (gsize)k * LITHO_HEADER_BYTES + byte - 1,
                         (LithoOrder)heads->order[k], 0);
    }
}

void litho_heads_take_floats(LithoHeads *heads, LithoSurvey *survey,
                             const LithoOpenOptions *options)
{
    const int given[] = {options->inline_byte, options->xline_byte};
    gboolean scaled = FALSE;
    if (survey->kind == LITHO_FILE_SU)
        take_su_words(heads, survey, options);
    for (guint k = 0; k < G_N_ELEMENTS(line_bytes) + G_N_ELEMENTS(given); k++) {
        int byte =
            k < G_N_ELEMENTS(line_bytes) ? line_bytes[k] : given[k - G_N_ELEMENTS(line_bytes)];
        if (!byte || survey->float_word[byte] || !holds_floats(heads, byte))
            continue;
        survey->float_word[byte] = 1;
        make_integers(heads, byte, FALSE);
        litho_survey_note(survey, "line numbers at byte %d are stored as floats; read as such",
                          byte);
    }
    for (guint k = 0; k < G_N_ELEMENTS(xy_bytes); k++) {
        int byte = xy_bytes[k];
        if (survey->float_word[byte] || !holds_floats(heads, byte))
            continue;
        survey->float_word[byte] = 1;
        make_integers(heads, byte, TRUE);
        scaled = TRUE;
        litho_survey_note(survey, "coordinates at byte %d are stored as floats; read as such",
                          byte);
    }
    for (guint k = 0; scaled && k < heads->n; k++)
        litho_put_16(heads->bytes + (gsize)k * LITHO_HEADER_BYTES + 70, (LithoOrder)heads->order[k],
                     (guint16)-100);
    if (scaled && heads->scalar)
        heads->scalar = -100;
}

// --- scalars ------------------------------------------------------------------------------------

gboolean litho_heads_scalar_is_none(const LithoHeads *heads)
{
    enum { FEWEST = 4, SHORTEST = 20 }; // of shorter offsets rounding is too large a part
    const double slack = 0.02;
    guint n = 0, agree = 0;
    for (guint k = 0; k < heads->n; k++) {
        const double offset = fabs((double)litho_head_i32(heads, k, 37));
        if (litho_head_empty(heads, k) || offset < SHORTEST)
            continue;
        if (litho_scalar_standard(litho_head_scalar(heads, k)))
            return FALSE;
        const double x = (double)litho_head_i32(heads, k, 73) - litho_head_i32(heads, k, 81);
        const double y = (double)litho_head_i32(heads, k, 77) - litho_head_i32(heads, k, 85);
        n++;
        agree += fabs(hypot(x, y) - offset) <= slack * offset + 1;
    }
    return n >= FEWEST && agree >= n - n / 10;
}

// --- reading ------------------------------------------------------------------------------------

// Number of the k-th trace to look at: everything, or LITHO_HEAD_RUNS runs of neighbours from the
// first to the last trace.
static gint64 pick(gint64 traces, gint64 n, gint64 k)
{
    if (n == traces)
        return k;
    gint64 run = n / LITHO_HEAD_RUNS, r = k / run;
    gint64 start = (gint64)((double)(traces - run) * r / (LITHO_HEAD_RUNS - 1));
    return start + k % run;
}

gboolean litho_heads_read(LithoHeads *heads, LithoSurvey *survey, GError **error)
{
    const guint most = heads->most ? heads->most : LITHO_HEADS;
    gint64 n = MIN(survey->traces, most), foreign = 0, odd = 0;
    *heads = (LithoHeads){
        .scalar = heads->scalar,
        .most = most,
        .n = (guint)n,
        .bytes = g_try_malloc(n * LITHO_HEADER_BYTES),
        .order = g_malloc(n),
        .follows = g_malloc0(n),
        .trace = g_new(gint64, n),
        .foreign = g_malloc0(n),
        .auxiliary = g_malloc0(n),
        .complete = n == survey->traces,
    };
    if (!heads->bytes)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %" PRId64 " headers", n);
    for (gint64 k = 0; k < n; k++) {
        gint64 t = pick(survey->traces, n, k);
        const LithoTraceFile *file = litho_survey_file_of(survey, t);
        if (!litho_file_read_all(file, heads->bytes + k * LITHO_HEADER_BYTES, LITHO_HEADER_BYTES,
                                 litho_file_trace_at(file, t - file->base), error))
            return FALSE;
        heads->order[k] = file->order;
        heads->trace[k] = t;
        heads->follows[k] = k > 0 && t == heads->trace[k - 1] + 1;
        heads->foreign[k] = litho_segy_header_foreign(
            heads->bytes + k * LITHO_HEADER_BYTES, file->order,
            litho_file_trace_samples(file, t - file->base), file->dt_binary);
        foreign += heads->foreign[k];
        const guint8 *header = heads->bytes + k * LITHO_HEADER_BYTES;
        heads->auxiliary[k] = !heads->foreign[k] && litho_segy_auxiliary(file, header);
        odd += heads->auxiliary[k] || litho_get_i16(header + 28, file->order) == LITHO_DUMMY;
    }
    heads->judged = 4 * foreign <= n;
    heads->apart = 2 * odd < n - foreign; // else this word is a habit of the file
    heads->bare = TRUE;
    for (guint k = 0; k < heads->n && heads->bare; k++)
        heads->bare = (heads->judged && heads->foreign[k]) ||
                      (!litho_head_i16(heads, k, 115) && !litho_head_i16(heads, k, 117) &&
                       !litho_head_i16(heads, k, 29));
    return TRUE;
}

void litho_heads_clear(LithoHeads *heads)
{
    g_free(heads->bytes);
    g_free(heads->order);
    g_free(heads->follows);
    g_free(heads->trace);
    g_free(heads->foreign);
    g_free(heads->auxiliary);
    *heads = (LithoHeads){0};
}
