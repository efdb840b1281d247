// SPDX-License-Identifier: GPL-3.0-or-later
//
// An operator that says how many bytes its lossy copy of the input takes is shown beside zfp, the
// usual compressor of floating-point arrays, at the same size.
#include <math.h>
#include <string.h>

#include "app/bench.h"
#include "core/text.h"

#ifdef LITHO_HAVE_ZFP
#include <zfp.h>

typedef struct Packed {
    gsize bytes;
    double snr; // dB
} Packed;

// Fixed accuracy: the mode with the best SNR for its bytes. Its tolerance counts in powers of two.
static Packed pack_with(const LithoCube *in, double tolerance)
{
    const LithoAxis *a = in->grid.axis;
    const gint64 n = litho_grid_samples(&in->grid);
    zfp_stream *zfp = zfp_stream_open(NULL);
    zfp_field *field =
        zfp_field_3d(in->samples, zfp_type_float, (size_t)a[2].n, (size_t)a[1].n, (size_t)a[0].n);
    zfp_stream_set_accuracy(zfp, tolerance);
    const size_t room = zfp_stream_maximum_size(zfp, field);
    g_autofree guint8 *buffer = g_malloc(room);
    g_autofree float *back = g_new(float, n);
    bitstream *bits = stream_open(buffer, room);
    zfp_stream_set_bit_stream(zfp, bits);
    zfp_stream_rewind(zfp);
    Packed packed = {.bytes = zfp_compress(zfp, field)};
    zfp_stream_rewind(zfp);
    zfp_field_set_pointer(field, back);
    zfp_decompress(zfp, field);
    double error = 0, energy = 0;
    for (gint64 i = 0; i < n; i++) {
        energy += (double)in->samples[i] * in->samples[i];
        error += ((double)back[i] - in->samples[i]) * ((double)back[i] - in->samples[i]);
    }
    packed.snr = error > 0 ? 10 * log10(energy / error) : INFINITY;
    zfp_field_free(field);
    zfp_stream_close(zfp);
    stream_close(bits);
    return packed;
}

// Sizes come in steps of one bit: zfp gets the next step that has as many bytes as we have, or
// more.
static Packed pack_to(const LithoCube *in, double bytes)
{
    float peak = 0;
    for (gint64 i = 0; i < litho_grid_samples(&in->grid); i++)
        peak = MAX(peak, fabsf(in->samples[i]));
    Packed packed = {0};
    for (int step = 4; step > -32 && peak > 0 && packed.bytes < bytes; step--)
        packed = pack_with(in, ldexp(peak, step));
    return packed;
}

static double number_of(const GArray *numbers, const char *key)
{
    for (guint k = 0; k < numbers->len; k++)
        if (strcmp(g_array_index(numbers, LithoNumber, k).key, key) == 0)
            return g_array_index(numbers, LithoNumber, k).value;
    return NAN;
}

static void append(GArray *numbers, const char *key, const char *label, const char *unit,
                   double value)
{
    LithoNumber number = {.value = value};
    g_strlcpy(number.key, key, sizeof number.key);
    g_strlcpy(number.label, label, sizeof number.label);
    g_strlcpy(number.unit, unit, sizeof number.unit);
    g_array_append_val(numbers, number);
}

void bench_beside_zfp(const LithoCube *in, GArray *numbers)
{
    const double bytes = number_of(numbers, "file_bytes");
    if (!in || !in->samples || !(bytes > 0))
        return;
    const Packed packed = pack_to(in, bytes);
    append(numbers, "zfp_bytes", _("Size with zfp, the next not below"), "bytes",
           (double)packed.bytes);
    append(numbers, "zfp_snr", _("SNR of zfp at that size"), "dB", packed.snr);
}

#else

void bench_beside_zfp(const LithoCube *in, GArray *numbers)
{
    (void)in;
    (void)numbers;
}

#endif
