// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/report.h"
#include "kernels/wavepacket/apply.h"
#include "kernels/wavepacket/coefficients.h"

// --- blocks -----------------------------------------------------------------------------------

static int blocks_along(gint64 n, gint64 block, gint64 overlap)
{
    return n <= block ? 1 : (int)((n - overlap + block - overlap - 1) / (block - overlap));
}

// The last block is moved back to end with the volume: it overlaps more.
gint64 wp_cuts_start(const WpCuts *c, int b)
{
    return MAX(MIN(b * (c->block - c->overlap), c->n - c->block), 0) - c->margin;
}

// Square roots of weights that sum to one over the blocks along an axis. Inside an overlap of O
// samples the weight rises as S((t + 1/2)/O); ends of the volume are not tapered.
static float *make_tapers(const WpTiling *tiling, const WpCuts *c)
{
    const gint64 block = c->block;
    float *taper = g_new(float, c->count *block);
    g_autofree double *sum = g_new0(double, c->n);
    for (int b = 0; b < c->count; b++) {
        const gint64 start = wp_cuts_start(c, b);
        const gint64 before = b > 0 ? wp_cuts_start(c, b - 1) + block - start : 0;
        const gint64 after = b + 1 < c->count ? start + block - wp_cuts_start(c, b + 1) : 0;
        for (gint64 i = 0; i < block; i++) {
            double w = 1;
            if (i < before)
                w *= wp_step(tiling, (i + 0.5) / before);
            if (i >= block - after)
                w *= 1 - wp_step(tiling, (i - (block - after) + 0.5) / after);
            taper[b * block + i] = (float)w;
            sum[c->margin + start + i] += w;
        }
    }
    for (int b = 0; b < c->count; b++)
        for (gint64 i = 0; i < block; i++) {
            float *t = &taper[b * block + i];
            *t = (float)sqrt(*t / sum[c->margin + wp_cuts_start(c, b) + i]);
        }
    return taper;
}

static void make_tapers_of_cuts(WpJob *job)
{
    for (int a = 0; a < 3; a++)
        if (job->cuts[a].count > 1)
            job->tapers[a] = make_tapers(job->geometry->tiling, &job->cuts[a]);
}

void wp_job_list_blocks(WpJob *job, const int first[3], const int end[3])
{
    const int count[3] = {end[0] - first[0], end[1] - first[1], end[2] - first[2]};
    job->n_blocks = count[0] * count[1] * count[2];
    job->whole = job->n_blocks == 1 && !job->tapers[0] && !job->tapers[1] && !job->tapers[2] &&
                 memcmp(job->n, job->spec.n, sizeof job->n) == 0;
    for (int k = 0; k < job->n_made; k++)
        wp_drop_sigma(&job->lanes[k]);
    g_free(job->blocks);
    g_free(job->c);
    g_free(job->block_sigma);
    job->blocks = g_new0(WpBlock, job->n_blocks);
    job->c = g_new0(float *, job->n_blocks);
    job->block_sigma = g_new0(double, job->n_blocks);
    for (int b = 0; b < job->n_blocks; b++) {
        const int at[3] = {b / (count[1] * count[2]), b / count[2] % count[1], b % count[2]};
        for (int a = 0; a < 3; a++) {
            const WpCuts *c = &job->cuts[a];
            const int k = first[a] + at[a];
            job->blocks[b].at[a] = wp_cuts_start(c, k) - job->window.lo[a];
            job->blocks[b].mirror = c->margin;
            job->blocks[b].taper[a] = job->tapers[a] ? job->tapers[a] + k * c->block : NULL;
        }
    }
}

// --- life -------------------------------------------------------------------------------------

// Denoising sees more of the cube than its samples: mirrored samples at its faces spare packets
// there the step to zero, which costs a threshold 0.5 to 1.5 dB. Two are as good as eight.
static int margin_of(const LithoWavepacketParams *p)
{
    return p->mode == WP_DENOISE ? 2 : 0;
}

