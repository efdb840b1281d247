// SPDX-License-Identifier: GPL-3.0-or-later
//
// Extrapolation beside a phase shift by cuFFT: waves of all frequencies of the band through the
// same depths of constant velocity, no border. The waves are sums of plane waves that fit the grid,
// so that one double-precision sum is their exact way down; both are compared with it in the middle
// of the grid, which nothing from the edges reaches.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/migrate/cuda/engine.h"

typedef double complex Complex;

enum { MODES = 8, DEPTHS = 33, MIDDLE = 4 }; // compared: 2 MIDDLE + 1 cells a side

static const double SPARE = 4e9; // bytes for planes of several depths

typedef struct Duel {
    MigGpu *card;
    LithoMigrateJob *job[2]; // polynomials; phase shift
    MigGpuWaves waves[2];
    int steps[2], depths;  // of the job's own steps; image depths crossed
    int (*mode)[MODES][2]; // [nf]: whole wavenumbers along x and y
} Duel;

// --- the problem ---------------------------------------------------------------------------------

static LithoMigrateParams params_of(const LithoMigrateParams *from, int engine)
{
    LithoMigrateParams p = *from;
    if (!(atof(p.velocity.text) > 0) || litho_migrate_model_is_file(p.velocity.text))
        g_strlcpy(p.velocity.text, "2000", sizeof p.velocity.text);
    p.mode = LITHO_MIGRATE_ZERO_OFFSET;
    p.form = LITHO_MIGRATE_OPERATOR;
    p.gpu_kernel = LITHO_MIGRATE_FUSED;
    p.engine = engine;
    p.geometry = LITHO_MIGRATE_RECORD;
    p.coarse = p.stop = p.antialias = false;
    p.sponge = p.pad = 0;
    p.nz = DEPTHS;
    return p;
}

static gboolean make_job(Duel *d, int k, const LithoGrid *in, const LithoMigrateParams *from,
                         LithoRun *run, GError **error)
{
    const LithoMigrateParams p =
        params_of(from, k == 0 ? LITHO_MIGRATE_CHEBYSHEV : LITHO_MIGRATE_SPLITSTEP);
    d->job[k] = litho_migrate_job_new(in, &p, NULL, NULL, run, error);
    return d->job[k] && litho_migrate_job_design(d->job[k], &p, NULL, run, error);
}

// Wavenumbers of frequency f up to 0.85 of the largest dip's sine, and 0.7 of what cells can hold:
// beyond half a cycle a cell a wave is another one's alias.
static void choose_modes(Duel *d, int f, GRand *rand)
{
    const LithoMigrateJob *job = d->job[0];
    const LithoCells *c = &job->cells;
    const double dip = 0.85 * sin(job->params.max_dip * G_PI / 180) * job->omega[f] *
                       job->slow_max[0] / (2 * G_PI);
    const double cell = fmax(c->nx > 1 ? c->dx : 0, c->ny > 1 ? c->dy : 0);
    const double most = cell > 0 ? fmin(dip, 0.7 * 0.5 / cell) : dip;
    for (int m = 0; m < MODES; m++) {
        int *k = d->mode[f][m];
        const double angle = g_rand_double_range(rand, 0, 2 * G_PI),
                     length = most * sqrt((m + 1.0) / MODES);
        k[0] = c->nx > 1 ? (int)trunc(length * cos(angle) * c->nx * c->dx) : 0;
        k[1] = c->ny > 1 ? (int)trunc(length * sin(angle) * c->ny * c->dy) : 0;
    }
}

static Complex amplitude(int f, int m)
{
    return cexp(I * (2.3 * m + 1.7 * f)) / (1 + 0.2 * m);
}

// The wave of frequency f at the surface.
static void make_wave(const Duel *d, int f, const MigGpuPlane *plane, float *wave)
{
    const int nx = plane->nx, ny = plane->ny;
    g_autofree Complex *ex = g_new(Complex, nx), *sum = g_new0(Complex, (gsize)nx * ny);
    for (int m = 0; m < MODES; m++) {
        const int *k = d->mode[f][m];
        for (int x = 0; x < nx; x++)
            ex[x] = cexp(2 * G_PI * I * k[0] * x / nx);
        for (int y = 0; y < ny; y++) {
            const Complex e = amplitude(f, m) * cexp(2 * G_PI * I * k[1] * y / ny);
            for (int x = 0; x < nx; x++)
                sum[(gsize)y * nx + x] += e * ex[x];
        }
    }
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            const gsize at = (gsize)y * plane->pitch + x;
            wave[at] = (float)creal(sum[(gsize)y * nx + x]);
            wave[at + plane->im] = (float)cimag(sum[(gsize)y * nx + x]);
        }
}

