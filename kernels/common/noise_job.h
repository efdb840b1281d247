// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>

#include "core/qc_noise.h"
#include "kernels/common/noise.h"
#include "kernels/common/noise_share.h"

// Internal to the measurement of the noise level: noise.c makes the spectra of the windows,
// noise_level.c tells the level from them.

typedef struct LithoNoiseWindows NoiseJob;

struct LithoNoiseWindows {
    const LithoCube *cube; // the part under way
    const guint8 *recorded; // of its traces; NULL = all that are live
    LithoBox within;       // windows are taken from there
    double dt;             // samples are so far apart
    LithoBox box;
    int n[3];           // window
    int nf;             // frequencies
    gint64 count[3];    // places of windows per axis
    gboolean beyond[3]; // windows begin half a window before the box: every trace counts alike
    double *taper[3];   // per axis
    double energy;      // of the taper over a window's traces
    gboolean judging;   // litho_noise_measure_survey()
    gint sparse;        // windows that were left out for want of traces, which have some; atomic
    double least;       // then: share of a trace's energy in a window that is not muted
    fftwf_plan plan;    // one window
    gint64 windows;     // taken
    float *power;  // [frequency][window][wavenumber], |F|^2 over the energy of the taper on live
                   // traces
    float *smooth; // of its size, for noise_quiet_levels(); NULL where neighbours tell nothing
    float *share;  // of that energy in the whole taper's, per window; 0 = the window is left out
    float *muted;  // share of the window's samples in runs of zeros, on live traces
    float *leak;   // share of the events' power that missing traces spread over all wavenumbers
    guint8 *taken; // per window
    gboolean flat; // nobody asks for the level at each wavenumber: noise_take_floor()
    int dense;     // noise_windows_dense(); else 0
    const LithoRun *run; // asked between frequencies while noise_fill() works; borrowed
};

typedef struct NoiseConstants {
    double median; // over the mean
    double share;  // mean of what is below `cut` times the mean, over the mean
    double cut;
    int passes; // at most
} NoiseConstants;

// Frequencies apart by NEAR share no noise behind the taper; those up to FAR tell where events are.
enum { NOISE_NEAR = 2, NOISE_FAR = 6 };
// Windows fall into so many groups, whose levels' scatter gives the interval.
enum { NOISE_GROUPS = 8 };

static inline gint64 noise_wavenumbers(const NoiseJob *job)
{
    return (gint64)job->n[0] * job->n[1];
}

// Windows half a length apart hold every sample so often: twice along each axis.
static inline double noise_overlap(const NoiseJob *job)
{
    double times = 1;
    for (int axis = 0; axis < 3; axis++)
        times *= job->n[axis] > 1 ? 2 : 1;
    return times;
}

// TRUE where windows are long enough for neighbouring frequencies to tell where events are: 32
// samples and more, unless samples are so close together that the upper frequencies hold leak
// alone.
static inline gboolean noise_has_neighbours(const NoiseJob *job)
{
    return job->n[2] >= 32 && job->dense == 0;
}

// Frequencies, from 0 on, that may hold noise.
static inline int noise_told(const NoiseJob *job)
{
    return job->dense > 0 ? (job->nf - 1) / job->dense : job->nf;
}

// The window's places along the axes, and along one of them.
void noise_places_of(const NoiseJob *job, gint64 number, gint64 place[3]);
gint64 noise_place_of(const NoiseJob *job, gint64 number, int axis);
// Number of a place among all of them.
static inline gint64 noise_place_index(const NoiseJob *job, const gint64 place[3])
{
    return (place[0] * job->count[1] + place[1]) * job->count[2] + place[2];
}
// Start of the k-th place: spread over the axis from end to end, or half a window apart from half a
// window before it.
gint64 noise_start_of(const NoiseJob *job, int axis, gint64 k);
gboolean noise_has_windows(const NoiseJob *job);
// FALSE with the sentence of windows of so many inlines and crosslines that tell no level.
gboolean noise_too_few(int inlines, int xlines, GError **error);
// noise_has_windows(), and the sentence where there are none.
gboolean noise_has_enough(const NoiseJob *job, GError **error);
// litho_noise_windows_new() of windows that are long because samples are `dense` times as close
// together as the survey's frequencies need: their level is told as that of shorter ones.
NoiseJob *noise_windows_dense(const LithoGrid *grid, const LithoBox *box, const int window[3],
                              int most, int dense, GError **error);
