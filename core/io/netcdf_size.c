// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/netcdf_size.h"

#include <glib/gstdio.h>
#include <string.h>

enum { MOST_DIMENSIONS = 100000, RECORDS_UNKNOWN = -1 };

typedef struct Header {
    FILE *file;
    int version;
    gboolean is_bad;
    gint64 records; // RECORDS_UNKNOWN: as many as fit
    GArray *size;   // gint64, of the dimensions; 0 = the records
} Header;

static guint64 take(Header *h, int bytes)
{
    guint8 raw[8];
    guint64 value = 0;
    h->is_bad |= fread(raw, 1, (gsize)bytes, h->file) != (gsize)bytes;
    for (int k = 0; !h->is_bad && k < bytes; k++)
        value = value << 8 | raw[k];
    return value;
}

static gint64 take_count(Header *h)
{
    const guint64 value = take(h, h->version == 5 ? 8 : 4);
    h->is_bad |= value > G_MAXINT64 / 16;
    return h->is_bad ? 0 : (gint64)value;
}

static void skip(Header *h, gint64 bytes)
{
    h->is_bad |= bytes < 0 || fseeko(h->file, (bytes + 3) / 4 * 4, SEEK_CUR) != 0;
}

static int type_bytes(guint64 type)
{
    static const int bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type < G_N_ELEMENTS(bytes) ? bytes[type] : 0;
}

// Number of elements of a list; 0 = the list is absent.
static gint64 take_list(Header *h, guint64 tag)
{
    const guint64 found = take(h, 4);
    const gint64 n = take_count(h);
    h->is_bad |= found != tag && (found != 0 || n != 0);
    return h->is_bad ? 0 : n;
}

static void skip_attributes(Header *h)
{
    for (gint64 left = take_list(h, 12); left > 0 && !h->is_bad; left--) {
        skip(h, take_count(h)); // the name
        const int bytes = type_bytes(take(h, 4));
        h->is_bad |= bytes == 0;
        skip(h, take_count(h) * bytes);
    }
}

static void take_dimensions(Header *h)
{
    for (gint64 left = take_list(h, 10); left > 0 && !h->is_bad; left--) {
        skip(h, take_count(h));
        const gint64 n = take_count(h);
        g_array_append_val(h->size, n);
        h->is_bad |= h->size->len > MOST_DIMENSIONS;
    }
}

// Bytes of the variables of records, all together.
typedef struct Records {
    double begin, last, bytes; // begin of the first; end of the last within a record; of a record
    double only;               // bytes of a single variable, which is not padded
    int variables;
} Records;

// The end of the variable's numbers; a variable of records goes to `records`.
static double take_variable(Header *h, Records *records)
{
    double samples = 1;
    gboolean is_record = FALSE;
    skip(h, take_count(h));
    const gint64 rank = take_count(h);
    for (gint64 k = 0; k < rank && !h->is_bad; k++) {
        const gint64 id = take_count(h);
        h->is_bad |= id >= h->size->len;
        const gint64 n = h->is_bad ? 1 : g_array_index(h->size, gint64, id);
        is_record |= k == 0 && n == 0;
        samples *= is_record && k == 0 ? 1 : (double)n;
    }
    skip_attributes(h);
    const double bytes = samples * type_bytes(take(h, 4));
    take_count(h); // padded size, of no use: it does not hold that of large variables
    const double begin = (double)take(h, h->version == 1 ? 4 : 8);
    if (!is_record)
        return begin + bytes;
    if (records->variables++ == 0)
        records->begin = begin;
    records->only = bytes;
    records->last = begin - records->begin + bytes;
    records->bytes += 4 * (double)(((gint64)MIN(bytes, 1e18) + 3) / 4);
    return 0;
}

static double take_all(Header *h)
{
    Records records = {0};
    double end = 0;
    const guint64 count = take(h, h->version == 5 ? 8 : 4);
    const guint64 unknown = h->version == 5 ? G_MAXUINT64 : G_MAXUINT32;
    h->records = count == unknown ? RECORDS_UNKNOWN : (gint64)MIN(count, G_MAXINT64);
    take_dimensions(h);
    skip_attributes(h);
    for (gint64 left = take_list(h, 11); left > 0 && !h->is_bad; left--) {
        const double own = take_variable(h, &records);
        end = MAX(end, own);
    }
    if (records.variables > 0 && h->records > 0)
        end = MAX(end, records.begin + records.last +
                           (double)(h->records - 1) *
                               (records.variables == 1 ? records.only : records.bytes));
    return end;
}

gint64 litho_netcdf_size(const char *path)
{
    guint8 magic[4] = {0};
    Header h = {.file = g_fopen(path, "rbe")};
    if (!h.file)
        return -1;
    h.size = g_array_new(FALSE, FALSE, sizeof(gint64));
    h.is_bad = fread(magic, 1, sizeof magic, h.file) != sizeof magic ||
               memcmp(magic, "CDF", 3) != 0 || !strchr("\1\2\5", magic[3]);
    h.version = magic[3];
    const double end = h.is_bad ? 0 : take_all(&h);
    fclose(h.file);
    g_array_unref(h.size);
    return h.is_bad || end > 9e18 ? -1 : (gint64)end;
}
