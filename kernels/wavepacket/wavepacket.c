// SPDX-License-Identifier: GPL-3.0-or-later
//
// Declaration of the wave-packet operator. What it does lives in apply.h (modes), engine.h
// (machines), boxes.h (plan) and tiling.h (windows).
#include "kernels/wavepacket/wavepacket.h"

#include "core/error.h"
#include "core/suggest.h"
#include "core/memory.h"
#include "core/text.h"
#include "kernels/common/steady.h"
#include "kernels/wavepacket/apply.h"

#define FIELD LithoWavepacketParams

static const LithoParam rows[] = {
    LITHO_CHOICE(
        FIELD, mode,
        N_("denoise") "\0" N_("compress") "\0" N_("interpolate") "\0" N_("reconstruct") "\0",
        .label = N_("Mode"), .stage = WP_STAGE_PLAN,
        .doc = N_("What is done with the coefficients: drop those below the noise, keep the "
                  "largest, fill missing traces, or nothing (shows the transform's error).")),
    LITHO_FLOAT(
        FIELD, threshold, .label = N_("Threshold"), .when = "mode=denoise|interpolate",
        .unit = N_("sigma"), .def = 2.75, .min = 0, .max = 100, .soft_max = 8,
        .stage = WP_STAGE_SHRINK,
        .doc = N_("Coefficients below this many standard deviations of the noise are dropped; 2.75 "
                  "gives the best SNR at 0 dB, 2.5 keeps weak events. Filling stops at 0.8 times "
                  "it.")),
    LITHO_FLOAT(FIELD, sigma, .label = N_("Noise level"), .when = "mode=denoise|interpolate",
                .special_text = N_("measured"), .def = 0, .min = 0, .max = 1e30, .soft_max = 10,
                .stage = WP_STAGE_SHRINK,
                .doc =
                    N_("Standard deviation of white noise in units of the data; 0 = measured per "
                       "frequency, so that each box has its own level.")),
    LITHO_CHOICE(
        FIELD, rule, N_("hard") "\0" N_("soft") "\0", .label = N_("Rule"), .when = "mode=denoise",
        .stage = WP_STAGE_SHRINK,
        .doc = N_("Hard keeps what passes the threshold as it is; soft shrinks it by the "
                  "threshold, which is smoother and loses amplitude (use about half of it).")),
    LITHO_FLOAT(FIELD, keep, .label = N_("Keep"), .when = "mode=compress", .unit = N_("of samples"),
                .def = 0.14, .min = 1e-6, .max = 20, .soft_min = 0.001, .soft_max = 1, .log = true,
                .stage = WP_STAGE_SHRINK,
                .doc =
                    N_("Compress: number of the largest coefficients kept, per sample of the cube "
                       "(the papers' CR; they show 0.14 and 0.02).")),
    LITHO_INT(
        FIELD, refit, .label = N_("Refit"), .when = "mode=compress", .unit = N_("steps"), .def = 0,
        .min = 0, .max = 100, .soft_max = 20, .advanced = true, .stage = WP_STAGE_SHRINK,
        .doc = N_("Compress: least-squares steps on the kept coefficients; 8 recover most of the "
                  "amplitude that plain dropping loses, each costs a transform both ways.")),
    LITHO_INT(FIELD, iterations, .label = N_("Iterations"), .when = "mode=interpolate", .def = 30,
              .min = 1, .max = 1000, .soft_min = 1, .soft_max = 60, .stage = WP_STAGE_SHRINK,
              .doc = N_("Interpolate: steps between the largest and the smallest threshold.")),
    LITHO_FLOAT(FIELD, floor, .label = N_("Threshold floor"), .when = "mode=interpolate",
                .def = 0.01, .min = 1e-6, .max = 1, .soft_min = 0.001, .soft_max = 0.3, .log = true,
                .stage = WP_STAGE_SHRINK,
                .doc =
                    N_("Interpolate: last threshold as a part of the first; it is never below the "
                       "noise's.")),
    LITHO_FLOAT(FIELD, trust, .label = N_("Trust in recorded traces"), .when = "mode=interpolate",
                .def = 1, .min = 0, .max = 1, .advanced = true, .stage = WP_STAGE_SHRINK,
                .doc =
                    N_("Interpolate: 1 puts recorded traces back as they are in every step, 0.5 to "
                       "0.8 lets the packets denoise them.")),
    LITHO_FLOAT(FIELD, erratic, .label = N_("Bursts above"), .when = "mode=denoise|interpolate",
                .special_text = N_("off"), .unit = "x", .def = 4, .max = 1000, .soft_max = 20,
                .step = 0.5, .advanced = true, .stage = WP_STAGE_FORWARD,
                .doc =
                    N_("Bursts and spikes on single traces with more than this many times the "
                       "amplitude of the neighbours are replaced from their surroundings; filling "
                       "alone is not guided by them, and they stay; 0 = off.")),
    LITHO_CHOICE(
        FIELD, balance, N_("auto") "\0" N_("off") "\0", .role = LITHO_ROLE_BALANCE,
        .label = N_("Balance traces"), .advanced = true, .stage = WP_STAGE_FORWARD,
        .when = "mode=denoise",
        .doc = N_("Where amplitudes clearly differ from trace to trace, or polarity is reversed, "
                  "packets are made of traces over their gains, measured on the events of their "
                  "neighbours, and the result is multiplied by them; where single traces are "
                  "clearly noisier than others, these keep a share of what their neighbours do "
                  "not have; off = never. Not with a noise level that is given.")),
    LITHO_CHOICE(FIELD, steady, N_("auto") "\0" N_("off") "\0", .role = LITHO_ROLE_STEADY,
                 .label = N_("Remove hum and offsets"), .advanced = true, .stage = WP_STAGE_FORWARD,
                 .when = "mode=denoise", .doc = LITHO_STEADY_DOC),
    LITHO_FILE(
        FIELD, coefficients, .label = N_("Coefficient file"), .when = "mode=compress|reconstruct",
        .written_when = "mode=compress", .advanced = true, .stage = WP_STAGE_SHRINK,
        .doc = N_("Compress writes the kept coefficients to this file, reconstruct reads them "
                  "from it; empty = none.")),
    LITHO_INT(
        FIELD, corrections, .label = N_("Corrections"), .when = "mode=denoise|reconstruct",
        .def = 0, .min = 0, .max = 10, .soft_max = 3, .advanced = true, .stage = WP_STAGE_INVERSE,
        .doc = N_("Improvement steps of the inverse: the adjoint alone errs by 1e-3, one step by "
                  "1e-5; costs a transform both ways each. Denoise and reconstruct.")),
    LITHO_CHOICE(FIELD, design, N_("compact") "\0" N_("default") "\0" N_("full") "\0",
                 .label = N_("Design"), .def = WP_DEFAULT, .advanced = true, .stage = WP_STAGE_PLAN,
                 .doc =
                     N_("Windows: compact needs two thirds of the memory and errs by 8e-3; full "
                        "covers the corners of the frequency cube with directions at three times "
                        "the memory.")),
    LITHO_INT(
        FIELD, scales, .label = N_("Scales"), .special_text = N_("automatic"), .def = 0, .min = 0,
        .max = WP_MAX_SCALES, .advanced = true, .stage = WP_STAGE_PLAN,
        .doc = N_(
            "Directional scales; 0 = log2 of the shortest axis less 4, and one more to denoise.")),
    LITHO_INT(FIELD, directions, .label = N_("Directions"), .unit = N_("per edge"), .def = 3,
              .min = WP_LEAST_DIRECTIONS, .max = WP_MOST_DIRECTIONS, .stage = WP_STAGE_PLAN,
              .doc =
                  N_("Directions along an edge of the coarsest scale; 5 gives finer angles, and in "
                     "denoising a dB on plane and crossing events, for a quarter more memory.")),
    LITHO_CHOICE(FIELD, kernel, "kaiser\0gaussian\0", .label = N_("Interpolation kernel"),
                 .advanced = true, .stage = WP_STAGE_PLAN,
                 .doc =
                     N_("Kernel of the unequally spaced FFT: Kaiser-Bessel, or the Gaussian of the "
                        "papers, which needs 11 taps for what Kaiser-Bessel does with 6.")),
    LITHO_INT(FIELD, kernel_width, .label = N_("Kernel width"), .unit = N_("taps"), .def = 5,
              .min = 4, .max = WP_MAX_WIDTH, .advanced = true, .stage = WP_STAGE_PLAN,
              .doc = N_("Fine-grid points per axis under the kernel; 5 errs by 4e-4, 7 by 1e-5.")),
    LITHO_FLOAT(FIELD, oversampling, .label = N_("Oversampling"), .def = 1.5, .min = 1.25, .max = 3,
                .soft_min = 1.25, .soft_max = 2, .advanced = true, .stage = WP_STAGE_PLAN,
                .doc =
                    N_("Size of the fine frequency grid over that of the data; 2 is more accurate "
                       "for the same taps and needs 2.4 times the memory.")),
    LITHO_INT(FIELD, block, .label = N_("Segment size"), .special_text = N_("whole volume"),
              .unit = N_("samples"), .def = 0, .min = 0, .max = 2048, .soft_max = 512,
              .advanced = true, .stage = WP_STAGE_PLAN,
              .doc =
                  N_("Large volumes are cut into overlapping cubes of this size (64 to 256); 0 = "
                     "the whole volume at once, or the largest segments that memory holds; long "
                     "thin volumes, which need far more memory than their samples, are cut, too.")),
    LITHO_INT(FIELD, overlap, .label = N_("Segment overlap"), .when = "block!=0",
              .unit = N_("samples"), .def = 32, .min = 0, .max = 1024, .soft_max = 128,
              .advanced = true, .stage = WP_STAGE_PLAN,
              .doc = N_("Samples that neighbouring segments share; at least 16 and an eighth of a "
                        "segment are taken.")),
    LITHO_CHOICE(FIELD, adjoint, N_("tiles") "\0" N_("gather") "\0",
                 .label = N_("Adjoint on the GPU"), .advanced = true, .stage = WP_STAGE_PLAN,
                 .doc = N_("How the inverse adds up without write conflicts: shared-memory tiles "
                           "(fastest), or the papers' gather from the grid's side. The CPU has one "
                           "way.")),
};

