// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small cubes of known events, for tests and for tables in the manual.
#include <math.h>

#include "core/synth/synth_parts.h"
#include "core/text.h"

typedef struct Params {
    int inlines, xlines, samples, events;
    double dt, snr, missing, scatter;
    int noise, seed;
} Params;

enum { STREAM_EVENT = 1, STREAM_SCATTER };

typedef void (*TraceFunc)(const Params *p, gint64 i, gint64 j, float *trace);

static void scatter_trace(const Params *p, gint64 i, gint64 j, float *trace)
{
    const double gain =
        1 + p->scatter / 100 * litho_hash_normal(p->seed, STREAM_SCATTER, i * p->xlines + j);
    for (gint64 k = 0; p->scatter > 0 && k < p->samples; k++)
        trace[k] *= (float)gain;
}

static gboolean make_with(const Params *p, const char *name, TraceFunc trace, LithoRun *run,
                          LithoCube **noisy, LithoCube **truth, GError **error)
{
    LithoGrid grid = litho_grid_new(p->inlines, p->xlines, p->samples);
    grid.axis[LITHO_SAMPLE].step = p->dt;
    litho_synth_state(&grid);
    g_autoptr(LithoCube) clean = litho_cube_new(&grid, error);
    if (!clean)
        return FALSE;
    litho_run_begin(run, "generating", "inlines");
    for (gint64 i = 0; i < p->inlines; i++) {
        for (gint64 j = 0; j < p->xlines; j++) {
            trace(p, i, j, litho_cube_trace(clean, i, j));
            scatter_trace(p, i, j, litho_cube_trace(clean, i, j));
        }
        if (!litho_run_step(run, i + 1, p->inlines, error))
            return FALSE;
    }
    LithoCube *spoiled =
        litho_synth_spoil_with(clean, p->noise, p->snr, p->missing, p->seed, run, error);
    if (!spoiled)
        return FALSE;
    g_strlcpy(spoiled->name, name, sizeof spoiled->name);
    g_snprintf(clean->name, sizeof clean->name, "%s, truth", name);
    litho_synth_hand_over(spoiled, noisy);
    litho_synth_hand_over(g_steal_pointer(&clean), truth);
    return TRUE;
}

// --- mix: two dipping planes, a hyperboloid and a folded event (docs/fx.md) ---------------------

static void mix_trace(const Params *p, gint64 i, gint64 j, float *trace)
{
    double x = i - 18.5, y = j - 18.5; // the centre of the 37 x 37 cube the tables were made with
    const struct {
        double time, frequency, amplitude;
    } events[] = {
        {0.30 + 0.0030 * x + 0.0010 * y, 30, 1.0},
        {0.62 - 0.0022 * x + 0.0024 * y, 25, 0.8},
        {sqrt(0.75 * 0.75 + 1e-4 * x * x + 6.4e-5 * y * y), 30, 0.9},
        {0.88 + 0.015 * sin(2 * G_PI * i / 40.0) * cos(2 * G_PI * j / 50.0), 28, 0.7},
    };
    for (guint k = 0; k < G_N_ELEMENTS(events); k++)
        litho_add_ricker(trace, p->samples, p->dt, events[k].time, events[k].frequency,
                         events[k].amplitude);
}

static gboolean make_mix(const void *params, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                         LithoCube **velocity, GError **error)
{
    if (velocity)
        *velocity = NULL;
    return make_with(params, "mix", mix_trace, run, noisy, truth, error);
}

// --- planes: plane events of random dip and time ------------------------------------------------

static void planes_trace(const Params *p, gint64 i, gint64 j, float *trace)
{
    double record = p->samples * p->dt;
    for (int k = 0; k < p->events; k++) {
        double u[5];
        for (int c = 0; c < 5; c++)
            u[c] = litho_hash_uniform(p->seed, STREAM_EVENT, 5 * k + c);
        double t = record * (0.1 + 0.8 * u[0]) + 0.004 * (2 * u[1] - 1) * (i - p->inlines / 2.0) +
                   0.004 * (2 * u[2] - 1) * (j - p->xlines / 2.0);
        double sign = u[4] < 0.5 ? -1 : 1;
        litho_add_ricker(trace, p->samples, p->dt, t, 18 + 20 * u[3], sign * (0.5 + u[4]));
    }
}

static gboolean make_planes(const void *params, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                            LithoCube **velocity, GError **error)
{
    if (velocity)
        *velocity = NULL;
    return make_with(params, "planes", planes_trace, run, noisy, truth, error);
}

