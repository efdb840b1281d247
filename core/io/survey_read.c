// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_fields.h"
#include "core/io/team.h"
#include "core/text.h"

// Reading a box: its traces are visited in the order of the file, neighbours in one read, blocks
// shared out among threads, decoded straight into the cube.

enum {
    PIECE_TRACES = 1 << 20, // traces listed at a time: 16 MiB of list
    BLOCK_BYTES = 1 << 20,  // one read; 50 ms on a 20 MB/s network, so a cancel is prompt
    GAP_BYTES = 16 * 1024,  // unneeded bytes between two traces that are read rather than skipped
    SPARSE = 8,             // a block of which less than this part is needed, as of a time slice
    ALONE = 64 * 1024,      // bytes of a block that has no neighbour, as of a crossline
    EXPECTED = 256,         // blocks that the disk is asked for at a time
};

// 1e30 marks undefined samples in many programs; an IBM float rounds it down a little.
static const float NULL_VALUE = 9.9e29f;

typedef struct Wanted {
    gint64 trace;
    gint64 cell; // of the cube's box
} Wanted;

typedef struct Block {
    gint64 from, to; // of the list
    gint64 start, bytes;
    gint64 needed; // of the bytes
    const LithoTraceFile *file;
} Block;

typedef struct Reader {
    LithoSurvey *survey;
    LithoCube *cube;
    LithoRun *run;
    gint64 done, total; // traces, for progress
    gint64 copied;      // of them, from memory
    gint64 loud[256];   // live traces by the exponent of their largest magnitude
    gboolean whole;     // all samples of the grid are asked for
} Reader;

gint64 litho_survey_trace_of(const LithoSurvey *survey, gint64 i, gint64 j)
{
    if (survey->table)
        return survey->table[i * survey->grid.axis[1].n + j];
    return survey->origin + i * survey->inline_stride + j * survey->xline_stride;
}

gboolean litho_survey_has_trace(const LithoSurvey *survey, gint64 i, gint64 j)
{
    return litho_survey_trace_of(survey, i, j) >= 0;
}

const LithoTraceFile *litho_survey_file_of(const LithoSurvey *survey, gint64 trace)
{
    const LithoTraceFile *files = (const LithoTraceFile *)survey->files->data;
    guint lo = 0, hi = survey->files->len;
    while (hi - lo > 1) {
        guint mid = (lo + hi) / 2;
        if (files[mid].base <= trace)
            lo = mid;
        else
            hi = mid;
    }
    return &files[lo];
}

// --- one trace --------------------------------------------------------------------------------

// Range of the trace's samples inside the cube's box: [*from, *to) of the trace, to be placed at
// *at of the cube's trace.
static void sample_range(const LithoSurvey *survey, const LithoCube *cube, gint64 cell, gint64 ns,
                         gint64 *from, gint64 *to, gint64 *at)
{
    gint64 shift = survey->shift ? survey->shift[cell] : 0;
    gint64 lo = MAX(cube->held.lo[2], shift), hi = MIN(cube->held.hi[2], shift + ns);
    *from = lo - shift;
    *to = MAX(hi - shift, *from);
    *at = lo - cube->held.lo[2];
    if (hi <= lo)
        *from = *to = *at = 0;
}

static gint64 survey_cell(const LithoSurvey *survey, const LithoCube *cube, gint64 cell)
{
    gint64 nj = litho_box_size(cube->held, 1);
    return (cube->held.lo[0] + cell / nj) * survey->grid.axis[1].n + cube->held.lo[1] + cell % nj;
}

