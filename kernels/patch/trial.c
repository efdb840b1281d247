// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/trial.h"

#include <math.h>
#include <string.h>

#include "kernels/common/select.h"

enum {
    COARSE = 2, // windows over a sample, per axis, while settings are tried,
    DENSE = 4,  // and for the level
    CUBED = 8,  // traces of windows whose taper is cubed for the level (levels.c)
};
// The power that a share of coefficients does not exceed, where there is noise alone, is
// -log(1 - share) times its mean.
#define QUIETER 0.15
#define MIDDLE 0.35
// Means by both shares differ by more where noise keeps to some wavenumbers (6 times and more in
// mixed traces), or where events are everywhere; by 1.01 to 1.2 in white noise of 0 to 20 dB.
#define MOST_UNEVEN 2
// Noise power of a window over that of its piece: 1.3 at most where noise is alike.
#define LOUDER 5
// A piece with more zeros tells nothing.
#define MOST_ZEROS 0.25
// The density of coefficients at a threshold is told by those within this factor of its square.
#define ABOUT 1.3
// Noise that what is kept has in common with the input counts so many times: twice by Stein; with
// 2.3 three of 104 lines of seed 501 lost more than 0.1 dB, with 2 twelve, with 2.6 six.
#define COMMON 2.3

// --- windows -------------------------------------------------------------------------------------

static int window_of(const PatchTrialSize *s)
{
    return s->g.axis[0].length * s->g.axis[1].length * s->g.axis[2].length;
}

static int spectrum_of(const PatchTrialSize *s)
{
    return s->g.axis[0].length * s->g.axis[1].length * s->g.bins;
}

void patch_trial_size_end(PatchTrialSize *s)
{
    for (int a = 0; a < 3; a++)
        g_free(s->taper[a]);
    if (s->forward)
        fftwf_destroy_plan(s->forward);
    if (s->inverse)
        fftwf_destroy_plan(s->inverse);
}

static gboolean size_plan(PatchTrialSize *s)
{
    const LithoPatchAxis *a = s->g.axis;
    float *x = fftwf_alloc_real(window_of(s));
    fftwf_complex *c = fftwf_alloc_complex(spectrum_of(s));
    if (x && c) {
        s->forward =
            fftwf_plan_dft_r2c_3d(a[0].length, a[1].length, a[2].length, x, c, FFTW_ESTIMATE);
        s->inverse =
            fftwf_plan_dft_c2r_3d(a[0].length, a[1].length, a[2].length, c, x, FFTW_ESTIMATE);
    }
    fftwf_free(x);
    fftwf_free(c);
    return s->forward && s->inverse;
}

static LithoPatchParams params_of(const LithoGrid *grid, int along, int samples)
{
    LithoPatchParams p = {.mode = LITHO_PATCH_DENOISE, .window_t = samples};
    const gboolean down = grid->axis[0].n > grid->axis[1].n; // lines go along the inline axis
    p.window_il = down ? along : LITHO_PATCH_WINDOW;
    p.window_xl = down ? LITHO_PATCH_WINDOW : along;
    return p;
}

// `cubes`: with tapers that tell the level.
gboolean patch_trial_size_begin(PatchTrialSize *s, const LithoGrid *grid, int along, int samples,
                                gboolean cubes)
{
    LithoPatchParams p = params_of(grid, along, samples);
    p.overlap = cubes ? DENSE : COARSE;
    *s = (PatchTrialSize){.g = litho_patch_grid_geometry(grid, &p), .length = along, .energy = 1};
    for (int a = 0; a < 3; a++) {
        const LithoPatchAxis axis = s->g.axis[a];
        double energy = 0;
        s->taper[a] = g_new(float, axis.length);
        for (int k = 0; k < axis.length; k++) {
            const double w = axis.length > 1 ? litho_patch_taper(axis, k) : 1;
            s->taper[a][k] = (float)(cubes && a < 2 && axis.length >= CUBED ? w * w * w : w);
            energy += s->taper[a][k] * s->taper[a][k];
        }
        s->energy *= energy;
    }
    return size_plan(s);
}

// --- a piece -------------------------------------------------------------------------------------

