// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sample_codec.h"

#include <math.h>
#include <string.h>

int litho_format_bytes(int format)
{
    static const guint8 bytes[17] = {0, 4, 4, 2, 4, 4, 8, 3, 1, 8, 4, 2, 8, 0, 0, 3, 1};
    return format >= 0 && format <= 16 ? bytes[format] : 0;
}

const char *litho_format_name(int format)
{
    static const char *const names[17] = {
        NULL,
        "IBM float",
        "32-bit integer",
        "16-bit integer",
        "fixed point with gain",
        "IEEE float",
        "IEEE double",
        "24-bit integer",
        "8-bit integer",
        "64-bit integer",
        "unsigned 32-bit integer",
        "unsigned 16-bit integer",
        "unsigned 64-bit integer",
        NULL,
        NULL,
        "unsigned 24-bit integer",
        "unsigned 8-bit integer",
    };
    const char *name = format >= 0 && format <= 16 ? names[format] : NULL;
    return name ? name : "unknown format";
}

gboolean litho_format_supported(int format)
{
    return litho_format_bytes(format) > 0 && format != LITHO_FORMAT_GAIN &&
           format != LITHO_FORMAT_INT64 && format != LITHO_FORMAT_UINT64;
}

const char *litho_order_name(LithoOrder order)
{
    static const char *const names[] = {"big endian", "little endian", "pairwise swapped"};
    return names[order];
}

LithoOrder litho_order_native(void)
{
    return G_BYTE_ORDER == G_LITTLE_ENDIAN ? LITHO_ORDER_LITTLE : LITHO_ORDER_BIG;
}

// --- words ------------------------------------------------------------------------------------

// One load and at most one swap each; written so that loops over them vectorise.
static inline guint16 load16(const guint8 *p, LithoOrder order)
{
    guint16 v;
    memcpy(&v, p, 2);
    return order == LITHO_ORDER_BIG ? GUINT16_FROM_BE(v) : GUINT16_FROM_LE(v);
}

static inline guint32 load32(const guint8 *p, LithoOrder order)
{
    guint32 v;
    memcpy(&v, p, 4);
    if (order == LITHO_ORDER_LITTLE)
        return GUINT32_FROM_LE(v);
    v = GUINT32_FROM_BE(v);
    if (order == LITHO_ORDER_PAIRS)
        v = (v & 0xff00ff00u) >> 8 | (v & 0x00ff00ffu) << 8;
    return v;
}

static inline guint64 load64(const guint8 *p, LithoOrder order)
{
    if (order == LITHO_ORDER_LITTLE)
        return (guint64)load32(p + 4, order) << 32 | load32(p, order);
    return (guint64)load32(p, order) << 32 | load32(p + 4, order);
}

static inline guint32 load24(const guint8 *p, LithoOrder order)
{
    return order == LITHO_ORDER_LITTLE ? p[0] | p[1] << 8 | (guint32)p[2] << 16
                                       : p[2] | p[1] << 8 | (guint32)p[0] << 16;
}

static inline void store16(guint8 *p, LithoOrder order, guint16 v)
{
    v = order == LITHO_ORDER_BIG ? GUINT16_TO_BE(v) : GUINT16_TO_LE(v);
    memcpy(p, &v, 2);
}

static inline void store32(guint8 *p, LithoOrder order, guint32 v)
{
    if (order == LITHO_ORDER_PAIRS)
        v = (v & 0xff00ff00u) >> 8 | (v & 0x00ff00ffu) << 8;
    v = order == LITHO_ORDER_LITTLE ? GUINT32_TO_LE(v) : GUINT32_TO_BE(v);
    memcpy(p, &v, 4);
}

static inline void store24(guint8 *p, LithoOrder order, guint32 v)
{
    gboolean little = order == LITHO_ORDER_LITTLE;
    p[little ? 0 : 2] = v;
    p[1] = v >> 8;
    p[little ? 2 : 0] = v >> 16;
}

gint16 litho_get_i16(const guint8 *p, LithoOrder order)
{
    return (gint16)load16(p, order);
}

guint16 litho_get_u16(const guint8 *p, LithoOrder order)
{
    return load16(p, order);
}

gint32 litho_get_i32(const guint8 *p, LithoOrder order)
{
    return (gint32)load32(p, order);
}

guint64 litho_get_u64(const guint8 *p, LithoOrder order)
{
    return load64(p, order);
}

