// SPDX-License-Identifier: GPL-3.0-or-later
//
// Waves go down in wavenumbers, a row of them and a frequency at a time, some steps together so
// that the sums of these depths stay in a cache.
#include "kernels/migrate/cpu/preview.h"

#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/common/clones.h"

enum {
    LANES = 16,  // wavenumbers at a time
    DEPTHS = 16, // planes summed together, at least those of a step
};

typedef float Lanes __attribute__((vector_size(4 * LANES)));
typedef Lanes LanesAt __attribute__((aligned(4), may_alias)); // anywhere in memory
// Vectors are passed between inlined functions only.
#pragma GCC diagnostic ignored "-Wpsabi"

// A thread's room: symbol, multipliers of a step's planes, and a column of depths.
typedef struct Room {
    float *y, *g[LITHO_MIGRATE_MAX_STEP], *column;
} Room;

typedef struct Look {
    const LithoMigrateJob *job;
    const LithoPreview *preview;
    int stride;          // floats of a row of one component: whole lanes
    float *waves;        // [nf][ny][2][stride]
    float *sums;         // [depths of a group][ny][2][stride]
    float *cosines;      // [4][stride] 2 cos((m + 1) kx dx)
    fftwf_plan forward, back; // of a plane
    Room *rooms;              // of each thread
    int threads;
    int s0, s1, z0, n_z; // steps of the group, and the planes that they fill
} Look;

static gsize row_floats(const Look *look)
{
    return 2 * (gsize)look->stride;
}

static gsize plane_floats(const Look *look)
{
    return row_floats(look) * look->preview->ny;
}

// --- wavenumbers --------------------------------------------------------------------------------

// Y = 2 X of the row's wavenumbers.
LITHO_CLONES static void symbol_row(const LithoStencil *stencil, float slow2, const float *cosines,
                                    int stride, const float along_y[4], float *y)
{
    float rest = stencil->alpha + stencil->beta * slow2;
    for (int m = 0; m < 4; m++)
        rest += stencil->hy[m] * along_y[m];
    for (int x = 0; x < stride; x++)
        y[x] = rest + stencil->hx[0] * cosines[x] + stencil->hx[1] * cosines[stride + x] +
               stencil->hx[2] * cosines[2 * stride + x] + stencil->hx[3] * cosines[3 * stride + x];
}

// sum a_n T_n(Y / 2) of the row by Clenshaw's recursion.
LITHO_CLONES static void series_row(const float *y, int stride, const float *a, int degree,
                                    float *out)
{
    for (int x = 0; x < stride; x += LANES) {
        const Lanes v = *(const LanesAt *)(y + x);
        Lanes b1 = {0}, b2 = {0};
        for (int n = degree; n > 0; n--) {
            const Lanes b = a[n] + v * b1 - b2;
            b2 = b1;
            b1 = b;
        }
        *(LanesAt *)(out + x) = a[0] + 0.5f * v * b1 - b2;
    }
}

// wave *= g, complex.
LITHO_CLONES static void turn_row(float *wave, int stride, const float *g)
{
    for (int x = 0; x < stride; x++) {
        const float re = wave[x] * g[x] - wave[stride + x] * g[stride + x];
        wave[stride + x] = wave[x] * g[stride + x] + wave[stride + x] * g[x];
        wave[x] = re;
    }
}

// sum += g wave.
LITHO_CLONES static void add_turned(const float *wave, int stride, const float *g, float *sum)
{
    for (int x = 0; x < stride; x++) {
        sum[x] += wave[x] * g[x] - wave[stride + x] * g[stride + x];
        sum[stride + x] += wave[x] * g[stride + x] + wave[stride + x] * g[x];
    }
}

LITHO_CLONES static void add_row(const float *wave, gsize n, float *sum)
{
    for (gsize x = 0; x < n; x++)
        sum[x] += wave[x];
}

LITHO_CLONES static void weaken_row(float *wave, int stride, const float *g)
{
    for (int x = 0; x < stride; x++) {
        wave[x] *= g[x];
        wave[stride + x] *= g[x];
    }
}

static gboolean room_init(Room *room, const Look *look)
{
    room->y = fftwf_alloc_real(row_floats(look));
    room->column = fftwf_alloc_real(look->job->nz);
    gboolean ok = room->y && room->column;
    for (int m = 0; ok && m < look->job->step; m++)
        ok = (room->g[m] = fftwf_alloc_real(row_floats(look))) != NULL;
    return ok;
}

static void room_clear(Room *room)
{
    fftwf_free(room->y);
    fftwf_free(room->column);
    for (int m = 0; m < LITHO_MIGRATE_MAX_STEP; m++)
        fftwf_free(room->g[m]);
}

