// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/balance.h"
#include "kernels/common/erratic.h"
#include "kernels/common/noise.h"
#include "kernels/patch/choice.h"
#include "kernels/patch/patch.h"
#include "kernels/patch/swell.h"

// patch_floor_add() of several cells in one go: the floors of all added up,
// [frequency][wavenumber], and mean powers [cell][frequency], 0 where a cell has none.
typedef struct PatchFloorSums {
    gint64 *sum;
    float *mean, *below;
} PatchFloorSums;

// A device that finds bursts and measures the level itself; kernels/common/noise_job.h has the
// windows. Each is NULL or FALSE with a sentence when it was cancelled or has no memory.
typedef struct PatchMeter {
    gpointer data;
    // litho_clean() on the device; the cube is borrowed.
    const LithoCube *(*clean)(gpointer data, const LithoPatchParams *params, const LithoCube *in,
                              LithoRun *run, GError **error);
    // Spectra of the windows of all jobs that lie in `within`, which `part` holds, and have not
    // been taken. `recorded`, one byte a trace of part->held: other live traces are guesses, which
    // have no weight; NULL = all were. `whole`: the one job of the whole survey, else cells, which
    // are done in one go.
    gboolean (*spectra)(gpointer data, gboolean whole, LithoNoiseWindows *const *jobs, int n_jobs,
                        const LithoCube *part, const guint8 *recorded, LithoBox within,
                        LithoRun *run, GError **error);
    // Levels from the spectra taken last; the whole has its interval. noise[job].n is 0 where no
    // window has enough live traces. `floor`: NULL = is not asked for.
    gboolean (*levels)(gpointer data, gboolean whole, LithoNoiseWindows *const *jobs, int n_jobs,
                       LithoNoise *noise, PatchFloorSums *floor, LithoRun *run, GError **error);
    // noise_map_quiet() of the job of the whole, whose spectra were taken last; g_free().
    float *(*quiet)(gpointer data, LithoNoiseWindows *whole, LithoRun *run, GError **error);
    // noise_floor() of that job, and by half of the windows.
    gboolean (*floors)(gpointer data, LithoNoiseWindows *whole, float *tenth, float *half,
                       LithoRun *run, GError **error);
} PatchMeter;

// TRUE where a window has few traces along an axis, as those of lines and of surveys of few traces.
gboolean patch_is_narrow(const int window[2]);
// TRUE when a device takes windows of this size; else the host measures, whatever the device.
gboolean patch_meter_takes(const int window[3]);
// Bytes of a device that a measurement needs beside the input.
guint64 patch_meter_bytes(const LithoPatchGeometry *g);

// Too few live traces, with which filling goes on, or no sample but zeros, or but one number: these
// pass.
enum { PATCH_TOO_FEW = 1, PATCH_ALL_ZERO = 2, PATCH_ALL_ALIKE = 3 };

// The noise's level per frequency on a coarse grid of cells, of both backends.
typedef struct PatchLevels {
    LithoPatchLevels table;  // its sigma is `sigma`, its shape `shape`
    float *sigma, *shape;    // shape: NULL = noise comes to all wavenumbers alike (floor.h)
    LithoUneven of;          // traces of the survey, as measured part by part (gains.h)
    PatchSwell swell;        // of the survey, likewise: the levels are those without it
    double total, low, high; // of the whole input, as in LithoNoise
    gboolean fine;           // cells are finer than the survey's own (levels_bands.h)
    gint32 own[3];           // then: numbers of the survey's own along the axes
    int absent;              // PATCH_TOO_FEW ...: there was nothing to measure it on, and it is 0
    guint64 serial;          // of the cube it was measured on
    LithoMeasured *measured; // that it was taken from; NULL = none. A reference
    guint stamp;             // another one for other numbers
    LithoPatchParams params;
} PatchLevels;

static inline int patch_levels_cells(const PatchLevels *levels)
{
    return levels->table.n[0] * levels->table.n[1] * levels->table.n[2];
}

