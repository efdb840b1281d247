// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/external/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "core/text.h"

enum {
    PIECE = 256 << 10,   // bytes read or written at once
    PIPE_BYTES = 1 << 20, // asked of the system for each pipe
    TOLD_BYTES = 8 << 10, // kept of standard error
    SAID_BYTES = 240,     // of it in a sentence
    PIECES = 16,          // at most between two looks at the cancel button
    WAIT_MS = 10,         // the longest wait between them
    FAREWELL_MS = 100,    // for a program to end by itself
};

struct ExternalProgram {
    char *name;
    GPid pid; // and process group; 0 = it has been waited for
    int status;
    int in, out, err; // our ends; -1 = closed
    GString *told;    // the end of what it wrote to standard error
    double progress;  // 0..1 that it told, -1 = it tells none
    char *piece;
};

// --- start --------------------------------------------------------------------------------------

// In the child: a group of its own, so that a wrapper's programs go with it and Ctrl+C reaches only
// us; no signal blocked.
static void leave_group(gpointer data)
{
    (void)data;
    sigset_t none;
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void make_ready(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); // refused where the system allows less
}

static char **environment(const char *python)
{
    char **list = g_get_environ();
    const char *old = g_environ_getenv(list, "PYTHONPATH");
    g_autofree char *path = python && old && *old ? g_strdup_printf("%s:%s", python, old)
                                                  : g_strdup(python);
    return path ? g_environ_setenv(list, "PYTHONPATH", path, TRUE) : list;
}

ExternalProgram *external_program_start(char *const *command, const char *folder, const char *name,
                                        const char *python, GError **error)
{
    g_auto(GStrv) env = environment(python);
    g_autoptr(GError) why = NULL;
    int in, out, err;
    GPid pid;
    if (!g_spawn_async_with_pipes(folder, (char **)command, env,
                                  G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH |
                                      G_SPAWN_CLOEXEC_PIPES,
                                  leave_group, NULL, &pid, &in, &out, &err, &why)) {
        litho_refuse(error, LITHO_ERROR_PROGRAM, "the program '%s' cannot be started: %s", name,
                     why->message);
        return NULL;
    }
    ExternalProgram *p = g_new0(ExternalProgram, 1);
    *p = (ExternalProgram){.name = g_strdup(name), .pid = pid, .in = in, .out = out, .err = err,
                           .progress = -1};
    p->told = g_string_new(NULL);
    p->piece = g_malloc(PIECE);
    make_ready(in);
    make_ready(out);
    make_ready(err);
    return p;
}

// --- end ----------------------------------------------------------------------------------------

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

// TRUE when the program has ended, within `ms`.
static gboolean has_ended(ExternalProgram *p, int ms)
{
    const gint64 until = g_get_monotonic_time() + 1000 * (gint64)ms;
    while (p->pid != 0) {
        const pid_t got = waitpid(p->pid, &p->status, WNOHANG);
        if (got == p->pid || (got < 0 && errno == ECHILD)) {
            p->pid = 0;
            return TRUE;
        }
        if (g_get_monotonic_time() >= until)
            return FALSE;
        g_usleep(2000);
    }
    return TRUE;
}

void external_program_kill(ExternalProgram *p)
{
    if (!p)
        return;
    if (p->pid != 0) {
        kill(-p->pid, SIGKILL);
        kill(p->pid, SIGKILL); // had it no time to make its group
        while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
            ;
    }
    close_fd(&p->in);
    close_fd(&p->out);
    close_fd(&p->err);
    g_string_free(p->told, TRUE);
    g_free(p->name);
    g_free(p->piece);
    g_free(p);
}

void external_program_end(ExternalProgram *p)
{
    if (!p)
        return;
    close_fd(&p->in);
    close_fd(&p->out); // a program that still writes ends by SIGPIPE
    has_ended(p, FAREWELL_MS);
    external_program_kill(p);
}

// --- standard error -----------------------------------------------------------------------------

// A line "LITHO-PROGRESS 0.4" is no message.
static gboolean take_progress(ExternalProgram *p, const char *line)
{
    static const char word[] = "LITHO-PROGRESS ";
    if (!g_str_has_prefix(line, word))
        return FALSE;
    p->progress = CLAMP(g_ascii_strtod(line + strlen(word), NULL), 0, 1);
    return TRUE;
}

// Takes the lines that tell progress out of what was told, and keeps the end of the rest.
static void look_at_told(ExternalProgram *p)
{
    for (gsize at = 0; at < p->told->len;) {
        const char *line = p->told->str + at, *end = strchr(line, '\n');
        const gsize n = end ? (gsize)(end - line) + 1 : 0;
        if (!end)
            break;
        if (take_progress(p, line))
            g_string_erase(p->told, (gssize)at, (gssize)n);
        else
            at += n;
    }
    if (p->told->len > TOLD_BYTES)
        g_string_erase(p->told, 0, (gssize)(p->told->len - TOLD_BYTES));
}

// Reads what it tells; one that tells without end is left for a look at the cancel button.
static void hear(ExternalProgram *p)
{
    for (int n = 0; p->err >= 0 && n < PIECES; n++) {
        const ssize_t got = read(p->err, p->piece, PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || (got < 0 && errno != EAGAIN))
            close_fd(&p->err);
        if (got <= 0)
            break;
        for (ssize_t k = 0; k < got; k++) // a 0 would hide the rest
            p->piece[k] = p->piece[k] ? p->piece[k] : ' ';
        g_string_append_len(p->told, p->piece, got);
        look_at_told(p);
    }
}

