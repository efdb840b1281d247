// SPDX-License-Identifier: GPL-3.0-or-later
//
// The CPU engine's operations on arrays. They go in fixed pieces and sums in the pieces' order, so
// that no result depends on the number of threads, none waits for another's large box, and a cancel
// is seen soon.
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "kernels/wavepacket/cpu/wavepacket.h"
#include "kernels/common/places.h"

enum {
    PIECE = 1 << 16, // floats at a time, and per partial sum
    ROOM = 1 << 21,  // floats cleared at a time
};

static int threads_of(WpEngine *engine)
{
    WpCpu *cpu = (WpCpu *)engine;
    return cpu->threads > 0 ? cpu->threads : litho_run_threads(NULL);
}

// FALSE: the pass under way is given up, and the array written meanwhile is of no use.
static gboolean goes_on(WpEngine *engine, GError **error)
{
    return litho_run_checkpoint(((WpCpu *)engine)->run) || litho_run_stopped(error);
}

// Floats of an array that may be one of coefficients.
static gint64 count(const WpEngine *engine, gint64 n)
{
    return n == WP_COEFFICIENTS ? engine->geometry->floats : n;
}

static float *cpu_alloc(WpEngine *engine, gint64 floats, GError **error)
{
    floats = count(engine, floats);
    float *p = fftwf_malloc(MAX(floats, 16) * sizeof *p);
    if (!p) {
        litho_refuse(error, LITHO_ERROR_MEMORY,
                     "no memory for %.2f GiB of wave-packet data; a smaller `block` needs less",
                     floats * 4.0 / (1 << 30));
        return NULL;
    }
    // The system hands out the memory as it is touched: seconds for some gigabytes.
    for (gint64 at = 0; at < MAX(floats, 16); at += ROOM) {
        if (!goes_on(engine, error)) {
            fftwf_free(p);
            return NULL;
        }
        memset(p + at, 0, MIN(ROOM, MAX(floats, 16) - at) * sizeof *p);
    }
    return p;
}

static void cpu_release(WpEngine *engine, float *array)
{
    (void)engine;
    fftwf_free(array);
}

static gboolean cpu_download(WpEngine *engine, const float *array, gint64 at, float *to, gint64 n,
                             GError **error)
{
    (void)engine;
    (void)error;
    memcpy(to, array + at, n * sizeof *to);
    return TRUE;
}

static gboolean cpu_fetch(WpEngine *engine, const float *array, const WpPiece *pieces, int n,
                          float *to, GError **error)
{
    (void)engine;
    (void)error;
    for (int i = 0; i < n; to += pieces[i++].n)
        memcpy(to, array + pieces[i].at, pieces[i].n * sizeof *to);
    return TRUE;
}

static gboolean cpu_upload(WpEngine *engine, const float *from, float *array, gint64 at, gint64 n,
                           GError **error)
{
    (void)engine;
    (void)error;
    memcpy(array + at, from, n * sizeof *from);
    return TRUE;
}

static gboolean cpu_ready(WpEngine *engine, GError **error)
{
    (void)engine;
    (void)error;
    return TRUE;
}

// --- coefficients --------------------------------------------------------------------------------

// Floats from .. from+n-1 of a box.
typedef struct BoxPiece {
    const WpBox *box;
    int number; // of the box
    gint64 from, n;
} BoxPiece;

// All boxes in pieces, one behind the other; g_free().
static BoxPiece *cut_boxes(const WpGeometry *g, gint64 *count)
{
    BoxPiece *pieces = g_new(BoxPiece, g->floats / PIECE + g->n_boxes + 1);
    *count = 0;
    for (int b = 0; b < g->n_boxes; b++)
        for (gint64 from = 0; from < g->boxes[b].floats; from += PIECE)
            pieces[(*count)++] =
                (BoxPiece){&g->boxes[b], b, from, MIN(PIECE, g->boxes[b].floats - from)};
    return pieces;
}

static int step_of(const BoxPiece *p)
{
    return p->box->kind == WP_RESIDUAL ? 1 : 2;
}

// Factor on a coefficient of magnitude^2 m2.
static inline float keep_factor(float m2, float level, gboolean soft)
{
    if (level <= 0)
        return 1;
    if (m2 < level * level)
        return 0;
    return soft ? 1 - level / sqrtf(m2) : 1;
}

