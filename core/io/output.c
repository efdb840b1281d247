// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/error.h"
#include "core/io/survey_private.h"
#include "core/text.h"

enum {
    MAX_LINKS = 40,      // as the kernel itself follows
    LONGEST_BASE = 200,  // of 255 bytes that a name may have
    OLD_SECONDS = 86400, // after so long a temporary file nobody holds is stale whoever made it
    EARLY = 1 << 20,     // bytes of a write that go to the disk at once
    MAX_OPEN = 64,       // temporary files that litho_outputs_abandon() knows; a command has three
};

struct LithoOutput {
    char *path;   // as the user wrote it, for sentences
    char *target; // where the symbolic links end
    char *temp;
    int fd;
    LithoReplace replace;
    gint64 end;   // where litho_output_write() goes on
    GMutex order; // one write at a time: the system would let the others spin
    gboolean finished, kept;
};

static GMutex lock;
static GHashTable *inputs; // LithoFileId -> count
static GHashTable *own;    // LithoFileId of finished outputs -> NULL
static char *unfinished[MAX_OPEN]; // `temp` of outputs; NULL = free. Atomic

// --- registry -----------------------------------------------------------------------------------

static guint id_hash(gconstpointer key)
{
    const LithoFileId *id = key;
    return (guint)(id->inode * 31 + id->device);
}

static gboolean id_equal(gconstpointer a, gconstpointer b)
{
    const LithoFileId *x = a, *y = b;
    return x->inode == y->inode && x->device == y->device;
}

static GHashTable *table(GHashTable **which)
{
    if (!*which)
        *which = g_hash_table_new_full(id_hash, id_equal, g_free, NULL);
    return *which;
}

static LithoFileId id_of(const struct stat *info)
{
    return (LithoFileId){info->st_dev, info->st_ino};
}

void litho_input_hold(LithoFileId id)
{
    g_mutex_lock(&lock);
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(table(&inputs), &id));
    g_hash_table_insert(inputs, g_memdup2(&id, sizeof id), GUINT_TO_POINTER(count + 1));
    g_mutex_unlock(&lock);
}

void litho_input_release(LithoFileId id)
{
    g_mutex_lock(&lock);
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(table(&inputs), &id));
    if (count > 1)
        g_hash_table_insert(inputs, g_memdup2(&id, sizeof id), GUINT_TO_POINTER(count - 1));
    else
        g_hash_table_remove(inputs, &id);
    g_mutex_unlock(&lock);
}

void litho_input_hold_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))
        litho_input_hold(id_of(&info));
}

static gboolean has(GHashTable **which, const struct stat *info)
{
    LithoFileId id = id_of(info);
    g_mutex_lock(&lock);
    gboolean found = g_hash_table_contains(table(which), &id);
    g_mutex_unlock(&lock);
    return found;
}

// --- targets ------------------------------------------------------------------------------------

// Target of the last component's symbolic links; the file need not exist.
static char *follow_links(const char *path, GError **error)
{
    char *target = g_strdup(path);
    for (int k = 0; k < MAX_LINKS; k++) {
        struct stat info;
        if (lstat(target, &info) < 0 || !S_ISLNK(info.st_mode))
            return target;
        g_autofree char *to = g_file_read_link(target, NULL);
        if (!to)
            break;
        g_autofree char *folder = g_path_get_dirname(target);
        g_free(target);
        target = g_path_is_absolute(to) ? g_steal_pointer(&to) : g_build_filename(folder, to, NULL);
    }
    g_free(target);
    errno = ELOOP;
    litho_refuse_errno(error, "write", path);
    return NULL;
}

// TRUE when one of the folders above `path` is an input: a survey in the form of Zarr. Another
// folder is refused by whoever was to read it.
static gboolean lies_in_an_input(const char *path)
{
    g_autofree char *target = follow_links(path, NULL);
    g_autofree char *folder = target ? g_path_get_dirname(target) : NULL;
    char *at = folder ? realpath(folder, NULL) : NULL; // without a folder the output fails anyhow
    gboolean found = FALSE;
    while (at && *at && !found) {
        struct stat info;
        found = stat(at, &info) == 0 && has(&inputs, &info) && litho_is_store(at);
        *strrchr(at, '/') = 0;
    }
    free(at);
    return found;
}

