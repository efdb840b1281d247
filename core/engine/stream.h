// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "core/io/survey.h"
#include "core/backend.h"
#include "core/peers.h"

// A tuned flow applied to a whole survey, on one or more devices, in bounded memory: slabs of
// inlines with the operators' halo are computed while their neighbours are read and
// written. Slabs of operators that work in blocks are cut along the crosslines, too
// (LithoOperator.across), and meet again before they are written. Global operators (whole cube or
// nothing) take the cube in one piece, which must fit. Steps that need numbers of their whole input
// are measured first where there is more than one slab (core/engine/measure.h). The samples do not
// depend on slab size, number of devices or threads.

// The slabs of a run that ends before its time (core/engine/journal.h).
typedef enum LithoKeep {
    LITHO_KEEP_NOTHING, // no journal; the file in the making is removed
    LITHO_KEEP_LONG,    // they stay when the run has lasted LITHO_KEEP_SECONDS, or was killed
    LITHO_KEEP_ALL,     // they stay
} LithoKeep;
enum { LITHO_KEEP_SECONDS = 10 };

// Opening one more device with its libraries: what another one must save to pay.
#define LITHO_STREAM_OPEN_S 1.0

// Where the time of a run went, for core/engine/rates.h. Of this process; times are those in which
// anybody was at it, however many at once.
typedef struct LithoStreamTook {
    double measure_s, read_s, write_s, finish_s; // finishing: the sync to disk
    double compute_s; // of a device: the sum over all of them, over their number
    double setup_s;   // of computing: the devices' first slabs beyond the others, on average; the
                      // plans of a slab alone
    gint64 read_bytes, write_bytes; // as float32
    gint64 samples, slabs;          // computed
    double inputs; // samples of the input, with the halo of each slab, for each of the result;
                   // 0 = none
    double
        pace; // of the processor behind the run (core/engine/pace.h); the caller's, 0 = not known
    double pieces; // work on each of these (core/engine/pieces.h); 0 = 1
    int devices;                    // that computed slabs
    int sharing;                    // devices that shared each slab
} LithoStreamTook;

typedef struct LithoStreamOptions {
    LithoDevice device;    // its `count` devices deal out the slabs, or share each of them where a
                           // step needs the whole survey; no backend = the CPU
    int threads;           // CPU threads in all; 0 = all
    guint64 memory;        // host bytes to stay under; 0 = half of what is available. Peers
                           // must all give the same, so that all plan the same slabs
    guint64 device_memory; // bytes of each device to stay under; 0 = what is free on the first
                           // one. Peers: the same
    double open_s;         // what one more device must save to be opened; 0 = LITHO_STREAM_OPEN_S
    LithoSaveOptions save;
    LithoKeep keep;    // of runs in several slabs; the same run goes on with what was kept
    gboolean restart;  // begins anew where an earlier run has kept something
    gboolean measure; // before a run in one piece, too, so that `ran` holds the numbers; peers: all
    GPtrArray *notes; // of char *: takes what the operators say of the result and what the file
                      // could not hold; NULL = not told
    LithoPeers *peers;       // NULL = alone. Rank r of n computes slabs r, r + n, ..., or all compute one
                             // slab together; rank 0 writes the file. Calls come from one thread at a
                             // time
    LithoStreamTook *took;   // out, of a run that was not gone on with; NULL = not wanted
    LithoFlow **ran;         // out: the flow with what was measured for it, the caller's; NULL = not
                             // wanted
} LithoStreamOptions;

typedef struct LithoStreamPlan {
    LithoGrid out;
    gint64 begin; // inline of output to begin with: what lies before was kept by an earlier run
    gint64 first; // that of the slabs: `begin`, or the row that `behind` needs for it
    guint behind; // last steps of the flow, which the first process computes of whole rows of slabs
                  // of the steps before, as they arrive; 0 = slabs are of the whole flow
    gint64 slab;  // inlines of output at a time
    gint64 across;  // crosslines of output at a time
    gint64 columns; // slabs beside each other along a row of `slab` inlines; 1 = whole inlines
    gint64 n_slabs; // from `first` on, row by row
    gint64 kept;    // of them, the first: kept by an earlier run, too
    gint64 halo;          // inlines of input read beyond a slab, both sides together, at most
    gint64 halo_across;   // crosslines likewise
    guint engines;        // devices that may compute slabs beside each other, as far as they pay
    int sharing;          // devices that share each slab; 1 unless `engines` is 1
    gboolean splits;      // slabs can be dealt out; else all processes compute one together
    gboolean alone;       // nothing can: the first process computes, the others wait
    const char *shared;   // what they share, "frequencies"; NULL unless `sharing` is above 1
    guint64 kept_bytes;   // of the host bytes: the result of steps before a measured one, which
                          // is computed first, once, and kept; 0 = none
    guint lanes;          // threads for each engine, one of which computes at a time
    guint64 host_bytes;   // needed at a time
    guint64 device_bytes; // needed on each device, 0 = not known
} LithoStreamPlan;

// Bytes free on the first device of `options`; G_MAXUINT64 on the CPU and when it does not tell. The
// others are opened while the run is under way, when they pay, and left out where they have less.
guint64 litho_stream_device_memory(const LithoStreamOptions *options);
// Plans a run without running it. `survey` may be NULL for a flow that begins with a source. Reads
// the files that the flow's steps name, with progress and cancel through `run` (may be NULL).
gboolean litho_stream_plan(const LithoFlow *flow, LithoSurvey *survey,
                           const LithoStreamOptions *options, LithoRun *run, LithoStreamPlan *plan,
                           GError **error);
// The plan that the run's becomes at most, where numbers that its first pass measures ask for more
// samples around slabs than is planned with: where the survey has swell or hum. FALSE, besides what
// litho_stream_plan() refuses: such a survey does not fit.
gboolean litho_stream_plan_at_most(const LithoFlow *flow, LithoSurvey *survey,
                                   const LithoStreamOptions *options, LithoRun *run,
                                   LithoStreamPlan *plan, GError **error);
// Runs it into `path` (of which ranks other than 0 touch nothing). Progress in inlines of output.
// On failure or cancel no file is left behind, unless `keep` says so; with peers the failing rank tells the others, and
// whoever started the processes ends them. `run->ranks_used` tells how many computed.
gboolean litho_stream_run(const LithoFlow *flow, LithoSurvey *survey, const char *path,
                          const LithoStreamOptions *options, LithoRun *run, GError **error);