// Windows that a device measures: litho_noise_windows_new() without memory for spectra. The device
// sets `share` and `taken`; litho_noise_windows_free().
NoiseJob *noise_places_new(const LithoGrid *grid, const LithoBox *box, const int window[3],
                           int most, GError **error);
// TRUE when the part under way, job->within, holds the window.
gboolean noise_holds(const NoiseJob *job, gint64 number);
// noise_holds() along one axis, of windows that start at `at`.
gboolean noise_holds_along(const NoiseJob *job, int axis, gint64 at);
// One trace of a window at `at` into to[n[2]], behind its taper; its share of the taper's energy, 0
// when it is absent there or a guess, and in `known` also of a guess.
double noise_put_trace(const NoiseJob *job, const gint64 at[3], int i, int j, float *to,
                       double *known, gint64 *muted);
// Level, total and, when it is asked for, interval of the spectra. `noise` is cleared by the
// caller; after job->run was told to stop it holds nothing of use.
void noise_fill(const NoiseJob *job, int threads, gboolean interval, LithoNoise *noise);
// Real coefficients of frequency f, where there are complex ones, too; else 0.
int noise_real_wavenumbers(const NoiseJob *job, int f);
// The end of noise_fill(): from the levels [frequency] over all wavenumbers, those of the quiet
// ones [1 + NOISE_GROUPS][frequency], and the same with the leak of missing traces [frequency].
void noise_conclude(const NoiseJob *job, gboolean interval, const double *all, const double *sigma,
                    const double *leaking, LithoNoise *noise);
// Windows fall into two halves along the first axis that holds several: by their places there.
int noise_halved_axis(const NoiseJob *job);
int noise_half_of(const NoiseJob *job, gint64 w);
// TRUE when window `w` may choose the wavenumbers in which `half` is measured: when it shares no
// sample with that half, or, in a cube too thin for that, when it is of the other half.
gboolean noise_may_choose(const NoiseJob *job, gint64 w, int half);
// --- noise_floor.c -------------------------------------------------------------------------------

// Noise that was migrated, or whose traces are mixed, keeps to some wavenumbers: no level of a
// frequency tells it. floor[frequency][wavenumber] is its mean |F|^2, in units of `power`, from the
// quietest tenth of the windows, which hold no event there. A wavenumber at which nearly all
// windows hold one seems loud: noise_below_events() comes after it. The figures tell nothing after
// job->run was told to stop.
void noise_floor(const NoiseJob *job, int threads, float *floor);
// The floor by another part of the windows than NOISE_FLOOR_PART.
void noise_floor_by(const NoiseJob *job, double part, int threads, float *floor);
// Powers [wavenumber] of frequency f in the windows that are not left out; their number.
gint64 noise_take_rows(const NoiseJob *job, int f, const float **row);
// The part of the windows that holds no event at a wavenumber where most of them do, and the
// windows that are needed: with fewer the floor is 0.
#define NOISE_FLOOR_PART 0.1
enum { NOISE_FLOOR_WINDOWS = 32 };
// The floor below events scatters around the noise by no more, where the noise is stationary: ends
// of its level's interval.
#define NOISE_FLOOR_LOW 0.9
#define NOISE_FLOOR_HIGH 1.15
double noise_mean(const float *x, gint64 n);
// below[n[0]][n[1]] of power[n[0]][n[1]], all wavenumbers of one frequency: peaks narrower than a
// quarter of an axis leave, broad hills stay (the median of 3 x 3, then a morphological opening:
// least, then largest neighbours; Serra 1982). Events are as narrow as the taper lets them be, noise is not.
void noise_below_events(const int n[2], const float *power, float *below);
// The opening cuts the tops of hills, a quarter to a half of the power of mixed or migrated noise.
// So once more after division by the hill: the longest waves of the logarithm of `below`, which
// noise_below_events() gave, and which gets the result unless the hill is steeper than noise is.
void noise_refine_below(const int n[2], const float *power, float *below);

