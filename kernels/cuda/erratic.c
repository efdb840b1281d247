// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/erratic.h"

#include "kernels/cuda/erratic_kernels.h"

G_STATIC_ASSERT((int)LITHO_ERRATIC_CUDA_PIECE == (int)LITHO_ERRATIC_PIECE);
G_STATIC_ASSERT((int)LITHO_ERRATIC_CUDA_NEAR == (int)LITHO_ERRATIC_NEAR);
G_STATIC_ASSERT((int)LITHO_ERRATIC_CUDA_STEEP == (int)LITHO_ERRATIC_STEEP);

typedef struct Search {
    LithoCudaContext *context;
    LithoCudaErratic *scratch;
    LithoClean *clean;
    LithoCleanRule rule;
    const LithoCube *in;
    LithoRun *run;
} Search;

void litho_cuda_erratic_release(LithoCudaContext *context, LithoCudaErratic *scratch)
{
    litho_cuda_release(context, &scratch->live);
    litho_cuda_release(context, &scratch->energy);
    litho_cuda_release(context, &scratch->bad);
    litho_cuda_release(context, &scratch->marks);
    litho_cuda_release(context, &scratch->counts);
    litho_cuda_release(context, &scratch->share);
    litho_cuda_gaps_release(context, &scratch->gaps);
}

static gboolean make_task(const Search *s, LithoErraticTask *t, GError **error)
{
    const LithoBox held = s->in->held;
    LithoCudaErratic *m = s->scratch;
    const gsize traces = (gsize)litho_box_size(held, 0) * litho_box_size(held, 1);
    *t = (LithoErraticTask){.t0 = held.lo[2],
                            .first = held.lo[2] / LITHO_ERRATIC_PIECE,
                            .above = (float)s->rule.above,
                            .ratio = (float)(s->rule.above * s->rule.above),
                            .spare_events = s->rule.spare_events,
                            .line = s->in->grid.axis[0].n == 1 || s->in->grid.axis[1].n == 1};
    for (int a = 0; a < 3; a++)
        t->n[a] = litho_box_size(held, a);
    t->pieces = (held.hi[2] - 1) / LITHO_ERRATIC_PIECE + 1 - t->first;
    t->in = litho_cuda_input(s->context, s->in, s->run, error);
    if (!t->in || !litho_cuda_put(s->context, &m->live, s->in->live, traces, error) ||
        !litho_cuda_reserve(s->context, &m->energy, traces * t->pieces * sizeof(float), error) ||
        !litho_cuda_reserve(s->context, &m->bad, 2 * traces * t->pieces, error) ||
        !litho_cuda_reserve(s->context, &m->marks, 2 * traces * t->pieces * sizeof(guint16),
                            error) ||
        !litho_cuda_reserve(s->context, &m->counts, LITHO_ERRATIC_CUDA_COUNTS * sizeof(int), error))
        return FALSE;
    t->live = m->live.data;
    t->energy = m->energy.data;
    t->bad = m->bad.data;
    t->unmuted = t->bad + traces * t->pieces;
    t->marks = m->marks.data;
    t->spikes = t->marks + traces * t->pieces;
    t->counts = m->counts.data;
    return TRUE;
}

// Shares of the held traces, where a live one is below 1.
static gboolean upload_share(const Search *s, LithoErraticTask *t, GError **error)
{
    const LithoBox held = s->in->held;
    const gsize traces = (gsize)t->n[0] * t->n[1];
    g_autofree float *share = g_new(float, traces);
    gboolean noisy = FALSE;
    for (gsize k = 0; k < traces; k++) {
        const gint64 il = held.lo[0] + (gint64)k / t->n[1], xl = held.lo[1] + (gint64)k % t->n[1];
        share[k] = s->rule.share[il * s->in->grid.axis[1].n + xl];
        noisy |= s->in->live[k] && share[k] < 1;
    }
    if (!noisy)
        return TRUE;
    if (!litho_cuda_put(s->context, &s->scratch->share, share, traces * sizeof *share, error))
        return FALSE;
    t->share = s->scratch->share.data;
    return TRUE;
}

