// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/sample_codec.h"
#include "core/text.h"

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
        N_("IBM float"),
        N_("32-bit integer"),
        N_("16-bit integer"),
        N_("fixed point with gain"),
        N_("IEEE float"),
        N_("IEEE double"),
        N_("24-bit integer"),
        N_("8-bit integer"),
        N_("64-bit integer"),
        N_("unsigned 32-bit integer"),
        N_("unsigned 16-bit integer"),
        N_("unsigned 64-bit integer"),
        NULL,
        NULL,
        N_("unsigned 24-bit integer"),
        N_("unsigned 8-bit integer"),
    };
    const char *name = format >= 0 && format <= 16 ? names[format] : NULL;
    return name ? name : _("unknown format");
}

gboolean litho_format_supported(int format)
{
    return litho_format_bytes(format) > 0 && format != LITHO_FORMAT_GAIN &&
           format != LITHO_FORMAT_INT64 && format != LITHO_FORMAT_UINT64;
}

gboolean litho_format_is_integer(int format)
{
    return litho_format_supported(format) && format != LITHO_FORMAT_IBM &&
           format != LITHO_FORMAT_IEEE && format != LITHO_FORMAT_DOUBLE;
}

const char *litho_order_name(LithoOrder order)
{
    static const char *const names[] = {N_("big endian"), N_("little endian"),
                                        N_("pairwise swapped")};
    return names[order];
}

LithoOrder litho_order_native(void)
{
    return G_BYTE_ORDER == G_LITTLE_ENDIAN ? LITHO_ORDER_LITTLE : LITHO_ORDER_BIG;
}

// --- words ------------------------------------------------------------------------------------

// One load and at most one swap each, with builtins that loops over them can turn into vectors
// (GLib's macros keep gcc from it).
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define BIG16(v) __builtin_bswap16(v)
#define BIG32(v) __builtin_bswap32(v)
#define LITTLE16(v) (v)
#define LITTLE32(v) (v)
#else
#define BIG16(v) (v)
#define BIG32(v) (v)
#define LITTLE16(v) __builtin_bswap16(v)
#define LITTLE32(v) __builtin_bswap32(v)
#endif

static inline guint16 load16(const guint8 *p, LithoOrder order)
{
    guint16 v;
    memcpy(&v, p, 2);
    return order == LITHO_ORDER_BIG ? BIG16(v) : LITTLE16(v);
}

static inline guint32 swap_pairs(guint32 v)
{
    return (v & 0xff00ff00u) >> 8 | (v & 0x00ff00ffu) << 8;
}

