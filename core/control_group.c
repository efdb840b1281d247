// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/control_group.h"

#include <stdio.h>
#include <string.h>

static gboolean read_number(const char *folder, const char *name, guint64 *value)
{
    g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL) || !g_ascii_isdigit(text[0]))
        return FALSE; // "max" or -1 = no limit
    *value = g_ascii_strtoull(text, NULL, 10);
    return TRUE;
}

// Sum of two counts of "memory.stat".
static guint64 sum_of(const char *folder, const char *const keys[2])
{
    g_autofree char *path = g_build_filename(folder, "memory.stat", NULL), *text = NULL;
    guint64 sum = 0;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return 0;
    for (int k = 0; k < 2; k++) {
        const char *at = strstr(text, keys[k]);
        sum += at ? g_ascii_strtoull(at + strlen(keys[k]), NULL, 10) : 0;
    }
    return sum;
}

// --- one group ----------------------------------------------------------------------------------

typedef struct Names {
    const char *limit, *used;
    const char *pages[2]; // of files, in memory.stat
} Names;

// Pages of files, which the kernel drops when memory is asked for, count as used: reading a large
// cube is enough to fill a group with them.
static guint64 memory_of(const char *folder, const Names *names)
{
    guint64 limit, used;
    if (!read_number(folder, names->limit, &limit) || !read_number(folder, names->used, &used))
        return G_MAXUINT64;
    const guint64 pages = sum_of(folder, names->pages), kept = used - MIN(used, pages);
    return limit > kept ? limit - kept : 0;
}

static guint64 memory_1(const char *folder)
{
    static const Names names = {"memory.limit_in_bytes",
                                "memory.usage_in_bytes",
                                {"\ntotal_active_file ", "\ntotal_inactive_file "}};
    return memory_of(folder, &names);
}

static guint64 memory_2(const char *folder)
{
    static const Names names = {
        "memory.max", "memory.current", {"\nactive_file ", "\ninactive_file "}};
    return memory_of(folder, &names);
}

static guint64 processors(guint64 quota, guint64 period)
{
    return period > 0 ? MAX((quota + period - 1) / period, 1) : G_MAXUINT64;
}

static guint64 processors_1(const char *folder)
{
    guint64 quota, period;
    return read_number(folder, "cpu.cfs_quota_us", &quota) &&
                   read_number(folder, "cpu.cfs_period_us", &period)
               ? processors(quota, period)
               : G_MAXUINT64;
}

static guint64 processors_2(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "cpu.max", NULL), *text = NULL;
    unsigned long long quota, period;
    return g_file_get_contents(path, &text, NULL, NULL) &&
                   sscanf(text, "%llu %llu", &quota, &period) == 2
               ? processors(quota, period)
               : G_MAXUINT64;
}

// --- all groups ---------------------------------------------------------------------------------

typedef guint64 (*Ask)(const char *folder);

// The least answer of the group `root`/`group` and of those it lies in. A container may see its own
// group as the root and be told the path outside of it: folders that are not there have no limit.
static guint64 least(const char *root, const char *group, Ask ask)
{
    g_autofree char *path = g_strdup(strstr(group, "..") || g_str_equal(group, "/") ? "" : group);
    guint64 value = G_MAXUINT64;
    for (;;) {
        g_autofree char *folder = g_build_filename(root, path, NULL);
        const guint64 own = ask(folder);
        value = MIN(value, own);
        char *last = strrchr(path, '/');
        if (!last)
            return value;
        *last = '\0';
    }
}

static gboolean has(const char *controllers, const char *name)
{
    g_auto(GStrv) one = g_strsplit(controllers, ",", -1);
    return g_strv_contains((const char *const *)one, name);
}

// Asks the groups of `controller`. Lines of the membership are "4:cpu,cpuacct:/a/b" of version 1,
// "0::/a/b" of version 2, which a system with both mounts in "unified".
static guint64 ask_all(const char *membership, const char *mount, const char *controller, Ask ask_1,
                       Ask ask_2)
{
    g_autofree char *text = NULL;
    guint64 value = G_MAXUINT64;
    mount = mount ? mount : "/sys/fs/cgroup";
    if (!g_file_get_contents(membership ? membership : "/proc/self/cgroup", &text, NULL, NULL))
        return value;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) part = g_strsplit(*line, ":", 3);
        if (g_strv_length(part) != 3)
            continue;
        g_autofree char *own = g_build_filename(mount, controller, NULL);
        g_autofree char *both = g_build_filename(mount, "unified", NULL);
        guint64 of[2] = {G_MAXUINT64, G_MAXUINT64};
        if (has(part[1], controller)) {
            of[0] = least(own, part[2], ask_1);
        } else if (!*part[1]) {
            of[0] = least(mount, part[2], ask_2);
            of[1] = least(both, part[2], ask_2);
        }
        value = MIN(value, MIN(of[0], of[1]));
    }
    return value;
}

guint64 litho_control_group_memory(const char *membership, const char *mount)
{
    return ask_all(membership, mount, "memory", memory_1, memory_2);
}

int litho_control_group_processors(const char *membership, const char *mount)
{
    const guint64 n = ask_all(membership, mount, "cpu", processors_1, processors_2);
    return n < G_MAXINT ? (int)n : 0;
}
