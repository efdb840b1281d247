// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/import/import_guess.h"

#include <gio/gio.h>
#include <math.h>

enum {
    LEAST_SAMPLES = 16, // of a trace
    MOST_SAMPLES = 1 << 14,
    PAIRS = 400000, // that a likeness is taken from
    READ = 1 << 22, // samples
};
static const double alike = 0.15;     // correlation that counts
static const double nearly = 0.75;    // of the best one: a smaller size explains it as well
static const double prominent = 0.01; // over the sizes next to it

typedef struct Samples {
    const float *x;
    gint64 n;
} Samples;

// Correlation of samples `lag` apart; 0 where too few pairs are there.
static double likeness(const Samples *s, gint64 lag)
{
    const gint64 pairs = MIN(s->n - lag, PAIRS);
    double both = 0, first = 0, second = 0;
    if (pairs < LEAST_SAMPLES * 4)
        return 0;
    for (gint64 k = 0; k < pairs; k++) {
        const double a = s->x[k], b = s->x[k + lag];
        both += a * b;
        first += a * a;
        second += b * b;
    }
    return first > 0 && second > 0 ? both / sqrt(first * second) : 0;
}

static double prominence(const Samples *s, gint64 lag, gint64 beside, double *height)
{
    *height = likeness(s, lag);
    return *height - MAX(likeness(s, lag - beside), likeness(s, lag + beside));
}

// The smallest trace length that explains the likeness nearly as well as the best one.
static gint64 trace_length(const Samples *s, gint64 total, LithoRun *run)
{
    double best = 0;
    gint64 found = 0;
    for (int pass = 0; pass < 2; pass++)
        for (gint64 d = LEAST_SAMPLES; d <= MIN(MOST_SAMPLES, total / 2); d++) {
            if (total % d != 0)
                continue;
            const double height = likeness(s, d);
            if (!litho_run_checkpoint(run))
                return 0;
            if (pass == 0)
                best = MAX(best, height);
            else if (found == 0 && height >= nearly * best)
                found = d;
        }
    return best >= alike ? found : 0;
}

// Crosslines of a line: the trace that stands beside, one line on, is more alike than its
// neighbours.
static gint64 line_length(const Samples *s, gint64 traces, gint64 samples, LithoRun *run)
{
    double best = prominent;
    gint64 found = traces;
    for (gint64 m = 3; m <= traces / 2; m++) {
        double height, over;
        if (traces % m != 0)
            continue;
        if (!litho_run_checkpoint(run))
            return traces;
        over = prominence(s, m * samples, samples, &height);
        if (height >= alike && over > best) {
            best = over;
            found = m;
        }
    }
    return found;
}

gboolean litho_import_shape_from_samples(const float *x, gint64 n, gint64 total, LithoRun *run,
                                         gint64 shape[3])
{
    const Samples s = {x, n};
    gint64 finite = 0;
    for (gint64 k = 0; k < n; k++)
        finite += isfinite(x[k]) && fabsf(x[k]) < 1e30f;
    const gint64 samples = finite == n && n > 0 ? trace_length(&s, total, run) : 0;
    if (samples == 0)
        return FALSE;
    shape[2] = samples;
    shape[1] = line_length(&s, total / samples, samples, run);
    shape[0] = total / samples / shape[1];
    return TRUE;
}

gboolean litho_import_shape_of_file(const char *path, LithoRun *run, gint64 shape[3])
{
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GFileInputStream) stream = g_file_read(file, NULL, NULL);
    g_autoptr(GFileInfo) info =
        stream ? g_file_input_stream_query_info(stream, G_FILE_ATTRIBUTE_STANDARD_SIZE, NULL, NULL)
               : NULL;
    const gint64 bytes = info ? g_file_info_get_size(info) : 0;
    const gint64 total = bytes % 4 == 0 ? bytes / 4 : 0, n = MIN(total, READ);
    g_autofree float *x = n > 0 ? g_try_new(float, n) : NULL;
    gsize read = 0;
    return x &&
           g_input_stream_read_all(G_INPUT_STREAM(stream), x, 4 * (gsize)n, &read, NULL, NULL) &&
           read == 4 * (gsize)n && litho_import_shape_from_samples(x, n, total, run, shape);
}
