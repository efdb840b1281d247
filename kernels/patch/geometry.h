// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>
#include <stdbool.h>

// Parameters and geometry of the local Fourier filter. Plain C without GLib, so that CUDA code
// includes it too. Pure functions, any thread.
//
// Both backends compute the following, in this order (docs/patch.md gives the reasons):
//   1. Along every axis of n samples the window has L samples: the length asked for, or the largest
//      even number within n; one where n is one. Window k begins at k S - L / 2, S = L / overlap,
//      for k = 0 .. count - 1, until the last centre has passed the axis: places are anchored to
//      the survey, whatever region is asked for. Samples beyond the faces are mirrored (the first
//      sample stands at -1 too). The count along time is even: windows 2m and 2m + 1 are
//      transformed as real and imaginary part of one.
//   2. Traces that are not live, samples that are not finite and erratic pieces (erratic.h) read as
//      zero. `share` of a column
//      (all windows at one place of the inline and crossline axes) is the share of its taper's
//      energy on live traces; a column with none gives zeros.
//   3. A window times its taper w, sin(pi (i + 1/2) / L) along each axis, is transformed. `noise`
//      at frequency f is sigma(f) sqrt(share sum w^2), sigma interpolated between the cells of the
//      level's grid at the window's centre.
//      Noise of migrated or mixed data does not come to all wavenumbers alike: its power at one of
//      them is `shape` times sigma^2 (floor.h), else `shape` is 1.
//   4. Coefficients below threshold * noise become zero (rule `single`); with the rule `energy`,
//      coefficients whose mean energy with their six neighbours (weight 1, neighbours 1/2 each)
//      in units of noise^2 is below the threshold's square.
//   5. Transformed back, times w / share. Windows of a column are added in ascending order, columns
//      then in ascending order of inline and crossline place, and the sum is divided by the sum of
//      w^2 over all windows there.
//   6. Events that leave at faults come back (faults.h).
//   7. Recorded traces that stand alone (alone.h) take the input's samples.

enum { LITHO_PATCH_DENOISE, LITHO_PATCH_FILL, LITHO_PATCH_BOTH };
enum { LITHO_PATCH_AUTOMATIC, LITHO_PATCH_SINGLE, LITHO_PATCH_ENERGY };
enum { LITHO_PATCH_LOCAL, LITHO_PATCH_WHOLE };
enum { LITHO_PATCH_BALANCE_AUTO, LITHO_PATCH_BALANCE_OFF };
enum { LITHO_PATCH_SWELL_AUTO, LITHO_PATCH_SWELL_OFF };
enum { LITHO_PATCH_STAGE_PLAN, LITHO_PATCH_STAGE_LEVEL, LITHO_PATCH_STAGE_FILTER };
enum {
    LITHO_PATCH_MAX_WINDOW = 64,
    LITHO_PATCH_WINDOW = 16, // the window where it is automatic,
    LITHO_PATCH_WIDE = 24,   // and where events are plane enough (choice.h)
    LITHO_PATCH_DENSEST = 4, // windows are longer along time by this at most (choice.h)
};

#define LITHO_PATCH_FLOOR 0.003

typedef struct LithoPatchParams {
    int mode;         // LITHO_PATCH_DENOISE, ...
    double threshold; // in standard deviations of the noise; 0 = by the window's size, or what
                      // choice_lines.h finds
    int rule;         // LITHO_PATCH_AUTOMATIC: single, or what choice.h finds
    int window;       // samples of all three axes; 0 = LITHO_PATCH_WINDOW, or what choice.h finds
    double sigma;     // of white noise; 0 = measured per frequency
    int level;        // LITHO_PATCH_LOCAL: sigma varies with place and time, ...WHOLE: one of all
    double erratic;   // amplitudes above this many times the neighbours' are bursts; 0 = none are
    int iterations;   // of filling
    double floor;     // last threshold of filling, as a share of the largest coefficient; 0 =
                      // LITHO_PATCH_FLOOR, or less where the survey has faint places (choice_fill.h)
    int window_il, window_xl,
        window_t; // 0 = window, or what choice_lines.h or choice_dense.h finds
    int overlap;                        // windows over a sample, per axis
    int balance;                        // LITHO_PATCH_BALANCE_AUTO, ...
    int steady;                         // 0: steady noise is taken off before (core/qc_steady.h)
    int swell;                          // LITHO_PATCH_SWELL_AUTO, ... (swell.h)
    bool faults;                        // put back what leaves at faults (faults.h)
} LithoPatchParams;