// Counts what stays and is not zero, however small its square.
static guint64 shrink_piece(const BoxPiece *p, const float *key, const float *x, float *out,
                            const WpRule *rule)
{
    guint64 kept = 0;
    const int step = step_of(p);
    const float level = rule->level[p->number];
    for (gint64 i = 0; i < p->n; i += step) {
        const float re = key[i], im = step == 2 ? key[i + 1] : 0;
        const float f = keep_factor(re * re + im * im, level, rule->soft);
        const float left = rule->drops ? 1 - f : f;
        kept += f != 0 && (re != 0 || im != 0);
        out[i] = left * x[i];
        if (step == 2)
            out[i + 1] = left * x[i + 1];
    }
    return kept;
}

static gboolean cpu_shrink(WpEngine *engine, const float *key, const float *x, float *out,
                           const WpRule *rule, guint64 *kept, GError **error)
{
    const LithoRun *run = ((WpCpu *)engine)->run;
    const WpGeometry *g = engine->geometry;
    gint64 n;
    g_autofree BoxPiece *pieces = cut_boxes(g, &n);
#pragma omp parallel for schedule(dynamic) num_threads(threads_of(engine))
    for (gint64 i = 0; i < n; i++) {
        const BoxPiece *p = &pieces[i];
        const gint64 at = p->box->at + p->from;
        if (!litho_run_checkpoint(run) || (rule->local && p->box->kind == WP_RESIDUAL))
            continue;
        const guint64 count = shrink_piece(p, key + at, x + at, out + at, rule);
        if (kept) {
#pragma omp atomic
            kept[p->number] += count;
        }
    }
    const WpBox *residual = rule->local ? wp_residual(g) : NULL;
    guint64 count = 0;
    if (residual && !wp_cpu_local(residual, x + residual->at, out + residual->at, rule,
                                  threads_of(engine), run, &count, error))
        return FALSE;
    if (residual && kept)
        kept[g->n_boxes - 1] += count;
    return goes_on(engine, error);
}

// Magnitude of a complex coefficient, also where its square is no float.
static inline float magnitude(float re, float im)
{
    const float m2 = re * re + im * im;
    return m2 > 1e-30f && m2 < 1e30f ? sqrtf(m2) : hypotf(re, im);
}

static void bin_piece(const BoxPiece *p, const float *c, float scale, int prefix, guint32 *bins)
{
    const int step = step_of(p);
    for (gint64 i = 0; i < p->n; i += step) {
        const float m = scale * (step == 2 ? magnitude(c[i], c[i + 1]) : fabsf(c[i]));
        guint32 bits;
        memcpy(&bits, &m, sizeof bits);
        if (bits == 0)
            continue;
        if (prefix < 0)
            bins[bits >> 16]++;
        else if ((int)(bits >> 16) == prefix)
            bins[(bits & 0xffff) >> 1]++;
    }
}

static gboolean cpu_histogram(WpEngine *engine, const float *c, WpHistogram *h, GError **error)
{
    const LithoRun *run = ((WpCpu *)engine)->run;
    gint64 n;
    g_autofree BoxPiece *pieces = cut_boxes(engine->geometry, &n);
    memset(h->bins, 0, sizeof h->bins);
#pragma omp parallel num_threads(threads_of(engine))
    {
        guint32 *bins = g_new0(guint32, WP_BINS);
#pragma omp for schedule(dynamic)
        for (gint64 i = 0; i < n; i++) {
            const BoxPiece *p = &pieces[i];
            if (h->scale[p->number] > 0 && litho_run_checkpoint(run))
                bin_piece(p, c + p->box->at + p->from, h->scale[p->number], h->prefix, bins);
        }
#pragma omp critical
        for (int i = 0; i < WP_BINS; i++)
            h->bins[i] += bins[i];
        g_free(bins);
    }
    return goes_on(engine, error);
}

static WpBoxStats stats_of(const BoxPiece *p, const float *v)
{
    const int step = step_of(p);
    WpBoxStats s = {0};
    for (gint64 i = 0; i < p->n; i += step) {
        const double m2 = (double)v[i] * v[i] + (step == 2 ? (double)v[i + 1] * v[i + 1] : 0);
        s.energy += m2;
        s.peak = MAX(s.peak, m2);
    }
    s.peak = sqrt(s.peak);
    return s;
}

