// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>
#include <stdbool.h>

// Parameters and geometry of the F-X filter: windows, blending weights, taps, frequency band and
// halo. Plain C without GLib, so that CUDA code includes it too. Pure functions, any thread.
//
// Both backends compute, in this order (docs/fx.md tells why):
//   0. Bursts and spikes of live traces (kernels/common/erratic.h) and, unless fill_passes is 0,
//      missing traces read as guesses (kernels/common/gaps.h), everywhere below. In the end missing
//      traces have the samples that they had, unless fill_dead is on.
//   1. A trace is absent in a time window when it is missing and no recorded trace is near enough
//      for a guess, when any of its samples
//      there is not finite, or when all of them are zero. Its spectrum is zero; its samples are
//      written back unchanged in that window's share (fill_dead: replaced by the prediction).
//   2. Every time window, untapered and zero-padded, is transformed; bins of the band are filtered.
//   3. Spatial window x bin: the design points are the present traces of the window whose block of
//      (2 half_il + 1) x (2 half_xl + 1) traces lies inside the survey (it may leave the window).
//      Fewer points than taps: the larger half width shrinks by one (the inline one on a tie)
//      until there are enough; both 0: the window passes unchanged.
//      Prewhitening that is automatic: the filter is designed three times, see litho_fx_second();
//      in every pass of rule 4 likewise.
//   4. A window with absent traces in its box (window widened by half) designs and predicts
//      fill_passes times beforehand; each time the absent traces of the box take their prediction.
//      All of that uses the window's own filter and the traces within 2 * half of the window only,
//      so that a result never depends on what else is being computed.
//      A prediction over neighbours still absent is divided by the share of sum |h| that is there
//      (at least 1/8); a trace stays absent while fewer than 1/8 of its neighbours are present.
//   5. A recorded trace with fewer than litho_fx_fewest() recorded ones in its block, which is
//   moved
//      inside the survey where it would leave it, stays as it is.
//   6. Where neighbouring traces of a window lose the same beyond the noise, it is put back
//      (`faults`): litho_fx_kept() and what belongs to it, below.
//   7. Predictions are blended over the spatial windows in the frequency domain, in ascending order
//      (inline window, then crossline window), and over the time windows after the inverse.
//   8. Noise that keeps to some wavenumbers, as that of mixed or migrated traces (`shared`): its
//      covariance leaves the right-hand sides, and its power is found with the damping:
//      litho_fx_shared_power(). Where noise comes to all wavenumbers alike nothing changes.
//   9. Where amplitudes differ from trace to trace (`balance`), all of that is done on traces over
//      their gains, negative ones of traces of reversed polarity, and the result times these
//      (kernels/common/balance.h). Traces of rule 5 and missing ones have no gain. Where noise
//      differs alone, noisier traces keep a share of what they have beside their guesses.

enum { LITHO_FX_CHOLESKY, LITHO_FX_JACOBI };
enum { LITHO_FX_COV, LITHO_FX_ACF };
enum { LITHO_FX_FIT, LITHO_FX_RENORM, LITHO_FX_ZERO };
enum { LITHO_FX_PASS, LITHO_FX_MUTE };
enum { LITHO_FX_BALANCE_AUTO, LITHO_FX_BALANCE_OFF };
enum { LITHO_FX_STAGE_PLAN, LITHO_FX_STAGE_FFT, LITHO_FX_STAGE_FILTER, LITHO_FX_STAGE_INVERSE };
enum { LITHO_FX_MAX_HALF = 5 };
enum { LITHO_FX_HALF = -1, LITHO_FX_SHORTEST = 8 }; // time windows, samples
#define LITHO_FX_FIRST_SHARE 0.01f // damping of the first design when prewhitening is automatic
// A place of the block that holds less than this part of the centre's power, over the design
// points, is never recorded beside a recorded centre, as where every second line is missing. Its
// filter would predict nothing: traces of the survey's edge that take it stay as they are.
#define LITHO_FX_NOTHING 0.01f