static inline guint32 load32(const guint8 *p, LithoOrder order)
{
    guint32 v;
    memcpy(&v, p, 4);
    if (order == LITHO_ORDER_LITTLE)
        return LITTLE32(v);
    return order == LITHO_ORDER_PAIRS ? swap_pairs(BIG32(v)) : BIG32(v);
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

static inline void store8(guint8 *p, LithoOrder order, guint8 v)
{
    (void)order;
    *p = v;
}

static inline void store16(guint8 *p, LithoOrder order, guint16 v)
{
    v = order == LITHO_ORDER_BIG ? BIG16(v) : LITTLE16(v);
    memcpy(p, &v, 2);
}

static inline void store32(guint8 *p, LithoOrder order, guint32 v)
{
    if (order == LITHO_ORDER_LITTLE)
        v = LITTLE32(v);
    else
        v = order == LITHO_ORDER_PAIRS ? BIG32(swap_pairs(v)) : BIG32(v);
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
    guint32 bits;
    memcpy(&bits, &f, 4);
    bits |= w & 0x80000000u;
    memcpy(&f, &bits, 4);
    return f;
}

// x = m * 2^(e - 23), m of 24 bits. 16^k just above |x| wants m shifted right by 0..3, rounded to
// even; a carry out of 24 bits moves one hex digit up. Every finite float has an IBM neighbour.
static inline guint32 to_ibm(float x)
{
    guint32 w, up;
    memcpy(&w, &x, 4);
    guint32 sign = w & 0x80000000u;
    float scaled =
        x * 16777216.0f; // brings denormals into the normal range; 24 is taken back below
    memcpy(&up, &scaled, 4);
    w &= 0x7fffffffu;
    gboolean denormal = w < 0x00800000u, zero = w == 0;
    w = denormal ? up & 0x7fffffffu : w;
    int e = (int)(w >> 23) - (denormal ? 150 : 126); // |x| = 0.1mmm (binary) * 2^e
    guint32 m = (w & 0x7fffffu) | 0x800000u;
    int k = ((e + 3 + 256) >> 2) - 64; // ceil(e / 4)
    int shift = 4 * k - e;
    // Half a unit less one when even: a tie goes to the even neighbour. Nothing without a shift.
    guint32 half = (1u << shift) >> 1;
    m = (m + half - (half != 0) + (m >> shift & (half != 0))) >> shift;
    guint32 carry = m >> 24; // at most 1, and then the fraction is 1.0
    m = carry ? 0x100000u : m;
    return sign | (zero ? 0 : (guint32)(k + 64 + (int)carry) << 24 | m);
}

// --- arrays -----------------------------------------------------------------------------------

// The order is a constant inside each of the three loops and "omp simd" asks for vectors whatever
// the compiler's own cost model says.
#define LOOP(o, body)                                                                              \
    do {                                                                                           \
        _Pragma("omp simd") for (gint64 k = 0; k < n; k++)                                         \
        {                                                                                          \
            body(o);                                                                               \
        }                                                                                          \
    } while (0)
#define FOR_EACH_ORDER(body)                                                                       \
    do {                                                                                           \
        if (order == LITHO_ORDER_BIG)                                                              \
            LOOP(LITHO_ORDER_BIG, body);                                                           \
        else if (order == LITHO_ORDER_LITTLE)                                                      \
            LOOP(LITHO_ORDER_LITTLE, body);                                                        \
        else                                                                                       \
            LOOP(LITHO_ORDER_PAIRS, body);                                                         \
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
#define IBM(o) out[k] = from_ibm(load32(raw + 4 * k, o))
#define IEEE(o) out[k] = as_float(load32(raw + 4 * k, o))
#define DOUBLE(o) out[k] = as_double(load64(raw + 8 * k, o))
#define INT32(o) out[k] = (float)(gint32)load32(raw + 4 * k, o)
#define UINT32(o) out[k] = (float)load32(raw + 4 * k, o)
#define INT24(o) out[k] = (float)((gint32)(load24(raw + 3 * k, o) << 8) >> 8)
#define UINT24(o) out[k] = (float)load24(raw + 3 * k, o)
#define INT16(o) out[k] = (float)(gint16)load16(raw + 2 * k, o)
#define UINT16(o) out[k] = (float)load16(raw + 2 * k, o)
    switch (format) {
    case LITHO_FORMAT_IBM:
        FOR_EACH_ORDER(IBM);
        break;
    case LITHO_FORMAT_IEEE:
        FOR_EACH_ORDER(IEEE);
        break;
    case LITHO_FORMAT_DOUBLE:
        FOR_EACH_ORDER(DOUBLE);
        break;
    case LITHO_FORMAT_INT32:
        FOR_EACH_ORDER(INT32);
        break;
    case LITHO_FORMAT_UINT32:
        FOR_EACH_ORDER(UINT32);
        break;
    case LITHO_FORMAT_INT24:
        FOR_EACH_ORDER(INT24);
        break;
    case LITHO_FORMAT_UINT24:
        FOR_EACH_ORDER(UINT24);
        break;
    case LITHO_FORMAT_INT16:
        FOR_EACH_ORDER(INT16);
        break;
    case LITHO_FORMAT_UINT16:
        FOR_EACH_ORDER(UINT16);
        break;
    case LITHO_FORMAT_INT8:
        for (gint64 k = 0; k < n; k++)
            out[k] = (float)(gint8)raw[k];
        break;
    case LITHO_FORMAT_UINT8:
        for (gint64 k = 0; k < n; k++)
            out[k] = (float)raw[k];
        break;
    default:
        memset(out, 0, n * sizeof *out);
    }
#undef IBM
#undef IEEE
#undef DOUBLE
#undef INT32
#undef UINT32
#undef INT24
#undef UINT24
#undef INT16
#undef UINT16
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
#define IBM(o) store32(raw + 4 * k, o, to_ibm(in[k]))
#define IEEE(o) store32(raw + 4 * k, o, float_bits(in[k]))
#define INTEGERS(bits, lowest, highest)                                                            \
    for (gint64 k = 0; k < n; k++)                                                                 \
        store##bits(raw + bits / 8 * k, order,                                                     \
                    (guint32)to_integer(in[k], lowest, highest, &clipped));                        \
    break
    switch (format) {
    case LITHO_FORMAT_IBM:
        FOR_EACH_ORDER(IBM);
        break;
    case LITHO_FORMAT_IEEE:
        FOR_EACH_ORDER(IEEE);
        break;
    case LITHO_FORMAT_DOUBLE:
        for (gint64 k = 0; k < n; k++)
            litho_put_f64(raw + 8 * k, order, in[k]);
        break;
    case LITHO_FORMAT_INT32:
        INTEGERS(32, G_MININT32, G_MAXINT32);
    case LITHO_FORMAT_UINT32:
        INTEGERS(32, 0, G_MAXUINT32);
    case LITHO_FORMAT_INT24:
        INTEGERS(24, -8388608, 8388607);
    case LITHO_FORMAT_UINT24:
        INTEGERS(24, 0, 16777215);
    case LITHO_FORMAT_INT16:
        INTEGERS(16, G_MININT16, G_MAXINT16);
    case LITHO_FORMAT_UINT16:
        INTEGERS(16, 0, G_MAXUINT16);
    case LITHO_FORMAT_INT8:
        INTEGERS(8, -128, 127);
    case LITHO_FORMAT_UINT8:
        INTEGERS(8, 0, 255);
    }
#undef INTEGERS
#undef IBM
#undef IEEE
    return clipped;
}
