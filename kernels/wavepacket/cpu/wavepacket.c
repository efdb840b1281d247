// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/cpu/wavepacket.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/wavepacket/cpu/vector.h"

// --- making -----------------------------------------------------------------------------------

static void free_plan(gpointer plan)
{
    fftwf_destroy_plan(plan);
}

static gboolean plan_boxes(WpCpu *cpu, LithoRun *run, GError **error)
{
    const WpGeometry *g = cpu->engine.geometry;
    cpu->box_forward = g_new0(fftwf_plan, g->n_boxes);
    cpu->box_inverse = g_new0(fftwf_plan, g->n_boxes);
    cpu->plans = g_ptr_array_new_with_free_func(free_plan);
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        if (!litho_run_checkpoint(run))
            return litho_run_stopped(error);
        if (box->kind == WP_RESIDUAL)
            continue;
        if (b > 0 && memcmp(box->n, box[-1].n, sizeof box->n) == 0) {
            cpu->box_forward[b] = cpu->box_forward[b - 1];
            cpu->box_inverse[b] = cpu->box_inverse[b - 1];
            continue;
        }
        fftwf_complex *data = fftwf_alloc_complex(box->floats / 2);
        cpu->box_forward[b] = fftwf_plan_dft_3d(box->n[0], box->n[1], box->n[2], data, data,
                                                FFTW_FORWARD, FFTW_ESTIMATE);
        cpu->box_inverse[b] = fftwf_plan_dft_3d(box->n[0], box->n[1], box->n[2], data, data,
                                                FFTW_BACKWARD, FFTW_ESTIMATE);
        g_ptr_array_add(cpu->plans, cpu->box_forward[b]);
        g_ptr_array_add(cpu->plans, cpu->box_inverse[b]);
        fftwf_free(data);
    }
    return TRUE;
}

// By all threads: touching fresh pages takes longer than clearing them. A cancelled run needs none.
static void clear_floats(float *p, gint64 floats, const LithoRun *run)
{
    enum { CHUNK = 1 << 20 };
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(run))
    for (gint64 at = 0; at < floats; at += CHUNK)
        if (litho_run_checkpoint(run))
            memset(p + at, 0, MIN(CHUNK, floats - at) * sizeof *p);
}

static float *alloc_floats(gint64 floats, const LithoRun *run, GError **error)
{
    float *p = fftwf_malloc(MAX(floats, 16) * sizeof *p);
    if (p)
        clear_floats(p, MAX(floats, 16), run);
    else
        litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of wave-packet data",
                     floats * 4.0 / (1 << 30));
    return p;
}

static gboolean plan_residual(WpCpu *cpu, LithoRun *run, GError **error)
{
    const WpBox *box = wp_residual(cpu->engine.geometry);
    if (!box)
        return TRUE;
    const int dim[3] = {box->n[0], box->n[1], (box->n[2] / 2 + 1 + 7) / 8 * 8};
    const int origin[3] = {0};
    cpu->residual_data = alloc_floats(2 * (gint64)dim[0] * dim[1] * dim[2], run, error);
    if (!cpu->residual_data)
        return FALSE;
    cpu->residual_weight = wp_residual_weights(cpu->engine.geometry, run, error);
    if (!cpu->residual_weight)
        return FALSE;
    wp_fft_init(&cpu->residual, box->n, dim, origin, cpu->residual_data);
    return TRUE;
}

gint64 wp_grid_layout(const WpGeometry *g, WpGrid *grid)
{
    const int vectors = (2 * g->kernel.width + WP_VEC - 1) / WP_VEC;
    for (int a = 0; a < 3; a++) {
        grid->dim[a] = (a < 2 ? g->nf[a] : g->nf[a] / 2) + 1 + 2 * g->halo[a];
        grid->origin[a] = (a < 2 ? g->nf[a] / 2 : 0) + g->halo[a];
    }
    // Loads of whole vectors reach past the last tap, but never into the next row: rows of
    // different planes belong to different threads while the adjoint adds.
    grid->dim[2] = (grid->dim[2] + vectors * WP_VEC / 2 + 7) / 8 * 8;
    grid->data = NULL;
    return 2 * (gint64)grid->dim[0] * grid->dim[1] * grid->dim[2];
}