#ifdef __CUDACC__
#define LITHO_PATCH_FN static __host__ __device__ __forceinline__
#else
#define LITHO_PATCH_FN static inline __attribute__((unused))
#endif

// Windows along one axis.
typedef struct LithoPatchAxis {
    int n;      // samples or traces
    int length; // L
    int stride; // S
    int count;  // windows
} LithoPatchAxis;

LITHO_PATCH_FN LithoPatchAxis litho_patch_axis(int n, int length, int overlap)
{
    LithoPatchAxis a;
    a.n = n;
    a.length = n < length ? n : length;
    a.length = a.length > 1 ? a.length / 2 * 2 : 1;
    a.stride = a.length / overlap > 1 ? a.length / overlap : 1;
    a.count = a.length > 1 ? (n + a.stride - 1) / a.stride + 1 : n;
    return a;
}

LITHO_PATCH_FN int litho_patch_start(LithoPatchAxis a, int k)
{
    return k * a.stride - a.length / 2;
}

// First and last window that hold position i.
LITHO_PATCH_FN int litho_patch_first(LithoPatchAxis a, int i)
{
    const int beyond = i + a.length / 2 - a.length; // k S > beyond
    return beyond < 0 ? 0 : beyond / a.stride + 1;
}

LITHO_PATCH_FN int litho_patch_last(LithoPatchAxis a, int i)
{
    const int k = (i + a.length / 2) / a.stride;
    return k < a.count ? k : a.count - 1;
}

// Position on the axis that stands for i, which may lie beyond the faces.
LITHO_PATCH_FN int litho_patch_mirror(int n, int i)
{
    if (i >= 0 && i < n)
        return i;
    i %= 2 * n;
    i = i < 0 ? i + 2 * n : i;
    return i < n ? i : 2 * n - 1 - i;
}

LITHO_PATCH_FN double litho_patch_taper(LithoPatchAxis a, int i)
{
    return sin(3.14159265358979323846 * (i + 0.5) / a.length);
}

// Sum of w^2 along the axis over the windows that hold position i.
LITHO_PATCH_FN double litho_patch_weight(LithoPatchAxis a, int i)
{
    double sum = 0;
    for (int k = litho_patch_first(a, i); k <= litho_patch_last(a, i); k++) {
        const double w = litho_patch_taper(a, i - litho_patch_start(a, k));
        sum += w * w;
    }
    return sum;
}

// Everything the filter derives from a grid's size and the parameters.
typedef struct LithoPatchGeometry {
    LithoPatchAxis axis[3]; // inline, crossline, time
    int bins;               // frequencies of a window: length / 2 + 1
    double energy;          // sum of w^2 over a window
} LithoPatchGeometry;

LITHO_PATCH_FN int litho_patch_window_length(const LithoPatchParams *p, int axis)
{
    const int own = axis == 0 ? p->window_il : axis == 1 ? p->window_xl : p->window_t;
    return own > 0 ? own : p->window > 0 ? p->window : LITHO_PATCH_WINDOW;
}

// Samples along time of automatic windows of `traces`, where samples are `dense` times as close
// together as the survey's frequencies need.
LITHO_PATCH_FN int litho_patch_dense_length(int traces, int dense)
{
    const int length = traces * dense;
    return length < LITHO_PATCH_MAX_WINDOW ? length : LITHO_PATCH_MAX_WINDOW;
}

