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

// Cards that share the job: several only for sums by rows. LITHO_TWSM_CARDS lets a machine stand
// for one with so many GPUs, several cards to a GPU: tests of the sharing need no second GPU.
static int cards_for(Gpu *gpu, const TwsmChain *chain, const TwsmHow *how, const LithoRun *run,
                     GError **error)
{
    int n = litho_cuda_backend()->n_devices;
    const char *pretend = g_getenv("LITHO_TWSM_CARDS");
    int most = pretend ? atoi(pretend) : n;
    int wanted = CLAMP(MIN(litho_run_devices(run), most), 1, MAX_CARDS);
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

static gboolean run_chain(gpointer self, const TwsmChain *chain, TwsmBand band, TwsmHow *how,
                          TwsmStart start, TwsmValue *receivers, LithoRun *run, GError **error)
{
    Gpu *gpu = self;
    TwsmTask task = {.chain = chain,
                     .band = band,
                     .how = how,
                     .run = run,
                     .stride = (band.n + TWSM_GPU_BLOCK - 1) / TWSM_GPU_BLOCK * TWSM_GPU_BLOCK};
    how->cards = cards_for(gpu, chain, how, run, error);
    return how->cards > 0 && twsm_team_run(gpu->card, how->cards, &task, start, receivers, error);
}

// --- plan, exec -------------------------------------------------------------------------------

static const TwsmEngine engine = {.takes_rays = TRUE, .block = block, .run = run_chain};

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

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region)
{
    (void)in;
    (void)region;
    return twsm_memory_gpu(params, known);
}

static char *less_memory(const LithoGrid *in, const void *params, LithoResolved *known,
                         guint64 bytes)
{
    (void)in;
    return twsm_less_memory_gpu(params, known, bytes);
}

const LithoImpl litho_cuda_twsm = {
    .plan = plan, .exec = exec, .destroy = destroy, .memory = memory, .less_memory = less_memory};
