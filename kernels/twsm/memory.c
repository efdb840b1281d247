// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory of a run, from the model alone: no mesh is made.
#include <math.h>

#include "core/text.h"
#include "kernels/twsm/clusters.h"
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

static double strips(const TwsmParams *p, const Sizes *z)
{
    double cells = MIN(p->strip_width, z->rows) * z->widest;
    return cells * (p->algorithm == TWSM_MOD2 && !z->near ? 16 : 8);
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

// --- CPU ----------------------------------------------------------------------------------------

// Sizes and kinds that decide what memory the sums of a leg take, beside its fields.
typedef struct LegSizes {
    double from, to; // elements
    double rhs, band;
    gboolean near, lattice, receivers;
    int threads;
} LegSizes;

// Four kernels of three floats, and in every thread seven fields of a frequency; twice the lattice
// in both directions, and a little more for lengths that transforms like. Where fields are small,
// FFTW's own blocks, which come and go with each transform, take as much again on the heap
// (measured with 2 to 16 threads).
static double lattice_scratch(const LegSizes *l)
{
    enum { SMALL = 1 << 19 };
    const double bins = 2.1 * l->from, threads = MIN(l->threads, l->band);
    const int fields = bins * sizeof(TwsmValue) < SMALL ? 14 : 7;
    return bins * (4 * 3 * sizeof(float) + threads * fields * sizeof(TwsmValue));
}

static double strip_scratch(const TwsmParams *p, const LegSizes *l)
{
    const double cells = MIN(p->strip_width, l->to) * l->from;
    return cells * (8 + (p->algorithm == TWSM_MOD2 ? 8 : 0) + (l->near ? 12 : 0)) +
           sizeof(TwsmValue) * l->rhs * l->from;
}

// Nodes and smooth normals by element, and weights of up to four shapes, of both meshes.
static double cluster_scratch(const LegSizes *l)
{
    const double nodes = sizeof(TwsmNode) * (double)TWSM_ALL_NODES / TWSM_CLUSTER_MAX;
    const double weights = 4.0 * (TWSM_MAX_NODES - 1) * TWSM_CLUSTER_MAX * TWSM_MAX_NODES *
                           TWSM_MAX_NODES * sizeof(float);
    return (4 * sizeof(float) + nodes) * (l->from + l->to) + 2 * weights;
}

// Padded copies of the field, and partial sums where targets are few.
static double fused_scratch(const LegSizes *l)
{
    enum { FEW = 512, TILE = 4096 }; // of fused.c
    const double rhs = MIN(l->rhs, 4), copies = sizeof(TwsmValue) * rhs * l->from * l->band;
    const double slices = ceil(l->from / TILE);
    return copies + (l->to < FEW ? 4 * sizeof(double) * (l->to + 16) * slices * rhs * l->band : 0);
}

static double scratch(const TwsmParams *p, const LegSizes *l)
{
    if (stores_strips(p))
        return strip_scratch(p, l);
    if (l->lattice && p->algorithm != TWSM_FUSED)
        return lattice_scratch(l);
    if (p->algorithm == TWSM_FAST && !l->near && !l->receivers)
        return MAX(cluster_scratch(l), fused_scratch(l));
    return fused_scratch(l);
}

static gboolean code_has_near(const TwsmParams *p, const TwsmCode *code)
{
    const gboolean effective = p->coefficients == TWSM_COEF_EFFECTIVE ||
                               (p->coefficients == TWSM_COEF_AUTO && code->n == 1);
    return p->near_field == TWSM_NEAR_ON || (p->near_field == TWSM_NEAR_AUTO && effective);
}

// The most that the fields of one wave code and the sums of its legs take at a time; `count` has
// the elements of every boundary.
static double code_bytes(const TwsmParams *p, const TwsmModel *m, const TwsmCode *code,
                         const Sizes *z, const double *count, int threads)
{
    const double band = stores_strips(p) ? z->frequencies : MIN(TWSM_BLOCK, z->frequencies);
    const double value = sizeof(TwsmValue) * z->sources * band;
    const double ends = value * (count[code->hit[0].boundary] + z->receivers);
    double most = 0, u = 0; // the field that the leg before has left
    for (int h = 0; h < code->n; h++) {
        const gboolean last = h + 1 == code->n;
        const int b = code->hit[h].boundary, next = last ? -1 : code->hit[h + 1].boundary;
        LegSizes leg = {
            .from = count[b], .to = count[b], .rhs = z->sources, .band = band, .threads = threads};
        if (p->absorption) {
            most = MAX(most, u + value * leg.to + scratch(p, &leg));
            u = value * leg.to;
        }
        leg.to = last ? z->receivers : count[next];
        leg.near = code_has_near(p, code);
        leg.receivers = last;
        leg.lattice = !last && m->boundary[b].shape == TWSM_FLAT &&
                      m->boundary[next].shape == TWSM_FLAT;
        const double y = last ? 0 : value * leg.to, near = leg.near ? value * leg.to : 0;
        most = MAX(most, u + y + near + scratch(p, &leg));
        u = y;
    }
    return ends + most;
}

guint64 twsm_memory_cpu(const TwsmParams *p, LithoResolved *known, int threads)
{
    g_autoptr(TwsmSetup) s = twsm_setup_open(p, known, NULL);
    Sizes z;
    if (!s || !find_sizes(p, known, &z))
        return 0;
    const TwsmModel *m = s->model;
    double cell[TWSM_MAX_LAYERS], count[TWSM_MAX_LAYERS] = {0}, fields = 0;
    twsm_setup_cells(s, cell);
    for (int b = 0; b < m->n_boundaries; b++)
        count[b] = cell[b] > 0 ? twsm_mesh_count(m, b, cell[b]) : 0;
    for (int c = 0; c < m->n_codes; c++)
        fields = MAX(fields, code_bytes(p, m, &m->code[c], &z, count, threads));
    // Points, spectra of the receivers; the traces come when the fields are gone.
    return (guint64)(32 * (z.all + z.receivers) + 8 * z.sources * z.receivers * z.frequencies +
                     MAX(fields, 4 * z.samples));
}

// --- GPU ----------------------------------------------------------------------------------------

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
    if (stores_strips(p)) // and the field by frequency, and sums of a strip
        bytes += strips(p, &z) + field +
                 16 * z.sources * MIN(p->strip_width, z.rows) *
                     (p->algorithm == TWSM_ALG1 ? 1 : z.frequencies);
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
                      guint64 (*memory)(const TwsmParams *, LithoResolved *, int threads),
                      guint64 bytes, int threads)
{
    TwsmParams q = *p;
    int lo = 0, hi = p->strip_width;
    if (!stores_strips(p))
        return NULL;
    while (hi - lo > 1) {
        q.strip_width = lo + (hi - lo) / 2;
        *(memory(&q, known, threads) <= bytes ? &lo : &hi) = q.strip_width;
    }
    return lo > 0 ? g_strdup_printf(_("strip_width must be %d or less"), lo)
                  : g_strdup("algorithm=fused stores no strips");
}

char *twsm_less_memory_cpu(const TwsmParams *p, LithoResolved *known, guint64 bytes, int threads)
{
    return narrower(p, known, twsm_memory_cpu, bytes, threads);
}

static guint64 on_gpu(const TwsmParams *p, LithoResolved *known, int threads)
{
    (void)threads;
    return twsm_memory_gpu(p, known);
}

char *twsm_less_memory_gpu(const TwsmParams *p, LithoResolved *known, guint64 bytes)
{
    return narrower(p, known, on_gpu, bytes, 1);
}
