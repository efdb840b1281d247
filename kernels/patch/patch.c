// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/patch.h"

#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"
#include "kernels/common/steady.h"
#include "kernels/patch/structure.h"
#include "kernels/patch/swell.h"

enum {
    SHORTEST = 4, // window
    LEVEL = LITHO_PATCH_STAGE_LEVEL,
    FILTER = LITHO_PATCH_STAGE_FILTER,
};

// One trace across a line, as a run tells it.
static gboolean is_of_line(const LithoGrid *in, const LithoPatchParams *p, int axis)
{
    return axis < 2 && litho_patch_window_length(p, axis) == 1 && (!in || in->axis[axis].n == 1);
}

static gboolean check(const LithoGrid *in, const void *params, LithoResolved *known, GError **error)
{
    (void)known;
    const LithoPatchParams *p = params;
    if (p->window > 0 && p->window < SHORTEST)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "a window of %d is too short; it needs %d samples or more", p->window,
                            SHORTEST);
    for (int a = 0; a < 3; a++)
        if (litho_patch_window_length(p, a) % 2 != 0 && !is_of_line(in, p, a))
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "a window of %d is odd; it needs an even number of samples",
                                litho_patch_window_length(p, a));
    for (int a = 0; in && a < 3; a++)
        if (in->axis[a].n > G_MAXINT / 8)
            return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                                "an axis has %" PRId64 " samples; this filter takes up to %d",
                                in->axis[a].n, G_MAXINT / 8);
    if (in && in->axis[2].n < 4)
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the number of samples in a trace is %" PRId64
                            "; this filter needs 4 or more",
                            in->axis[2].n);
    if (in && litho_grid_traces(in) == 1 && !(p->sigma > 0))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "one trace does not tell its noise from its events: this filter needs "
                            "Noise level (sigma), the standard deviation of the noise, or more "
                            "traces");
    return TRUE;
}

// Slabs of whole strides waste the fewest windows at their borders. A block is filled as a whole
// for any part of it.
static gint64 slab(const LithoGrid *in, const void *params)
{
    const LithoPatchParams most = litho_patch_at_most(in, params), *p = &most;
    return p->mode == LITHO_PATCH_DENOISE ? litho_patch_grid_geometry(in, p).axis[0].stride
                                          : litho_patch_blocks(in).traces[0];
}

// Blocks of a row are filled apart.
static gint64 across(const LithoGrid *in, const void *params)
{
    const LithoPatchParams *p = params;
    return p->mode == LITHO_PATCH_DENOISE ? 0 : litho_patch_blocks(in).traces[1];
}

// Swell is removed in longer windows than the filter has, where there is some.
static LithoBox measured_box(const LithoGrid *in, const void *params, const LithoMeasured *measured,
                             LithoBox box)
{
    const gboolean found = !measured || patch_swell_from_measured(measured).found;
    return found ? patch_swell_box(in, params, box) : box;
}

#define PATCH_FLOAT(field, ...) LITHO_FLOAT(LithoPatchParams, field, __VA_ARGS__)
#define PATCH_INT(field, ...) LITHO_INT(LithoPatchParams, field, __VA_ARGS__)
#define PATCH_BOOL(field, ...) LITHO_BOOL(LithoPatchParams, field, __VA_ARGS__)
#define PATCH_CHOICE(field, ...) LITHO_CHOICE(LithoPatchParams, field, __VA_ARGS__)

