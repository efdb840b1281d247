// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tip-wave superposition modelling: the declaration and the CPU backend. The way of a run is in
// plan.c, its preparation in setup.c, the sums in cpu_*.c.
#include "kernels/twsm/twsm.h"

#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "kernels/twsm/setup.h"

// --- CPU backend ------------------------------------------------------------------------------

// The paper's algorithms keep their loop order over all frequencies; the others work in blocks, so
// that low frequencies show early.
static int cpu_block(TwsmAlgorithm algorithm, int n_frequencies)
{
    gboolean whole = algorithm == TWSM_ALG1 || algorithm == TWSM_ALG2 || algorithm == TWSM_MOD2;
    return whole ? n_frequencies : TWSM_BLOCK;
}

static gboolean cpu_run(gpointer self, const TwsmChain *chain, TwsmBand band, TwsmHow *how,
                        TwsmStart start, TwsmValue *receivers, LithoRun *run, GError **error)
{
    (void)self;
    g_autofree TwsmValue *u = NULL;
    for (int m = 0; m < chain->n_legs; m++) {
        const TwsmLeg *leg = &chain->leg[m];
        gboolean last = m == chain->n_legs - 1;
        gsize values = (gsize)chain->n_rhs * leg->to->n * band.n;
        g_autofree TwsmValue *y =
            last ? NULL : litho_memory_new(values, sizeof *y, "a boundary's field", error);
        if (!last && !y)
            return FALSE;
        how->leg = 1e-6 * leg->from->n * leg->to->n * chain->n_rhs * band.n;
        if (!twsm_cpu_leg(leg, chain, band, how, u ? u : start.u, last ? receivers : y, run, error))
            return FALSE;
        how->done += how->leg;
        g_free(u);
        u = g_steal_pointer(&y);
    }
    return TRUE;
}

static const TwsmEngine cpu_engine = {.shares = TRUE, .block = cpu_block, .run = cpu_run};

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)in;
    return twsm_plan_new(params, &cpu_engine, NULL, NULL, run, error);
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    return twsm_plan_exec(data, pass, run, error);
}

static void destroy(gpointer data)
{
    twsm_plan_free(data);
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)in;
    (void)region; // always whole: every trace comes from the same sums
    return twsm_memory_cpu(params, known, threads);
}

static char *less_memory(const LithoGrid *in, const void *params, LithoResolved *known,
                         guint64 bytes, int threads)
{
    (void)in;
    return twsm_less_memory_cpu(params, known, bytes, threads);
}

static const LithoImpl cpu = {
    .plan = plan, .exec = exec, .destroy = destroy, .memory = memory, .less_memory = less_memory};

// --- declaration ------------------------------------------------------------------------------

static gboolean names_file(const TwsmParams *p)
{
    return twsm_model_text(p->model.text) == NULL;
}

static char *resolve_key(const void *params)
{
    const TwsmParams *p = params;
    return names_file(p) ? g_strdup(p->model.text) : NULL;
}

static void free_model(gpointer model)
{
    twsm_model_free(model);
}

static LithoResolved *resolve(const void *params, LithoRun *run, GError **error)
{
    const TwsmParams *p = params;
    g_autoptr(LithoResolved) resolved = litho_resolved_new();
    TwsmModel *model = twsm_model_load(p->model.text, resolved, run, error);
    if (!model)
        return NULL;
    litho_resolved_set(resolved, model, free_model, twsm_model_bytes(model));
    return g_steal_pointer(&resolved);
}

static gboolean check(const LithoGrid *in, const void *params, LithoResolved *known, GError **error)
{
    (void)in;
    if (!known && names_file(params))
        return TRUE; // judged when it has been read
    g_autoptr(TwsmSetup) setup = twsm_setup_open(params, known, error);
    return setup != NULL;
}

static gboolean output_grid(const LithoGrid *in, const void *params, LithoResolved *known,
                            LithoGrid *out, GError **error)
{
    (void)in;
    g_autoptr(TwsmSetup) setup = twsm_setup_open(params, known, error);
    if (setup)
        twsm_setup_grid(setup, out);
    return setup != NULL;
}

