// SPDX-License-Identifier: GPL-3.0-or-later
//
// A survey that looks like one: layers over a dome and a fold, cut by a normal fault, with
// diffractions from the broken layer ends, in two-way time. Layer boundaries reflect with the
// contrast of the interval velocities, so the velocity cube fits the reflections.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/synth/synth_parts.h"
#include "core/text.h"

typedef struct Params {
    int inlines, xlines, samples;
    double dt, spacing, frequency, snr, missing, throw_ms;
    int layers, diffractors, seed;
} Params;

enum { MAX_LAYERS = 400, STREAM_THICK = 1, STREAM_VELOCITY, STREAM_DENSITY, STREAM_POINT };

typedef struct Layer {
    double time;       // s, of its top away from all structure
    double velocity;   // m/s below the top
    double reflection; // coefficient of the top
} Layer;

typedef struct Point {
    double x, y, time, velocity, amplitude;
} Point;

typedef struct Earth {
    const Params *p;
    double width, length, record; // m along inlines' and crosslines' steps, s
    Layer layers[MAX_LAYERS];
    int n_layers;
    GArray *points; // of Point
} Earth;

// --- structure --------------------------------------------------------------------------------

// Shift (s) of a boundary of undisturbed time `t`: regional dip, a dome that fades upwards and a
// gentle fold; x and y in 0..1 of the survey.
static double structure(const Earth *e, double x, double y, double t)
{
    double depth = t / e->record; // 0 at the top, 1 at the bottom
    double dip = 0.10 * (x - 0.5) * depth + 0.05 * (y - 0.5) * depth;
    double r2 = (x - 0.36) * (x - 0.36) / 0.045 + (y - 0.55) * (y - 0.55) / 0.08;
    double dome = -0.13 * depth * depth * exp(-r2);
    double fold = 0.018 * depth * sin(2 * G_PI * (1.3 * x + 0.5 * y)) * cos(2 * G_PI * 0.9 * y);
    return (dip + dome + fold) * e->record;
}

// Fault plane: x of its trace at `y` and time `t` (it dips towards growing x), in 0..1.
static double fault_x(const Earth *e, double y, double t)
{
    return 0.60 + 0.10 * (y - 0.5) + 0.16 * t / e->record;
}

// Time of layer `k`'s top at (x, y): structure, then the throw on the downthrown side. The throw
// dies out upwards: the shallow layers were laid down later.
static double boundary_time(const Earth *e, const Layer *layer, double x, double y)
{
    double t = layer->time + structure(e, x, y, layer->time);
    double grown = CLAMP((layer->time / e->record - 0.18) / 0.2, 0, 1);
    if (x > fault_x(e, y, t))
        t += e->p->throw_ms * 1e-3 * grown;
    return t;
}

static void make_layers(Earth *e)
{
    const Params *p = e->p;
    // Past the end of the record, so that structure can lift layers into it.
    double mean = e->record / p->layers, t = 0.04 * e->record, impedance = 0;
    for (int k = 0; k < MAX_LAYERS && t < 1.2 * e->record; k++) {
        Layer *l = &e->layers[k];
        e->n_layers = k + 1;
        double depth = t / e->record;
        l->time = t;
        l->velocity = 1750 + 1700 * depth + 260 * litho_hash_normal(p->seed, STREAM_VELOCITY, k);
        l->velocity = MAX(l->velocity, 1500);
        double density = 310 * pow(l->velocity, 0.25) *
                         (1 + 0.03 * litho_hash_normal(p->seed, STREAM_DENSITY, k)); // Gardner 1974
        double below = l->velocity * density;
        double above = k > 0 ? impedance : 1700.0 * 310 * pow(1700, 0.25);
        l->reflection = (below - above) / (below + above);
        impedance = below;
        t += mean * (0.45 + 1.1 * litho_hash_uniform(p->seed, STREAM_THICK, k));
    }
}

