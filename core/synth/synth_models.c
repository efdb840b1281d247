// SPDX-License-Identifier: GPL-3.0-or-later
//
// Recorded waves over models whose depths are known, by finite differences in time: independent of
// the frequency-space extrapolation that migrates them. Zero-offset data are exploding reflectors
// (waves at half the velocity, all reflectors sounding at t = 0); a shot record is the model's wave
// less the wave of the top layer alone, which leaves the reflections.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/synth/synth_model.h"
#include "core/synth/synth_parts.h"
#include "core/text.h"

typedef struct Params {
    int model, record;
    int inlines, xlines, samples, depths;
    double dt, cell, velocity, depth, wavelet, source_x, source_y, snr;
    double shot_step;
    int shots, seed;
    LithoText file;
} Params;

// Input of one call: the parameters, with the sizes that a velocity cube has, and the rock.
typedef struct Job {
    Params p;
    LithoSynthModel model;
} Job;

enum { ZERO_OFFSET, SHOT };
enum { BORDER = 24, RADIUS = 4 }; // cells of absorbing border; half width of the stencil

// No rock is faster than this times the top layer; with a lens, which has one layer below.
static const double FASTEST = 2.6, FASTEST_LENS = 1.2;

// --- the grid in the computer -----------------------------------------------------------------

typedef struct Field {
    int n[3]; // z, y, x with borders
    int border[3];
    gint64 stride[3];
    float *now, *before; // pressure at two times
    float *c2;           // (velocity dt / cell)^2
    float *damp;         // factor a step
    float *source;       // reflectivity, or the shot's point
} Field;

static void field_clear(Field *f)
{
    g_free(f->now);
    g_free(f->before);
    g_free(f->c2);
    g_free(f->damp);
    g_free(f->source);
}

static gint64 field_size(const Field *f)
{
    return (gint64)f->n[0] * f->n[1] * f->n[2];
}

static gboolean field_init(Field *f, const Params *p, GError **error)
{
    const int n[3] = {p->depths, p->inlines, p->xlines};
    memset(f, 0, sizeof *f);
    for (int k = 0; k < 3; k++) {
        f->border[k] = n[k] > 1 ? BORDER : 0;
        f->n[k] = n[k] + 2 * f->border[k];
    }
    f->stride[2] = 1;
    f->stride[1] = f->n[2];
    f->stride[0] = (gint64)f->n[1] * f->n[2];
    float **arrays[] = {&f->now, &f->before, &f->c2, &f->damp, &f->source};
    for (guint k = 0; k < G_N_ELEMENTS(arrays); k++) {
        *arrays[k] = g_try_new0(float, field_size(f));
        if (!*arrays[k]) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                        _("no memory for a model of %d x %d x %d cells"), f->n[0], f->n[1],
                        f->n[2]);
            field_clear(f);
            return FALSE;
        }
    }
    return TRUE;
}

// Metres of a cell from the survey's centre (x, y) and from the surface (z).
static void cell_place(const Field *f, const Params *p, const int at[3], double place[3])
{
    place[0] = (at[0] - f->border[0]) * p->cell;
    place[1] = (at[1] - f->border[1] - (p->inlines - 1) / 2.0) * p->cell;
    place[2] = (at[2] - f->border[2] - (p->xlines - 1) / 2.0) * p->cell;
}

static void fill_medium(Field *f, const Job *job, double dt, gboolean top_only)
{
    const Params *p = &job->p;
    const double half = p->record == ZERO_OFFSET ? 0.5 : 1;
    // A lens is stepped in longer steps, of which fewer cross the border.
    const double damping = p->model == LITHO_MODEL_LENS ? 0.10 * FASTEST / FASTEST_LENS : 0.10;
#pragma omp parallel for schedule(static)
    for (int z = 0; z < f->n[0]; z++)
        for (int y = 0; y < f->n[1]; y++)
            for (int x = 0; x < f->n[2]; x++) {
                const int at[3] = {z, y, x};
                double place[3], q = 0;
                cell_place(f, p, at, place);
                for (int k = 0; k < 3; k++) {
                    int edge = MIN(at[k], f->n[k] - 1 - at[k]);
                    if (f->border[k] > 0 && edge < f->border[k])
                        q += pow((f->border[k] - edge) / (double)f->border[k], 2);
                }
                double c =
                    half * litho_synth_model_cell(&job->model, place, top_only) * dt / p->cell;
                gint64 i = z * f->stride[0] + y * f->stride[1] + x;
                f->c2[i] = (float)(c * c);
                f->damp[i] = (float)exp(-damping * q);
            }
}