// By what factor windows of these lengths are such; 1 = they are not.
LITHO_PATCH_FN int litho_patch_dense_of(const int window[3])
{
    const int n = window[0];
    if (window[1] != n || (n != LITHO_PATCH_WINDOW && n != LITHO_PATCH_WIDE))
        return 1;
    for (int dense = 2; dense <= LITHO_PATCH_DENSEST; dense *= 2)
        if (window[2] == litho_patch_dense_length(n, dense))
            return dense;
    return 1;
}

// TRUE where no length of the windows is given.
LITHO_PATCH_FN bool litho_patch_is_automatic(const LithoPatchParams *p)
{
    return p->window == 0 && p->window_il == 0 && p->window_xl == 0 && p->window_t == 0;
}

LITHO_PATCH_FN LithoPatchGeometry litho_patch_geometry(const int n[3], const LithoPatchParams *p)
{
    LithoPatchGeometry g;
    g.energy = 1;
    for (int a = 0; a < 3; a++) {
        g.axis[a] = litho_patch_axis(n[a], litho_patch_window_length(p, a), p->overlap);
        g.energy *= g.axis[a].length > 1 ? 0.5 * g.axis[a].length : 1;
    }
    g.axis[2].count += g.axis[2].count % 2;
    g.bins = g.axis[2].length / 2 + 1;
    return g;
}

// The threshold in use: larger windows gather an event in fewer, larger coefficients.
LITHO_PATCH_FN double litho_patch_threshold(const LithoPatchGeometry *g, const LithoPatchParams *p)
{
    if (p->threshold > 0)
        return p->threshold;
    // On lines a coefficient has half the weight in its mean, with four neighbours instead of six.
    if (p->rule == LITHO_PATCH_ENERGY && p->mode != LITHO_PATCH_FILL)
        return g->axis[0].length == 1 || g->axis[1].length == 1 ? 2.8 : 2.2;
    const double size = (double)g->axis[0].length * g->axis[1].length * g->axis[2].length;
    const double t = 3 - 0.3 * log(size / 4096) / log(3.375); // 3 for 16^3, 2.7 for 24^3
    // Few lines: 16 windows cover a sample of a line instead of 64, and weak events are most of
    // what is lost. Lines of -6 and 0 dB have 0.6 to 1 dB more with 2.8 than with 3.2, of 20 dB 0.1
    // less.
    const int few = g->axis[0].length < g->axis[1].length ? g->axis[0].length : g->axis[1].length;
    const double most = few < 2 ? 2.8 : few >= 4 && few < 8 ? 3 : 3.2;
    const double alone = t < 2.4 ? 2.4 : t > most ? most : t;
    // Filling alone loses weak events sooner than noise shows: traces held out of a real stack have
    // 3.8 dB with 0.8 times it and 3.3 with all of it, synthetic ones 0.4 dB more.
    return p->mode == LITHO_PATCH_FILL ? 0.8 * alone : alone;
}

// The threshold where filling a block stops, of whose traces `missing` hold a guess: its rule is
// `single` whatever `rule` is. Guesses hold no noise, so that a coefficient has the less of it the
// more is missing: the square root of the share of recorded traces. The cube root leaves a margin;
// with three quarters missing it fills 0.5 to 1.5 dB better than no factor does.
LITHO_PATCH_FN double litho_patch_fill_threshold(const LithoPatchGeometry *g,
                                                 const LithoPatchParams *p, double traces,
                                                 double missing)
{
    LithoPatchParams single = *p;
    single.rule = LITHO_PATCH_SINGLE;
    return cbrt((traces - missing) / traces) * litho_patch_threshold(g, &single);
}

// Input range [*from, *to) along an axis that output [lo, hi) depends on. `pairs`: windows come in
// twos.
LITHO_PATCH_FN void litho_patch_needs(LithoPatchAxis a, bool pairs, int lo, int hi, int *from,
                                      int *to)
{
    int first = litho_patch_first(a, lo), last = litho_patch_last(a, hi - 1);
    if (pairs) {
        first -= first % 2;
        last += 1 - last % 2;
    }
    *from = litho_patch_start(a, first);
    *to = litho_patch_start(a, last) + a.length;
    // Beyond a face stands the mirror image, which reaches as far inwards.
    const int below = -*from, above = *to - a.n;
    if (below > 0 && *to < below)
        *to = below;
    if (above > 0 && *from > a.n - above)
        *from = a.n - above;
    *from = *from < 0 ? 0 : *from;
    *to = *to > a.n ? a.n : *to;
}