// At depth `z` below the surface, cell (x, y).
static Complex exact(const Duel *d, int f, double z, int x, int y)
{
    const LithoMigrateJob *job = d->job[0];
    const LithoCells *c = &job->cells;
    const double kappa = job->omega[f] * job->slow_max[0];
    Complex sum = 0;
    for (int m = 0; m < MODES; m++) {
        const double kx = c->nx > 1 ? 2 * G_PI * d->mode[f][m][0] / (c->nx * c->dx) : 0;
        const double ky = c->ny > 1 ? 2 * G_PI * d->mode[f][m][1] / (c->ny * c->dy) : 0;
        const double kz = sqrt(fmax(kappa * kappa - kx * kx - ky * ky, 0));
        sum += amplitude(f, m) * cexp(I * (kz * z + kx * c->dx * x + ky * c->dy * y));
    }
    return sum;
}

static gboolean send_waves(Duel *d, GError **error)
{
    const MigGpuBand *band = &d->card->band[0];
    const int nf = d->job[0]->nf;
    const gsize floats = band->plane.size * nf;
    g_autofree float *waves = g_try_new0(float, floats);
    if (!waves)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the waves");
    GRand *rand = g_rand_new_with_seed(3);
    d->mode = g_malloc0(sizeof *d->mode * nf);
    for (int f = 0; f < nf; f++)
        choose_modes(d, f, rand);
    g_rand_free(rand);
#pragma omp parallel for schedule(dynamic)
    for (int f = 0; f < nf; f++)
        make_wave(d, f, &band->plane, waves + band->plane.size * f);
    for (int k = 0; k < 2; k++)
        if (!litho_cuda_send(d->card->context, mig_gpu_wave(&d->card->band[k], &d->waves[k], 0, 0),
                             waves, 4 * floats, error))
            return FALSE;
    return TRUE;
}

// Steps that one launch of ours takes, so few that no wave crosses a twelfth of the grid.
static void choose_depths(Duel *d)
{
    const LithoMigrateJob *job = d->job[0];
    const LithoCells *c = &job->cells;
    const double widths[] = {c->nx > 1 ? c->nx * c->dx : 1e30, c->ny > 1 ? c->ny * c->dy : 1e30};
    const double a_step = job->step * job->dz * tan(job->params.max_dip * G_PI / 180);
    const int most = (int)(MIN(widths[0], widths[1]) / 12 / a_step);
    const int n = MIN(MIN(d->card->band[0].slab_steps, job->n_steps), most);
    d->steps[0] = MAX(n, 1);
    d->depths = d->steps[0] * job->step;
    d->steps[1] = d->depths / d->job[1]->step;
}

static gboolean make_problem(Duel *d, const LithoGrid *in, const LithoMigrateParams *p,
                             LithoRun *run, GError **error)
{
    d->card->quota = 1;
    d->card->spare = (size_t)SPARE;
    for (int k = 0; k < 2; k++) {
        MigGpuBand *band = &d->card->band[k];
        if (!make_job(d, k, in, p, run, error))
            return FALSE;
        if (d->job[k]->nf == 0 || d->job[k]->n_steps == 0)
            return litho_refuse(error, LITHO_ERROR_GEOMETRY, "the band holds no frequency");
        band->job = d->job[k];
        if (!mig_gpu_band_tables(d->card, band, error) ||
            !mig_gpu_waves_reserve(d->card, band, &d->waves[k], error) ||
            !mig_gpu_scratch_reserve(d->card, band, 1, error))
            return FALSE;
    }
    choose_depths(d);
    return send_waves(d, error);
}

// --- the two sides -------------------------------------------------------------------------------

static gboolean our_work(gpointer data, GError **error)
{
    Duel *d = data;
    MigGpuWaves *const sets[] = {&d->waves[0]};
    return mig_gpu_steps_down(d->card, &d->card->band[0], sets, 1, 0, 0, d->steps[0], error);
}