// A piece as windows of one size see it.
typedef struct Look {
    const PatchTrialSize *s;
    LithoBox box;
    int first[3], count[3], from[3], n[3]; // windows; samples of all of them
    float *x, *y;                          // these samples, and what is kept of them
    float *window;
    fftwf_complex *spectra, *work; // spectra: [window][inline][crossline][frequency]
    float *own, *all;              // powers over the noise, and means with the neighbours
    float *noise, *times;          // [frequency]; times: the noise of it and of its conjugate
    float *norm[3]; // along the axes, over the windows that cover a sample of the piece
    double *share;  // [window] of the piece's samples, over the length of a window
} Look;

static gsize windows_of(const Look *l)
{
    return (gsize)l->count[0] * l->count[1] * l->count[2];
}

static gsize samples_of(const Look *l)
{
    return (gsize)l->n[0] * l->n[1] * l->n[2];
}

static void look_end(Look *l)
{
    g_free(l->x);
    g_free(l->y);
    g_free(l->own);
    g_free(l->all);
    g_free(l->noise);
    g_free(l->times);
    g_free(l->share);
    for (int a = 0; a < 3; a++)
        g_free(l->norm[a]);
    fftwf_free(l->window);
    fftwf_free(l->spectra);
    fftwf_free(l->work);
}

static void take_samples(Look *l, const LithoCube *column)
{
    const LithoPatchAxis *axis = l->s->g.axis;
    float *to = l->x;
    for (int i = 0; i < l->n[0]; i++)
        for (int j = 0; j < l->n[1]; j++, to += l->n[2]) {
            const int il = litho_patch_mirror(axis[0].n, l->from[0] + i);
            const int xl = litho_patch_mirror(axis[1].n, l->from[1] + j);
            const float *trace = litho_cube_trace(column, il, xl) - column->held.lo[2];
            const gboolean live = litho_cube_is_live(column, il, xl);
            for (int t = 0; t < l->n[2]; t++) {
                const float v = trace[litho_patch_mirror(axis[2].n, l->from[2] + t)];
                to[t] = live && isfinite(v) ? v : 0;
            }
        }
}

// Share of a window's taper on the piece, along an axis, over the windows that cover a sample.
static double share_along(const Look *l, int a, int k)
{
    const LithoPatchAxis axis = l->s->g.axis[a];
    const int lo = (int)l->box.lo[a], hi = (int)l->box.hi[a];
    const int start = axis.length > 1 ? litho_patch_start(axis, k) : k;
    double sum = 0;
    for (int i = MAX(start, lo); i < MIN(start + axis.length, hi); i++) {
        const double w = l->s->taper[a][i - start];
        sum += w * w * l->norm[a][i - lo];
    }
    return sum / axis.length;
}

// First sample of window `w` in x and y.
static gsize begin_of(const Look *l, gsize w)
{
    const LithoPatchAxis *axis = l->s->g.axis;
    const int at[3] = {(int)(w / l->count[2] / l->count[1]), (int)(w / l->count[2] % l->count[1]),
                       (int)(w % l->count[2])};
    gsize begin = 0;
    for (int a = 0; a < 3; a++)
        begin = begin * l->n[a] + (gsize)at[a] * (axis[a].length > 1 ? axis[a].stride : 1);
    return begin;
}

static void transform(Look *l, gsize w)
{
    const PatchTrialSize *s = l->s;
    const LithoPatchAxis *axis = s->g.axis;
    const float *x = l->x + begin_of(l, w);
    float *to = l->window;
    for (int i = 0; i < axis[0].length; i++)
        for (int j = 0; j < axis[1].length; j++, to += axis[2].length) {
            const float *from = x + ((gsize)i * l->n[1] + j) * l->n[2];
            const float by = s->taper[0][i] * s->taper[1][j];
            for (int t = 0; t < axis[2].length; t++)
                to[t] = from[t] * by * s->taper[2][t];
        }
    fftwf_execute_dft_r2c(s->forward, l->window, l->work);
    const gsize n = spectrum_of(s);
    memcpy(l->spectra + w * n, l->work, n * sizeof *l->work);
    for (gsize k = 0; k < n; k++)
        l->own[w * n + k] =
            (l->work[k][0] * l->work[k][0] + l->work[k][1] * l->work[k][1]) / (float)s->energy;
}

