// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tip-wave modelling on CUDA: fields stay on the device from the first boundary to the receivers.
// With several GPUs each computes a range of the targets, and after every leg but the last all
// gather the whole field by peer copies.
#include "kernels/twsm/twsm_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/twsm/clusters.h"
#include "kernels/twsm/setup.h"

enum { MAX_CARDS = 16, BLOCK = TWSM_GPU_BAND };

typedef struct Gpu {
    TwsmCard card[MAX_CARDS]; // [0] is the run's device; the others open when first wanted
    int first;                // our index of card 0
} Gpu;

static gboolean open_card(TwsmCard *card, int device, GError **error)
{
    if (card->context)
        return TRUE;
    card->context = litho_cuda_context_new(device, error);
    if (!card->context)
        return FALSE;
    card->points = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return LITHO_CUDA(cudaGetDevice(&card->ordinal), error);
}

// Direct copies where the machine has them; without, CUDA goes through the host.
static void open_peers(const Gpu *gpu, int n)
{
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (gpu->card[a].ordinal != gpu->card[b].ordinal)
                litho_cuda_link(litho_cuda_device(gpu->card[a].context),
                                litho_cuda_device(gpu->card[b].context));
}

static void free_gpu(gpointer data)
{
    Gpu *gpu = data;
    for (int k = 0; k < MAX_CARDS; k++)
        if (gpu->card[k].context)
            twsm_card_clear(&gpu->card[k]);
    g_free(gpu);
}

static gboolean stores_strips(TwsmAlgorithm a)
{
    return a == TWSM_ALG1 || a == TWSM_ALG2 || a == TWSM_MOD2;
}

static int block(TwsmAlgorithm algorithm, int n_frequencies)
{
    return stores_strips(algorithm) ? n_frequencies : BLOCK;
}

// Sums whose targets can be shared out.
static gboolean by_rows(const TwsmLeg *leg, const TwsmHow *how)
{
    TwsmAlgorithm a = twsm_leg_algorithm(leg, how->algorithm);
    return a == TWSM_FUSED || a == TWSM_FAST || a == TWSM_MATRIX;
}

// Cards that share the job: several only for sums by rows. LITHO_TWSM_CARDS lets a machine stand
// for one with so many GPUs, several cards to a GPU: tests of the sharing need no second GPU.
static int cards_for(Gpu *gpu, const TwsmChain *chain, const TwsmHow *how, GError **error)
{
    int n = litho_cuda_backend()->n_devices;
    const char *pretend = g_getenv("LITHO_TWSM_CARDS");
    int most = pretend ? atoi(pretend) : n;
    int wanted = CLAMP(how->gpus > 0 ? MIN(how->gpus, most) : most, 1, MAX_CARDS);
    for (int m = 0; m < chain->n_legs; m++)
        if (!by_rows(&chain->leg[m], how))
            wanted = 1;
    for (int k = 0; k < wanted; k++)
        if (!open_card(&gpu->card[k], (gpu->first + k) % n, error))
            return 0;
    if (wanted > 1)
        open_peers(gpu, wanted);
    return wanted;
}

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

// The host's [rhs][n][band.n] into [rhs][padded][stride], zeros around it: the sums run over
// padding too, with beams of 0, and 0 times garbage may be NaN.
static gboolean upload_field(TwsmCard *card, const TwsmTask *task, const TwsmValue *u,
                             GError **error)
{
    const TwsmPoints *p = task->chain->leg[0].from;
    gsize values = (gsize)task->chain->n_rhs * p->padded * task->stride;
    g_autofree TwsmValue *wide = g_try_new0(TwsmValue, values);
    if (!wide) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, "no memory for a field of %zu values",
                    values);
        return FALSE;
    }
#pragma omp parallel for schedule(static)
    for (gint64 r = 0; r < (gint64)task->chain->n_rhs * p->n; r++)
        memcpy(wide + ((gsize)(r / p->n) * p->padded + r % p->n) * task->stride,
               u + r * task->band.n, task->band.n * sizeof *u);
    return litho_cuda_upload(litho_cuda_device(card->context), card->field[0].data,
                             (const float *)wide, 2 * values, error);
}