// Filling: each pass moves missing traces x by z, which becomes MOMENTUM z + STEP (y - x): y is x
// behind the threshold, z the move before (a heavy ball, Polyak 1964,
// doi:10.1016/0041-5553(64)90137-5). The last pass takes y.
#define LITHO_PATCH_MOMENTUM 0.6f
#define LITHO_PATCH_STEP 1.6f

// Regular gaps (regular.c) fold every event over wavenumbers into ghosts as strong as itself, which
// no threshold tells from it. A plane event at half the frequency has half the wavenumber, where
// nothing folds onto its ghost's half. So a coefficient of a filling that is `guided` is judged
// times the square of G / (G + LITHO_PATCH_GUIDE M): G is the mean of |F|^2 at the places around
// half its wavenumbers and half its frequency, M the largest G at its frequency. Naghizadeh & Sacchi
// (2010, Beyond alias hierarchical scale curvelet interpolation, Geophysics 75) do so from scale to
// scale of curvelets.
#define LITHO_PATCH_GUIDE 0.05f

// Places of wavenumbers 0 .. n - 1 (negative ones behind n / 2) around half of k. The middle one is
// its own opposite, and so are its halves together.
LITHO_PATCH_FN void litho_patch_halves(int n, int k, int at[2])
{
    const int size = 2 * k <= n ? k : n - k, sign = 2 * k <= n ? 1 : -1;
    at[0] = (n + sign * (size / 2)) % n;
    at[1] = 2 * k == n ? (n - size / 2) % n : (n + sign * ((size + 1) / 2)) % n;
}

// The factor that a power is judged times.
LITHO_PATCH_FN float litho_patch_guide_factor(float guide, float most)
{
    const float w = guide / (guide + LITHO_PATCH_GUIDE * most + 1e-30f);
    return w * w;
}

// Levels of the noise on a coarse grid of cells, interpolated in three directions and constant
// beyond the outermost centres.
typedef struct LithoPatchLevels {
    int n[3];           // cells: inline, crossline, time
    float first[3];     // centre of cell 0, in samples of the survey
    float step[3];      // distance of the centres
    int bins;           // frequencies
    const float *sigma; // [inline][crossline][time][frequency], standard deviations
    const float *shape; // [frequency][inline wavenumber][crossline wavenumber]: powers in units of
                        // their frequency's mean, the same everywhere; NULL = all are alike
    int window[2];      // inline and crossline wavenumbers of `shape`
} LithoPatchLevels;

// Cell below `centre` along an axis and the share of the one above.
LITHO_PATCH_FN int litho_patch_cell(const LithoPatchLevels *l, int axis, float centre, float *share)
{
    const float at = (centre - l->first[axis]) / l->step[axis];
    int cell = (int)floorf(at);
    *share = at - (float)cell;
    if (cell < 0 || cell >= l->n[axis] - 1) {
        *share = 0;
        cell = cell < 0 ? 0 : l->n[axis] - 1;
    }
    return cell;
}

// The cells around a place and their shares.
typedef struct LithoPatchCorners {
    long at[8]; // of the first frequency
    float weight[8];
} LithoPatchCorners;

LITHO_PATCH_FN LithoPatchCorners litho_patch_corners(const LithoPatchLevels *l,
                                                     const float centre[3])
{
    LithoPatchCorners c;
    float share[3];
    int cell[3];
    for (int a = 0; a < 3; a++)
        cell[a] = litho_patch_cell(l, a, centre[a], &share[a]);
    for (int corner = 0; corner < 8; corner++) {
        float weight = 1;
        long at = 0;
        for (int a = 0; a < 3; a++) {
            const int up = corner >> (2 - a) & 1;
            weight *= up ? share[a] : 1 - share[a];
            at = at * l->n[a] + cell[a] + (up && share[a] > 0 ? 1 : 0);
        }
        c.at[corner] = at * l->bins;
        c.weight[corner] = weight;
    }
    return c;
}