// A folder that is not there or takes no file is told before hours of computing.
static gboolean check_folder(const char *path, GError **error)
{
    g_autofree char *target = follow_links(path, error);
    g_autofree char *folder = target ? g_path_get_dirname(target) : NULL;
    g_autofree char *inside = folder ? g_build_filename(folder, ".", NULL) : NULL;
    if (!inside)
        return FALSE;
    if (access(inside, W_OK | X_OK) == 0)
        return TRUE;
    if (errno != ENOENT)
        return litho_refuse_errno(error, "write", path);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                _("cannot write %s: there is no folder %s"), path, folder);
    return FALSE;
}

static gboolean check_target(const char *path, LithoReplace replace, GError **error)
{
    struct stat info;
    if (lies_in_an_input(path))
        return litho_refuse(
            error, LITHO_ERROR_PARAMETER,
            "%s lies in the folder of an input; choose another place for the output", path);
    if (stat(path, &info) < 0)
        return check_folder(path, error);
    if (has(&inputs, &info))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s is an input; choose another name for the output", path);
    if (S_ISREG(info.st_mode) &&
        (replace == LITHO_REPLACE_ANY || (replace == LITHO_REPLACE_OWN && has(&own, &info))))
        return check_folder(path, error);
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                S_ISREG(info.st_mode) ? _("%s exists; use --force to replace it")
                                      : _("%s exists and is no regular file"),
                path);
    return FALSE;
}

// Folder and last component: two names of one file that need not exist yet are equal in both.
static gboolean same_place(const char *a, const char *b)
{
    g_autofree char *x = follow_links(a, NULL), *y = follow_links(b, NULL);
    if (!x || !y)
        return FALSE;
    g_autofree char *folder_x = g_path_get_dirname(x), *folder_y = g_path_get_dirname(y);
    g_autofree char *base_x = g_path_get_basename(x), *base_y = g_path_get_basename(y);
    struct stat p, q;
    if (stat(x, &p) == 0 && stat(y, &q) == 0)
        return p.st_dev == q.st_dev && p.st_ino == q.st_ino;
    return strcmp(base_x, base_y) == 0 && stat(folder_x, &p) == 0 && stat(folder_y, &q) == 0 &&
           p.st_dev == q.st_dev && p.st_ino == q.st_ino;
}

gboolean litho_outputs_check(const char *const *paths, LithoReplace replace, GError **error)
{
    for (guint k = 0; paths[k]; k++) {
        if (!check_target(paths[k], replace, error))
            return FALSE;
        for (guint j = 0; j < k; j++)
            if (same_place(paths[j], paths[k]))
                return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                    "%s and %s are one file; each output needs a name of its own",
                                    paths[j], paths[k]);
    }
    return TRUE;
}

// --- temporary files ----------------------------------------------------------------------------

// "survey.sgy.part-"; the process id and six random letters follow.
static char *temp_prefix(const char *target)
{
    g_autofree char *base = g_path_get_basename(target);
    if (strlen(base) > LONGEST_BASE)
        base[LONGEST_BASE] = 0;
    return g_strconcat(base, ".part-", NULL);
}

// Nobody holds the lock that a writer keeps, and its process is gone. A process of another machine
// cannot be asked for: there the lock alone decides, once the file is a day old.
static gboolean is_stale(const char *temp, long pid)
{
    struct stat info;
    int fd = g_open(temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return FALSE;
    gboolean gone = kill((pid_t)pid, 0) < 0 && errno == ESRCH;
    gboolean stale = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                     (gone || info.st_mtime + OLD_SECONDS < g_get_real_time() / G_USEC_PER_SEC);
    close(fd);
    return stale;
}

static void remove_stale(const char *target)
{
    g_autofree char *folder = g_path_get_dirname(target), *prefix = temp_prefix(target);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        long pid;
        char letters[8], rest;
        if (!g_str_has_prefix(name, prefix) ||
            sscanf(name + strlen(prefix), "%ld-%6[A-Za-z0-9]%c", &pid, letters, &rest) != 2 ||
            pid < 1 || strlen(letters) != 6)
            continue;
        g_autofree char *temp = g_build_filename(folder, name, NULL);
        if (is_stale(temp, pid))
            g_unlink(temp);
    }
}