// Axis across which there is no slope to speak of: lines are transformed one by one. -1 = none.
static int flat_axis(const LithoGrid *in)
{
    return in->axis[0].n < WP_FEWEST ? 0 : in->axis[1].n < WP_FEWEST ? 1 : -1;
}

// Denoising has a scale more than the other modes: the coarse box, whose noise stays, is an eighth
// of the volume then, and directions are finer.
static int scales_of(const LithoWavepacketParams *p, const gint64 n[3])
{
    return p->scales > 0 || p->mode != WP_DENOISE
               ? p->scales
               : MIN(wp_auto_scales(wp_shortest(n)) + 1, WP_MAX_SCALES);
}

static WpSpec spec_of(const LithoGrid *in, const LithoWavepacketParams *p, int block)
{
    WpSpec spec;
    const int margin = margin_of(p);
    memset(&spec, 0, sizeof spec); // padding too: specs are compared
    spec.design = (WpDesignKind)p->design;
    spec.directions = p->directions;
    spec.kernel = (WpKernelKind)p->kernel;
    spec.width = p->kernel_width;
    spec.oversampling = p->oversampling;
    for (int a = 0; a < 3; a++)
        spec.n[a] =
            a == flat_axis(in)
                ? 1
                : MAX(block > 0 ? MIN(block, in->axis[a].n + 2 * margin)
                                : in->axis[a].n + 2 * margin,
                      WP_THINNEST);
    spec.scales = scales_of(p, spec.n);
    return spec;
}

// Segments along an axis and how they overlap: lines do not.
static WpCuts cuts_of(const LithoGrid *in, const LithoWavepacketParams *p, const WpSpec *spec,
                      int block, int axis)
{
    const gboolean lines = axis == flat_axis(in);
    WpCuts c = {.margin = lines ? 0 : margin_of(p), .block = spec->n[axis]};
    c.n = in->axis[axis].n + 2 * c.margin;
    if (block > 0 && !lines)
        c.overlap = MIN(MAX(MAX(p->overlap, 16), block / 8), block / 2);
    c.count = blocks_along(c.n, c.block, c.overlap);
    return c;
}

void wp_cuts(const LithoGrid *in, const LithoWavepacketParams *p, int block, WpCuts cuts[3])
{
    const WpSpec spec = spec_of(in, p, block);
    for (int a = 0; a < 3; a++)
        cuts[a] = cuts_of(in, p, &spec, block, a);
}

// --- memory -----------------------------------------------------------------------------------

// Arrays of the job and the pass, in floats: whole cubes, block-sized volumes, coefficients. The
// least that a run can do with: of several segments one at a time.
static void count_arrays(const LithoWavepacketParams *p, gboolean one_block, int *cubes,
                         int *volumes, int *coefficients)
{
    *cubes = 2 + 2; // input and output; volume, result
    *volumes = one_block ? 0 : 1;
    *coefficients = wp_reads_file(p) ? 1 : 2;
    if (p->mode == WP_INTERPOLATE)
        *cubes += 1;
    if (p->mode == WP_COMPRESS) {
        *volumes += p->refit ? 2 : 1;
        *coefficients += p->refit ? 2 : 0;
    } else if (p->corrections && p->mode != WP_INTERPOLATE) {
        *volumes += 1;
        *coefficients += 1;
    }
}

// Memory of the engine itself: about 62 % of the lattice points have a window (measured; 67 to be
// safe). The CPU keeps a weight each; the GPU, at plan time, also the points (16 bytes, a fifth of
// them idle lanes) and the tiles' sums, which overlap 3.4 times in the part of the grid that is in
// use.
static guint64 engine_bytes(const LithoWavepacketParams *p, const WpSizes *s, gboolean gpu)
{
    const double active = 0.67 * (double)s->lattice;
    double bytes = 4 * active + 8 * (double)s->fine + 6 * (double)s->residual;
    if (gpu)
        bytes += 16 * 1.25 * active + 4 * active + 8 * 0.7 * 3.4 * (double)s->fine +
                 8 * (double)MAX(s->fine, s->batch) + 8 * (double)s->batch +
                 (p->adjoint == WP_GATHER ? 4 * (double)s->lattice : 0);
    return (guint64)bytes;
}

