// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_geometry.h"
#include "core/io/team.h"
#include "core/text.h"

enum {
    CHUNK_TRACES = 4096,      // a thread's portion between two looks at the cancel flag, of headers
                              // that are read alone; else it is one block
    EXPECTED = 256,           // headers that the disk is asked for at a time
    BLOCK_BYTES = 1 << 20,    // larger than any readahead, small enough for the cache
    BLOCK_STRIDE = 12 * 1024, // beyond it reading headers alone beats reading everything
};

static void take_header(LithoScan *scan, const LithoTraceFile *file, gint64 in_file,
                        const guint8 *h)
{
    const LithoOrder order = file->order;
    const gint64 t = file->base + in_file;
    guint8 flags = 0;
    if (scan->judged && litho_segy_header_foreign(h, order, litho_file_trace_samples(file, in_file),
                                                  file->dt_binary))
        flags |= LITHO_SCAN_FOREIGN;
    if (!scan->bare && h[0] == 0 && memcmp(h, h + 1, LITHO_HEADER_BYTES - 1) == 0)
        flags |= LITHO_SCAN_EMPTY;
    const int id = litho_get_i16(h + 28, order);
    if (id == 2 || (scan->apart && id == LITHO_DUMMY))
        flags |= LITHO_SCAN_DEAD;
    if (scan->apart && !(flags & LITHO_SCAN_FOREIGN) && litho_segy_auxiliary(file, h))
        flags |= LITHO_SCAN_AUXILIARY;
    scan->flags[t] = flags;
    for (int c = 0; c < 2 && scan->have_keys; c++) {
        gint32 value = litho_get_i32(h + scan->byte[c] - 1, order);
        double number = value;
        if (scan->floats[c]) {
            float v;
            memcpy(&v, &value, sizeof v);
            number = isfinite(v) ? v : 0;
            value = (gint32)CLAMP(rint(number), G_MININT32, G_MAXINT32);
        }
        if (scan->coordinates && value == G_MININT32)
            scan->flags[t] |= LITHO_SCAN_EMPTY; // what NaN becomes: no coordinate
        if (scan->coordinates) {
            int scalar = scan->scalar ? scan->scalar : litho_get_i16(h + 70, order);
            double v = litho_scaled(number, scalar) / scan->scale;
            value = (gint32)CLAMP(rint(v), G_MININT32, G_MAXINT32);
        }
        scan->key[c][t] = value;
    }
    if (scan->offset)
        scan->offset[t] = litho_get_i32(h + 36, order);
    if (scan->delay)
        scan->delay[t] = litho_get_i16(h + 108, order);
}

static gint64 block_traces(const LithoTraceFile *file)
{
    const gboolean whole = !file->offsets && file->stride <= BLOCK_STRIDE;
    return whole ? MAX(BLOCK_BYTES / file->stride, 1) : 0;
}

// Traces that a thread takes at a time. Threads that read blocks far apart would hide from the
// system that the file is read from its beginning to its end.
static gint64 portion(const LithoTraceFile *file)
{
    const gint64 block = block_traces(file);
    return block ? block : CHUNK_TRACES;
}

// Traces [from, to) in one read.
static gboolean scan_block(LithoScan *scan, const LithoTraceFile *file, gint64 from, gint64 to,
                           guint8 *block, GError **error)
{
    const gint64 bytes = (to - from - 1) * file->stride + LITHO_HEADER_BYTES;
    if (!litho_file_read_all(file, block, bytes, litho_file_trace_at(file, from), error))
        return FALSE;
    for (gint64 t = from; t < to; t++)
        take_header(scan, file, t, block + (t - from) * file->stride);
    return TRUE;
}

// Headers of traces [from, to) alone. From the first one on that does not lie in memory the disk
// is asked for many at once, as it would take them one by one.
static gboolean scan_headers(LithoScan *scan, const LithoTraceFile *file, gint64 from, gint64 to,
                             guint8 *header, GError **error)
{
    gint64 expected = -1; // the trace that is asked for next
    for (gint64 t = from; t < to; t++) {
        const gint64 at = litho_file_trace_at(file, t);
        if (!litho_file_read_cached(file, header, LITHO_HEADER_BYTES, at)) {
            expected = MAX(expected, t + 1);
            for (; expected < MIN(t + EXPECTED, to); expected++)
                litho_file_expect(file, LITHO_HEADER_BYTES, litho_file_trace_at(file, expected));
            if (!litho_file_read_all(file, header, LITHO_HEADER_BYTES, at, error))
                return FALSE;
        }
        take_header(scan, file, t, header);
    }
    return TRUE;
}