// ": " and the last line that the program told, or "". g_free().
static char *last_words(ExternalProgram *p)
{
    hear(p);
    g_autofree char *text = g_utf8_make_valid(p->told->str, -1);
    g_strchomp(text);
    const char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    g_autoptr(GString) said = g_string_new(NULL);
    for (const char *c = line; *c && said->len < SAID_BYTES; c = g_utf8_next_char(c))
        g_string_append_unichar(said, g_unichar_iscntrl(g_utf8_get_char(c)) ? ' '
                                                                           : g_utf8_get_char(c));
    g_strstrip(said->str);
    return *said->str ? g_strdup_printf(": %s", said->str) : g_strdup("");
}

// --- the exchange -------------------------------------------------------------------------------

typedef struct Exchange {
    ExternalProgram *program;
    const ExternalTalk *talk;
    const char *left; // still to be written
    gsize n_left;
    gboolean last;
    gboolean given, whole, closed; // all was written; all was read; its output has ended
    gint64 done, total;
} Exchange;

// write() that answers EPIPE without a signal to the process.
static ssize_t write_quietly(int fd, const char *bytes, gsize n)
{
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    const gboolean was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const ssize_t put = write(fd, bytes, n);
    const int saved = errno;
    const struct timespec at_once = {0};
    if (put < 0 && saved == EPIPE && !was_pending)
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return put;
}

// Writes as much as fits.
static void say(Exchange *x)
{
    for (int k = 0; !x->given && k < PIECES; k++) {
        if (x->n_left == 0)
            x->left = x->talk->give(x->talk->data, &x->n_left);
        if (!x->left) {
            x->given = TRUE;
            if (x->last)
                close_fd(&x->program->in);
            return;
        }
        const ssize_t put = write_quietly(x->program->in, x->left, MIN(x->n_left, PIECE));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            return;
        if (put < 0) { // it reads no more; its answer, or its end, says why
            close_fd(&x->program->in);
            x->given = TRUE;
            return;
        }
        x->left += put;
        x->n_left -= (gsize)put;
    }
}

static gboolean refuse_end(Exchange *x, GError **error)
{
    ExternalProgram *p = x->program;
    const gboolean ended = has_ended(p, FAREWELL_MS);
    g_autofree char *words = last_words(p);
    g_autofree char *far =
        x->done > 0
            ? g_strdup_printf(_("after %" PRId64 " of %" PRId64 " traces"), x->done, x->total)
            : g_strdup(_("before its answer"));
    if (!ended)
        return litho_refuse(error, LITHO_ERROR_PROGRAM,
                            "the program '%s' closed its standard output %s%s", p->name, far, words);
    if (WIFSIGNALED(p->status))
        return litho_refuse(error, LITHO_ERROR_PROGRAM,
                            "the program '%s' was ended %s by signal %d (%s)%s", p->name, far,
                            WTERMSIG(p->status), g_strsignal(WTERMSIG(p->status)), words);
    return litho_refuse(error, LITHO_ERROR_PROGRAM,
                        "the program '%s' ended %s with status %d%s", p->name, far,
                        WEXITSTATUS(p->status), words);
}

// Reads what is there.
static gboolean listen_to(Exchange *x, GError **error)
{
    ExternalProgram *p = x->program;
    for (int k = 0; k < PIECES; k++) {
        const ssize_t got = read(p->out, p->piece, PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return TRUE;
        x->closed = got <= 0;
        if (x->closed)
            return x->whole || refuse_end(x, error);
        if (!x->talk->take(x->talk->data, p->piece, (gsize)got, error)) {
            g_prefix_error(error, _("the program '%s' "), p->name);
            return FALSE;
        }
        x->whole = x->talk->is_whole(x->talk->data, &x->done, &x->total);
    }
    return TRUE;
}

// Progress by traces that came; by the program's own word before the first of them.
static gboolean step(const Exchange *x, LithoRun *run, GError **error)
{
    const gint64 told = (gint64)(MAX(x->program->progress, 0) * (double)x->total);
    return litho_run_step(run, MAX(x->done, told), x->total, error);
}

gboolean external_program_is_alive(ExternalProgram *p)
{
    struct pollfd out = {.fd = p->out}; // its end is told without being asked for
    return p->in >= 0 && !has_ended(p, 0) &&
           !(poll(&out, 1, 0) > 0 && out.revents & (POLLHUP | POLLERR));
}

// One that still runs with its output closed is ended; its answer is whole.
static gboolean ended_well(Exchange *x, GError **error)
{
    const ExternalProgram *p = x->program;
    return !has_ended(x->program, FAREWELL_MS) ||
           (WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0) || refuse_end(x, error);
}

gboolean external_program_talk(ExternalProgram *p, const ExternalTalk *talk, gboolean last,
                               LithoRun *run, GError **error)
{
    Exchange x = {.program = p, .talk = talk, .last = last};
    talk->is_whole(talk->data, &x.done, &x.total);
    p->progress = -1;
    while (!x.whole || !x.given || (last && !x.closed)) {
        if (!step(&x, run, error))
            return FALSE;
        struct pollfd fds[] = {{.fd = x.closed ? -1 : p->out, .events = POLLIN},
                               {.fd = p->err, .events = POLLIN},
                               {.fd = x.given ? -1 : p->in, .events = POLLOUT}};
        if (poll(fds, G_N_ELEMENTS(fds), WAIT_MS) <= 0)
            continue;
        if (fds[1].revents)
            hear(p);
        if (fds[2].revents)
            say(&x);
        if (fds[0].revents && !listen_to(&x, error))
            return FALSE;
    }
    return step(&x, run, error) && (!last || ended_well(&x, error));
}