static guint64 count_blocks(const LithoGrid *in, const LithoWavepacketParams *p, const WpSpec *spec,
                            int block)
{
    guint64 blocks = 1;
    for (int a = 0; a < 3; a++)
        blocks *= cuts_of(in, p, spec, block, a).count;
    return blocks;
}

// Memory of compressing behind the last segment, all else being there: of a file that is written
// the kept values as they are and packed, both at most (a gap is a byte or two, packed less than
// one), which a GPU's host has; then the spectrum of the whole cube to compare with, on a GPU its
// powers, too, and cuFFT's work area.
static guint64 after_bytes(const LithoGrid *in, const LithoWavepacketParams *p, const WpSizes *s,
                           guint64 blocks, gboolean gpu)
{
    const guint64 spectrum = (guint64)litho_grid_traces(in) * (in->axis[2].n / 2 + 1);
    const double wanted = p->keep * (double)litho_grid_samples(in);
    const guint64 points = blocks * (guint64)(s->lattice + s->residual);
    const guint64 kept = MIN((guint64)wanted, points);
    const guint64 values = MIN(2 * sizeof(float) * kept, sizeof(float) * blocks * s->floats);
    if (p->mode != WP_COMPRESS)
        return 0;
    return gpu ? (8 + 4 + 8) * spectrum
               : MAX(8 * spectrum, p->coefficients.text[0] ? 2 * (values + kept) : 0);
}

static guint64 memory_with(const LithoGrid *in, const LithoWavepacketParams *p, int block,
                           gboolean gpu, int threads)
{
    const WpSpec spec = spec_of(in, p, block);
    WpSizes s;
    int cubes, volumes, coefficients;
    if (!wp_geometry_sizes(&spec, threads, &s, NULL))
        return 0;
    const gint64 block_samples = spec.n[0] * spec.n[1] * spec.n[2];
    const gint64 samples = litho_grid_samples(in);
    count_arrays(p, block_samples == samples, &cubes, &volumes, &coefficients);
    const gboolean erratic = wp_clean_rule(p, LITHO_CLEAN_BESIDE).above > 0;
    const guint64 clean = erratic ? litho_clean_bytes(samples) : 0;
    return engine_bytes(p, &s, gpu) + clean +
           after_bytes(in, p, &s, count_blocks(in, p, &spec, block), gpu) +
           4 * (guint64)(cubes * samples + volumes * block_samples + coefficients * s.floats);
}

// A cube needs 30 to 40 times its samples' bytes, a long thin volume up to a thousand: the boxes of
// all directions are as fine along the short axes as along the long one. Beyond this, and a size
// that no machine minds, it is cut; where memory holds that, the choice depends on nothing else, so
// that every machine gives the same samples.
enum { MOST_OF_SAMPLES = 128 };
static const guint64 NO_MATTER = 64 << 20;
static const double LITTLE_WORK = 30e6; // coefficients: half a second to denoise on two cores

// Segment sizes, the largest first. The last is for little memory alone: its packets are so short
// that 0.2 to 0.4 dB are lost.
static const int sizes[] = {512, 384, 256, 192, 128, 64};

// Coefficients of all segments, which the time follows; 0 = the volume is no longer than a segment.
static double work_of(const LithoGrid *in, const LithoWavepacketParams *p, int block, int threads)
{
    if (block >= MAX(in->axis[0].n, MAX(in->axis[1].n, in->axis[2].n)))
        return 0;
    const WpSpec spec = spec_of(in, p, block);
    WpSizes s;
    if (!wp_geometry_sizes(&spec, threads, &s, NULL))
        return 0;
    return (double)s.floats * (double)count_blocks(in, p, &spec, block);
}

