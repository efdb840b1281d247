// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/measured.h"
#include "core/param.h"
#include "core/report.h"
#include "core/resolve.h"
#include "core/rival.h"
#include "core/run.h"

// An operator is one constant of type LithoOperator in kernels/<key>/<key>.c plus implementations
// for backends. The program knows it through the table litho_operators() only.

typedef struct LithoPreset {
    const char *name;     // N_("default"), N_("strong"): windows show them translated
    const char *settings; // "prewhitening=100 half_width=2": differences to the defaults
    const char *doc;
} LithoPreset;

// Meaning of a number that the operator tells (litho_report_number), for the person who reads it.
typedef struct LithoNumberDoc {
    const char *key;
    const char *doc; // one sentence; where it can be said, which values are good
} LithoNumberDoc;

// A volume that an operator can give beside its result, on the grid of the result: a dip, the level
// of the noise, a count. exec() gives one at a time, the one that is asked for.
typedef struct LithoVolumeDoc {
    const char *name; // "noise level": names it on the command line, in recipes and in the window
    const char *unit; // "degrees"; "" = none, or that of the samples
    const char *doc;  // one sentence
    gint64 reach[3];  // of the result: its samples so far away on either side are needed, too
} LithoVolumeDoc;

// A demonstration that shows the operator at its best: a generated survey and settings.
typedef struct LithoDemo {
    const char *survey;   // words of 'lithoscope-cli synth': "survey missing=20"; NULL = a source
    const char *settings; // as in a preset; "" = the defaults
    const char *doc;      // what is to be seen, one sentence
} LithoDemo;

// The request of one call of exec().
typedef struct LithoPass {
    const void *params;   // the operator's struct; valid during the call
    LithoResolved *known; // what its files say; the one plan() was given. NULL = it needs none
    LithoMeasured *measured; // what measure() found; NULL = it was not asked: `in` is the whole input
                             // then, and what is needed is measured there
    int first_stage;     // stages before this one may be taken from the plan's caches: nothing they
                         // depend on has changed since this plan's last successful exec. Never 0
                         // (stage 0 is making the plan); 1 = the input is new; G_MAXINT = only the
                         // region differs
    const LithoCube *in; // NULL for sources (needs_input false); in->held holds input_box()
    const LithoVolumeDoc *volume; // one of the operator's, which `out` is to hold; NULL = the result
    LithoBox region;     // samples of `out` that must be valid on return, in output-grid indices
    LithoCube *out;      // covers at least `region`; inherits live mask and notes from the caller
} LithoPass;

// One backend's way to run an operator.
//
// plan() may take long and reports through `run`; it depends on the input grid, on the files and on
// stage-0 parameters only. `known` is what resolve() gave, NULL when these parameters name no file;
// who keeps it takes a reference. exec() must give the same samples in `region` whatever `region`
// is (that is what makes preview equal result), leave NaN/dead traces to the operator's rule, call
// litho_run_step() every 15 ms, and on failure or cancel leave the plan usable. One plan is used by
// one thread at a time.
typedef struct LithoImpl {
    gpointer (*plan)(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error);
    gboolean (*exec)(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error);
    void (*destroy)(gpointer plan); // NULL plan is never passed
    // Bytes of this backend's memory that plan and exec need for `region` with so many CPU threads,
    // input and output included; NULL = not known.
    guint64 (*memory)(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads);
    // A clause that names a parameter and the value with which memory() would be `bytes` or less
    // ("strip_width must be 240 or less"), owned by the caller; NULL = there is none. May be NULL.
    char *(*less_memory)(const LithoGrid *in, const void *params, LithoResolved *known,
                         guint64 bytes, int threads);
    // Bytes that one of its volumes in `region` needs beside memory() for all that it depends on.
    // May be NULL: none.
    guint64 (*volume_memory)(const LithoGrid *in, const void *params, const LithoVolumeDoc *volume,
                             LithoBox region);
    // Bytes of the host that measure() takes with parts of `part` bytes (LithoReader.bytes), those
    // included. May be NULL: no more than a region.
    guint64 (*measure_memory)(const LithoGrid *in, const void *params, guint64 part, int threads);
    // The operator's measure() on this backend, on run->device, where exec() on the whole input
    // measures there too: both find the same numbers. NULL = LithoOperator.measure.
    LithoMeasured *(*measure)(const void *params, const LithoReader *reader, LithoRun *run,
                              GError **error);
    // TRUE when exec() has a plane of the output (LithoPass.region is one sample thick and a whole
    // slice of the grid) in much less time than all of it, although it depends on all of the input:
    // where LithoRun.views are asked for, the region may be one of them then, and its samples
    // differ by rounding from those of the whole. Pure. NULL = never: one that is not local has all
    // or nothing.
    gboolean (*planes)(const LithoGrid *in, const void *params, int devices);
    // Appends rows (LithoRival) of stages on run->device beside other libraries, for benchmarks:
    // each runs `repeat` times, in turn. What a comparison needs is changed in a copy of the
    // parameters, and the row says so. NULL = none.
    gboolean (*rivals)(const LithoGrid *in, const void *params, int repeat, LithoRun *run,
                       GArray *rows, GError **error);
} LithoImpl;

