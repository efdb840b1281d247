// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration on one or more GPUs: the same stages and jobs as cpu/migrate.c. Frequencies are
// dealt out in turn, so that every card has a sample of the whole band; each card sums an image of
// its own and the first one adds them up. A band that does not fit into memory is taken in several
// rounds. Where the waves of one grid are too few for a card, it takes the grids beside each other,
// in lanes with images of their own.
#include <cufft.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/migrate/cuda/plan.h"

enum { MAX_CARDS = 16, MAX_LANES = 4, MAX_MEMBERS = MAX_CARDS * MAX_LANES };

typedef struct Plan {
    LithoGrid in;
    LithoMigrateJobs jobs;
    LithoGpuPlan
        *card[MAX_CARDS][MAX_LANES]; // [0] is the run's device; others open when first wanted
    int first;                       // our index of card 0
    int n_cards, n_lanes, n_rounds;  // of the last pass: what the cards' shares were made for
    gboolean designed, have_image;
} Plan;

static void plan_free(gpointer data)
{
    Plan *plan = data;
    for (int k = 0; k < MAX_MEMBERS; k++)
        litho_gpu_card_free(plan->card[k / MAX_LANES][k % MAX_LANES]);
    litho_migrate_jobs_clear(&plan->jobs);
    g_free(plan);
}

static gpointer plan_new(const LithoGrid *in, const void *params, LithoRun *run, GError **error)
{
    (void)params;
    Plan *plan = g_new0(Plan, 1);
    plan->in = *in;
    plan->first = run ? run->device : 0;
    plan->card[0][0] = litho_gpu_card_new(in, plan->first, error);
    if (plan->card[0][0])
        return plan;
    g_free(plan);
    return NULL;
}

// --- how many cards, how many rounds ------------------------------------------------------------

// Member m of the last pass's team.
static LithoGpuPlan *member_card(const Plan *plan, int m)
{
    return plan->card[m / plan->n_lanes][m % plan->n_lanes];
}

static gboolean open_cards(Plan *plan, int n_cards, int n_lanes, GError **error)
{
    const int all = litho_cuda_backend()->n_devices;
    for (int k = 0; k < n_cards; k++)
        for (int lane = 0; lane < n_lanes; lane++)
            if (!plan->card[k][lane] && !(plan->card[k][lane] = litho_gpu_card_new(
                                              &plan->in, (plan->first + k) % all, error)))
                return FALSE;
    // Direct copies where the machine has them; without, CUDA goes through the host.
    const int home = plan->card[0][0]->ordinal;
    int can = 0;
    for (int k = 1; k < n_cards && litho_cuda_use(plan->first, NULL); k++)
        if (cudaDeviceCanAccessPeer(&can, home, plan->card[k][0]->ordinal) == cudaSuccess && can)
            cudaDeviceEnablePeerAccess(plan->card[k][0]->ordinal, 0);
    cudaGetLastError(); // enabled already
    return litho_cuda_use(plan->first, error);
}

static int cards_for(const LithoMigrateParams *p, const LithoMigrateJobs *jobs)
{
    const int all = MIN(litho_cuda_backend()->n_devices, MAX_CARDS);
    return CLAMP(p->gpus > 0 ? MIN(p->gpus, all) : all, 1, MAX(jobs->job[0]->nf, 1));
}

// Lanes: grids beside each other where the finest one's waves do not keep the processors busy by
// themselves and all of it is short, for what is shown is shown at the end then, when the lanes are
// added up.
static int lanes_for(const Plan *plan, const LithoMigrateParams *p, int n_cards)
{
    const double half_a_second = 1e13; // operations, of a card with 132 processors
    const LithoMigrateJob *fine = plan->jobs.job[0];
    const int blocks = fine->nf / n_cards * ((fine->cells.nx + 255) / 256);
    double flops = 0;
    for (int k = 0; k < plan->jobs.n; k++)
        flops +=
            litho_migrate_sweep_flops(plan->jobs.job[k], p->mode == LITHO_MIGRATE_SHOT ? 2 : 1);
    if (p->engine == LITHO_MIGRATE_SPLITSTEP || blocks > 1.5 * plan->card[0][0]->processors ||
        flops > half_a_second * n_cards)
        return 1;
    return MIN(plan->jobs.n, MAX_LANES);
}