static gboolean cpu_stats(WpEngine *engine, const float *c, WpBoxStats *per_box, WpHistogram *h,
                          GError **error)
{
    const LithoRun *run = ((WpCpu *)engine)->run;
    const WpGeometry *g = engine->geometry;
    gint64 n;
    g_autofree BoxPiece *pieces = cut_boxes(g, &n);
    g_autofree WpBoxStats *of_piece = g_new0(WpBoxStats, n);
#pragma omp parallel for schedule(dynamic) num_threads(threads_of(engine))
    for (gint64 i = 0; i < n; i++)
        if (litho_run_checkpoint(run))
            of_piece[i] = stats_of(&pieces[i], c + pieces[i].box->at + pieces[i].from);
    memset(per_box, 0, g->n_boxes * sizeof *per_box);
    for (gint64 i = 0; i < n; i++) {
        WpBoxStats *to = &per_box[pieces[i].number];
        to->energy += of_piece[i].energy;
        to->peak = MAX(to->peak, of_piece[i].peak);
    }
    return goes_on(engine, error) && (!h || cpu_histogram(engine, c, h, error));
}

// --- volumes, and arrays as a whole --------------------------------------------------------------

static void blend_floats(float a, const float *x, float b, float *y, gint64 n)
{
    for (gint64 i = 0; i < n; i++)
        y[i] = a * x[i] + (b == 0 ? 0 : b * y[i]);
}

static gboolean cpu_blend(WpEngine *engine, double a, const float *x, double b, float *y, gint64 n,
                          GError **error)
{
    const LithoRun *run = ((WpCpu *)engine)->run;
    const float fa = (float)a, fb = (float)b;
    n = count(engine, n);
#pragma omp parallel for num_threads(threads_of(engine))
    for (gint64 at = 0; at < n; at += PIECE)
        if (litho_run_checkpoint(run))
            blend_floats(fa, x + at, fb, y + at, MIN(PIECE, n - at));
    return goes_on(engine, error);
}

