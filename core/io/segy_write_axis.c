// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "core/io/segy_fields.h"
#include "core/io/writer_private.h"

// Words of the sample axis in the trace headers of SEG-Y and SU output.

// Metres of the unit of length that the output's sample axis is in: the source's binary header is
// copied with its unit. SU names none and is read in metres.
static double depth_unit(const LithoWriter *w)
{
    const gboolean copied =
        w->kind == LITHO_FILE_SEGY && litho_segy_has_source(w) && w->like->kind == LITHO_FILE_SEGY;
    return copied && litho_segy_source(w)->measurement == 2 ? LITHO_FOOT : 1;
}

// The sample interval in microseconds, that of depths in thousandths of the unit of length.
static double fine_interval(const LithoWriter *w)
{
    const double step = w->grid.axis[2].step;
    return w->grid.is_depth ? step / depth_unit(w) * 1e3 : step * 1e6;
}

double litho_segy_interval_field(const LithoWriter *w)
{
    const double fine = fine_interval(w);
    return w->grid.is_depth && fine < LITHO_LEAST_THOUSANDTHS ? fine / 1e3 : fine;
}

// Programs read the word of a depth as a number with a sign, so that beyond 32767 thousandths it
// counts whole units of length. SU's has none.
guint16 litho_segy_interval_word(const LithoWriter *w)
{
    const double fine = fine_interval(w), least = w->grid.is_depth ? LITHO_LEAST_THOUSANDTHS : 0.5;
    const gboolean is_signed = w->grid.is_depth && w->kind == LITHO_FILE_SEGY;
    if (fine >= least && fine < (is_signed ? 32767.5 : 65535.5))
        return (guint16)rint(fine);
    const double units = w->grid.is_depth && fine > least ? rint(fine / 1e3) : 0;
    return units < LITHO_LEAST_THOUSANDTHS ? (guint16)units : 0;
}

gboolean litho_segy_word_suffices(const LithoWriter *w)
{
    const LithoAxis *axis = &w->grid.axis[2];
    const guint16 word = litho_segy_interval_word(w);
    if (word == 0 || (!w->grid.is_depth && litho_interval_negated(word)))
        return FALSE;
    if (w->grid.is_depth && word < LITHO_LEAST_THOUSANDTHS) // rounding to units shows at once
        return fabs(word * depth_unit(w) - axis->step) <= 1e-6 * axis->step;
    const double unit = w->grid.is_depth ? 1e-3 * depth_unit(w) : 1e-6;
    return fabs(word * unit - axis->step) * (double)axis->n <= 0.5 * axis->step;
}

// Are the two bytes from `byte` on part of a line number or a coordinate of the source's headers?
static gboolean is_taken(const LithoWriter *w, int byte)
{
    const LithoSurvey *s = w->like;
    gboolean taken = FALSE;
    for (int c = 0; c < 2 && litho_segy_has_source_traces(w); c++) {
        const int words[] = {s->key_byte[c], s->xy_byte[c]};
        for (guint k = 0; k < G_N_ELEMENTS(words); k++)
            taken |= words[k] && words[k] < byte + 2 && byte < words[k] + 4;
    }
    return taken;
}

// Delay in milliseconds or units of length with the scalar of byte 215: the coarsest scalar that is
// exact to a thousandth of a sample, else the one that comes nearest.
static void delay_words(const LithoWriter *w, gint16 *delay, gint16 *scalar)
{
    static const gint16 scalars[] = {1, -10, -100, -1000, 10, 100};
    const LithoGrid *g = &w->grid;
    const double scale = g->is_depth ? 1 / depth_unit(w) : 1e3;
    const double value = g->axis[2].first * scale;
    const guint n = is_taken(w, 215) ? 1 : G_N_ELEMENTS(scalars); // inlines stand at 213, too
    double least = INFINITY, tolerance = 1e-3 * fabs(g->axis[2].step) * scale;
    *delay = *scalar = 0;
    for (guint k = 0; k < n && least > tolerance; k++) {
        const double unit = scalars[k] > 0 ? scalars[k] : -1.0 / scalars[k];
        const double v = CLAMP(rint(value / unit), G_MININT16, G_MAXINT16);
        if (fabs(v * unit - value) >= least)
            continue;
        least = fabs(v * unit - value);
        *delay = (gint16)v;
        *scalar = scalars[k];
    }
}

static void put_word(const LithoWriter *w, guint8 *header, int byte, guint16 value)
{
    if (!is_taken(w, byte))
        litho_put_16(header + byte - 1, w->order, value);
}

// Uphole times, statics, lags, the start and mutes: words of milliseconds, which mean nothing, or a
// depth, where the sample axis is another one.
static void clear_times(const LithoWriter *w, guint8 *header)
{
    enum { UPHOLE = 95, MUTE_END = 113 };
    for (int byte = UPHOLE; byte <= MUTE_END; byte += 2)
        put_word(w, header, byte, 0);
}

void litho_segy_put_axis(const LithoWriter *w, guint8 *header)
{
    const gint64 ns = w->grid.axis[2].n;
    if (w->set_ns)
        put_word(w, header, 115, ns <= 65535 ? (guint16)ns : 0);
    if (w->new_domain)
        clear_times(w, header);
    if (w->set_dt)
        put_word(w, header, 117, litho_segy_interval_word(w));
    if (w->set_delay) {
        gint16 delay, scalar;
        delay_words(w, &delay, &scalar);
        put_word(w, header, 109, (guint16)delay);
        put_word(w, header, 215, scalar == 1 ? 0 : (guint16)scalar);
    }
}