static size_t held_by(LithoGpuPlan *const *lanes)
{
    size_t bytes = 0;
    for (int n = 0; n < MAX_LANES && lanes[n]; n++) {
        const LithoGpuPlan *card = lanes[n];
        bytes += card->scratch.bytes + card->image.bytes + card->light.bytes +
                 card->up.planes.bytes + card->down.planes.bytes + card->resampled[0].bytes +
                 card->resampled[1].bytes;
        for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
            bytes += card->band[k].slow.bytes + card->band[k].spectrum.bytes;
    }
    return bytes;
}

// Bytes of the waves of one frequency on a card: depths of a step, the surface, and between passes.
static double bytes_of_frequency(const LithoMigrateJob *job, gboolean shot)
{
    double plane = 8.0 * ((job->cells.nx + 7) / 8 * 8) * job->cells.ny;
    return plane * (shot ? 2 * (job->step + 1) + 8 : job->step + 1 + 5);
}

// What does not depend on how many frequencies are under way: cubes, sums, velocity, FFTs of
// traces.
static double bytes_of_jobs(const Plan *plan, gboolean shot)
{
    const LithoMigrateJob *job = plan->jobs.job[0];
    const double image = 4.0 * litho_migrate_image_cells(job) * litho_migrate_image_depths(job);
    const double traces = fmin((double)litho_grid_traces(&plan->in), 8192);
    double slowness = 0;
    for (int k = 0; k < plan->jobs.n; k++) {
        const LithoMigrateJob *j = plan->jobs.job[k];
        slowness += j->slowness ? 4.4 * j->cells.nx * j->cells.ny * j->n_steps : 0;
    }
    // A coarse image, half of the fine one at most, and two stages of its way to the fine one.
    const double coarse = plan->jobs.n > 1 ? (shot ? 2.4 : 1.9) * image : 0;
    return image * (shot ? 3 : 2) + coarse + 4.0 * litho_grid_samples(&plan->in) + slowness +
           16 * traces * job->nfft;
}

// Waves of every n-th frequency: of the job that needs most, and what all keep of the record. On
// wider cells they begin as waves on the image's, twice.
static double bytes_of_waves(const Plan *plan, gboolean shot, int n)
{
    const LithoMigrateJob *fine = plan->jobs.job[0];
    const double plane = 8.0 * ((fine->image.axis[1].n + 7) / 8 * 8) * fine->image.axis[0].n;
    double most = 0, kept = 0;
    for (int k = 0; k < plan->jobs.n; k++) {
        const LithoMigrateJob *job = plan->jobs.job[k];
        const int nf = (job->nf + n - 1) / n;
        most = fmax(most, nf * (bytes_of_frequency(job, shot) + (job->ratio > 1 ? 2 * plane : 0)));
        kept += shot ? 0 : 8.0 * ((job->cells.nx + 7) / 8 * 8) * job->cells.ny * nf;
    }
    return most + kept;
}

// Rounds in which every card's share fits into its memory, one lane after the other if need be.
// When not even one frequency does, the allocation says so. 0: failed.
static int rounds_for(Plan *plan, const LithoMigrateParams *p, int n_cards, int *n_lanes,
                      GError **error)
{
    const gboolean shot = p->mode == LITHO_MIGRATE_SHOT;
    guint64 least = G_MAXUINT64;
    int most = 1, rounds = 1;
    for (int k = 0; k < n_cards; k++) {
        guint64 left, total;
        if (!litho_cuda_memory(litho_cuda_device(plan->card[k][0]->context), &left, &total, error))
            return 0;
        least = MIN(least, left + held_by(plan->card[k]));
    }
    for (int k = 0; k < plan->jobs.n; k++)
        most = MAX(most, plan->jobs.job[k]->nf);
    const double fixed = bytes_of_jobs(plan, shot), room = fmax(0.9 * least - fixed, 1);
    if (*n_lanes * (fixed + bytes_of_waves(plan, shot, n_cards)) > 0.5 * least)
        *n_lanes = 1;
    while (rounds * n_cards < most && bytes_of_waves(plan, shot, rounds * n_cards) > room)
        rounds++;
    const double spare =
        0.9 * least / *n_lanes - fixed - bytes_of_waves(plan, shot, rounds * n_cards);
    for (int k = 0; k < n_cards; k++)
        for (int lane = 0; lane < *n_lanes; lane++)
            plan->card[k][lane]->spare = (size_t)(fmax(spare, 0) / (shot ? 2 : 1));
    return rounds;
}

// --- the cards at work --------------------------------------------------------------------------

typedef struct Team Team;