// Puts `to` where `from` stands.
static void replace_unfinished(char *from, char *to)
{
    for (int k = 0; k < MAX_OPEN; k++)
        if (g_atomic_pointer_compare_and_exchange(&unfinished[k], from, to))
            return;
}

void litho_outputs_keep_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) // open() gives the lowest number that is free
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void litho_outputs_abandon(void)
{
    for (int k = 0; k < MAX_OPEN; k++) {
        const char *temp = g_atomic_pointer_get(&unfinished[k]);
        if (temp)
            unlink(temp);
    }
}

static gboolean open_temp(LithoOutput *o, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(o->target), *prefix = temp_prefix(o->target);
    g_autofree char *name = g_strdup_printf("%s%ld-XXXXXX", prefix, (long)getpid());
    o->temp = g_build_filename(folder, name, NULL);
    o->fd = g_mkstemp_full(o->temp, O_RDWR | O_CLOEXEC, 0666);
    if (o->fd < 0) {
        g_clear_pointer(&o->temp, g_free);
        return litho_refuse_errno(error, "write", o->path); // the temporary name would only puzzle
    }
    flock(o->fd, LOCK_EX | LOCK_NB); // where it fails, the process id alone must do
    replace_unfinished(NULL, o->temp);
    return TRUE;
}

static void keep_mode(const LithoOutput *o)
{
    struct stat info;
    if (stat(o->target, &info) < 0)
        return;
    if (fchown(o->fd, info.st_uid, info.st_gid) < 0) // only root may give a file away
        (void)!fchown(o->fd, (uid_t)-1, info.st_gid);
    fchmod(o->fd, info.st_mode & 07777);
}