// Sets a flag once; the first setter adds `n` to the counter.
static void flag_cell(LithoSurvey *survey, gint64 cell, guint8 flag, gint64 *counter, gint64 n)
{
    guint8 before = __atomic_fetch_or(&survey->state[cell], flag, __ATOMIC_RELAXED);
    if (!(before & flag))
        __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

typedef struct Quality {
    gboolean zero, flat, bad; // flat: one value repeated
    int exponent; // of the largest magnitude, as a float has it
} Quality;

// One vectorised pass over a trace: the largest magnitude by bits, which puts NaN on top.
static Quality examine(const float *x, gint64 n)
{
    guint32 top = 0, differ = 0, first = 0, limit;
    memcpy(&limit, &NULL_VALUE, 4);
    if (n > 0)
        memcpy(&first, x, 4);
#pragma omp simd reduction(max : top) reduction(| : differ)
    for (gint64 k = 0; k < n; k++) {
        guint32 w;
        memcpy(&w, x + k, 4);
        differ |= w ^ first;
        w &= 0x7fffffff;
        top = w > top ? w : top;
    }
    return (Quality){
        .zero = top == 0, .flat = differ == 0, .bad = top > limit, .exponent = (int)(top >> 23)};
}

// Lone bad samples that a trace may have.
static gint64 few_bad(const LithoSurvey *survey)
{
    return MAX(survey->grid.axis[LITHO_SAMPLE].n / 100, 1);
}

static gboolean is_bad(float x)
{
    return !(fabsf(x) <= NULL_VALUE);
}

// Bad samples become zero. A run of them at the top or the bottom is a mute. Lone ones between good
// neighbours, up to `few`, become the mean of those; else there is a hole, and the trace is not to
// be trusted. TRUE = hole, or nothing good at all.
static gboolean repair(float *x, gint64 n, gint64 few, gint64 *bad, gboolean *all)
{
    gint64 first = -1, last = -1;
    *bad = 0;
    for (gint64 k = 0; k < n; k++) {
        const gboolean good = !is_bad(x[k]);
        first = good && first < 0 ? k : first;
        last = good ? k : last;
        *bad += !good;
    }
    *all = first < 0;
    gboolean hole = *all || *bad > first + (n - 1 - last) + few, before = FALSE;
    for (gint64 k = 0; k < n; k++) {
        const gboolean now = is_bad(x[k]), inside = k > first && k < last;
        const gboolean lone = now && inside && !before && !is_bad(x[k + 1]);
        hole |= now && inside && !lone;
        if (now)
            x[k] = lone && !hole ? 0.5f * (x[k - 1] + x[k + 1]) : 0;
        before = now;
    }
    return hole;
}

// Sorts a trace just decoded into live or masked and keeps the survey's counts.
static void settle(Reader *r, gint64 cell, float *x, gint64 n)
{
    LithoSurvey *s = r->survey;
    gint64 own = survey_cell(s, r->cube, cell), bad;
    gboolean all, headed = s->kind == LITHO_FILE_SEGY || s->kind == LITHO_FILE_SU;
    Quality q = examine(x, n);
    if (q.bad) {
        gboolean hole = repair(x, n, few_bad(s), &bad, &all);
        if (r->whole && all && !headed) {
            flag_cell(s, own, LITHO_CELL_ABSENT, &s->counts.missing, 1);
        } else {
            if (r->whole) // a trace that is read again, as halo, counts once
                flag_cell(s, own, LITHO_CELL_COUNTED, &s->counts.bad_samples, bad);
            flag_cell(s, own, LITHO_CELL_BAD, &s->counts.bad, 1);
        }
        if (r->whole && hole && !(all && !headed))
            flag_cell(s, own, LITHO_CELL_HOLED, &s->counts.masked, 1);
        q = examine(x, n);
        if (q.zero && !hole && r->whole && !s->zero_is_live)
            flag_cell(s, own, LITHO_CELL_ZERO, &s->counts.zero, 1);
    } else if (q.zero && r->whole && !s->zero_is_live) {
        flag_cell(s, own, LITHO_CELL_ZERO, &s->counts.zero, 1);
    } else if (q.flat && !q.zero && r->whole && !s->zero_is_live && litho_survey_flat_is_dead(s)) {
        flag_cell(s, own, LITHO_CELL_ZERO, &s->counts.flat, 1);
    }
    guint8 state = __atomic_load_n(&s->state[own], __ATOMIC_RELAXED);
    guint8 masked = LITHO_CELL_DEAD | LITHO_CELL_ZERO | LITHO_CELL_HOLED | LITHO_CELL_ABSENT;
    r->cube->live[cell] = !(state & masked);
    if (!r->cube->live[cell])
        memset(x, 0, n * sizeof *x);
    else if (!q.zero)
        __atomic_fetch_add(&r->loud[q.exponent], 1, __ATOMIC_RELAXED);
}

static void decode_trace(Reader *r, const LithoTraceFile *file, const Wanted *w,
                         const guint8 *block, gint64 block_start)
{
    gint64 n3 = litho_box_size(r->cube->held, 2), from, to, at;
    gint64 t = w->trace - file->base, ns = litho_file_trace_samples(file, t);
    float *x = r->cube->samples + w->cell * n3;
    sample_range(r->survey, r->cube, survey_cell(r->survey, r->cube, w->cell), ns, &from, &to, &at);
    gint64 byte =
        litho_file_trace_at(file, t) + file->header_bytes + from * litho_format_bytes(file->format);
    if (to > from)
        litho_decode(block + (byte - block_start), file->format, file->sample_order, x + at,
                     to - from);
    settle(r, w->cell, x, n3);
}

// --- lists and blocks -------------------------------------------------------------------------

static gboolean skip_cell(const LithoSurvey *s, gint64 own)
{
    return s->state[own] & LITHO_CELL_DEAD || (s->repeats && s->state[own] & LITHO_CELL_REPEATED);
}

static int compare_wanted(const void *a, const void *b)
{
    gint64 x = ((const Wanted *)a)->trace, y = ((const Wanted *)b)->trace;
    return (x > y) - (x < y);
}

// The traces of cells [i0, i1) x [j0, j1) in file order. The walk follows the axis along which the
// file itself runs, so that sorting is needed for irregular files only.
static gint64 list_traces(const Reader *r, gint64 i0, gint64 i1, gint64 j0, gint64 j1, Wanted *list)
{
    const LithoSurvey *s = r->survey;
    const LithoBox *box = &r->cube->held;
    gint64 nj = box->hi[1] - box->lo[1], n = 0;
    gint64 t00 = litho_survey_trace_of(s, i0, j0);
    gint64 along_i = i1 - i0 > 1 ? ABS(litho_survey_trace_of(s, i0 + 1, j0) - t00) : G_MAXINT64;
    gint64 along_j = j1 - j0 > 1 ? ABS(litho_survey_trace_of(s, i0, j0 + 1) - t00) : G_MAXINT64;
    gboolean i_fast = along_i < along_j;
    gint64 outer = i_fast ? j1 - j0 : i1 - i0, inner = i_fast ? i1 - i0 : j1 - j0;
    gboolean sorted = TRUE;
    for (gint64 p = 0; p < outer; p++)
        for (gint64 q = 0; q < inner; q++) {
            gint64 i = i0 + (i_fast ? q : p), j = j0 + (i_fast ? p : q);
            gint64 cell = (i - box->lo[0]) * nj + j - box->lo[1];
            gint64 trace = litho_survey_trace_of(s, i, j);
            if (trace < 0 || skip_cell(s, i * s->grid.axis[1].n + j)) {
                r->cube->live[cell] = 0;
                continue;
            }
            sorted &= n == 0 || list[n - 1].trace < trace;
            list[n++] = (Wanted){trace, cell};
        }
    if (!sorted)
        qsort(list, n, sizeof *list, compare_wanted);
    return n;
}

static void needed_bytes(const Reader *r, const LithoTraceFile *file, const Wanted *w,
                         gint64 *start, gint64 *end)
{
    gint64 from, to, at, t = w->trace - file->base;
    sample_range(r->survey, r->cube, survey_cell(r->survey, r->cube, w->cell),
                 litho_file_trace_samples(file, t), &from, &to, &at);
    int bytes = litho_format_bytes(file->format);
    *start = litho_file_trace_at(file, t) + file->header_bytes + from * bytes;
    *end = *start + (to - from) * bytes;
}

static GArray *make_blocks(const Reader *r, const Wanted *list, gint64 n, gint64 *largest)
{
    GArray *blocks = g_array_new(FALSE, FALSE, sizeof(Block));
    *largest = 0;
    for (gint64 k = 0; k < n;) {
        Block b = {.from = k, .file = litho_survey_file_of(r->survey, list[k].trace)};
        gint64 start, end, file_end = b.file->base + b.file->traces;
        needed_bytes(r, b.file, &list[k], &b.start, &end);
        b.needed = end - b.start;
        for (k++; k < n && list[k].trace < file_end; k++) {
            gint64 next_end;
            needed_bytes(r, b.file, &list[k], &start, &next_end);
            if (start > end + GAP_BYTES || next_end - b.start > BLOCK_BYTES)
                break;
            end = MAX(end, next_end);
            b.needed += next_end - start;
        }
        b.to = k;
        b.bytes = end - b.start;
        *largest = MAX(*largest, b.bytes);
        g_array_append_val(blocks, b);
    }
    return blocks;
}

typedef struct BlockLoop {
    Reader *reader;
    const Wanted *list;
    const GArray *blocks;
    gint64 largest;  // bytes of a block
    gint64 expected; // the block that the disk is asked for next; atomic
    LithoTeam team;
} BlockLoop;

// Blocks far from one another, where one does not lie in memory: the disk would take them one by
// one. Asked twice for a block it does nothing.
static void expect_blocks(BlockLoop *s, gint64 k)
{
    gint64 next = MAX(__atomic_load_n(&s->expected, __ATOMIC_RELAXED), k + 1);
    const gint64 end = MIN(k + EXPECTED, s->blocks->len);
    if (next >= end)
        return;
    __atomic_store_n(&s->expected, end, __ATOMIC_RELAXED);
    for (; next < end; next++) {
        const Block *b = &g_array_index(s->blocks, Block, next);
        if (b->bytes <= ALONE)
            litho_file_expect(b->file, b->bytes, b->start);
    }
}

// Block `k` into `buffer`. Of a few bytes a trace none but these, where they lie in memory: on a
// disk they cost as much as all bytes between them.
static gboolean read_block(BlockLoop *s, gint64 k, guint8 *buffer, GError **error)
{
    const Reader *r = s->reader;
    const Wanted *list = s->list;
    const Block *b = &g_array_index(s->blocks, Block, k);
    if (b->bytes <= ALONE) {
        if (litho_file_read_cached(b->file, buffer, b->bytes, b->start))
            return TRUE;
        expect_blocks(s, k);
    }
    gboolean cached = b->needed < b->bytes / SPARSE;
    for (gint64 w = b->from; cached && w < b->to; w++) {
        gint64 start, end;
        needed_bytes(r, b->file, &list[w], &start, &end);
        cached = litho_file_read_cached(b->file, buffer + (start - b->start), end - start, start);
    }
    return cached || litho_file_read_all(b->file, buffer, b->bytes, b->start, error);
}

static void read_share(gpointer data, gboolean caller)
{
    BlockLoop *s = data;
    Reader *r = s->reader;
    GError *local = NULL;
    gint64 k;
    if (!litho_team_take(&s->team, 1, s->blocks->len, &k))
        return;
    g_autofree guint8 *buffer = g_try_malloc(MAX(s->largest, 1));
    if (!buffer)
        g_set_error(&local, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("no memory for a read buffer of %" PRId64 " bytes"), s->largest);
    while (!local) {
        const Block *b = &g_array_index(s->blocks, Block, k);
        if (!read_block(s, k, buffer, &local))
            break;
        for (gint64 w = b->from; w < b->to; w++)
            decode_trace(r, b->file, &s->list[w], buffer, b->start);
        const gint64 done = __atomic_add_fetch(&r->done, b->to - b->from, __ATOMIC_RELAXED);
        if (caller ? !litho_run_step(r->run, done, r->total, NULL) : !litho_run_checkpoint(r->run))
            litho_team_stop(&s->team);
        if (!litho_team_take(&s->team, 1, s->blocks->len, &k))
            break;
    }
    litho_team_fail(&s->team, local);
}

static gboolean read_blocks(Reader *r, const Wanted *list, GArray *blocks, gint64 largest,
                            GError **error)
{
    BlockLoop loop = {r, list, blocks, largest, 0, LITHO_TEAM_START};
    litho_team_run(MIN(litho_run_threads(r->run), (int)MAX(blocks->len, 1)), read_share, &loop);
    if (!litho_team_end(&loop.team, error))
        return FALSE;
    return litho_run_step(r->run, r->done, r->total, error);
}

// --- means --------------------------------------------------------------------------------------

// Traces of one cell, added up.
typedef struct Mean {
    double *sum;   // samples of the cube's box
    float *x;      // one whole trace
    guint8 *raw;   // the same as in its file
    gint64 n, left_out; // traces added; others, of zeros or with holes
    gint64 bad;         // samples of all of them that were repaired
} Mean;

static void mean_clear(Mean *m)
{
    g_free(m->sum);
    g_free(m->x);
    g_free(m->raw);
}

static gboolean mean_init(Mean *m, const Reader *r, GError **error)
{
    const LithoSurvey *s = r->survey;
    gsize most = 1, bytes = 1;
    for (guint f = 0; f < s->files->len; f++) {
        const LithoTraceFile *file = &g_array_index(s->files, LithoTraceFile, f);
        most = MAX(most, (gsize)file->ns);
        bytes = MAX(bytes, (gsize)file->ns * (gsize)litho_format_bytes(file->format));
    }
    m->sum = g_try_new(double, litho_box_size(r->cube->held, 2));
    m->x = g_try_new(float, most);
    m->raw = g_try_malloc(bytes);
    return (m->sum && m->x && m->raw) ||
           litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for one trace");
}

// Adds a trace, of which a mean has the same part in every box: whether it is zeros, and thus
// missing, or has holes, is judged by all of its samples.
static gboolean mean_add(Mean *m, const Reader *r, gint64 trace, gint64 cell, GError **error)
{
    const LithoSurvey *s = r->survey;
    const LithoTraceFile *file = litho_survey_file_of(s, trace);
    const gint64 t = trace - file->base, ns = litho_file_trace_samples(file, t);
    gint64 from, to, at, bad = 0;
    gboolean all = FALSE;
    if (!litho_file_read_all(file, m->raw, ns * litho_format_bytes(file->format),
                             litho_file_trace_at(file, t) + file->header_bytes, error))
        return FALSE;
    litho_decode(m->raw, file->format, file->sample_order, m->x, ns);
    const gboolean hole = examine(m->x, ns).bad && repair(m->x, ns, few_bad(s), &bad, &all);
    const Quality q = examine(m->x, ns);
    m->bad += bad;
    if (hole ||
        (!s->zero_is_live && (q.zero || (q.flat && litho_survey_flat_is_dead(r->survey))))) {
        m->left_out++;
        return TRUE;
    }
    sample_range(s, r->cube, survey_cell(s, r->cube, cell), ns, &from, &to, &at);
    for (gint64 k = from; k < to; k++)
        m->sum[at + k - from] += m->x[k];
    m->n++;
    return TRUE;
}

// The mean into its cell; a cell without a good trace holds its first one, as if it were alone.
static gboolean mean_store(const Mean *m, Reader *r, gint64 trace, gint64 cell, GError **error)
{
    const gint64 n3 = litho_box_size(r->cube->held, 2);
    const Wanted w = {trace, cell};
    float *x = r->cube->samples + cell * n3;
    LithoSurvey *s = r->survey;
    for (gint64 k = 0; k < n3; k++)
        x[k] = m->n ? (float)(m->sum[k] / (double)m->n) : 0;
    if (m->left_out > 0) // of none that is good, the first one fills the cell
        flag_cell(s, survey_cell(s, r->cube, cell), LITHO_CELL_LEFT, &s->counts.left_out,
                  m->left_out - (m->n == 0));
    if (m->n == 0) {
        const LithoTraceFile *file = litho_survey_file_of(s, trace);
        gint64 start, end;
        needed_bytes(r, file, &w, &start, &end);
        if (!litho_file_read_all(file, m->raw, end - start, start, error))
            return FALSE;
        decode_trace(r, file, &w, m->raw, start);
        return TRUE;
    }
    if (m->bad > 0) {
        const gint64 own = survey_cell(s, r->cube, cell);
        flag_cell(s, own, LITHO_CELL_COUNTED, &s->counts.bad_samples, m->bad);
        flag_cell(s, own, LITHO_CELL_BAD, &s->counts.bad, 1);
    }
    settle(r, cell, x, n3);
    return TRUE;
}

static guint first_repeat(const LithoSurvey *s, gint64 cell)
{
    const LithoRepeat *list = (const LithoRepeat *)s->repeats->data;
    guint lo = 0, hi = s->repeats->len;
    while (lo < hi) {
        const guint middle = lo + (hi - lo) / 2;
        if (list[middle].cell < cell)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

// Cells claimed by several traces, averaged. Rare, hence one at a time.
static gboolean read_means(Reader *r, gint64 i0, gint64 i1, gint64 j0, gint64 j1, GError **error)
{
    const LithoSurvey *s = r->survey;
    const LithoRepeat *list = (const LithoRepeat *)s->repeats->data;
    const gint64 n2 = s->grid.axis[1].n, n3 = litho_box_size(r->cube->held, 2);
    const gint64 nj = litho_box_size(r->cube->held, 1);
    const guint end = first_repeat(s, i1 * n2);
    Mean mean = {0};
    gboolean good = mean_init(&mean, r, error);
    for (guint k = first_repeat(s, i0 * n2); good && k < end;) {
        const gint64 own = list[k].cell, i = own / n2, j = own % n2, first = list[k].trace;
        const gint64 cell = (i - r->cube->held.lo[0]) * nj + j - r->cube->held.lo[1];
        const gboolean inside = j >= j0 && j < j1;
        mean.n = mean.left_out = mean.bad = 0;
        memset(mean.sum, 0, (gsize)n3 * sizeof *mean.sum);
        for (; good && k < end && list[k].cell == own; k++)
            good = !inside || mean_add(&mean, r, list[k].trace, cell, error);
        if (!inside || !good)
            continue;
        good = mean_store(&mean, r, first, cell, error) &&
               (litho_run_checkpoint(r->run) || litho_run_stopped(error));
    }
    mean_clear(&mean);
    return good;
}

static gboolean read_piece(Reader *r, gint64 i0, gint64 i1, gint64 j0, gint64 j1, Wanted *list,
                           GError **error)
{
    gint64 n = list_traces(r, i0, i1, j0, j1, list), largest;
    GArray *blocks = make_blocks(r, list, n, &largest);
    gboolean good = read_blocks(r, list, blocks, largest, error);
    g_array_unref(blocks);
    if (good && r->survey->repeats)
        good = read_means(r, i0, i1, j0, j1, error);
    return good;
}

// Inlines [lo, hi) from the files.
static gboolean read_inlines(Reader *r, gint64 lo, gint64 hi, GError **error)
{
    const LithoBox box = r->cube->held;
    gint64 nj = litho_box_size(box, 1);
    gint64 wide = MIN(nj, PIECE_TRACES), tall = MAX(MIN(PIECE_TRACES / wide, hi - lo), 1);
    g_autofree Wanted *list = g_try_new(Wanted, wide * tall);
    if (!list) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, _("no memory for a list of traces"));
        return FALSE;
    }
    for (gint64 i = lo; i < hi; i += tall)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j += wide)
            if (!read_piece(r, i, MIN(i + tall, hi), j, MIN(j + wide, box.hi[1]), list, error))
                return FALSE;
    return TRUE;
}

