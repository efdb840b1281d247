// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/fx/fx.h"

#include <math.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/fx/shared.h"

enum {
    PLAN = LITHO_FX_STAGE_PLAN,
    FFT = LITHO_FX_STAGE_FFT,
    FILTER = LITHO_FX_STAGE_FILTER,
    INVERSE = LITHO_FX_STAGE_INVERSE,
};

static gboolean check_times(const LithoGrid *in, const LithoFxParams *given, GError **error)
{
    if (given->time_window > 0 && given->time_window < LITHO_FX_SHORTEST)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "a time window of %d samples is too short; it needs %d or more",
                            given->time_window, LITHO_FX_SHORTEST);
    // Without a survey an automatic window has no number of samples yet.
    if (!in && given->time_window == 0)
        return TRUE;
    const LithoFxParams p = in ? litho_fx_in_use(in, given) : *given;
    if (p.time_overlap >= p.time_window)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "a time overlap of %d samples needs a longer time window than %d",
                            p.time_overlap, p.time_window);
    gint64 length = in ? MIN(in->axis[2].n, p.time_window) : p.time_window;
    if (p.fft_length != 0 && p.fft_length < length)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "an FFT length of %d is shorter than the time window of %d samples",
                            p.fft_length, (int)length);
    return TRUE;
}

// Beyond Nyquist there is nothing: all of the survey would lie below the band.
static gboolean check_band(const LithoGrid *in, const LithoFxParams *p, GError **error)
{
    const double nyquist = in ? litho_grid_nyquist(in) : INFINITY;
    if (p->fmax > 0 && p->fmax < p->fmin)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the highest frequency, %g, lies below the lowest, %g", p->fmax,
                            p->fmin);
    if (p->fmin > 0 && p->fmin >= nyquist)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the lowest frequency, %g %s, is not below the Nyquist frequency of "
                            "this survey, %g %s",
                            p->fmin, in->is_depth ? "1/km" : "Hz", nyquist,
                            in->is_depth ? "1/km" : "Hz");
    return TRUE;
}

static gboolean check_windows(const LithoFxParams *p, GError **error)
{
    for (int axis = 0; axis < 2; axis++) {
        int window = litho_fx_window_length(p, axis);
        if (window < 2 * p->half_width + 1)
            return litho_refuse(
                error, LITHO_ERROR_PARAMETER,
                "half width %d needs a window of %d traces or more, this one has %d", p->half_width,
                2 * p->half_width + 1, window);
        if (p->stride > window)
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "a stride of %d leaves gaps between windows of %d traces",
                                p->stride, window);
    }
    return TRUE;
}

static gboolean check(const LithoGrid *in, const void *params, LithoResolved *known, GError **error)
{
    (void)known;
    const LithoFxParams *p = params;
    for (int axis = 0; in && axis < 3; axis++)
        if (in->axis[axis].n > G_MAXINT / 4) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                        _("an axis has %" PRId64 " samples; this filter takes up to %d"),
                        in->axis[axis].n, G_MAXINT / 4);
            return FALSE;
        }
    return check_times(in, p, error) && check_band(in, p, error) && check_windows(p, error);
}

// Slabs of whole strides waste the fewest windows at their borders.
static gint64 slab(const LithoGrid *in, const void *params)
{
    return litho_fx_grid_geometry(in, params).axis[0].stride;
}

#define FX_FLOAT(field, ...) LITHO_FLOAT(LithoFxParams, field, __VA_ARGS__)
#define FX_INT(field, ...) LITHO_INT(LithoFxParams, field, __VA_ARGS__)
#define FX_BOOL(field, ...) LITHO_BOOL(LithoFxParams, field, __VA_ARGS__)
#define FX_CHOICE(field, ...) LITHO_CHOICE(LithoFxParams, field, __VA_ARGS__)