// litho_patch_weight(), by the table of tapers.
static float weight_at(const PatchTrialSize *s, int a, int i)
{
    const LithoPatchAxis axis = s->g.axis[a];
    float sum = 0;
    if (axis.length == 1)
        return 1;
    for (int k = litho_patch_first(axis, i); k <= litho_patch_last(axis, i); k++) {
        const float w = s->taper[a][i - litho_patch_start(axis, k)];
        sum += w * w;
    }
    return sum;
}

static gboolean look_begin(Look *l, const PatchTrialSize *s, const PatchTrialPiece *piece)
{
    *l = (Look){.s = s, .box = piece->box};
    for (int a = 0; a < 3; a++) {
        const LithoPatchAxis axis = s->g.axis[a];
        const int lo = (int)l->box.lo[a], hi = (int)l->box.hi[a];
        l->first[a] = axis.length > 1 ? litho_patch_first(axis, lo) : lo;
        const int last = axis.length > 1 ? litho_patch_last(axis, hi - 1) : hi - 1;
        l->count[a] = last - l->first[a] + 1;
        l->from[a] = axis.length > 1 ? litho_patch_start(axis, l->first[a]) : lo;
        l->n[a] = (l->count[a] - 1) * axis.stride + axis.length;
        l->norm[a] = g_new(float, hi - lo);
        for (int i = lo; i < hi; i++)
            l->norm[a][i - lo] = 1 / weight_at(s, a, i);
    }
    const gsize coefficients = windows_of(l) * spectrum_of(s);
    l->x = g_try_new(float, samples_of(l));
    l->y = g_try_new(float, samples_of(l));
    l->own = g_try_new(float, coefficients);
    l->all = g_try_new(float, coefficients);
    l->noise = g_new0(float, s->g.bins);
    l->times = g_new0(float, s->g.bins);
    l->share = g_new(double, windows_of(l));
    l->window = fftwf_alloc_real(window_of(s));
    l->spectra = fftwf_alloc_complex(coefficients);
    l->work = fftwf_alloc_complex(spectrum_of(s));
    if (!l->x || !l->y || !l->own || !l->all || !l->window || !l->spectra || !l->work)
        return FALSE;
    take_samples(l, piece->column);
    for (gsize w = 0; w < windows_of(l); w++) {
        const int at[3] = {(int)(w / l->count[2] / l->count[1]),
                           (int)(w / l->count[2] % l->count[1]), (int)(w % l->count[2])};
        l->share[w] = 1;
        for (int a = 0; a < 3; a++)
            l->share[w] *= share_along(l, a, l->first[a] + at[a]);
        transform(l, w);
    }
    return TRUE;
}

// --- its noise -----------------------------------------------------------------------------------

// Powers at a frequency, by the shares that they do not exceed.
static void tell_noise(PatchTrialPiece *piece, const Look *l, double *quiet, double *middle)
{
    const int bins = l->s->g.bins;
    const gint64 n = (gint64)(windows_of(l) * spectrum_of(l->s) / bins);
    g_autofree float *sorted = g_new(float, n);
    for (int f = 0; f < bins; f++) {
        for (gint64 k = 0; k < n; k++)
            sorted[k] = l->own[k * bins + f];
        piece->noise[f] =
            litho_select_kth(sorted, n, (gint64)(QUIETER * (double)n)) / (float)-log(1 - QUIETER);
        *quiet += piece->noise[f];
        *middle += litho_select_kth(sorted, n, (gint64)(MIDDLE * (double)n)) / -log(1 - MIDDLE);
    }
}