static void make_operators(const Look *look, int s, int f, const float along_y[4], Room *room)
{
    const LithoMigrateJob *job = look->job;
    const LithoStencil stencil = litho_migrate_job_stencil(job, s, f);
    const LithoEntry *entry = litho_migrate_job_entry(job, s, f);
    symbol_row(&stencil, look->preview->slow2[s], look->cosines, look->stride, along_y, room->y);
    for (int m = 0; m < job->step; m++) {
        const int degree = litho_migrate_target_degree(job, m);
        series_row(room->y, look->stride, entry->poly[m]->re, degree, room->g[m]);
        series_row(room->y, look->stride, entry->poly[m]->im, degree, room->g[m] + look->stride);
    }
}

static void stop_steep(const Look *look, int s, int f, Room *room, float *wave)
{
    float *pass = room->y + look->stride;
    series_row(room->y, look->stride, litho_migrate_job_entry(look->job, s, f)->stop->re,
               LITHO_MIGRATE_STOP_DEGREE, pass);
    weaken_row(wave, look->stride, pass);
}

// One frequency of one row of wavenumbers through the group's steps.
static void row_down(const Look *look, int f, int ky, const float along_y[4], Room *room)
{
    const LithoMigrateJob *job = look->job;
    const gsize row = row_floats(look), plane = plane_floats(look);
    float *wave = look->waves + plane * f + row * ky, *sums = look->sums + row * ky;
    for (int s = look->s0; s < look->s1; s++) {
        if (s == look->s0 || (look->preview->flags[s] & LITHO_PREVIEW_NEW))
            make_operators(look, s, f, along_y, room);
        if (look->preview->flags[s] & LITHO_PREVIEW_STOP)
            stop_steep(look, s, f, room, wave);
        for (int m = 0; m < job->step; m++) {
            const int z = s * job->step + m + 1 - look->z0;
            if (z < look->n_z)
                add_turned(wave, look->stride, room->g[m], sums + plane * z);
        }
        turn_row(wave, look->stride, room->g[job->step - 1]);
    }
}

static void row_of_wavenumbers(const Look *look, int ky, Room *room, LithoRun *run)
{
    const LithoPreview *p = look->preview;
    const gsize row = row_floats(look), plane = plane_floats(look);
    float along_y[4];
    for (int m = 0; m < 4; m++)
        along_y[m] = (float)(2 * cos(2 * G_PI * (m + 1) * ky / p->ny));
    for (int z = 0; z < look->n_z; z++)
        memset(look->sums + plane * z + row * ky, 0, row * sizeof(float));
    for (int f = 0; f < look->job->nf && litho_run_checkpoint(run); f++) {
        if (look->z0 == 0)
            add_row(look->waves + plane * f + row * ky, row, look->sums + row * ky);
        row_down(look, f, ky, along_y, room);
    }
}

// --- between cells and wavenumbers --------------------------------------------------------------

static fftwf_plan plane_transform(const Look *look, int sign)
{
    const LithoPreview *p = look->preview;
    const fftw_iodim dims[] = {{p->ny, (int)row_floats(look), (int)row_floats(look)},
                               {p->nx, 1, 1}};
    float *re = look->waves, *im = re + look->stride;
    // Parts that change their places make the other sign.
    return sign < 0 ? fftwf_plan_guru_split_dft(2, dims, 0, NULL, re, im, re, im, FFTW_ESTIMATE)
                    : fftwf_plan_guru_split_dft(2, dims, 0, NULL, im, re, im, re, FFTW_ESTIMATE);
}

static void transform(const Look *look, fftwf_plan plan, int sign, float *plane)
{
    float *re = plane, *im = plane + look->stride;
    if (sign < 0)
        fftwf_execute_split_dft(plan, re, im, re, im);
    else
        fftwf_execute_split_dft(plan, im, re, im, re);
}

static void load_waves(const Look *look, const LithoWaves *w, float *record, LithoRun *run)
{
    const LithoMigrateJob *job = look->job;
    const gsize row = row_floats(look), plane = plane_floats(look);
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run))
    for (int f = 0; f < job->nf; f++) {
        if (!litho_run_checkpoint(run))
            continue;
        float *to = look->waves + plane * f;
        memset(to, 0, plane * sizeof(float));
        for (int y = 0; y < job->data_ny; y++) {
            const float *from =
                litho_wave_row(w, record + w->size * f, y + job->pad_y) + job->pad_x;
            memcpy(to + row * y, from, job->data_nx * sizeof(float));
            memcpy(to + row * y + look->stride, from + w->stride, job->data_nx * sizeof(float));
        }
        transform(look, look->forward, -1, to);
    }
}

// The group's sums of wavenumbers to planes of the image.
static void store_planes(const Look *look, float *image, LithoRun *run)
{
    const LithoMigrateJob *job = look->job;
    const gsize row = row_floats(look), plane = plane_floats(look);
    const gsize cells = (gsize)job->data_nx * job->data_ny;
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run))
    for (int z = 0; z < look->n_z; z++) {
        if (!litho_run_checkpoint(run))
            continue;
        float *from = look->sums + plane * z, *to = image + cells * (look->z0 + z);
        transform(look, look->back, +1, from);
        for (int y = 0; y < job->data_ny; y++)
            for (int x = 0; x < job->data_nx; x++)
                to[(gsize)y * job->data_nx + x] = look->preview->scale * from[row * y + x];
    }
}

