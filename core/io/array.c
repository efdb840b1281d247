// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/array.h"

#include "core/error.h"
#include "core/memory.h"

static GMutex library_lock;

void litho_array_lock(void)
{
    g_mutex_lock(&library_lock);
}

void litho_array_unlock(void)
{
    g_mutex_unlock(&library_lock);
}

void litho_array_free(LithoArray *array)
{
    if (!array)
        return;
    g_free(array->live);
    array->free(array);
}

// The largest box that begins at sample `at` of the array and holds no more than `left` samples
// that follow one another: part of a trace, whole traces, or whole inlines.
static gint64 next_box(const LithoArray *array, gint64 at, gint64 left, gint64 first[3],
                       gint64 count[3])
{
    const gint64 n2 = array->n[1], n3 = array->n[2];
    first[0] = at / (n2 * n3);
    first[1] = at / n3 % n2;
    first[2] = at % n3;
    count[0] = count[1] = count[2] = 1;
    if (first[2] != 0 || left < n3) {
        count[2] = MIN(n3 - first[2], left);
    } else if (first[1] != 0 || left < n2 * n3) {
        count[1] = MIN(n2 - first[1], left / n3);
        count[2] = n3;
    } else {
        count[0] = left / (n2 * n3);
        count[1] = n2;
        count[2] = n3;
    }
    return count[0] * count[1] * count[2];
}

gint64 litho_array_read_bytes(LithoArray *array, void *buffer, gint64 n, gint64 at, GError **error)
{
    const gint64 size = (gint64)sizeof(float);
    const gint64 all = array->n[0] * array->n[1] * array->n[2];
    const gint64 from = at / size, wanted = MIN(n / size, MAX(all - from, 0));
    float *out = buffer;
    for (gint64 done = 0; done < wanted;) {
        gint64 first[3], count[3];
        const gint64 here = next_box(array, from + done, wanted - done, first, count);
        if (!array->read(array, first, count, out + done, error))
            return -1;
        litho_array_values_apply(&array->values, out + done, here);
        done += here;
    }
    return wanted * size;
}

gsize litho_array_cache_bytes(const gint64 n[3], const gint64 chunk[3])
{
    double bytes = sizeof(float) * (double)chunk[0];
    for (int k = 1; k < 3; k++)
        bytes *= (double)((n[k] + chunk[k] - 1) / chunk[k]) * (double)chunk[k];
    const double room = litho_memory_available() / 4.0;
    return (gsize)MIN(2 * bytes, room);
}

gboolean litho_array_check_chunk(const char *path, const gint64 chunk[3], GError **error)
{
    const double bytes = sizeof(float) * (double)chunk[0] * (double)chunk[1] * (double)chunk[2];
    if (bytes <= 1 << 30 && bytes <= (double)litho_memory_available())
        return TRUE;
    return litho_refuse(error, LITHO_ERROR_MEMORY,
                        "%s is stored in chunks of %.3g GiB, which are unpacked as a whole; store "
                        "it again in chunks under 1 GiB",
                        path, bytes / 1073741824.0);
}