// Diffracting points: where strong layers break at the fault, along the fault's strike, and some
// scatterers anywhere.
static void make_points(Earth *e)
{
    const Params *p = e->p;
    e->points = g_array_new(FALSE, FALSE, sizeof(Point));
    for (int k = 0; k < p->diffractors; k++) {
        const Layer *l =
            &e->layers[(int)(litho_hash_uniform(p->seed, STREAM_POINT, 4 * k) * e->n_layers)];
        double y = litho_hash_uniform(p->seed, STREAM_POINT, 4 * k + 1);
        double x = fault_x(e, y, l->time);
        if (k % 3 == 2)
            x = litho_hash_uniform(p->seed, STREAM_POINT, 4 * k + 2);
        Point point = {.x = x * e->length,
                       .y = y * e->width,
                       .time = boundary_time(e, l, x, y),
                       .velocity = 1750 + 850 * l->time / e->record,
                       .amplitude =
                           0.15 + 0.15 * litho_hash_uniform(p->seed, STREAM_POINT, 4 * k + 3)};
        g_array_append_val(e->points, point);
    }
}

// --- traces -----------------------------------------------------------------------------------

// Diffraction of a point at zero offset: t = sqrt(t0^2 + (2 r / v)^2), amplitude falling with the
// obliquity t0/t and the longer path.
static void add_points(const Earth *e, double x, double y, float *trace)
{
    const Params *p = e->p;
    for (guint k = 0; k < e->points->len; k++) {
        const Point *d = &g_array_index(e->points, Point, k);
        double r2 = (x - d->x) * (x - d->x) + (y - d->y) * (y - d->y);
        double t = sqrt(d->time * d->time + 4 * r2 / (d->velocity * d->velocity));
        double ratio = d->time / t;
        if (ratio > 0.25)
            litho_add_ricker(trace, p->samples, p->dt, t, p->frequency,
                             d->amplitude * ratio * ratio);
    }
}

// x runs along crosslines (j), y along inlines (i), both in 0..1.
static void make_trace(const Earth *e, double x, double y, float *trace, float *velocity)
{
    const Params *p = e->p;
    gint64 filled = 0;
    double v = 1700, last = 0;
    for (int k = 0; k < e->n_layers; k++) {
        const Layer *l = &e->layers[k];
        double t = MAX(boundary_time(e, l, x, y), last + 0.25 * p->dt); // layers never cross
        last = t;
        // Lateral changes of the contrast, tens of traces long.
        double fade = 1 + 0.3 * sin(2 * G_PI * (1.1 * x + 0.7 * y) + k);
        litho_add_ricker(trace, p->samples, p->dt, t, p->frequency, l->reflection * fade * 10);
        for (; velocity && filled < p->samples && filled * p->dt < t; filled++)
            velocity[filled] = (float)v;
        v = l->velocity;
    }
    for (; velocity && filled < p->samples; filled++)
        velocity[filled] = (float)v;
    add_points(e, x * e->length, y * e->width, trace);
}

static LithoGrid survey_grid(const Params *p)
{
    LithoGrid grid = litho_grid_new(p->inlines, p->xlines, p->samples);
    grid.axis[LITHO_INLINE].first = 1001;
    grid.axis[LITHO_XLINE].first = 2001;
    grid.axis[LITHO_SAMPLE].step = p->dt;
    litho_synth_state(&grid);
    // Rotated by 30 degrees, as surveys are.
    grid.has_xy = TRUE;
    grid.origin[0] = 605000;
    grid.origin[1] = 6073000;
    grid.inline_step[0] = -p->spacing * 0.5;
    grid.inline_step[1] = p->spacing * sqrt(0.75);
    grid.xline_step[0] = p->spacing * sqrt(0.75);
    grid.xline_step[1] = p->spacing * 0.5;
    return grid;
}