// One card's work, or one lane's of it, and what came of it.
typedef struct Member {
    Team *team;
    int index;
    LithoRun run; // only the first one's reports anything
    GThread *thread;
    GError *error;
    gboolean ok;
} Member;

struct Team {
    Plan *plan;
    const LithoPass *pass;
    LithoRun *run;
    const LithoShots *shots;
    float *out;     // traces, of the first card
    gboolean stale; // shares must be made again
    gint stop;
    int n;
    Member member[MAX_MEMBERS];
};

static gboolean should_stop(gpointer data)
{
    const Member *m = data;
    return g_atomic_int_get(&m->team->stop) || (m->index == 0 && litho_run_cancelled(m->team->run));
}

static gboolean member_round(Member *m, int round, LithoGpuWatch *watch, float *traces)
{
    Team *team = m->team;
    Plan *plan = team->plan;
    LithoGpuPlan *card = member_card(plan, m->index);
    const LithoGpuShare share = {round * plan->n_cards + m->index / plan->n_lanes,
                                 plan->n_cards * plan->n_rounds, m->index % plan->n_lanes,
                                 plan->n_lanes};
    const LithoMigrateParams *params = team->pass->params;
    if ((team->stale || plan->n_rounds > 1) &&
        !litho_gpu_card_share(card, &plan->jobs, &share, &m->error))
        return FALSE;
    for (int b = 0; b < card->n_bands; b++)
        card->band[b].job->params = *params;
    watch->scale = (float)share.n / (round + 1);
    if (params->mode == LITHO_MIGRATE_DEMIGRATE)
        return litho_gpu_card_demigrate(card, team->pass->in, traces, &m->run, &m->error);
    if (round == 0 && !litho_gpu_card_clear(card, team->shots != NULL, &m->error))
        return FALSE;
    return team->shots
               ? litho_gpu_card_shots(card, team->shots, team->pass->in, watch, &m->run, &m->error)
               : litho_gpu_card_stack(card, team->pass->in, watch, &m->run, &m->error);
}

static gboolean member_work(Member *m)
{
    Team *team = m->team;
    Plan *plan = team->plan;
    LithoGpuPlan *card = member_card(plan, m->index);
    LithoGpuWatch watch = {card, team->pass->params, team->pass->out, 1, &m->run};
    if (m->index > 0 && !litho_cuda_enter(card->context, &m->error))
        return FALSE;
    float *traces = NULL;
    const size_t bytes = litho_box_count(team->pass->out->held) * sizeof(float);
    if (watch.params->mode == LITHO_MIGRATE_DEMIGRATE) {
        if (m->index > 0 && !litho_cuda_reserve(card->context, &card->traces, bytes, &m->error))
            return FALSE;
        traces = m->index > 0 ? card->traces.data : team->out;
        if (!LITHO_CUDA(cudaMemsetAsync(traces, 0, bytes, litho_cuda_stream(card->context)),
                        &m->error))
            return FALSE;
    }
    for (int round = 0; round < plan->n_rounds; round++)
        if (!member_round(m, round, &watch, traces))
            return FALSE;
    return m->index == 0 || litho_cuda_finish(card->context, NULL, &m->error);
}

static gpointer member_thread(gpointer data)
{
    Member *m = data;
    m->ok = member_work(m);
    if (!m->ok) {
        g_atomic_int_set(&m->team->stop, 1);
        if (litho_cuda_use(litho_cuda_device(member_card(m->team->plan, m->index)->context), NULL))
            cudaDeviceSynchronize();
    }
    return NULL;
}

// to (first card) += from (another card or lane), n floats.
static gboolean gather(Plan *plan, const LithoGpuPlan *card, float *to, const float *from, size_t n,
                       GError **error)
{
    LithoGpuPlan *first = plan->card[0][0];
    cudaStream_t stream = litho_cuda_stream(first->context);
    if (card->ordinal == first->ordinal)
        return LITHO_CUDA(litho_gpu_add(to, from, n, stream), error);
    return litho_cuda_reserve(first->context, &first->gathered, n * sizeof(float), error) &&
           LITHO_CUDA(cudaMemcpyPeerAsync(first->gathered.data, first->ordinal, from, card->ordinal,
                                          n * sizeof(float), stream),
                      error) &&
           LITHO_CUDA(litho_gpu_add(to, first->gathered.data, n, stream), error);
}