// The fine grid is kept with l = -nf/2 first along axes 1 and 2. An alternating sign on the samples
// does that shift for nothing.
static void plan_deconvolution(WpCpu *cpu)
{
    const WpGeometry *g = cpu->engine.geometry;
    for (int a = 0; a < 3; a++) {
        cpu->deconvolve[a] = g_new(float, g->n[a]);
        for (gint64 i = 0; i < g->n[a]; i++) {
            gboolean odd = a < 2 && (i - g->n[a] / 2) % 2 != 0;
            cpu->deconvolve[a][i] = (float)(odd ? -g->deconvolve[a][i] : g->deconvolve[a][i]);
        }
    }
}

static void cpu_free(WpEngine *engine)
{
    WpCpu *cpu = (WpCpu *)engine;
    wp_fft_clear(&cpu->fft);
    wp_fft_clear(&cpu->residual);
    g_clear_pointer(&cpu->plans, g_ptr_array_unref);
    for (int a = 0; a < 3; a++)
        g_free(cpu->deconvolve[a]);
    g_free(cpu->box_forward);
    g_free(cpu->box_inverse);
    g_free(cpu->residual_weight);
    fftwf_free(cpu->residual_data);
    fftwf_free(cpu->grid.data);
    g_free(cpu);
}

// --- the grid's halos ---------------------------------------------------------------------------

static fftwf_complex *grid_at(const WpGrid *grid, gint64 l1, gint64 l2, gint64 l3)
{
    return (fftwf_complex *)grid->data +
           ((l1 + grid->origin[0]) * grid->dim[1] + l2 + grid->origin[1]) * grid->dim[2] + l3 +
           grid->origin[2];
}

// -l modulo nf, in -nf/2 .. nf/2-1.
static inline int mirror(int l, int nf)
{
    return l == -nf / 2 ? l : -l;
}

// l3 beyond the half spectrum: U[-l] = conj U[l].
static void fill_row_ends(const WpGeometry *g, const WpGrid *grid, int l1, int l2)
{
    const int half = g->nf[2] / 2;
    const fftwf_complex *from = grid_at(grid, mirror(l1, g->nf[0]), mirror(l2, g->nf[1]), 0);
    fftwf_complex *to = grid_at(grid, l1, l2, 0);
    for (int k = 1; k <= g->halo[2]; k++) {
        to[-k][0] = from[k][0];
        to[-k][1] = -from[k][1];
        to[half + k][0] = from[half - k][0];
        to[half + k][1] = -from[half - k][1];
    }
}

// The transpose: what was spread beyond the ends goes back where it was copied from.
static void fold_row_ends(const WpGeometry *g, const WpGrid *grid, int l1, int l2)
{
    const int half = g->nf[2] / 2;
    const fftwf_complex *from = grid_at(grid, mirror(l1, g->nf[0]), mirror(l2, g->nf[1]), 0);
    fftwf_complex *to = grid_at(grid, l1, l2, 0);
    for (int k = 1; k <= g->halo[2]; k++) {
        to[k][0] += from[-k][0];
        to[k][1] -= from[-k][1];
        to[half - k][0] += from[half + k][0];
        to[half - k][1] -= from[half + k][1];
    }
    // The inverse FFT along z counts every l3 but the first and the last twice.
    for (int a = 0; a < 2; a++) {
        to[0][a] *= 2;
        to[half][a] *= 2;
    }
}

static int halo_source(int l, int nf)
{
    return l < -nf / 2 ? l + nf : l - nf;
}

// Halo rows along axis 2, then halo planes along axis 1 (which brings their corners along).
static void fill_planes(const WpGeometry *g, const WpGrid *grid, int threads)
{
    const int h1 = g->nf[0] / 2, h2 = g->nf[1] / 2;
    const size_t row = grid->dim[2] * sizeof(fftwf_complex), plane = row * grid->dim[1];
#pragma omp parallel for num_threads(threads)
    for (int l1 = -h1; l1 < h1; l1++)
        for (int k = 0; k < 2 * g->halo[1] + 1; k++) {
            int l2 = k < g->halo[1] ? -h2 - 1 - k : h2 + k - g->halo[1];
            memcpy(grid_at(grid, l1, l2, -grid->origin[2]),
                   grid_at(grid, l1, halo_source(l2, g->nf[1]), -grid->origin[2]), row);
        }
    for (int k = 0; k < 2 * g->halo[0] + 1; k++) {
        int l1 = k < g->halo[0] ? -h1 - 1 - k : h1 + k - g->halo[0];
        memcpy(grid_at(grid, l1, -grid->origin[1], -grid->origin[2]),
               grid_at(grid, halo_source(l1, g->nf[0]), -grid->origin[1], -grid->origin[2]), plane);
    }
}