typedef struct ScanLoop {
    LithoScan *scan;
    const LithoTraceFile *file;
    gint64 done, total; // traces, for progress
    LithoRun *run;
    GMutex telling;
    LithoTeam team;
} ScanLoop;

static void tell_headers(ScanLoop *s, gint64 from, gint64 n)
{
    const LithoScan *scan = s->scan;
    if (!scan->on_headers || !scan->have_keys)
        return;
    g_mutex_lock(&s->telling);
    scan->on_headers(scan->key[0] + from, scan->key[1] + from, n, s->total, scan->headers_data);
    g_mutex_unlock(&s->telling);
}

static void scan_share(gpointer data, gboolean caller)
{
    ScanLoop *s = data;
    const LithoTraceFile *file = s->file;
    GError *local = NULL;
    gint64 from;
    const gint64 step = portion(file);
    g_autofree guint8 *block = g_try_malloc(BLOCK_BYTES + BLOCK_STRIDE);
    if (!block)
        litho_refuse(&local, LITHO_ERROR_MEMORY, "no memory to read trace headers");
    while (block && litho_team_take(&s->team, step, file->traces, &from)) {
        const gint64 to = MIN(from + step, file->traces);
        if (block_traces(file) ? !scan_block(s->scan, file, from, to, block, &local)
                               : !scan_headers(s->scan, file, from, to, block, &local))
            break;
        tell_headers(s, file->base + from, to - from);
        const gint64 so_far = __atomic_add_fetch(&s->done, to - from, __ATOMIC_RELAXED);
        if (caller ? !litho_run_step(s->run, file->base + so_far, s->total, NULL)
                   : !litho_run_checkpoint(s->run))
            litho_team_stop(&s->team);
    }
    litho_team_fail(&s->team, local);
}

static gboolean scan_file(LithoScan *scan, const LithoTraceFile *file, gint64 total, LithoRun *run,
                          GError **error)
{
    // No team for a few headers: starting one costs more than reading them.
    const gint64 chunks = (file->traces + portion(file) - 1) / portion(file);
    ScanLoop loop = {.scan = scan, .file = file, .total = total, .run = run,
                     .team = LITHO_TEAM_START};
    g_mutex_init(&loop.telling);
    litho_team_run((int)MIN(litho_run_threads(run), chunks), scan_share, &loop);
    g_mutex_clear(&loop.telling);
    if (!litho_team_end(&loop.team, error))
        return FALSE;
    return litho_run_step(run, file->base + file->traces, total, error);
}

gboolean litho_scan_run(LithoScan *scan, LithoSurvey *survey, LithoRun *run, GError **error)
{
    gint64 n = scan->n = survey->traces;
    gint64 each =
        1 + (scan->have_keys ? 8 : 0) + (scan->want_offset ? 4 : 0) + (scan->want_delay ? 2 : 0);
    if (!litho_memory_check(n * each, "the list of traces", error))
        return FALSE;
    scan->flags = g_try_malloc0(n);
    gboolean good = scan->flags != NULL;
    for (int c = 0; c < 2 && scan->have_keys; c++)
        good &= (scan->key[c] = g_try_new(gint32, n)) != NULL;
    if (scan->want_offset)
        good &= (scan->offset = g_try_new(gint32, n)) != NULL;
    if (scan->want_delay)
        good &= (scan->delay = g_try_new(gint16, n)) != NULL;
    if (!good) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("no memory for a list of %" PRId64 " traces"), n);
        return FALSE;
    }
    litho_run_begin(run, "scanning headers", "traces");
    for (guint f = 0; f < survey->files->len; f++)
        if (!scan_file(scan, &g_array_index(survey->files, LithoTraceFile, f), n, run, error))
            return FALSE;
    return TRUE;
}

void litho_scan_clear(LithoScan *scan)
{
    g_free(scan->key[0]);
    g_free(scan->key[1]);
    g_free(scan->offset);
    g_free(scan->delay);
    g_free(scan->flags);
    *scan = (LithoScan){0};
}
