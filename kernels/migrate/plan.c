// SPDX-License-Identifier: GPL-3.0-or-later
//
// The stages of a pass, and the engines that share them. Frequencies are dealt out in turn, so that
// every card has a sample of the whole band; each engine sums an image of its own and the first one
// adds them up. A band that does not fit into memory is taken in several rounds. Where the waves of
// one grid are too few for a card, it takes the grids beside each other, in lanes.
#include "kernels/migrate/plan.h"

#include <string.h>

#include "core/error.h"
#include "core/peers.h"
#include "kernels/migrate/modes.h"

enum { MAX_MEMBERS = MIG_MAX_CARDS * MIG_MAX_LANES };

struct MigPlan {
    const MigEngineClass *class;
    LithoGrid in;
    LithoMigrateJobs jobs;
    // [0][0] is the run's device; others open when first wanted.
    MigEngine *engine[MIG_MAX_CARDS][MIG_MAX_LANES];
    int first;    // device of card 0
    MigTeam team; // of the last pass: what the engines' shares were made for
    LithoShots *shots; // of the last pass of shots; NULL: none yet
    gboolean designed, have_image;
};

// --- shares -------------------------------------------------------------------------------------

static void drop_band(MigEngine *engine, int b)
{
    engine->class->forget(engine, b);
    engine->kept[b] = FALSE;
    if (engine->job[b] && engine->job[b]->share)
        litho_migrate_job_free(engine->job[b]);
    engine->job[b] = NULL;
}

static void forget(MigEngine *engine)
{
    for (int b = 0; b < LITHO_MIGRATE_MAX_JOBS; b++)
        drop_band(engine, b);
    engine->n_bands = 0;
}

static void forget_all(MigPlan *plan)
{
    for (int k = 0; k < MAX_MEMBERS; k++)
        if (plan->engine[k / MIG_MAX_LANES][k % MIG_MAX_LANES])
            forget(plan->engine[k / MIG_MAX_LANES][k % MIG_MAX_LANES]);
}

// The first lane has the image's own grid, the others take turns at the coarser ones.
static int lane_of(int job, int lanes)
{
    return job == 0 || lanes == 1 ? 0 : 1 + (job - 1) % (lanes - 1);
}

// Share k of n of the frequencies of the jobs that are the engine's lane, with tables.
static gboolean take_share(MigEngine *engine, const LithoMigrateJobs *jobs, int k, int n, int lane,
                           int lanes, GError **error)
{
    engine->lane = lane;
    engine->lanes = lanes;
    engine->n_bands = 0;
    for (int j = 0; j < jobs->n; j++) {
        if (lane_of(j, lanes) != lane)
            continue;
        const int b = engine->n_bands++;
        if (engine->job[b] && engine->job[b]->share)
            litho_migrate_job_free(engine->job[b]);
        engine->job[b] = n == 1 ? jobs->job[j] : litho_migrate_job_share(jobs->job[j], k, n);
        if (n > 1)
            engine->kept[b] = FALSE; // perhaps of other frequencies
        if (!engine->class->tables(engine, b, error)) {
            forget(engine); // half-made tables must not be used by the next pass
            return FALSE;
        }
    }
    return TRUE;
}

// --- a plan -------------------------------------------------------------------------------------

void mig_plan_free(gpointer data)
{
    MigPlan *plan = data;
    forget_all(plan);
    for (int k = 0; k < MAX_MEMBERS; k++) {
        MigEngine *engine = plan->engine[k / MIG_MAX_LANES][k % MIG_MAX_LANES];
        if (engine)
            plan->class->free(engine);
    }
    litho_migrate_jobs_clear(&plan->jobs);
    litho_shots_free(plan->shots);
    g_free(plan);
}

MigPlan *mig_plan_new(const MigEngineClass *class, const LithoGrid *in, LithoRun *run,
                      GError **error)
{
    MigPlan *plan = g_new0(MigPlan, 1);
    plan->class = class;
    plan->in = *in;
    plan->first = run ? run->device : 0;
    plan->engine[0][0] = class->open(in, plan->first, error);
    if (plan->engine[0][0])
        return plan;
    g_free(plan);
    return NULL;
}

// Member m of the last pass's team.
static MigEngine *member_engine(const MigPlan *plan, int m)
{
    return plan->engine[m / plan->team.lanes][m % plan->team.lanes];
}

