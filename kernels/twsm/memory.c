// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory of a run, from the model alone: no mesh is made.
#include <math.h>

#include "kernels/twsm/setup.h"

// Sizes everything else follows from.
typedef struct Sizes {
    double widest, all; // elements of the largest boundary, of all
    double rows;        // targets of the widest leg
    double receivers, sources;
    double frequencies, samples; // of the output
    gboolean near, flat; // some code has the near field; all boundaries that are met are flat
} Sizes;

static void add_boundary(const TwsmModel *m, int b, double cell, Sizes *z)
{
    double n = twsm_mesh_count(m, b, cell);
    z->widest = MAX(z->widest, n);
    z->all += n;
    z->flat &= m->boundary[b].shape == TWSM_FLAT;
}

static gboolean find_sizes(const TwsmParams *p, LithoResolved *known, Sizes *z)
{
    g_autoptr(TwsmSetup) s = twsm_setup_open(p, known, NULL);
    if (!s)
        return FALSE;
    double cell[TWSM_MAX_LAYERS];
    const TwsmModel *m = s->model;
    *z = (Sizes){.sources = m->n_sources,
                 .receivers = (double)m->receiver_count[0] * m->receiver_count[1],
                 .frequencies = s->n_frequencies,
                 .flat = TRUE};
    z->samples = z->sources * z->receivers * s->n_time;
    twsm_setup_cells(s, cell);
    for (int b = 0; b < m->n_boundaries; b++)
        if (cell[b] > 0)
            add_boundary(m, b, cell[b], z);
    for (int c = 0; c < m->n_codes; c++)
        z->near |=
            p->near_field == TWSM_NEAR_ON || (p->near_field == TWSM_NEAR_AUTO && m->code[c].n == 1);
    // Only a wave with two hits or more meets a boundary behind the first.
    for (int c = 0; c < m->n_codes; c++)
        z->rows = MAX(z->rows, m->code[c].n > 1 || p->absorption ? z->widest : z->receivers);
    z->widest = MAX(z->widest, z->receivers);
    return TRUE;
}

// Points, spectra of the receivers, traces and the copy that is shown while frequencies arrive.
static double always(const Sizes *z)
{
    return 32 * (z->all + z->receivers) + 8 * z->sources * z->receivers * z->frequencies +
           8 * z->samples;
}

static double strips(const TwsmParams *p, const Sizes *z, gboolean on_gpu)
{
    double cells = MIN(p->strip_width, z->rows) * z->widest;
    double per_element = p->algorithm == TWSM_MOD2 && !(on_gpu && z->near) ? 16 : 8;
    return cells * (per_element + (z->near && !on_gpu ? 12 : 0));
}

static gboolean stores_strips(const TwsmParams *p)
{
    return p->algorithm == TWSM_ALG1 || p->algorithm == TWSM_ALG2 || p->algorithm == TWSM_MOD2;
}

// Zero-padded lattices of a convolution: four kernels and fields of two kinds, twice each at most.
static double lattices(const Sizes *z)
{
    return 4 * z->widest / 2 * (12 * 8);
}

static gboolean convolves(const TwsmParams *p, const Sizes *z)
{
    return z->flat && p->mask == TWSM_MASK_NONE &&
           (p->algorithm == TWSM_AUTO || p->algorithm == TWSM_FFT || p->algorithm == TWSM_FAST);
}

guint64 twsm_memory_cpu(const TwsmParams *p, LithoResolved *known)
{
    Sizes z;
    if (!find_sizes(p, known, &z))
        return 0;
    double band = stores_strips(p) ? z.frequencies : MIN(TWSM_BLOCK, z.frequencies);
    // In and out of a leg, the sum of near terms, and a padded copy.
    double bytes = always(&z) + 8 * z.sources * z.widest * band * (z.near ? 4 : 3);
    bytes += stores_strips(p) ? strips(p, &z, FALSE) : convolves(p, &z) ? lattices(&z) : 0;
    return (guint64)bytes;
}

guint64 twsm_memory_gpu(const TwsmParams *p, LithoResolved *known)
{
    enum { BAND = 128, SLICE = 2048 };
    // Pairs times frequencies of a launch of the fused sum (cuda/sums.c): its partial sums.
    static const double chunk = 1.1e11;
    Sizes z;
    if (!find_sizes(p, known, &z))
        return 0;
    double band = ceil((stores_strips(p) ? z.frequencies : MIN(BAND, z.frequencies)) / 32) * 32;
    double field = 8 * z.sources * (z.widest + 64) * band;
    // Two chunks are under way at a time.
    double partial = 2 * 8 * MIN(chunk, band * z.widest * (z.widest + SLICE)) / SLICE;
    double bytes = 32 * (z.all + z.receivers) + 2 * field + 4 * z.samples;
    // Both ends: a table of coefficients, spectra of the receivers, and what traces are summed
    // with.
    bytes += 1 << 20;
    bytes += 8 * z.sources * z.receivers * z.frequencies;
    bytes += 16 * (z.frequencies + z.samples / (z.sources * z.receivers));
    if (stores_strips(p))
        bytes += strips(p, &z, TRUE);
    else if (convolves(p, &z))
        bytes += lattices(&z);
    else if (p->algorithm == TWSM_FAST)
        bytes += 1.1 * field / z.sources + partial;
    else
        bytes += partial;
    return (guint64)bytes;
}

// Widest strips that take `bytes` or less, by halving the interval: `memory` grows with the width.
static char *narrower(const TwsmParams *p, LithoResolved *known,
                      guint64 (*memory)(const TwsmParams *, LithoResolved *), guint64 bytes)
{
    TwsmParams q = *p;
    int lo = 0, hi = p->strip_width;
    if (!stores_strips(p))
        return NULL;
    while (hi - lo > 1) {
        q.strip_width = lo + (hi - lo) / 2;
        *(memory(&q, known) <= bytes ? &lo : &hi) = q.strip_width;
    }
    return lo > 0 ? g_strdup_printf("strip_width must be %d or less", lo)
                  : g_strdup("algorithm=fused stores no strips");
}

char *twsm_less_memory_cpu(const TwsmParams *p, LithoResolved *known, guint64 bytes)
{
    return narrower(p, known, twsm_memory_cpu, bytes);
}

char *twsm_less_memory_gpu(const TwsmParams *p, LithoResolved *known, guint64 bytes)
{
    return narrower(p, known, twsm_memory_gpu, bytes);
}
