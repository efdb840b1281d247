// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/error.h"
#include "core/mix.h"

enum {
    PIECES = 64,
    PIECE = 16 << 10,
    MOST_LEVELS = 16, // of folders in one another; a store of Zarr has 10
};

gboolean litho_is_store(const char *path)
{
    static const char *const marks[] = {".zgroup", ".zarray", ".zmetadata", "zarr.json"};
    gboolean is_store = FALSE;
    for (guint k = 0; !is_store && k < G_N_ELEMENTS(marks); k++) {
        g_autofree char *mark = g_build_filename(path, marks[k], NULL);
        is_store = g_file_test(mark, G_FILE_TEST_IS_REGULAR);
    }
    return is_store;
}

static gint64 changed_ns(const struct stat *info)
{
    return (gint64)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

// `name` is the path within the store.
typedef void (*Visit)(const char *name, const struct stat *info, gpointer data);

// Visits all that is no folder, in no order. The root has the name "".
static void visit_all(const char *root, const char *name, int levels, Visit visit, gpointer data)
{
    g_autofree char *folder = g_build_filename(root, name, NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *one;
    while (dir && (one = g_dir_read_name(dir))) {
        g_autofree char *inner = *name ? g_build_filename(name, one, NULL) : g_strdup(one);
        g_autofree char *path = g_build_filename(root, inner, NULL);
        struct stat info;
        if (lstat(path, &info) != 0)
            continue;
        if (!S_ISDIR(info.st_mode))
            visit(inner, &info, data);
        else if (levels > 0)
            visit_all(root, inner, levels - 1, visit, data);
    }
}

// --- stamps -------------------------------------------------------------------------------------

static void add_to_stamp(const char *name, const struct stat *info, gpointer data)
{
    LithoStamp *stamp = data;
    guint64 hash = 0;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (guchar)*c) * 0x100000001b3u; // FNV-1a's step
    hash = litho_mix(hash ^ litho_mix((guint64)info->st_size));
    stamp->listing += litho_mix(hash ^ (guint64)changed_ns(info)); // a sum has no order
    stamp->bytes += info->st_size;
    stamp->changed_ns = MAX(stamp->changed_ns, changed_ns(info));
}

static LithoStamp stamp_of(const struct stat *info)
{
    return (LithoStamp){.bytes = info->st_size,
                        .changed_ns = changed_ns(info),
                        .device = info->st_dev,
                        .inode = info->st_ino};
}

gboolean litho_stamp_take_open(int fd, LithoStamp *stamp)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return FALSE;
    *stamp = stamp_of(&info);
    return TRUE;
}

gboolean litho_stamp_take(const char *path, LithoStamp *stamp, GError **error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return litho_refuse(error, LITHO_ERROR_FORMAT, "%s cannot be opened: %s", path,
                            g_strerror(errno));
    *stamp = stamp_of(&info);
    if (S_ISREG(info.st_mode))
        return TRUE;
    if (!S_ISDIR(info.st_mode) || !litho_is_store(path))
        return litho_refuse(error, LITHO_ERROR_FORMAT, "%s is not a regular file", path);
    stamp->bytes = stamp->changed_ns = 0;
    visit_all(path, "", MOST_LEVELS, add_to_stamp, stamp);
    stamp->listing = MAX(stamp->listing, 1);
    return TRUE;
}

gboolean litho_stamp_equal(const LithoStamp *a, const LithoStamp *b)
{
    return a->bytes == b->bytes && a->changed_ns == b->changed_ns && a->listing == b->listing &&
           a->device == b->device && a->inode == b->inode;
}

// --- fingerprints -------------------------------------------------------------------------------

// A file of what is fingerprinted; a single file has the name "".
typedef struct Member {
    char *name;
    gint64 size, start; // byte of the whole
} Member;

static void member_clear(gpointer data)
{
    g_free(((Member *)data)->name);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(((const Member *)a)->name, ((const Member *)b)->name);
}

static void add_member(const char *name, const struct stat *info, gpointer data)
{
    const Member member = {.name = g_strdup(name),
                           .size = S_ISREG(info->st_mode) ? info->st_size : 0};
    g_array_append_val((GArray *)data, member);
}

// A file, or those of a store in the order of their names; empty = neither. *bytes: of all.
static GArray *members_of(const char *path, gint64 *bytes)
{
    GArray *members = g_array_new(FALSE, FALSE, sizeof(Member));
    g_array_set_clear_func(members, member_clear);
    struct stat info;
    *bytes = 0;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        add_member("", &info, members);
    else if (litho_is_store(path))
        visit_all(path, "", MOST_LEVELS, add_member, members);
    g_array_sort(members, by_name);
    for (guint k = 0; k < members->len; k++) {
        Member *m = &g_array_index(members, Member, k);
        m->start = *bytes;
        *bytes += m->size;
    }
    return members;
}

static gboolean read_member(const char *root, const Member *m, guint8 *out, gsize n, gint64 at)
{
    g_autofree char *path = *m->name ? g_build_filename(root, m->name, NULL) : g_strdup(root);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const gboolean good = fd >= 0 && litho_read_at(fd, out, (gint64)n, at) == (gint64)n;
    if (fd >= 0)
        close(fd);
    return good;
}

// Bytes `at` to `at` + `n` - 1 of the whole. FALSE: they cannot be read.
static gboolean read_piece(const char *root, const GArray *members, guint8 *out, gint64 n,
                           gint64 at)
{
    for (guint k = 0; k < members->len; k++) {
        const Member *m = &g_array_index(members, Member, k);
        const gint64 lo = MAX(at, m->start), hi = MIN(at + n, m->start + m->size);
        if (lo < hi && !read_member(root, m, out + (lo - at), (gsize)(hi - lo), lo - m->start))
            return FALSE;
    }
    return TRUE;
}

static gboolean add_pieces(GChecksum *sum, const char *root, const GArray *members, gint64 size)
{
    g_autofree guint8 *piece = g_malloc(PIECE);
    const gint64 even = (size - PIECE) / (PIECES - 1);
    for (gint64 k = 0; k < PIECES; k++) {
        const gint64 at = size > (gint64)PIECES * PIECE ? k * even : k * PIECE;
        const gint64 n = MIN(PIECE, size - at);
        if (n <= 0)
            break;
        if (!read_piece(root, members, piece, n, at))
            return FALSE;
        g_checksum_update(sum, piece, n);
    }
    return TRUE;
}

char *litho_fingerprint(const char *path, GError **error)
{
    gint64 size;
    g_autoptr(GArray) members = members_of(path, &size);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    char text[24];
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, size);
    g_checksum_update(sum, (const guchar *)text, -1);
    for (guint k = 0; k < members->len; k++) {
        const Member *m = &g_array_index(members, Member, k);
        g_autofree char *line = g_strdup_printf("%s %" G_GINT64_FORMAT "\n", m->name, m->size);
        if (*m->name)
            g_checksum_update(sum, (const guchar *)line, -1);
    }
    if (members->len > 0 && add_pieces(sum, path, members, size))
        return g_strdup(g_checksum_get_string(sum));
    litho_refuse(error, LITHO_ERROR_PARAMETER, "%s cannot be read for its fingerprint", path);
    return NULL;
}
