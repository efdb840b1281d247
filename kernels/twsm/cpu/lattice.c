// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parallel flat boundaries on one lattice of cells: a beam depends on the difference of positions
// only, so the sum is a convolution. Each cell holds two triangles; the four combinations of their
// kinds are four kernels. Zero-padded to twice the lattice the result is exact.
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/peers.h"
#include "core/text.h"
#include "kernels/common/smooth.h"
#include "kernels/twsm/chain.h"

typedef struct Lattice {
    const TwsmLeg *leg;
    TwsmBand band;
    int cells[2], pad[2]; // lattice and transform sizes
    gsize bins;           // pad[0] * pad[1]
    fftwf_plan forward, backward;
    float *t[4], *are[4], *aim[4]; // beams of kernel 2 * to + from, [pad[1]][pad[0]], turns
    const LithoRun *run;
    gint *stop; // raised by the first thread that sees the run cancelled
} Lattice;

// Work space of one thread, kept from frequency to frequency. One block: small ones of their own
// would lie on the heap, where FFTW's blocks come and go between them; what is not touched takes no
// memory.
typedef struct Scratch {
    fftwf_complex *all, *kernel[4], *field[2], *out;
} Scratch;

// Asked between transforms: a frequency takes long on a large lattice.
static gboolean stopped(const Lattice *l)
{
    if (!litho_run_checkpoint(l->run))
        g_atomic_int_set(l->stop, 1);
    return g_atomic_int_get(l->stop);
}

// Beams from the triangles of one cell to those of the cell (dx, dy) further, for both signs: the
// pair of elements is looked up where both cells exist, so the numbers are those of the direct sum.
static void fill_beams(Lattice *l)
{
    int nx = l->cells[0], ny = l->cells[1];
    for (int kind = 0; kind < 4; kind++)
#pragma omp parallel for schedule(dynamic, 8) num_threads(litho_run_threads(l->run))
        for (int dy = 1 - ny; dy < ny; dy++)
            for (int dx = 1 - nx; dx < nx && !g_atomic_int_get(l->stop); dx++) {
                if (dx == 0 && stopped(l))
                    break;
                int from = 2 * (MAX(-dy, 0) * nx + MAX(-dx, 0)) + (kind & 1);
                int to = 2 * (MAX(dy, 0) * nx + MAX(dx, 0)) + (kind >> 1);
                gsize at = (gsize)((dy + l->pad[1]) % l->pad[1]) * l->pad[0] +
                           (dx + l->pad[0]) % l->pad[0];
                twsm_pair_columns(l->leg, to, from, 1, &l->t[kind][at], &l->are[kind][at],
                                  &l->aim[kind][at]);
            }
}

// Transforms of the four kernels at frequency k; `near` weights them by 1 / (2 pi t).
static void transform_kernels(const Lattice *l, int k, gboolean near, Scratch *w)
{
    for (int kind = 0; kind < 4 && !stopped(l); kind++) {
        float *out = (float *)w->kernel[kind];
        const float *t = l->t[kind], *are = l->are[kind], *aim = l->aim[kind];
        for (gsize b = 0; b < l->bins; b++) {
            float c, s, weight = 1;
            twsm_turn_times((float)k, t[b], &c, &s);
            if (near)
                weight = t[b] > 0 ? 0.159154943f / t[b] : 0;
            out[2 * b] = weight * (are[b] * c - aim[b] * s);
            out[2 * b + 1] = weight * (are[b] * s + aim[b] * c);
        }
        fftwf_execute_dft(l->forward, w->kernel[kind], w->kernel[kind]);
    }
}

static void transform_field(const Lattice *l, int k, const TwsmValue *u, Scratch *w)
{
    for (int kind = 0; kind < 2 && !stopped(l); kind++) {
        memset(w->field[kind], 0, l->bins * sizeof(fftwf_complex));
        for (int iy = 0; iy < l->cells[1]; iy++)
            for (int ix = 0; ix < l->cells[0]; ix++)
                w->field[kind][(gsize)iy * l->pad[0] + ix] =
                    u[(2 * ((gsize)iy * l->cells[0] + ix) + kind) * l->band.n + k];
        fftwf_execute_dft(l->forward, w->field[kind], w->field[kind]);
    }
}

static void convolve(const Lattice *l, int k, Scratch *w, TwsmValue *sum)
{
    float scale = 1.0f / l->bins;
    for (int kind = 0; kind < 2 && !stopped(l); kind++) {
        for (gsize b = 0; b < l->bins; b++)
            w->out[b] = w->kernel[2 * kind][b] * w->field[0][b] +
                        w->kernel[2 * kind + 1][b] * w->field[1][b];
        fftwf_execute_dft(l->backward, w->out, w->out);
        for (int iy = 0; iy < l->cells[1]; iy++)
            for (int ix = 0; ix < l->cells[0]; ix++)
                sum[(2 * ((gsize)iy * l->cells[0] + ix) + kind) * l->band.n + k] =
                    scale * w->out[(gsize)iy * l->pad[0] + ix];
    }
}