// Index of the best segment size of a volume that is a waste in one piece: the largest one that
// takes at most a quarter more than the one of least work, or little. -1: one piece takes less than
// twice as much.
static int best_size(const LithoGrid *in, const LithoWavepacketParams *p, int threads)
{
    const double little = LITTLE_WORK / (p->mode == WP_INTERPOLATE ? p->iterations : 1);
    const double whole = work_of(in, p, 0, threads);
    double work[G_N_ELEMENTS(sizes)] = {0}, least = G_MAXDOUBLE;
    for (guint i = 0; i + 1 < G_N_ELEMENTS(sizes); i++) {
        work[i] = work_of(in, p, sizes[i], threads);
        least = work[i] > 0 ? MIN(least, work[i]) : least;
    }
    for (guint i = 0; i + 1 < G_N_ELEMENTS(sizes); i++)
        if (work[i] > 0 && 2 * work[i] < whole && work[i] <= MAX(1.25 * least, little))
            return (int)i;
    return -1;
}

// The segment size asked for; or the whole volume (0), or when that does not fit or is a waste, the
// segments of least work that do. Negative: none do, *need tells of the smallest.
static int choose_block(const LithoGrid *in, const LithoWavepacketParams *p,
                        const WpMachine *machine, guint64 have, int threads, guint64 *need)
{
    const guint64 most = MAX(MOST_OF_SAMPLES * 4 * (guint64)litho_grid_samples(in), NO_MATTER);
    *need = memory_with(in, p, p->block, machine->gpu, threads);
    if (p->block > 0 || *need <= MIN(have, most)) // what is asked for is tried
        return p->block;
    const guint64 whole = *need;
    const int best = whole > most ? best_size(in, p, threads) : -1;
    if (best < 0 && whole <= have)
        return 0;
    for (guint i = MAX(best, 0); i < G_N_ELEMENTS(sizes); i++) {
        if (sizes[i] >= MAX(in->axis[0].n, MAX(in->axis[1].n, in->axis[2].n)))
            continue;
        *need = memory_with(in, p, sizes[i], machine->gpu, threads);
        if (*need <= have)
            return sizes[i];
    }
    if (whole <= have)
        *need = whole;
    return whole <= have ? 0 : -1;
}

// Bytes that a job may take: on the host half of the free memory, as the plan of a run does.
static guint64 budget(const WpMachine *machine, const LithoRun *run)
{
    return machine->available(run) / (machine->gpu ? 1 : 2);
}

// Memory with the coefficients of all segments, which are kept where that is within what a run may
// take and half of what is left; 0 = they are made again each time. What is told before a run and
// what it does are decided here, both.
static guint64 memory_to_keep(const LithoGrid *in, const LithoWavepacketParams *p, int block,
                              const WpMachine *machine, const LithoRun *run, int threads)
{
    const WpSpec spec = spec_of(in, p, block);
    const guint64 blocks = count_blocks(in, p, &spec, block);
    WpSizes s;
    if (wp_reads_file(p) || (block <= 0 && blocks == 1) ||
        !wp_geometry_sizes(&spec, threads, &s, NULL))
        return 0;
    const guint64 one = sizeof(float) * (guint64)s.floats, all = blocks * one;
    const guint64 kept = memory_with(in, p, block, machine->gpu, threads) - one + all;
    return kept + all <= machine->available(run) && kept <= budget(machine, run) ? kept : 0;
}

// Bytes that the coefficients of a file take beside the rest: packed until they are unpacked, which
// is before there is any array of coefficients.
static guint64 file_memory(const LithoGrid *in, const LithoWavepacketParams *p, int block,
                           int threads)
{
    const WpSpec spec = spec_of(in, p, block);
    WpSizes s;
    int cubes, volumes, coefficients;
    if (!wp_reads_file(p) || !wp_geometry_sizes(&spec, threads, &s, NULL))
        return 0;
    guint64 packed, unpacked;
    const guint64 points = count_blocks(in, p, &spec, block) * (guint64)s.floats;
    if (!wp_coefficients_sizes(p->coefficients.text, points, &packed, &unpacked))
        return 0;
    count_arrays(p, FALSE, &cubes, &volumes, &coefficients);
    return unpacked + packed - MIN(packed, 4 * coefficients * (guint64)s.floats);
}

