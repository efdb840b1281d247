// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "core/qc_noise.h"
#include "kernels/common/erratic.h"
#include "kernels/wavepacket/engine.h"
#include "kernels/wavepacket/wavepacket.h"

// The operator's work with wave packets, for any engine: the plan of the operator is a WpJob,
// exec() is wp_job_run(). A volume is one block or several that overlap; block by block
//     result = sum_b g_b A* shrink(A g_b volume),    sum_b g_b^2 = 1,
// with the same thresholds in every block, so that no seam shows.
//
// Several devices share the work in one of two ways (the papers' variants): the blocks of a volume
// are dealt out in lanes, an engine and a thread each; or, when the volume is one block, one engine
// spreads its boxes over the devices.

enum { WP_STAGE_PLAN, WP_STAGE_FORWARD, WP_STAGE_SHRINK, WP_STAGE_INVERSE };

// A level that is measured beside a pass waits for these and tells them, in its thread.
typedef struct WpLevelBeside {
    // Waits for the cube to measure and its `recorded`, of the sizes that are known; FALSE: it will
    // not come, and the level is of no use.
    gboolean (*wait)(gpointer data, const LithoCube **cube, const guint8 **recorded);
    // Tells that the noise is alike everywhere: there will be no maps. At most once.
    void (*even)(gpointer data);
    gpointer data;
} WpLevelBeside;

// The level of the noise of a cube, from `most` windows: litho_noise_measure() where `recorded` is
// NULL, else litho_noise_measure_level(), of a cube that has its guesses. With `beside` the cube
// may lack its samples, and wait() tells of the one to measure.
typedef gboolean (*WpLevelFunc)(const LithoCube *cube, const guint8 *recorded, const int window[3],
                                int most, const WpLevelBeside *beside, LithoRun *run,
                                LithoNoise *noise, GError **error);

// A backend's way to make engines.
typedef struct WpMachine {
    gboolean gpu;
    WpEngineNew engine;                        // on run->device
    WpWindowsFunc windows;                     // fills a geometry that is laid out; NULL = the host
    WpLevelFunc level;                         // NULL = the host
    guint64 (*available)(const LithoRun *run); // bytes that may be taken there
    // Number of `wanted` devices that may be used. NULL = one.
    int (*devices)(int wanted);
    // One engine with its boxes spread over `devices`, the first of them run->device.
    WpEngine *(*spread)(const WpGeometry *geometry, int form, int devices, LithoRun *run,
                        GError **error);
} WpMachine;

// Coefficients of plane p1 = `plane` of a box whose packets sit well inside the block.
typedef struct WpProbe {
    int box, plane, n;
    int *inside; // p2 n3 + p3
} WpProbe;

typedef struct WpEstimate WpEstimate;
typedef struct WpBeside WpBeside;

// Blocks first .. end-1, one engine, one thread while blocks are worked on. Arrays are in the
// engine's memory, NULL until needed.
typedef struct WpLane {
    WpEngine *engine;
    int first, end;
    float *in, *out;   // whole cubes that blocks are cut from and pasted into. Lane 0 borrows the
                       //   job's, the others own copies of the inlines they need
    float *u, *v, *w;  // block-sized volumes
    float *d, *e, *f;  // coefficients
    gboolean shared;   // no room for every block's coefficients: they are made again each time
    int current;       // block whose coefficients the shared array holds, -1 = none
    WpBoxStats *stats; // of the forward stage, per box
    double *counts;    // WP_BINS
    guint64 *kept;     // per box
    WpEstimate *estimate; // of the level of the noise, under way; NULL = none
    LithoRun *run, quiet; // of the pass under way; lanes but the first only look for a cancel
} WpLane;

// A plane of the result that has been computed, in memory of lane 0's engine.
typedef struct WpKeptPlane {
    WpPlane plane;
    float *part;    // of the block, what is dropped
    gboolean known; // else the memory alone is there
} WpKeptPlane;

// How an axis with `margin` mirrored samples at both ends is cut: segment b begins at
// wp_cuts_start(), the first one with the margin; the last one ends with the other.
typedef struct WpCuts {
    gint64 n;  // samples, margins included
    int margin;
    gint64 block, overlap;
    int count;
} WpCuts;