// The field made on the card: a hundredth of the bytes to send.
static gboolean make_field(TwsmCard *card, const TwsmTask *task, const TwsmRay *rays,
                           GError **error)
{
    const TwsmPoints *p = task->chain->leg[0].from;
    gint64 n = (gint64)task->chain->n_rhs * p->n;
    gsize values = (gsize)task->chain->n_rhs * p->padded * task->stride;
    cudaStream_t stream = litho_cuda_stream(card->context);
    if (!litho_cuda_reserve(card->context, &card->rays, sizeof *rays * n, error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error) ||
        !litho_cuda_upload(litho_cuda_device(card->context), card->rays.data, (const float *)rays,
                           (gint64)(sizeof *rays / sizeof(float)) * n, error) ||
        !LITHO_CUDA(cudaMemsetAsync(card->field[0].data, 0, 8 * values, stream), error))
        return FALSE;
    for (int q = 0; q < task->chain->n_rhs; q++)
        if (!LITHO_CUDA(
                litho_twsm_source((const TwsmRay *)card->rays.data + (gsize)q * p->n, p->n,
                                  task->band.k0, task->band.n, task->stride,
                                  (float *)card->field[0].data + twsm_field_row(task, p->padded, q),
                                  stream),
                error))
            return FALSE;
    return TRUE;
}

static gboolean start_field(TwsmCard *card, const TwsmTask *task, TwsmStart start, GError **error)
{
    return start.rays ? make_field(card, task, start.rays, error)
                      : upload_field(card, task, start.u, error);
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

// Every card takes the other cards' rows of field `which`.
static gboolean all_gather(Gpu *gpu, int n_cards, const TwsmTask *task, int which, GError **error)
{
    int padded = task->leg->to->padded;
    for (int k = 0; k < n_cards; k++)
        if (!litho_cuda_use(litho_cuda_device(gpu->card[k].context), error) ||
            !LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(gpu->card[k].context)), error))
            return FALSE;
    for (int to = 0; to < n_cards; to++) {
        TwsmCard *a = &gpu->card[to];
        if (!litho_cuda_use(litho_cuda_device(a->context), error))
            return FALSE;
        for (int k = 1; k < n_cards; k++) {
            // Each begins with another partner, so that no link carries everything at once.
            int from = (to + k) % n_cards;
            const TwsmCard *b = &gpu->card[from];
            int lo = share(task, from, n_cards), hi = share(task, from + 1, n_cards);
            for (int q = 0; q < task->chain->n_rhs; q++) {
                gsize at = 8 * ((gsize)q * padded + lo) * task->stride;
                if (!LITHO_CUDA(cudaMemcpyPeerAsync((char *)a->field[which].data + at, a->ordinal,
                                                    (char *)b->field[which].data + at, b->ordinal,
                                                    8 * (gsize)(hi - lo) * task->stride,
                                                    litho_cuda_stream(a->context)),
                                error))
                    return FALSE;
            }
        }
    }
    for (int k = 0; k < n_cards; k++)
        if (!litho_cuda_use(litho_cuda_device(gpu->card[k].context), error) ||
            !LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(gpu->card[k].context)), error))
            return FALSE;
    return TRUE;
}

// One thread a card: each waits for its own chunks.
typedef struct CardJob {
    TwsmCard *card;
    const TwsmTask *task;
    int row, rows;
    const float *u;
    float *y;
    GError *error;
    gboolean ok;
} CardJob;

static gpointer run_card(gpointer data)
{
    CardJob *job = data;
    const TwsmTask *task = job->task;
    gboolean (*sum)(TwsmCard *, const TwsmTask *, int, int, const float *, float *, GError **);
    switch (twsm_leg_algorithm(task->leg, task->how->algorithm)) {
    case TWSM_FAST:
        sum = twsm_card_clusters;
        break;
    case TWSM_MATRIX:
        sum = twsm_card_matrix;
        break;
    default:
        sum = twsm_card_fused;
    }
    job->ok = litho_cuda_use(litho_cuda_device(job->card->context), &job->error) &&
              sum(job->card, task, job->row, job->rows, job->u, job->y, &job->error);
    return NULL;
}