static gboolean gather_all(Team *team, GError **error)
{
    Plan *plan = team->plan;
    LithoGpuPlan *first = plan->card[0][0];
    const LithoMigrateJob *job = plan->jobs.job[0];
    const size_t image = litho_migrate_image_cells(job) * litho_migrate_image_depths(job);
    const size_t samples = litho_box_count(team->pass->out->held);
    if (team->n > 1)
        litho_cuda_mark(first->context, "gather", LITHO_STAGE_COMPUTE, 0, 0);
    for (int k = 1; k < team->n; k++) {
        const LithoGpuPlan *card = member_card(plan, k);
        if (team->out ? !gather(plan, card, team->out, card->traces.data, samples, error)
                      : !gather(plan, card, first->image.data, card->image.data, image, error) ||
                            (team->shots && !gather(plan, card, first->light.data, card->light.data,
                                                    image, error)))
            return FALSE;
    }
    return TRUE;
}

// Why the team failed: the first reason that is not "cancelled", for others stop because one
// failed.
static void team_error(Team *team, GError **error)
{
    Member *why = NULL;
    for (int k = 0; k < team->n; k++) {
        Member *m = &team->member[k];
        if (m->error && (!why || g_error_matches(why->error, G_IO_ERROR, G_IO_ERROR_CANCELLED)))
            why = m;
    }
    if (why)
        g_propagate_error(error, g_steal_pointer(&why->error));
    for (int k = 0; k < team->n; k++)
        g_clear_error(&team->member[k].error);
}

static gboolean team_work(Team *team, GError **error)
{
    gboolean ok = TRUE;
    team->n = team->plan->n_cards * team->plan->n_lanes;
    for (int k = 0; k < team->n; k++) {
        Member *m = &team->member[k];
        *m = (Member){.team = team, .index = k};
        if (k == 0 && team->run)
            m->run = *team->run;
        m->run.threads = MAX(litho_run_threads(team->run) / team->n, 1);
        if (team->plan->n_lanes > 1)
            m->run.on_partial = NULL;
        m->run.superseded = should_stop;
        m->run.superseded_data = m;
    }
    for (int k = 1; k < team->n; k++)
        team->member[k].thread = g_thread_new("migrate", member_thread, &team->member[k]);
    member_thread(&team->member[0]);
    for (int k = 1; k < team->n; k++)
        g_thread_join(team->member[k].thread);
    for (int k = 0; k < team->n; k++)
        ok = ok && team->member[k].ok;
    if (!ok)
        team_error(team, error);
    LithoGpuWatch watch = {team->plan->card[0][0], team->pass->params, team->pass->out, 1,
                           team->run};
    return ok && gather_all(team, error) &&
           (team->plan->n_lanes == 1 || team->out || litho_gpu_card_show(&watch, error));
}

// --- a pass -------------------------------------------------------------------------------------

static gboolean stage_image(Plan *plan, const LithoMigrateParams *params, float *out,
                            GError **error)
{
    LithoGpuPlan *card = plan->card[0][0];
    const size_t cells = litho_migrate_image_cells(plan->jobs.job[0]);
    const int nz = litho_migrate_image_depths(plan->jobs.job[0]);
    cudaStream_t stream = litho_cuda_stream(card->context);
    const gboolean divide = card->have_light && params->imaging == LITHO_MIGRATE_NORMALISED;
    litho_cuda_mark(card->context, "image", LITHO_STAGE_COMPUTE, 8.0 * cells * nz, 0);
    if (divide &&
        (!litho_cuda_reserve(card->context, &card->largest, nz * sizeof(float), error) ||
         !LITHO_CUDA(litho_gpu_plane_max(card->light.data, cells, nz, card->largest.data, stream),
                     error)))
        return FALSE;
    return LITHO_CUDA(litho_gpu_planes_to_traces(card->image.data, divide ? card->light.data : NULL,
                                                 card->largest.data, (float)params->stabilise,
                                                 cells, nz, out, stream),
                      error);
}

static void forget_all(Plan *plan)
{
    for (int k = 0; k < MAX_MEMBERS; k++)
        if (plan->card[k / MAX_LANES][k % MAX_LANES])
            litho_gpu_card_forget(plan->card[k / MAX_LANES][k % MAX_LANES]);
}