static gboolean scratch_new(const Lattice *l, Scratch *w)
{
    enum { FIELDS = 7, ALIGNED = 8, MAPPED = 1 << 18 }; // numbers of 64 bytes, of 2 MB
    const gsize each = (l->bins + ALIGNED - 1) / ALIGNED * ALIGNED;
    fftwf_complex *at = w->all = fftwf_alloc_complex(MAX(FIELDS * each, MAPPED));
    for (int k = 0; k < 4; k++, at += each)
        w->kernel[k] = at;
    for (int k = 0; k < 2; k++, at += each)
        w->field[k] = at;
    w->out = at;
    return w->all != NULL;
}

// Work space of every thread that the loop over frequencies may have. FALSE: there is no memory.
static gboolean scratch_of_all(const Lattice *l, Scratch *w, int n)
{
    gboolean ok = TRUE;
    for (int k = 0; ok && k < n; k++)
        ok = scratch_new(l, &w[k]);
    return ok;
}

static void one_frequency(const Lattice *l, int k, int n_rhs, const TwsmValue *u, TwsmValue *sum,
                          TwsmValue *near, Scratch *w)
{
    for (int pass = 0; pass < (near ? 2 : 1); pass++) {
        transform_kernels(l, l->band.k0 + k, pass == 1, w);
        for (int q = 0; q < n_rhs && !stopped(l); q++) {
            gsize rows = (gsize)l->leg->to->n * l->band.n;
            transform_field(l, k, u + q * rows, w);
            convolve(l, k, w, (pass ? near : sum) + q * rows);
        }
    }
}

static gboolean lattice_open(Lattice *l)
{
    for (int a = 0; a < 2; a++) {
        l->cells[a] = l->leg->from->cells[a];
        l->pad[a] = litho_smooth_length(2 * l->cells[a] - 1, 1, 5);
    }
    l->bins = (gsize)l->pad[0] * l->pad[1];
    for (int kind = 0; kind < 4; kind++) {
        l->t[kind] = g_try_new0(float, 3 * l->bins);
        if (!l->t[kind])
            return FALSE;
        l->are[kind] = l->t[kind] + l->bins;
        l->aim[kind] = l->are[kind] + l->bins;
    }
    fftwf_complex *model = fftwf_alloc_complex(l->bins);
    for (int way = 0; model && way < 2; way++) {
        fftwf_plan plan = fftwf_plan_dft_2d(l->pad[1], l->pad[0], model, model,
                                            way ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
        if (way)
            l->backward = plan;
        else
            l->forward = plan;
    }
    fftwf_free(model);
    return l->forward && l->backward;
}

static void lattice_close(Lattice *l)
{
    fftwf_destroy_plan(l->forward);
    fftwf_destroy_plan(l->backward);
    for (int kind = 0; kind < 4; kind++)
        g_free(l->t[kind]);
}

gboolean twsm_cpu_lattice(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                          const TwsmValue *u, TwsmValue *sum, TwsmValue *near, LithoRun *run,
                          GError **error)
{
    gboolean failed = FALSE;
    gint stop = 0, done = 0;
    Lattice l = {.leg = leg, .band = band, .run = run, .stop = &stop};
    const int threads = CLAMP(band.n, 1, litho_run_threads(run));
    g_autofree Scratch *scratch = g_new0(Scratch, threads);
    if (!lattice_open(&l) || !scratch_of_all(&l, scratch, threads))
        failed = TRUE;
    else
        fill_beams(&l);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int k = litho_run_rank(run); k < band.n; k += litho_run_ranks(run)) {
        if (failed || g_atomic_int_get(&stop))
            continue;
        one_frequency(&l, k, n_rhs, u, sum, near, &scratch[omp_get_thread_num()]);
        int n = g_atomic_int_add(&done, 1) + 1;
        const double part = (double)n * litho_run_ranks(run) / band.n;
        if (omp_get_thread_num() == 0 ? !twsm_step(how, part, run, NULL)
                                      : !litho_run_checkpoint(run))
            g_atomic_int_set(&stop, 1);
    }
    for (int k = 0; k < threads; k++)
        fftwf_free(scratch[k].all);
    lattice_close(&l);
    // Kernels and FFTW's blocks leave gaps between them, more from band to band.
    litho_memory_return();
    if (failed)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("no memory for transforms of %d x %d points"), l.pad[0], l.pad[1]);
    // Frequencies of other processes are zeros here.
    const gsize values = 2 * (gsize)n_rhs * leg->to->n * band.n;
    return !failed && twsm_stopped(stop, error) &&
           litho_run_sum_floats(run, (float *)sum, values, error) &&
           (!near || litho_run_sum_floats(run, (float *)near, values, error));
}