// --- sources ----------------------------------------------------------------------------------

// Shares `amount` among the four cells around depth z by cubic weights: two alone would weaken a
// wave of six cells by a tenth where z lies between them.
static void place_at_depth(Field *f, const Params *p, int y, int x, double z, double amount)
{
    const int k = (int)floor(z / p->cell);
    const double t = z / p->cell - k;
    const double share[4] = {-t * (t - 1) * (t - 2) / 6, (t + 1) * (t - 1) * (t - 2) / 2,
                             -(t + 1) * t * (t - 2) / 2, (t + 1) * t * (t - 1) / 6};
    for (int d = 0; d < 4; d++)
        if (k + d - 1 >= 0 && k + d - 1 < p->depths)
            f->source[(k + d - 1 + f->border[0]) * f->stride[0] + y * f->stride[1] + x] +=
                (float)(amount * share[d]);
}

typedef struct Column {
    Field *field;
    const Params *p;
    int y, x;
} Column;

static void add_reflector(double z, double strength, gpointer data)
{
    const Column *c = data;
    place_at_depth(c->field, c->p, c->y, c->x, z, strength);
}

static void explode_reflectors(Field *f, const Job *job)
{
    const Params *p = &job->p;
    for (int y = 0; y < f->n[1]; y++)
        for (int x = 0; x < f->n[2]; x++) {
            Column column = {f, p, y, x};
            double place[3];
            cell_place(f, p, (const int[3]){0, y, x}, place);
            litho_synth_model_reflectors(&job->model, place[2], place[1], add_reflector, &column);
        }
    if (job->model.kind != LITHO_MODEL_DIFFRACTORS)
        return;
    const double share[3][3] = {{0.25, 0.5, 0.7}, {0.5, 0.5, 1}, {0.75, 0.5, 1.4}};
    for (int k = 0; k < 3; k++) {
        int x = (int)lround(share[k][0] * (p->xlines - 1)) + f->border[2];
        int y = (int)lround(share[k][1] * (p->inlines - 1)) + f->border[1];
        place_at_depth(f, p, y, x, share[k][2] * p->depth, 30);
    }
}

static void fire_shot(Field *f, const Params *p)
{
    int x = (int)lround(p->source_x / p->cell), y = (int)lround(p->source_y / p->cell);
    f->source[f->border[0] * f->stride[0] + (y + f->border[1]) * f->stride[1] + x + f->border[2]] =
        30;
}

// d/dt of a Ricker wavelet.
static double ricker_rate(double t, double f)
{
    double a = G_PI * f * t, b = G_PI * f * a;
    return (-6 * b + 4 * a * a * b) * exp(-a * a);
}

// --- stepping ---------------------------------------------------------------------------------

// Second derivative by the eight-order difference on every axis longer than one cell.
static void advance(Field *f, double source_rate)
{
    static const float d[RADIUS + 1] = {-205 / 72.0f, 8 / 5.0f, -1 / 5.0f, 8 / 315.0f, -1 / 560.0f};
    int lo[3], hi[3];
    gint64 s[3]; // an axis of one cell: stride 0, where the difference is 0
    for (int k = 0; k < 3; k++) {
        lo[k] = f->n[k] > 1 ? RADIUS : 0;
        hi[k] = f->n[k] > 1 ? f->n[k] - RADIUS : 1;
        s[k] = f->n[k] > 1 ? f->stride[k] : 0;
    }
    const float rate = (float)source_rate;
#pragma omp parallel for schedule(static)
    for (int z = lo[0]; z < hi[0]; z++)
        for (int y = lo[1]; y < hi[1]; y++) {
            const gint64 row = z * f->stride[0] + y * f->stride[1], s0 = s[0], s1 = s[1], s2 = s[2];
            const float *u = f->now + row, *c2 = f->c2 + row, *damp = f->damp + row;
            const float *source = f->source + row;
            float *b = f->before + row;
#pragma omp simd
            for (int x = lo[2]; x < hi[2]; x++) {
                float sum = 3 * d[0] * u[x];
                for (int m = 1; m <= RADIUS; m++)
                    sum += d[m] * (u[x - m * s0] + u[x + m * s0] + u[x - m * s1] + u[x + m * s1] +
                                   u[x - m * s2] + u[x + m * s2]);
                b[x] = damp[x] *
                       (2 * u[x] - damp[x] * b[x] + c2[x] * sum + sqrtf(c2[x]) * source[x] * rate);
            }
        }
    float *swap = f->now;
    f->now = f->before;
    f->before = swap;
}