typedef struct WpJob {
    LithoGrid survey; // all of the input
    WpCuts cuts[3];   // of it
    gboolean regional; // a part of the output needs the segments that touch it only
    // All lines below are of the part that is worked on: the survey, or the segments of a region.
    LithoBox window;
    LithoGrid grid;
    gint64 n[3], samples;
    WpSpec spec;          // of one block
    WpGeometry *geometry; // of one block
    WpBlock *blocks;
    int n_blocks;
    gboolean whole;   // one block that is the volume: nothing is cut or pasted
    double real;      // threshold of the residual's real coefficients over that of complex ones
    float *tapers[3]; // per axis: n_along x geometry n[a]; NULL with a single block along it
    WpLane *lanes;
    int n_lanes, n_made;           // at work (no more than blocks), and there
    gboolean lanes_hold_volume;    // the copies in lanes 1.. are of `volume`
    WpEngine *engine;              // of lane 0, whose memory holds the whole cubes
    float *volume, *result, *work; // whole cubes; the last one for interpolation
    float **c; // per block: A g_b volume, in its lane's memory; all of a lane the same array
               //   when it is `shared`

    LithoGains gains;             // of the input's traces
    guint64 gains_of;             // LithoGains.stamp that the volume was loaded with; 0 = no gains
    const LithoCube *as_recorded; // the input of the pass under way
    LithoClean clean; // the input without bursts and gaps, where there are bursts
    GArray *probes; // of WpProbe: where the noise level is measured
    // Known after the forward stage.
    gboolean transformed;
    int segment; // size of the segments where the job chose it, else 0
    gboolean keeps; // coefficients of all segments at once, where the engines have room
    LithoNoiseMap map; // `volume` is over the deviation of the noise; level NULL = as it came
    LithoNoiseMap bands; // and coefficients over what it has beyond that,
    float *box_levels;   // WpPlacesLevels.level; NULL = as they came
    double input_energy;
    double sigma;        // wp_job_sigma(); negative = not asked for yet
    WpLevelFunc level;   // of the machine
    WpBeside *beside;    // measures `noise` while a pass goes on; NULL = nothing does
    LithoNoise noise;    // of the input by frequency; n 0 = not measured
    guint64 noise_of;    // serial of the cube it was measured on, and what it was taken from
    LithoMeasured *noise_from; // instead; NULL = nothing. A reference
    // wp_local_powers() of the residual and the coarse box in that noise, or in white noise; NULL =
    // not worked out yet.
    double *powers[2];
    gboolean powers_white;
    double *local_window[2]; // wp_local_window() of these boxes; NULL likewise
    double *variances;   // per box: of a coefficient in that noise, over sigma_b^2; NULL likewise
    double *block_sigma; // per block
    gboolean sigma_late; // it is not asked for yet
    WpBoxStats *stats;   // per box: energy summed, peak over all blocks
    double peak;         // max over boxes but the coarse one of peak/sigma_b
    double *counts;      // WP_BINS, histogram of |c|/sigma_b

    guint64 *kept; // per box: coefficients the last pass over the blocks kept

    // State of the last pass, for the next one that differs in its region only.
    gboolean begun; // d of lane 0 is what the engine's begin_adjoint() has made of what is dropped
    gboolean has_result; // `result` is there
    WpKeptPlane planes[WP_MOST_PLANES];
    guint64 alone_of; // serial of the input that `alone` is told of; 0 = none
    gboolean alone;   // it has traces that stand alone
} WpJob;

WpJob *wp_job_new(const LithoGrid *in, const LithoWavepacketParams *params,
                  const WpMachine *machine, LithoRun *run, GError **error);
