// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/control_group.h"
#include "core/error.h"
#include "core/text.h"

static guint64 system_available(void)
{
    g_autofree char *text = NULL;
    const char *at = NULL;
    if (g_file_get_contents("/proc/meminfo", &text, NULL, NULL))
        at = strstr(text, "MemAvailable:");
    return at ? g_ascii_strtoull(at + strlen("MemAvailable:"), NULL, 10) * 1024 : G_MAXUINT64;
}

static guint64 address_space_available(void)
{
    struct rlimit limit;
    unsigned long long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return G_MAXUINT64;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%llu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    guint64 used = pages * (guint64)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

// FALSE when LITHO_MEMORY is set to what is no size; 0 = it is not set.
static gboolean setting(double *gib)
{
    const char *text = g_getenv("LITHO_MEMORY");
    char *end = NULL;
    *gib = text ? g_ascii_strtod(text, &end) : 0;
    return !text || *text == '\0' || (*end == '\0' && *gib > 0 && *gib < 1e9);
}

// Bytes that the user allows, for machines that are shared.
static guint64 allowed(void)
{
    double gib = 0;
    return setting(&gib) && gib > 0 ? (guint64)(gib * 1073741824.0) : G_MAXUINT64;
}

gboolean litho_memory_check_setting(GError **error)
{
    double gib;
    return setting(&gib) || litho_refuse(error, LITHO_ERROR_PARAMETER,
                                         "LITHO_MEMORY is '%s'; it must be a number of GiB above 0",
                                         g_getenv("LITHO_MEMORY"));
}

gpointer litho_memory_new(gsize n, gsize size, const char *what, GError **error)
{
    gpointer p = g_try_malloc0_n(MAX(n, 1), size);
    if (!p)
        litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for %.3g GiB of %s",
                     (double)n * size / 1073741824.0, litho_text(what));
    return p;
}

void litho_memory_large_pages(gpointer block, gsize bytes)
{
#ifdef MADV_HUGEPAGE
    const gsize page = 2 << 20;
    const gsize first = ((gsize)block + page - 1) / page * page, end = (gsize)block + bytes;
    if (block && end > first + page)
        madvise((void *)first, (end - first) / page * page, MADV_HUGEPAGE);
#endif
}

void litho_memory_return(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

guint64 litho_memory_available(void)
{
    const guint64 of[] = {system_available(), litho_control_group_memory(NULL, NULL),
                          address_space_available(), allowed()};
    guint64 bytes = G_MAXUINT64;
    for (guint k = 0; k < G_N_ELEMENTS(of); k++)
        bytes = MIN(bytes, of[k]);
    return MAX(bytes, 1);
}

guint64 litho_memory_to_keep(void)
{
    const guint64 part = litho_memory_available() / 4;
    return MIN(part, (guint64)2 << 30);
}