typedef struct CopyLoop {
    Reader *reader;
    const LithoCube *near;
    gint64 lo, hi;
    LithoTeam team;
} CopyLoop;

static void copy_share(gpointer data, gboolean caller)
{
    CopyLoop *s = data;
    LithoCube *cube = s->reader->cube;
    const gint64 j0 = cube->held.lo[1];
    const gint64 nj = litho_box_size(cube->held, 1), n3 = litho_box_size(cube->held, 2);
    (void)caller;
    for (gint64 k; litho_team_take(&s->team, 1, s->hi - s->lo, &k);) {
        const gint64 to = litho_cube_trace_index(cube, s->lo + k, j0);
        const gint64 from = litho_cube_trace_index(s->near, s->lo + k, j0);
        memcpy(cube->samples + to * n3, s->near->samples + from * n3, nj * n3 * sizeof(float));
        memcpy(cube->live + to, s->near->live + from, nj);
    }
}

// Inlines that `near` holds; it has the box's crosslines and samples.
static void copy_inlines(Reader *r, const LithoCube *near, gint64 lo, gint64 hi)
{
    CopyLoop loop = {r, near, lo, hi, LITHO_TEAM_START};
    litho_team_run((int)MIN(litho_run_threads(r->run), hi - lo), copy_share, &loop);
    r->copied = (hi - lo) * litho_box_size(r->cube->held, 1);
    r->done += r->copied;
}