typedef struct LithoFxParams {
    int time_window;          // samples; clipped to the trace; 0 = litho_fx_in_use()
    int time_overlap;         // samples; LITHO_FX_HALF = half of the time window
    int fft_length;           // samples; 0 = next power of two
    double fmin, fmax;        // Hz (cycles/km on depth axes); fmax 0 = Nyquist
    int outband;              // LITHO_FX_PASS, LITHO_FX_MUTE
    int window;               // traces, both axes
    int window_il, window_xl; // traces; 0 = window
    int stride;               // traces; 0 = 0.85 of the window, rounded down
    int half_width;           // traces
    double prewhitening;      // % of the mean diagonal; 0 = litho_fx_second(), _third()
    int form;                 // LITHO_FX_COV, LITHO_FX_ACF
    int solver;               // LITHO_FX_CHOLESKY, ...
    int edge;                 // LITHO_FX_FIT, ...; the acf form knows no fit and takes renorm
    int fill_passes;          // 0 = no guesses either: absent traces count as absent neighbours
    bool post;                // rescale the damped prediction to least squares
    bool fill_dead;           // write predictions into missing and absent traces
    bool faults;              // put back what leaves at breaks: rule 6
    bool shared;              // noise that neighbouring traces share is sought: rule 8
    int balance;              // LITHO_FX_BALANCE_AUTO, ...: rule 9
    int steady;               // 0: steady noise is taken off before (core/qc_steady.h)
    double erratic;           // bursts are above this many times the neighbours' amplitude; 0 = none
} LithoFxParams;

#ifdef __CUDACC__
#define LITHO_FX_FN static __host__ __device__ __forceinline__
#else
#define LITHO_FX_FN static inline __attribute__((unused))
#endif

// Overlapping windows along one axis: starts 0, stride, 2 stride, ..., the last flush with the end.
typedef struct LithoFxAxis {
    int n;      // samples or traces
    int length; // of every window, <= n
    int stride;
    int count; // windows
} LithoFxAxis;

LITHO_FX_FN LithoFxAxis litho_fx_axis(int n, int length, int stride)
{
    LithoFxAxis axis;
    axis.n = n;
    axis.length = n < length ? n : length;
    axis.stride = stride > 1 ? stride : 1;
    axis.count = 1 + (n - axis.length + axis.stride - 1) / axis.stride;
    return axis;
}

LITHO_FX_FN int litho_fx_start(LithoFxAxis axis, int k)
{
    return k == axis.count - 1 ? axis.n - axis.length : k * axis.stride;
}

// First and last window that contain position i.
LITHO_FX_FN int litho_fx_first(LithoFxAxis axis, int i)
{
    int k = i < axis.length ? 0 : (i - axis.length) / axis.stride + 1;
    return k < axis.count ? k : axis.count - 1;
}

LITHO_FX_FN int litho_fx_last(LithoFxAxis axis, int i)
{
    if (i >= axis.n - axis.length)
        return axis.count - 1;
    return i / axis.stride < axis.count - 2 ? i / axis.stride : axis.count - 2;
}

// Trapezoid of window k at position i of the axis: linear ramps over the overlaps with the
// neighbours, 1 between, 0 outside.
LITHO_FX_FN float litho_fx_ramp(LithoFxAxis axis, int k, int i)
{
    int start = litho_fx_start(axis, k), j = i - start;
    float w = 1;
    if (j < 0 || j >= axis.length)
        return 0;
    if (k > 0) {
        int overlap = litho_fx_start(axis, k - 1) + axis.length - start;
        w = fminf(w, (float)(j + 1) / (float)(overlap + 1));
    }
    if (k < axis.count - 1) {
        int overlap = start + axis.length - litho_fx_start(axis, k + 1);
        w = fminf(w, (float)(axis.length - j) / (float)(overlap + 1));
    }
    return w;
}

// Sum of the ramps of all windows at position i.
LITHO_FX_FN float litho_fx_ramps(LithoFxAxis axis, int i)
{
    float sum = 0;
    for (int m = litho_fx_first(axis, i); m <= litho_fx_last(axis, i); m++)
        sum += litho_fx_ramp(axis, m, i);
    return sum;
}

// The ramp divided by the sum over the windows there: blending weights, which add up to one.
LITHO_FX_FN float litho_fx_weight(LithoFxAxis axis, int k, int i)
{
    return litho_fx_ramp(axis, k, i) / litho_fx_ramps(axis, i);
}

// Design centres of window k along an axis, [lo, hi): inside the window, blocks inside the survey.
LITHO_FX_FN int litho_fx_centre_lo(LithoFxAxis axis, int k, int half)
{
    int start = litho_fx_start(axis, k);
    return start > half ? start : half;
}

