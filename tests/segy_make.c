// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/segy_make.h"

#include <math.h>
#include <string.h>

static const int sizes[17] = {0, 4, 4, 2, 4, 4, 8, 3, 1, 8, 4, 2, 8, 0, 0, 3, 1};

Make make_plain(void)
{
    return (Make){.format = 1,
                  .n1 = 4,
                  .n2 = 5,
                  .ns = 30,
                  .dt_us = 4000,
                  .inline_first = 100,
                  .inline_step = 1,
                  .xline_first = 300,
                  .xline_step = 1,
                  .revision = 0x0100,
                  .x0 = 430000,
                  .y0 = 6480000,
                  .bin_x = 25,
                  .bin_y = 12.5};
}

// Bytes of `value`, most significant first, then put in the order of the file.
static void put(guint8 *at, LithoOrder order, guint64 value, int n)
{
    for (int k = 0; k < n; k++) {
        int place = order == LITHO_ORDER_BIG ? n - 1 - k : k;
        if (order == LITHO_ORDER_PAIRS && n > 1)
            place = (n - 1 - k) ^ 1;
        at[place] = (guint8)(value >> (8 * k));
    }
}

guint32 make_ibm(double x)
{
    if (x == 0)
        return 0;
    guint32 sign = x < 0 ? 0x80000000u : 0;
    x = fabs(x);
    int e = 64;
    while (x >= 1) {
        x /= 16;
        e++;
    }
    while (x < 1.0 / 16) {
        x *= 16;
        e--;
    }
    double f = nearbyint(x * 16777216);
    if (f >= 16777216) {
        f /= 16;
        e++;
    }
    return sign | (guint32)e << 24 | (guint32)f;
}

static guint64 sample_bits(int format, double x)
{
    float f = (float)x;
    guint32 w;
    guint64 d;
    memcpy(&w, &f, 4);
    memcpy(&d, &x, 8);
    return format == 1 ? make_ibm(x) : format == 5 ? w : format == 6 ? d : (guint64)(gint64)x;
}

float make_value(const Make *make, int i, int j, int k)
{
    int v = (int)((7 * i + 5 * j + 3 * (gint64)k * k + 11 * (k % 4)) % 41) - 20;
    gboolean is_unsigned = make->format == 10 || make->format == 11 || make->format >= 15;
    return (float)(v + (is_unsigned ? 100 : 0));
}

int make_first(const Make *make)
{
    return make->su ? 0 : 3600 + 3200 * make->ext_text;
}

int make_stride(const Make *make)
{
    return 240 * (1 + make->additional) + make->ns * sizes[make->format];
}

void make_cell(const Make *make, int n, int *i, int *j)
{
    int cells = make->n1 * make->n2;
    n /= MAX(make->offsets, 1);
    if (make->sorting == MAKE_SHUFFLED) // a step without a common factor visits every cell once
        n = (int)((gint64)n * 7919 % cells);
    *i = make->sorting == MAKE_XLINE_SORTED ? n % make->n1 : n / make->n2;
    *j = make->sorting == MAKE_XLINE_SORTED ? n / make->n1 : n % make->n2;
    if (make->sorting == MAKE_ZIGZAG && *i % 2)
        *j = make->n2 - 1 - *j;
}

static guint8 *bin(GByteArray *file, int byte)
{
    return file->data + byte - 1;
}

static guint8 *head(GByteArray *file, const Make *make, int trace, int byte)
{
    return file->data + make_first(make) + trace * make_stride(make) + byte - 1;
}

void make_put_bin16(GByteArray *file, const Make *make, int byte, int value)
{
    put(bin(file, byte), make->order, (guint64)(gint64)value, 2);
}

void make_put_bin32(GByteArray *file, const Make *make, int byte, gint64 value)
{
    put(bin(file, byte), make->order, (guint64)value, 4);
}

void make_put_head16(GByteArray *file, const Make *make, int trace, int byte, int value)
{
    put(head(file, make, trace, byte), make->order, (guint64)(gint64)value, 2);
}

void make_put_head32(GByteArray *file, const Make *make, int trace, int byte, gint64 value)
{
    put(head(file, make, trace, byte), make->order, (guint64)value, 4);
}

