// SPDX-License-Identifier: GPL-3.0-or-later
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/cli.h"
#include "app/cli_help.h"
#include "app/cli_pipe.h"
#include "app/peers.h"
#include "app/progress.h"
#include "core/calm.h"
#include "core/io/output.h"
#include "core/io/survey.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/words.h"
#include "kernels/external/external.h"
#include "kernels/kernels.h"

static const LithoCommand commands[] = {
    {"info", litho_cli_info, N_("what a seismic file holds")},
    {"convert", litho_cli_convert, N_("one file format to another")},
    {"list", litho_cli_list, N_("operators and their parameters")},
    {"run", litho_cli_run, N_("apply an operator or a recipe to a survey")},
    {"find", litho_cli_find, N_("the best parameters for a survey, without its truth")},
    {"sweep", litho_cli_sweep, N_("values of one or two parameters side by side")},
    {"report", litho_cli_report, N_("pictures and figures of a result on one page")},
    {"synth", litho_cli_synth, N_("generate a cube with known truth")},
    {"render", litho_cli_render, N_("slices or the 3-D scene as a picture")},
    {"demo", litho_cli_demo, N_("play a demonstration: its frames as pictures")},
    {"reproduce", litho_cli_reproduce, N_("what the papers say and what this machine gets")},
    {"bench", litho_cli_bench, N_("time an operator on every backend")},
    {"verify", litho_cli_verify, N_("recompute a sample of an output and compare")},
    {"compare", litho_cli_compare, N_("SNR and other distances of two cubes")},
    {NULL},
};

static int usage(FILE *to)
{
    fprintf(to, _("usage: lithoscope-cli COMMAND ...\n\n"));
    for (const LithoCommand *c = commands; c->name; c++)
        fprintf(to, "  %-9s %s\n", c->name, litho_text(c->what));
    fprintf(to,
            _("\n'lithoscope-cli COMMAND --help' tells more, '--version' the version.\n"
              "Files are given as -i IN and -o OUT or as words in that order.\n"
              "'--operators DIR' in front of COMMAND adds the operators whose panels lie in DIR.\n"
              "Exit status: 0 done, 1 failed, 2 wrong usage, 3 cancelled.\n"));
    return to == stdout ? LITHO_EXIT_OK : LITHO_EXIT_USAGE;
}

// GLib would turn the help's ellipses into question marks where no locale is set.
static void print_as_is(const char *text)
{
    fputs(text, stdout);
}

// Registered for the end of the process, which GLib's --help reaches by exit(): what standard
// output did not take (a full disk) is a failure, too. A closed pipe is the reader's own wish.
static void close_output(void)
{
    litho_outputs_abandon(); // a library may end the program in the middle of its work
    gboolean bad = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !bad && (fclose(stdout) == 0 || errno == EBADF))
        return; // EBADF: there was none from the start, and nothing was printed
    if (errno == EPIPE)
        _exit(LITHO_EXIT_CANCELLED);
    fprintf(stderr, _("lithoscope-cli: cannot write to standard output: %s\n"),
            g_strerror(errno ? errno : EIO));
    _exit(LITHO_EXIT_FAILED);
}

// --- memory that libraries need -----------------------------------------------------------------
// Everything that grows with the data is asked for in a way that may be refused. GLib ends the
// program when one of its own small blocks is refused: then, too, one sentence is said and no
// temporary file is left.

static void on_glib_error(const char *domain, GLogLevelFlags level, const char *message,
                          gpointer data)
{
    static const char words[] = "failed to allocate ";
    const char *at = strstr(message, words);
    if (!at) {
        g_log_default_handler(domain, level, message, data);
        return;
    }
    char line[128]; // no memory is asked for here
    int n = g_snprintf(line, sizeof line, "lithoscope-cli: there is no memory for %s more\n",
                       at + strlen(words));
    litho_outputs_abandon();
    litho_cli_pipe_abandon();
    ssize_t ignored = write(STDERR_FILENO, line, MIN((gsize)n, sizeof line - 1));
    (void)ignored;
    _exit(LITHO_EXIT_FAILED);
}

// FFTW, too, ends the program where one of its blocks is refused; they hold tables for one line of
// a transform, not the data. So does GLib's allocator of small blocks, past the handler above. In
// the signal handler of such an end: the name of the memory that is lacking, NULL = another end.
static const char *lacking_at_abort(void)
{
    void *frames[16];
    const int n = backtrace(frames, G_N_ELEMENTS(frames));
    for (int k = 0; k < n; k++) {
        Dl_info info;
        if (!dladdr(frames[k], &info))
            continue;
        if (info.dli_fname && strstr(info.dli_fname, "libfftw3"))
            return "the tables of a Fourier transform";
        if (info.dli_sname && g_str_has_prefix(info.dli_sname, "g_slice_"))
            return "a small block more";
    }
    return NULL;
}