// Everything before the waves: grids, velocity, polynomials, cards. TRUE in `stale`: tables too.
static gboolean prepare(Plan *plan, const LithoPass *pass, gboolean *stale, LithoRun *run,
                        GError **error)
{
    const LithoMigrateParams *params = pass->params;
    const int first = pass->first_stage;
    const gboolean fresh = first <= LITHO_MIGRATE_STAGE_SPECTRUM || !plan->jobs.n;
    if (fresh) {
        plan->designed = plan->have_image = FALSE;
        forget_all(plan);
        if (!litho_migrate_jobs_velocity(&plan->jobs, &plan->in, params, run, error))
            return FALSE;
    }
    // Which kernel runs decides how the tables lie, so that row counts as design here.
    *stale = !plan->designed || first <= LITHO_MIGRATE_STAGE_DESIGN ||
             plan->jobs.job[0]->params.gpu_kernel != params->gpu_kernel;
    if (*stale) {
        plan->designed = FALSE;
        if (!litho_migrate_jobs_design(&plan->jobs, params, run, error))
            return FALSE;
    }
    litho_migrate_jobs_begin(&plan->jobs, pass, run);
    const int cards = cards_for(params, &plan->jobs);
    int lanes = lanes_for(plan, params, cards);
    if (!open_cards(plan, cards, lanes, error))
        return FALSE;
    const int rounds = rounds_for(plan, params, cards, &lanes, error);
    if (cards != plan->n_cards || lanes != plan->n_lanes || rounds != plan->n_rounds) {
        forget_all(plan); // spectra of other frequencies
        *stale = TRUE;
    }
    plan->n_cards = cards;
    plan->n_lanes = lanes;
    plan->n_rounds = rounds;
    // Asking the other cards for their memory left this thread on the last one.
    return rounds > 0 && litho_cuda_use(plan->first, error);
}

static gboolean exec_team(Team *team, LithoRun *run, GError **error)
{
    Plan *plan = team->plan;
    const LithoMigrateParams *params = team->pass->params;
    LithoShots *shots = NULL;
    plan->have_image = FALSE;
    if (params->mode == LITHO_MIGRATE_SHOT &&
        !(shots = litho_shots_new(plan->jobs.job[0], team->pass->in, error)))
        return FALSE;
    team->shots = shots;
    const gboolean ok = team_work(team, error);
    if (ok && shots)
        litho_migrate_shots_told(shots, team->pass->out, run);
    litho_shots_free(shots);
    plan->designed = ok || plan->card[0][0]->n_bands > 0;
    plan->have_image = ok && params->mode != LITHO_MIGRATE_DEMIGRATE;
    return ok;
}

static gboolean work(Plan *plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoMigrateParams *params = pass->params;
    gboolean stale;
    if (!prepare(plan, pass, &stale, run, error))
        return FALSE;
    float *out = litho_cuda_output(plan->card[0][0]->context, pass->out, error);
    if (!out)
        return FALSE;
    const gboolean demigrate = params->mode == LITHO_MIGRATE_DEMIGRATE;
    if (stale || pass->first_stage <= LITHO_MIGRATE_STAGE_EXTRAPOLATE || !plan->have_image) {
        g_autofree Team *team = g_new0(Team, 1);
        *team = (Team){
            .plan = plan, .pass = pass, .run = run, .stale = stale, .out = demigrate ? out : NULL};
        if (!exec_team(team, run, error))
            return FALSE;
    }
    return demigrate || stage_image(plan, params, out, error);
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    Plan *plan = data;
    if (!litho_cuda_enter(plan->card[0][0]->context, error))
        return FALSE;
    return work(plan, pass, run, error) && litho_cuda_finish(plan->card[0][0]->context, run, error);
}

// What the fastest way takes; with less, fewer frequencies are under way at a time.
static guint64 memory(const LithoGrid *in, const void *params, LithoBox region)
{
    const LithoMigrateParams *p = params;
    LithoMigrateSizes s;
    (void)region;
    if (!litho_migrate_sizes(in, params, &s))
        return 0;
    const double sets = s.shot ? 2 : 1, surface = s.shot ? 0 : 1;
    double planes = 2, between = 0; // split-step
    if (p->engine != LITHO_MIGRATE_SPLITSTEP) {
        const int step = (int)s.planes - 1;
        planes = 1 + step * litho_gpu_slab_steps(
                                s.cells * s.frequencies * (p->degree + 1) * step * sets, step);
        between = fmax(4 * sets, 5);
    }
    return (guint64)(8 * s.cells * s.frequencies * (sets * planes + surface + between) +
                     4.4 * s.slowness + ((s.shot ? 16 : 12) + (p->coarse ? 8 : 0)) * s.out +
                     4 * s.in);
}

const LithoImpl litho_cuda_migrate = {
    .plan = plan_new, .exec = exec, .destroy = plan_free, .memory = memory};