static const LithoParam rows[] = {
    FX_FLOAT(
        prewhitening, .label = N_("Prewhitening"), .special_text = N_("automatic"), .unit = "%",
        .max = 1000, .soft_min = 0.1, .soft_max = 300, .log = true, .stage = FILTER,
        .doc = N_("Damping of the filter, in percent of the mean power: more removes more noise "
                  "and more signal. Automatic follows the noise that each window and frequency "
                  "has; 1 keeps amplitudes, 100 is strong.")),
    FX_INT(half_width, .label = N_("Half width"), .unit = N_("traces"), .def = 3, .min = 1,
           .max = LITHO_FX_MAX_HALF, .stage = FILTER,
           .doc =
               N_("Neighbours on either side that predict a trace; 3 (48 neighbours) is typical, 2 "
                  "is better in strong noise, more only where events cross at many dips.")),
    FX_INT(window, .label = N_("Window"), .unit = N_("traces"), .def = 20, .min = 3, .max = 100,
           .soft_min = 7, .soft_max = 50, .stage = FILTER,
           .doc =
               N_("Size of the area one filter is designed on, where events must look plane; 20 is "
                  "typical, 30 removes more noise where events stay plane that far.")),
    FX_BOOL(post, .label = N_("Restore amplitudes"), .stage = FILTER,
            .doc = /* xgettext:no-c-format */ N_(
                "Rescales the damped prediction to least squares: switch on before amplitude "
                "work or with prewhitening of 30 % or more.")),
    FX_BOOL(
        faults, .label = N_("Keep faults"), .def = true, .stage = FILTER,
        .doc = N_("Puts back what neighbouring traces lose alike and beyond the noise where events "
                  "break off: at faults, flips of polarity and ends. Filled traces take the "
                  "prediction alone. Off saves a seventh of the time on a card.")),
    FX_BOOL(shared, .label = N_("Shared noise"), .def = true, .advanced = true, .stage = FILTER,
            .doc = N_("Noise that neighbouring traces share, as in migrated data or after mixing, "
                      "is predictable: where samples of the survey tell of it, it is taken off "
                      "the equations. Nothing changes where there is none; off does not look.")),
    FX_CHOICE(
        balance, N_("auto") "\0" N_("off") "\0", .role = LITHO_ROLE_BALANCE,
        .label = N_("Balance traces"), .advanced = true, .stage = FFT,
        .doc = N_("Where amplitudes clearly differ from trace to trace, or polarity is reversed, "
                  "traces are filtered over their gains, measured on the events of their "
                  "neighbours, and multiplied by them again; where single traces are clearly "
                  "noisier than others, these keep a share of what their neighbours do not have; "
                  "off = never.")),
    FX_CHOICE(
        steady, N_("auto") "\0" N_("off") "\0", .role = LITHO_ROLE_STEADY,
        .label = N_("Remove hum and offsets"), .advanced = true, .stage = FFT,
        .doc =
            N_("Where traces have offsets or drifts of their recorder, or hum of a power line or a "
               "pump, which last along whole traces with one amplitude, these are taken off "
               "before anything else is done. Looked for once a survey; nothing changes where "
               "there is none; off = never. Needs shared or balance.")),
    FX_FLOAT(fmin, .role = LITHO_ROLE_BAND_LOW, .label = N_("Lowest frequency"), .unit = "Hz",
             .depth_unit = "1/km", .def = 0, .max = 1e6, .soft_max = 30, .stage = FFT,
             .doc = N_("Lower end of the filtered band; everything below stays, noise too, or is "
                       "muted (Outside the band); cycles per km on depth axes.")),
    FX_FLOAT(fmax, .role = LITHO_ROLE_BAND_HIGH, .label = N_("Highest frequency"),
             .special_text = N_("Nyquist"), .unit = "Hz", .depth_unit = "1/km", .def = 0,
             .max = 1e6, .soft_max = 250, .stage = FFT,
             .doc = N_("Upper end of the filtered band; everything above stays, noise too, or is "
                       "muted (Outside the band); 0 = the Nyquist frequency; cycles per km on "
                       "depth axes.")),
    FX_CHOICE(outband, N_("pass") "\0" N_("mute") "\0", .label = N_("Outside the band"),
              .stage = FILTER,
              .doc = N_("Frequencies outside the band pass unchanged or are removed.")),
    FX_FLOAT(erratic, .label = N_("Bursts above"), .special_text = N_("off"), .unit = "x", .def = 4,
             .max = 1000, .soft_max = 20, .step = 0.5, .advanced = true, .stage = FFT,
             .doc = N_("Bursts and spikes on single traces with more than this many times the "
                       "amplitude of the neighbours are replaced from their surroundings; 0 = "
                       "off.")),
    FX_INT(time_window, .label = N_("Time window"), .special_text = N_("automatic"),
           .unit = N_("samples"), .max = 1 << 20, .soft_min = 16, .soft_max = 256, .advanced = true,
           .stage = PLAN,
           .doc = N_("Length in which dips and spectra count as constant. Automatic is 0.16 s (40 "
                     "samples of 4 ms), on depth axes 250 m; long windows suit long flat events "
                     "and deep, low frequencies.")),
    FX_INT(time_overlap, .label = N_("Time overlap"), .special = LITHO_FX_HALF,
           .special_text = N_("automatic"), .unit = N_("samples"), .def = LITHO_FX_HALF,
           .min = LITHO_FX_HALF, .max = 1 << 20, .soft_max = 256, .advanced = true, .stage = PLAN,
           .doc =
               N_("Samples over which neighbouring time windows are blended; a third to a half of "
                  "the time window, automatic is half of it.")),
    FX_INT(fft_length, .label = N_("FFT length"), .special_text = N_("next power of two"),
           .unit = N_("samples"), .max = 1 << 21, .soft_max = 1024, .advanced = true, .stage = PLAN,
           .doc = N_("Length a time window is padded to with zeros; 0 = the next power of two.")),
    FX_INT(window_il, .label = N_("Window, inlines"), .special_text = N_("as Window"),
           .unit = N_("traces"), .max = 100, .soft_max = 50, .advanced = true, .stage = FILTER,
           .doc = N_("Window along the inline axis; 0 = as Window.")),
    FX_INT(window_xl, .label = N_("Window, crosslines"), .special_text = N_("as Window"),
           .unit = N_("traces"), .max = 100, .soft_max = 50, .advanced = true, .stage = FILTER,
           .doc = N_("Window along the crossline axis; 0 = as Window.")),
    FX_INT(stride, .label = N_("Stride"), .special_text = N_("automatic"), .unit = N_("traces"),
           .max = 100, .soft_max = 50, .advanced = true, .stage = FILTER,
           .doc =
               N_("Distance of neighbouring windows, which are blended over the rest; 0 = 0.85 of "
                  "the window (17 for 20).")),
    FX_CHOICE(form, "cov\0acf\0", .label = N_("Equations"), .advanced = true, .stage = FILTER,
              .doc =
                  N_("Covariance: exact least squares; autocorrelation: the classic Toeplitz form, "
                     "about 1 dB worse and without fitted edges.")),
    FX_CHOICE(
        solver, "cholesky\0jacobi\0", .label = N_("Solver"), .advanced = true, .stage = FILTER,
        .doc = N_("Cholesky is exact; Jacobi is here for comparison: it hardly ever converges, "
                  "and Cholesky then takes over.")),
    FX_CHOICE(edge, N_("fit") "\0" N_("renorm") "\0" N_("zero") "\0", .label = N_("Survey edge"),
              .advanced = true, .stage = FILTER,
              .doc = N_("Traces without neighbours on one side: own one-sided filters, rescaled "
                        "filters, or zeros for what is missing.")),
    FX_INT(fill_passes, .label = N_("Fill passes"), .def = 3, .max = 10, .advanced = true,
           .stage = FILTER,
           .doc =
               N_("Missing traces read as guesses from their surroundings; traces that no guess "
                  "reaches are predicted so many times before the last pass, so that holes do not "
                  "spoil their surroundings. 0 = neither; 3 is typical.")),
    FX_BOOL(fill_dead, .label = N_("Write filled traces"), .advanced = true, .stage = INVERSE,
            .doc = N_("Writes the prediction into missing and dead traces; off leaves them as they "
                      "are.")),
};

