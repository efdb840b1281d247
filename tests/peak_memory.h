// SPDX-License-Identifier: GPL-3.0-or-later
//
// The largest resident size of this process, for tests of what operators say that they take.
#pragma once
#include <glib.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

// Before anything is measured: freed arrays go back to the system, and new ones are not filled, so
// that what is counted is used.
static inline void peak_prepare(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    mallopt(M_PERTURB, 0);
}

static inline double status_bytes(const char *name)
{
    g_autofree char *content = NULL;
    g_assert_true(g_file_get_contents("/proc/self/status", &content, NULL, NULL));
    const char *line = strstr(content, name);
    return line ? 1024 * g_ascii_strtod(line + strlen(name), NULL) : -1;
}

// From now on the largest resident size is counted anew. FALSE: this kernel does not.
static inline gboolean peak_is_told(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return FALSE;
    const gboolean written = fputs("5", file) >= 0;
    return fclose(file) == 0 && written;
}

// Bytes resident before the work, for peak_bytes() behind it.
static inline double peak_begin(void)
{
    malloc_trim(0);
    g_assert_true(peak_is_told());
    return status_bytes("VmRSS:");
}

static inline double peak_bytes(double before)
{
    return status_bytes("VmHWM:") - before;
}