// Division of an operator's work among devices and processes. The operator declares it; the run
// says who takes part.
typedef enum LithoSplitKind {
    LITHO_SPLIT_NONE,   // into nothing: one device computes all of it
    LITHO_SPLIT_REGION, // into regions of the output, each from input_box(), written side by side
    LITHO_SPLIT_SUM,    // into parts whose results are added in a fixed order; the operator gives
                        // the parts out itself to litho_run_devices() devices
    LITHO_SPLIT_ROWS,   // into rows of its sums, put side by side: as SUM, and the samples are the
                        // same bytes for every number of devices
} LithoSplitKind;

typedef struct LithoSplit {
    LithoSplitKind kind;
    const char *unit; // of SUM and ROWS: "frequencies", "boxes"; of REGION where one pass is shared
                      // by several devices, too
    int stage;        // of SUM and ROWS: first stage that runs again when the number of devices
                      // changes; 0 = plan
    gboolean one_process; // not among processes: the first one computes all of it
} LithoSplit;

typedef struct LithoFindRow {
    const char *key;
    double lo, hi; // range of the search; both 0 = the slider's
    double every;  // whole numbers tried are multiples of it; 0 = of the row's step
    gboolean reversed; // only where single traces have reversed polarity (LithoNoise.reversed)
} LithoFindRow;

typedef struct LithoEvidence LithoEvidence;

struct LithoOperator {
    const char *key;           // "fx"
    const char *title;         // "F-X prediction filter"
    const char *summary;       // one paragraph for panel, list and manual
    const char
        *purpose; // a few words for who chooses: "Missing traces"; NULL = the summary says it
    const char *const *stages; // NULL-terminated; stages[0] = "plan"
    LithoParamTable params;
    const LithoPreset *presets;    // NULL-terminated by name, or NULL; first = "default"
    const LithoNumberDoc *numbers; // NULL-terminated by key, or NULL
    const LithoVolumeDoc *volumes;    // NULL-terminated by name, or NULL
    gboolean needs_input;          // FALSE: a source such as modelling
    gboolean own_amplitudes; // the result's are none of the input's (a gain, a phase): a difference
                             // of the two means nothing
    // Magnitudes of the input's samples with which its squares stay in the range of a float: the
    // engine refuses an input beyond them (core/engine/loudness.h). Both 0 = it is right with any.
    float faintest, loudest;
    // Sets others for parameters with which it takes no squares. NULL = these for all. Pure.
    void (*range)(const void *params, float *faintest, float *loudest);
    gboolean keeps_mute; // its result is zero where the input is muted (core/mute.h): the engine sees
                         // to that after exec()
    const char *fills; // settings with which missing traces are written, "fill_dead=on"; NULL =
                       // they never are, "" = they always are
    const char *fills_alone; // conditions (LithoParam.when) under which missing traces are written
                             // and recorded ones stay as they are; NULL = it is never so
    // Parameters that are worth finding by expected SNR (core/engine/find.h), four at most, in the
    // order of their weight, NULL-terminated by key; NULL = none.
    const LithoFindRow *find;

    // First guesses from the data, added to `list` by litho_suggest_add() (core/suggest.h), the
    // weightiest first. Pure. NULL = none.
    void (*suggest)(const LithoEvidence *evidence, GArray *list);
    const LithoDemo *demo; // NULL = none
    // The generated survey, and a noisy stack, opens with this operator. One of all.
    gboolean first_choice;

    // The parameters that resolve() reads, as one text: the paths of the files. NULL = these
    // parameters name no file. Pure. Both functions are NULL when the operator reads no files.
    char *(*resolve_key)(const void *params); // g_free()
    // Reads the files, in a job's thread, with progress and cancel through `run` (may be NULL).
    // Depends on the parameters in the key only. NULL with a sentence: cannot be read, makes no
    // sense by itself.
    LithoResolved *(*resolve)(const void *params, LithoRun *run, GError **error);