void wp_job_free(WpJob *job);
// Blocks first[a] .. end[a] - 1 of each axis become those of the job.
void wp_job_list_blocks(WpJob *job, const int first[3], const int end[3]);
// Arrays that no pass can do without; those and the coefficients of `in`; the mode's work on them.
gboolean wp_job_reserve(WpJob *job, GError **error);
gboolean wp_job_forward(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
gboolean wp_job_apply(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
// gains.c. With the input over the gains of its traces, where these differ.
gboolean wp_job_run(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
// The pass as it comes, with traces over their gains.
gboolean wp_job_run_over(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
// Bytes of the machine's memory that a job needs at least, input and output included, with the
// segments that it would choose now; found by so many threads, 0 = all.
guint64 wp_job_memory(const LithoGrid *in, const LithoWavepacketParams *params,
                      const WpMachine *machine, LithoBox region, int threads);
// Cuts of a grid into segments of `block`, 0 = none; first sample of one, -margin at least.
void wp_cuts(const LithoGrid *in, const LithoWavepacketParams *params, int block, WpCuts cuts[3]);
gint64 wp_cuts_start(const WpCuts *cuts, int b);
guint64 wp_job_kept(const WpJob *job);
// Collects the energies of a block's coefficients for the thresholds and the picture, and when all
// blocks were looked at, those of all.
gboolean wp_job_look(WpJob *job, WpLane *lane, int block, const float *c, GError **error);
void wp_job_looked(WpJob *job);
// TRUE where the coefficients come from a file.
gboolean wp_reads_file(const LithoWavepacketParams *params);
// One number per trace in the engine's memory, for its distance() and insert(); its release().
float *wp_mask_new(WpJob *job, const LithoCube *in, double live, double dead, GError **error);

// --- holes.c -------------------------------------------------------------------------------------

// TRUE when guesses stand in for missing traces.
gboolean wp_guesses(const LithoWavepacketParams *params);
// Samples of the survey that the guesses in `box` depend on, and `box`.
LithoBox wp_guess_box(const LithoGrid *survey, const LithoWavepacketParams *params, LithoBox box);
// Rule by which the mode finds bursts. Missing traces are guessed beside them, and else where
// wp_guesses() says so.
LithoCleanRule wp_clean_rule(const LithoWavepacketParams *params, LithoCleanMissing missing);
// `in` where it has no bursts, else with guesses in their place and in that of missing traces,
// which are live then: kept by the job for the next pass. The engine finds and guesses where it
// can, else the host. Borrowed; NULL: cancelled, or a failure.
const LithoCube *wp_clean(WpJob *job, const LithoWavepacketParams *params, const LithoCube *in,
                          LithoRun *run, GError **error);
// A copy of the samples in `box`, which `in` holds, with guesses in place of missing traces; these
// are live then. *guessed NULL: there is nothing to guess. `engine` guesses where it can, if `box`
// is all that `in` holds; NULL = the host does.
gboolean wp_guess(const LithoWavepacketParams *params, const LithoCube *in, LithoBox box,
                  WpEngine *engine, LithoCube **guessed, LithoRun *run, GError **error);
// Traces of job->result that are dead in `in` become zeros.
gboolean wp_bury(WpJob *job, const LithoCube *in, GError **error);
// Recorded traces that stand alone in `in`, which holds the window and what guesses need around it,
// come into job->result as they are, and a remark tells so.
gboolean wp_leave_alone(WpJob *job, const LithoWavepacketParams *params, const LithoCube *in,
                        LithoRun *run, GError **error);

// TRUE in *any: the window of `in` has recorded traces that stand alone.
gboolean wp_any_alone(WpJob *job, const LithoCube *in, gboolean *any, GError **error);

// *alone, g_free(): one byte a trace that `in` holds, 1 for recorded ones of the window that stand
// alone; NULL: there are none.
gboolean wp_alone(const LithoCube *in, LithoBox window, guint8 **alone, GError **error);

// --- gains.c -------------------------------------------------------------------------------------

// TRUE where gains are asked for: noise is removed, its level is measured.
gboolean wp_gains_asked(const LithoWavepacketParams *params);
// Bytes of the input's copy over its gains, of a box; 0 where none can come.
guint64 wp_gains_bytes(const LithoGrid *in, const LithoWavepacketParams *params, LithoBox box);
// The rule, with the traces that are noisier than others; `stamp` tells one list from another.
LithoCleanRule wp_gains_clean_rule(LithoUneven of, guint64 stamp, LithoCleanRule rule);
// noise.c: numbers that stand in `measured`.
LithoUneven wp_gains_from_measured(const LithoGrid *grid, const LithoMeasured *measured);

// A survey that is read over the gains of its traces. Stays where it was set.
typedef struct WpReader {
    LithoReader over;
    const LithoReader *survey;
    LithoUneven of;
} WpReader;

// Finds the gains, part by part. FALSE: cancelled, or a failure; nothing to end.
gboolean wp_reader_begin(WpReader *reader, const LithoWavepacketParams *params,
                         const LithoReader *survey, LithoRun *run, GError **error);
void wp_reader_end(WpReader *reader);

// --- planes.c ------------------------------------------------------------------------------------

// LithoImpl.planes, where the engine has planes.
gboolean wp_has_planes(const LithoGrid *in, const void *params, int devices);
// TRUE when the pass is of one of run->views that is a plane of the survey: `plane`, without
// samples.
gboolean wp_planes_wanted(const WpJob *job, const LithoPass *pass, const LithoRun *run,
                          WpPlane *plane);
// The plane of the result into pass->out: one that is known, or of the known result, or computed
// with the others of run->views where that gives the samples of the whole. FALSE in *done: it does
// not, and the whole is needed.
gboolean wp_planes_run(WpJob *job, const LithoPass *pass, const WpPlane *plane, LithoRun *run,
                       gboolean *done, GError **error);
// The plane of job->result into pass->out.
gboolean wp_planes_store(WpJob *job, const LithoPass *pass, const WpPlane *plane, GError **error);
// Other parameters or another input.
void wp_planes_forget(WpJob *job);
void wp_planes_free(WpJob *job);

// --- region.c ------------------------------------------------------------------------------------

// TRUE when a region of the output needs the segments that touch it only (and the noise level).
gboolean wp_is_regional(const LithoWavepacketParams *params);
// Samples of the segments that touch a region; and with what guesses need around them.
LithoBox wp_region_segments(const LithoGrid *in, const LithoWavepacketParams *params,
                            LithoBox region);
LithoBox wp_region_input(const LithoGrid *in, const LithoWavepacketParams *params, LithoBox region);
// The job works on the segments that touch `region` from now on.
void wp_job_window(WpJob *job, LithoBox region);
// A pass of a region; a level of the noise that is not given is pass->measured.
gboolean wp_region_run(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
// The samples that pass->out holds out of the window's result; `in`: the window's input, for its
// live mask.
gboolean wp_region_store(WpJob *job, const LithoPass *pass, const LithoCube *in, GError **error);

// --- lanes.c -------------------------------------------------------------------------------------

// Work on every block. Runs in the lane's thread.
typedef gboolean (*WpBlockFunc)(WpJob *job, WpLane *lane, int block, gpointer data, GError **error);

typedef struct WpWork {
    const char *stage; // for the progress display
    const float *from; // whole cube that wp_lane_cut() takes blocks from; NULL = none
    float *to;         // whole cube that wp_lane_paste() adds up in, cleared before; NULL = none
    WpBlockFunc each;
    gpointer data;
    gboolean in_order; // block after block, whatever there are lanes
} WpWork;

// Makes the lanes' engines; `devices` of them at most.
gboolean wp_lanes_new(WpJob *job, const LithoWavepacketParams *params, const WpMachine *machine,
                      LithoRun *run, GError **error);
void wp_lanes_free(WpJob *job);
// Lane k gets its share of the job's blocks, perhaps none.
void wp_lane_deal(WpJob *job, int k);
gboolean wp_lanes_begin(WpJob *job, LithoRun *run, GError **error);
gboolean wp_lanes_finish(WpJob *job, LithoRun *run, GError **error);
// All blocks; sums lane->kept into job->kept.
gboolean wp_lanes_work(WpJob *job, const WpWork *work, LithoRun *run, GError **error);

// TRUE when the engine could allocate; the array is kept for the next time.
gboolean wp_reserve(WpEngine *engine, float **array, gint64 floats, GError **error);
// Room for every block's coefficients, or for one's per lane.
gboolean wp_lanes_reserve_coefficients(WpJob *job, GError **error);
// The engines' own arrays alone.
gboolean wp_lanes_attach(WpJob *job, GError **error);
// Gives back all of a lane's coefficients.
void wp_lane_drop_coefficients(WpJob *job, WpLane *lane);
// Coefficients A g_b volume of a block (cached or made anew; the work must be from job->volume).
float *wp_lane_coefficients(WpJob *job, WpLane *lane, int block, GError **error);
// g_b times lane->in as the block's input: `in` itself when the block is the whole volume.
const float *wp_lane_cut(WpJob *job, WpLane *lane, int block, GError **error);
// Memory for a block's output, NULL = none left; the output goes from there into the whole.
float *wp_lane_target(WpJob *job, WpLane *lane, GError **error);
gboolean wp_lane_paste(WpJob *job, WpLane *lane, const float *u, int block, GError **error);
// u = A* d, improved by Neumann steps towards A u = d; d is destroyed. For m corrections.
gboolean wp_lane_invert(WpJob *job, WpLane *lane, float *d, float *u, int corrections,
                        GError **error);

// --- coarse.c ------------------------------------------------------------------------------------

// rule->coarse on the coarse box, from c to out, which may be one array; kept[0] grows by what
// stays, as a share of the box's number. Waits for the engine.
gboolean wp_coarse_shrink(WpEngine *engine, const float *c, float *out, const WpRule *rule,
                          guint64 *kept, LithoRun *run, GError **error);
// The whole rule, from c to another array: the host thresholds the coarse box while the engine
// thresholds the others. `kept` as shrink() has it.
gboolean wp_shrink_all(WpEngine *engine, const float *c, float *out, const WpRule *rule,
                       guint64 *kept, LithoRun *run, GError **error);

// --- thresholds.c --------------------------------------------------------------------------------

// Chooses the coefficients from which the noise level is measured; once per job.
void wp_probes_new(WpJob *job, const LithoRun *run);
void wp_probes_free(WpJob *job);
// Begins to estimate the level of the noise by a block's coefficients, which may change afterwards:
// beside the pass where a card does the work. The lane's estimate before this one is ended.
gboolean wp_ask_sigma(WpJob *job, WpLane *lane, int block, const float *c, GError **error);
// Where that was put off, because a card may do it while it works on: now, by the coefficients of
// the only block.
gboolean wp_ask_sigma_late(WpJob *job, GError **error);
void wp_take_sigma(WpJob *job, WpLane *lane); // waits for it: job->block_sigma
void wp_drop_sigma(WpLane *lane);
// Level over all blocks, once they have been looked at; ends the estimates.
double wp_job_sigma(WpJob *job);
// Level k sigma sigma_b per box, 0 for the coarse one; g_free().
float *wp_levels(const WpJob *job, double k_sigma);
// The magnitude below which coefficients are dropped so that `count` are kept, over all blocks.
// counts[WP_BINS]: the histogram of |c| it was found from.
gboolean wp_level_for_count(WpJob *job, guint64 count, double *level, double *counts, LithoRun *run,
                            GError **error);

// --- noise.c -------------------------------------------------------------------------------------

// LithoOperator.measure_key and measure: the noise of the whole input.
char *wp_measure_key(const void *params);
LithoMeasured *wp_measure(const void *params, const LithoReader *reader, LithoRun *run,
                          GError **error);
// Bytes that measuring takes on the host; 0 = these parameters ask for none.
guint64 wp_noise_memory(const LithoGrid *in, const LithoWavepacketParams *p);
// Bytes of that which a job on the host keeps beside its coefficients.
guint64 wp_noise_powers_memory(const LithoGrid *in, const LithoWavepacketParams *p);
// Bytes that the CPU's threads take beside it, and LithoImpl.measure_memory.
guint64 wp_noise_threads_memory(const LithoGrid *in, const LithoWavepacketParams *p, int threads);
guint64 wp_measure_memory(const LithoGrid *in, const void *params, guint64 part, int threads);
// Takes pass->measured, or measures the input without its bursts, unless job->noise is of those
// already. Where nothing can be measured its n is 0. FALSE: cancelled, no memory, numbers that make
// no sense.
// Ends what measures beside the pass.
gboolean wp_know_noise(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
void wp_forget_noise(WpJob *job);
// Traces of a cube with guesses that count; NULL = all were recorded.
const guint8 *wp_recorded(const LithoCube *in);
// TRUE in *known where wp_know_noise() need not measure; *clean: the input without its bursts, NULL
// where pass->measured tells.
gboolean wp_look_up_noise(WpJob *job, const LithoPass *pass, const LithoCube **clean,
                          gboolean *known, LithoRun *run, GError **error);
// TRUE where the level of a cube is kept from another pass.
gboolean wp_noise_is_kept(const WpJob *job, const LithoPass *pass);
// Measures job->noise, with `beside` once the cube is there. FALSE with LITHO_ERROR_GEOMETRY: there
// are no windows.
gboolean wp_measure_noise(WpJob *job, const LithoPass *pass, const LithoCube *clean,
                          const WpLevelBeside *beside, LithoRun *run, GError **error);
// Keeps what wp_measure_noise() has come to: `measured`, or failed by `trouble`, which it takes.
gboolean wp_keep_noise(WpJob *job, const LithoPass *pass, const LithoCube *clean, gboolean measured,
                       GError *trouble, GError **error);
// Works out what wp_noise_levels() and wp_noise_powers() need of job->noise.
void wp_prepare_noise(WpJob *job, const LithoRun *run);
// wp_local_powers() of the residual or the coarse box in `noise`, NULL = white noise; the job's.
const double *wp_noise_powers(WpJob *job, const WpBox *box, const LithoNoise *noise, int threads);
// Level per box: k times the deviation that job->noise has in it, 0 for the coarse one; g_free().
float *wp_noise_levels(WpJob *job, double k, int threads);

// --- beside.c ------------------------------------------------------------------------------------

// Begins to measure the noise of the pass in a thread, where it has to be measured and a card does
// the work: all that depends on the cube's size alone.
void wp_beside_begin(WpJob *job, const LithoPass *pass, const LithoRun *run);
// Goes on with the cube, and waits until it is known whether the noise is alike everywhere; FALSE
// in *even: it is not, or nothing measures. job->input_energy is known.
gboolean wp_beside_go_on(WpJob *job, const LithoPass *pass, gboolean *even, LithoRun *run,
                         GError **error);
// Waits for the end: job->noise, and what follows from it.
gboolean wp_beside_end(WpJob *job, GError **error);
void wp_beside_drop(WpJob *job);

// --- places.c ------------------------------------------------------------------------------------

// Where noise that is removed varies from place to place, job->volume becomes the input over its
// deviation; the level is measured for that.
gboolean wp_places_begin(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
// TRUE in *current: job->volume is over the deviation that a pass would take now.
gboolean wp_places_current(WpJob *job, const LithoPass *pass, gboolean *current, LithoRun *run,
                           GError **error);
// Coefficients of a block over the deviation that the noise has beyond that at their places, and
// times it again.
gboolean wp_places_weigh(const WpJob *job, WpLane *lane, int block, gboolean over, float *c,
                         GError **error);
void wp_places_forget(WpJob *job);
// job->result times the deviation that job->volume is over.
gboolean wp_places_end(WpJob *job, GError **error);
// Likewise for a plane of it.
gboolean wp_places_end_plane(WpJob *job, const WpPlane *plane, GError **error);
// Power of the noise at frequency number `f` over all places, in units of noise->sigma[f]^2: 1
// where it varies at no frequencies alone.
double wp_noise_places(const LithoNoise *noise, guint f);
// Deviation of the noise of all places and frequencies, of some alone too.
double wp_noise_deviation(const LithoNoise *noise);
void wp_places_report(const WpJob *job, LithoReport *report);

// --- leak.c --------------------------------------------------------------------------------------

enum { WP_CLEAR = 6 };   // energy of data over that of their noise: 8 dB
enum { WP_SMALLER = 2 }; // sizes of smaller windows: of 12 and of 8 traces
// TRUE where data of a mean square of `power` are so clear that their events' leak may be in the
// level, or be taken for noise that varies from place to place.
gboolean wp_noise_may_leak(const LithoNoise *noise, double power);
// Takes leak off by the levels in smaller windows, in falling size. `missing`: part of the traces;
// `line`: of a survey of lines that are transformed one by one.
void wp_noise_take_leak(LithoNoise *noise, const LithoNoise smaller[WP_SMALLER], double power,
                        double missing, gboolean line);
// Leaves out the map of noise so weak that it may be of something else.
void wp_noise_check_map(LithoNoise *noise, double power);
// times.c: moves the map, where there is one, in time as windows of half the samples tell.
void wp_noise_take_times(LithoNoise *noise, const LithoNoise *shorter);

// --- modes.c, compress.c: each fills job->result and reports its numbers -------------------------

gboolean wp_denoise(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);
// Up to begin_adjoint() and planes() of what wp_denoise() drops, which goes on from there; its
// report.
gboolean wp_denoise_begin(WpJob *job, const LithoPass *pass, const WpPlane *planes, int n,
                          LithoRun *run, GError **error);
void wp_denoise_report(WpJob *job, const LithoPass *pass, LithoRun *run);
gboolean wp_reconstruct(WpJob *job, const LithoWavepacketParams *params, LithoRun *run,
                        GError **error);
gboolean wp_compress(WpJob *job, const LithoWavepacketParams *params, LithoRun *run,
                     GError **error);
gboolean wp_interpolate(WpJob *job, const LithoPass *pass, LithoRun *run, GError **error);

// --- report.c ------------------------------------------------------------------------------------

// Reports the state after the forward stage: the boxes with their energies, the histogram.
void wp_report_spectrum(const WpJob *job, LithoRun *run);
// The histogram once more, with a threshold: counts of WP_BINS bins of `what`.
void wp_report_threshold(const double *counts, const char *what, double threshold, LithoRun *run);
// From job->kept: totals, per scale, and the boxes' legend.
void wp_report_kept(const WpJob *job, LithoRun *run);
// Relative error and SNR of job->result against job->volume, where they should be alike.
gboolean wp_report_error(WpJob *job, LithoRun *run, GError **error);