static double dot_floats(const float *x, const float *y, gint64 n)
{
    double sum = 0;
    for (gint64 i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    return sum;
}

static gboolean cpu_dot(WpEngine *engine, const float *x, const float *y, gint64 n, double *result,
                        GError **error)
{
    const LithoRun *run = ((WpCpu *)engine)->run;
    n = count(engine, n);
    const gint64 pieces = (n + PIECE - 1) / PIECE;
    g_autofree double *part = g_new0(double, pieces);
#pragma omp parallel for num_threads(threads_of(engine))
    for (gint64 p = 0; p < pieces; p++) {
        if (litho_run_checkpoint(run))
            part[p] = dot_floats(x + p * PIECE, y + p * PIECE, MIN(PIECE, n - p * PIECE));
    }
    *result = 0;
    for (gint64 p = 0; p < pieces; p++)
        *result += part[p];
    return goes_on(engine, error);
}

static gboolean cpu_distance(WpEngine *engine, const float *x, const float *y, const float *m,
                             gint64 traces, gint64 n3, double *result, GError **error)
{
    (void)error;
    g_autofree double *part = g_new0(double, traces);
#pragma omp parallel for num_threads(threads_of(engine))
    for (gint64 t = 0; t < traces; t++) {
        double sum = 0;
        for (gint64 i = t * n3; i < (t + 1) * n3; i++) {
            const float d = x[i] - y[i];
            sum += (double)d * d;
        }
        part[t] = (m ? m[t] : 1) * sum;
    }
    *result = 0;
    for (gint64 t = 0; t < traces; t++)
        *result += part[t];
    return TRUE;
}

static gboolean cpu_insert(WpEngine *engine, const float *x, const float *m, float *y,
                           gint64 traces, gint64 n3, GError **error)
{
    (void)error;
#pragma omp parallel for num_threads(threads_of(engine))
    for (gint64 t = 0; t < traces; t++)
        for (gint64 i = t * n3; i < (t + 1) * n3; i++)
            y[i] = y[i] * (1 - m[t]) + (x ? m[t] * x[i] : 0);
    return TRUE;
}

static gboolean cpu_scale(WpEngine *engine, const LithoNoiseMap *map, gboolean over,
                          const gint64 at[3], const gint64 n[3], float *volume, GError **error)
{
    const float *knots = map->at;
    const WpPlaces p = {.n = {map->n[0], map->n[1], map->n[2]},
                        .at = {knots, knots + map->n[0], knots + map->n[0] + map->n[1]},
                        .level = map->level};
    g_autofree float *columns = g_new(float, (gsize)threads_of(engine) * p.n[2]);
#pragma omp parallel for num_threads(threads_of(engine))
    for (gint64 t = 0; t < n[0] * n[1]; t++) {
        int k[3] = {0};
        float share[3] = {0};
        k[0] = wp_place(p.at[0], p.n[0], (float)(at[0] + t / n[1]), &share[0]);
        k[1] = wp_place(p.at[1], p.n[1], (float)(at[1] + t % n[1]), &share[1]);
        float *column = columns + (gsize)omp_get_thread_num() * p.n[2];
        for (k[2] = 0; k[2] < p.n[2]; k[2]++)
            column[k[2]] = wp_place_level(&p, k, share);
        for (gint64 i = 0; i < n[2]; i++) {
            k[2] = wp_place(p.at[2], p.n[2], (float)(at[2] + i), &share[2]);
            const float *level = column + k[2];
            const float own = share[2] != 0 ? level[0] + share[2] * (level[1] - level[0]) : *level;
            volume[t * n[2] + i] *= expf(over ? -own : own);
        }
    }
    return goes_on(engine, error);
}

// The coefficients' places on a box's lattice.
static void weigh_box(const WpBox *box, const WpPlaces *places, const WpPlacesBox *own,
                      const WpPlacesVolume *volume, gboolean over, gint64 row, float *c)
{
    const int step = box->kind == WP_RESIDUAL ? 1 : 2;
    int p[3] = {(int)(row / box->n[1]), (int)(row % box->n[1]), 0};
    float *to = c + box->at + row * box->n[2] * step, factor = 1;
    for (p[2] = 0; p[2] < box->n[2]; p[2]++) {
        if (p[2] % WP_PLACES_ALIKE == 0) {
            const float level = wp_places_factor(places, own, volume, p);
            factor = expf(over ? -level : level);
        }
        for (int k = 0; k < step; k++)
            to[p[2] * step + k] *= factor;
    }
}

static gboolean cpu_weigh(WpEngine *engine, const WpPlacesLevels *levels, gboolean over, float *c,
                          GError **error)
{
    const WpGeometry *g = engine->geometry;
    const LithoNoiseMap *map = levels->map;
    const gsize cells = (gsize)map->n[0] * map->n[1] * map->n[2];
    const WpPlacesVolume volume = wp_places_volume(g, levels->at);
    const float *knots = map->at;
#pragma omp parallel num_threads(threads_of(engine))
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        const WpPlacesBox own = wp_places_box(box);
        const WpPlaces places = {.n = {map->n[0], map->n[1], map->n[2]},
                                 .at = {knots, knots + map->n[0], knots + map->n[0] + map->n[1]},
                                 .level = levels->level + b * cells};
#pragma omp for nowait
        for (gint64 row = 0; row < (gint64)box->n[0] * box->n[1]; row++)
            weigh_box(box, &places, &own, &volume, over, row, c);
    }
    return goes_on(engine, error);
}

static float taper_at(const WpBlock *block, int axis, gint64 i)
{
    return block->taper[axis] ? block->taper[axis][i] : 1;
}

// Sample of the volume that sample i of a block along an axis is, or mirrors; -1 = none.
static gint64 source(const WpBlock *b, int axis, gint64 i, gint64 n)
{
    const gint64 at = b->at[axis] + i;
    if (at < -b->mirror || at >= n + b->mirror)
        return -1;
    return at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
}

static gboolean cpu_cut(WpEngine *engine, const float *volume, const gint64 n[3], const WpBlock *b,
                        float *u, GError **error)
{
    (void)error;
    const gint64 *m = engine->geometry->n;
#pragma omp parallel for num_threads(threads_of(engine))
    for (gint64 i = 0; i < m[0]; i++)
        for (gint64 j = 0; j < m[1]; j++) {
            const gint64 p = source(b, 0, i, n[0]), q = source(b, 1, j, n[1]);
            float *to = u + (i * m[1] + j) * m[2];
            if (p < 0 || q < 0) {
                memset(to, 0, m[2] * sizeof *to);
                continue;
            }
            const float *from = volume + (p * n[1] + q) * n[2];
            const float s = taper_at(b, 0, i) * taper_at(b, 1, j);
            for (gint64 k = 0; k < m[2]; k++) {
                const gint64 r = source(b, 2, k, n[2]);
                to[k] = r < 0 ? 0 : s * taper_at(b, 2, k) * from[r];
            }
        }
    return TRUE;
}