// TRUE where a window is louder than the piece's noise at most frequencies, as events are not: by
// the lower quartile of the frequencies.
static gboolean has_louder(const PatchTrialPiece *piece, const Look *l)
{
    const int bins = l->s->g.bins, n = spectrum_of(l->s) / bins;
    g_autofree float *sorted = g_new(float, n), *ratio = g_new(float, bins);
    for (gsize w = 0; w < windows_of(l); w++) {
        const float *own = l->own + w * n * bins;
        for (int f = 0; f < bins; f++) {
            for (int k = 0; k < n; k++)
                sorted[k] = own[k * bins + f];
            ratio[f] = litho_select_kth(sorted, n, (gint64)(MIDDLE * n)) /
                       fmaxf(piece->noise[f] * (float)-log(1 - MIDDLE), 1e-30f);
        }
        if (litho_select_kth(ratio, bins, bins / 4) > LOUDER)
            return TRUE;
    }
    return FALSE;
}

static gboolean has_zeros(const Look *l)
{
    gsize zeros = 0;
    for (gsize k = 0; k < samples_of(l); k++)
        zeros += l->x[k] == 0;
    return (double)zeros > MOST_ZEROS * (double)samples_of(l);
}

gboolean patch_trial_level(PatchTrialPiece *piece, const PatchTrialSize *s)
{
    Look l;
    double quiet = 0, middle = 0;
    const gboolean ok = look_begin(&l, s, piece);
    piece->bins = s->g.bins;
    piece->noise = g_new0(float, s->g.bins);
    if (ok && !has_zeros(&l)) {
        tell_noise(piece, &l, &quiet, &middle);
        for (int f = 0; f < s->g.bins; f++)
            piece->power +=
                piece->noise[f] * (f == 0 || f == s->g.bins - 1 ? 0.5 : 1) / (s->g.bins - 1);
        piece->varies = has_louder(piece, &l);
        piece->tells = !piece->varies && quiet > 0 && middle <= MOST_UNEVEN * quiet;
    }
    look_end(&l);
    return ok;
}

// Level at frequency f of `bins`.
static float level_at(const PatchTrialPiece *piece, int f, int bins)
{
    const float at = (float)f * (float)(piece->bins - 1) / (float)(bins - 1);
    const int below = MIN((int)at, piece->bins - 2);
    const float share = at - (float)below;
    return fmaxf((1 - share) * piece->noise[below] + share * piece->noise[below + 1], 1e-30f);
}

// --- the error of a setting ----------------------------------------------------------------------

// Means of the powers of a window with their neighbours.
static void add_neighbours(const Look *l, const float *own, float *to)
{
    const LithoPatchAxis *axis = l->s->g.axis;
    const int n0 = axis[0].length, n1 = axis[1].length, bins = l->s->g.bins;
    for (int i = 0; i < n0; i++)
        for (int j = 0; j < n1; j++, to += bins) {
            const float *row = own + (i * n1 + j) * bins;
            const float *rows[4] = {
                own + ((i + n0 - 1) % n0 * n1 + j) * bins, own + ((i + 1) % n0 * n1 + j) * bins,
                own + (i * n1 + (j + n1 - 1) % n1) * bins, own + (i * n1 + (j + 1) % n1) * bins};
            // Beyond the first and the last frequency: the conjugate of the opposite wavenumber.
            const float *opposite = own + ((n0 - i) % n0 * n1 + (n1 - j) % n1) * bins;
            for (int f = 0; f < bins; f++) {
                const float below = f > 0 ? row[f - 1] : opposite[1];
                const float above = f < bins - 1 ? row[f + 1] : opposite[bins - 2];
                to[f] = 0.25f * row[f] + 0.125f * (rows[0][f] + rows[1][f] + rows[2][f] +
                                                   rows[3][f] + below + above);
            }
        }
}

// Powers over the noise as it is known, and their means with the neighbours.
static void weigh(Look *l, const PatchTrialPiece *piece)
{
    const int bins = l->s->g.bins;
    const gsize n = spectrum_of(l->s);
    const float known =
        piece->known > 0 && piece->power > 0 ? (float)(piece->known / piece->power) : 1;
    for (int f = 0; f < bins; f++)
        l->times[f] =
            (f == 0 || f == bins - 1 ? 1.f : 2.f) * (l->noise[f] = level_at(piece, f, bins));
    for (gsize k = 0; k < windows_of(l) * n; k += bins)
        for (int f = 0; f < bins; f++)
            l->own[k + f] /= l->noise[f] * known;
    for (gsize w = 0; w < windows_of(l); w++)
        add_neighbours(l, l->own + w * n, l->all + w * n);
}