// Largest step (s) that divides dt and is stable in the fastest rock with room to spare.
static int steps_a_sample(const Job *job)
{
    const Params *p = &job->p;
    double fastest = job->model.fastest * (p->record == ZERO_OFFSET ? 0.5 : 1);
    return (int)ceil(p->dt / (0.45 * p->cell / fastest));
}

// `first`: inline of the cube that the record begins with.
static void record_surface(const Field *f, const Params *p, gint64 sample, float scale,
                           LithoCube *cube, int first)
{
    for (int i = 0; i < p->inlines; i++)
        for (int j = 0; j < p->xlines; j++)
            litho_cube_trace(cube, first + i, j)[sample] +=
                scale * f->now[f->border[0] * f->stride[0] + (i + f->border[1]) * f->stride[1] + j +
                               f->border[2]];
}

// Adds scale times the record of one run to the cube, from inline `first` on.
static gboolean simulate(const Job *job, gboolean top_only, float scale, LithoCube *cube, int first,
                         LithoRun *run, GError **error)
{
    const Params *p = &job->p;
    Field f;
    if (!field_init(&f, p, error))
        return FALSE;
    const int fine = steps_a_sample(job);
    const double dt = p->dt / fine, lead = ceil(1.2 / p->wavelet / dt) * dt;
    fill_medium(&f, job, dt, top_only);
    if (p->record == ZERO_OFFSET)
        explode_reflectors(&f, job);
    else
        fire_shot(&f, p);
    // A sheet of unit strength sends a wavelet of unit size up: 2 c w'(t) dt^2 / cell.
    const gint64 before = llround(lead / dt), steps = before + (gint64)fine * (p->samples - 1);
    gboolean ok = TRUE;
    for (gint64 k = 0; ok && k <= steps; k++) {
        // now holds time k dt - lead.
        if (k >= before && (k - before) % fine == 0)
            record_surface(&f, p, (k - before) / fine, scale, cube, first);
        advance(&f, 2 * dt * ricker_rate(k * dt - lead, p->wavelet));
        if (k % 8 == 0)
            ok = litho_run_step(run, k, steps, error);
    }
    field_clear(&f);
    return ok;
}

static LithoCube *velocity_cube(const Job *job, const LithoGrid *time, GError **error)
{
    const Params *p = &job->p;
    LithoGrid grid = *time;
    grid.axis[LITHO_INLINE].n = p->inlines;
    grid.spread = NULL;
    LithoAxis *z = &grid.axis[LITHO_SAMPLE];
    *z = (LithoAxis){.n = p->depths, .step = p->cell, .unit = "m", .source = LITHO_FROM_COMPUTED};
    grid.is_depth = TRUE;
    LithoCube *cube = litho_cube_new(&grid, error);
    for (int i = 0; cube && i < p->inlines; i++)
        for (int j = 0; j < p->xlines; j++)
            for (int k = 0; k < p->depths; k++) {
                const double place[3] = {(k + 0.5) * p->cell,
                                         (i - (p->inlines - 1) / 2.0) * p->cell,
                                         (j - (p->xlines - 1) / 2.0) * p->cell};
                litho_cube_trace(cube, i, j)[k] =
                    (float)litho_synth_model_cell(&job->model, place, FALSE);
            }
    return cube;
}

static int n_shots(const Params *p)
{
    return p->record == SHOT ? p->shots : 1;
}

static gboolean sources_inside(const Params *p, GError **error)
{
    for (int s = 0; p->record == SHOT && s < p->shots; s++) {
        const double x = p->source_x + s * p->shot_step, wide = (p->xlines - 1) * p->cell;
        if (x >= 0 && x <= wide && p->source_y >= 0 && p->source_y <= (p->inlines - 1) * p->cell)
            continue;
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "the source at (%g, %g) m lies off the survey of %g x %g m", x, p->source_y,
                     wide, (p->inlines - 1) * p->cell);
        return FALSE;
    }
    return TRUE;
}

