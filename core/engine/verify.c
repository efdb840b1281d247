// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/text.h"
#include "core/engine/verify.h"

#include <math.h>
#include <string.h>

#include "core/axis_names.h"
#include "core/engine/engine.h"
#include "core/engine/measure.h"
#include "core/engine/stream_plan.h"
#include "core/error.h"
#include "core/io/survey_private.h"
#include "core/walk.h"

enum { PARTS = 100 }; // a part is a hundredth of the inlines, or one

typedef struct Verify {
    const LithoVerifyAsk *ask;
    LithoFlow *flow;           // of the provenance, measured
    LithoSurvey *in, *out;     // `in` NULL = a source
    LithoGrid grid;            // of the output by the flow
    LithoEngine *engine;
    gint64 row;                // inlines of a row of an operator's blocks or windows
    guint64 source;            // of the inputs of all parts (cube.h)
    float *trace;              // one as the file's format holds it
    guint8 *raw;
    double sum, sum_difference; // of squares
    LithoVerified *told;
} Verify;

// --- files ----------------------------------------------------------------------------------------

static gboolean open_input(Verify *v, LithoRun *run, GError **error)
{
    const LithoProvenance *p = v->ask->provenance;
    char *const *paths = v->ask->inputs ? v->ask->inputs : p->inputs;
    if (p->input_marks->len == 0)
        return TRUE;
    if (!paths[0])
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the input came from a pipe; -i IN tells where it lies");
    for (char *const *path = paths; *path; path++)
        if (!g_file_test(*path, G_FILE_TEST_EXISTS))
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "the input %s is not there; -i IN tells where it lies now", *path);
    v->in = litho_survey_open((const char *const *)paths, &p->open, run, error);
    if (!v->in)
        return FALSE;
    if (v->in->files->len != p->input_marks->len)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the number of input files is %u; the output was computed from %u",
                            v->in->files->len, p->input_marks->len);
    for (guint k = 0; k < v->in->files->len; k++) {
        const LithoTraceFile *file = &g_array_index(v->in->files, LithoTraceFile, k);
        const LithoFileMark *mark = &g_array_index(p->input_marks, LithoFileMark, k);
        if (!litho_file_mark_holds(mark, file->path, error))
            return FALSE;
        v->told->input_touched |= mark->changed_ns != file->stamp.changed_ns;
    }
    return TRUE;
}

static gboolean check_step_files(const Verify *v, GError **error)
{
    const GArray *marks = v->ask->provenance->step_marks;
    for (guint k = 0; k < marks->len; k++) {
        const LithoFileMark *mark = &g_array_index(marks, LithoFileMark, k);
        if (!litho_file_mark_holds(mark, mark->path, error))
            return FALSE;
    }
    return TRUE;
}

// The output as the run wrote it: geometry by the input's choices, which its headers follow.
static gboolean open_output(Verify *v, LithoRun *run, GError **error)
{
    const LithoProvenance *p = v->ask->provenance;
    const char *const paths[] = {v->ask->output, NULL};
    const gboolean headed =
        v->in && (v->in->kind == LITHO_FILE_SEGY || v->in->kind == LITHO_FILE_SU);
    LithoOpenOptions open = {0};
    if (headed)
        open = p->open;
    open.keep_zero_traces = TRUE;
    open.strict = FALSE;
    open.dtype = "float32";
    memcpy(open.shape, p->size, sizeof open.shape);
    v->out = litho_survey_open(paths, &open, run, error);
    if (!v->out)
        return FALSE;
    const LithoAxis *a = v->out->grid.axis;
    if (a[0].n == p->size[0] && a[1].n == p->size[1] && a[2].n == p->size[2])
        return TRUE;
    return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                        "%s holds %" PRId64 " x %" PRId64 " x %" PRId64
                        " samples; the run wrote %" PRId64 " x %" PRId64 " x %" PRId64,
                        v->ask->output, a[0].n, a[1].n, a[2].n, p->size[0], p->size[1], p->size[2]);
}

// --- comparing ------------------------------------------------------------------------------------

static gboolean is_finite(const float *x, gint64 n)
{
    gboolean good = TRUE;
    for (gint64 k = 0; k < n; k++)
        good &= isfinite(x[k]) != 0;
    return good;
}