static gboolean rows_on_cards(Gpu *gpu, int n_cards, const TwsmTask *task, int in, GError **error)
{
    CardJob jobs[MAX_CARDS] = {0};
    GThread *threads[MAX_CARDS] = {NULL};
    // Progress and partial results belong to the job's thread: the other cards only look for a
    // cancel.
    LithoRun quiet = {.cancel = task->run ? task->run->cancel : NULL,
                      .superseded = task->run ? task->run->superseded : NULL,
                      .superseded_data = task->run ? task->run->superseded_data : NULL};
    TwsmTask silent = *task, first = *task;
    silent.run = &quiet;
    first.report_share = TRUE;
    for (int k = n_cards - 1; k >= 0; k--) {
        TwsmCard *card = &gpu->card[k];
        int lo = share(task, k, n_cards);
        jobs[k] = (CardJob){card,
                            k ? &silent : &first,
                            lo,
                            share(task, k + 1, n_cards) - lo,
                            card->field[in].data,
                            card->field[1 - in].data,
                            NULL,
                            FALSE};
        if (k > 0)
            threads[k] = g_thread_new("twsm-card", run_card, &jobs[k]);
        else
            run_card(&jobs[k]);
    }
    gboolean ok = TRUE;
    for (int k = 0; k < n_cards; k++) {
        if (threads[k])
            g_thread_join(threads[k]);
        if (!jobs[k].ok && ok)
            g_propagate_error(error, jobs[k].error);
        else
            g_clear_error(&jobs[k].error);
        ok &= jobs[k].ok;
    }
    return ok && litho_cuda_use(litho_cuda_device(gpu->card[0].context), error) &&
           (n_cards == 1 || all_gather(gpu, n_cards, task, 1 - in, error));
}

static gboolean run_leg(Gpu *gpu, int n_cards, const TwsmTask *task, int in, GError **error)
{
    TwsmCard *card = &gpu->card[0];
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
    default:
        return rows_on_cards(gpu, n_cards, task, in, error);
    }
}

static gboolean run_chain(gpointer self, const TwsmChain *chain, TwsmBand band, TwsmHow *how,
                          TwsmStart start, TwsmValue *receivers, LithoRun *run, GError **error)
{
    Gpu *gpu = self;
    int n_cards = cards_for(gpu, chain, how, error), in = 0;
    TwsmTask task = {.chain = chain,
                     .band = band,
                     .how = how,
                     .run = run,
                     .stride = (band.n + TWSM_GPU_BLOCK - 1) / TWSM_GPU_BLOCK * TWSM_GPU_BLOCK};
    for (int k = 0; k < n_cards; k++)
        if (!make_fields(&gpu->card[k], &task, error) ||
            !start_field(&gpu->card[k], &task, start, error))
            return FALSE;
    if (n_cards == 0 || !litho_cuda_enter(gpu->card[0].context, error))
        return FALSE;
    how->cards = n_cards;
    for (int m = 0; m < chain->n_legs; m++) {
        task.leg = &chain->leg[m];
        how->leg = 1e-6 * task.leg->from->n * task.leg->to->n * chain->n_rhs * band.n;
        if (!run_leg(gpu, n_cards, &task, in, error))
            return FALSE;
        how->done += how->leg;
        in = 1 - in;
    }
    for (int k = n_cards - 1; k >= 0; k--)
        if (!litho_cuda_use(litho_cuda_device(gpu->card[k].context), error) ||
            !litho_cuda_finish(gpu->card[k].context, k ? NULL : run, error))
            return FALSE;
    return download_field(&gpu->card[0], &task, in, receivers, error);
}

// --- plan, exec -------------------------------------------------------------------------------

static const TwsmEngine engine = {.takes_rays = TRUE, .block = block, .run = run_chain};

static gpointer plan(const LithoGrid *in, const void *params, LithoRun *run, GError **error)
{
    (void)in;
    Gpu *gpu = g_new0(Gpu, 1);
    gpu->first = run ? run->device : 0;
    if (!open_card(&gpu->card[0], gpu->first, error)) {
        free_gpu(gpu);
        return NULL;
    }
    return twsm_plan_new(params, &engine, gpu, free_gpu, run, error);
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    g_autoptr(LithoCube) traces = litho_cube_new(&pass->out->grid, error);
    if (!traces || !twsm_plan_exec(data, pass, traces, run, error))
        return FALSE;
    for (guint k = 0; k < traces->notes->len; k++)
        litho_cube_note(pass->out, "%s", (char *)g_ptr_array_index(traces->notes, k));
    g_strlcpy(pass->out->name, traces->name, sizeof pass->out->name);
    return litho_cuda_buffer_upload(pass->out->device, 0, traces->samples,
                                    litho_box_count(traces->held), error);
}

static void destroy(gpointer data)
{
    twsm_plan_free(data);
}

static guint64 memory(const LithoGrid *in, const void *params, LithoBox region)
{
    (void)in;
    (void)region;
    return twsm_memory_gpu(params);
}

const LithoImpl litho_cuda_twsm = {
    .plan = plan, .exec = exec, .destroy = destroy, .memory = memory};