LITHO_FX_FN int litho_fx_centre_hi(LithoFxAxis axis, int k, int half)
{
    int end = litho_fx_start(axis, k) + axis.length;
    return end < axis.n - half ? end : axis.n - half;
}

// Offsets of the block are numbered row by row, inline offset slowest; `taps` = size - 1 of them
// surround the centre, number taps / 2. Number c + q and c - q are opposite: pair q = 1..taps / 2.
LITHO_FX_FN int litho_fx_taps(int half_il, int half_xl)
{
    return (2 * half_il + 1) * (2 * half_xl + 1) - 1;
}

LITHO_FX_FN void litho_fx_offset(int half_il, int half_xl, int number, int *il, int *xl)
{
    *il = number / (2 * half_xl + 1) - half_il;
    *xl = number % (2 * half_xl + 1) - half_xl;
}

// --- rule 6 -------------------------------------------------------------------------------------
//
// The removed part r of a window, input less prediction, is noise, and signal where events break
// off: at faults, flips of polarity, ends. Two marks tell them apart.
//   Energy. E is the mean of |r|^2 over the traces around, at each frequency. The level N is the
// mean of E without what is well above it. w r is the excess, w = max(0, 1 - N / E), where E comes
// to LITHO_FX_KEEP_FROM N somewhere, which it hardly does where the noise is even: E of 25 traces
// scatters by a fifth, and in corners, of 9, it must come to more.
//   Likeness. Noise that is strong at a place has an excess, too. The excess x of traces that miss
// an event together has the same course in both: | sum x conj(y) |^2 over the frequencies is near
// the product of their energies, where independent noise has sum |x|^2 |y|^2 only (more by the
// zeros that time windows are padded with). It is summed over the traces around for neighbours of
// four directions; the best one counts. A pair with energies far apart does not count in full: a
// single bad trace gives its neighbours' predictions some of its noise.
// Frequencies go in groups, counted from the band's first, and windows in pieces, so that memory is
// bounded; each has its own N and likeness.
enum {
    LITHO_FX_KEEP_BINS = 16,    // of a group
    LITHO_FX_KEEP_PIECE = 48,   // traces of a piece along an axis, at most
    LITHO_FX_KEEP_PASSES = 4,   // of the level
    LITHO_FX_KEEP_AROUND = 2,   // traces to either side that E and the likeness are summed over
    LITHO_FX_KEEP_ON_LINES = 6, // the same where the other axis has fewer than five
};
#define LITHO_FX_KEEP_FROM 2.0f
#define LITHO_FX_KEEP_APART 8.0f // energies of a pair, one over the other, that count in full

// Neighbours are compared along these directions: inline, crossline.
enum { LITHO_FX_DIRECTIONS = 4 };
LITHO_FX_FN int litho_fx_direction(int number, int axis)
{
    return axis == 0 ? number != 0 : number == 3 ? -1 : number != 1;
}

// |sum x conj(y)|^2 over the product of the energies, along each direction, that shared noise has
// (rule 8).
typedef struct LithoFxAlike {
    float of[LITHO_FX_DIRECTIONS];
} LithoFxAlike;

// Likeness that counts: 0 in shared noise, all where traces are quite alike.
LITHO_FX_FN float litho_fx_alike(float alike, float whole, float shared)
{
    return (alike - shared * whole) / (1 - shared);
}

LITHO_FX_FN int litho_fx_keep_pieces(int length)
{
    return (length + LITHO_FX_KEEP_PIECE - 1) / LITHO_FX_KEEP_PIECE;
}

LITHO_FX_FN int litho_fx_keep_around(int other)
{
    return other < 2 * LITHO_FX_KEEP_AROUND + 1 ? LITHO_FX_KEEP_ON_LINES : LITHO_FX_KEEP_AROUND;
}

// The certainty of E that is a mean over so many traces, 1 for all of those around.
LITHO_FX_FN float litho_fx_keep_sure(float traces, int by_il, int by_xl)
{
    return sqrtf(traces / (float)((2 * by_il + 1) * (2 * by_xl + 1)));
}

