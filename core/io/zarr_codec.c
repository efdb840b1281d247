// SPDX-License-Identifier: GPL-3.0-or-later
// Chunks of Zarr arrays as they are packed. Each library is told how many bytes there are and how
// many may come out; what differs is damaged.
#include "core/io/zarr.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>
#ifdef LITHO_HAVE_BLOSC
#include <blosc.h>
#endif
#ifdef LITHO_HAVE_ZFP
#include <zfp.h>
#endif

// Packed by codecs that are no use, numbers take hardly more room than they are.
gsize litho_zarr_most_packed(const LithoZarrMeta *meta, gsize samples)
{
    const gsize bytes = samples * (gsize)meta->bytes;
    return bytes + bytes / 50 + 4096;
}

typedef struct Bytes {
    const guint8 *in;
    gsize n;
    guint8 *out;
    gsize most; // room in `out`
} Bytes;

// Each gives the bytes in `out`, 0 = damaged.
static gsize undo_zlib(const Bytes *b)
{
    z_stream z = {.next_in = (guint8 *)b->in,
                  .avail_in = (uInt)MIN(b->n, (gsize)G_MAXUINT32),
                  .next_out = b->out,
                  .avail_out = (uInt)MIN(b->most, (gsize)G_MAXUINT32)};
    const gsize room = z.avail_out;
    if (inflateInit2(&z, 15 + 32) != Z_OK) // zlib's header or gzip's
        return 0;
    const int status = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return status == Z_STREAM_END ? room - z.avail_out : 0;
}

static gsize undo_zstd(const Bytes *b)
{
    const size_t n = ZSTD_decompress(b->out, b->most, b->in, b->n);
    return ZSTD_isError(n) ? 0 : n;
}

static gsize undo_blosc(const Bytes *b)
{
#ifdef LITHO_HAVE_BLOSC
    size_t n = 0;
    if (b->n < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(b->in, b->n, &n) != 0 ||
        n > b->most)
        return 0;
    const int got = blosc_decompress_ctx(b->in, b->out, b->most, 1);
    return got > 0 ? (gsize)got : 0;
#else
    (void)b;
    return 0;
#endif
}

#ifdef LITHO_HAVE_ZFP
// zfp reads on where a stream is cut off, as far as the mode in its header lets a block be: the
// bytes lie in front of so many zeros.
static gsize unpack_zfp(zfp_stream *zfp, zfp_field *field, const Bytes *b, gsize samples,
                        gsize bytes)
{
    g_autofree guint64 *padded = NULL;
    const zfp_type wanted = bytes == 4 ? zfp_type_float : zfp_type_double;
    bitstream *head = stream_open((void *)b->in, b->n);
    zfp_stream_set_bit_stream(zfp, head);
    gboolean good = zfp_read_header(zfp, field, ZFP_HEADER_FULL) > 0 && field->type == wanted &&
                    zfp_field_size(field, NULL) == samples && samples * bytes <= b->most;
    stream_close(head);
    const gsize most = good ? zfp_stream_maximum_size(zfp, field) : 0;
    good = good && most > 0 && most <= 4 * b->most;
    const gsize room = (MAX(most, b->n) + 64) / 8 * 8;
    padded = good ? g_try_malloc0(room) : NULL;
    if (!padded)
        return 0;
    memcpy(padded, b->in, b->n);
    bitstream *bits = stream_open(padded, room);
    zfp_stream_set_bit_stream(zfp, bits);
    zfp_stream_rewind(zfp);
    zfp_field_set_pointer(field, b->out);
    good = zfp_read_header(zfp, field, ZFP_HEADER_FULL) > 0 && zfp_decompress(zfp, field) > 0;
    stream_close(bits);
    return good ? samples * bytes : 0;
}
#endif

static gsize undo_zfp(const Bytes *b, gsize samples, gsize bytes)
{
#ifdef LITHO_HAVE_ZFP
    enum { LONGEST_HEADER = 32 }; // 148 bits
    guint64 none[LONGEST_HEADER / 8] = {0};
    Bytes whole = *b;
    if (b->n < LONGEST_HEADER) { // as long as what is looked at without a check
        memcpy(none, b->in, b->n);
        whole.in = (const guint8 *)none;
        whole.n = LONGEST_HEADER;
    }
    zfp_stream *zfp = zfp_stream_open(NULL);
    zfp_field *field = zfp_field_alloc();
    const gsize n = unpack_zfp(zfp, field, &whole, samples, bytes);
    zfp_field_free(field);
    zfp_stream_close(zfp);
    return n;
#else
    (void)b, (void)samples, (void)bytes;
    return 0;
#endif
}