// The records' grid: those of several shots behind one another along the inlines.
static LithoGrid record_grid(const Params *p)
{
    LithoGrid grid = litho_grid_new((gint64)p->inlines * n_shots(p), p->xlines, p->samples);
    grid.axis[LITHO_SAMPLE].step = p->dt;
    grid.inline_step[1] = grid.xline_step[0] = p->cell;
    litho_synth_state(&grid);
    if (p->record != SHOT)
        return grid;
    g_autofree double *sources = g_new0(double, 3 * p->shots);
    for (int s = 0; s < p->shots; s++) {
        sources[3 * s] = p->source_x + s * p->shot_step;
        sources[3 * s + 1] = p->source_y;
    }
    grid.spread = litho_spread_get(p->shots, p->inlines, 0, (const double(*)[3])sources);
    return grid;
}

static gboolean simulate_all(const Job *job, LithoCube *cube, LithoRun *run, GError **error)
{
    const Params *p = &job->p;
    for (int s = 0; s < n_shots(p); s++) {
        Job one = *job;
        one.p.source_x += s * p->shot_step;
        const int first = s * p->inlines;
        if (!simulate(&one, FALSE, 1, cube, first, run, error) ||
            (p->record == SHOT && !simulate(&one, TRUE, -1, cube, first, run, error)))
            return FALSE;
    }
    return TRUE;
}

// The rock; from a file also the survey's size.
static gboolean describe(Job *job, const Params *p, LithoRun *run, GError **error)
{
    job->p = *p;
    job->model = (LithoSynthModel){
        .kind = (LithoSynthModelKind)p->model,
        .velocity = p->velocity,
        .depth = p->depth,
        .cell = p->cell,
        .n = {p->depths, p->inlines, p->xlines},
        .fastest = p->velocity * (p->model == LITHO_MODEL_LENS ? FASTEST_LENS : FASTEST)};
    if (p->model != LITHO_MODEL_FILE)
        return TRUE;
    if (!litho_synth_model_load(&job->model, p->file.text, run, error))
        return FALSE;
    job->p.depths = job->model.n[0];
    job->p.inlines = job->model.n[1];
    job->p.xlines = job->model.n[2];
    return TRUE;
}

static gboolean model_it(const Job *job, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                         LithoCube **velocity, GError **error)
{
    const Params *p = &job->p;
    if (!sources_inside(p, error))
        return FALSE;
    const LithoGrid grid = record_grid(p);
    g_autoptr(LithoCube) clean = litho_cube_new(&grid, error);
    litho_run_begin(run, "modelling", "time steps");
    if (!clean || !simulate_all(job, clean, run, error))
        return FALSE;
    LithoCube *spoiled = litho_synth_spoil(clean, p->snr, 0, p->seed, run, error);
    LithoCube *model = velocity ? velocity_cube(job, &grid, error) : NULL;
    if (!spoiled || (velocity && !model)) {
        litho_cube_unref(spoiled);
        return FALSE;
    }
    g_strlcpy(spoiled->name, "models", sizeof spoiled->name);
    g_strlcpy(clean->name, _("models, without noise"), sizeof clean->name);
    litho_synth_hand_over(spoiled, noisy);
    litho_synth_hand_over(g_steal_pointer(&clean), truth);
    if (model)
        litho_synth_hand_over(model, velocity);
    return TRUE;
}

static gboolean make(const void *params, LithoRun *run, LithoCube **noisy, LithoCube **truth,
                     LithoCube **velocity, GError **error)
{
    Job job;
    gboolean ok =
        describe(&job, params, run, error) && model_it(&job, run, noisy, truth, velocity, error);
    litho_synth_model_clear(&job.model);
    return ok;
}