// Adds what is kept of window `w` to y.
static void add_window(Look *l, gsize w)
{
    const PatchTrialSize *s = l->s;
    const LithoPatchAxis *axis = s->g.axis;
    fftwf_execute_dft_c2r(s->inverse, l->work, l->window);
    float *y = l->y + begin_of(l, w);
    const float *from = l->window;
    for (int i = 0; i < axis[0].length; i++)
        for (int j = 0; j < axis[1].length; j++, from += axis[2].length) {
            float *to = y + ((gsize)i * l->n[1] + j) * l->n[2];
            const float by = s->taper[0][i] * s->taper[1][j] / (float)window_of(s);
            for (int t = 0; t < axis[2].length; t++)
                to[t] += from[t] * by * s->taper[2][t];
        }
}

// Keeps what the setting keeps of window `w` in l->work. The noise that this has in common with the
// window.
static double keep(Look *l, gsize w, const PatchTrial *by)
{
    const LithoPatchAxis *axis = l->s->g.axis;
    const gsize n = spectrum_of(l->s);
    const int bins = l->s->g.bins, single = by->rule == LITHO_PATCH_SINGLE;
    // An axis of one trace is its own neighbour.
    const int alone = (axis[0].length == 1) + (axis[1].length == 1);
    const float limit = (float)(by->threshold * by->threshold), about = (float)ABOUT;
    const float decides = (single ? 1 : 0.25f * (float)(1 + alone)) / (limit * (about - 1 / about));
    const float *own = l->own + w * n, *judged = (single ? l->own : l->all) + w * n;
    const fftwf_complex *from = l->spectra + w * n;
    const float *times = l->times;
    double common = 0;
    for (gsize k = 0; k < n; k += bins)
        for (int f = 0; f < bins; f++) {
            const float power = judged[k + f], stays = power >= limit;
            const float close = power > limit / about && power < limit * about;
            l->work[k + f][0] = from[k + f][0] * stays;
            l->work[k + f][1] = from[k + f][1] * stays;
            if (stays + close > 0)
                common += times[f] * (stays + close * own[k + f] * decides);
        }
    return common * l->share[w];
}

// Energy of what is removed of the piece.
static double removed(const Look *l)
{
    const LithoBox box = l->box;
    const gint64 nt = litho_box_size(box, 2);
    double sum = 0;
    for (gint64 i = 0; i < litho_box_size(box, 0); i++)
        for (gint64 j = 0; j < litho_box_size(box, 1); j++) {
            const gsize begin =
                ((i + box.lo[0] - l->from[0]) * l->n[1] + j + box.lo[1] - l->from[1]) * l->n[2] +
                box.lo[2] - l->from[2];
            const float *x = l->x + begin, *y = l->y + begin, by = l->norm[0][i] * l->norm[1][j];
            float row = 0;
            for (gint64 t = 0; t < nt; t++) {
                const float d = x[t] - y[t] * by * l->norm[2][t];
                row += d * d;
            }
            sum += row;
        }
    return sum;
}

// Expected squared error in units of the noise.
static double error_of(Look *l, const PatchTrial *by)
{
    const int bins = l->s->g.bins;
    double common = 0, noise = 0;
    memset(l->y, 0, samples_of(l) * sizeof *l->y);
    for (gsize w = 0; w < windows_of(l); w++) {
        common += keep(l, w, by);
        add_window(l, w);
    }
    for (int f = 0; f < bins; f++)
        noise += l->times[f] / (2.0 * (bins - 1));
    noise *= (double)litho_box_count(l->box);
    return (removed(l) + COMMON * common - noise) / noise;
}

gboolean patch_trial_errors(const PatchTrialSize *s, const PatchTrialPiece *piece,
                            const PatchTrial *trials, int n, double *error)
{
    Look l;
    const gboolean ok = look_begin(&l, s, piece);
    if (ok)
        weigh(&l, piece);
    for (int k = 0; ok && k < n; k++)
        error[k] = error_of(&l, &trials[k]);
    look_end(&l);
    return ok;
}
