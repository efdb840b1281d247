// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/peers.h"
#include "core/text.h"
#include "kernels/migrate/cpu/preview.h"
#include "kernels/migrate/cpu/resample.h"
#include "kernels/migrate/cpu/sweep.h"
#include "kernels/migrate/planes.h"
#include "kernels/migrate/plan.h"

typedef struct Band {
    LithoSweep *sweep;
    float *record; // waves at the surface, kept; zero-offset only
} Band;

typedef struct Cpu {
    MigEngine engine;
    Band band[LITHO_MIGRATE_MAX_JOBS];
    float *up, *down;     // waves under way, of one band
    float *image, *light; // sums [nz][ny][nx]
    LithoCube *out;       // borrowed for the pass
    gint64 to_clear;      // its first samples, before traces are added
} Cpu;

static Cpu *cpu_of(MigEngine *engine)
{
    return (Cpu *)engine;
}

static gboolean no_memory(GError **error, const char *of, double bytes)
{
    litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of %s", bytes / (1 << 30), of);
    return FALSE;
}

// --- the engine ---------------------------------------------------------------------------------

static int one_device(void)
{
    return 1;
}

static MigEngine *cpu_open(const LithoGrid *in, int device, GError **error)
{
    (void)in;
    (void)device;
    (void)error;
    Cpu *cpu = g_new0(Cpu, 1);
    cpu->engine.class = &mig_cpu;
    return &cpu->engine;
}

static void drop_waves(Cpu *cpu)
{
    g_clear_pointer(&cpu->up, free);
    g_clear_pointer(&cpu->down, free);
}

static void cpu_free(MigEngine *engine)
{
    Cpu *cpu = cpu_of(engine);
    drop_waves(cpu);
    g_free(cpu->image);
    g_free(cpu->light);
    g_free(cpu);
}

static gboolean cpu_attach(MigEngine *engine, gboolean fresh, GError **error)
{
    (void)engine;
    (void)fresh;
    (void)error;
    return TRUE;
}

static gboolean clear_traces(Cpu *cpu, LithoRun *run, GError **error);

static gboolean cpu_finish(MigEngine *engine, LithoRun *run, GError **error)
{
    drop_waves(cpu_of(engine));
    return clear_traces(cpu_of(engine), run, error); // where no frequency filled them
}

static void cpu_drain(MigEngine *engine)
{
    drop_waves(cpu_of(engine));
}

static gboolean cpu_tables(MigEngine *engine, int b, GError **error)
{
    Band *band = &cpu_of(engine)->band[b];
    litho_sweep_free(band->sweep);
    band->sweep = litho_sweep_new(engine->job[b], error);
    return band->sweep != NULL;
}

static void cpu_forget(MigEngine *engine, int b)
{
    Band *band = &cpu_of(engine)->band[b];
    g_clear_pointer(&band->sweep, litho_sweep_free);
    g_clear_pointer(&band->record, free);
}

// --- arrays -------------------------------------------------------------------------------------

static float *alloc_waves(const Band *band, GError **error)
{
    const LithoMigrateJob *job = band->sweep->job;
    float *waves = litho_waves_room(&band->sweep->waves, MAX(job->nf, 1));
    if (!waves)
        no_memory(error, "waves", 4.0 * band->sweep->waves.size * job->nf);
    return waves;
}

// Waves of a band under way, to be filled. The last band's go first: memory for one at a time.
static gboolean begin_waves(Cpu *cpu, int b, gboolean shot, GError **error)
{
    drop_waves(cpu);
    cpu->up = alloc_waves(&cpu->band[b], error);
    if (cpu->up && shot)
        cpu->down = alloc_waves(&cpu->band[b], error);
    return cpu->up && (cpu->down || !shot);
}

static gsize image_size(const Cpu *cpu)
{
    const LithoMigrateJob *job = cpu->engine.job[0];
    return litho_migrate_image_cells(job) * litho_migrate_image_depths(job);
}

static gboolean cpu_output(MigEngine *engine, LithoCube *out, gint64 samples, gboolean traces,
                           GError **error)
{
    (void)error;
    cpu_of(engine)->out = out;
    cpu_of(engine)->to_clear = traces ? samples : 0;
    return TRUE;
}

static gboolean clear_traces(Cpu *cpu, LithoRun *run, GError **error)
{
    enum { ROOM = 1 << 21 };
    for (gint64 at = 0; at < cpu->to_clear; at += ROOM) {
        if (!litho_run_step(run, 0, 1, error))
            return FALSE;
        memset(cpu->out->samples + at, 0, sizeof(float) * MIN(ROOM, cpu->to_clear - at));
    }
    cpu->to_clear = 0;
    return TRUE;
}

