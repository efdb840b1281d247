// SPDX-License-Identifier: GPL-3.0-or-later
//
// The GPUs that share a job: one thread a card, from the field on the first boundary to the
// receivers. Each sums a range of every leg's targets; after the leg each takes the other cards'
// rows by peer copies. The cards meet once a leg, when all have summed.
#include "kernels/twsm/cuda/team.h"

#include <string.h>

#include "core/error.h"
#include "kernels/twsm/clusters.h"

// --- fields -----------------------------------------------------------------------------------

static int widest(const TwsmChain *chain)
{
    int n = 0;
    for (int m = 0; m < chain->n_legs; m++)
        n = MAX(n, MAX(chain->leg[m].from->padded, chain->leg[m].to->padded));
    return n;
}

static gboolean make_fields(TwsmCard *card, const TwsmTask *task, GError **error)
{
    gsize bytes = 8 * (gsize)task->chain->n_rhs * widest(task->chain) * task->stride;
    if (!litho_cuda_enter(card->context, error))
        return FALSE;
    twsm_card_trim(card);
    return litho_cuda_reserve(card->context, &card->field[0], bytes, error) &&
           litho_cuda_reserve(card->context, &card->field[1], bytes, error);
}

static gboolean download_field(TwsmCard *card, const TwsmTask *task, int which, TwsmValue *y,
                               GError **error)
{
    const TwsmPoints *p = task->leg->to;
    gsize values = (gsize)task->chain->n_rhs * p->padded * task->stride;
    g_autofree TwsmValue *wide = g_new(TwsmValue, values);
    if (!litho_cuda_download(litho_cuda_device(card->context), (float *)wide,
                             card->field[which].data, 2 * values, error))
        return FALSE;
    for (gint64 r = 0; r < (gint64)task->chain->n_rhs * p->n; r++)
        memcpy(y + r * task->band.n,
               wide + ((gsize)(r / p->n) * p->padded + r % p->n) * task->stride,
               task->band.n * sizeof *y);
    return TRUE;
}

// --- legs -------------------------------------------------------------------------------------

// First target of card k's share: whole blocks of the kernel, so that a sum does not depend on how
// many cards there are.
static int share(const TwsmTask *task, int k, int n_cards)
{
    const TwsmPoints *to = task->leg->to;
    if (k == n_cards)
        return to->padded;
    if (twsm_leg_algorithm(task->leg, task->how->algorithm) == TWSM_FAST)
        return twsm_cluster_row_first(to, twsm_cluster_rows(to) * k / n_cards);
    gint64 tiles = (to->padded + TWSM_GPU_ROWS - 1) / TWSM_GPU_ROWS;
    return (int)MIN(tiles * k / n_cards * TWSM_GPU_ROWS, to->padded);
}

// Sum of a leg by one card: rows .. of field `in` into the other.
static gboolean sum_rows(TwsmCard *card, const TwsmTask *task, int row, int rows, int in,
                         GError **error)
{
    const float *u = card->field[in].data;
    float *y = card->field[1 - in].data;
    switch (twsm_leg_algorithm(task->leg, task->how->algorithm)) {
    case TWSM_FFT:
        // The lattice leaves padding and frequencies beyond the band alone.
        return LITHO_CUDA(cudaMemsetAsync(y, 0,
                                          8 * (gsize)task->chain->n_rhs * task->leg->to->padded *
                                              task->stride,
                                          litho_cuda_stream(card->context)),
                          error) &&
               twsm_card_lattice(card, task, u, y, error);
    case TWSM_ALG1:
    case TWSM_ALG2:
    case TWSM_MOD2:
        return twsm_card_strips(card, task, u, y, error);
    case TWSM_FAST:
        return twsm_card_clusters(card, task, row, rows, u, y, error);
    default:
        return twsm_card_fused(card, task, row, rows, u, y, error);
    }
}

// --- the team ---------------------------------------------------------------------------------

typedef struct Team {
    TwsmCard *card;
    int n;
    TwsmStart start;
    GMutex lock; // guards what follows
    GCond met;
    int here, round, working; // `working`: members that have not ended
    gboolean failed, go;
} Team;

typedef struct Member {
    Team *team;
    TwsmCard *card;
    int k;
    TwsmTask task; // its own: `how` and `run` too
    TwsmHow how;
    LithoRun quiet;
    GError *error;
    gboolean ok;
} Member;

// Waits until all cards are here. All get the same answer: whether all were well.
static gboolean meet(Team *team, gboolean ok)
{
    g_mutex_lock(&team->lock);
    int round = team->round;
    team->failed |= !ok;
    if (++team->here == team->n) {
        team->here = 0;
        team->go = !team->failed;
        team->round++;
        g_cond_broadcast(&team->met);
    }
    while (team->round == round)
        g_cond_wait(&team->met, &team->lock);
    gboolean go = team->go; // of this round: the next cannot end without us
    g_mutex_unlock(&team->lock);
    return go;
}

