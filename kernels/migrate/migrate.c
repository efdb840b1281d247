// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/migrate.h"

#include "core/suggest.h"
#include "core/text.h"
#include "kernels/migrate/cpu/engine.h"
#include "kernels/migrate/job.h"

typedef LithoMigrateParams P;

enum {
    PLAN = LITHO_MIGRATE_STAGE_PLAN,
    VELOCITY = LITHO_MIGRATE_STAGE_VELOCITY,
    SPECTRUM = LITHO_MIGRATE_STAGE_SPECTRUM,
    DESIGN = LITHO_MIGRATE_STAGE_DESIGN,
    EXTRAPOLATE = LITHO_MIGRATE_STAGE_EXTRAPOLATE,
    IMAGE = LITHO_MIGRATE_STAGE_IMAGE,
};

static const LithoParam rows[] = {
    LITHO_CHOICE(
        P, mode, N_("zero-offset") "\0" N_("shot") "\0" N_("demigrate") "\0", .label = N_("Mode"),
        .stage = PLAN,
        .doc = N_("zero-offset images a stack (exploding reflectors), shot a record with its "
                  "source, demigrate models a stack from a depth image (the exact adjoint).")),
    LITHO_FILE(P, velocity, .role = LITHO_ROLE_VELOCITY, .label = N_("Velocity"), .unit = "m/s",
               .def_text = "2000", .stage = VELOCITY,
               .doc =
                   N_("One number, or a text file of depth (m) and velocity (m/s) lines, or a cube "
                      "of velocity against depth (.sgy, .npy, .rsf) with a grid of its own.")),
    LITHO_FLOAT(P, dz, .label = N_("Depth interval"), .when = "mode=zero-offset|shot", .unit = "m",
                .def = 10, .min = 0.1, .max = 1000, .soft_min = 2, .soft_max = 50, .log = true,
                .stage = PLAN,
                .doc = N_("Spacing of the image in depth; v / (4 fmax) or finer avoids aliasing.")),
    LITHO_INT(P, nz, .label = N_("Depths"), .when = "mode=zero-offset|shot",
              .special_text = N_("as deep as seen"), .def = 0, .max = LITHO_MIGRATE_MOST_DEPTHS,
              .soft_max = 1000, .advanced = true, .stage = PLAN,
              .doc = N_("Samples of the image in depth; 0 reaches as deep as the record sees.")),
    LITHO_INT(P, degree, .label = N_("Degree"), .when = "engine=chebyshev", .def = 23, .min = 5,
              .max = LITHO_MIGRATE_MAX_DEGREE, .stage = DESIGN,
              .doc =
                  N_("Degree of the extrapolation polynomial: cost grows with it, error falls; 15 "
                     "for steps of half a cell, 23 for a whole cell, 31 for quality.")),
    LITHO_FLOAT(P, max_dip, .label = N_("Largest dip"), .unit = N_("degrees"), .def = 65, .min = 10,
                .max = 85, .soft_min = 30, .soft_max = 80, .stage = DESIGN,
                .doc =
                    N_("Propagation angle up to which the polynomial is exact to its design error; "
                       "steeper waves are taken away.")),
    LITHO_CHOICE(P, form, N_("operator") "\0" N_("pointwise") "\0", .label = N_("Form"),
                 .when = "engine=chebyshev", .advanced = true, .stage = DESIGN,
                 .doc =
                     N_("operator: a polynomial of the slowness-and-Laplacian operator, stable in "
                        "any model; pointwise: coefficients looked up from the local velocity, as "
                        "published, which can grow where walls stand vertically.")),
    LITHO_CHOICE(P, engine, "chebyshev\0" N_("splitstep") "\0", .label = N_("Engine"),
                 .advanced = true, .stage = VELOCITY,
                 .doc =
                     N_("chebyshev: explicit finite differences; splitstep: FFT phase shift with "
                        "one reference velocity a step, exact where velocity varies with depth "
                        "only.")),
    LITHO_FLOAT(P, fmin, .role = LITHO_ROLE_BAND_LOW, .label = N_("Lowest frequency"), .unit = "Hz",
                .def = 3, .min = 0.1, .max = 1000, .soft_min = 1, .soft_max = 20, .advanced = true,
                .stage = SPECTRUM, .doc = N_("Frequencies below are left out; 3 Hz is usual.")),
    LITHO_FLOAT(P, fmax, .role = LITHO_ROLE_BAND_HIGH, .label = N_("Highest frequency"),
                .special_text = N_("automatic"), .unit = "Hz", .def = 0, .max = 10000,
                .soft_max = 120, .advanced = true, .stage = SPECTRUM,
                .doc =
                    /* xgettext:no-c-format */ N_(
                        "Frequencies above are left out; cost grows with it. 0 = 60 Hz, or 80 % of "
                        "Nyquist where that is lower.")),
    LITHO_INT(P, sponge, .label = N_("Absorbing border"), .unit = N_("cells"), .def = 30,
              .max = 200, .soft_max = 60, .advanced = true, .stage = VELOCITY,
              .doc =
                  N_("Width of the border that damps waves before the edge reflects them; left out "
                     "on axes too short for it.")),
    LITHO_INT(P, pad, .label = N_("Padding"), .special_text = N_("as wide as the border"),
              .special = -1, .unit = N_("cells"), .def = -1, .min = -1, .max = 500, .soft_max = 60,
              .advanced = true, .stage = VELOCITY,
              .doc =
                  N_("Empty cells added around the data so that the border does not eat image; "
                     "without them the outer traces lose most of their amplitude. Costs what the "
                     "wider grid costs.")),
    LITHO_INT(P, step, .label = N_("Depths a step"), .special_text = N_("automatic"), .def = 0,
              .max = LITHO_MIGRATE_MAX_STEP, .advanced = true, .stage = VELOCITY,
              .doc =
                  N_("Image depths that one extrapolation step crosses, those between included at "
                     "little cost; 0 = steps about as deep as a cell is wide.")),
    LITHO_BOOL(
        P, coarse, .label = N_("Coarse grids for low frequencies"), .advanced = true, .stage = PLAN,
        .doc = N_("Each frequency runs on cells and depths of 1, 1.25, 1.5, 2, 3 or 4 times the "
                  "image's, the widest that hold its waves as well as the image's hold the highest "
                  "frequency's: about a third of the work.")),
    LITHO_FLOAT(P, source_x, .label = N_("Source x"), .when = "mode=shot geometry=record|line",
                .unit = "m", .def = 0, .min = -1e7, .max = 1e7, .stage = EXTRAPOLATE,
                .doc = N_("Place of the source along the crossline index, from the first trace.")),
    LITHO_FLOAT(P, source_y, .label = N_("Source y"), .when = "mode=shot geometry=record",
                .unit = "m", .def = 0, .min = -1e7, .max = 1e7, .stage = EXTRAPOLATE,
                .doc = N_("Place of the source along the inline index, from the first trace.")),
    LITHO_FLOAT(P, wavelet, .label = N_("Wavelet"), .when = "mode=shot",
                .special_text = N_("impulse"), .unit = "Hz", .def = 25, .max = 1000, .soft_max = 80,
                .advanced = true, .stage = EXTRAPOLATE,
                .doc = N_("Peak frequency of the source's Ricker wavelet; 0 = an impulse.")),
    LITHO_FLOAT(P, delay, .label = N_("Wavelet delay"), .when = "mode=shot", .unit = "s", .def = 0,
                .min = -10, .max = 10, .soft_min = 0, .soft_max = 0.2, .advanced = true,
                .stage = EXTRAPOLATE, .doc = N_("Time at which the source's wavelet peaks.")),
    LITHO_CHOICE(P, imaging, N_("correlation") "\0" N_("normalised") "\0", .label = N_("Imaging"),
                 .when = "mode=shot", .advanced = true, .stage = IMAGE,
                 .doc = N_("correlation of the two waves, or the same divided by the source's "
                           "illumination.")),
    LITHO_FLOAT(
        P, stabilise, .label = N_("Stabilisation"), .when = "mode=shot imaging=normalised",
        .def = 0.005, .min = 1e-5, .max = 1, .log = true, .advanced = true, .stage = IMAGE,
        .doc = N_("Fraction of a depth's largest illumination that is added before dividing.")),
    LITHO_BOOL(
        P, antialias, .label = N_("Protect against aliasing"), .when = "mode=shot",
        .advanced = true, .stage = DESIGN,
        .doc = N_("Multiply the two waves on a grid twice as fine where their product folds: steep "
                  "reflectors that the cells cannot hold are left out instead of shown with a "
                  "wrong dip. Costs a tenth to a quarter.")),
    LITHO_CHOICE(P, geometry, N_("record") "\0" N_("line") "\0" N_("headers") "\0",
                 .label = N_("Geometry"), .when = "mode=shot", .stage = PLAN,
                 .doc =
                     N_("record: the input is one shot, its traces the image's cells; line: every "
                        "inline is one shot of a 2-D line; headers: sources and receivers from the "
                        "trace headers, summed on a grid given by nx, ny, dx, dy and its origin.")),
    LITHO_FLOAT(
        P, dx, .label = N_("Cell along inlines"), .special_text = N_("from the input"), .unit = "m",
        .def = 0, .max = 1000, .advanced = true, .stage = PLAN,
        .doc = N_("Distance of neighbouring traces of an inline, a file's --dy; 0 = that of the "
                  "input.")),
    LITHO_FLOAT(P, dy, .label = N_("Cell across inlines"), .special_text = N_("from the input"),
                .unit = "m", .def = 0, .max = 1000, .advanced = true, .stage = PLAN,
                .doc =
                    N_("Distance of neighbouring inlines, a file's --dx; 0 = that of the input.")),
    LITHO_INT(P, nx, .label = N_("Image cells x"), .when = "mode=shot geometry=headers", .def = 0,
              .max = 100000, .stage = PLAN,
              .doc = N_("Cells of the image along x for geometry = headers.")),
    LITHO_INT(P, ny, .label = N_("Image cells y"), .when = "mode=shot geometry=headers", .def = 0,
              .max = 100000, .stage = PLAN,
              .doc = N_("Cells of the image along y for geometry = headers.")),
    LITHO_FLOAT(P, origin_x, .label = N_("Image corner x"), .when = "mode=shot geometry=headers",
                .unit = "m", .def = 0, .min = -1e9, .max = 1e9, .advanced = true, .stage = PLAN,
                .doc = N_("Survey coordinate of the image's first cell for geometry = headers.")),
    LITHO_FLOAT(P, origin_y, .label = N_("Image corner y"), .when = "mode=shot geometry=headers",
                .unit = "m", .def = 0, .min = -1e9, .max = 1e9, .advanced = true, .stage = PLAN,
                .doc = N_("Survey coordinate of the image's first cell for geometry = headers.")),
    LITHO_FLOAT(
        P, velocity_dz, .label = N_("Depth interval of the velocity"),
        .special_text = N_("from its file"), .unit = "m", .def = 0, .max = 1000, .advanced = true,
        .stage = VELOCITY,
        .doc = N_("Distance of the samples of a velocity cube in depth, also where its file takes "
                  "them for times; 0 = what its file says, and where that says nothing, the depth "
                  "interval of the image.")),
    LITHO_FLOAT(P, dt, .label = N_("Sample interval of the model"), .when = "mode=demigrate",
                .unit = "s", .def = 0.004, .min = 1e-5, .max = 1, .advanced = true, .stage = PLAN,
                .doc = N_("Sample interval of demigrated data.")),
    LITHO_INT(
        P, nt, .label = N_("Samples of the model"), .when = "mode=demigrate",
        .special_text = N_("automatic"), .def = 0, .max = 1000000, .advanced = true, .stage = PLAN,
        .doc = N_("Samples of demigrated data; 0 = until the deepest reflection has come back.")),
    LITHO_FLOAT(P, edge_weight, .label = N_("Vertical weight"), .when = "engine=chebyshev",
                .def = 0.1, .min = 0.02, .max = 1, .log = true, .advanced = true, .stage = DESIGN,
                .doc =
                    N_("Error allowed for vertical waves relative to waves at the largest dip; 1 = "
                       "the same at all dips.")),
    LITHO_BOOL(
        P, stop, .label = N_("Take steeper waves away"), .when = "engine=chebyshev form=operator",
        .def = 1, .advanced = true, .stage = DESIGN,
        .doc = N_("A second polynomial of the same operator, at the surface and every some "
                  "steps, that passes waves up to the largest dip and stops steeper ones; "
                  "without it they come to a wrong place. Costs a tenth where velocity varies "
                  "to the sides, hardly anything else.")),
    LITHO_FLOAT(
        P, ratio_cap, .label = N_("Velocity ratio served"), .when = "engine=chebyshev", .def = 2,
        .min = 1, .max = 6, .advanced = true, .stage = DESIGN,
        .doc = N_("Velocity ratio within a depth up to which the largest dip holds in the fast "
                  "rock too; larger values cost accuracy everywhere.")),
    LITHO_FLOAT(P, growth, .label = N_("Growth that stops"),
                .when = "engine=chebyshev form=pointwise", .def = 4, .max = 1e30, .soft_min = 2,
                .soft_max = 100, .log = true, .advanced = true, .stage = EXTRAPOLATE,
                .doc = N_("Energy of a pointwise wave over its smallest so far at which the run is "
                          "stopped; 0 = never.")),
    LITHO_CHOICE(P, gpu_kernel, N_("fused") "\0" N_("per-degree") "\0", .label = N_("GPU kernel"),
                 .when = "engine=chebyshev", .advanced = true, .stage = EXTRAPOLATE,
                 .doc =
                     N_("fused runs the recursion with eight degrees on chip; per-degree launches "
                        "once a degree with a shared-memory tile, as published. Same samples to "
                        "rounding.")),
};