static const LithoRetiredChoice matrix = {
    "matrix", "fused",
    "algorithm=matrix is no choice any more: fused takes its place, with a smaller error"};

static const LithoParam rows[] = {
    // First, since it shows only where a person has chosen the strips.
    LITHO_INT(
        TwsmParams, strip_width, .label = N_("Strip width"), .when = "algorithm=alg1|alg2|mod2",
        .unit = N_("rows"), .def = 512, .min = 1, .max = 65536, .soft_min = 16, .soft_max = 4096,
        .log = true, .stage = TWSM_STAGE_PROPAGATE,
        .doc = N_("Rows M of the stored part of the propagation matrix in alg1, alg2 and mod2.")),
    LITHO_FILE(
        TwsmParams, model, .label = N_("Model"), .def_text = "flat", .stage = TWSM_STAGE_PLAN,
        .doc = N_("Layers, boundaries, wave code, source, receivers and wavelet: a JSON file, or "
                  "a built-in model: flat, dipping, syncline, dome, twolayer, published.")),
    LITHO_TEXT(
        TwsmParams, depths, .label = N_("Boundary depths"), .advanced = true,
        .stage = TWSM_STAGE_MESH,
        .doc = N_("Depths in m in the place of the model's, boundary after boundary: 600,1350. A "
                  "bulge takes its height behind a colon, 1000:200, and - leaves a boundary as "
                  "it is. Grips in the model's picture write them; empty leaves all to the "
                  "model.")),
    LITHO_FLOAT(TwsmParams, source_x, .label = N_("Source x"), .special = TWSM_MODEL_S,
                .special_text = N_("from the model"), .unit = "m", .def = TWSM_MODEL_S,
                .min = TWSM_MODEL_S, .max = 1e6, .soft_min = -2000, .soft_max = 2000,
                .stage = TWSM_STAGE_SOURCE,
                .doc = N_("Where the source is, east; one source instead of the model's.")),
    LITHO_FLOAT(TwsmParams, source_y, .label = N_("Source y"), .special = TWSM_MODEL_S,
                .special_text = N_("from the model"), .unit = "m", .def = TWSM_MODEL_S,
                .min = TWSM_MODEL_S, .max = 1e6, .soft_min = -2000, .soft_max = 2000,
                .stage = TWSM_STAGE_SOURCE,
                .doc = N_("Where the source is, north; one source instead of the model's.")),
    LITHO_FLOAT(TwsmParams, source_z, .label = N_("Source depth"), .special = TWSM_MODEL_S,
                .special_text = N_("from the model"), .unit = "m", .def = TWSM_MODEL_S,
                .min = TWSM_MODEL_S, .max = 1e6, .soft_min = 0, .soft_max = 2000,
                .stage = TWSM_STAGE_SOURCE,
                .doc = N_("Depth of the source; one source instead of the model's.")),
    LITHO_FLOAT(TwsmParams, wavelet, .label = N_("Wavelet peak"),
                .special_text = N_("from the model"), .unit = "Hz", .def = 0, .min = 0, .max = 2000,
                .soft_max = 100, .stage = TWSM_STAGE_MESH,
                .doc = N_("Peak frequency of the Ricker wavelet; 0 leaves it to the model.")),
    LITHO_FLOAT(
        TwsmParams, fmax, .label = N_("Highest frequency"), .special_text = N_("from the model"),
        .unit = "Hz", .def = 0, .min = 0, .max = 5000, .soft_max = 200, .stage = TWSM_STAGE_PLAN,
        .doc = N_("Frequencies up to this are computed, and the elements made small enough for "
                  "them; 0 leaves it to the model (2.5 times the wavelet's peak).")),
    LITHO_INT(
        TwsmParams, frequencies, .label = N_("Frequencies"), .special_text = N_("all"), .def = 0,
        .min = 0, .max = 100000, .soft_max = 512, .advanced = true, .stage = TWSM_STAGE_PLAN,
        .doc =
            N_("Number of frequencies K, from one per record on; 0 takes all up to the highest.")),
    LITHO_FLOAT(TwsmParams, record, .label = N_("Record"), .special_text = N_("from the model"),
                .unit = "s", .def = 0, .min = 0, .max = 100, .soft_max = 8, .advanced = true,
                .stage = TWSM_STAGE_PLAN,
                .doc =
                    N_("Length of the record; arrivals later than this wrap around to its start. 0 "
                       "leaves it to the model.")),
    LITHO_FLOAT(TwsmParams, cells_per_wavelength, .label = N_("Cells per wavelength"),
                .special_text = N_("from the model"), .def = 0, .min = 0, .max = 20, .soft_max = 6,
                .stage = TWSM_STAGE_MESH,
                .doc = /* xgettext:no-c-format */ N_(
                    "Cells of the boundaries' meshes per shortest wavelength; 2.5 gives 0.05 % on "
                    "plane boundaries, 4 on curved ones. 0 leaves it to the model.")),
    LITHO_FLOAT(
        TwsmParams, taper, .label = N_("Edge taper"), .special = -1,
        .special_text = N_("from the model"), .def = -1, .min = -1, .max = 0.5, .soft_min = 0,
        .soft_max = 0.5, .advanced = true, .stage = TWSM_STAGE_MESH,
        .doc = N_("Part of the width at each edge of the model over which the boundaries fade "
                  "out, so that the edges do not diffract; 0 keeps true edges, -1 leaves it to "
                  "the model (0.15).")),
    LITHO_CHOICE(
        TwsmParams, coefficients,
        N_("auto") "\0" N_("effective") "\0" N_("pair") "\0" N_("plane") "\0",
        .label = N_("Coefficients"), .advanced = true, .stage = TWSM_STAGE_MESH,
        .doc = N_("Reflection and transmission: effective (exact for a point source at the "
                  "first boundary), pair (plane wave per pair of elements, held below the "
                  "critical angle), plane (raw, rings at the critical angle). auto is effective "
                  "for waves that meet one boundary and pair for longer ones.")),
    LITHO_CHOICE(TwsmParams, near_field, N_("auto") "\0" N_("on") "\0" N_("off") "\0",
                 .label = N_("Near field"), .advanced = true, .stage = TWSM_STAGE_MESH,
                 .doc =
                     N_("The beams' near-field term, 1/(kR) of the far field. auto: with effective "
                        "coefficients, and where all rock that a wave meets is equally fast: it is "
                        "exact there.")),
    LITHO_CHOICE(TwsmParams, mask, N_("none") "\0" N_("segment") "\0", .label = N_("Shadows"),
                 .advanced = true, .stage = TWSM_STAGE_MESH,
                 .doc = N_("segment drops beams whose straight way leaves the layer.")),
    LITHO_FLOAT(TwsmParams, mask_soft, .label = N_("Shadow edge"), .def = 0.25, .min = 0, .max = 2,
                .advanced = true, .stage = TWSM_STAGE_MESH,
                .doc =
                    N_("Width of the shadow's edge in Fresnel lengths sqrt(wavelength distance); "
                       "0 is sharp.")),
    LITHO_BOOL(TwsmParams, absorption, .label = N_("Absorption"), .def = 0, .advanced = true,
               .stage = TWSM_STAGE_MESH,
               .doc =
                   N_("Takes out of the field on a boundary what would cross the other layer along "
                      "blocked ways of the same boundary.")),
    LITHO_FLOAT(
        TwsmParams, damping, .label = N_("Wrap-around damping"), .def = 0, .min = 0, .max = 4.6,
        .advanced = true, .stage = TWSM_STAGE_MESH,
        .doc = N_("Natural logarithm by which arrivals later than the record are weakened when "
                  "they wrap around; noise late in the record grows by the same factor.")),
    LITHO_BOOL(TwsmParams, force, .label = N_("Compute coarse meshes"), .def = 0, .advanced = true,
               .stage = TWSM_STAGE_MESH,
               .doc = N_("Computes with fewer than 1.2 cells per wavelength too.")),
    LITHO_CHOICE(
        TwsmParams, algorithm,
        N_("auto") "\0"
                   "alg1\0alg2\0mod2\0" N_("fused") "\0"
                                                    "fft\0" N_("fast") "\0",
        .label = N_("Algorithm"), .retired = &matrix, .advanced = true,
        .stage = TWSM_STAGE_PROPAGATE,
        .doc = N_("How the sum over all pairs is done; all give the same traces within 1e-5, fast "
                  "within its own error. alg1, alg2 and mod2 are the paper's; fused stores "
                  "nothing; fft is for parallel flat boundaries; fast lets clusters of elements "
                  "meet through a few nodes; auto is fft where it applies, else fused.")),
    LITHO_CHOICE(TwsmParams, fast_error,
                 "1e-3\0"
                 "1e-4\0"
                 "2e-5\0",
                 .label = N_("Error of fast"), .when = "algorithm=fast", .advanced = true,
                 .stage = TWSM_STAGE_PROPAGATE,
                 .doc =
                     N_("What algorithm=fast may leave in the traces, relative to their RMS: the "
                        "smaller, the more nodes clusters meet through.")),
};