static gboolean read_box(Reader *r, const LithoCube *near, GError **error)
{
    const LithoBox box = r->cube->held;
    gint64 lo = box.hi[0], hi = box.hi[0]; // of the inlines that `near` holds
    if (near && near->survey == r->cube->survey && near->samples &&
        near->held.lo[1] == box.lo[1] && near->held.hi[1] == box.hi[1] &&
        near->held.lo[2] == box.lo[2] && near->held.hi[2] == box.hi[2] &&
        near->held.hi[0] > box.lo[0] && near->held.lo[0] < box.hi[0]) {
        lo = MAX(near->held.lo[0], box.lo[0]);
        hi = MIN(near->held.hi[0], box.hi[0]);
        copy_inlines(r, near, lo, hi);
    }
    return read_inlines(r, box.lo[0], lo, error) && read_inlines(r, hi, box.hi[0], error);
}

// --- entry ------------------------------------------------------------------------------------

// How loud the cube's traces are; of inlines that were copied, how loud `near` is at most.
static void weigh(const Reader *r, const LithoCube *near)
{
    gint64 live = 0, below = 0;
    int top = -1, median = -1;
    for (int e = 0; e < 256; e++) {
        live += r->loud[e];
        top = r->loud[e] > 0 ? e : top;
    }
    for (int e = 0; e < 256 && median < 0; e++) {
        below += r->loud[e];
        median = live > 0 && 2 * below >= live ? e : -1;
    }
    r->cube->loudest = top < 0 ? 0 : ldexpf(1, top - 127);
    r->cube->loudness = median < 0 ? 0 : ldexpf(1, median - 127);
    if (r->copied > 0) {
        r->cube->loudest = MAX(r->cube->loudest, near->loudest);
        r->cube->loudness = median < 0 ? near->loudness : r->cube->loudness;
    }
}