static gboolean check(const LithoGrid *in, const void *params, LithoResolved *known, GError **error)
{
    (void)known;
    const LithoWavepacketParams *p = params;
    if (p->block > 0 && p->block < 32) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("segments of %d samples are too small; block is 0 or 32 and more"), p->block);
        return FALSE;
    }
    // Thinner volumes are extended with zeros to the transform's 16 samples; where one direction
    // has fewer traces than these, lines along the other one are taken one by one.
    if (in && MAX(in->axis[0].n, in->axis[1].n) < WP_FEWEST)
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the cube has %" PRId64 " x %" PRId64
                            " traces; wave packets need %d or more in one direction at least",
                            in->axis[0].n, in->axis[1].n, WP_FEWEST);
    if (in && in->axis[LITHO_SAMPLE].n < WP_FEWEST)
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the traces have %" PRId64 " samples; wave packets need %d or more",
                            in->axis[LITHO_SAMPLE].n, WP_FEWEST);
    return TRUE;
}

// Split: the boxes of a volume in one piece are dealt out among devices, else the segments.
static LithoSplit split(const LithoGrid *in, const void *params)
{
    (void)in;
    const LithoWavepacketParams *p = params;
    if (wp_is_regional(p))
        return (LithoSplit){LITHO_SPLIT_REGION, "segments", WP_STAGE_PLAN};
    return (LithoSplit){LITHO_SPLIT_SUM, p->block > 0 ? "segments" : "boxes", WP_STAGE_PLAN, TRUE};
}