// A recomputed trace as the output's format holds it; a missing one is zeros, as it is when read.
static void as_written(Verify *v, const float *x, gboolean live)
{
    const gint64 n = v->grid.axis[2].n;
    const int format = litho_survey_sample_format(v->out);
    if (!live || !is_finite(x, n)) {
        memset(v->trace, 0, (gsize)n * sizeof(float));
        return;
    }
    memcpy(v->trace, x, (gsize)n * sizeof(float));
    if (format == 0 || format == LITHO_FORMAT_IEEE)
        return;
    litho_encode(x, format, LITHO_ORDER_BIG, v->raw, n);
    litho_decode(v->raw, format, LITHO_ORDER_BIG, v->trace, n);
}

// TRUE when no sample of the trace differs; zeros of either sign are equal.
static gboolean compare_trace(Verify *v, const float *x)
{
    double sum = 0, difference = 0, largest = 0;
    for (gint64 k = 0; k < v->grid.axis[2].n; k++) {
        const double d = (double)x[k] - (double)v->trace[k];
        sum += (double)v->trace[k] * (double)v->trace[k];
        difference += d * d;
        largest = MAX(largest, fabs(d));
    }
    v->sum += sum;
    v->sum_difference += difference;
    v->told->largest = MAX(v->told->largest, largest);
    return largest == 0;
}

// Inline `i` of both cubes, which hold it.
static void compare_line(Verify *v, const LithoCube *made, const LithoCube *file, gint64 i)
{
    const gint64 n2 = v->grid.axis[1].n, n3 = v->grid.axis[2].n;
    gboolean same = TRUE;
    for (gint64 j = 0; j < n2; j++) {
        const gint64 a = (i - made->held.lo[0]) * n2 + j, b = (i - file->held.lo[0]) * n2 + j;
        as_written(v, made->samples + a * n3, made->live[a] != 0);
        same &= compare_trace(v, file->samples + b * n3);
    }
    if (!same && v->told->differing++ == 0)
        v->told->first_line = litho_axis_value(&v->grid.axis[0], (double)i);
}

static LithoCube *compute(Verify *v, const LithoBox *region, LithoRun *run, GError **error)
{
    g_autoptr(LithoCube) in = NULL;
    if (v->in) {
        const LithoGrid *grid = litho_survey_grid(v->in);
        LithoBox need;
        if (!litho_walk_input_box(v->flow, grid, *region, run, &need, error))
            return NULL;
        need.lo[2] = 0; // files are read in whole traces
        need.hi[2] = grid->axis[2].n;
        if (!(in = litho_survey_read(v->in, &need, run, error)))
            return NULL;
        in->source = v->source = v->source ? v->source : in->serial;
    }
    g_autoptr(LithoCube) out = litho_engine_run(v->engine, v->flow, in, region, run, error);
    if (!out || !litho_cube_host(out, error))
        return NULL;
    litho_cube_leave_device(out);
    return g_steal_pointer(&out);
}

// Inlines lo to hi - 1, `parts` parts.
static gboolean verify_inlines(Verify *v, gint64 lo, gint64 hi, gint64 parts, LithoRun *run,
                               GError **error)
{
    LithoBox region = litho_box_full(&v->grid);
    region.lo[0] = lo;
    region.hi[0] = hi;
    g_autoptr(LithoCube) made = compute(v, &region, run, error);
    g_autoptr(LithoCube) file = made ? litho_survey_read(v->out, &region, run, error) : NULL;
    if (!file)
        return FALSE;
    for (gint64 i = lo; i < hi; i++)
        compare_line(v, made, file, i);
    v->told->slabs += parts;
    v->told->inlines += hi - lo;
    v->told->samples += litho_box_count(region);
    return TRUE;
}

// --- choosing -------------------------------------------------------------------------------------

// The parts to recompute, in the order of the file: `n` of `all`, every choice as likely as any.
static gint64 *choose(gint64 all, gint64 n, guint32 seed)
{
    gint64 *chosen = g_new0(gint64, n);
    GRand *random = g_rand_new_with_seed(seed);
    gint64 left = n, k = 0;
    for (gint64 part = 0; part < all && left > 0; part++)
        if (g_rand_double(random) * (double)(all - part) < (double)left) {
            chosen[k++] = part;
            left--;
        }
    g_rand_free(random);
    return chosen;
}

// The end of the chosen parts from `k` on that lie beside each other in one row of blocks: an
// operator that works in blocks computes all of a row for any part of it.
static gint64 beside(const Verify *v, const gint64 *chosen, gint64 k, gint64 n, gint64 part)
{
    const gint64 row = v->row;
    gint64 end = k + 1;
    while (end < n && chosen[end] == chosen[end - 1] + 1 &&
           chosen[end] * part / row == chosen[k] * part / row)
        end++;
    return end - k;
}