// The algorithms with a store of strips, and sums by FFT, run on one device of a process.
static LithoSplit split(const LithoGrid *in, const void *params)
{
    (void)in;
    const TwsmAlgorithm a = ((const TwsmParams *)params)->algorithm;
    const gboolean alone = a == TWSM_ALG1 || a == TWSM_ALG2 || a == TWSM_MOD2 || a == TWSM_FFT;
    return (LithoSplit){alone ? LITHO_SPLIT_NONE : LITHO_SPLIT_ROWS, "rows", TWSM_STAGE_PROPAGATE};
}

static const char *const stages[] = {"plan", "mesh", "source", "propagate", "traces", NULL};

static const LithoPreset presets[] = {
    {N_("default"), "", N_("the built-in flat model")},
    {N_("syncline"), "model=syncline", N_("a trough whose focus lies below the receivers")},
    {N_("accurate"), "cells_per_wavelength=4 taper=0.2", N_("finer elements and a wider taper")},
    {N_("published"), "algorithm=mod2 strip_width=512",
     N_("the published strips of 512 rows, modified algorithm 2")},
    {NULL},
};

static const LithoDemo demo = {NULL, "model=syncline", N_("the bow tie of a trough")};

static const LithoNumberDoc numbers[] = {
    {"elements", N_("Triangles of the largest boundary.")},
    {"frequencies", N_("Frequencies that are computed.")},
    {"record", N_("Length that is computed; what comes later would fold back.")},
    {"beams", N_("Pairs of triangles times frequencies: the work of the superposition.")},
    {"propagate", N_("Time that the superposition took.")},
    {"beam_rate", N_("Pairs times frequencies summed in a second.")},
    {"strip_memory", N_("Memory for the coefficients of the strips that are kept.")},
    {"strip_width", N_("Rows of triangles whose coefficients are kept at once.")},
    {"refill", N_("Part of the threads' time in which coefficients of the strips are computed.")},
    {"product", N_("Part of the threads' time in which strips are multiplied with the field.")},
    {"direct_share",
     N_("Part of the pairs that is summed directly, near to each other; the others go "
        "through interpolation.")},
    {"gpus", N_("Graphics cards that share the work.")},
    {NULL},
};

const LithoOperator litho_operator_twsm = {
    .key = "twsm",
    .title = N_("Tip-wave modelling"),
    .purpose = N_("Seismograms of a layered model"),
    .summary =
        N_("Seismograms of single waves of a layered model, by superposition of tip-wave beams: "
           "every boundary is a sheet of triangles, every pair of triangles a beam, and caustics, "
           "diffractions and head waves of the first boundary come out of the sum."),
    .stages = stages,
    .params = {rows, G_N_ELEMENTS(rows), sizeof(TwsmParams)},
    .presets = presets,
    .demo = &demo,
    .numbers = numbers,
    .needs_input = FALSE,
    .resolve_key = resolve_key,
    .resolve = resolve,
    .check = check,
    .output_grid = output_grid,
    .split = split,
    .cpu = &cpu,
};
