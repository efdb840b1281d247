// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/hdf5_packed.h"

#include <string.h>
#include <zlib.h>

#include "core/io/chunks.h"
#include "core/text.h"

enum { CHECKSUM = 4, MOST_FILTERS = 4 };

static H5Z_filter_t filter_of(hid_t layout, int k)
{
    unsigned flags;
    size_t n = 0;
    return H5Pget_filter2(layout, (unsigned)k, &flags, &n, NULL, 0, NULL, NULL);
}

static gboolean is_read(H5Z_filter_t filter)
{
    return filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
           filter == H5Z_FILTER_FLETCHER32;
}

gboolean litho_hdf5_can_unpack(hid_t layout)
{
    const int n = H5Pget_nfilters(layout);
    gboolean good = n >= 1 && n <= MOST_FILTERS;
    for (int k = 0; good && k < n; k++)
        good = is_read(filter_of(layout, k));
    return good;
}

char *litho_hdf5_other_filter(hid_t layout)
{
    // https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md
    static const struct {
        H5Z_filter_t filter;
        const char *name;
    } known[] = {{H5Z_FILTER_SZIP, "szip"},
                 {H5Z_FILTER_NBIT, "n-bit"},
                 {H5Z_FILTER_SCALEOFFSET, "scale-offset"},
                 {307, "bzip2"},
                 {32000, "LZF"},
                 {32001, "Blosc"},
                 {32004, "LZ4"},
                 {32008, "bitshuffle"},
                 {32013, "ZFP"},
                 {32015, "Zstandard"},
                 {32026, "Blosc2"}};
    const int n = H5Pget_nfilters(layout);
    for (int k = 0; k < n; k++) {
        unsigned flags;
        size_t values = 0;
        char name[64] = "";
        const H5Z_filter_t filter =
            H5Pget_filter2(layout, (unsigned)k, &flags, &values, NULL, sizeof name, name, NULL);
        if (is_read(filter))
            continue;
        for (guint i = 0; i < G_N_ELEMENTS(known); i++)
            if (known[i].filter == filter)
                return g_strdup_printf("%s (%d)", known[i].name, filter);
        name[sizeof name - 1] = 0;
        g_autofree char *plain = litho_text_plain(name, 40);
        return *plain ? g_strdup_printf("%s (%d)", plain, filter) : g_strdup_printf("%d", filter);
    }
    return n > MOST_FILTERS ? g_strdup_printf(_("number %d of %d"), MOST_FILTERS + 1, n) : NULL;
}

// The bytes of a chunk on their way back, filter by filter. Both buffers hold `most` bytes.
typedef struct Bytes {
    guint8 *data, *spare;
    gsize n, most;
} Bytes;

static void swap(Bytes *b)
{
    guint8 *data = b->data;
    b->data = b->spare;
    b->spare = data;
}

// Fletcher's checksum of 16-bit words, the high byte first, as HDF5 computes it.
static guint32 fletcher32(const guint8 *bytes, gsize n)
{
    enum { WORDS = 360 }; // of which the sums fit into 32 bits
    guint32 low = 0, high = 0;
    for (gsize k = 0; k < n;) {
        for (int word = 0; word < WORDS && k < n; word++, k += 2) {
            low += (guint32)bytes[k] << 8 | (k + 1 < n ? bytes[k + 1] : 0);
            high += low;
        }
        low = (low & 0xffff) + (low >> 16);
        high = (high & 0xffff) + (high >> 16);
    }
    low = (low & 0xffff) + (low >> 16);
    high = (high & 0xffff) + (high >> 16);
    return high << 16 | low;
}

// The checksum lies behind the bytes, the lowest byte first. HDF5 before 1.6.3 turned each half of
// it round on such machines.
static gboolean undo_checksum(Bytes *b)
{
    guint32 told;
    if (b->n <= CHECKSUM)
        return FALSE;
    b->n -= CHECKSUM;
    memcpy(&told, b->data + b->n, CHECKSUM);
    told = GUINT32_FROM_LE(told);
    const guint32 found = fletcher32(b->data, b->n);
    return told == found || told == ((found & 0x00ff00ff) << 8 | (found & 0xff00ff00) >> 8);
}

static gboolean undo(Bytes *b, H5Z_filter_t filter, gsize element)
{
    if (filter == H5Z_FILTER_FLETCHER32)
        return undo_checksum(b);
    if (filter == H5Z_FILTER_SHUFFLE) {
        memcpy(b->spare, b->data, b->n); // what is no whole element stays where it is
        litho_unshuffle(b->spare, b->data, b->n / element, element);
    } else {
        uLongf n = b->most;
        if (uncompress(b->spare, &n, b->data, b->n) != Z_OK)
            return FALSE;
        b->n = n;
    }
    swap(b);
    return TRUE;
}

static gboolean undo_all(Bytes *b, hid_t layout, unsigned left_out, gsize element)
{
    gboolean good = TRUE;
    for (int k = H5Pget_nfilters(layout) - 1; good && k >= 0; k--)
        if (!(left_out >> k & 1))
            good = undo(b, filter_of(layout, k), element);
    return good;
}

// The value that stands for samples that were never written.
static void take_fill(hid_t layout, gsize samples, float *out)
{
    float fill = 0;
    if (H5Pget_fill_value(layout, H5T_NATIVE_FLOAT, &fill) < 0)
        fill = 0;
    for (gsize k = 0; k < samples; k++)
        out[k] = fill;
}

gboolean litho_hdf5_unpack(hid_t set, const hsize_t at[3], const hsize_t chunk[3], float *out)
{
    const gsize samples = (gsize)(chunk[0] * chunk[1] * chunk[2]);
    const hid_t layout = H5Dget_create_plist(set), type = H5Dget_type(set);
    const gsize element = type > 0 ? H5Tget_size(type) : 0, bytes = samples * element;
    unsigned left_out = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t held = 0;
    gboolean good = layout > 0 && element >= 1 && element <= 8 &&
                    H5Dget_chunk_info_by_coord(set, at, &left_out, &address, &held) >= 0;
    const gboolean is_stored = good && address != HADDR_UNDEF && held > 0;
    // Packed, samples take hardly more room than they are; the last filters see these bytes.
    const gsize most = MAX(bytes, samples * sizeof(float)) + bytes / 100 + 4096;
    good = good && held <= most;
    Bytes b = {NULL, NULL, (gsize)held, most};
    if (is_stored && good) {
        b.data = g_try_malloc0(most);
        b.spare = g_try_malloc0(most);
        uint32_t mask = left_out;
        good = b.data && b.spare && H5Dread_chunk(set, H5P_DEFAULT, at, &mask, b.data) >= 0 &&
               undo_all(&b, layout, left_out, element) && b.n == bytes &&
               H5Tconvert(type, H5T_NATIVE_FLOAT, samples, b.data, NULL, H5P_DEFAULT) >= 0;
        if (good)
            memcpy(out, b.data, samples * sizeof(float));
    } else if (good) {
        take_fill(layout, samples, out);
    }
    g_free(b.data);
    g_free(b.spare);
    if (type > 0)
        H5Tclose(type);
    if (layout > 0)
        H5Pclose(layout);
    return good;
}