// Samples lo .. hi - 1 of the block lie in the volume.
static void inside(const WpEngine *engine, const WpBlock *b, const gint64 n[3], gint64 lo[3],
                   gint64 hi[3])
{
    for (int a = 0; a < 3; a++) {
        lo[a] = MAX(-b->at[a], 0);
        hi[a] = MIN(engine->geometry->n[a], n[a] - b->at[a]);
    }
}

static gboolean cpu_paste(WpEngine *engine, const float *u, const WpBlock *b, float *volume,
                          const gint64 n[3], GError **error)
{
    (void)error;
    const gint64 *m = engine->geometry->n;
    gint64 lo[3], hi[3];
    inside(engine, b, n, lo, hi);
#pragma omp parallel for num_threads(threads_of(engine))
    for (gint64 i = lo[0]; i < hi[0]; i++)
        for (gint64 j = lo[1]; j < hi[1]; j++) {
            float *to = volume + ((b->at[0] + i) * n[1] + b->at[1] + j) * n[2] + b->at[2];
            const float *from = u + (i * m[1] + j) * m[2];
            const float s = taper_at(b, 0, i) * taper_at(b, 1, j);
            for (gint64 k = lo[2]; k < hi[2]; k++)
                to[k] += s * taper_at(b, 2, k) * from[k];
        }
    return TRUE;
}

static gboolean cpu_load(WpEngine *engine, const LithoCube *cube, float *volume, LithoRun *run,
                         GError **error)
{
    (void)run;
    const float *samples = litho_cube_host(cube, error);
    const gint64 n3 = cube->grid.axis[2].n, traces = litho_grid_traces(&cube->grid);
    gint64 bad = 0;
    if (!samples)
        return FALSE;
#pragma omp parallel for num_threads(threads_of(engine)) reduction(+ : bad)
    for (gint64 t = 0; t < traces; t++) {
        if (!cube->live[t]) {
            memset(volume + t * n3, 0, n3 * sizeof *volume);
            continue;
        }
        for (gint64 k = 0; k < n3; k++)
            bad += !isfinite(samples[t * n3 + k]);
        memcpy(volume + t * n3, samples + t * n3, n3 * sizeof *volume);
    }
    if (bad)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_NUMERICS,
                    _("live traces hold samples that are not finite numbers (%" PRId64
                      "); mark these "
                      "traces as missing first"),
                    bad);
    return bad == 0;
}

static gboolean cpu_store(WpEngine *engine, const float *volume, LithoCube *cube, GError **error)
{
    (void)engine;
    (void)error;
    memcpy(cube->samples, volume, litho_box_count(cube->held) * sizeof *volume);
    return TRUE;
}

static LithoCube *cpu_new_cube(WpEngine *engine, const LithoGrid *grid, GError **error)
{
    (void)engine;
    return litho_cube_new(grid, error);
}

static gboolean cpu_begin(WpEngine *engine, LithoRun *run, GError **error)
{
    (void)error;
    ((WpCpu *)engine)->threads = litho_run_threads(run);
    ((WpCpu *)engine)->run = run;
    return TRUE;
}

static gboolean cpu_finish(WpEngine *engine, LithoRun *run, GError **error)
{
    (void)run;
    (void)error;
    ((WpCpu *)engine)->run = NULL;
    return TRUE;
}

static guint64 cpu_available(WpEngine *engine)
{
    (void)engine;
    return litho_memory_available();
}

const WpEngineClass wp_cpu_arrays = {
    .begin = cpu_begin,
    .finish = cpu_finish,
    .attach = cpu_ready,
    .wait = cpu_ready,
    .available = cpu_available,
    .new_cube = cpu_new_cube,
    .fourier = wp_cpu_fourier,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .download = cpu_download,
    .upload = cpu_upload,
    .fetch = cpu_fetch,
    .shrink = cpu_shrink,
    .histogram = cpu_histogram,
    .stats = cpu_stats,
    .blend = cpu_blend,
    .dot = cpu_dot,
    .distance = cpu_distance,
    .insert = cpu_insert,
    .scale = cpu_scale,
    .weigh = cpu_weigh,
    .cut = cpu_cut,
    .paste = cpu_paste,
    .load = cpu_load,
    .store = cpu_store,
};