// Waves at the surface, side by side as the transform wants them.
static gboolean their_start(gpointer data, GError **error)
{
    Duel *d = data;
    MigGpuWaves *const sets[] = {&d->waves[1]};
    return mig_gpu_steps_begin(d->card, &d->card->band[1], sets, 1, error);
}

static gboolean their_work(gpointer data, GError **error)
{
    Duel *d = data;
    MigGpuWaves *const sets[] = {&d->waves[1]};
    for (int s = 0; s < d->steps[1]; s++)
        if (!mig_gpu_steps_down(d->card, &d->card->band[1], sets, 1, d->waves[1].now, s, 1, error))
            return FALSE;
    return TRUE;
}

// --- errors --------------------------------------------------------------------------------------

static gboolean error_of(Duel *d, int k, double *relative, GError **error)
{
    const MigGpuBand *band = &d->card->band[k];
    const LithoMigrateJob *job = d->job[0];
    const MigGpuPlane plane = mig_gpu_plane_under_way(band);
    const int end = k == 0 ? mig_gpu_plane_after(band, 0, d->depths - 1) : d->waves[1].now;
    g_autofree float *wave = g_new(float, plane.size);
    const double z = d->depths * job->dz;
    const int cx = plane.nx / 2, cy = plane.ny / 2;
    double wrong = 0, norm = 0;
    for (int f = 0; f < job->nf; f++) {
        if (!litho_cuda_fetch(d->card->context, wave, mig_gpu_wave(band, &d->waves[k], end, f),
                              4 * plane.size, error))
            return FALSE;
        for (int y = MAX(cy - MIDDLE, 0); y <= MIN(cy + MIDDLE, plane.ny - 1); y++)
            for (int x = MAX(cx - MIDDLE, 0); x <= MIN(cx + MIDDLE, plane.nx - 1); x++) {
                const float *at = wave + ((gsize)y * plane.pitch + x) * plane.step;
                const Complex want = exact(d, f, z, x, y);
                wrong += pow(cabs(at[0] + I * at[plane.im] - want), 2);
                norm += pow(cabs(want), 2);
            }
    }
    *relative = sqrt(wrong / norm);
    return TRUE;
}

// --- the row -------------------------------------------------------------------------------------

static gboolean duel(Duel *d, int repeat, LithoRival *row, GError **error)
{
    double ms[2];
    const LithoCudaSide sides[] = {{NULL, our_work, d}, {their_start, their_work, d}};
    const LithoMigrateJob *job = d->job[0];
    if (!litho_cuda_in_turn(d->card->context, sides, 2, repeat, ms, error) ||
        !error_of(d, 0, &row->ours_error, error) || !error_of(d, 1, &row->theirs_error, error))
        return FALSE;
    row->runs = repeat;
    row->ours_ms = ms[0];
    row->theirs_ms = ms[1];
    g_snprintf(row->problem, sizeof row->problem,
               _("%d frequencies on %d x %d cells, %d depths of %g m at %s m/s, degree %d up to %g "
                 "degrees"),
               job->nf, job->cells.nx, job->cells.ny, d->depths, job->dz, job->params.velocity.text,
               job->params.degree, job->params.max_dip);
    g_strlcpy(row->settings, _("forward, multiply, inverse each depth, in batches for the cache"),
              sizeof row->settings);
    g_strlcpy(row->note,
              _("a phase shift is exact and needs one velocity a depth; ours costs as much where "
                "velocity varies to the sides"),
              sizeof row->note);
    return TRUE;
}

gboolean mig_gpu_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run,
                        GArray *rows, GError **error)
{
    Duel d = {NULL};
    LithoRival row = {.stage = "extrapolate", .peer = "cuFFT"};
    MigEngine *engine = mig_gpu.open(in, run ? run->device : 0, error);
    if (!engine)
        return FALSE;
    d.card = mig_gpu_of(engine);
    gboolean ok = mig_gpu.attach(engine, TRUE, error) && make_problem(&d, in, params, run, error) &&
                  duel(&d, repeat, &row, error);
    mig_gpu.drain(engine);
    for (int k = 0; k < 2; k++)
        litho_cuda_release(d.card->context, &d.waves[k].planes);
    mig_gpu.free(engine);
    for (int k = 0; k < 2; k++)
        litho_migrate_job_free(d.job[k]);
    g_free(d.mode);
    if (ok)
        g_array_append_val(rows, row);
    return ok;
}