// --- curved: hyperboloids and folded events -----------------------------------------------------

static void curved_trace(const Params *p, gint64 i, gint64 j, float *trace)
{
    const double record = p->samples * p->dt;
    for (int k = 0; k < p->events; k++) {
        double u[6];
        for (int c = 0; c < 6; c++)
            u[c] = litho_hash_uniform(p->seed, STREAM_EVENT, 6 * k + c);
        const double t0 = record * (0.08 + 0.84 * (k + u[0]) / p->events);
        const double x = i - p->inlines * (0.2 + 0.6 * u[1]),
                     y = j - p->xlines * (0.2 + 0.6 * u[2]);
        // Moveout of a point: 8 to 14 ms a trace far from the apex.
        const double slow = 0.008 + 0.006 * u[3];
        const double bent = sqrt(t0 * t0 + slow * slow * (x * x + y * y));
        const double folded = t0 + 0.016 * sin(2 * G_PI * (i / (24 + 24 * u[1]) + u[3])) *
                                       cos(2 * G_PI * (j / (24 + 24 * u[2]) + u[5]));
        litho_add_ricker(trace, p->samples, p->dt, k % 2 ? folded : bent, 20 + 15 * u[4],
                         (u[5] < 0.5 ? -1 : 1) * (0.5 + u[4]));
    }
}

static gboolean make_curved(const void *params, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                            LithoCube **velocity, GError **error)
{
    if (velocity)
        *velocity = NULL;
    return make_with(params, "curved", curved_trace, run, noisy, truth, error);
}

// --- conflict: plane events that cross at steep dips --------------------------------------------

static void conflict_trace(const Params *p, gint64 i, gint64 j, float *trace)
{
    const double record = p->samples * p->dt;
    for (int k = 0; k < p->events; k++) {
        double u[5];
        for (int c = 0; c < 5; c++)
            u[c] = litho_hash_uniform(p->seed, STREAM_EVENT, 5 * k + c);
        // 2 to 5 ms a trace, in turn towards the four quarters of the compass.
        const double steep = 0.002 + 0.003 * u[1], turn = G_PI / 2 * (k + u[2]);
        const double t =
            record * (0.15 + 0.7 * u[0]) +
            steep * (cos(turn) * (i - p->inlines / 2.0) + sin(turn) * (j - p->xlines / 2.0));
        litho_add_ricker(trace, p->samples, p->dt, t, 20 + 15 * u[3],
                         (u[4] < 0.5 ? -1 : 1) * (0.5 + u[3]));
    }
}

static gboolean make_conflict(const void *params, LithoRun *run, LithoCube **noisy,
                              LithoCube **truth, LithoCube **velocity, GError **error)
{
    if (velocity)
        *velocity = NULL;
    return make_with(params, "conflict", conflict_trace, run, noisy, truth, error);
}

// --- fault: layers over a dome, broken at a slanted plane ---------------------------------------

static void fault_trace(const Params *p, gint64 i, gint64 j, float *trace)
{
    const double record = p->samples * p->dt, x = (i + 0.5) / p->inlines - 0.5;
    const double y = (j + 0.5) / p->xlines - 0.5;
    for (int k = 0; k < p->events; k++) {
        double u[2];
        for (int c = 0; c < 2; c++)
            u[c] = litho_hash_uniform(p->seed, STREAM_EVENT, 2 * k + c);
        double t = record * (k + 0.3 + 0.4 * u[0]) / p->events;
        const double deep = t / record;
        t += 0.05 * x - 0.06 * deep * exp(-8 * (x * x + 1.3 * y * y));
        if (y > 0.12 * x - 0.15 + 0.3 * deep)
            t += 0.028;
        litho_add_ricker(trace, p->samples, p->dt, t, 28,
                         (litho_hash_uniform(p->seed, STREAM_EVENT, 1000 + k) < 0.5 ? -1 : 1) *
                             (0.4 + u[1]));
    }
}

static gboolean make_fault(const void *params, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                           LithoCube **velocity, GError **error)
{
    if (velocity)
        *velocity = NULL;
    return make_with(params, "fault", fault_trace, run, noisy, truth, error);
}