// Takes the other cards' rows of field `which`; their streams are at rest. What they do next reads
// that field and writes the other, so nothing waits for the copies but this card's stream.
static gboolean gather(const Member *m, int which, GError **error)
{
    const TwsmTask *task = &m->task;
    TwsmCard *a = m->card;
    int n = m->team->n, padded = task->leg->to->padded;
    const int own = share(task, m->k + 1, n) - share(task, m->k, n);
    const double bytes = 8.0 * task->chain->n_rhs * (padded - own) * task->stride;
    litho_cuda_mark(a->context, "exchange", LITHO_STAGE_TRANSFER, bytes, 0);
    for (int k = 1; k < n; k++) {
        // Each begins with another partner, so that no link carries everything at once.
        int from = (m->k + k) % n;
        const TwsmCard *b = &m->team->card[from];
        int lo = share(task, from, n), hi = share(task, from + 1, n);
        for (int q = 0; lo < hi && q < task->chain->n_rhs; q++) {
            gsize at = 8 * ((gsize)q * padded + lo) * task->stride;
            if (!LITHO_CUDA(cudaMemcpyPeerAsync((char *)a->field[which].data + at, a->ordinal,
                                                (char *)b->field[which].data + at, b->ordinal,
                                                8 * (gsize)(hi - lo) * task->stride,
                                                litho_cuda_stream(a->context)),
                            error))
                return FALSE;
        }
    }
    litho_cuda_mark_end(a->context);
    return TRUE;
}

static gboolean start_card(Member *m)
{
    return make_fields(m->card, &m->task, &m->error) &&
           twsm_card_source(m->card, &m->task, m->team->start.shot, &m->error);
}

// One card's part of the whole chain. The result is complete on card 0.
static void run_card(Member *m)
{
    TwsmTask *task = &m->task;
    const TwsmChain *chain = task->chain;
    cudaStream_t stream = litho_cuda_stream(m->card->context);
    gboolean ok = start_card(m);
    for (int leg = 0, in = 0; leg < chain->n_legs; leg++, in = 1 - in) {
        task->leg = &chain->leg[leg];
        m->how.leg = 1e-6 * task->leg->from->n * task->leg->to->n * chain->n_rhs * task->band.n;
        int lo = share(task, m->k, m->team->n), hi = share(task, m->k + 1, m->team->n);
        ok = ok && sum_rows(m->card, task, lo, hi - lo, in, &m->error);
        if (m->team->n > 1) {
            ok = ok && LITHO_CUDA(cudaStreamSynchronize(stream), &m->error);
            ok = meet(m->team, ok) &&
                 ((m->k > 0 && leg == chain->n_legs - 1) || gather(m, 1 - in, &m->error));
        }
        m->how.done += m->how.leg;
    }
    m->ok = ok && litho_cuda_finish(m->card->context, m->k ? NULL : task->run, &m->error);
    if (!m->ok)
        cudaStreamSynchronize(stream); // others may write or free what a copy still reads
}

static void run_member(gpointer data, gpointer unused)
{
    Member *m = data;
    Team *team = m->team;
    (void)unused;
    run_card(m);
    g_mutex_lock(&team->lock);
    team->working--;
    g_cond_broadcast(&team->met);
    g_mutex_unlock(&team->lock);
}

// A card keeps its thread: a new one would cost its first copy milliseconds (OpenMP's threads and
// CUDA's state of a thread are made anew).
static gboolean hire(TwsmCard *card, GError **error)
{
    if (!card->worker)
        card->worker = g_thread_pool_new(run_member, NULL, 1, TRUE, error);
    return card->worker != NULL;
}

// Initial state of member k.
static void fill_member(Team *team, const TwsmTask *task, int k, Member *m)
{
    *m = (Member){.team = team, .card = &team->card[k], .k = k, .task = *task, .how = *task->how};
    m->task.how = &m->how;
    m->task.report_share = k == 0;
    if (k == 0 || !task->run)
        return;
    // Progress and times belong to the job's thread: the other cards only look for a cancel.
    m->quiet = (LithoRun){.threads = MAX(litho_run_threads(task->run) / team->n, 1),
                          .cancel = task->run->cancel,
                          .superseded = task->run->superseded,
                          .superseded_data = task->run->superseded_data};
    m->task.run = &m->quiet;
}

// The calling thread drives card 0. Returns when all have ended.
static gboolean run_members(Team *team, Member *member, GError **error)
{
    gboolean ok = TRUE;
    team->working = team->n - 1;
    for (int k = 1; k < team->n; k++)
        g_thread_pool_push(team->card[k].worker, &member[k], NULL);
    run_card(&member[0]);
    g_mutex_lock(&team->lock);
    while (team->working > 0)
        g_cond_wait(&team->met, &team->lock);
    g_mutex_unlock(&team->lock);
    for (int k = 0; k < team->n; k++) {
        ok &= member[k].ok;
        if (member[k].error && error && !*error)
            g_propagate_error(error, member[k].error);
        else
            g_clear_error(&member[k].error);
    }
    return ok;
}

gboolean twsm_team_run(TwsmCard *card, int n, TwsmTask *task, TwsmStart start, TwsmValue *receivers,
                       GError **error)
{
    g_autofree Member *member = g_new0(Member, n);
    Team team = {.card = card, .n = n, .start = start};
    for (int k = 1; k < n; k++)
        if (!hire(&card[k], error))
            return FALSE;
    g_mutex_init(&team.lock);
    g_cond_init(&team.met);
    for (int k = 0; k < n; k++)
        fill_member(&team, task, k, &member[k]);
    gboolean ok = run_members(&team, member, error);
    g_mutex_clear(&team.lock);
    g_cond_clear(&team.met);
    *task->how = member[0].how;
    task->leg = &task->chain->leg[task->chain->n_legs - 1];
    return ok && litho_cuda_use(litho_cuda_device(card[0].context), error) &&
           download_field(&card[0], task, task->chain->n_legs % 2, receivers, error);
}