static gboolean fill(const Earth *e, LithoRun *run, LithoCube *clean, LithoCube *velocity,
                     GError **error)
{
    const Params *p = e->p;
    litho_run_begin(run, "generating", "inlines");
    for (gint64 i = 0; i < p->inlines; i++) {
        double y = p->inlines > 1 ? i / (p->inlines - 1.0) : 0;
#pragma omp parallel for schedule(dynamic, 4)
        for (gint64 j = 0; j < p->xlines; j++)
            make_trace(e, p->xlines > 1 ? j / (p->xlines - 1.0) : 0, y,
                       litho_cube_trace(clean, i, j),
                       velocity ? litho_cube_trace(velocity, i, j) : NULL);
        if (!litho_run_step(run, i + 1, p->inlines, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean make(const void *params, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                     LithoCube **velocity, GError **error)
{
    const Params *p = params;
    LithoGrid grid = survey_grid(p);
    g_autoptr(LithoCube) clean = litho_cube_new(&grid, error);
    g_autoptr(LithoCube) speeds = clean && velocity ? litho_cube_new(&grid, error) : NULL;
    if (!clean || (velocity && !speeds))
        return FALSE;
    Earth *e = g_new0(Earth, 1);
    e->p = p;
    e->length = (p->xlines - 1) * p->spacing;
    e->width = (p->inlines - 1) * p->spacing;
    e->record = p->samples * p->dt;
    make_layers(e);
    make_points(e);
    gboolean ok = fill(e, run, clean, speeds, error);
    g_array_unref(e->points);
    g_free(e);
    LithoCube *spoiled =
        ok ? litho_synth_spoil(clean, p->snr, p->missing, p->seed, run, error) : NULL;
    if (!spoiled)
        return FALSE;
    g_strlcpy(spoiled->name, "survey", sizeof spoiled->name);
    g_strlcpy(clean->name, "survey, truth", sizeof clean->name);
    litho_synth_hand_over(spoiled, noisy);
    litho_synth_hand_over(g_steal_pointer(&clean), truth);
    if (speeds)
        litho_synth_hand_over(g_steal_pointer(&speeds), velocity);
    return TRUE;
}

static const LithoParam rows[] = {
    LITHO_INT(Params, inlines, .label = N_("Inlines"), .def = 100, .min = 1, .max = 20000,
              .doc = N_("Number of inlines.")),
    LITHO_INT(Params, xlines, .label = N_("Crosslines"), .def = 120, .min = 1, .max = 20000,
              .doc = N_("Number of crosslines.")),
    LITHO_INT(Params, samples, .label = N_("Samples"), .def = 300, .min = 2, .max = 100000,
              .doc = N_("Samples per trace.")),
    LITHO_FLOAT(Params, dt, .label = N_("Sample interval"), .unit = "s", .def = 0.004, .min = 1e-5,
                .max = 1, .doc = N_("Time between samples.")),
    LITHO_FLOAT(Params, spacing, .label = N_("Bin size"), .unit = "m", .def = 25, .min = 0.1,
                .max = 1000, .doc = N_("Distance between neighbouring traces on both axes.")),
    LITHO_FLOAT(Params, frequency, .label = N_("Peak frequency"), .unit = "Hz", .def = 28, .min = 1,
                .max = 10000, .doc = N_("Peak frequency of the Ricker wavelet.")),
    LITHO_FLOAT(Params, snr, .label = N_("Signal to noise"), .unit = "dB", .def = 2, .min = -60,
                .max = 1000,
                .doc = N_("Energy of signal over energy of white noise; above 200 = no noise.")),
    LITHO_FLOAT(Params, missing, .label = N_("Missing traces"), .unit = "%", .def = 4, .min = 0,
                .max = 99, .doc = N_("Traces taken away at random.")),
    LITHO_FLOAT(Params, throw_ms, .label = N_("Fault throw"), .unit = "ms", .def = 60, .min = 0,
                .max = 2000,
                .doc = N_("Vertical throw of the normal fault in two-way time; 0 = none.")),
    LITHO_INT(Params, layers, .label = N_("Layers"), .def = 42, .min = 1, .max = 300,
              .doc = N_("Reflecting boundaries in the record.")),
    LITHO_INT(Params, diffractors, .label = N_("Diffractors"), .def = 60, .min = 0, .max = 10000,
              .doc = N_("Point diffractors, most of them on the fault.")),
    LITHO_INT(Params, seed, .label = N_("Seed"), .def = 1, .min = 0, .max = 1e9,
              .doc = N_("Another number, another earth and other noise.")),
};

const LithoSynth litho_synth_survey = {
    .key = "survey",
    .title = N_("Faulted survey"),
    .summary = N_("Layers over a dome and a fold, a normal fault, diffractions, random noise and "
                  "missing traces, with the clean cube and the interval velocities beside it."),
    .params = {rows, G_N_ELEMENTS(rows), sizeof(Params)},
    .make = make,
};