static gboolean open_engines(MigPlan *plan, const MigTeam *team, GError **error)
{
    const int all = plan->class->devices();
    for (int k = 0; k < team->cards * team->lanes; k++) {
        MigEngine **engine = &plan->engine[k / team->lanes][k % team->lanes];
        const int device = (plan->first + k / team->lanes) % all;
        if (!*engine && !(*engine = plan->class->open(&plan->in, device, error)))
            return FALSE;
    }
    for (int k = 1; k < team->cards && plan->class->link; k++)
        plan->class->link(plan->engine[0][0], plan->engine[k][0]);
    return TRUE;
}

static int cards_for(const MigPlan *plan, const LithoRun *run)
{
    const int all = MIN(plan->class->devices(), MIG_MAX_CARDS);
    return CLAMP(MIN(litho_run_devices(run), all), 1, MAX(plan->jobs.job[0]->nf, 1));
}

// --- the engines at work ------------------------------------------------------------------------

typedef struct Work Work;

// One engine's part, and what came of it.
typedef struct Member {
    Work *work;
    int index;
    LithoRun run; // only the first one's reports anything
    GThread *thread;
    GError *error;
    gboolean ok;
} Member;

struct Work {
    MigPlan *plan;
    const LithoPass *pass;
    LithoRun *run;
    const LithoShots *shots;
    gboolean stale; // shares must be made again
    gint stop;
    int n;
    Member member[MAX_MEMBERS];
};

static gboolean should_stop(gpointer data)
{
    const Member *m = data;
    return g_atomic_int_get(&m->work->stop) ||
           (m->index == 0 && !litho_run_checkpoint(m->work->run));
}

static gboolean member_round(Member *m, int round, MigWatch *watch)
{
    Work *work = m->work;
    const MigTeam *team = &work->plan->team;
    const LithoCube *in = work->pass->in;
    const LithoMigrateParams *params = work->pass->params;
    MigEngine *engine = member_engine(work->plan, m->index);
    // Processes first: each has every ranks-th frequency, and its cards and rounds share these.
    const int own = team->cards * team->rounds, n = own * team->ranks;
    const int k = team->rank + team->ranks * (round * team->cards + m->index / team->lanes);
    if ((work->stale || team->rounds > 1) &&
        !take_share(engine, &work->plan->jobs, k, n, m->index % team->lanes, team->lanes,
                    &m->error))
        return FALSE;
    for (int b = 0; b < engine->n_bands; b++)
        engine->job[b]->params = *params;
    watch->scale = (float)own / (round + 1);
    if (params->mode == LITHO_MIGRATE_DEMIGRATE)
        return mig_demigrate(engine, in, &m->run, &m->error);
    engine->has_light = work->shots != NULL;
    if (round == 0 && !engine->class->clear(engine, &m->error))
        return FALSE;
    return work->shots ? mig_shots(engine, work->shots, in, watch, &m->run, &m->error)
                       : mig_stack(engine, in, watch, &m->run, &m->error);
}

static gboolean member_work(Member *m)
{
    Work *work = m->work;
    MigEngine *engine = member_engine(work->plan, m->index);
    const LithoMigrateParams *params = work->pass->params;
    MigWatch watch = {engine, params, work->pass->out, 1, &m->run};
    if (m->index > 0 &&
        (!engine->class->attach(engine, TRUE, &m->error) ||
         !engine->class->output(engine, NULL, litho_box_count(work->pass->out->held),
                                params->mode == LITHO_MIGRATE_DEMIGRATE, &m->error)))
        return FALSE;
    for (int round = 0; round < work->plan->team.rounds; round++)
        if (!member_round(m, round, &watch))
            return FALSE;
    return m->index == 0 || engine->class->finish(engine, NULL, &m->error);
}

static gpointer member_thread(gpointer data)
{
    Member *m = data;
    m->ok = member_work(m);
    if (!m->ok) {
        g_atomic_int_set(&m->work->stop, 1);
        m->work->plan->class->drain(member_engine(m->work->plan, m->index));
    }
    return NULL;
}