static void tell(const LithoSurvey *survey, LithoCube *cube)
{
    const gint64 traces = litho_box_size(cube->held, 0) * litho_box_size(cube->held, 1);
    if (traces == litho_grid_traces(&cube->grid) && !memchr(cube->live, 1, (gsize)traces))
        litho_cube_note(cube, "there is no trace to look at: all are missing, dead, or hold NaN, "
                              "infinite or null (1e30) samples alone");
    for (guint k = 0; k < survey->notes->len; k++)
        litho_cube_note(cube, "%s", (const char *)g_ptr_array_index(survey->notes, k));
    g_autofree char *zero = litho_survey_zero_traces(survey);
    if (zero)
        litho_cube_note(cube, "%s", zero);
    g_autofree char *bad = litho_survey_bad_samples(survey);
    if (bad)
        litho_cube_note(cube, "%s", bad);
    g_autofree char *left_out = litho_survey_left_out(survey);
    if (left_out)
        litho_cube_note(cube, "%s", left_out);
}

static gboolean check_strict(const LithoSurvey *survey, GError **error)
{
    g_autofree char *bad = survey->strict ? litho_survey_bad_samples(survey) : NULL;
    return !bad || litho_refuse(error, LITHO_ERROR_FORMAT,
                                "%s: %s (strict reading repairs nothing)", survey->name, bad);
}