// --- depths -------------------------------------------------------------------------------------

// Value of the column at `time`, where it has planes at times[].
static float at_time(const float *column, const float *times, int n, float time, int *at)
{
    while (*at + 2 < n && times[*at + 1] < time)
        ++*at;
    const float part = (time - times[*at]) / (times[*at + 1] - times[*at]);
    return part > 1 ? 0 : column[*at] + part * (column[*at + 1] - column[*at]);
}

// Planes of mean rock to the depths of each cell's own.
static void stretch(const Look *look, float *image, LithoRun *run)
{
    const LithoMigrateJob *job = look->job;
    const float *times = look->preview->time;
    const gsize cells = (gsize)job->data_nx * job->data_ny,
                plane = (gsize)job->cells.nx * job->cells.ny;
#pragma omp parallel for schedule(dynamic, 1) num_threads(look->threads)
    for (int y = 0; y < job->data_ny; y++) {
        float *column = look->rooms[omp_get_thread_num()].column;
        for (int x = 0; x < job->data_nx && litho_run_checkpoint(run); x++) {
            float *cell = image + (gsize)y * job->data_nx + x, time = 0;
            const float *slow =
                job->slowness + (gsize)(y + job->pad_y) * job->cells.nx + x + job->pad_x;
            int at = 0;
            for (int z = 0; z < job->nz; z++)
                column[z] = cell[cells * z];
            for (int z = 0; z < job->nz; z++) {
                cell[cells * z] = at_time(column, times, job->nz, time, &at);
                time += slow[plane * MIN(z / job->step, job->n_steps - 1)] / job->step;
            }
        }
    }
}

// --- all of it ----------------------------------------------------------------------------------

static gboolean reserve(Look *look, int depths, const LithoRun *run)
{
    const int stride = (look->preview->nx + LANES - 1) / LANES * LANES;
    look->stride = stride;
    const gsize plane = plane_floats(look);
    look->waves = fftwf_alloc_real(plane * look->job->nf);
    look->sums = fftwf_alloc_real(plane * depths);
    look->cosines = fftwf_alloc_real(4 * (gsize)stride);
    look->threads = litho_run_threads(run);
    look->rooms = g_try_new0(Room, look->threads);
    gboolean ok = look->waves && look->sums && look->cosines && look->rooms;
    for (int k = 0; ok && k < look->threads; k++)
        ok = room_init(&look->rooms[k], look);
    look->forward = ok ? plane_transform(look, -1) : NULL;
    look->back = ok ? plane_transform(look, +1) : NULL;
    if (!look->forward || !look->back)
        return FALSE;
    for (int m = 0; m < 4; m++)
        for (int x = 0; x < stride; x++)
            look->cosines[m * stride + x] =
                (float)(2 * cos(2 * G_PI * (m + 1) * x / look->preview->nx));
    return TRUE;
}

static void release(Look *look)
{
    fftwf_free(look->waves);
    fftwf_free(look->sums);
    fftwf_free(look->cosines);
    for (int k = 0; look->rooms && k < look->threads; k++)
        room_clear(&look->rooms[k]);
    g_free(look->rooms);
    if (look->forward)
        fftwf_destroy_plan(look->forward);
    if (look->back)
        fftwf_destroy_plan(look->back);
}

static void group_down(const Look *look, LithoRun *run)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(look->threads)
    for (int ky = 0; ky < look->preview->ny; ky++)
        if (litho_run_checkpoint(run))
            row_of_wavenumbers(look, ky, &look->rooms[omp_get_thread_num()], run);
}

static gboolean look_down(Look *look, int steps, float *image, LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = look->job;
    gboolean ok = TRUE;
    litho_run_begin(run, "preview", "steps");
    for (look->s0 = 0; ok && look->s0 < job->n_steps; look->s0 = look->s1) {
        look->s1 = MIN(look->s0 + steps, job->n_steps);
        look->z0 = look->s0 == 0 ? 0 : look->s0 * job->step + 1;
        look->n_z = MIN(look->s1 * job->step + 1, job->nz) - look->z0;
        group_down(look, run);
        store_planes(look, image, run);
        ok = litho_run_step(run, look->s1, job->n_steps, error);
    }
    return ok;
}

gboolean litho_preview_cpu(const LithoMigrateJob *job, const LithoWaves *waves, float *record,
                           float *image, gboolean *made, LithoRun *run, GError **error)
{
    g_autoptr(LithoPreview) preview = litho_preview_new(job);
    Look look = {.job = job, .preview = preview};
    const int steps = MAX(DEPTHS / job->step, 1);
    gboolean ok = TRUE;
    *made = reserve(&look, steps * job->step + 1, run);
    if (*made) {
        load_waves(&look, waves, record, run);
        ok = look_down(&look, steps, image, run, error);
        if (ok && preview->time)
            stretch(&look, image, run);
        ok = ok && litho_run_step(run, job->n_steps, job->n_steps, error);
    }
    release(&look);
    return ok;
}