static const LithoParam rows[] = {
    PATCH_CHOICE(mode, N_("denoise") "\0" N_("fill") "\0" N_("both") "\0", .label = N_("Task"),
                 .stage = FILTER,
                 .doc =
                     N_("Removes random noise from recorded traces, fills missing and dead traces "
                        "and leaves recorded ones as they are, or does both.")),
    PATCH_FLOAT(
        threshold, .label = N_("Threshold"), .special_text = N_("automatic"), .by_data = true,
        .unit = N_("sigma"), .max = 10, .soft_min = 1, .soft_max = 5, .step = 0.05, .stage = FILTER,
        .doc =
            N_("Coefficients below this many standard deviations of the noise are removed, and "
               "filling stops there: more removes more noise and more signal; 3 suits windows of "
               "16, 2.7 of 24.")),
    PATCH_INT(window, .label = N_("Window"), .special_text = N_("automatic"), .by_data = true,
              .unit = N_("samples"), .max = LITHO_PATCH_MAX_WINDOW, .soft_min = 8, .soft_max = 32,
              .step = 2, .stage = LEVEL,
              .doc = N_("Edge of the cube of traces and samples that is transformed: 16 follows "
                        "curved events, 24 is better where events are plane or cross; automatic "
                        "takes the one that samples of the survey speak for.")),
    PATCH_CHOICE(rule, N_("automatic") "\0" N_("single") "\0" N_("energy") "\0",
                 .label = N_("Rule"), .stage = FILTER, .by_data = true, .when = "mode=denoise|both",
                 .doc =
                     N_("Judges every coefficient by itself (single), or by its energy with its "
                        "six neighbours, which keeps more of weak curved events in strong noise; "
                        "automatic takes energy where samples of the survey speak for it, with "
                        "an automatic window.")),
    PATCH_FLOAT(sigma, .label = N_("Noise level"), .special_text = N_("measured"), .max = 1e30,
                .soft_max = 10, .stage = LEVEL,
                .doc =
                    N_("Standard deviation of white noise; measured per frequency, place and time "
                       "from local spectra when 0.")),
    PATCH_FLOAT(
        erratic, .label = N_("Bursts above"), .special_text = N_("off"), .unit = "x", .def = 4,
        .max = 1000, .soft_max = 20, .step = 0.5, .stage = LEVEL,
        .doc = N_("Bursts and spikes on single traces with more than this many times the "
                  "amplitude of the neighbours are replaced from their surroundings; filling alone "
                  "is not guided by them, and they stay; 0 = off.")),
    PATCH_INT(
        iterations, .label = N_("Iterations"), .def = 30, .min = 2, .max = 500, .soft_min = 10,
        .soft_max = 100, .stage = FILTER, .when = "mode=fill|both",
        .doc = N_("Steps in which the threshold of filling falls; 30 is typical, 100 helps where "
                  "three quarters of the traces are missing.")),
    PATCH_FLOAT(floor, .label = N_("Last threshold"), .special_text = N_("automatic"), .max = 1,
                .soft_min = 0.0005, .soft_max = 0.1, .log = true, .stage = FILTER,
                .when = "mode=fill|both",
                .doc = N_("Threshold of the last iteration of filling, as a share of the largest "
                          "coefficient: automatic is 0.003, and less, in as many iterations more, "
                          "where a part of the time is fainter than others by 21 dB, as without "
                          "gain. None falls below that of the noise.")),
    PATCH_CHOICE(level, N_("local") "\0" N_("whole") "\0", .label = N_("Level varies"),
                 .advanced = true, .stage = LEVEL,
                 .doc = N_("The measured level follows place and time (cells of 16 x 16 to 64 x 64 "
                           "traces, by the size of the survey, and 0.25 s), or is one for the "
                           "whole survey.")),
    PATCH_CHOICE(
        balance, N_("auto") "\0" N_("off") "\0", .role = LITHO_ROLE_BALANCE,
        .label = N_("Balance traces"), .advanced = true, .stage = LEVEL,
        .doc = N_("Where amplitudes clearly differ from trace to trace, traces are filtered "
                  "over their gains, measured on the events of their neighbours, and "
                  "multiplied by them again; where single traces are clearly noisier than others, "
                  "these keep a share of what their neighbours do not have; off = never. Not "
                  "with a noise level that is given.")),
    PATCH_CHOICE(steady, N_("auto") "\0" N_("off") "\0", .role = LITHO_ROLE_STEADY,
                 .label = N_("Remove hum and offsets"), .advanced = true, .stage = LEVEL,
                 .when = "mode=denoise|both", .doc = LITHO_STEADY_DOC),
    PATCH_CHOICE(
        swell, N_("auto") "\0" N_("off") "\0", .label = N_("Remove swell"), .advanced = true,
        .stage = LEVEL, .when = "mode=denoise",
        .doc = N_("Where noise below 12 Hz lasts and is clearly louder on some traces, or on all, "
                  "than at higher frequencies, as swell is, it is first drawn down to the level of "
                  "the other noise, in longer windows; off = never. Not in depth, nor with a noise "
                  "level that is given.")),
    PATCH_BOOL(
        faults, .label = N_("Keep faults"), .def = true, .advanced = true, .stage = FILTER,
        .when = "mode=denoise",
        .doc = N_("Puts back what windows lose where events break off or bend sharply, at "
                  "faults and diffractions: the removed part passes again in windows of 4 x "
                  "4 traces. Off saves a quarter of the time on a processor, a third on a card.")),
    PATCH_INT(window_il, .label = N_("Window, inlines"), .special_text = N_("as Window"),
              .by_data = true, .unit = N_("traces"), .max = LITHO_PATCH_MAX_WINDOW, .soft_max = 32,
              .step = 2, .advanced = true, .stage = LEVEL,
              .doc = N_("Window along the inline axis; 0 = as Window, along lines and surveys of 2 "
                        "to 7 lines half as much again.")),
    PATCH_INT(window_xl, .label = N_("Window, crosslines"), .special_text = N_("as Window"),
              .by_data = true, .unit = N_("traces"), .max = LITHO_PATCH_MAX_WINDOW, .soft_max = 32,
              .step = 2, .advanced = true, .stage = LEVEL,
              .doc =
                  N_("Window along the crossline axis; 0 = as Window, along lines and surveys of "
                     "2 to 7 lines half as much again.")),
    PATCH_INT(window_t, .label = N_("Window, time"), .special_text = N_("as Window"),
              .by_data = true, .unit = N_("samples"), .max = LITHO_PATCH_MAX_WINDOW, .soft_max = 32,
              .step = 2, .advanced = true, .stage = LEVEL,
              .doc = N_("Window along time or depth; 0 = as Window, but with an automatic Window "
                        "two or four times as long where samples are closer together than noise "
                        "and events need, and on lines and surveys of 2 to 7 lines at least 96 ms "
                        "for a Window of 16, up to 30 samples.")),
    PATCH_INT(overlap, .label = N_("Overlap"), .def = 4, .min = 2, .max = 8, .advanced = true,
              .stage = FILTER,
              .doc =
                  N_("Windows that cover a sample along each axis: 4 is typical, 8 gains 0.1 dB at "
                     "eight times the cost, 2 is a quick look.")),
};