static LithoBox input_box(const LithoGrid *in, const void *params, LithoBox region)
{
    return wp_is_regional(params) ? wp_region_input(in, params, region) : litho_box_full(in);
}

// Slabs of whole rows of segments compute the fewest twice.
static gint64 slab(const LithoGrid *in, const void *params)
{
    const LithoWavepacketParams *p = params;
    WpCuts cuts[3];
    if (!wp_is_regional(p))
        return 1;
    wp_cuts(in, p, p->block, cuts);
    return cuts[0].block - cuts[0].overlap;
}

// Segments that a cube in one piece would not have, for modes in which they are independent.
static gboolean divide(const LithoGrid *in, void *params, int attempt)
{
    static const int sizes[] = {128, 64};
    LithoWavepacketParams *p = params;
    (void)in;
    if (attempt >= (int)G_N_ELEMENTS(sizes) || (p->block > 0 && attempt == 0))
        return FALSE;
    p->block = sizes[attempt];
    return wp_is_regional(p);
}

static guint64 available(const LithoRun *run)
{
    (void)run;
    return litho_memory_available();
}

static const WpMachine machine = {.engine = wp_engine_cpu, .available = available};

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    return wp_job_new(in, params, &machine, run, error);
}

static void destroy(gpointer job)
{
    wp_job_free(job);
}