static gboolean cpu_clear(MigEngine *engine, GError **error)
{
    Cpu *cpu = cpu_of(engine);
    const gsize n = image_size(cpu);
    g_clear_pointer(&cpu->image, g_free);
    g_clear_pointer(&cpu->light, g_free);
    cpu->image = g_try_new0(float, n);
    if (engine->has_light)
        cpu->light = g_try_new0(float, n);
    return (cpu->image && (cpu->light || !engine->has_light)) || no_memory(error, "image", 4.0 * n);
}

static LithoCube *cpu_part(MigEngine *engine, const LithoCube *like, int first, int n, float scale,
                           gboolean divide, double stabilise, LithoRun *run, GError **error)
{
    const Cpu *cpu = cpu_of(engine);
    const gsize cells = litho_migrate_image_cells(engine->job[0]), count = cells * n;
    const float *image = cpu->image + cells * first;
    LithoBox box = litho_box_full(&like->grid);
    box.lo[2] = first;
    box.hi[2] = first + n;
    g_autofree float *divided =
        divide ? litho_memory_new(count, sizeof *divided, "depths to show", error) : NULL;
    g_autoptr(LithoCube) part =
        divided || !divide ? litho_cube_new_box(&like->grid, box, error) : NULL;
    if (!part || (divide && !litho_migrate_normalise(image, cpu->light + cells * first, cells, n,
                                                     stabilise, divided, run, error)))
        return NULL;
    g_strlcpy(part->name, like->name, sizeof part->name);
    return litho_migrate_planes_to_cube(divide ? divided : image, first, n, divide ? 1 : scale,
                                        part, run, error)
               ? g_steal_pointer(&part)
               : NULL;
}

// --- record and source --------------------------------------------------------------------------

static gboolean load_spectrum(const Band *band, const LithoCube *in, const LithoShotTraces *traces,
                              float *waves, LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = band->sweep->job;
    if (!litho_cube_host(in, error))
        return FALSE;
    if (job->ratio > 1)
        return litho_coarse_spectrum_forward(job, &band->sweep->waves, in, traces, waves, run,
                                             error);
    return litho_spectrum_forward(job, &band->sweep->waves, in, traces, waves, run, error);
}

static gboolean cpu_keep_record(MigEngine *engine, int b, const LithoCube *in, LithoRun *run,
                                GError **error)
{
    const double start = litho_now_ms();
    Band *band = &cpu_of(engine)->band[b];
    g_clear_pointer(&band->record, free);
    band->record = alloc_waves(band, error);
    if (!band->record || !load_spectrum(band, in, NULL, band->record, run, error))
        return FALSE;
    litho_run_time(run, "spectrum", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   4.0 * litho_box_count(in->held), 0);
    return TRUE;
}

static gboolean cpu_take_record(MigEngine *engine, int b, GError **error)
{
    Cpu *cpu = cpu_of(engine);
    const Band *band = &cpu->band[b];
    if (!begin_waves(cpu, b, FALSE, error))
        return FALSE;
    memcpy(cpu->up, band->record, sizeof(float) * band->sweep->waves.size * engine->job[b]->nf);
    return TRUE;
}

// Conjugate spectrum of the source on its cells.
static void place_source(const Band *band, const LithoShot *shot, float *down)
{
    const LithoMigrateJob *job = band->sweep->job;
    const LithoWaves *w = &band->sweep->waves;
    LithoSourceSpread x, y;
    litho_shot_spread(job, shot, &x, &y);
    g_autofree float *wavelet = g_new(float, 2 * MAX(job->nf, 1));
    litho_shots_wavelet(job, wavelet);
    for (int f = 0; f < job->nf; f++) {
        memset(down + w->size * f, 0, sizeof(float) * w->size);
        for (int j = 0; j < y.n; j++) {
            float *row = litho_wave_row(w, down + w->size * f, y.first + j + job->pad_y) +
                         job->pad_x + x.first;
            for (int i = 0; i < x.n; i++) {
                row[i] += x.weight[i] * y.weight[j] * wavelet[2 * f];
                row[w->stride + i] -= x.weight[i] * y.weight[j] * wavelet[2 * f + 1];
            }
        }
    }
}

static gboolean cpu_take_shot(MigEngine *engine, int b, const LithoCube *in,
                              const LithoShotTraces *traces, const LithoShot *shot, LithoRun *run,
                              GError **error)
{
    Cpu *cpu = cpu_of(engine);
    if (!begin_waves(cpu, b, TRUE, error) ||
        !load_spectrum(&cpu->band[b], in, traces, cpu->up, run, error))
        return FALSE;
    place_source(&cpu->band[b], shot, cpu->down);
    return TRUE;
}