// FALSE where the windows have too few wavenumbers to tell noise that keeps to some of them from
// events: 2 to 7 along an axis, all of which events reach.
static inline gboolean noise_tells_shape(const int n[2])
{
    const int few = 8;
    return MAX(n[0], n[1]) >= few && (n[0] == 1 || n[0] >= few) && (n[1] == 1 || n[1] >= few);
}

// TRUE where the faintest wavenumbers, all frequencies together, hold most of the middle one.
gboolean noise_fills_clearly(const NoiseJob *job, int threads);
// TRUE where noise->shape is that of noise, and FALSE where wavenumbers hold leak of events.
// `flat`: levels [frequency] without the shape; `tenth`, `half`: the floor by these parts of the
// windows.
gboolean noise_is_shared(const NoiseJob *job, const double *flat, const float *tenth,
                         const float *half, const LithoNoise *noise);
// TRUE where the wavenumbers hold clearly more below their events than the levels tell, at half of
// the frequencies at least: an offset of the samples is spread over the lowest ones.
gboolean noise_holds_more(const NoiseJob *job, const float *tenth, const LithoNoise *noise);
// Gives `noise` the level at each wavenumber, from the floor of all its frequencies, where both
// parts of the windows tell it: powers of dense and steep events fill all windows, but differ more
// from window to window than those of noise.
void noise_take_floor(const NoiseJob *job, const float *tenth, const float *half,
                      LithoNoise *noise);
// TRUE where noise keeps to some wavenumbers, or there are too few windows to tell: both parts of
// the windows tell alike what wavenumbers hold above the levels `quiet` [frequency], or this is no
// more than the levels `all` over all coefficients, which events in most windows exceed.
gboolean noise_keeps_to_some(const NoiseJob *job, int threads, const double *quiet,
                             const double *all);
// The part of what a plane of n wavenumbers holds above `own` that both floors tell: is added to
// `like`, all of it to `all`, `times` each.
void noise_add_likeness(double times, const float *plane, double own, const float *tenth,
                        const float *half, gint64 n, double *like, double *all);
// Noise is even where a tenth and a half of the windows tell this part of it alike: 0.6 to 0.9,
// down to 0.44 where it grows elevenfold along the traces; dense and steep events 0.2.
#define NOISE_ALIKE 0.4
// So many times the power is clearly more: noise that comes to all wavenumbers leaves 0.96 to 1.07
// times the power that the level tells where it is not weaker than events by more than 10 dB, 1.06
// to 1.26 at 20 dB.
#define NOISE_CLEARLY_MORE 1.15
// Power below the events of planes of wavenumbers, all frequencies together: of the middle one and
// of the tenth that is faintest.
typedef struct NoiseFilling {
    double middle, faint;
} NoiseFilling;
// Adds a plane of `nk` values, so many times, and changes their order.
void noise_add_filling(NoiseFilling *to, double times, gint64 nk, float *below);
// Conjugate coefficients get one value, the larger one: plane [n[0]][n[1]] of a frequency whose
// coefficients at opposite wavenumbers are conjugates.
void noise_make_even(const int n[2], float *plane);

// --- noise_quiet.c: its steps, for a device that takes some of them ------------------------------

// Coefficients are sorted into classes by their neighbourhoods; the quietest share NOISE_QUIET is
// the first class.
enum { NOISE_CLASSES = 12 };
#define NOISE_QUIET 0.4
// Upper ends of the classes, in units of the NOISE_QUIET quantile.
extern const float noise_class_edge[NOISE_CLASSES];
// A coefficient NOISE_LOUD times the median spreads power; where a sixtieth of the noise is spread
// to a coefficient, it does not belong to the quiet ones.
#define NOISE_LOUD 16
#define NOISE_SPREAD_COUNTS 60

// Power of the taper's transform at distance d, averaged over events between two wavenumbers, in
// units of its sum: [place][d] per axis. Windows that reach beyond a face are cut there, which
// spreads events much further. `near` holds distances 0 and 1 alone.
typedef struct NoiseSpread {
    float *far[2], *near[2];
} NoiseSpread;