static const char *const stages[] = {"plan", N_("time FFT"), N_("design + filter"), "inverse",
                                     NULL};

static const LithoPreset presets[] = {
    {N_("default"), "", N_("a 20 x 20 window, 7 x 7 filter, prewhitening that follows the noise")},
    {N_("fidelity"), "prewhitening=1", N_("keeps amplitudes and steep detail; removes less noise")},
    {N_("strong"), "prewhitening=100",
     N_("the same strong damping everywhere; amplitudes shrink by up to 10 %")},
    {N_("published"),
     "form=acf solver=jacobi edge=zero stride=17 fill_passes=0 "
     "prewhitening=10 time_window=150 time_overlap=50 faults=off shared=off balance=off",
     N_("the published equations, solved by Jacobi iteration")},
    {NULL},
};

static const LithoDemo demo = {
    "mix", "", N_("planes, curved events and a fault come out of noise as strong as they are")};

static const LithoFindRow find[] = {
    {"prewhitening", 1, 1000}, {"half_width", 1, 4}, {"window", 10, 40}, {NULL}};

static const LithoNumberDoc numbers[] = {
    {"windows", N_("Windows of the volume that were filtered; they overlap.")},
    {"systems", N_("Systems of equations solved: one for each window, frequency and shape of the "
                   "missing traces.")},
    {"empty",
     N_("Windows with too few recorded traces for a filter: their samples pass unchanged. 0 "
        "is usual.")},
    {"failed",
     N_("Systems without a solution, whose window and frequency pass unchanged; 0 is usual, "
        "otherwise more prewhitening helps.")},
    {"erratic", N_("Traces on which bursts or spikes were found and replaced, as a part of the "
                   "recorded ones.")},
    {"shared",
     N_("Level of the noise that neighbouring traces share; absent where none was told.")},
    {"steady_rms",
     N_("Standard deviation of the offsets and the hum that were taken off before the "
        "filter; absent where there were none.")},
    {"hum_traces", N_("Traces that hum was taken off.")},
    {"reversed_traces", N_("Traces of reversed polarity, which were turned for the filter.")},
    {"gain_scatter", N_("Scatter of the traces' gains; absent where traces were filtered as they "
                        "are.")},
    {"noisy_traces", N_("Traces with more noise than others, which keep a share of what their "
                        "neighbours do not have.")},
    {"fallbacks", N_("Systems that the chosen solver left and Cholesky solved; 0 is usual.")},
    {"matrix", N_("Part of the time for design and filter in which equations are formed.")},
    {"solve", N_("Part of the time for design and filter in which filters are solved for.")},
    {"apply", N_("Part of the time for design and filter in which traces are predicted, with the "
                 "filters of edges.")},
    {"removed",
     N_("Energy of input less output, as a part of the input; noise and lost signal alike.")},
    {"leakage",
     N_("Correlation of output and removed over the whole volume; near 0 where noise alone "
        "leaves, signal leaves where it grows.")},
    {NULL},
};

const LithoOperator litho_operator_fx = {
    .key = "fx",
    .title = N_("F-X prediction filter"),
    .purpose = N_("Random noise, by prediction"),
    .summary =
        N_("Removes random noise: at every frequency each trace is predicted from its "
           "neighbours in both directions; locally plane events are predictable, random noise "
           "is not. Missing and dead traces are allowed for, survey edges get filters of their "
           "own."),
    .stages = stages,
    .params = {rows, G_N_ELEMENTS(rows), sizeof(LithoFxParams)},
    .presets = presets,
    .demo = &demo,
    .numbers = numbers,
    .needs_input = TRUE,
    .faintest = 1e-18f,
    .loudest = 1e14f,
    .keeps_mute = TRUE,
    .fills = "fill_dead=on",
    .find = find,
    .check = check,
    .input_box = litho_fx_input_box,
    .measure_key = litho_fx_measure_key,
    .measure = litho_fx_measure,
    .slab = slab,
    .suggest = litho_fx_suggest,
    .cpu = &litho_fx_cpu,
};