// Standard deviation at frequency `bin` there.
LITHO_PATCH_FN float litho_patch_level_at(const LithoPatchLevels *l, const LithoPatchCorners *c,
                                          int bin)
{
    float sum = 0;
    for (int corner = 0; corner < 8; corner++)
        if (c->weight[corner] > 0)
            sum += c->weight[corner] * l->sigma[c->at[corner] + bin];
    return sum;
}

// Standard deviation at frequency `bin` about a window's centre.
LITHO_PATCH_FN float litho_patch_level(const LithoPatchLevels *l, const float centre[3], int bin)
{
    const LithoPatchCorners c = litho_patch_corners(l, centre);
    return litho_patch_level_at(l, &c, bin);
}

// The levels for windows of another geometry whose sample 0 is sample `origin` of the survey. A
// frame that is narrower than the survey's windows has windows of its own, and no shape.
LITHO_PATCH_FN LithoPatchLevels litho_patch_levels_of(LithoPatchLevels levels,
                                                      const LithoPatchGeometry *g,
                                                      const long long origin[3])
{
    for (int a = 0; a < 3; a++)
        levels.first[a] -= (float)origin[a];
    for (int a = 0; a < 2; a++)
        if (levels.window[a] != g->axis[a].length)
            levels.shape = 0;
    return levels;
}

// Centre of window `place`, its numbers along the axes, in samples of the survey.
LITHO_PATCH_FN void litho_patch_centre(const LithoPatchGeometry *g, const int place[3],
                                       float centre[3])
{
    for (int a = 0; a < 3; a++)
        centre[a] = litho_patch_start(g->axis[a], place[a]) + 0.5f * (g->axis[a].length - 1);
}

// The square of `least`, which |F| must reach whatever the noise. Never 0: powers are divided by
// it.
LITHO_PATCH_FN float litho_patch_least(float least)
{
    return fmaxf(least * least, 1e-30f);
}

// Rule 4: the square of what |F| must reach where the noise has standard deviation `sigma`. With a
// threshold of 0 `least` alone counts. Never 0: powers are divided by it. Where the levels have a
// shape, a wavenumber's limit is this times the shape, and `least` is left to the caller.
LITHO_PATCH_FN float litho_patch_limit_of(const LithoPatchGeometry *g,
                                          const LithoPatchLevels *levels, float sigma,
                                          float threshold, float least, float share)
{
    const float factor = threshold * threshold * share * (float)g->energy;
    return fmaxf(factor * sigma * sigma, levels->shape ? 1e-30f : litho_patch_least(least));
}

// The limit at frequency `bin` of a window about `centre`.
LITHO_PATCH_FN float litho_patch_limit(const LithoPatchGeometry *g, const LithoPatchLevels *levels,
                                       const float centre[3], int bin, float threshold, float least,
                                       float share)
{
    const float sigma = threshold > 0 ? litho_patch_level(levels, centre, bin) : 0;
    return litho_patch_limit_of(g, levels, sigma, threshold, least, share);
}

// Operations of a window: transforms there and back, and the threshold.
LITHO_PATCH_FN double litho_patch_window_flops(const LithoPatchGeometry *g)
{
    const double n = (double)g->axis[0].length * g->axis[1].length * g->axis[2].length;
    return 2 * 2.5 * n * log2(fmax(n, 2.0)) + 8 * n;
}

// Rows of windows over an inline, of the `rows` that there are.
LITHO_PATCH_FN int litho_patch_rows_over(LithoPatchAxis inlines, int rows)
{
    const int over = (inlines.length + inlines.stride - 1) / inlines.stride;
    return over < rows ? over : rows;
}