NoiseSpread noise_spread_new(const NoiseJob *job);
void noise_spread_clear(NoiseSpread *spread);
// Adds what loud coefficients of window w, which noise alone is not, spread over wavenumbers beyond
// their neighbours, in units of `median`. `scratch` holds two planes.
void noise_add_spread(const NoiseJob *job, const NoiseSpread *spread, int f, gint64 w, float median,
                      float *scratch, float *to);

// Sums over the coefficients of one frequency whose neighbourhoods are alike: power without and
// with the leak of missing traces, and their weights, by group of windows.
typedef struct NoiseClassSums {
    double power[NOISE_GROUPS], weight[NOISE_GROUPS], leaky, leaky_weight;
} NoiseClassSums;

// Loudness of the windows relative to their mean, from quantiles of their neighbourhoods, in place.
void noise_settle_loudness(const NoiseJob *job, float *loud);
// The end of noise_quiet_levels(): from sums [frequency][half][class] and the windows' loudness.
void noise_quiet_conclude(const NoiseJob *job, const NoiseClassSums *sums, const float *loud,
                          double *sigma, double *leaking, LithoNoise *noise);

// How the mean of |F|^2 with 1 or 2 degrees of freedom follows from samples of it.
NoiseConstants noise_constants(int freedom);
// Standard deviations [1 + NOISE_GROUPS][frequency] of all windows and of the groups, last group
// first, from the quiet coefficients; `leaking` [frequency]: without regard to what missing traces
// spread; `all` [frequency]: over all wavenumbers. `noise` gets its level along the traces. Needs
// noise_has_neighbours().
void noise_quiet_levels(const NoiseJob *job, int threads, const double *all, double *sigma,
                        double *leaking, LithoNoise *noise);

// --- noise_local.c -------------------------------------------------------------------------------

// Power of the noise at [frequency][window], without and with the leak of missing traces.
typedef struct NoiseLocal {
    float *level, *leaky;
    float *used;    // wavenumbers that tell it, [frequency][window]
    float *mean;    // power of all wavenumbers, [frequency][window]
    float *lumps;   // [frequency], as LithoNoise.lumps
    gboolean *line; // [frequency]: a line reaches it
    guint8 *quiet;  // [frequency][window][wavenumber]: 1 = among the quietest
    double levelled; // noise_levelled()
} NoiseLocal;

// `median`: [frequency], the unit of job->smooth. Needs noise_has_neighbours().
NoiseLocal noise_local_new(const NoiseJob *job, const float *median, int threads);
void noise_local_clear(NoiseLocal *local);

// --- noise_varies.c ------------------------------------------------------------------------------

// TRUE where the level varies from place to place, or much of it stands in lines. `all`, `quiet`:
// levels [frequency] over all wavenumbers and of the quiet classes, which a local level of few
// wavenumbers must agree with. `unequal`: windows that the classes are of differ in loudness.
gboolean noise_local_matters(const NoiseJob *job, const NoiseLocal *local, const double *all,
                             const double *quiet, gboolean unequal);
// TRUE where the noise is alike everywhere by its local level, and holds clearly more than the
// levels `quiet` [frequency] of classes tell: these had windows of a loudness that is the events'.
gboolean noise_local_is_alike(const NoiseJob *job, const NoiseLocal *local, const double *quiet);
// Where the windows are, from which the level was measured.
void noise_put_places(const NoiseJob *job, LithoNoise *noise);
// Instead of noise_quiet_conclude(): `noise` gets its local level, too.
void noise_local_conclude(const NoiseJob *job, const NoiseLocal *local, double *sigma,
                          double *leaking, int threads, LithoNoise *noise);

// Coefficients that one of frequency f stands for.
static inline double noise_times_of(const NoiseJob *job, int f)
{
    return f == 0 || 2 * f == job->n[2] ? 1 : 2;
}

// --- noise_ends.c --------------------------------------------------------------------------------

// Energy of the noise over that of its windows, which end with the traces: by the windows'
// loudness, and by a local level.
double noise_energy_at_ends(const NoiseJob *job, const float *loud);
double noise_local_ends(const NoiseJob *job, const NoiseLocal *local);

// --- noise_fine.c --------------------------------------------------------------------------------

// Sets noise->map: what varies within the windows of noise->local. Needs job->cube to hold the box.
void noise_put_fine(const NoiseJob *job, const NoiseLocal *local, int threads, LithoNoise *noise);

