// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Samples as they lie in files, to float32 and back. All formats of SEG-Y are named by their code
// (binary header 3225); NumPy, RSF and raw files use the same codes for the same bytes.
// Pure functions, any thread.

typedef enum {
    LITHO_ORDER_BIG = 0,
    LITHO_ORDER_LITTLE,
    LITHO_ORDER_PAIRS, // 16-bit halves big end first, bytes inside each half swapped (old tape
                       // images)
} LithoOrder;

enum {
    LITHO_FORMAT_IBM = 1,
    LITHO_FORMAT_INT32 = 2,
    LITHO_FORMAT_INT16 = 3,
    LITHO_FORMAT_GAIN = 4, // fixed point with gain: refused
    LITHO_FORMAT_IEEE = 5,
    LITHO_FORMAT_DOUBLE = 6,
    LITHO_FORMAT_INT24 = 7,
    LITHO_FORMAT_INT8 = 8,
    LITHO_FORMAT_INT64 = 9, // refused
    LITHO_FORMAT_UINT32 = 10,
    LITHO_FORMAT_UINT16 = 11,
    LITHO_FORMAT_UINT64 = 12, // refused
    LITHO_FORMAT_UINT24 = 15,
    LITHO_FORMAT_UINT8 = 16,
};

// Bytes of one sample; 0 for a code that SEG-Y does not know. Refused codes have a size too.
int litho_format_bytes(int format);
// "IBM float", "16-bit integer"; "unknown format" for other codes. Static.
const char *litho_format_name(int format);
gboolean litho_format_supported(int format); // FALSE for 4, 9, 12 and unknown codes
gboolean litho_format_is_integer(int format); // of the supported ones
const char *litho_order_name(LithoOrder order);
LithoOrder litho_order_native(void);

// Header words at an address of any alignment.
gint16 litho_get_i16(const guint8 *p, LithoOrder order);
guint16 litho_get_u16(const guint8 *p, LithoOrder order);
gint32 litho_get_i32(const guint8 *p, LithoOrder order);
guint64 litho_get_u64(const guint8 *p, LithoOrder order);
double litho_get_f64(const guint8 *p, LithoOrder order);
void litho_put_16(guint8 *p, LithoOrder order, guint16 value);
void litho_put_32(guint8 *p, LithoOrder order, guint32 value);
void litho_put_64(guint8 *p, LithoOrder order, guint64 value);
void litho_put_f64(guint8 *p, LithoOrder order, double value);

// `n` samples of a supported format at `raw` (any alignment) to `out`. Values beyond float32
// become infinite, as the callers' checks for bad samples expect.
void litho_decode(const guint8 *raw, int format, LithoOrder order, float *out, gint64 n);
// The reverse, rounded to nearest (ties to even). Integers saturate; returns how many samples did.
// Input must be finite.
gint64 litho_encode(const float *in, int format, LithoOrder order, guint8 *raw, gint64 n);