static const LithoParam rows[] = {
    LITHO_CHOICE(
        Params, model, "flat\0dipping\0diffractors\0syncline\0salt\0lens\0file\0",
        .label = N_("Model"),
        .doc =
            N_("flat: two reflectors; dipping: 20 degrees over a flat one; diffractors: three "
               "points; syncline: a trough that gives a bow tie; salt: a fast body; lens: a slow "
               "one over a reflector; file: a velocity cube of yours.")),
    LITHO_FILE(
        Params, file, .label = N_("Velocity cube"), .when = "model=file",
        .doc = N_("Velocity in m/s against depth, of any format that is read; the survey covers "
                  "it. Where the file states no spacing its samples are a cell apart.")),
    LITHO_CHOICE(Params, record, "zero-offset\0shot\0", .label = N_("Record"),
                 .doc = N_("A stack by exploding reflectors, or the record of one shot.")),
    LITHO_INT(Params, inlines, .label = N_("Inlines"), .when = "model!=file", .def = 32, .min = 1,
              .max = 2000, .doc = N_("Number of inlines; 1 = a 2-D section.")),
    LITHO_INT(Params, xlines, .label = N_("Crosslines"), .when = "model!=file", .def = 64, .min = 1,
              .max = 2000, .doc = N_("Number of crosslines.")),
    LITHO_INT(Params, samples, .label = N_("Samples"), .def = 300, .min = 2, .max = 20000,
              .doc = N_("Samples per trace.")),
    LITHO_INT(Params, depths, .label = N_("Depths"), .when = "model!=file", .def = 60, .min = 8,
              .max = 2000, .doc = N_("Cells of the model in depth.")),
    LITHO_FLOAT(Params, dt, .label = N_("Sample interval"), .unit = "s", .def = 0.004, .min = 1e-4,
                .max = 0.1, .doc = N_("Time between samples.")),
    LITHO_FLOAT(Params, cell, .label = N_("Cell"), .unit = "m", .def = 20, .min = 1, .max = 1000,
                .doc = N_("Size of the model's cells in all directions.")),
    LITHO_FLOAT(Params, velocity, .label = N_("Velocity"), .when = "model!=file", .unit = "m/s",
                .def = 3000, .min = 300, .max = 6000,
                .doc = N_("Velocity of the top layer; 15 % more below each reflector.")),
    LITHO_FLOAT(Params, depth, .label = N_("Depth"), .when = "model!=file", .unit = "m", .def = 600,
                .min = 10, .max = 50000,
                .doc = N_("Depth that the model's reflectors are scaled by.")),
    LITHO_FLOAT(
        Params, wavelet, .label = N_("Wavelet"), .unit = "Hz", .def = 8, .min = 1, .max = 500,
        .doc = N_("Peak frequency of the Ricker wavelet; nine cells a wavelength (at half the "
                  "velocity in zero-offset records) keep the modelling clean.")),
    LITHO_FLOAT(Params, source_x, .label = N_("Source x"), .unit = "m", .def = 640, .min = 0,
                .max = 1e6,
                .doc = N_("Place of the shot along the crosslines, from the first trace.")),
    LITHO_FLOAT(Params, source_y, .label = N_("Source y"), .unit = "m", .def = 320, .min = 0,
                .max = 1e6,
                .doc = N_("Place of the shot along the inlines, from the first trace.")),
    LITHO_INT(
        Params, shots, .label = N_("Shots"), .when = "record=shot", .def = 1, .min = 1, .max = 1000,
        .doc = N_("Records behind one another along the inlines, each of all receivers; SEG-Y says "
                  "in bytes 73-88 where source and receiver stood.")),
    LITHO_FLOAT(Params, shot_step, .label = N_("Shot step"), .when = "record=shot", .unit = "m",
                .def = 200, .min = 0, .max = 1e5,
                .doc = N_("From one source to the next along the crosslines.")),
    LITHO_FLOAT(Params, snr, .label = N_("Signal to noise"), .unit = "dB", .def = 1000, .min = -60,
                .max = 1000,
                .doc = N_("Energy of signal over energy of white noise; above 200 = no noise.")),
    LITHO_INT(Params, seed, .label = N_("Seed"), .def = 1, .min = 0, .max = 1e9,
              .doc = N_("Another number, other noise.")),
};

const LithoSynth litho_synth_models = {
    .key = "models",
    .title = N_("Waves over known depths"),
    .summary =
        N_("Zero-offset or shot records over flat, dipping, diffracting, troughed and salt-like "
           "models of known depth, or over a velocity cube of yours, by finite differences in "
           "time, with their velocity: what migration is judged on."),
    .params = {rows, G_N_ELEMENTS(rows), sizeof(Params)},
    .make = make,
};