static char *resolve_key(const void *params)
{
    const LithoMigrateParams *p = params;
    return litho_migrate_model_is_file(p->velocity.text) ? g_strdup(p->velocity.text) : NULL;
}

static LithoResolved *resolve(const void *params, LithoRun *run, GError **error)
{
    return litho_migrate_model_resolve(((const LithoMigrateParams *)params)->velocity.text, run,
                                       error);
}

static LithoSplit split(const LithoGrid *in, const void *params)
{
    (void)in;
    (void)params;
    return (LithoSplit){LITHO_SPLIT_SUM, "frequencies", EXTRAPOLATE};
}

static const char *const stages[] = {"plan",        "velocity", "spectrum", "design",
                                     "extrapolate", "image",    NULL};

static const LithoPreset presets[] = {
    {N_("default"), "", N_("degree 23, dips to 65 degrees, steps of one cell")},
    {N_("preview"), "degree=15 max_dip=50 fmax=40 coarse=on sponge=15",
     N_("a quick look: moderate dips, 40 Hz, a narrow border")},
    {N_("quality"), "degree=31", N_("a quarter of the error")},
    {N_("published"), "form=pointwise degree=15 step=1 edge_weight=1 gpu_kernel=per-degree",
     N_("the published scheme: degree 15, coefficients by local velocity")},
    {NULL},
};