// The part of the excess that counts where E - N, times its certainty, is `most` at most; 0 to 1.
LITHO_FX_FN float litho_fx_keep_rise(float most, float noise)
{
    const float part = noise > 0 ? 4 * (most / noise - (LITHO_FX_KEEP_FROM - 1)) : most > 0;
    return part > 1 ? 1 : part > 0 ? part : 0;
}

// The part of the excess that is put back: from the sums over pairs of |sum x conj(y)|^2 (`alike`),
// of the products of their energies (`whole`) and of those of independent noise (`noise`).
LITHO_FX_FN float litho_fx_kept(float alike, float whole, float noise)
{
    // A single frequency is always alike, and few are by chance more often than many.
    const float sure = 4 * (whole - 1.25f * noise) / (noise > 0 ? noise : 1);
    const float from = 22 * noise < 3 * whole ? 22 * noise / whole : 3;
    const float part = sure > 0 ? 10 * (alike - noise) / (whole - noise) - from : 0;
    const float least = sure < part ? sure : part;
    return least > 1 ? 1 : least > 0 ? least : 0;
}

// The product of a pair's energies.
LITHO_FX_FN float litho_fx_keep_whole(float a, float b)
{
    const float most = a > b ? a : b, least = a > b ? b : a, small = most / LITHO_FX_KEEP_APART;
    return most * (least > small ? least : small);
}

// Everything the filter derives from a grid and its parameters.
typedef struct LithoFxGeometry {
    LithoFxAxis axis[3]; // inline, crossline, time
    int nfft;
    int bin, bins; // first bin of the band, and how many
    int half[2];   // inline, crossline; no larger than the survey bears
    int halo;      // traces beyond a window that its result depends on
} LithoFxGeometry;

LITHO_FX_FN int litho_fx_window_length(const LithoFxParams *p, int axis)
{
    int own = axis == 0 ? p->window_il : p->window_xl;
    return own > 0 ? own : p->window;
}

// Share of the mean diagonal that the first design takes.
LITHO_FX_FN float litho_fx_share(const LithoFxParams *p)
{
    return p->prewhitening > 0 ? (float)fmax(p->prewhitening / 100, 1e-7) : LITHO_FX_FIRST_SHARE;
}

// The part of the error's energy that `taps` real unknowns leave of noise, over `points` traces.
LITHO_FX_FN float litho_fx_free_part(int taps, int points)
{
    return fmaxf(1 - (float)taps / (2.0f * (float)points), 0.25f);
}

// Automatic prewhitening: the share of the mean diagonal `mean` that the next design takes. The
// last one left `left`, the sum of the squared errors over `points` traces, of which its `taps`
// real unknowns took their part; what that is of the power is the noise's share rho. The damping of
// least error is the noise's variance over the mean square of the unknowns (Hoerl and Kennard,
// 1970), in units of the mean diagonal taps^2 / (2 points) rho / energy, with `energy` the sum of
// the squared unknowns. 0.1 to 1000 %.
LITHO_FX_FN float litho_fx_damping(float left, float mean, float energy, int taps, int points)
{
    const float equations = 2.0f * (float)points;
    const float free_part = fmaxf(1 - (float)taps / equations, 0.25f);
    const float rho = fmaxf(left / (free_part * mean), 0.0f);
    const float share = (float)taps / equations * rho / fmaxf(energy, 1e-6f);
    return fminf(fmaxf(share, 0.001f), 10.0f);
}

// The second design's share, after a first one of little damping, whose unknowns follow the noise:
// those of one plane wave have the energy (1 - rho) / taps, several waves need more, and 6.7 times
// that is best on planes, curved events, crossing dips and faults.
LITHO_FX_FN float litho_fx_second(float left, float mean, int taps, int points)
{
    const float equations = 2.0f * (float)points;
    const float free_part = fmaxf(1 - (float)taps / equations, 0.25f);
    const float rho = fminf(fmaxf(left / (free_part * mean), 0.0f), 0.999f);
    return litho_fx_damping(left, mean, 6.7f * (1 - rho) / (float)taps, taps, points);
}

// The third and last design's share: the second one's unknowns, whose sum of squares is `energy`,
// are known well enough to tell. Where events are curved and noise is weak they are many times
// those of plane waves, and the damping is as much less. Above -6 dB 1.15 is best on the cubes
// named.
LITHO_FX_FN float litho_fx_third(float left, float mean, float energy, int taps, int points)
{
    return litho_fx_damping(left, mean, energy / 1.15f, taps, points);
}