// Counts so far; the stream is at rest.
static gboolean fetch_counts(const Search *s, const LithoErraticTask *t, int *counts,
                             GError **error)
{
    cudaStream_t stream = litho_cuda_stream(s->context);
    const gsize bytes = LITHO_ERRATIC_CUDA_COUNTS * sizeof *counts;
    return LITHO_CUDA(cudaMemcpyAsync(counts, t->counts, bytes, cudaMemcpyDeviceToHost, stream),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

// Where there are spikes the task goes on with a copy without them.
static gboolean repair_spikes(const Search *s, LithoErraticTask *t, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(s->context);
    const gsize bytes = sizeof(float) * (gsize)litho_box_count(s->in->held);
    int counts[LITHO_ERRATIC_CUDA_COUNTS] = {0};
    if (!LITHO_CUDA(litho_erratic_find_spikes(t, stream), error) ||
        !fetch_counts(s, t, counts, error))
        return FALSE;
    s->clean->spikes = counts[LITHO_ERRATIC_CUDA_SPIKES];
    if (s->clean->spikes == 0)
        return TRUE;
    s->clean->cube = litho_cuda_cube_like(s->context, s->in, error);
    t->to = s->clean->cube ? litho_cuda_output(s->context, s->clean->cube, error) : NULL;
    if (!t->to ||
        !LITHO_CUDA(cudaMemcpyAsync(t->to, t->in, bytes, cudaMemcpyDeviceToDevice, stream),
                    error) ||
        !LITHO_CUDA(litho_erratic_repair_spikes(t, stream), error))
        return FALSE;
    t->in = t->to;
    return TRUE;
}

// Marks erratic pieces in the task's memory and counts them; marks pieces of noisy traces.
static gboolean find_erratic(const Search *s, LithoErraticTask *t, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(s->context);
    const double samples = (double)litho_box_count(s->in->held);
    const gsize pieces = (gsize)(t->n[0] * t->n[1] * t->pieces);
    int counts[LITHO_ERRATIC_CUDA_COUNTS] = {0};
    litho_cuda_mark(s->context, "erratic noise", LITHO_STAGE_COMPUTE, 16 * samples, 27 * samples);
    const gboolean ok =
        LITHO_CUDA(cudaMemsetAsync(t->counts, 0, sizeof counts, stream), error) &&
        (s->rule.above > 0
             ? repair_spikes(s, t, error) && LITHO_CUDA(litho_erratic_find(t, stream), error)
             : LITHO_CUDA(cudaMemsetAsync(t->bad, 0, pieces, stream), error) &&
                   LITHO_CUDA(cudaMemsetAsync(t->spikes, 0, pieces * sizeof *t->spikes, stream),
                              error)) &&
        (!t->share || LITHO_CUDA(litho_erratic_mark_noisy(t, stream), error));
    litho_cuda_mark_end(s->context);
    if (!ok || !fetch_counts(s, t, counts, error) ||
        !litho_cuda_step(s->context, s->run, 1, 1, error))
        return FALSE;
    s->clean->pieces = counts[LITHO_ERRATIC_CUDA_PIECES];
    s->clean->traces = counts[LITHO_ERRATIC_CUDA_WITH];
    return TRUE;
}

// Noisy traces get back a share of what they have beside their guesses.
static gboolean keep_share(const Search *s, LithoErraticTask *t, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(s->context);
    if (!t->share)
        return TRUE;
    t->in = litho_cuda_input(s->context, s->in, s->run, error);
    t->to = t->in ? litho_cuda_output(s->context, s->clean->cube, error) : NULL;
    return t->to && LITHO_CUDA(litho_erratic_keep_share(t, stream), error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

static gboolean make_clean(const Search *s, GError **error)
{
    const gboolean absent = s->rule.missing == LITHO_CLEAN_ABSENT;
    const gboolean looks = s->rule.above > 0 || s->rule.share;
    LithoErraticTask t = {0};
    if (looks) {
        litho_run_begin(s->run, "erratic noise", NULL);
        if (!make_task(s, &t, error) || (s->rule.share && !upload_share(s, &t, error)) ||
            !find_erratic(s, &t, error))
            return FALSE;
    }
    const LithoGapPieces pieces = {.bad = t.bad,
                                   .first = t.first,
                                   .pieces = t.pieces,
                                   .length = LITHO_ERRATIC_PIECE,
                                   .alone = absent};
    const gboolean erratic = s->clean->pieces > 0 || t.share;
    LithoGapsRule gaps = s->rule.gaps;
    gaps.regular = &s->clean->regular;
    if (!erratic && (s->rule.missing != LITHO_CLEAN_GUESSED || !litho_gaps_any(s->in, s->in->held)))
        return TRUE;
    if (s->clean->cube)
        return litho_cuda_gaps_fill(s->context, &s->scratch->gaps, s->clean->cube,
                                    erratic ? &pieces : NULL, gaps, s->run, error) &&
               keep_share(s, &t, error);
    s->clean->cube = litho_cuda_gaps_guess(s->context, &s->scratch->gaps, s->in,
                                           erratic ? &pieces : NULL, gaps, s->run, error);
    return s->clean->cube && keep_share(s, &t, error);
}

const LithoCube *litho_cuda_clean(LithoCudaContext *context, LithoCudaErratic *scratch,
                                  LithoClean *clean, LithoCleanRule rule, const LithoCube *in,
                                  LithoRun *run, GError **error)
{
    const Search s = {context, scratch, clean, rule, in, run};
    const gboolean asked = rule.above > 0 || rule.share ||
                           (rule.missing == LITHO_CLEAN_GUESSED && litho_gaps_any(in, in->held));
    if (!asked || !litho_clean_is_of(clean, rule, in)) {
        cudaStreamSynchronize(litho_cuda_stream(context)); // the cube before may be in use
        litho_clean_clear(clean);
        if (!asked) // what was found before is not to be told
            return in;
        if (!make_clean(&s, error)) {
            litho_clean_clear(clean);
            return NULL;
        }
        clean->serial = in->serial;
        clean->rule = rule;
    }
    return clean->cube ? clean->cube : in;
}