// "survey.sgy.part", which one process at a time may hold.
static gboolean open_lasting(LithoOutput *o, LithoResume how, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(o->target), *prefix = temp_prefix(o->target);
    prefix[strlen(prefix) - 1] = '\0'; // no dash
    o->temp = strcmp(folder, ".") == 0 ? g_strdup(prefix) : g_build_filename(folder, prefix, NULL);
    o->kept = TRUE; // until it is ours
    if (!check_target(o->temp, how == LITHO_RESUME_FIRST ? o->replace : LITHO_REPLACE_ANY, error))
        return FALSE;
    o->fd = g_open(o->temp, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (o->fd < 0)
        return litho_refuse_errno(error, "write", o->path);
    if (flock(o->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_BUSY, _("another process is writing %s"),
                    o->path);
        return FALSE;
    }
    o->kept = FALSE;
    return how == LITHO_RESUME_KEPT || ftruncate(o->fd, 0) == 0 ||
           litho_refuse_errno(error, "write", o->path);
}

static LithoOutput *output_new(const char *path, LithoReplace replace, const LithoResume *how,
                               GError **error)
{
    if (!check_target(path, replace, error))
        return NULL;
    g_autofree char *target = follow_links(path, error);
    if (!target)
        return NULL;
    LithoOutput *o = g_new0(LithoOutput, 1);
    g_mutex_init(&o->order);
    o->path = g_strdup(path);
    o->target = g_steal_pointer(&target);
    o->fd = -1;
    o->replace = replace;
    remove_stale(o->target);
    if (!(how ? open_lasting(o, *how, error) : open_temp(o, error))) {
        litho_output_free(o);
        return NULL;
    }
    keep_mode(o);
    return o;
}

LithoOutput *litho_output_new(const char *path, LithoReplace replace, GError **error)
{
    return output_new(path, replace, NULL, error);
}

LithoOutput *litho_output_resume(const char *path, LithoReplace replace, LithoResume how,
                                 GError **error)
{
    return output_new(path, replace, &how, error);
}

void litho_output_keep(LithoOutput *o)
{
    o->kept = TRUE;
}

void litho_output_free(LithoOutput *o)
{
    if (!o)
        return;
    if (o->fd >= 0)
        close(o->fd);
    if (!o->finished && !o->kept && o->temp)
        g_unlink(o->temp);
    if (o->temp)
        replace_unfinished(o->temp, NULL);
    g_free(o->path);
    g_free(o->target);
    g_free(o->temp);
    g_mutex_clear(&o->order);
    g_free(o);
}

// --- bytes --------------------------------------------------------------------------------------

gboolean litho_output_write_at(LithoOutput *o, const void *bytes, gint64 n, gint64 at,
                               GError **error)
{
    int code = 0;
    g_mutex_lock(&o->order);
    for (gint64 done = 0; done < n && !code;) {
        ssize_t put = pwrite(o->fd, (const char *)bytes + done, n - done, at + done);
        if (put >= 0)
            done += put;
        else if (errno != EINTR)
            code = errno;
    }
    g_mutex_unlock(&o->order);
    errno = code;
    if (code)
        return litho_refuse_errno(error, "write", o->path);
    // The disk begins now with what the fsync at the end would wait for.
    if (n >= EARLY)
        sync_file_range(o->fd, at, n, SYNC_FILE_RANGE_WRITE);
    return TRUE;
}

gboolean litho_output_read_at(LithoOutput *o, void *bytes, gint64 n, gint64 at)
{
    return litho_read_at(o->fd, bytes, n, at) == n;
}

gboolean litho_output_write(LithoOutput *o, const void *bytes, gsize n, GError **error)
{
    if (!litho_output_write_at(o, bytes, (gint64)n, o->end, error))
        return FALSE;
    o->end += (gint64)n;
    return TRUE;
}

static void sync_folder(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int fd = g_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    fsync(fd); // some file systems refuse it for folders; the file itself is safe by then
    close(fd);
}

static gboolean move_into_place(LithoOutput *o, GError **error)
{
    if (!check_target(o->path, o->replace, error)) // it may have become an input meanwhile
        return FALSE;
    // Without force the name must still be free: another program may have taken it meanwhile.
    gboolean force = o->replace == LITHO_REPLACE_ANY ||
                     (o->replace == LITHO_REPLACE_OWN && access(o->target, F_OK) == 0);
    int failed = force ? rename(o->temp, o->target)
                       : renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->target, RENAME_NOREPLACE);
    if (failed && !force && (errno == EINVAL || errno == ENOSYS)) // not every file system can
        failed = access(o->target, F_OK) == 0 ? (errno = EEXIST, -1) : rename(o->temp, o->target);
    if (failed)
        return litho_refuse_errno(error, "create", o->path);
    o->finished = TRUE;
    sync_folder(o->target);
    return TRUE;
}

gboolean litho_output_finish(LithoOutput *o, GError **error)
{
    struct stat info;
    if (o->finished)
        return TRUE;
    if (fsync(o->fd) < 0 || fstat(o->fd, &info) < 0)
        return litho_refuse_errno(error, "write", o->path);
    int failed = close(o->fd); // network file systems tell of a full disk here
    o->fd = -1;
    if (failed && errno != EINTR)
        return litho_refuse_errno(error, "write", o->path);
    if (!move_into_place(o, error))
        return FALSE;
    LithoFileId id = id_of(&info);
    g_mutex_lock(&lock);
    g_hash_table_add(table(&own), g_memdup2(&id, sizeof id));
    g_mutex_unlock(&lock);
    return TRUE;
}

gboolean litho_output_save(const char *path, const char *text, gssize n, LithoReplace replace,
                           GError **error)
{
    g_autoptr(LithoOutput) o = litho_output_new(path, replace, error);
    return o && litho_output_write(o, text, n < 0 ? strlen(text) : (gsize)n, error) &&
           litho_output_finish(o, error);
}