// Power of shared noise in a design's equations. The error filter g, 1 at the centre and the
// negative filter elsewhere, left `left` of all power, and leaves `noise` of noise of power 1. The
// noise's power is their ratio. It is no more than nearly all of the mean power.
LITHO_FX_FN float litho_fx_shared_most(float power, float mean)
{
    return fminf(fmaxf(power, 0.0f), 0.98f * mean);
}

// `before` was the power in that design. Where it was much less the filter followed this noise as
// it happens to be, and passes less of it than of other noise: the ratio is 0.87 of the power with
// 24 unknowns a hundred traces.
LITHO_FX_FN float litho_fx_shared_power(float left, float noise, float before, float mean, int taps,
                                        int points)
{
    const float power = left / (litho_fx_free_part(taps, points) * fmaxf(noise, 1e-3f));
    const float rise = power > before ? 1 - before / power : 0;
    return litho_fx_shared_most(power * (1 + rise * (float)taps / (float)points), mean);
}

// Automatic prewhitening beside shared noise of `power`: litho_fx_second() for the first design,
// whose level is the survey's, litho_fx_third() for those after it.
LITHO_FX_FN float litho_fx_shared_share(float power, float mean, float energy, int taps, int points,
                                        bool first)
{
    const float left = power * litho_fx_free_part(taps, points);
    return first ? litho_fx_second(left, mean, taps, points)
                 : litho_fx_third(left, mean, energy, taps, points);
}

// A share as a whole number whose sum over systems does not depend on their order: 16 steps an
// octave. Reports tell the mean.
LITHO_FX_FN int litho_fx_octaves(float share)
{
    return (int)floorf(16 * log2f(100 * share) + 0.5f);
}

// `n`: inlines, crosslines, samples. `step`: sampling of the last axis in s (km on depth axes). The
// time window and its overlap are numbers of samples here: litho_fx_in_use() gives them.
LITHO_FX_FN LithoFxGeometry litho_fx_geometry(const int n[3], double step, const LithoFxParams *p)
{
    LithoFxGeometry g;
    for (int a = 0; a < 2; a++) {
        int length = litho_fx_window_length(p, a);
        g.axis[a] = litho_fx_axis(n[a], length, p->stride > 0 ? p->stride : length * 17 / 20);
        g.half[a] = p->half_width < (n[a] - 1) / 2 ? p->half_width : (n[a] - 1) / 2;
    }
    g.axis[2] = litho_fx_axis(n[2], p->time_window, p->time_window - p->time_overlap);
    g.nfft = p->fft_length;
    if (g.nfft == 0)
        for (g.nfft = 1; g.nfft < g.axis[2].length;)
            g.nfft *= 2;
    double per_bin = step * g.nfft, top = p->fmax > 0 ? p->fmax * per_bin : 0.5 * g.nfft;
    double first = ceil(p->fmin * per_bin - 1e-6), last = floor(top + 1e-6);
    if (last > g.nfft / 2)
        last = g.nfft / 2;
    g.bin = first < last ? (int)first : (int)last;
    g.bins = first <= last ? (int)(last - first) + 1 : 0;
    g.halo = (p->fill_passes > 0 ? 2 : 1) * p->half_width;
    return g;
}

// Recorded traces that a recorded trace needs in its block, itself aside. Of 48 neighbours three,
// of a line's six two: with one less the prediction is worse than the trace at 10 dB, on planes,
// curved events and layers with a fault, and 5 dB worse with none. 0 = the survey bears no filter.
LITHO_FX_FN int litho_fx_fewest(const LithoFxGeometry *g)
{
    const int taps = litho_fx_taps(g->half[0], g->half[1]);
    return taps < 2 ? 0 : taps < 32 ? 2 : 3;
}

// Input range [*from, *to) along an axis that output [lo, hi) depends on; `halo` 0 for time.
LITHO_FX_FN void litho_fx_needs(LithoFxAxis axis, int halo, int lo, int hi, int *from, int *to)
{
    *from = litho_fx_start(axis, litho_fx_first(axis, lo)) - halo;
    *to = litho_fx_start(axis, litho_fx_last(axis, hi - 1)) + axis.length + halo;
    if (*from < 0)
        *from = 0;
    if (*to > axis.n)
        *to = axis.n;
}
