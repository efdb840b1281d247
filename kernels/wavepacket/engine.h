// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/qc_noise.h"
#include "kernels/common/erratic.h"
#include "kernels/common/gains.h"
#include "kernels/wavepacket/boxes.h"

// Needs of the applications (denoise, compress, interpolate, reconstruct) on a machine: the
// transform, its adjoint, and a few operations on volumes and coefficient arrays. The CPU and the
// CUDA backend each fill one table; the applications are written once.
//
// Arrays are handles that only the engine looks into: volumes [n1][n2][n3] of the geometry (blocks)
// or of the whole cube, coefficients as boxes.h describes. (The CPU's are plain floats, one GPU's
// device floats; spread over several GPUs a handle stands for the parts.) Counts of floats may be
// WP_COEFFICIENTS for an array of coefficients as a whole. Thread-safety: one engine, one thread at
// a time, after attach().

typedef struct WpEngine WpEngine;

enum { WP_COEFFICIENTS = -1 };

// Keep a coefficient when |key| >= level[box]; `soft` also shrinks it by level/|key|. `drops`
// leaves what is taken away instead: x less what the rule keeps of it.
typedef struct WpRule {
    const float *level; // per box, host; 0 keeps everything
    gboolean soft, drops;
    // Host, wp_local_limits(): the residual box is thresholded in local Fourier windows (local.h);
    // `key` and `x` are one array then and `out` another one. NULL = by its level.
    const float *local;
    // Host, wp_local_limits(): the coarse box likewise. Engines go by its level; wp_coarse_shrink()
    // is for the caller to call. NULL = none.
    const float *coarse;
} WpRule;

enum { WP_BIN_BITS = 15, WP_BINS = 1 << WP_BIN_BITS }; // bins by the top bits of a positive float

// Histogram of |c| scale[box]: bin = float bits >> 16. With prefix >= 0 only values whose bits >>
// 16 equal the prefix count, binned by their lower bits >> 1. A box with scale 0 is left out, as
// are zeros.
typedef struct WpHistogram {
    const float *scale; // per box, host
    int prefix;         // -1 = first pass
    guint64 bins[WP_BINS];
} WpHistogram;

typedef struct WpBoxStats {
    double energy; // sum |c|^2
    double peak;   // max |c|
} WpBoxStats;

// Floats at .. at+n-1 of an array.
typedef struct WpPiece {
    gint64 at, n;
} WpPiece;

// A block of a larger volume: u = volume[at..] * taper. Up to `mirror` samples beyond a face are
// those before it in reverse; further out there are zeros.
typedef struct WpBlock {
    gint64 at[3];          // first sample, -mirror or more
    int mirror;
    const float *taper[3]; // per axis, geometry n[a] long, host; NULL = 1
} WpBlock;

// Sample `at` of an axis: [n][n] samples of the other two.
typedef struct WpPlane {
    int axis;
    gint64 at;
    float *samples;
} WpPlane;

enum { WP_MOST_PLANES = 6 };

// A map's levels in each box, [box][inline][crossline][sample] of its knots, for the block at `at`.
typedef struct WpPlacesLevels {
    const LithoNoiseMap *map;
    const float *level; // host
    gint64 at[3];       // its first sample in the survey
} WpPlacesLevels;