// Coefficients of a window: frequencies times wavenumbers.
static inline gsize patch_levels_powers(const LithoPatchGeometry *g)
{
    return (gsize)g->bins * g->axis[0].length * g->axis[1].length;
}

// Takes `measured`, or params->sigma, or measures `in`, which is the whole survey then, unless
// `levels` is of those already. `recorded`: one byte a trace of in->held, 1 where it was recorded;
// other live traces of `in` are guesses. Cells of 0.25 s and 16 x 16 to 64 x 64 traces; each reads
// half a cell beyond its border; finer ones where the noise is louder in places (levels_bands.h).
// `meter`: NULL measures on the host.
gboolean patch_levels_update(PatchLevels *levels, const LithoPatchGeometry *g,
                             const LithoPatchParams *params, const LithoCube *in,
                             const guint8 *recorded, LithoMeasured *measured,
                             const PatchMeter *meter, LithoRun *run, GError **error);
// Divides an axis into `n` cells.
void patch_levels_divide(PatchLevels *levels, int axis, int n);
// levels_recipe.c: the levels as numbers of the recipe, and back into `levels` that have their
// cells, of which the numbers must be as many, or as many as once, when cells had 64 x 64 traces
// and up to 1 s. Finer cells state these numbers, too.
// `asked`: the parameters as they were given, of which the recipe's key is. `found`: window, rule
// and threshold by the data (choice.h).
LithoMeasured *patch_levels_to_measured(const PatchLevels *levels, const LithoPatchGeometry *g,
                                        const LithoPatchParams *asked, PatchFound found);
// The choice that stands in the numbers; its window is that along time of the levels, 0 where they
// are no levels.
PatchFound patch_levels_found(const LithoMeasured *measured);
gboolean patch_levels_from_measured(PatchLevels *levels, const LithoPatchGeometry *g,
                                    LithoMeasured *measured, GError **error);
// Bytes that measuring the whole survey on the host takes beside the input, at most (`peak`), and
// that stay on the threads' heaps behind it (`kept`).
void patch_levels_bytes(const LithoGrid *grid, const LithoPatchGeometry *g,
                        const LithoPatchParams *params, int threads, guint64 *peak, guint64 *kept);
// Bytes of the largest part that patch_measure_with() reads where a part may have `bytes`.
guint64 patch_levels_part_bytes(const LithoGrid *grid, guint64 bytes);
// Exchanges `levels` with that of `kept` which patch_levels_update() would take as it is, if there
// is one; else moves it to the oldest of them: windows that are tried in turn are measured once.
void patch_levels_recall(PatchLevels *levels, PatchLevels *kept, int n_kept,
                         const LithoPatchGeometry *g, const LithoPatchParams *params,
                         const LithoCube *in, LithoMeasured *measured);
// The operator's measure(), on a device where `meter` is not NULL.
LithoMeasured *patch_measure_with(const LithoPatchParams *params, const LithoReader *survey,
                                  const PatchMeter *meter, LithoRun *run, GError **error);
// The level at every sample of `out`'s region, of all frequencies together: the standard deviation
// of the noise there. FALSE: cancelled.
gboolean patch_levels_volume(const PatchLevels *levels, LithoBox region, LithoCube *out,
                             LithoRun *run, GError **error);
// FALSE with the sentence where there was nothing to measure the level on.
gboolean patch_levels_are_there(const PatchLevels *levels, const LithoPatchGeometry *g,
                                GError **error);
// Measures or takes the level first. Refused where there is nothing to measure it on.
gboolean patch_levels_exec(PatchLevels *levels, LithoClean *clean, LithoCleanRule rule,
                           const LithoGrid *grid, const LithoPass *pass, LithoRun *run,
                           LithoCube *out, GError **error);
void patch_levels_clear(PatchLevels *levels);
void patch_levels_report(const PatchLevels *levels, const LithoGrid *grid,
                         const LithoPatchParams *params, LithoReport *report);