static void add_floats(float *to, const float *from, gint64 n)
{
    for (gint64 i = 0; i < n; i++)
        to[i] += from[i];
}

static void fold_planes(const WpGeometry *g, const WpGrid *grid, int threads)
{
    const int h1 = g->nf[0] / 2, h2 = g->nf[1] / 2;
    const gint64 row = 2 * grid->dim[2], plane = row * grid->dim[1];
    for (int k = 0; k < 2 * g->halo[0] + 1; k++) {
        int l1 = k < g->halo[0] ? -h1 - 1 - k : h1 + k - g->halo[0];
        add_floats(*grid_at(grid, halo_source(l1, g->nf[0]), -grid->origin[1], -grid->origin[2]),
                   *grid_at(grid, l1, -grid->origin[1], -grid->origin[2]), plane);
    }
#pragma omp parallel for num_threads(threads)
    for (int l1 = -h1; l1 < h1; l1++)
        for (int k = 0; k < 2 * g->halo[1] + 1; k++) {
            int l2 = k < g->halo[1] ? -h2 - 1 - k : h2 + k - g->halo[1];
            add_floats(*grid_at(grid, l1, halo_source(l2, g->nf[1]), -grid->origin[2]),
                       *grid_at(grid, l1, l2, -grid->origin[2]), row);
        }
}

static void each_row(const WpCpu *cpu,
                     void (*fn)(const WpGeometry *, const WpGrid *, int l1, int l2))
{
    const WpGeometry *g = cpu->engine.geometry;
#pragma omp parallel for num_threads(cpu->threads)
    for (int l1 = -g->nf[0] / 2; l1 < g->nf[0] / 2; l1++)
        for (int l2 = -g->nf[1] / 2; l2 < g->nf[1] / 2; l2++)
            fn(g, &cpu->grid, l1, l2);
}

// --- forward and adjoint ------------------------------------------------------------------------

static WpFftVolume fine_volume(const WpCpu *cpu)
{
    const WpGeometry *g = cpu->engine.geometry;
    WpFftVolume v = {0};
    for (int a = 0; a < 3; a++) {
        v.n[a] = g->n[a];
        v.first[a] = g->n[a] / 2;
        v.scale[a] = cpu->deconvolve[a];
    }
    return v;
}

static void multiply_residual(const WpCpu *cpu)
{
    const WpFft *f = &cpu->residual;
    const int half = f->n[2] / 2 + 1;
    const float *weight = cpu->residual_weight;
#pragma omp parallel for num_threads(cpu->threads)
    for (gint64 r = 0; r < (gint64)f->n[0] * f->n[1]; r++) {
        float *row = cpu->residual_data + 2 * r * f->dim[2];
        for (int k = 0; k < half; k++) {
            row[2 * k] *= weight[r * half + k];
            row[2 * k + 1] *= weight[r * half + k];
        }
    }
}

// Spectrum of what the residual window leaves of samples, in residual_data.
static gboolean residual_spectrum(WpCpu *cpu, const WpFftVolume *from, const float *in,
                                  LithoRun *run)
{
    if (!wp_fft_forward(&cpu->residual, from, in, cpu->residual_data, run))
        return FALSE;
    multiply_residual(cpu);
    return TRUE;
}

static void residual_volumes(const WpGeometry *g, WpFftVolume *data, WpFftVolume *lattice)
{
    *data = *lattice = (WpFftVolume){0};
    for (int a = 0; a < 3; a++) {
        data->n[a] = g->n[a];
        data->first[a] = g->n[a] / 2;
        lattice->n[a] = wp_residual(g)->n[a];
    }
}