double litho_get_f64(const guint8 *p, LithoOrder order)
{
    guint64 bits = load64(p, order);
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

void litho_put_16(guint8 *p, LithoOrder order, guint16 value)
{
    store16(p, order, value);
}

void litho_put_32(guint8 *p, LithoOrder order, guint32 value)
{
    store32(p, order, value);
}

void litho_put_64(guint8 *p, LithoOrder order, guint64 value)
{
    gboolean little = order == LITHO_ORDER_LITTLE;
    store32(p, order, little ? value : value >> 32);
    store32(p + 4, order, little ? value >> 32 : value);
}

void litho_put_f64(guint8 *p, LithoOrder order, double value)
{
    guint64 bits;
    memcpy(&bits, &value, 8);
    litho_put_64(p, order, bits);
}

// --- IBM hexadecimal floats -------------------------------------------------------------------

// (-1)^s * f / 2^24 * 16^(e - 64). The fraction is exact in a double and so is the power of two,
// hence one rounding (to float) in all: unnormalised fractions, -0, results that are denormal or
// beyond float32 come out right without a branch.
static inline float from_ibm(guint32 w)
{
    guint64 scale_bits = (guint64)(4 * (int)(w >> 24 & 0x7f) - 280 + 1023) << 52;
    double scale;
    memcpy(&scale, &scale_bits, 8);
    float f = (float)((double)(gint32)(w & 0xffffff) * scale);
    return w >> 31 ? -f : f;
}

// x = m * 2^(e - 23), m of 24 bits. 16^k just above |x| wants m shifted right by 0..3, rounded to
// even; a carry out of 24 bits moves one hex digit up. Every finite float has an IBM neighbour.
static inline guint32 to_ibm(float x)
{
    guint32 w;
    memcpy(&w, &x, 4);
    guint32 sign = w & 0x80000000u;
    w &= 0x7fffffffu;
    if (w == 0)
        return sign;
    int denormal = 0;
    if (w < 0x00800000u) { // scaled by 2^24 into the normal range, taken back from the exponent
        float up = fabsf(x) * 16777216.0f;
        memcpy(&w, &up, 4);
        denormal = 24;
    }
    int e = (int)(w >> 23) - 126 - denormal; // |x| = 0.1mmm (binary) * 2^e
    guint32 m = (w & 0x7fffffu) | 0x800000u;
    int k = (e + 3 + 256) / 4 - 64;          // ceil(e / 4)
    int shift = 4 * k - e;
    guint32 half = (1u << shift) >> 1;
    m = shift ? (m + half - 1 + (m >> shift & 1)) >> shift : m;
    if (m >> 24) {
        m >>= 4;
        k++;
    }
    return sign | (guint32)(k + 64) << 24 | m;
}

// --- arrays -----------------------------------------------------------------------------------

// One loop per byte order, so that the order is a constant inside it and the loop vectorises.
#define DECODE(step, expression)                                                                   \
    do {                                                                                           \
        if (order == LITHO_ORDER_BIG)                                                              \
            for (gint64 k = 0; k < n; k++) {                                                       \
                const guint8 *p = raw + k * (step);                                                \
                const LithoOrder o = LITHO_ORDER_BIG;                                              \
                out[k] = (expression);                                                             \
            }                                                                                      \
        else if (order == LITHO_ORDER_LITTLE)                                                      \
            for (gint64 k = 0; k < n; k++) {                                                       \
                const guint8 *p = raw + k * (step);                                                \
                const LithoOrder o = LITHO_ORDER_LITTLE;                                           \
                out[k] = (expression);                                                             \
            }                                                                                      \
        else                                                                                       \
            for (gint64 k = 0; k < n; k++) {                                                       \
                const guint8 *p = raw + k * (step);                                                \
                const LithoOrder o = LITHO_ORDER_PAIRS;                                            \
                out[k] = (expression);                                                             \
            }                                                                                      \
    } while (0)

static inline float as_float(guint32 bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline float as_double(guint64 bits)
{
    double d;
    memcpy(&d, &bits, 8);
    // A plain conversion beyond float32's range would be undefined.
    return fabs(d) <= (double)G_MAXFLOAT ? (float)d : d > 0 ? INFINITY : d < 0 ? -INFINITY : NAN;
}

void litho_decode(const guint8 *raw, int format, LithoOrder order, float *out, gint64 n)
{
    switch (format) {
    case LITHO_FORMAT_IBM:
        DECODE(4, from_ibm(load32(p, o)));
        break;
    case LITHO_FORMAT_INT32:
        DECODE(4, (float)(gint32)load32(p, o));
        break;
    case LITHO_FORMAT_INT16:
        DECODE(2, (float)(gint16)load16(p, o));
        break;
    case LITHO_FORMAT_IEEE:
        DECODE(4, as_float(load32(p, o)));
        break;
    case LITHO_FORMAT_DOUBLE:
        DECODE(8, as_double(load64(p, o)));
        break;
    case LITHO_FORMAT_INT24:
        DECODE(3, (float)((gint32)(load24(p, o) << 8) >> 8));
        break;
    case LITHO_FORMAT_INT8:
        DECODE(1, ((void)o, (float)(gint8)*p));
        break;
    case LITHO_FORMAT_UINT32:
        DECODE(4, (float)load32(p, o));
        break;
    case LITHO_FORMAT_UINT16:
        DECODE(2, (float)load16(p, o));
        break;
    case LITHO_FORMAT_UINT24:
        DECODE(3, (float)load24(p, o));
        break;
    case LITHO_FORMAT_UINT8:
        DECODE(1, ((void)o, (float)*p));
        break;
    default:
        memset(out, 0, n * sizeof *out);
    }
}

// Rounds and saturates; the count of saturated samples is what the writer reports.
static inline gint64 to_integer(float x, double lowest, double highest, gint64 *clipped)
{
    double r = rint((double)x);
    if (r < lowest || r > highest) {
        (*clipped)++;
        r = CLAMP(r, lowest, highest);
    }
    return (gint64)r;
}

static guint32 float_bits(float x)
{
    guint32 w;
    memcpy(&w, &x, 4);
    return w;
}

gint64 litho_encode(const float *in, int format, LithoOrder order, guint8 *raw, gint64 n)
{
    gint64 clipped = 0;
    switch (format) {
    case LITHO_FORMAT_IBM:
        for (gint64 k = 0; k < n; k++)
            store32(raw + 4 * k, order, to_ibm(in[k]));
        break;
    case LITHO_FORMAT_IEEE:
        for (gint64 k = 0; k < n; k++)
            store32(raw + 4 * k, order, float_bits(in[k]));
        break;
    case LITHO_FORMAT_DOUBLE:
        for (gint64 k = 0; k < n; k++)
            litho_put_f64(raw + 8 * k, order, in[k]);
        break;
    case LITHO_FORMAT_INT32:
        for (gint64 k = 0; k < n; k++)
            store32(raw + 4 * k, order, (guint32)to_integer(in[k], G_MININT32, G_MAXINT32, &clipped));
        break;
    case LITHO_FORMAT_UINT32:
        for (gint64 k = 0; k < n; k++)
            store32(raw + 4 * k, order, (guint32)to_integer(in[k], 0, G_MAXUINT32, &clipped));
        break;
    case LITHO_FORMAT_INT16:
        for (gint64 k = 0; k < n; k++)
            store16(raw + 2 * k, order, (guint16)to_integer(in[k], G_MININT16, G_MAXINT16, &clipped));
        break;
    case LITHO_FORMAT_UINT16:
        for (gint64 k = 0; k < n; k++)
            store16(raw + 2 * k, order, (guint16)to_integer(in[k], 0, G_MAXUINT16, &clipped));
        break;
    case LITHO_FORMAT_INT24:
        for (gint64 k = 0; k < n; k++)
            store24(raw + 3 * k, order, (guint32)to_integer(in[k], -8388608, 8388607, &clipped));
        break;
    case LITHO_FORMAT_UINT24:
        for (gint64 k = 0; k < n; k++)
            store24(raw + 3 * k, order, (guint32)to_integer(in[k], 0, 16777215, &clipped));
        break;
    case LITHO_FORMAT_INT8:
        for (gint64 k = 0; k < n; k++)
            raw[k] = (guint8)to_integer(in[k], -128, 127, &clipped);
        break;
    case LITHO_FORMAT_UINT8:
        for (gint64 k = 0; k < n; k++)
            raw[k] = (guint8)to_integer(in[k], 0, 255, &clipped);
        break;
    }
    return clipped;
}