static const char *const stages[] = {"plan", N_("noise level"), "windows", NULL};

static const LithoPreset presets[] = {
    {N_("default"), "", N_("windows by the survey's events, noise measured per frequency")},
    {N_("keep"), "threshold=2.2",
     N_("keeps amplitudes: less noise removed, half the signal in it")},
    {N_("plane"), "window=24", N_("wider windows for plane or crossing events")},
    {N_("strong"), "window=24 rule=energy", N_("for noise well above the events")},
    {N_("fill"), "mode=fill", N_("fills missing and dead traces, recorded ones stay")},
    {N_("repair"), "mode=both", N_("fills and removes noise")},
    {NULL},
};

static const LithoDemo demo = {"survey", "", N_("a faulted, folded survey without its noise")};

#define AROUND                                                                                     \
    {                                                                                              \
        LITHO_PATCH_DIP_TRACES, LITHO_PATCH_DIP_TRACES, LITHO_PATCH_DIP_SAMPLES                    \
    }

static const LithoVolumeDoc volumes[] = {
    {LITHO_PATCH_NOISE_LEVEL,
     "",
     N_("Standard deviation of the noise, all frequencies together, as it was "
        "measured by place and time."),
     {0}},
    {LITHO_PATCH_DIP_IL, "ms/trace",
     N_("Dip of the result's events along inline numbers, positive "
        "where they deepen; in depth in m/trace."),
     AROUND},
    {LITHO_PATCH_DIP_XL, "ms/trace",
     N_("Dip of the result's events along crossline numbers, positive "
        "where they deepen; in depth in m/trace."),
     AROUND},
    {LITHO_PATCH_COHERENT, "",
     N_("Coherence of the result: 1 where events are parallel planes, low at "
        "faults, at crossing events and in noise."),
     AROUND},
    {NULL},
};

// Windows of 12, 16, 20 and 24 samples have code of their own on processors and cards; 28 gains 0.1
// dB beside 24 where events are plane. Reversed traces leave much in all coefficients, which a
// level of the whole survey tells less of: 2 % of them cost up to 2.9 dB less.
static const LithoFindRow find[] = {{"threshold", 2, 4.5},
                                    {"window", 12, 24, .every = 4},
                                    {"rule"},
                                    {"level", .reversed = TRUE},
                                    {NULL}};

static void suggest(const LithoEvidence *evidence, GArray *list)
{
    if (evidence->missing > 0.02)
        litho_suggest_add(
            list, &litho_operator_patch, "mode", LITHO_PATCH_BOTH,
            litho_text_printf(_("%.0f %% of the traces are missing"), 100 * evidence->missing));
}

const LithoOperator litho_operator_patch = {
    .key = "patch",
    .title = N_("Local Fourier filter"),
    .purpose = N_("Noise of any colour, bursts, missing traces"),
    .summary =
        N_("Removes random noise and fills missing traces: within a small window events are few "
           "large Fourier coefficients, random noise is many small ones. The noise is measured "
           "per frequency, place and time; windows overlap, so that their borders do not show."),
    .stages = stages,
    .params = {rows, G_N_ELEMENTS(rows), sizeof(LithoPatchParams)},
    .presets = presets,
    .demo = &demo,
    .needs_input = TRUE,
    .faintest = 1e-12f,
    .loudest = 1e13f,
    .keeps_mute = TRUE,
    .fills = "mode=both",
    .fills_alone = "mode=fill",
    .find = find,
    .check = check,
    .input_box = litho_patch_input_box,
    .measured_box = measured_box,
    .volumes = volumes,
    .measure_key = litho_patch_measure_key,
    .measure = litho_patch_measure,
    .slab = slab,
    .across = across,
    .suggest = suggest,
    .first_choice = TRUE,
    .cpu = &litho_patch_cpu,
};