typedef struct WpEngineClass {
    void (*free)(WpEngine *engine);
    // Around one pass of the operator; finish() waits for the machine and hands over stage times.
    gboolean (*begin)(WpEngine *engine, LithoRun *run, GError **error);
    gboolean (*finish)(WpEngine *engine, LithoRun *run, GError **error);
    // Makes the engine usable in the calling thread.
    gboolean (*attach)(WpEngine *engine, GError **error);
    // Waits for all that has been asked for.
    gboolean (*wait)(WpEngine *engine, GError **error);
    // Bytes that may still be allocated.
    guint64 (*available)(WpEngine *engine);
    // Zeroed; NULL with LITHO_ERROR_MEMORY.
    float *(*alloc)(WpEngine *engine, gint64 floats, GError **error);
    void (*release)(WpEngine *engine, float *array); // NULL is fine
    // Floats at .. at+n-1 of an array to and from host memory; of coefficients, within one box.
    gboolean (*download)(WpEngine *engine, const float *array, gint64 at, float *to, gint64 n,
                         GError **error);
    gboolean (*upload)(WpEngine *engine, const float *from, float *array, gint64 at, gint64 n,
                       GError **error);
    // Several pieces at once, one behind the other in `to`; of coefficients, each within one box.
    // The array has been waited for, and work that goes on leaves it as it is.
    gboolean (*fetch)(WpEngine *engine, const float *array, const WpPiece *pieces, int n, float *to,
                      GError **error);
    // Floats at .. at+n-1 of a volume of another engine of this kind, which must have been waited
    // for and stay as it is until this one has been, too: copied, or added to what is there. NULL
    // where there is only one engine.
    gboolean (*take)(WpEngine *engine, float *to, const WpEngine *other, const float *from,
                     gint64 at, gint64 n, gboolean add, GError **error);

    // c = A u; u = A* c (c is destroyed). FALSE with G_IO_ERROR_CANCELLED or a failure.
    gboolean (*forward)(WpEngine *engine, const float *u, float *c, LithoRun *run, GError **error);
    gboolean (*adjoint)(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error);

    // The adjoint in steps, so that some planes of it are there before the rest: c becomes what the
    // others need; up to WP_MOST_PLANES planes of the block, equal to those of u but for rounding,
    // as often as wanted; u, once. Between them the engine makes no other transform. NULL, all
    // three: it cannot.
    gboolean (*begin_adjoint)(WpEngine *engine, float *c, LithoRun *run, GError **error);
    gboolean (*planes)(WpEngine *engine, const float *c, const WpPlane *planes, int n,
                       LithoRun *run, GError **error);
    gboolean (*end_adjoint)(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error);
    // A plane of a volume of n[], less that of a block which lies in it; part NULL: of the volume.
    gboolean (*drop_plane)(WpEngine *engine, const float *volume, const gint64 n[3],
                           const WpBlock *block, const float *part, const WpPlane *plane,
                           GError **error);

    // out = x where `rule` keeps `key`, 0 elsewhere, or x less that (`drops`); adds to kept[box]
    // how many were kept, residual coefficients counted one by one like the complex ones. key, x,
    // out may be the same array; `kept` may be NULL; it is known when the engine has been waited
    // for.
    gboolean (*shrink)(WpEngine *engine, const float *key, const float *x, float *out,
                       const WpRule *rule, guint64 *kept, GError **error);
    gboolean (*histogram)(WpEngine *engine, const float *c, WpHistogram *histogram, GError **error);
    // Per box, and the histogram with them where it is not NULL.
    gboolean (*stats)(WpEngine *engine, const float *c, WpBoxStats *per_box, WpHistogram *histogram,
                      GError **error);

    // y = a x + b y over n floats.
    gboolean (*blend)(WpEngine *engine, double a, const float *x, double b, float *y, gint64 n,
                      GError **error);
    // Inner product in double.
    gboolean (*dot)(WpEngine *engine, const float *x, const float *y, gint64 n, double *result,
                    GError **error);
    // Sum of m (x - y)^2 in double, with one m per trace of n3 samples; m NULL = 1.
    gboolean (*distance)(WpEngine *engine, const float *x, const float *y, const float *m,
                         gint64 traces, gint64 n3, double *result, GError **error);
    // y = y (1 - m) + m x with one m per trace; x NULL = zeros.
    gboolean (*insert)(WpEngine *engine, const float *x, const float *m, float *y, gint64 traces,
                       gint64 n3, GError **error);
    // Samples of a volume of n[] that begins at sample at[] of the survey, over the deviation of
    // the map, or times it (places.h).
    gboolean (*scale)(WpEngine *engine, const LithoNoiseMap *map, gboolean over, const gint64 at[3],
                      const gint64 n[3], float *volume, GError **error);
    // Coefficients of a block over the deviation that the noise has at their places beyond that of
    // their boxes, or times it.
    gboolean (*weigh)(WpEngine *engine, const WpPlacesLevels *levels, gboolean over, float *c,
                      GError **error);
    // u = taper * volume part; volume part += taper * u. `n` are the volume's sizes; what of the
    // block lies beyond a thin volume is zero.
    gboolean (*cut)(WpEngine *engine, const float *volume, const gint64 n[3], const WpBlock *block,
                    float *u, GError **error);
    gboolean (*paste)(WpEngine *engine, const float *u, const WpBlock *block, float *volume,
                      const gint64 n[3], GError **error);
    // Samples of a cube (all of its grid) into a volume, and all that a cube holds back. Dead
    // traces load as zero.
    gboolean (*load)(WpEngine *engine, const LithoCube *cube, float *volume, LithoRun *run,
                     GError **error);
    gboolean (*store)(WpEngine *engine, const float *volume, LithoCube *cube, GError **error);
    // `in` with guesses in place of its missing traces, as litho_gaps_guess() makes them; NULL: the
    // host makes them.
    LithoCube *(*guess)(WpEngine *engine, const LithoCube *in, LithoRun *run, GError **error);
    // litho_clean() on the engine's device, with its scratch memory; NULL: the host's.
    const LithoCube *(*clean)(WpEngine *engine, LithoClean *clean, LithoCleanRule rule,
                              const LithoCube *in, LithoRun *run, GError **error);
    // litho_gains_divide() on the engine's device; and samples of `box` of a cube there times the
    // factors `by` of the survey's traces, which waits. NULL, both: the host's.
    const LithoCube *(*over_gains)(WpEngine *engine, LithoGains *gains, const LithoCube *in,
                                   LithoGainsFrom from, LithoRun *run, GError **error);
    gboolean (*times_gains)(WpEngine *engine, const float *by, LithoCube *out, LithoBox box,
                            GError **error);
    // A cube that store() can fill, for results on the way.
    LithoCube *(*new_cube)(WpEngine *engine, const LithoGrid *grid, GError **error);
    // Energy lost when of the plain FFT of a volume of n[] samples only the `keep` largest values
    // of the half spectrum stay.
    gboolean (*fourier)(WpEngine *engine, const float *volume, const gint64 n[3], guint64 keep,
                        double *lost, LithoRun *run, GError **error);
} WpEngineClass;

struct WpEngine {
    const WpEngineClass *class;
    const WpGeometry *geometry; // borrowed; outlives the engine
    int devices;                // that it is spread over; 0 = one
};

typedef WpEngine *(*WpEngineNew)(const WpGeometry *geometry, int form, LithoRun *run,
                                 GError **error);

// `form` is for the CUDA engine only (which adjoint); the CPU has one.
WpEngine *wp_engine_cpu(const WpGeometry *geometry, int form, LithoRun *run, GError **error);
void wp_engine_free(WpEngine *engine); // NULL is fine
// Energy in a volume of n[] samples of all but the `keep` largest values of its half spectrum U,
// from their |U|^2 / (n[0] n[1] n[2]); `stride` floats from row to row. FALSE: cancelled, or no
// memory.
gboolean wp_fourier_lost(const float *m2, gint64 stride, const gint64 n[3], guint64 keep,
                         double *lost, const LithoRun *run, GError **error);
