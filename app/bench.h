// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

#include "core/backend.h"
#include "core/operator.h"

// The parts of `lithoscope-cli bench`: input, roofs, timed runs, and the report. One thread.

// The roof of a device: bytes/s of a copy (read and write counted) and fp32 flop/s of
// multiply-adds, and bytes/s of the link from and to host memory, measured in the same process. 0 =
// not measured, or there is none.
typedef struct BenchRoof {
    double bytes_per_s, flops_per_s;
    double up_per_s, down_per_s;
} BenchRoof;

// Median and middle half of `n` runs, in ms.
typedef struct BenchTimes {
    guint n;
    double median, p25, p75, min;
} BenchTimes;

enum { BENCH_MAX_STAGES = LITHO_TIMINGS_STAGES };

// Settings to be timed: those of the command line, or others named by --also.
typedef struct BenchVariant {
    char *settings; // "solver=jacobi": differences to the first; "" = the first
    gpointer params;
    double difference; // of its result to the first variant's, relative L2; NAN = not known
} BenchVariant;

// One backend's results with one variant.
typedef struct BenchRun {
    char key[32]; // "cpu1", "cpu", "cuda:0"
    guint variant;
    LithoDevice device;
    int threads; // CPU threads
    LithoDeviceInfo info;
    BenchRoof roof;
    double plan_ms, again_ms; // the first plan of the process, and a second one of these settings
    guint n_plan_stages;
    LithoStage plan_stages[BENCH_MAX_STAGES], again_stages[BENCH_MAX_STAGES];
    guint n_again_stages;
    BenchTimes compute;   // input and output where the operator wants them
    BenchTimes transfers; // from host memory to host memory; n = 0 on the CPU
    double cores;         // processor time over wall time during `compute`
    guint n_stages;
    LithoStage stages[BENCH_MAX_STAGES]; // of the compute runs
    guint n_transfer_stages;
    LithoStage transfer_stages[BENCH_MAX_STAGES];
    double from_stage_ms[BENCH_MAX_STAGES]; // median when only this stage's parameters change; 0 =
                                            // none
    double slices_ms[BENCH_MAX_STAGES];     // the same for the three middle slices; 0 = none
    guint n_slice_stages;
    LithoStage slice_stages[BENCH_MAX_STAGES]; // of those from the first such stage on
    GArray *numbers;                        // of LithoNumber: what the operator reports; owned
    double relative;                        // error against the reference, ||x - ref|| / ||ref||
    double worst; // the same in the worst block, which begins at `worst_at`
    gint64 worst_at[3];
    gboolean has_error;
} BenchRun;

typedef struct Bench {
    const LithoOperator *op;
    GArray *variants; // of BenchVariant, at least one
    LithoGrid grid;   // of the input, or of the output for sources
    guint repeat;
    double seconds; // after this long a backend's repetition ends
    GArray *runs;   // of BenchRun, variant by variant
    GArray *peers;  // of LithoRival, with --peers; NULL = not asked for
    LithoDeviceInfo peers_info; // of the device that they ran on
} Bench;

// The blocks that `worst` is of.
enum { BENCH_BLOCK_TRACES = 32, BENCH_BLOCK_SAMPLES = 128 };

static inline const BenchVariant *bench_variant(const Bench *b, guint k)
{
    return &g_array_index(b->variants, BenchVariant, k);
}

// Dipping events and noise on `grid`, the same for the same seed; missing = share of traces that
// are zero. NULL: no memory.
LithoCube *bench_input(const LithoGrid *grid, guint32 seed, double missing, GError **error);
// Appends "zfp_bytes" and "zfp_snr" to `numbers` (of LithoNumber) where they hold "file_bytes", the
// size of a lossy copy of `in`: zfp's result for as many bytes or a few more. Nothing in a build
// without zfp.
void bench_beside_zfp(const LithoCube *in, GArray *numbers);
// STREAM-like copy and a multiply-add loop on `threads` threads.
BenchRoof bench_cpu_roof(int threads);
// Times `run->device` with the settings of its variant and fills `run`. The first run's result
// becomes *reference when it is NULL; later ones are compared with it.
gboolean bench_backend(const Bench *bench, LithoCube *in, BenchRun *run, LithoCube **reference,
                       GError **error);

// Relative L2 of two host cubes; of the worst block and where it begins when not NULL.
double bench_difference(const LithoCube *x, const LithoCube *ref, double *worst,
                        gint64 worst_at[3]);

// The device for --peers: the first CUDA one of a list like that of --backends, NULL = any.
gboolean bench_peers_device(const char *backends, LithoDevice *device, GError **error);
// Fills bench->peers: stages beside other libraries, with the first variant's settings.
gboolean bench_peers(Bench *bench, LithoDevice device, GError **error);
char *bench_peers_text(const Bench *bench); // a table for people; g_free()
JsonArray *bench_peers_json(const Bench *bench);

// Tables for people; g_free().
char *bench_text(const Bench *bench);
// Everything as JSON text, for machines; g_free().
char *bench_json(const Bench *bench);