// The first engine's sums of this process, and those of the others'.
static gboolean unite_all(Work *work, GError **error)
{
    const MigPlan *plan = work->plan;
    MigEngine *home = plan->engine[0][0];
    const LithoMigrateJob *job = plan->jobs.job[0];
    const LithoMigrateParams *params = work->pass->params;
    const gsize image = litho_migrate_image_cells(job) * litho_migrate_image_depths(job);
    if (plan->team.ranks == 1)
        return TRUE;
    return params->mode == LITHO_MIGRATE_DEMIGRATE
               ? plan->class->unite(home, MIG_TRACES, litho_box_count(work->pass->out->held),
                                    work->run, error)
               : plan->class->unite(home, MIG_IMAGE, image, work->run, error) &&
                     (!work->shots || plan->class->unite(home, MIG_LIGHT, image, work->run, error));
}

static gboolean gather_all(Work *work, GError **error)
{
    const MigPlan *plan = work->plan;
    MigEngine *home = plan->engine[0][0];
    const LithoMigrateJob *job = plan->jobs.job[0];
    const LithoMigrateParams *params = work->pass->params;
    const gsize image = litho_migrate_image_cells(job) * litho_migrate_image_depths(job);
    const gsize samples = litho_box_count(work->pass->out->held);
    for (int k = 1; k < work->n; k++) {
        const MigEngine *from = member_engine(plan, k);
        const gboolean ok =
            params->mode == LITHO_MIGRATE_DEMIGRATE
                ? plan->class->gather(home, from, MIG_TRACES, samples, error)
                : plan->class->gather(home, from, MIG_IMAGE, image, error) &&
                      (!work->shots || plan->class->gather(home, from, MIG_LIGHT, image, error));
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

// Reason of a failure: the first one that is not "cancelled", for others stop because one failed.
static void work_error(Work *work, GError **error)
{
    Member *why = NULL;
    for (int k = 0; k < work->n; k++) {
        Member *m = &work->member[k];
        if (m->error && (!why || g_error_matches(why->error, G_IO_ERROR, G_IO_ERROR_CANCELLED)))
            why = m;
    }
    if (why)
        g_propagate_error(error, g_steal_pointer(&why->error));
    for (int k = 0; k < work->n; k++)
        g_clear_error(&work->member[k].error);
}

static gboolean work_together(Work *work, GError **error)
{
    const MigTeam *team = &work->plan->team;
    const LithoMigrateParams *params = work->pass->params;
    gboolean ok = TRUE;
    work->n = team->cards * team->lanes;
    for (int k = 0; k < work->n; k++) {
        Member *m = &work->member[k];
        *m = (Member){.work = work, .index = k};
        if (k == 0 && work->run)
            m->run = *work->run;
        m->run.threads = MAX(litho_run_threads(work->run) / work->n, 1);
        if (team->lanes > 1 || team->ranks > 1)
            m->run.on_partial = NULL; // it would lack the other lanes' grids, the others' shares
        m->run.superseded = should_stop;
        m->run.superseded_data = m;
    }
    for (int k = 1; k < work->n; k++)
        work->member[k].thread = g_thread_new("migrate", member_thread, &work->member[k]);
    member_thread(&work->member[0]);
    for (int k = 1; k < work->n; k++)
        g_thread_join(work->member[k].thread);
    for (int k = 0; k < work->n; k++)
        ok = ok && work->member[k].ok;
    if (!ok)
        work_error(work, error);
    MigWatch watch = {work->plan->engine[0][0], params, work->pass->out, 1, work->run};
    const int nz = litho_migrate_image_depths(work->plan->jobs.job[0]);
    return ok && gather_all(work, error) && unite_all(work, error) &&
           (team->lanes == 1 || params->mode == LITHO_MIGRATE_DEMIGRATE ||
            mig_show(0, nz, &watch, error));
}

// --- a pass -------------------------------------------------------------------------------------

// Everything before the waves: grids, velocity, polynomials, engines. TRUE in `stale`: tables too.
static gboolean prepare(MigPlan *plan, const LithoPass *pass, gboolean *stale, LithoRun *run,
                        GError **error)
{
    const LithoMigrateParams *params = pass->params;
    const int first = pass->first_stage;
    const gboolean fresh = first <= LITHO_MIGRATE_STAGE_SPECTRUM || !plan->jobs.n;
    if (fresh) {
        plan->designed = plan->have_image = FALSE;
        forget_all(plan);
        if (!litho_migrate_jobs_velocity(&plan->jobs, &plan->in, params, pass->known, run, error))
            return FALSE;
    }
    // The kernel decides how the tables lie, so that row counts as design here.
    *stale = !plan->designed || first <= LITHO_MIGRATE_STAGE_DESIGN ||
             plan->jobs.job[0]->params.gpu_kernel != params->gpu_kernel;
    if (*stale) {
        const LithoPolyMaker maker = {plan->class->design, plan->engine[0][0]};
        plan->designed = FALSE;
        if (!litho_migrate_jobs_design(&plan->jobs, params, maker.make ? &maker : NULL, run, error))
            return FALSE;
    }
    litho_migrate_jobs_begin(&plan->jobs, pass, run);
    MigTeam team = {.cards = cards_for(plan, run), .lanes = 1, .rounds = 1, .ranks = 1};
    if (plan->class->unite && litho_run_ranks(run) > 1) {
        team.rank = litho_run_rank(run);
        team.ranks = litho_run_ranks(run);
        litho_run_used_ranks(run, MIN(team.ranks, plan->jobs.job[0]->nf));
    }
    if (plan->class->lanes)
        team.lanes = plan->class->lanes(plan->engine[0][0], &plan->jobs, team.cards * team.ranks);
    if (!open_engines(plan, &team, error) ||
        (plan->class->rounds && !plan->class->rounds(plan->engine, &plan->jobs, &team, error)))
        return FALSE;
    if (memcmp(&team, &plan->team, sizeof team) != 0) {
        forget_all(plan); // records of other frequencies
        *stale = TRUE;
    }
    plan->team = team;
    litho_run_used_devices(run, team.cards);
    // Asking the other cards for their memory left this thread on the last one.
    return plan->class->attach(plan->engine[0][0], FALSE, error);
}

// Headers are read once for an input and an image.
static gboolean find_shots(MigPlan *plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = plan->jobs.job[0];
    if (litho_shots_serve(plan->shots, job, pass->in))
        return TRUE;
    litho_shots_free(plan->shots);
    plan->shots = litho_shots_new(job, pass->in, run, error);
    return plan->shots != NULL;
}

// TRUE when every engine of the team has the tables of its share: a pass that ended early may have
// left one without, or with those of polynomials that are gone.
static gboolean have_tables(const MigPlan *plan)
{
    for (int k = 0; k < plan->team.cards * plan->team.lanes; k++)
        if (member_engine(plan, k)->n_bands == 0)
            return FALSE;
    return TRUE;
}

static gboolean extrapolate(Work *work, GError **error)
{
    MigPlan *plan = work->plan;
    const LithoMigrateParams *params = work->pass->params;
    const gboolean shots = params->mode == LITHO_MIGRATE_SHOT;
    plan->have_image = FALSE;
    if (work->stale) // until each has taken its share anew
        for (int k = 0; k < plan->team.cards * plan->team.lanes; k++)
            member_engine(plan, k)->n_bands = 0;
    if (shots && !find_shots(plan, work->pass, work->run, error))
        return FALSE;
    work->shots = shots ? plan->shots : NULL;
    const gboolean ok = work_together(work, error);
    if (ok && shots)
        litho_migrate_shots_told(plan->shots, work->pass->out, work->run);
    plan->designed = ok || have_tables(plan);
    plan->have_image = ok && params->mode != LITHO_MIGRATE_DEMIGRATE;
    return ok;
}

static gboolean run_pass(MigPlan *plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    MigEngine *home = plan->engine[0][0];
    const LithoMigrateParams *params = pass->params;
    const gboolean demigrate = params->mode == LITHO_MIGRATE_DEMIGRATE;
    gboolean stale;
    if (!prepare(plan, pass, &stale, run, error) ||
        !plan->class->output(home, pass->out, litho_box_count(pass->out->held), demigrate, error))
        return FALSE;
    if (stale || pass->first_stage <= LITHO_MIGRATE_STAGE_EXTRAPOLATE || !plan->have_image) {
        g_autofree Work *work = g_new0(Work, 1);
        *work = (Work){.plan = plan, .pass = pass, .run = run, .stale = stale};
        if (!extrapolate(work, error))
            return FALSE;
    }
    return demigrate ||
           plan->class->image(home, home->has_light && params->imaging == LITHO_MIGRATE_NORMALISED,
                              params->stabilise, pass->out, run, error);
}

gboolean mig_plan_exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    MigPlan *plan = data;
    MigEngine *home = plan->engine[0][0];
    return plan->class->attach(home, TRUE, error) && run_pass(plan, pass, run, error) &&
           plan->class->finish(home, run, error);
}
