// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tip-wave modelling on CUDA: fields stay on the device from the first boundary to the receivers.
// Several share the targets of sums by rows.
#include "kernels/twsm/cuda/team.h"

#include <stdlib.h>

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
    return a == TWSM_FUSED || a == TWSM_FAST;
}

// Milliseconds that one card takes for the sums of a chain whose rows can be shared: by the rates
// of an H200, pairs times frequencies.
static double shared_ms(const TwsmChain *chain, TwsmBand band, const TwsmHow *how)
{
    double ms = 0;
    for (int m = 0; m < chain->n_legs; m++) {
        const TwsmLeg *leg = &chain->leg[m];
        if (leg->to->n < 4 * TWSM_GPU_ROWS)
            continue;
        const double beams = (double)leg->from->n * leg->to->n * chain->n_rhs * band.n;
        const gboolean fast = twsm_leg_algorithm(leg, how->algorithm) == TWSM_FAST;
        ms += beams * (fast ? 0.1 : leg->mask ? 3 : leg->near ? 1.8 : 1) / 3.3e9;
    }
    return ms;
}

// Cards that would share the job: several only for sums by rows, and as many as have PAYS ms each
// to do: sharing costs a millisecond or two a leg, and every card makes the source's field for
// itself. LITHO_TWSM_CARDS lets a machine stand for one with so many GPUs, several cards to a GPU,
// whatever the work: tests of the sharing need no second GPU and no long sums.
static int cards_wanted(const TwsmChain *chain, TwsmBand band, const TwsmHow *how,
                        const LithoRun *run)
{
    static const double PAYS = 6;
    const char *pretend = g_getenv("LITHO_TWSM_CARDS");
    int most = MIN(litho_run_devices(run), MAX_CARDS);
    for (int m = 0; m < chain->n_legs; m++)
        if (!by_rows(&chain->leg[m], how))
            return 1;
    if (pretend)
        most = MIN(most, atoi(pretend));
    else
        most = (int)MIN(MIN(most, litho_cuda_backend()->n_devices),
                        shared_ms(chain, band, how) / PAYS);
    return MAX(most, 1);
}

// A card that is being opened beside the others.
typedef struct Opening {
    TwsmCard *card;
    int device;
    gboolean ok;
    GError *error;
} Opening;

static gpointer open_beside(gpointer data)
{
    Opening *o = data;
    o->ok = open_card(o->card, o->device, &o->error);
    return NULL;
}

// Opens the first n cards, those that are new at the same time: a card's first context takes a
// tenth of a second or more.
static gboolean open_cards(Gpu *gpu, int n, GError **error)
{
    const int n_devices = litho_cuda_backend()->n_devices;
    Opening opening[MAX_CARDS] = {0};
    GThread *thread[MAX_CARDS] = {NULL};
    gboolean ok = TRUE, fresh = FALSE;
    for (int k = 0; k < n; k++) {
        opening[k] = (Opening){.card = &gpu->card[k], .device = (gpu->first + k) % n_devices};
        opening[k].ok = gpu->card[k].context != NULL;
        fresh |= !opening[k].ok;
        if (!opening[k].ok)
            thread[k] = g_thread_new("card", open_beside, &opening[k]);
    }
    for (int k = 0; k < n; k++) {
        if (thread[k])
            g_thread_join(thread[k]);
        ok &= opening[k].ok;
        if (opening[k].error && error && !*error)
            g_propagate_error(error, opening[k].error);
        else
            g_clear_error(&opening[k].error);
    }
    if (ok && fresh && n > 1)
        open_peers(gpu, n);
    return ok;
}

static gboolean run_chain(gpointer self, const TwsmChain *chain, TwsmBand band, TwsmHow *how,
                          TwsmStart start, TwsmValue *receivers, LithoRun *run, GError **error)
{
    Gpu *gpu = self;
    TwsmTask task = {.chain = chain,
                     .band = band,
                     .how = how,
                     .run = run,
                     .stride = (band.n + TWSM_GPU_BLOCK - 1) / TWSM_GPU_BLOCK * TWSM_GPU_BLOCK};
    how->cards = cards_wanted(chain, band, how, run);
    return open_cards(gpu, how->cards, error) &&
           litho_cuda_use(litho_cuda_device(gpu->card[0].context), error) &&
           twsm_team_run(gpu->card, how->cards, &task, start, receivers, error);
}

// --- plan, exec -------------------------------------------------------------------------------

static gboolean traces(gpointer self, const TwsmSetup *setup, const TwsmValue *spectra,
                       LithoCube *out, LithoRun *run, GError **error)
{
    Gpu *gpu = self;
    return twsm_card_traces(&gpu->card[0], setup, spectra, out, run, error);
}

static const TwsmEngine engine = {
    .takes_shot = TRUE, .block = block, .run = run_chain, .traces = traces};

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
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
    return twsm_plan_exec(data, pass, run, error);
}

static void destroy(gpointer data)
{
    twsm_plan_free(data);
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)threads;
    (void)in;
    (void)region;
    return twsm_memory_gpu(params, known);
}

static char *less_memory(const LithoGrid *in, const void *params, LithoResolved *known,
                         guint64 bytes, int threads)
{
    (void)threads;
    (void)in;
    return twsm_less_memory_gpu(params, known, bytes);
}

const LithoImpl litho_cuda_twsm = {.plan = plan,
                                   .exec = exec,
                                   .destroy = destroy,
                                   .memory = memory,
                                   .less_memory = less_memory,
                                   .rivals = twsm_card_rivals};