// --- down and up --------------------------------------------------------------------------------

// On cells and depths of the job's own, then onto the image's.
static gboolean coarse_down(Cpu *cpu, int b, LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = cpu->engine.job[b];
    const gsize n = (gsize)job->data_nx * job->data_ny * job->nz;
    g_autofree float *image = g_try_new0(float, n);
    g_autofree float *light = cpu->down ? g_try_new0(float, n) : NULL;
    if (!image || (cpu->down && !light))
        return no_memory(error, "image", 4.0 * n);
    if (!litho_sweep_down(cpu->band[b].sweep, cpu->up, cpu->down, image, light, NULL, NULL, run,
                          error))
        return FALSE;
    return litho_coarse_image_add(job, image, cpu->image, run, error) &&
           (!cpu->down || litho_coarse_image_add(job, light, cpu->light, run, error));
}

static gboolean cpu_down(MigEngine *engine, int b, gboolean shot, MigSlab slab, gpointer data,
                         LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    Cpu *cpu = cpu_of(engine);
    const LithoMigrateJob *job = engine->job[b];
    const gboolean ok = job->ratio == 1
                            ? litho_sweep_down(cpu->band[b].sweep, cpu->up, cpu->down, cpu->image,
                                               cpu->light, slab, data, run, error)
                            : coarse_down(cpu, b, run, error);
    drop_waves(cpu);
    litho_run_time(run, "extrapolate", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0,
                   litho_migrate_sweep_flops(job, shot ? 2 : 1));
    return ok;
}

static gboolean cpu_preview(MigEngine *engine, int b, gboolean *made, LithoRun *run,
                            GError **error)
{
    const double start = litho_now_ms();
    Cpu *cpu = cpu_of(engine);
    const gboolean ok = litho_preview_cpu(engine->job[b], &cpu->band[b].sweep->waves,
                                          cpu->band[b].record, cpu->image, made, run, error);
    litho_run_time(run, "preview", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return ok;
}

static gboolean cpu_take_image(MigEngine *engine, const LithoCube *in, LithoRun *run,
                               GError **error)
{
    Cpu *cpu = cpu_of(engine);
    const gsize n = litho_grid_samples(&in->grid);
    g_clear_pointer(&cpu->light, g_free);
    g_clear_pointer(&cpu->image, g_free);
    cpu->image = g_try_new(float, n);
    if (!cpu->image)
        return no_memory(error, "image", 4.0 * n);
    return litho_cube_host(in, error) && litho_migrate_cube_to_planes(in, cpu->image, run, error);
}

static gboolean cpu_up(MigEngine *engine, int b, LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    Cpu *cpu = cpu_of(engine);
    const Band *band = &cpu->band[b];
    const LithoMigrateJob *job = engine->job[b];
    gboolean ok = clear_traces(cpu, run, error) && begin_waves(cpu, b, FALSE, error);
    if (ok && job->ratio == 1) {
        ok = litho_sweep_up(band->sweep, cpu->image, cpu->up, run, error) &&
             litho_spectrum_adjoint(job, &band->sweep->waves, cpu->up, cpu->out, run, error);
    } else if (ok) {
        g_autofree float *coarse = litho_coarse_image_adjoint(job, cpu->image, run, error);
        ok = coarse && litho_sweep_up(band->sweep, coarse, cpu->up, run, error) &&
             litho_coarse_spectrum_adjoint(job, &band->sweep->waves, cpu->up, cpu->out, run, error);
    }
    drop_waves(cpu);
    litho_run_time(run, "extrapolate", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0,
                   litho_migrate_sweep_flops(job, 1));
    return ok;
}

// --- result -------------------------------------------------------------------------------------

static gboolean cpu_unite(MigEngine *engine, MigSum sum, gsize n, LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    const Cpu *cpu = cpu_of(engine);
    float *x = sum == MIG_IMAGE ? cpu->image : sum == MIG_LIGHT ? cpu->light : cpu->out->samples;
    const gboolean ok = litho_run_sum_floats(run, x, n, error);
    litho_run_time(run, "exchange", LITHO_STAGE_TRANSFER, litho_now_ms() - start,
                   sizeof *x * (double)n, 0);
    return ok;
}

static gboolean cpu_image(MigEngine *engine, gboolean divide, double stabilise, LithoCube *out,
                          LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    const Cpu *cpu = cpu_of(engine);
    const int nz = litho_migrate_image_depths(engine->job[0]);
    const gsize cells = litho_migrate_image_cells(engine->job[0]);
    g_autofree float *divided = divide ? g_try_new(float, cells *nz) : NULL;
    if (divide && !divided)
        return no_memory(error, "image", 4.0 * cells * nz);
    if ((divide && !litho_migrate_normalise(cpu->image, cpu->light, cells, nz, stabilise, divided,
                                            run, error)) ||
        !litho_migrate_planes_to_cube(divide ? divided : cpu->image, 0, nz, 1, out, run, error))
        return FALSE;
    litho_run_time(run, "image", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 8.0 * cells * nz, 0);
    return TRUE;
}

const MigEngineClass mig_cpu = {
    .devices = one_device,
    .open = cpu_open,
    .free = cpu_free,
    .attach = cpu_attach,
    .finish = cpu_finish,
    .drain = cpu_drain,
    .tables = cpu_tables,
    .forget = cpu_forget,
    .output = cpu_output,
    .clear = cpu_clear,
    .keep_record = cpu_keep_record,
    .take_record = cpu_take_record,
    .take_shot = cpu_take_shot,
    .down = cpu_down,
    .preview = cpu_preview,
    .preview_flops = 2e10, // a second of two threads
    .take_image = cpu_take_image,
    .up = cpu_up,
    .part = cpu_part,
    .unite = cpu_unite,
    .image = cpu_image,
};

// --- the operator's backend ---------------------------------------------------------------------

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)params;
    (void)known; // a pass brings it
    return mig_plan_new(&mig_cpu, in, run, error);
}