static gboolean exec(gpointer job, const LithoPass *pass, LithoRun *run, GError **error)
{
    return wp_job_run(job, pass, run, error);
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)known;
    return wp_job_memory(in, params, &machine, region, threads) +
           (wp_is_regional(params) && litho_box_count(region) < litho_grid_samples(in)
                ? 0
                : wp_noise_threads_memory(in, params, threads));
}

// A reconstruction sums and takes no squares.
static void range(const void *params, float *faintest, float *loudest)
{
    if (((const LithoWavepacketParams *)params)->mode == WP_RECONSTRUCT) {
        *faintest = 1e-26f;
        *loudest = 1e23f;
    }
}

static const LithoImpl cpu = {.plan = plan,
                              .exec = exec,
                              .destroy = destroy,
                              .memory = memory,
                              .measure_memory = wp_measure_memory,
                              .planes = wp_has_planes};

static const char *const stages[] = {"plan", "forward", "shrink", "inverse", NULL};

static const LithoPreset presets[] = {
    {N_("default"), "", N_("random noise, hard threshold at 2.75 sigma")},
    {N_("gentle"), "threshold=2.5", N_("keeps weak events")},
    {N_("fine"), "directions=5", N_("finer angles: better for straight events, and slower")},
    {N_("compress"), "mode=compress keep=0.14 refit=8", N_("the papers' rate, refitted")},
    {N_("fill"), "mode=interpolate", N_("missing traces, 30 iterations")},
    {N_("exact"), "mode=reconstruct corrections=1 kernel_width=7", N_("no change but 1e-5")},
    {N_("published"), "adjoint=gather kernel=gaussian kernel_width=11 oversampling=2",
     N_("the published gather with a Gaussian of 11 taps")},
    {NULL},
};

static const LithoDemo demo = {"conflict", "", N_("crossing dips come out of noise side by side")};

static const LithoFindRow find[] = {{"threshold", 2, 5}, {"directions", 3, 5}, {NULL}};