static gboolean verify_parts(Verify *v, LithoRun *run, GError **error)
{
    const gint64 all = v->grid.axis[0].n;
    const gboolean local = litho_flow_is_local(v->flow);
    const gint64 part = local ? (all + PARTS - 1) / PARTS : all, parts = (all + part - 1) / part;
    gint64 n = v->ask->slabs;
    if (v->ask->share > 0)
        n = (gint64)ceil(v->ask->share / 100 * (double)parts);
    n = CLAMP(n, 1, parts);
    g_autofree gint64 *chosen = choose(parts, n, v->ask->seed);
    v->told->all_slabs = parts;
    v->told->all_inlines = all;
    g_autofree char *line = litho_axis_word(&v->grid, LITHO_INLINE),
                    *lines = litho_axis_words(&v->grid, LITHO_INLINE);
    g_strlcpy(v->told->line, line, sizeof v->told->line);
    g_strlcpy(v->told->lines, lines, sizeof v->told->lines);
    if (parts > 1 && litho_measure_is_needed(v->flow) &&
        !litho_measure_flow(v->flow, v->in, v->ask->device, 0, run, error))
        return FALSE;
    LithoRun quiet = run ? *run : (LithoRun){0};
    if (parts > 1)
        quiet.on_progress = NULL; // of a part: the parts are counted instead
    litho_run_begin(run, "verifying", "slabs");
    for (gint64 k = 0, together; k < n; k += together) {
        together = beside(v, chosen, k, n, part);
        const gint64 lo = chosen[k] * part, hi = MIN(lo + together * part, all);
        if ((parts > 1 && !litho_run_step(run, k, n, error)) ||
            !verify_inlines(v, lo, hi, together, &quiet, error))
            return FALSE;
    }
    return TRUE;
}

// Equal bytes are owed by equal programs on equal devices; sums of several devices or processes may
// differ in rounding.
static gboolean owes_bits(const Verify *v)
{
    const LithoProvenance *p = v->ask->provenance;
    g_autofree char *device = litho_provenance_device(v->ask->device);
    return strcmp(p->version, LITHO_VERSION) == 0 && strcmp(p->device, device) == 0 &&
           (litho_flow_is_local(v->flow) || (p->devices == 1 && p->ranks == 1));
}

static void judge(Verify *v)
{
    LithoVerified *t = v->told;
    t->relative = v->sum_difference == 0 ? 0
                  : v->sum > 0           ? sqrt(v->sum_difference / v->sum)
                                         : INFINITY;
    t->bits_expected = owes_bits(v);
    t->agreement = t->differing == 0 ? LITHO_AGREES_BITS
                   : !t->bits_expected && t->relative <= v->ask->tolerance
                       ? LITHO_AGREES_TOLERANCE
                       : LITHO_DIFFERS;
}

static gboolean verify(Verify *v, LithoRun *run, GError **error)
{
    if (!check_step_files(v, error) || !open_input(v, run, error) || !open_output(v, run, error))
        return FALSE;
    g_autoptr(LithoWalk) walk =
        litho_walk_resolve(v->flow, v->in ? litho_survey_grid(v->in) : NULL, run, error);
    if (!walk)
        return FALSE;
    v->grid = walk->out;
    v->row = litho_stream_slab_multiple(walk);
    for (int a = 0; a < 3; a++)
        if (v->grid.axis[a].n != v->out->grid.axis[a].n)
            return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                                "the recipe gives an output of another size now");
    const gsize n = (gsize)v->grid.axis[2].n;
    v->trace = g_new(float, n);
    v->raw = g_new(guint8, 8 * n);
    v->engine = litho_engine_new(v->ask->device);
    if (!verify_parts(v, run, error))
        return FALSE;
    judge(v);
    return TRUE;
}

gboolean litho_verify_run(const LithoVerifyAsk *ask, LithoRun *run, LithoVerified *verified,
                          GError **error)
{
    *verified = (LithoVerified){0};
    Verify v = {.ask = ask, .told = verified, .flow = litho_flow_copy(ask->provenance->flow)};
    const gboolean good = verify(&v, run, error);
    if (v.engine)
        litho_engine_free(v.engine);
    g_free(v.trace);
    g_free(v.raw);
    litho_survey_unref(v.in);
    litho_survey_unref(v.out);
    litho_flow_free(v.flow);
    return good;
}
