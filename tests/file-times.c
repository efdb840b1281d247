// SPDX-License-Identifier: GPL-3.0-or-later
//
// Times of reading and writing a file: file-times FILE [cold|warm [THREADS [OUT]]]
//
// Rows beside one another: the plain reads that any program may be measured by, opening (the trace
// headers), all samples in slabs of a gigabyte as `run` reads them, slices, and with OUT a plain
// write and ours. "cold" takes the file out of the page cache before each row. Prints a table for
// docs/cluster.md. No test: times prove nothing on a busy machine.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/io/survey.h"

enum { RUNS = 5 };

static const gint64 SLAB_BYTES = 1 << 30;   // of samples, as core/engine/stream_plan.c cuts them
static const gint64 PLAIN_BYTES = 16 << 20; // of one plain read

typedef struct Subject {
    const char *path, *out;
    gboolean cold;
    int threads; // 0 = all
    LithoSurvey *survey;
    LithoCube *slab; // for writing
    gint64 bytes;    // of what was read or written last
} Subject;

typedef void (*Job)(Subject *s);

static void fail(const char *sentence)
{
    fprintf(stderr, "file-times: %s\n", sentence);
    exit(1);
}

static int open_plain(const char *path, int flags)
{
    const int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0)
        fail(g_strerror(errno));
    return fd;
}

static void forget(const char *path)
{
    const int fd = open_plain(path, O_RDONLY);
    if (fdatasync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        fail("the page cache keeps the file");
    close(fd);
}

// --- jobs -------------------------------------------------------------------------------------

// Reads all of the file, `keep` bytes of it into memory of their own: 0 = all into one buffer.
static void plain(Subject *s, gint64 keep)
{
    const int fd = open_plain(s->path, O_RDONLY);
    const gint64 room = MAX(keep, PLAIN_BYTES);
    char *memory = NULL;
    ssize_t got;
    s->bytes = 0;
    for (gint64 used = room;; used += got) {
        if (used + PLAIN_BYTES > room && (keep > 0 || !memory)) {
            g_free(memory);
            memory = g_malloc((gsize)room);
        }
        used = used + PLAIN_BYTES > room ? 0 : used;
        got = read(fd, memory + used, PLAIN_BYTES);
        if (got <= 0)
            break;
        s->bytes += got;
    }
    g_free(memory);
    close(fd);
}

static void plain_read(Subject *s)
{
    plain(s, 0);
}

static void plain_read_kept(Subject *s)
{
    plain(s, SLAB_BYTES);
}

static LithoCube *read_box(Subject *s, LithoBox box)
{
    GError *error = NULL;
    LithoRun run = {.threads = s->threads};
    LithoCube *cube = litho_survey_read(s->survey, &box, &run, &error);
    if (!cube)
        fail(error->message);
    s->bytes += litho_cube_held_samples(cube) * 4;
    return cube;
}

static void open_survey(Subject *s)
{
    const char *const paths[] = {s->path, NULL};
    GError *error = NULL;
    LithoRun run = {.threads = s->threads};
    g_clear_pointer(&s->survey, litho_survey_unref);
    s->survey = litho_survey_open(paths, NULL, &run, &error);
    if (!s->survey)
        fail(error->message);
    s->bytes = 0;
}

static gint64 slab_inlines(const LithoGrid *g)
{
    return CLAMP(SLAB_BYTES / (g->axis[1].n * g->axis[2].n * 4), 1, g->axis[0].n);
}

static void read_slabs(Subject *s)
{
    const LithoGrid *g = litho_survey_grid(s->survey);
    const gint64 n = g->axis[0].n, step = slab_inlines(g);
    s->bytes = 0;
    for (gint64 i = 0; i < n; i += step) {
        LithoBox box = litho_box_full(g);
        box.lo[0] = i;
        box.hi[0] = MIN(i + step, n);
        litho_cube_unref(read_box(s, box));
    }
}

static void open_and_read(Subject *s)
{
    open_survey(s);
    read_slabs(s);
}

static void slice(Subject *s, int axis)
{
    const LithoGrid *g = litho_survey_grid(s->survey);
    s->bytes = 0;
    litho_cube_unref(read_box(s, litho_box_slice(g, axis, g->axis[axis].n / 2)));
}

static void inline_slice(Subject *s)
{
    slice(s, LITHO_INLINE);
}

static void xline_slice(Subject *s)
{
    slice(s, LITHO_XLINE);
}

static void time_slice(Subject *s)
{
    slice(s, LITHO_SAMPLE);
}

static void plain_write(Subject *s)
{
    const gint64 n = litho_cube_held_samples(s->slab) * 4;
    const int fd = open_plain(s->out, O_WRONLY | O_CREAT | O_TRUNC);
    for (s->bytes = 0; s->bytes < n;) {
        const ssize_t put =
            write(fd, (char *)s->slab->samples + s->bytes, (gsize)MIN(PLAIN_BYTES, n - s->bytes));
        if (put < 0)
            fail(g_strerror(errno));
        s->bytes += put;
    }
    if (fsync(fd) < 0)
        fail(g_strerror(errno));
    close(fd);
    unlink(s->out);
}

static void write_cube(Subject *s)
{
    GError *error = NULL;
    LithoRun run = {.threads = s->threads};
    const LithoSaveOptions options = {.force = TRUE};
    if (!litho_cube_save(s->slab, s->out, &options, &run, &error))
        fail(error->message);
    s->bytes = litho_cube_held_samples(s->slab) * 4;
    unlink(s->out);
}

// --- table ------------------------------------------------------------------------------------

static double processor_s(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void row(Subject *s, const char *name, Job job)
{
    printf("| %s |", name);
    double least_s = G_MAXDOUBLE, least_cpu = G_MAXDOUBLE;
    for (int k = 0; k < RUNS; k++) {
        if (s->cold)
            forget(s->path);
        const double start = litho_now_ms(), cpu = processor_s();
        job(s);
        const double took = 1e-3 * (litho_now_ms() - start);
        printf("%s%.3f", k ? ", " : " ", took);
        fflush(stdout);
        least_s = MIN(least_s, took);
        least_cpu = MIN(least_cpu, processor_s() - cpu);
    }
    printf(" | %.3f | %.2f |\n", least_cpu, 1e-9 * (double)s->bytes / least_s);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        fail("usage: file-times FILE [cold|warm [THREADS [OUT]]]");
    Subject s = {.path = argv[1],
                 .cold = argc > 2 && strcmp(argv[2], "cold") == 0,
                 .threads = argc > 3 ? atoi(argv[3]) : 0,
                 .out = argc > 4 ? argv[4] : NULL};
    printf("| what | s of each run | processor, s | GB/s |\n|---|---|---|---|\n");
    row(&s, "plain read", plain_read);
    row(&s, "plain read into fresh memory", plain_read_kept);
    row(&s, "opening", open_survey);
    row(&s, "reading", read_slabs);
    row(&s, "opening and reading", open_and_read);
    row(&s, "inline", inline_slice);
    row(&s, "crossline", xline_slice);
    row(&s, "time slice", time_slice);
    if (s.out) {
        const LithoGrid *g = litho_survey_grid(s.survey);
        LithoBox box = litho_box_full(g);
        box.hi[0] = slab_inlines(g);
        s.cold = FALSE;
        s.slab = read_box(&s, box);
        row(&s, "plain write with fsync", plain_write);
        row(&s, "writing", write_cube);
        litho_cube_unref(s.slab);
    }
    litho_survey_unref(s.survey);
    return 0;
}
