// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/io/output.h"
#include "core/text.h"

enum { PIECE = 1 << 20, LONGEST = 512 };

// Names that a signal handler can read: complete before the file behind them is made.
static char folder[LONGEST], in_path[LONGEST], out_path[LONGEST];

void litho_cli_pipe_abandon(void)
{
    if (*in_path)
        unlink(in_path);
    if (*out_path)
        unlink(out_path);
    if (*folder)
        rmdir(folder);
}

// ".sgy" for "-", ".su" for "-.su"; NULL = the word is a name.
static const char *suffix_of(const char *word)
{
    static const char *const known[] = {".sgy", ".segy", ".su", ".npy"};
    if (!word || word[0] != '-')
        return NULL;
    for (guint k = 0; k < G_N_ELEMENTS(known); k++)
        if (g_ascii_strcasecmp(word + 1, known[k]) == 0)
            return known[k];
    return word[1] == '\0' ? "" : NULL;
}

static gboolean system_error(const char *what, GError **error)
{
    const int code = errno;
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), _("cannot %s: %s"), what,
                g_strerror(code));
    return FALSE;
}

static gboolean write_all(int fd, const char *bytes, gsize n)
{
    while (n > 0) {
        const ssize_t put = write(fd, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return FALSE;
        bytes += put;
        n -= (gsize)put;
    }
    return TRUE;
}

// From one descriptor to the other; `begin`, if not NULL, gets the first 6 bytes.
static gboolean copy(int from, int to, char begin[6], GError **error)
{
    g_autofree char *piece = g_malloc(PIECE);
    gsize all = 0;
    for (;;) {
        const ssize_t got = read(from, piece, PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error(_("read standard input"), error);
        if (got == 0)
            return TRUE;
        for (gsize k = all; begin && k < MIN(6, all + (gsize)got); k++)
            begin[k] = piece[k - all];
        all += (gsize)got;
        if (!write_all(to, piece, (gsize)got))
            return system_error(to == STDOUT_FILENO ? _("write to standard output")
                                                    : _("keep standard input in a temporary file"),
                                error);
    }
}

static gboolean make_folder(GError **error)
{
    if (*folder)
        return TRUE;
    g_autofree char *made = g_build_filename(g_get_tmp_dir(), "lithoscope-XXXXXX", NULL);
    if (strlen(made) + sizeof "/stdout.segy" > LONGEST)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "the name of TMPDIR is too long");
    if (!g_mkdtemp(made)) {
        g_autofree char *what = g_strdup_printf(
            _("make a folder for temporary files in %s (TMPDIR may name another one)"),
            g_get_tmp_dir());
        return system_error(what, error);
    }
    g_strlcpy(folder, made, sizeof folder);
    atexit(litho_cli_pipe_abandon);
    return TRUE;
}

static gboolean take_input(char **word, const char *suffix, GError **error)
{
    char begin[6] = {0};
    g_snprintf(in_path, sizeof in_path, "%s/stdin", folder);
    const int fd = open(in_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return system_error(_("keep standard input in a temporary file"), error);
    litho_input_hold_path("/dev/stdin"); // a file behind it is an input by whatever name it has
    const gboolean ok = copy(STDIN_FILENO, fd, begin, error);
    if (close(fd) != 0 && ok)
        return system_error(_("keep standard input in a temporary file"), error);
    if (!ok)
        return FALSE;
    if (!*suffix)
        suffix = memcmp(begin, "\x93NUMPY", sizeof begin) == 0 ? ".npy" : ".sgy";
    g_autofree char *named = g_strconcat(in_path, suffix, NULL);
    if (rename(in_path, named) != 0)
        return system_error(_("keep standard input in a temporary file"), error);
    g_strlcpy(in_path, named, sizeof in_path);
    g_free(*word);
    *word = g_steal_pointer(&named);
    return TRUE;
}

gboolean litho_cli_pipe_is_asked(const LithoCliFiles *files)
{
    gboolean asked = suffix_of(files->out) != NULL;
    for (char **in = files->in; in && *in; in++)
        asked |= suffix_of(*in) != NULL;
    return asked;
}

gboolean litho_cli_pipe_begin(LithoCliFiles *files, GError **error)
{
    char **taken = NULL;
    for (char **in = files->in; in && *in; in++) {
        if (!suffix_of(*in))
            continue;
        if (taken)
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "standard input (-) can be one of the inputs only");
        taken = in;
    }
    const char *out = suffix_of(files->out);
    if ((!taken && !out))
        return TRUE;
    if (out && isatty(STDOUT_FILENO))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "standard output is a terminal; '-' needs a pipe or a file behind it");
    if (!make_folder(error) || (taken && !take_input(taken, suffix_of(*taken), error)))
        return FALSE;
    if (out) {
        g_snprintf(out_path, sizeof out_path, "%s/stdout%s", folder, *out ? out : ".sgy");
        g_free(files->out);
        files->out = g_strdup(out_path);
    }
    return TRUE;
}

char *litho_cli_pipe_words(const char *sentence)
{
    GString *text = g_string_new(sentence);
    if (*in_path)
        g_string_replace(text, in_path, "standard input", 0);
    if (*out_path)
        g_string_replace(text, out_path, "standard output", 0);
    return g_string_free(text, FALSE);
}

gboolean litho_cli_pipe_from_stdin(const LithoCliFiles *files)
{
    for (char **path = files->in; *in_path && path && *path; path++)
        if (strcmp(*path, in_path) == 0)
            return TRUE;
    return FALSE;
}

gboolean litho_cli_pipe_to_stdout(const LithoCliFiles *files)
{
    return *out_path && g_strcmp0(files->out, out_path) == 0;
}

gboolean litho_cli_pipe_end(const LithoCliFiles *files, GError **error)
{
    if (!litho_cli_pipe_to_stdout(files))
        return TRUE;
    const int fd = open(out_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return system_error(_("read what goes to standard output"), error);
    const gboolean ok = copy(fd, STDOUT_FILENO, NULL, error);
    close(fd);
    return ok;
}