static void on_abort(int number)
{
    (void)number;
    litho_outputs_abandon(); // abort() goes on when this returns
    litho_cli_pipe_abandon();
    const char *lacking = lacking_at_abort();
    if (!lacking)
        return;
    char line[128];
    int n = g_snprintf(line, sizeof line, "lithoscope-cli: there is no memory for %s\n", lacking);
    ssize_t ignored = write(STDERR_FILENO, line, MIN((gsize)n, sizeof line - 1));
    (void)ignored;
    _exit(LITHO_EXIT_FAILED);
}

static void guard_against_aborts(void)
{
    void *frame;
    backtrace(&frame, 1); // its library is loaded now, while there is memory
    struct sigaction action = {.sa_handler = on_abort};
    sigaction(SIGABRT, &action, NULL);
    g_log_set_handler("GLib", G_LOG_LEVEL_ERROR | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION,
                      on_glib_error, NULL);
}

static const LithoCommand *find(const char *name)
{
    const LithoCommand *c = commands;
    while (c->name && strcmp(c->name, name) != 0)
        c++;
    return c->name ? c : NULL;
}

static int start(const LithoCommand *command, int argc, char **argv)
{
    g_autofree char *name = g_strdup_printf("lithoscope-cli %s", command->name);
    g_set_prgname(name); // what the help says
    return command->main(argc, argv);
}

// Operators that are the user's own programs. What 'help' prints is about the program as it comes.
static gboolean load_panels(int *argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    if (*argc > 1 && strcmp(argv[1], "help") == 0)
        return TRUE;
    if (!litho_external_init(argc, argv, &error)) {
        litho_peers_let_first_tell();
        fprintf(stderr, "lithoscope-cli: %s\n", error->message);
        return FALSE;
    }
    for (const char *const *problem = litho_operators_problems(); *problem; problem++)
        fprintf(stderr, _("note: no operator was made of a panel: %s\n"), *problem);
    return TRUE;
}

// Slabs that are freed go back to the system. glibc lets its limit grow to 32 MiB with the blocks
// that are freed and keeps smaller ones: a filter in four slabs held half as much again as the plan
// tells. Small blocks stay on the heap: given back one by one, they would be zeroed by the system
// again in the next pass.
static void return_slabs(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 4 << 20);
#endif
}

int main(int argc, char **argv)
{
    litho_threads_calm(argv);
    litho_outputs_keep_standard();
    // Manual pages and completions are made from the text of 'help', and are in English.
    if (argc < 3 || strcmp(argv[1], "help") != 0 || argv[2][0] != '-')
        litho_text_init();
    return_slabs();
    atexit(close_output);
    litho_cli_signals_init();
    guard_against_aborts();
    litho_kernels_init();
    if (!load_panels(&argc, argv))
        return LITHO_EXIT_USAGE;
    if (argc < 2) {
        litho_peers_let_first_tell();
        return usage(stderr);
    }
    g_set_print_handler(print_as_is);
    if (strcmp(argv[1], "--version") == 0) {
        printf("lithoscope-cli %s\nreads %s\n", LITHO_VERSION, litho_survey_formats());
        return LITHO_EXIT_OK;
    }
    gboolean help = strcmp(argv[1], "help") == 0;
    if ((help && argc < 3) || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return usage(stdout);
    if (help && argv[2][0] == '-')
        return litho_cli_help(commands, argc - 1, argv + 1);
    const LithoCommand *command = find(help ? argv[2] : argv[1]);
    if (command && help)
        return start(command, 2, (char *[]){argv[2], (char *)"--help", NULL});
    g_autoptr(GError) error = NULL;
    if (command && !litho_memory_check_setting(&error)) {
        litho_peers_let_first_tell();
        fprintf(stderr, "lithoscope-cli: %s\n", error->message);
        return LITHO_EXIT_USAGE;
    }
    if (command)
        return start(command, argc - 1, argv + 1);
    const char *names[G_N_ELEMENTS(commands)] = {NULL};
    for (guint k = 0; commands[k].name; k++)
        names[k] = commands[k].name;
    const char *word = help ? argv[2] : argv[1];
    g_autofree char *hint = litho_word_hint(word, names);
    litho_peers_let_first_tell();
    fprintf(stderr, _("lithoscope-cli: there is no command '%s'%s\n"), word, hint);
    return usage(stderr);
}