static const LithoNumberDoc numbers[] = {
    {"sigma", N_("Standard deviation of the noise, all frequencies together.")},
    {"sigma_estimated",
     N_("Standard deviation of the noise as the finest packets show it: they hold little signal.")},
    {"iteration", N_("Iterations of the filling done so far.")},
    {"snr_recorded",
     N_("How well the packets match the traces that were recorded; grows with the iterations until "
        "they reach the noise.")},
    {"erratic", N_("Traces on which bursts or spikes were found and replaced, as a part of the "
                   "recorded ones.")},
    {"steady_rms",
     N_("Standard deviation of the offsets and the hum that were taken off before the "
        "filter; absent where there were none.")},
    {"hum_traces", N_("Traces that hum was taken off.")},
    {"reversed_traces", N_("Traces of reversed polarity, which were turned for the filter.")},
    {"gain_scatter", N_("Scatter of the traces' gains; absent where traces were filtered as they "
                        "are.")},
    {"noisy_traces", N_("Traces with more noise than others, which keep a share of what their "
                        "neighbours do not have.")},
    {"missing", N_("Part of the traces that is not recorded and is filled.")},
    {"snr_fourier",
     N_("What the same number of values of a plain Fourier transform would give: the "
        "packets should be above it.")},
    {"snr_plain", N_("Before the kept coefficients were fitted to the input again.")},
    {"level", N_("Magnitude of the smallest coefficient that was kept.")},
    {"threshold_level",
     N_("Coefficients below it are set to zero; in multiples of the deviation that "
        "noise has in their box.")},
    {"redundancy", N_("Real numbers that the transform makes of one sample; more gives smoother "
                      "results and takes longer.")},
    {"boxes", N_("Boxes that frequencies are cut into: one for each scale and direction.")},
    {"blocks", N_("Segments of the volume that are transformed one by one; they overlap.")},
    {"kept", N_("Coefficients above the threshold, of which the output is made.")},
    {"total", N_("Coefficients of the transform of the whole volume.")},
    {"cr", N_("Kept coefficients for each sample: small where few packets describe the data.")},
    {"snr", N_("Energy of the input over that of its difference to the output; it is no measure of "
               "noise.")},
    {"error", N_("Norm of the difference to the input over the norm of the input.")},
    {"file_bytes", N_("Size of the file the coefficients were written to.")},
    {"file_ratio", N_("How many times smaller than the samples the file is.")},
    {"file_kept", N_("Coefficients written to the file.")},
    {NULL},
};

// Filling leaves recorded traces as they are, noise included: in strong noise removing it comes
// first. Its level is measured, better than a spectrum tells it.
static void suggest(const LithoEvidence *evidence, GArray *list)
{
    const LithoOperator *op = &litho_operator_wavepacket;
    const double clear = 0.9; // share of the energy that events have
    if (evidence->missing > 0.02 && litho_events_share(&evidence->events) > clear) {
        litho_suggest_add(
            list, op, "mode", WP_INTERPOLATE,
            litho_text_printf(_("%.0f %% of the traces are missing"), 100 * evidence->missing));
        return;
    }
    litho_suggest_add(list, op, "mode", WP_DENOISE, g_strdup(_("there is noise to remove")));
    if (litho_events_kind(&evidence->events) == LITHO_EVENTS_DIPPING)
        litho_suggest_add(list, op, "directions", WP_FINE_DIRECTIONS,
                          litho_text_printf(_("events of up to %.2g samples a trace stay plane "
                                              "over %d traces: finer angles hold them, for a "
                                              "quarter more memory"),
                                            litho_events_dip(&evidence->events),
                                            LITHO_EVENTS_TRACES));
}

const LithoOperator litho_operator_wavepacket = {
    .key = "wavepacket",
    .title = N_("Wave packets"),
    .purpose = N_("Noise, missing traces, compression"),
    .summary =
        N_("Decomposes the cube into wave packets: short plane waves of one direction and scale "
           "each. Noise spreads thinly over all of them while events gather in few, so a "
           "threshold removes noise, the largest alone compress the cube, and missing traces "
           "can be filled from what the packets say of the others."),
    .stages = stages,
    .params = {rows, G_N_ELEMENTS(rows), sizeof(LithoWavepacketParams)},
    .presets = presets,
    .demo = &demo,
    .numbers = numbers,
    .needs_input = TRUE,
    .faintest = 1e-15f,
    .loudest = 1e14f,
    .range = range,
    .keeps_mute = TRUE,
    .fills_alone = "mode=interpolate trust=1",
    .find = find,
    .check = check,
    .input_box = input_box,
    .measure_key = wp_measure_key,
    .measure = wp_measure,
    .split = split,
    .divide = divide,
    .slab = slab,
    .suggest = suggest,
    .cpu = &cpu,
};