// Waves of a job's frequencies.
static double wave_bytes(const LithoMigrateJob *job, int nx, int ny)
{
    const LithoWaves w = litho_waves_layout(nx, ny);
    return sizeof(float) * (double)w.size * MAX(job->nf, 1);
}

// Bytes of one band while it is under way, with its record on the image's cells and its image on
// its own cells.
static double band_bytes(const LithoMigrateJob *job, gboolean shot, int threads)
{
    const int fx = job->image.axis[1].n, fy = job->image.axis[0].n;
    const double waves = (shot ? 2 : 1) * wave_bytes(job, job->cells.nx, job->cells.ny);
    double sweep = litho_sweep_bytes(job, shot ? 2 : 1, threads);
    if (job->ratio == 1)
        return waves + sweep;
    const double floats = sizeof(float), image = floats * job->nz * job->data_nx * job->data_ny;
    const double record = wave_bytes(job, fx, fy);
    // The last two arrays on the coarse image's way to the image.
    const double add = floats * fx * fy * ((double)job->nz + job->depths);
    sweep += (shot ? 2 : 1) * image;
    return fmax(waves + fmax(sweep, (shot ? 2 : 1) * image + add),
                (shot ? waves : waves / 2) + record);
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    const LithoMigrateParams *p = params;
    const gboolean shot = p->mode == LITHO_MIGRATE_SHOT;
    LithoMigrateJobs jobs;
    (void)region;
    if (!litho_migrate_jobs_sketch(&jobs, in, p, known))
        return 0;
    const LithoMigrateJob *fine = jobs.job[0];
    const double image = 4.0 * litho_migrate_image_cells(fine) * litho_migrate_image_depths(fine);
    const double divided = shot && p->imaging == LITHO_MIGRATE_NORMALISED ? image : 0;
    const double out =
        p->mode == LITHO_MIGRATE_DEMIGRATE ? 4.0 * litho_grid_traces(in) * fine->nt : image;
    // Sums below the depths that the record reaches are zeros that nobody writes.
    const double sums = p->mode == LITHO_MIGRATE_DEMIGRATE
                            ? image
                            : 4.0 * litho_migrate_image_cells(fine) * fine->depths;
    double kept = litho_migrate_jobs_kept(&jobs), most = divided;
    for (int k = 0; k < jobs.n; k++) {
        const LithoMigrateJob *job = jobs.job[k];
        most = fmax(most, band_bytes(job, shot, threads));
        if (p->mode == LITHO_MIGRATE_ZERO_OFFSET)
            kept += wave_bytes(job, job->cells.nx, job->cells.ny);
    }
    litho_migrate_jobs_clear(&jobs);
    return (guint64)(4.0 * litho_grid_samples(in) + out + sums * (shot ? 2 : 1) + kept + most);
}

const LithoImpl litho_migrate_cpu = {
    .plan = plan, .exec = mig_plan_exec, .destroy = mig_plan_free, .memory = memory};
