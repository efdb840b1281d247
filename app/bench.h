// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/operator.h"

// The parts of `lithoscope-cli bench`: input, roofs, timed runs, and the report. One thread.

// What bounds a device: bytes/s of a copy (read and write counted) and fp32 flop/s of
// multiply-adds, measured in the same process. 0 = not measured.
typedef struct BenchRoof {
    double bytes_per_s, flops_per_s;
} BenchRoof;

// Median and middle half of `n` runs, in ms.
typedef struct BenchTimes {
    guint n;
    double median, p25, p75, min;
} BenchTimes;

enum { BENCH_MAX_STAGES = LITHO_TIMINGS_STAGES };

// One backend's results.
typedef struct BenchRun {
    char key[32]; // "cpu1", "cpu", "cuda:0"
    LithoDevice device;
    int threads; // CPU threads
    LithoDeviceInfo info;
    BenchRoof roof;
    double plan_ms;
    BenchTimes compute;   // input and output where the operator wants them
    BenchTimes transfers; // from host memory to host memory; n = 0 on the CPU
    guint n_stages;
    LithoStage stages[BENCH_MAX_STAGES]; // of the compute runs
    guint n_transfer_stages;
    LithoStage transfer_stages[BENCH_MAX_STAGES];
    double from_stage_ms[BENCH_MAX_STAGES]; // median when only this stage's parameters change; 0 =
                                            // none
    double relative,
        worst; // error against the reference: ||x - ref|| / ||ref||, and of the worst block
    gboolean has_error;
} BenchRun;

typedef struct Bench {
    const LithoOperator *op;
    gpointer params;
    LithoGrid grid; // of the input, or of the output for sources
    guint repeat;
    double seconds; // after this long a backend's repetition ends
    GArray *runs;   // of BenchRun
} Bench;

// Dipping events and noise on `grid`, the same for the same seed; missing = share of traces that
// are zero. NULL: no memory.
LithoCube *bench_input(const LithoGrid *grid, guint32 seed, double missing, GError **error);
// STREAM-like copy and a multiply-add loop on `threads` threads.
BenchRoof bench_cpu_roof(int threads);
// Times `run->device` and fills `run`. The first run's result becomes *reference when it is NULL;
// later ones are compared with it.
gboolean bench_backend(const Bench *bench, LithoCube *in, BenchRun *run, LithoCube **reference,
                       GError **error);

// Tables for people; g_free().
char *bench_text(const Bench *bench);
// Everything, for machines.
JsonNode *bench_json(const Bench *bench);