static gboolean cpu_forward(WpEngine *engine, const float *u, float *c, LithoRun *run,
                            GError **error)
{
    WpCpu *cpu = (WpCpu *)engine;
    const WpGeometry *g = engine->geometry;
    WpFftVolume volume = fine_volume(cpu), lattice;
    double t0 = litho_now_ms();
    cpu->threads = litho_run_threads(run);
    if (!wp_fft_forward(&cpu->fft, &volume, u, cpu->grid.data, run))
        return litho_run_stopped(error);
    each_row(cpu, fill_row_ends);
    fill_planes(g, &cpu->grid, cpu->threads);
    double t1 = litho_now_ms();
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        if (box->kind == WP_RESIDUAL || !litho_run_checkpoint(run))
            continue;
        LITHO_ISA_PICK(wp_gather_box)(g, &cpu->grid, box, run, c + box->at);
        if (!litho_run_checkpoint(run))
            continue;
        fftwf_complex *data = (fftwf_complex *)(c + box->at);
        fftwf_execute_dft(cpu->box_inverse[b], data, data);
    }
    double t2 = litho_now_ms();
    if (!litho_run_checkpoint(run))
        return litho_run_stopped(error);
    if (wp_residual(g)) {
        residual_volumes(g, &volume, &lattice);
        // The residual window lives on a plain DFT lattice: c = irfft(phi rfft(u)), and back the
        // same way.
        if (!residual_spectrum(cpu, &volume, u, run) ||
            !wp_fft_inverse(&cpu->residual, &lattice, cpu->residual_data, c + wp_residual(g)->at,
                            run))
            return litho_run_stopped(error);
    }
    const double taps = pow(g->kernel.width, 3) * g->n_active;
    litho_run_time(run, "fft", LITHO_STAGE_COMPUTE, t1 - t0 + litho_now_ms() - t2, 0, 0);
    litho_run_time(run, "gather", LITHO_STAGE_COMPUTE, t2 - t1, 8 * taps, 4 * taps);
    return TRUE;
}

// The i-th slab of a parity, from the middle of the spectrum outwards: the fullest come first.
static int slab_in_order(int i, int slabs, int parity)
{
    const int n = (slabs - parity + 1) / 2, middle = n / 2;
    const int k = i % 2 ? middle - (i + 1) / 2 : middle + i / 2;
    return 2 * k + parity;
}

static void spread_slab(const WpCpu *cpu, const float *c, int from, int thick, const LithoRun *run)
{
    const WpGeometry *g = cpu->engine.geometry;
    for (int b = 0; b < g->n_boxes && litho_run_checkpoint(run); b++)
        if (g->boxes[b].kind != WP_RESIDUAL)
            LITHO_ISA_PICK(wp_spread_box)
    (g, &cpu->grid, &g->boxes[b], c + g->boxes[b].at, from, from + thick);
}

// Slabs of planes. A slab reaches w-1 planes into the next, so an odd one waits for the even ones
// on either side: no two threads meet, and the order of additions does not depend on their number.
// Thin slabs, or there are too few of them on a small grid; thicker ones cut fewer rows.
static gboolean spread_all(WpCpu *cpu, const float *c, LithoRun *run)
{
    const WpGeometry *g = cpu->engine.geometry;
    const int reach = g->kernel.width - 1, first = -cpu->grid.origin[0];
    const int thick = CLAMP(cpu->grid.dim[0] / 64, reach, MAX(reach, 8));
    const int slabs = (cpu->grid.dim[0] + thick - 1) / thick, even = (slabs + 1) / 2;
    g_autofree char *token = g_new0(char, slabs + 2); // token[s + 1] stands for slab s
    // The master makes the tasks: what another thread keeps of their dependences libgomp 12 may
    // lose when the next region begins at once.
#pragma omp parallel num_threads(cpu->threads)
#pragma omp master
    for (int i = 0; i < slabs; i++) {
        const int s = slab_in_order(i < even ? i : i - even, slabs, i >= even);
        if (i < even) {
#pragma omp task firstprivate(s) depend(out : token[s + 1])
            spread_slab(cpu, c, first + s * thick, thick, run);
        } else {
#pragma omp task firstprivate(s) depend(in : token[s], token[s + 2])
            spread_slab(cpu, c, first + s * thick, thick, run);
        }
    }
    return litho_run_checkpoint(run);
}

static void clear_grid(WpCpu *cpu)
{
    const gint64 plane = 2 * (gint64)cpu->grid.dim[1] * cpu->grid.dim[2];
#pragma omp parallel for num_threads(cpu->threads)
    for (int i = 0; i < cpu->grid.dim[0]; i++)
        memset(cpu->grid.data + i * plane, 0, plane * sizeof(float));
}