    // Combinations of legal values that make no sense ("half width 5 needs a window of 11 or
    // more"), and grids the operator refuses. `in` is NULL for sources. `known` is what resolve()
    // gave; NULL = no file is named, or it is not read yet: then only what the parameters and the
    // grid say is judged. Pure: no file is touched, nothing is allocated that grows with the data,
    // it takes less than 50 us (a window asks at every move of a slider). NULL = nothing to check.
    gboolean (*check)(const LithoGrid *in, const void *params, LithoResolved *known,
                      GError **error);
    // Grid of the result; NULL = the input's. Pure like check(), which has passed. Not asked while
    // files that are named are not read.
    gboolean (*output_grid)(const LithoGrid *in, const void *params, LithoResolved *known,
                            LithoGrid *out, GError **error);
    // Input samples (input-grid indices, clipped) that `region` of the output depends on, beside
    // what is measured. NULL = all of it: the operator is global, cannot stream, and gives no quick
    // preview of slices.
    LithoBox (*input_box)(const LithoGrid *in, const void *params, LithoBox region);
    // `box`, what input_box() tells, with the samples beyond it that numbers of measure() ask for;
    // `measured` NULL: that they ask for at most. Before they are known memory is told without
    // these, and what it comes to with them; a run's pieces become smaller then. NULL = none. Pure.
    LithoBox (*measured_box)(const LithoGrid *in, const void *params, const LithoMeasured *measured,
                             LithoBox box);
    // The parameters with which measure() finds the same numbers, as one text in no language of the
    // user: recipes are compared by it. NULL = with these parameters nothing of the whole input is
    // needed. Pure; g_free(). Both functions are NULL
    // when that is never so. Who has not measured needs all of the input for any region.
    char *(*measure_key)(const void *params);
    // Measures the whole input part by part, in bounded memory, with progress and cancel. exec()
    // with what it gives and exec() on the whole input give the same samples on the CPU.
    LithoMeasured *(*measure)(const void *params, const LithoReader *reader, LithoRun *run,
                              GError **error);
    // Division of the work with these parameters. Pure. NULL = by REGION when there is an
    // input_box(), else not at all.
    // `in` may be NULL where the kind alone is asked for: the grid does not change it.
    LithoSplit (*split)(const LithoGrid *in, const void *params);
    // For an input that no device holds as a whole: the `attempt`-th setting (0, 1, ..., each with
    // less memory than the one before) with which the work divides by REGION. FALSE: there is none.
    // Depends on nothing but the grid and the parameters. NULL = never.
    gboolean (*divide)(const LithoGrid *in, void *params, int attempt);
    // A region to prefer when streaming: inlines per slab should be a multiple of this many, 0 =
    // any.
    gint64 (*slab)(const LithoGrid *in, const void *params);
    // Crosslines of a piece of slab() inlines that is computed as well by itself: slabs are cut
    // into such pieces. 0 or NULL = whole inlines.
    gint64 (*across)(const LithoGrid *in, const void *params);

    const LithoImpl *cpu; // never NULL
};

// All operators of the program, NULL-terminated. Set once by the program's start (the operator
// library calls litho_operators_register from litho_kernels_init()).
const LithoOperator *const *litho_operators(void);
void litho_operators_register(const LithoOperator *const *table);
// Adds an operator that is made at run time and lives as long as the program; behind all others.
// Once at start, before threads.
void litho_operators_add(const LithoOperator *op);
// Sentences about operators that could not be made at the program's start, one each,
// NULL-terminated. litho_operators_refused() takes the sentence over; before threads.
const char *const *litho_operators_problems(void);
void litho_operators_refused(char *sentence);
// NULL when there is none of that key.
const LithoOperator *litho_operator_find(const char *key);
// Meaning of the operator's number of that key; NULL = the operator does not say.
const char *litho_operator_number_doc(const LithoOperator *op, const char *key);
// The volume of that name; NULL = it has none.
const LithoVolumeDoc *litho_operator_volume(const LithoOperator *op, const char *name);
// Samples of the result that `region` of the volume depends on; NULL = the result itself.
LithoBox litho_volume_box(const LithoVolumeDoc *volume, const LithoGrid *grid, LithoBox region);
// The operator of first choice, NULL = there is none.
const LithoOperator *litho_operator_first_choice(void);
// Applies preset `name` on top of the defaults. FALSE: no such preset.
gboolean litho_operator_preset(const LithoOperator *op, const char *name, void *params,
                               GError **error);
// Applies `word`: "key=value", or "preset=NAME".
gboolean litho_operator_set(const LithoOperator *op, void *params, const char *word,
                            GError **error);
// Applies the words of `settings` one after the other, "preset=strong window=24".
gboolean litho_operator_settings(const LithoOperator *op, void *params, const char *settings,
                                 GError **error);
// check() and output_grid() with their defaults filled in. Any thread.
gboolean litho_operator_check(const LithoOperator *op, const LithoGrid *in, const void *params,
                              LithoResolved *known, GError **error);
gboolean litho_operator_output_grid(const LithoOperator *op, const LithoGrid *in,
                                    const void *params, LithoResolved *known, LithoGrid *out,
                                    GError **error);
LithoSplit litho_operator_split(const LithoOperator *op, const LithoGrid *in, const void *params);
// TRUE when with these parameters a region of the output needs a region of the input only.
gboolean litho_operator_is_local(const LithoOperator *op, const void *params);
// TRUE when the steady noise of the survey (core/qc_steady.h) is looked for with these parameters
// and taken off before the operator sees a sample: a row has LITHO_ROLE_STEADY, and numbers of the
// whole input are needed anyway.
gboolean litho_operator_is_steadied(const LithoOperator *op, const void *params);
// The operator's measure_key(), with other words where steady noise stays; NULL = nothing is
// needed.
char *litho_operator_measure_key(const LithoOperator *op, const void *params);
// `measured`: exec() will be given what measure() found, where it is needed.
LithoBox litho_operator_input_box(const LithoOperator *op, const LithoGrid *in, const void *params,
                                  gboolean measured, LithoBox region);