// --- noise_levelled.c ----------------------------------------------------------------------------

// Rank correlation of the windows' noise with their events where it is clearly below 0, as behind
// automatic gain control; else 0.
double noise_levelled(const NoiseJob *job, const NoiseLocal *local);

// --- noise_map.c ---------------------------------------------------------------------------------

// Frequencies of short windows are far apart, and all of them are asked.
static inline int noise_map_bands(const NoiseJob *job)
{
    return noise_has_neighbours(job) ? job->n[2] / 4 : job->nf;
}
static inline int noise_map_frequency_of(const NoiseJob *job, int band)
{
    return noise_has_neighbours(job) ? noise_map_frequency(band) : band;
}
static inline gint64 noise_map_rank(const NoiseJob *job)
{
    return (gint64)(NOISE_QUIET * (double)noise_wavenumbers(job));
}
// The power that NOISE_QUIET of a window's wavenumbers do not exceed, and their mean:
// [2][band][window]. g_free().
float *noise_map_quiet(const NoiseJob *job, int threads);
// Sets noise->map from noise_map_quiet() where the noise varies at all frequencies. Comes before
// noise_conclude(), which asks for it; noise->ends is known.
void noise_map_common(const NoiseJob *job, const float *quiet, LithoNoise *noise);
// Sets noise->bands where the noise varies beyond noise->map; noise->sigma is known.
void noise_map_find_bands(const NoiseJob *job, const float *quiet, LithoNoise *noise);
// TRUE where neither of the two would set a map, whatever the level is.
gboolean noise_map_is_even(const NoiseJob *job, const float *quiet);
// Power of the noise in each window by noise->map: [window], 0 where a window tells nothing.
// g_free().
float *noise_map_of_windows(const NoiseJob *job, const LithoNoiseMap *map);
// Noise and power in small cells, for a filter that has levels of its own.
typedef struct NoiseCells {
    int n[3], all;
    int nf, told;  // frequencies of the windows, and those that may hold noise
    float *at;     // knots along the axes, one axis behind the other: samples of the grid
    float *power;  // [frequency][cell]: mean |F|^2 of the noise, by quiet wavenumbers
    float *part;   // [frequency][cell]: of the mean power of all
    gint64 *count; // [cell]: windows; 0 = nothing is known there
} NoiseCells;
// `quiet`: noise_map_quiet(). Frequencies that it leaves out have the powers of one beside them.
NoiseCells noise_cells_new(const NoiseJob *job, const float *quiet);
// So with a cell for all windows that begin at one time.
NoiseCells noise_cells_of_times(const NoiseJob *job, const float *quiet);
// Gives cells without windows the mean of the ones beside them.
void noise_cells_fill(const NoiseCells *cells, float *values);
void noise_cells_clear(NoiseCells *cells);

// --- noise_steep.c -------------------------------------------------------------------------------

// Sets noise->steep and what belongs to it from `box`, which the cube holds on the host. Nothing is
// told of fewer than 16 traces along the longer axis, or after `run` was told to stop.
void noise_find_steep(const LithoCube *cube, LithoBox box, LithoRun *run, LithoNoise *noise);

// --- noise_shifts.c ------------------------------------------------------------------------------

// Sets noise->shifts from `box`, which the cube holds on the host. Nothing is told of fewer than 64
// traces with neighbours on both sides, of axes of fewer than 8 traces, or after `run` was told to
// stop.
void noise_find_shifts(const LithoCube *cube, LithoBox box, const LithoRun *run, LithoNoise *noise);
// Samples of the box of a trace that is finite and recorded; NULL = it is not. Borrowed.
const float *noise_trace_at(const LithoCube *cube, LithoBox box, gint64 i, gint64 j);

// --- noise_reversed.c ----------------------------------------------------------------------------

// Sets noise->reversed and what belongs to it likewise, and reversed[], one byte a trace of the
// box: 1 = it is.
void noise_find_reversed(const LithoCube *cube, LithoBox box, const LithoRun *run,
                         LithoNoise *noise, guint8 *reversed);
// A new cube of the box with those traces turned; NULL = no memory.
LithoCube *noise_turn_reversed(const LithoCube *cube, LithoBox box, const guint8 *reversed,
                               GError **error);