#define COMMON_ROWS(side, length)                                                                  \
    LITHO_INT(Params, inlines, .label = "Inlines", .def = side, .min = 1, .max = 20000,            \
              .doc = "Number of inlines."),                                                        \
        LITHO_INT(Params, xlines, .label = "Crosslines", .def = side, .min = 1, .max = 20000,      \
                  .doc = "Number of crosslines."),                                                 \
        LITHO_INT(Params, samples, .label = "Samples", .def = length, .min = 2, .max = 100000,     \
                  .doc = "Samples per trace."),                                                    \
        LITHO_FLOAT(Params, dt, .label = "Sample interval", .unit = "s", .def = 0.004,             \
                    .min = 1e-5, .max = 1, .doc = "Time between samples."),                        \
        LITHO_FLOAT(Params, snr, .label = "Signal to noise", .unit = "dB", .def = 0, .min = -60,   \
                    .max = 1000,                                                                   \
                    .doc = "Energy of signal over energy of noise; above 200 = no noise."),        \
        LITHO_CHOICE(Params, noise, "white\0low\0band\0mixed\0", .label = "Noise",                 \
                     .doc = "Spectrum of the noise: white, falling above 15 Hz, around 30 Hz "     \
                            "like the signal, or white with neighbouring traces mixed, as in "     \
                            "migrated data."),                                                     \
        LITHO_FLOAT(Params, scatter, .label = "Amplitude scatter", .unit = "%", .def = 0,          \
                    .min = 0, .max = 100,                                                          \
                    .doc = "Standard deviation of the traces' random amplitude factors."),         \
        LITHO_FLOAT(Params, missing, .label = "Missing traces", .unit = "%", .def = 0, .min = 0,   \
                    .max = 99, .doc = "Traces taken away at random."),                             \
        LITHO_INT(Params, seed, .label = "Seed", .def = 1, .min = 0, .max = 1e9,                   \
                  .doc = "Another number, other noise (and other events).")

static const LithoParam mix_rows[] = {COMMON_ROWS(37, 250)};
static const LithoParam planes_rows[] = {
    COMMON_ROWS(64, 256),
    LITHO_INT(Params, events, .label = N_("Events"), .def = 8, .min = 1, .max = 1000,
              .doc = N_("Number of plane events.")),
};

static const LithoParam curved_rows[] = {
    COMMON_ROWS(64, 256),
    LITHO_INT(Params, events, .label = N_("Events"), .def = 8, .min = 1, .max = 1000,
              .doc = N_("Number of events, in turn a hyperboloid and a fold.")),
};
static const LithoParam conflict_rows[] = {
    COMMON_ROWS(64, 256),
    LITHO_INT(Params, events, .label = N_("Events"), .def = 10, .min = 1, .max = 1000,
              .doc = N_("Number of plane events, dipping in turn towards four sides.")),
};
static const LithoParam fault_rows[] = {
    COMMON_ROWS(64, 256),
    LITHO_INT(Params, events, .label = N_("Layers"), .def = 14, .min = 1, .max = 1000,
              .doc = N_("Number of reflecting boundaries.")),
};

const LithoSynth litho_synth_curved = {
    .key = "curved",
    .title = N_("Curved events"),
    .summary =
        N_("Hyperboloids and folded events in noise: no part of them is plane over many traces."),
    .params = {curved_rows, G_N_ELEMENTS(curved_rows), sizeof(Params)},
    .make = make_curved,
};

const LithoSynth litho_synth_conflict = {
    .key = "conflict",
    .title = N_("Conflicting dips"),
    .summary = N_("Plane events of 2 to 5 ms a trace that cross each other, in noise."),
    .params = {conflict_rows, G_N_ELEMENTS(conflict_rows), sizeof(Params)},
    .make = make_conflict,
};

const LithoSynth litho_synth_fault = {
    .key = "fault",
    .title = N_("Fault over a dome"),
    .summary = N_("Layers over a dome, thrown by 28 ms on a slanted plane, in noise."),
    .params = {fault_rows, G_N_ELEMENTS(fault_rows), sizeof(Params)},
    .make = make_fault,
};

const LithoSynth litho_synth_mix = {
    .key = "mix",
    .title = N_("Four events"),
    .summary =
        N_("Two dipping planes, a hyperboloid and a folded event in white noise: the cube the "
           "F-X tables are measured on."),
    .params = {mix_rows, G_N_ELEMENTS(mix_rows), sizeof(Params)},
    .make = make_mix,
};

const LithoSynth litho_synth_planes = {
    .key = "planes",
    .title = N_("Plane events"),
    .summary = N_("Plane events of random dip, time and frequency in white noise."),
    .params = {planes_rows, G_N_ELEMENTS(planes_rows), sizeof(Params)},
    .make = make_planes,
};