// A region's segments, one after the other, with a few copies of what they cover.
static guint64 region_memory(const LithoGrid *in, const LithoWavepacketParams *p,
                             const WpMachine *machine, LithoBox region, int threads)
{
    const WpSpec spec = spec_of(in, p, p->block);
    WpSizes s;
    int cubes, volumes, coefficients;
    if (!wp_geometry_sizes(&spec, threads, &s, NULL))
        return 0;
    enum { COPIES = 2 }; // in the window's own layout: of the input, of the result
    count_arrays(p, FALSE, &cubes, &volumes, &coefficients);
    const guint64 window = (guint64)litho_box_count(wp_region_segments(in, p, region));
    const guint64 around = (guint64)litho_box_count(wp_region_input(in, p, region)) - window;
    const gboolean erratic = wp_clean_rule(p, LITHO_CLEAN_BESIDE).above > 0;
    const guint64 clean = erratic ? litho_clean_bytes((gint64)(window + around)) : 0;
    return engine_bytes(p, &s, machine->gpu) + clean +
           wp_gains_bytes(in, p, wp_region_input(in, p, region)) +
           4 * ((cubes + COPIES) * window + around * (wp_guesses(p) && !erratic ? 2 : 1) +
                volumes * spec.n[0] * spec.n[1] * spec.n[2] + coefficients * (guint64)s.floats);
}

guint64 wp_job_memory(const LithoGrid *in, const LithoWavepacketParams *p, const WpMachine *machine,
                      LithoBox region, int threads)
{
    guint64 need;
    if (wp_is_regional(p) && litho_box_count(region) < litho_grid_samples(in))
        return region_memory(in, p, machine, region, threads);
    const int block = choose_block(in, p, machine, budget(machine, NULL), threads, &need);
    const guint64 kept = memory_to_keep(in, p, block, machine, NULL, threads);
    // A device has the samples and the spectra of the windows beside their powers. The host's
    // arrays for means of powers are free again when there are coefficients.
    const guint64 file = machine->gpu ? 0 : file_memory(in, p, block, threads);
    const guint64 noise = machine->gpu ? 4 * wp_noise_memory(in, p) : wp_noise_powers_memory(in, p);
    return (kept > 0 ? kept : need) + wp_gains_bytes(in, p, litho_box_full(in)) + file + noise;
}

static int block_that_fits(const LithoGrid *in, const LithoWavepacketParams *p,
                           const WpMachine *machine, LithoRun *run, GError **error)
{
    const double gib = 1 << 30;
    const guint64 have = budget(machine, run);
    const int threads = litho_run_threads(run);
    guint64 need;
    const int block = choose_block(in, p, machine, have, threads, &need);
    if (block < 0)
        litho_refuse(error, LITHO_ERROR_MEMORY,
                     "wave packets of this volume need %.2f GiB of memory %s even in segments, and "
                     "%.2f may be used; cut the volume first",
                     need / gib, machine->gpu ? "on the GPU" : "", have / gib);
    else if (block != p->block && run)
        litho_report_remark(run->report,
                            "wavepacket: the volume is cut into segments of %d samples (block=%d), "
                            "which need %.3g GiB; in one piece it would need %.3g",
                            block, block, need / gib,
                            memory_with(in, p, 0, machine->gpu, threads) / gib);
    return block;
}