// u = u/2 + residual part. The half undoes the doubling in fold_row_ends().
static gboolean add_residual_part(WpCpu *cpu, float *u, LithoRun *run, GError **error)
{
    const WpGeometry *g = cpu->engine.geometry;
    const gint64 n = g->n[0] * g->n[1] * g->n[2];
    WpFftVolume data, lattice;
    float *part = NULL;
    if (wp_residual(g)) {
        residual_volumes(g, &data, &lattice);
        part = alloc_floats(n, run, error);
        if (!part)
            return FALSE;
        if (!wp_fft_inverse(&cpu->residual, &data, cpu->residual_data, part, run)) {
            fftwf_free(part);
            return litho_run_stopped(error);
        }
    }
#pragma omp parallel for num_threads(cpu->threads)
    for (gint64 i = 0; i < n; i++)
        u[i] = 0.5f * u[i] + (part ? part[i] : 0);
    fftwf_free(part);
    return TRUE;
}

static gboolean cpu_begin_adjoint(WpEngine *engine, float *c, LithoRun *run, GError **error)
{
    WpCpu *cpu = (WpCpu *)engine;
    const WpGeometry *g = engine->geometry;
    WpFftVolume data, lattice;
    const double start = litho_now_ms();
    cpu->threads = litho_run_threads(run);
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (int b = 0; b < g->n_boxes; b++) {
        fftwf_complex *values = (fftwf_complex *)(c + g->boxes[b].at);
        if (g->boxes[b].kind != WP_RESIDUAL && litho_run_checkpoint(run))
            fftwf_execute_dft(cpu->box_forward[b], values, values);
    }
    if (!litho_run_checkpoint(run))
        return litho_run_stopped(error);
    if (wp_residual(g)) {
        residual_volumes(g, &data, &lattice);
        if (!residual_spectrum(cpu, &lattice, c + wp_residual(g)->at, run))
            return litho_run_stopped(error);
    }
    litho_run_time(run, "box ffts", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return TRUE;
}

static gboolean cpu_end_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error)
{
    WpCpu *cpu = (WpCpu *)engine;
    const WpGeometry *g = engine->geometry;
    const WpFftVolume volume = fine_volume(cpu);
    cpu->threads = litho_run_threads(run);
    double t1 = litho_now_ms();
    clear_grid(cpu);
    if (!spread_all(cpu, c, run))
        return litho_run_stopped(error);
    double t2 = litho_now_ms();
    fold_planes(g, &cpu->grid, cpu->threads);
    each_row(cpu, fold_row_ends);
    if (!wp_fft_inverse(&cpu->fft, &volume, cpu->grid.data, u, run))
        return litho_run_stopped(error);
    if (!add_residual_part(cpu, u, run, error))
        return FALSE;
    const double taps = pow(g->kernel.width, 3) * g->n_active;
    litho_run_time(run, "inverse fft", LITHO_STAGE_COMPUTE, litho_now_ms() - t2, 0, 0);
    litho_run_time(run, "spread", LITHO_STAGE_COMPUTE, t2 - t1, 16 * taps, 4 * taps);
    return TRUE;
}

static gboolean cpu_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error)
{
    return cpu_begin_adjoint(engine, c, run, error) && cpu_end_adjoint(engine, c, u, run, error);
}

WpEngine *wp_engine_cpu(const WpGeometry *g, int form, LithoRun *run, GError **error)
{
    static WpEngineClass class;
    static gsize once;
    (void)form;
    if (g_once_init_enter(&once)) {
        class = wp_cpu_arrays;
        class.free = cpu_free;
        class.forward = cpu_forward;
        class.adjoint = cpu_adjoint;
        class.begin_adjoint = cpu_begin_adjoint;
        class.planes = wp_cpu_planes;
        class.end_adjoint = cpu_end_adjoint;
        class.drop_plane = wp_cpu_drop_plane;
        g_once_init_leave(&once, 1);
    }
    WpCpu *cpu = g_new0(WpCpu, 1);
    cpu->engine.class = &class;
    cpu->engine.geometry = g;
    gint64 floats = wp_grid_layout(g, &cpu->grid);
    cpu->grid.data = alloc_floats(floats, run, error);
    if (!cpu->grid.data || !plan_residual(cpu, run, error) || !plan_boxes(cpu, run, error)) {
        cpu_free(&cpu->engine);
        return NULL;
    }
    // FFT index 0 is l = -nf/2 along axes 1 and 2, l = 0 along axis 3: right behind the halos.
    wp_fft_init(&cpu->fft, g->nf, cpu->grid.dim, g->halo, cpu->grid.data);
    plan_deconvolution(cpu);
    return &cpu->engine;
}