// CRC-32C (Castagnoli, reflected, polynomial 0x82f63b78), of which Zarr puts four bytes, the lowest
// first, behind a chunk.
static guint32 crc32c(const guint8 *bytes, gsize n)
{
    static gsize ready;
    static guint32 table[256];
    if (g_once_init_enter(&ready)) {
        for (guint32 k = 0; k < 256; k++) {
            guint32 x = k;
            for (int bit = 0; bit < 8; bit++)
                x = x >> 1 ^ (x & 1 ? 0x82f63b78u : 0);
            table[k] = x;
        }
        g_once_init_leave(&ready, 1);
    }
    guint32 sum = ~0u;
    for (gsize k = 0; k < n; k++)
        sum = sum >> 8 ^ table[(sum ^ bytes[k]) & 0xff];
    return ~sum;
}

static gsize undo_checksum(const Bytes *b)
{
    guint32 told = 0;
    if (b->n <= sizeof told || b->n - sizeof told > b->most)
        return 0;
    const gsize n = b->n - sizeof told;
    memcpy(&told, b->in + n, sizeof told);
    if (GUINT32_FROM_LE(told) != crc32c(b->in, n))
        return 0;
    memcpy(b->out, b->in, n);
    return n;
}

static gsize undo_plain(const Bytes *b)
{
    if (b->n > b->most)
        return 0;
    memcpy(b->out, b->in, b->n);
    return b->n;
}

static gsize undo(LithoZarrCodec codec, const Bytes *b, gsize samples, gsize bytes)
{
    switch (codec) {
    case LITHO_ZARR_ZLIB:
        return undo_zlib(b);
    case LITHO_ZARR_ZSTD:
        return undo_zstd(b);
    case LITHO_ZARR_BLOSC:
        return undo_blosc(b);
    case LITHO_ZARR_ZFP:
        return undo_zfp(b, samples, bytes);
    case LITHO_ZARR_CHECKSUM:
        return undo_checksum(b);
    default:
        return undo_plain(b);
    }
}

guint8 *litho_zarr_unpack(const LithoZarrMeta *meta, const guint8 *packed, gsize n, gsize samples)
{
    const gsize most = litho_zarr_most_packed(meta, samples), bytes = (gsize)meta->bytes;
    const LithoZarrCodec plain = LITHO_ZARR_PLAIN;
    const LithoZarrCodec *codec = meta->n_codecs ? meta->codec : &plain;
    guint8 *last = NULL;
    for (guint k = 0; k < MAX(meta->n_codecs, 1); k++) {
        Bytes b = {last ? last : packed, n, g_try_malloc(most), most};
        n = b.out ? undo(codec[k], &b, samples, bytes) : 0;
        g_free(last);
        last = b.out;
        if (n == 0)
            break;
    }
    if (n != samples * bytes)
        g_clear_pointer(&last, g_free);
    return last;
}

// --- numbers ------------------------------------------------------------------------------------

double litho_zarr_number(const LithoZarrMeta *meta, const guint8 *raw, gsize k)
{
    union {
        guint8 byte[8];
        float f4;
        double f8;
        gint8 i1;
        gint16 i2;
        gint32 i4;
        gint64 i8;
        guint16 u2;
        guint32 u4;
        guint64 u8;
    } x = {.u8 = 0};
    const int n = meta->bytes;
    const gboolean turned = meta->is_big_endian == (G_BYTE_ORDER == G_LITTLE_ENDIAN);
    for (int b = 0; b < n; b++)
        x.byte[turned ? n - 1 - b : b] = raw[k * (gsize)n + (gsize)b];
    if (meta->kind == 'f')
        return n == 4 ? (double)x.f4 : x.f8;
    if (meta->kind == 'i')
        return n == 1 ? x.i1 : n == 2 ? x.i2 : n == 4 ? x.i4 : (double)x.i8;
    return n == 1 ? x.byte[0] : n == 2 ? x.u2 : n == 4 ? x.u4 : (double)x.u8;
}

void litho_zarr_floats(const LithoZarrMeta *meta, const guint8 *raw, gsize samples, float *out)
{
    const gboolean turned = meta->is_big_endian == (G_BYTE_ORDER == G_LITTLE_ENDIAN);
    if (meta->kind == 'f' && meta->bytes == 4 && !turned)
        memcpy(out, raw, samples * sizeof(float));
    else
        for (gsize k = 0; k < samples; k++)
            out[k] = (float)litho_zarr_number(meta, raw, k);
}