static gboolean are_unchanged(const LithoSurvey *survey, gboolean stores, GError **error)
{
    for (guint k = 0; k < survey->files->len; k++) {
        const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, k);
        if ((stores || !file->stamp.listing) && !litho_file_unchanged(file, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_survey_unchanged(const LithoSurvey *survey, GError **error)
{
    return are_unchanged(survey, TRUE, error);
}

LithoCube *litho_survey_read(LithoSurvey *survey, const LithoBox *box, LithoRun *run,
                             GError **error)
{
    return litho_survey_read_next(survey, box, NULL, run, error);
}

LithoCube *litho_survey_read_next(LithoSurvey *survey, const LithoBox *box, const LithoCube *near,
                                  LithoRun *run, GError **error)
{
    LithoBox held = box ? *box : litho_box_full(&survey->grid);
    // Sizes first: the memory check must not see a product of unchecked numbers.
    if (!litho_box_contains(litho_box_full(&survey->grid), held) || litho_box_empty(held)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("the part asked for is empty or lies outside the survey"));
        return NULL;
    }
    if (!litho_memory_check(litho_box_count(held) * 4, "the cube", error))
        return NULL;
    LithoCube *cube = litho_cube_new_box(&survey->grid, held, error);
    if (!cube)
        return NULL;
    litho_cube_set_name(cube, survey->name);
    cube->survey = litho_survey_ref(survey);
    Reader reader = {
        .survey = survey,
        .cube = cube,
        .run = run,
        .total = litho_box_size(held, 0) * litho_box_size(held, 1),
        .whole = litho_box_size(held, 2) == survey->grid.axis[2].n,
    };
    litho_run_begin(run, "reading", "traces");
    double start = litho_now_ms();
    // A store's chunks are checked one by one as they are read.
    if (!read_box(&reader, near, error) || !are_unchanged(survey, FALSE, error) ||
        !check_strict(survey, error)) {
        litho_cube_unref(cube);
        return NULL;
    }
    litho_run_time(run, "read", LITHO_STAGE_IO, litho_now_ms() - start,
                   (double)(reader.total - reader.copied) * litho_box_size(held, 2) * 4.0, 0);
    weigh(&reader, near);
    tell(survey, cube);
    return cube;
}