WpJob *wp_job_new(const LithoGrid *in, const LithoWavepacketParams *p, const WpMachine *machine,
                  LithoRun *run, GError **error)
{
    const int block = block_that_fits(in, p, machine, run, error);
    if (block < 0)
        return NULL;
    WpJob *job = g_new0(WpJob, 1);
    job->grid = job->survey = *in;
    job->window = litho_box_full(in);
    job->regional = wp_is_regional(p);
    job->segment = block != p->block ? block : 0;
    job->samples = litho_grid_samples(in);
    // Cards share the segments, and each asks its own memory.
    job->keeps =
        machine->gpu || memory_to_keep(in, p, block, machine, run, litho_run_threads(run)) > 0;
    job->spec = spec_of(in, p, block);
    job->level = machine->level;
    // |c| > t has the probability exp(-t^2) for complex noise of deviation 1, and about exp(-t^2/2)
    // for real noise.
    job->real = p->mode == WP_DENOISE ? G_SQRT2 : 1;
    for (int a = 0; a < 3; a++)
        job->n[a] = in->axis[a].n;
    job->geometry = wp_geometry_new_with(
        &job->spec, machine->windows ? machine->windows : wp_fill_windows, run, error);
    if (!job->geometry) {
        wp_job_free(job);
        return NULL;
    }
    wp_cuts(in, p, block, job->cuts);
    make_tapers_of_cuts(job);
    wp_job_list_blocks(job, (int[3]){0, 0, 0},
                       (int[3]){job->cuts[0].count, job->cuts[1].count, job->cuts[2].count});
    job->stats = g_new0(WpBoxStats, job->geometry->n_boxes);
    job->counts = g_new0(double, WP_BINS);
    job->kept = g_new0(guint64, job->geometry->n_boxes);
    const double start = litho_now_ms();
    wp_probes_new(job, run);
    litho_run_time(run, "probes", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    if (!wp_lanes_new(job, p, machine, run, error)) {
        wp_job_free(job);
        return NULL;
    }
    return job;
}

void wp_job_free(WpJob *job)
{
    wp_planes_free(job);
    wp_lanes_free(job);
    wp_probes_free(job);
    wp_forget_noise(job);
    wp_places_forget(job);
    litho_clean_clear(&job->clean);
    litho_gains_clear(&job->gains);
    wp_geometry_free(job->geometry);
    for (int a = 0; a < 3; a++)
        g_free(job->tapers[a]);
    for (guint i = 0; i < G_N_ELEMENTS(job->local_window); i++)
        g_free(job->local_window[i]);
    g_free(job->blocks);
    g_free(job->c);
    g_free(job->block_sigma);
    g_free(job->stats);
    g_free(job->counts);
    g_free(job->kept);
    g_free(job);
}

guint64 wp_job_kept(const WpJob *job)
{
    guint64 sum = 0;
    for (int b = 0; b < job->geometry->n_boxes; b++)
        sum += job->kept[b];
    return sum;
}

// --- forward stage -------------------------------------------------------------------------------

gboolean wp_job_look(WpJob *job, WpLane *lane, int block, const float *c, GError **error)
{
    const WpGeometry *g = job->geometry;
    const WpEngineClass *k = lane->engine->class;
    g_autofree WpBoxStats *stats = g_new0(WpBoxStats, g->n_boxes);
    g_autofree float *scale = g_new(float, g->n_boxes);
    g_autofree WpHistogram *h = g_new0(WpHistogram, 1);
    for (int b = 0; b < g->n_boxes; b++)
        scale[b] = (float)(1 / (g->boxes[b].sigma *
                                (g->boxes[b].kind == WP_RESIDUAL ? job->real : 1)));
    h->scale = scale;
    h->prefix = -1;
    if (!k->stats(lane->engine, c, stats, h, error))
        return FALSE;
    for (int b = 0; b < g->n_boxes; b++) {
        lane->stats[b].energy += stats[b].energy;
        lane->stats[b].peak = MAX(lane->stats[b].peak, stats[b].peak);
    }
    for (int i = 0; i < WP_BINS; i++)
        lane->counts[i] += h->bins[i];
    return job->sigma_late || wp_ask_sigma(job, lane, block, c, error);
}

static gboolean look_at_block(WpJob *job, WpLane *lane, int block, gpointer data, GError **error)
{
    (void)data;
    const float *c = wp_lane_coefficients(job, lane, block, error);
    return c && wp_job_look(job, lane, block, c, error);
}

void wp_job_looked(WpJob *job)
{
    const WpGeometry *g = job->geometry;
    job->peak = 0;
    memset(job->stats, 0, g->n_boxes * sizeof *job->stats);
    memset(job->counts, 0, WP_BINS * sizeof *job->counts);
    for (int k = 0; k < job->n_lanes; k++) {
        const WpLane *lane = &job->lanes[k];
        for (int b = 0; b < g->n_boxes; b++) {
            job->stats[b].energy += lane->stats[b].energy;
            job->stats[b].peak = MAX(job->stats[b].peak, lane->stats[b].peak);
        }
        for (int i = 0; i < WP_BINS; i++)
            job->counts[i] += lane->counts[i];
    }
    for (int b = 0; b < g->n_boxes; b++)
        if (g->boxes[b].kind != WP_COARSE)
            job->peak = MAX(job->peak, job->stats[b].peak / g->boxes[b].sigma);
    job->sigma = -1; // wp_job_sigma()
}

// The input, checked, and guesses in place of its bursts and its missing traces.
static gboolean load(WpJob *job, const LithoWavepacketParams *p, const LithoCube *in, LithoRun *run,
                     GError **error)
{
    const WpEngineClass *k = job->engine->class;
    g_autoptr(LithoCube) guessed = NULL;
    if (!k->load(job->engine, in, job->volume, run, error))
        return FALSE;
    const LithoCube *clean = wp_clean(job, p, in, run, error);
    if (clean == in && !wp_guess(p, in, in->held, job->engine, &guessed, run, error))
        return FALSE;
    clean = guessed ? guessed : clean;
    return clean && (clean == in || k->load(job->engine, clean, job->volume, run, error));
}

// The input, its energy, and that its noise is alike everywhere; nothing of it is looked at yet.
static gboolean begin_looking(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    for (int i = 0; i < job->n_lanes; i++) {
        job->lanes[i].current = -1;
        memset(job->lanes[i].stats, 0, job->geometry->n_boxes * sizeof(WpBoxStats));
        memset(job->lanes[i].counts, 0, WP_BINS * sizeof(double));
    }
    job->lanes_hold_volume = FALSE;
    // Denoising wants it for the report alone, where the level is measured.
    job->sigma_late = job->level && job->n_blocks == 1 &&
                      ((const LithoWavepacketParams *)pass->params)->mode == WP_DENOISE;
    wp_beside_begin(job, pass, run);
    return load(job, pass->params, pass->in, run, error) &&
           job->engine->class->dot(job->engine, job->volume, job->volume, job->samples,
                                   &job->input_energy, error) &&
           wp_places_begin(job, pass, run, error);
}

static gboolean stage_forward(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const WpWork work = {.stage = "forward", .from = job->volume, .each = look_at_block};
    if (!begin_looking(job, pass, run, error) || !wp_lanes_work(job, &work, run, error) ||
        (job->beside && !wp_beside_end(job, error))) {
        wp_beside_drop(job);
        return FALSE;
    }
    wp_job_looked(job);
    job->transformed = TRUE;
    wp_report_spectrum(job, run);
    return TRUE;
}

// Before the first pass: the arrays it cannot do without.
gboolean wp_job_reserve(WpJob *job, GError **error)
{
    return wp_reserve(job->engine, &job->volume, job->samples, error) &&
           wp_reserve(job->engine, &job->result, job->samples, error) &&
           wp_lanes_reserve_coefficients(job, error);
}

// --- a pass -------------------------------------------------------------------------------------

float *wp_mask_new(WpJob *job, const LithoCube *in, double live, double dead, GError **error)
{
    const WpEngineClass *k = job->engine->class;
    const gint64 traces = litho_grid_traces(&job->grid);
    g_autofree float *host = litho_memory_new(traces, sizeof *host, "a mask of traces", error);
    if (!host)
        return NULL;
    for (gint64 t = 0; t < traces; t++)
        host[t] = (float)(in->live[t] ? live : dead);
    float *mask = k->alloc(job->engine, traces, error);
    if (mask && k->upload(job->engine, host, mask, 0, traces, error))
        return mask;
    k->release(job->engine, mask);
    return NULL;
}

gboolean wp_job_apply(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    switch (p->mode) {
    case WP_COMPRESS:
        return wp_compress(job, p, run, error);
    case WP_INTERPOLATE:
        return wp_interpolate(job, pass, run, error);
    case WP_RECONSTRUCT:
        return wp_reconstruct(job, p, run, error);
    default:
        return wp_denoise(job, pass, run, error);
    }
}

gboolean wp_job_forward(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    job->transformed = FALSE;
    return wp_job_reserve(job, error) && stage_forward(job, pass, run, error);
}

// Coefficients that a file holds are not made of the input, which is compared with.
static gboolean take_input(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    if (!wp_reads_file(pass->params))
        return wp_job_forward(job, pass, run, error);
    job->transformed = FALSE;
    return wp_reserve(job->engine, &job->volume, job->samples, error) &&
           wp_reserve(job->engine, &job->result, job->samples, error) &&
           wp_lanes_attach(job, error) && begin_looking(job, pass, run, error);
}

// job->result, and whether it is a known one.
static gboolean make_result(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    // A small difference to the input tells nothing good of a filter's result.
    const gboolean keeps = p->mode == WP_COMPRESS || p->mode == WP_RECONSTRUCT;
    if (job->has_result)
        wp_denoise_report(job, pass, run);
    else if (!wp_job_apply(job, pass, run, error))
        return FALSE;
    if ((keeps && !wp_report_error(job, run, error)) ||
        (p->mode != WP_INTERPOLATE && !wp_bury(job, pass->in, error)) ||
        !wp_leave_alone(job, p, job->as_recorded, run, error))
        return FALSE;
    job->has_result = p->mode == WP_DENOISE && !job->regional;
    return TRUE;
}

static gboolean store_result(WpJob *job, const LithoPass *pass, const WpPlane *plane,
                             GError **error)
{
    if (plane)
        return wp_planes_store(job, pass, plane, error);
    return litho_box_count(pass->out->held) == litho_grid_samples(&job->survey)
               ? job->engine->class->store(job->engine, job->result, pass->out, error)
               : wp_region_store(job, pass, pass->in, error);
}

gboolean wp_job_run_over(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoWavepacketParams *p = pass->params;
    g_autofree char *needs = wp_measure_key(p);
    if (pass->first_stage != G_MAXINT)
        wp_planes_forget(job);
    // With all of the volume at hand the report is of all of it.
    if (job->regional && (pass->measured || !needs) &&
        litho_box_count(pass->region) < litho_grid_samples(&job->survey))
        return wp_region_run(job, pass, run, error);
    wp_job_window(job, litho_box_full(&job->survey));
    const guint64 gains = job->gains.of.gain ? job->gains.stamp : 0;
    gboolean known =
        pass->first_stage > WP_STAGE_FORWARD && job->transformed && job->gains_of == gains;
    gboolean done = FALSE;
    WpPlane plane;
    const gboolean is_plane = wp_planes_wanted(job, pass, run, &plane);
    if (!wp_lanes_begin(job, run, error) ||
        (known && !wp_places_current(job, pass, &known, run, error)))
        return FALSE;
    if (known)
        wp_report_spectrum(job, run); // each pass has a report of its own
    else
        wp_planes_forget(job);
    job->gains_of = gains;
    if ((!known && !take_input(job, pass, run, error)) ||
        (is_plane && !wp_planes_run(job, pass, &plane, run, &done, error)))
        return FALSE;
    if (!done && (!make_result(job, pass, run, error) ||
                  !store_result(job, pass, is_plane ? &plane : NULL, error)))
        return FALSE;
    if (p->mode == WP_INTERPOLATE)
        memset(pass->out->live, 1, litho_grid_traces(&job->grid));
    return wp_lanes_finish(job, run, error);
}