static const LithoDemo demo = {"models model=diffractors", "velocity=3000",
                               N_("hyperbolas become the points that they came from")};

static const LithoNumberDoc numbers[] = {
    {"designs",
     N_("Polynomials that were designed for the velocities and frequencies of this job.")},
    {"tau", N_("Largest error of one depth step within the largest dip, as a part of the wave; it "
               "grows with the number of steps.")},
    {"frequencies", N_("Frequencies that are carried down.")},
    {"coarse_frequencies",
     N_("Low frequencies that are computed on wider cells, without loss, to save time.")},
    {"coarse_cells", N_("Widest of these cells.")},
    {"step", N_("Depth that the waves are carried at once; images between are interpolated.")},
    {"shots", N_("Shots of the survey, each migrated for itself; their images are added.")},
    {NULL},
};

static void suggest(const LithoEvidence *evidence, GArray *list)
{
    if (!evidence->grid->is_depth)
        litho_suggest_add_band(list, &litho_operator_migrate, evidence);
}

const LithoOperator litho_operator_migrate = {
    .key = "migrate",
    .title = N_("Depth migration"),
    .purpose = N_("From a stack or shots to an image in depth"),
    .summary =
        N_("Turns recorded waves into an image of the reflectors in depth. Each frequency is "
           "carried down step by step with a Chebyshev polynomial of a cross-shaped Laplacian; "
           "what arrives at time zero is image. Velocity may vary in all directions."),
    .stages = stages,
    .params = {rows, G_N_ELEMENTS(rows), sizeof(LithoMigrateParams)},
    .presets = presets,
    .demo = &demo,
    .numbers = numbers,
    .needs_input = TRUE,
    .resolve_key = resolve_key,
    .resolve = resolve,
    .check = litho_migrate_check,
    .output_grid = litho_migrate_output_grid,
    .split = split,
    .suggest = suggest,
    .cpu = &litho_migrate_cpu,
};