void make_put_sample(GByteArray *file, const Make *make, int trace, int k, double value)
{
    int n = sizes[make->format];
    put(head(file, make, trace, 1) + 240 * (1 + make->additional) + k * n, make->order,
        sample_bits(make->format, value), n);
}

void make_drop_trace(GByteArray *file, const Make *make, int trace)
{
    g_byte_array_remove_range(file, make_first(make) + trace * make_stride(make),
                              make_stride(make));
}

// "C 1 ..." lines in EBCDIC for the letters, digits and blanks that are used.
static void put_text(guint8 *at, gboolean ascii, const char *words)
{
    for (int line = 0; line < 40; line++) {
        char text[128];
        g_snprintf(text, sizeof text, "C%2d %-76.76s", line + 1, line == 0 ? words : "");
        for (int k = 0; k < 80; k++) {
            char c = text[k];
            int wide = c >= '0' && c <= '9'   ? 0xf0 + c - '0'
                       : c >= 'A' && c <= 'I' ? 0xc1 + c - 'A'
                       : c >= 'J' && c <= 'R' ? 0xd1 + c - 'J'
                       : c >= 'S' && c <= 'Z' ? 0xe2 + c - 'S'
                                              : 0x40;
            at[80 * line + k] = ascii ? (guint8)c : (guint8)wide;
        }
    }
}

static void put_binary(GByteArray *file, const Make *make)
{
    make_put_bin16(file, make, 3217, make->dt_us);
    make_put_bin16(file, make, 3221, make->ns);
    make_put_bin16(file, make, 3225, make->format);
    make_put_bin16(file, make, 3255, 1);
    bin(file, 3501)[0] = (guint8)(make->revision >> 8);
    bin(file, 3501)[1] = (guint8)make->revision;
    if (make->revision >= 0x0100)
        make_put_bin16(file, make, 3503, 1);
    make_put_bin16(file, make, 3505, make->ext_declared);
    if (make->additional)
        make_put_bin16(file, make, 3507, make->additional);
}

static void put_header(GByteArray *file, const Make *make, int n, int i, int j)
{
    int ib = make->inline_byte ? make->inline_byte : 189;
    int xb = make->xline_byte ? make->xline_byte : 193;
    make_put_head16(file, make, n, 29, 1);
    make_put_head16(file, make, n, 115, make->ns);
    make_put_head16(file, make, n, 117, make->dt_us);
    if (make->offsets)
        make_put_head32(file, make, n, 37, 100 * (1 + n % make->offsets));
    if (ib > 0)
        make_put_head32(file, make, n, ib, make->inline_first + i * make->inline_step);
    if (xb > 0)
        make_put_head32(file, make, n, xb, make->xline_first + j * make->xline_step);
    if (make->bin_x <= 0)
        return;
    double c = cos(make->angle), s = sin(make->angle);
    double u = j * make->bin_y, v = i * make->bin_x;
    make_put_head16(file, make, n, 71, -100);
    make_put_head32(file, make, n, 181, (gint64)lrint(100 * (make->x0 + u * c - v * s)));
    make_put_head32(file, make, n, 185, (gint64)lrint(100 * (make->y0 + u * s + v * c)));
}

GByteArray *make_file(const Make *make)
{
    int traces = make->n1 * make->n2 * MAX(make->offsets, 1);
    GByteArray *file = g_byte_array_new();
    g_byte_array_set_size(file, (guint)(make_first(make) + traces * make_stride(make)));
    memset(file->data, 0, file->len);
    if (!make->su) {
        put_text(file->data, make->ascii, "A FILE OF THE TESTS");
        for (int k = 0; k < make->ext_text; k++) {
            guint8 *at = file->data + 3600 + 3200 * k;
            put_text(at, TRUE, "MORE TEXT");
            if (make->end_text && k == make->ext_text - 1)
                memcpy(at, "((SEG: EndText))", 16);
        }
        put_binary(file, make);
    }
    for (int n = 0; n < traces; n++) {
        int i, j;
        make_cell(make, n, &i, &j);
        put_header(file, make, n, i, j);
        for (int k = 0; k < make->ns; k++)
            make_put_sample(file, make, n, k, make_value(make, i, j, k));
    }
    return file;
}
