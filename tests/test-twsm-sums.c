// SPDX-License-Identifier: GPL-3.0-or-later
//
// The sums of tip-wave modelling: every algorithm against a float64 sum over all pairs and against
// the others, on the CPU and, where there is one, on the GPU; models and their errors; cancelling.
#include "core/survey.h"
#include "tests/twsm_case.h"

// Two curved boundaries close together: every kind of pair occurs (grazing, wrong side, distant).
#define CURVED(more)                                                                               \
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"                \
    "{'velocity':3200,'density':2500}],"                                                           \
    "'boundaries':[{'type':'gaussian','depth':300,'amplitude':60,'sigma_x':150},"                  \
    "{'type':'dipping','depth':700,'dip_x':8,'dip_y':-4}],"                                        \
    "'extent':{'x':[-400,400],'y':[-350,350]},'wave_code':'0T 1R 0T'," more                        \
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':8},'fmax':20,"      \
    "'record':2.2,'dt':0.004}"

static const char curved[] = CURVED("'source':[50,20,10],");
// The upper boundary hangs far into the layer below: ways between its flanks are blocked.
static const char hanging[] =
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"
    "{'velocity':3200,'density':2500}],"
    "'boundaries':[{'type':'gaussian','depth':300,'amplitude':300,'sigma_x':100},"
    "{'type':'flat','depth':700}],"
    "'extent':{'x':[-400,400],'y':[-350,350]},'wave_code':'0T 1R 0T','source':[150,20,10],"
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':8},'fmax':20,"
    "'record':2.2,'dt':0.004}";
static const char curved_three[] = CURVED("'sources':[[50,20,10],[-120,0,10],[0,0,0]],");

static const char flat_layers[] =
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"
    "{'velocity':3200,'density':2500}],"
    "'boundaries':[{'type':'flat','depth':300},{'type':'flat','depth':700}],"
    "'extent':{'x':[-400,400],'y':[-350,350]},'wave_code':['0T 1R 0T','0R'],'source':[50,20,10],"
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':8},'fmax':20,"
    "'record':2.2,'dt':0.004}";

// Every device of this machine that runs the operator.
static int devices(LithoDevice list[2])
{
    list[0] = litho_device_cpu();
    return 1 + litho_device_parse("cuda", &list[1], NULL);
}

static LithoCube *run_on(LithoDevice device, const char *json, const char *settings)
{
    GError *error = NULL;
    LithoCube *cube = twsm_case_run_on(device, json, settings, NULL, &error);
    g_assert_no_error(error);
    return cube;
}

// --- against float64 --------------------------------------------------------------------------

// The definition, pair by pair in float64, from the float32 positions.
static void oracle(const TwsmLeg *leg, const TwsmChain *chain, const TwsmContact *contact,
                   TwsmBand band, double turns, double amp, const TwsmValue *u, double complex *y)
{
    const TwsmPoints *s = leg->from, *p = leg->to;
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < s->n; j++) {
            double d[3] = {(double)p->x[i] - s->x[j], (double)p->y[i] - s->y[j],
                           (double)p->z[i] - s->z[j]};
            double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            double cos_e =
                leg->pair.side * (s->nx[j] * d[0] + s->ny[j] * d[1] + s->nz[j] * d[2]) / r;
            double cos_i =
                leg->pair.arrive * (p->nx[i] * d[0] + p->ny[i] * d[1] + p->nz[i] * d[2]) / r;
            if (cos_e <= 0 || r < 0.5 * sqrt(s->area[j]) || (contact && cos_i <= 0))
                continue;
            double a = amp * cos_e * s->area[j] / r * exp(-leg->pair.damp * r);
            if (contact)
                a *= twsm_coef_frozen(contact, MIN(cos_i, 1));
            for (int k = 0; k < band.n; k++) {
                int q = band.k0 + k;
                double phi = 2 * G_PI * turns * r;
                double complex far = q + I * chain->sig + (leg->near ? I / phi : 0);
                y[i * band.n + k] +=
                    p->taper[i] * I * a * far * cexp(I * q * phi) * u[j * band.n + k];
            }
        }
    }
}

// Property: every CPU algorithm gives the float64 sum within 1e-5 (storage of t, float32 recurrence
// over up to 44 frequencies, float32 products); with damping and near field as well. `fast` is held
// to its own 1e-3. Random fields: nothing cancels by symmetry.
static void test_oracle(void)
{
    TwsmParams params;
    litho_param_defaults(&litho_operator_twsm.params, &params);
    g_autofree char *path = NULL;
    g_autofree char *text = g_strdelimit(g_strdup(curved), "'", '"');
    close(g_file_open_tmp("twsm-XXXXXX.json", &path, NULL));
    g_file_set_contents(path, text, -1, NULL);
    g_strlcpy(params.model.text, path, sizeof params.model.text);
    params.damping = 1.5;
    GRand *rand = g_rand_new_with_seed(11);
    for (int near = 0; near < 2; near++) {
        params.near_field = near ? TWSM_NEAR_ON : TWSM_NEAR_OFF;
        g_autoptr(TwsmSetup) s = twsm_setup_open(&params, TRUE, NULL);
        g_assert_true(twsm_setup_build(s, &params, NULL, NULL));
        const TwsmLeg *leg = &s->chain[0].leg[0];
        const TwsmContact contact = {2600, 2300, 3200, 2500, FALSE};
        TwsmBand band = {1, s->n_frequencies};
        double turns = 1 / (2600 * s->record), amp = -s->dw / (2 * G_PI * 2600);
        gsize n = (gsize)leg->from->n * band.n, m = (gsize)leg->to->n * band.n;
        g_autofree TwsmValue *u = g_new(TwsmValue, n), *y = g_new(TwsmValue, m);
        g_autofree double complex *exact = g_new0(double complex, m);
        for (gsize k = 0; k < n; k++)
            u[k] = (float)g_rand_double_range(rand, -1, 1) +
                   I * (float)g_rand_double_range(rand, -1, 1);
        oracle(leg, &s->chain[0], &contact, band, turns, amp, u, exact);
        for (int algorithm = TWSM_ALG1; algorithm <= TWSM_FUSED; algorithm++) {
            TwsmHow how = {.algorithm = algorithm, .strip = 100};
            double difference = 0, size = 0;
            // The fused sum takes blocks; the paper's algorithms all frequencies at once.
            int block = algorithm == TWSM_FUSED ? TWSM_BLOCK : band.n;
            for (int k0 = 0; k0 < band.n; k0 += block) {
                TwsmBand part = {1 + k0, MIN(block, band.n - k0)};
                g_autofree TwsmValue *v = g_new(TwsmValue, n);
                for (int j = 0; j < leg->from->n; j++)
                    memcpy(v + j * part.n, u + j * band.n + k0, part.n * sizeof *v);
                g_assert_true(twsm_cpu_leg(leg, &s->chain[0], part, &how, v, y, NULL, NULL));
                for (int i = 0; i < leg->to->n; i++)
                    for (int k = 0; k < part.n; k++) {
                        double complex e = exact[i * band.n + k0 + k];
                        difference += pow(cabs(y[i * part.n + k] - e), 2);
                        size += pow(cabs(e), 2);
                    }
            }
            g_test_message("%d x %d elements, near %d, algorithm %d: %.2g", leg->from->n,
                           leg->to->n, near, algorithm, sqrt(difference / size));
            g_assert_cmpfloat(sqrt(difference / size), <, 1e-5);
        }
    }
    g_rand_free(rand);
    remove(path);
}

// Property: traces do not depend on the algorithm, the width of the strips, the device, or the way
// a flat model is summed: 1e-5. On the GPU the same limit against the CPU.
static void test_algorithms(void)
{
    static const char *const settings[] = {
        "algorithm=fused",
        "algorithm=alg1 strip_width=300",
        "algorithm=alg2 strip_width=77",
        "algorithm=mod2 strip_width=512",
        "algorithm=mod2 strip_width=33",
        "algorithm=auto",
        "algorithm=fft",
    };
    const char *const models[] = {curved, curved_three, flat_layers};
    LithoDevice list[2];
    int n_devices = devices(list);
    for (guint m = 0; m < G_N_ELEMENTS(models); m++) {
        g_autoptr(LithoCube) reference = run_on(list[0], models[m], "algorithm=fused");
        for (int d = 0; d < n_devices; d++)
            for (guint k = d == 0; k < G_N_ELEMENTS(settings); k++) {
                g_autoptr(LithoCube) cube = run_on(list[d], models[m], settings[k]);
                double error = twsm_case_cube_difference(cube, reference);
                g_test_message("model %u, %s, %s: %.2g", m, list[d].backend->key, settings[k],
                               error);
                g_assert_cmpfloat(error, <, 1e-5);
            }
    }
}

// Property: the options that change pairs (masks, absorption, plane-wave coefficients, damping,
// near field) do so alike in the fused and the stored sums, and on the GPU.
static void test_options(void)
{
    static const char *const options[] = {
        "mask=segment",       "mask=segment mask_soft=0", "absorption=on",
        "coefficients=plane", "damping=2 near_field=on",  "coefficients=effective near_field=on",
    };
    LithoDevice list[2];
    int n_devices = devices(list);
    g_autoptr(LithoCube) plain = run_on(list[0], hanging, "fmax=12");
    for (guint k = 0; k < G_N_ELEMENTS(options); k++) {
        g_autofree char *stored = g_strconcat(options[k], " algorithm=mod2 fmax=12", NULL);
        g_autofree char *fused = g_strconcat(options[k], " algorithm=fused fmax=12", NULL);
        g_autoptr(LithoCube) reference = run_on(list[0], hanging, stored);
        for (int d = 0; d < n_devices; d++) {
            g_autoptr(LithoCube) cube = run_on(list[d], hanging, fused);
            double error = twsm_case_cube_difference(cube, reference);
            g_test_message("%s on %s: %.2g", options[k], list[d].backend->key, error);
            // A sharp mask turns a rounding of heights into a whole beam; the others round only.
            g_assert_cmpfloat(error, <, strstr(options[k], "mask_soft=0") ? 1e-3 : 1e-5);
        }
        double change = twsm_case_cube_difference(reference, plain);
        g_test_message("changes the traces by %.2g", change);
        g_assert_cmpfloat(change, >, 1e-4);
    }
    // Where nothing is in the way a mask leaves every beam alone.
    g_autoptr(LithoCube) open = run_on(list[0], curved, "fmax=12");
    g_autoptr(LithoCube) masked = run_on(list[0], curved, "fmax=12 mask=segment");
    g_assert_cmpfloat(twsm_case_cube_difference(masked, open), <, 1e-6);
}

// Property: clusters stand for their pairs within 1e-3 on smooth boundaries, and do stand for most
// of them (otherwise the test would compare the direct sum with itself).
static void test_fast(void)
{
    static const char wide[] =
        "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"
        "{'velocity':3200,'density':2500}],"
        "'boundaries':[{'type':'gaussian','depth':300,'amplitude':60,'sigma_x':300},"
        "{'type':'dipping','depth':1100,'dip_x':5,'dip_y':-3}],"
        "'extent':{'x':[-800,800],'y':[-600,600]},'wave_code':'0T 1R 0T','source':[50,20,0],"
        "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':16},'fmax':40,"
        "'record':0.6,'dt':0.004}";
    LithoDevice list[2];
    int n_devices = devices(list);
    g_autoptr(LithoCube) direct = run_on(list[0], wide, "algorithm=fused");
    for (int d = 0; d < n_devices; d++) {
        double share = 1;
        GError *error = NULL;
        LithoReport *report = litho_report_new();
        LithoRun run = {.report = report};
        g_autoptr(LithoCube) fast = twsm_case_run_on(list[d], wide, "algorithm=fast", &run, &error);
        g_assert_no_error(error);
        double difference = twsm_case_cube_difference(fast, direct);
        g_assert_true(litho_report_get(report, "direct_share", &share));
        g_test_message("%s: %.2g, %.1f %% of the pairs directly", list[d].backend->key, difference,
                       share);
        g_assert_cmpfloat(difference, <, 1e-3);
        g_assert_cmpfloat(difference, >, 1e-7);
        g_assert_cmpfloat(share, <, 20);
        litho_report_unref(report);
    }
}

// Property: with several sources fast keeps its 1e-3, and so does matrix (float16 on a GPU's matrix
// units; on the CPU the fused sum itself).
static void test_fast_sources(void)
{
    static const char *const settings[] = {"algorithm=fast", "algorithm=matrix"};
    LithoDevice list[2];
    int n_devices = devices(list);
    g_autoptr(LithoCube) direct = run_on(list[0], curved_three, "algorithm=fused");
    for (int d = 0; d < n_devices; d++)
        for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
            g_autoptr(LithoCube) fast = run_on(list[d], curved_three, settings[k]);
            double error = twsm_case_cube_difference(fast, direct);
            g_test_message("%s, %s: %.2g", list[d].backend->key, settings[k], error);
            g_assert_cmpfloat(error, <, 1e-3);
        }
}

// Property: the operator is linear in the sources: the sum of two single shots is the shot of a
// field that is the sum (3e-6: three float32 sums of beams that mostly cancel), and the sources of
// one run equal single runs.
static void test_sources(void)
{
    g_autoptr(LithoCube) three = twsm_case_run(curved_three, "algorithm=fused");
    g_autoptr(LithoCube) one =
        twsm_case_run(curved_three, "algorithm=fused source_x=50 source_y=20 source_z=10");
    gint64 n = 3 * one->grid.axis[1].n * one->grid.axis[2].n;
    g_assert_cmpint(three->grid.axis[0].n, ==, 9);
    double error = twsm_case_difference(three->samples, one->samples, n);
    g_test_message("first of three sources: %.2g", error);
    g_assert_cmpfloat(error, <, 1e-6);

    TwsmParams params;
    litho_param_defaults(&litho_operator_twsm.params, &params);
    params.fmax = 12;
    g_autoptr(TwsmSetup) s = twsm_setup_open(&params, TRUE, NULL);
    s->model->n_sources = 2;
    s->model->source[1][0] = 300;
    g_assert_true(twsm_setup_build(s, &params, NULL, NULL));
    const TwsmLeg *leg = &s->chain[0].leg[0];
    TwsmBand band = {1, 16};
    gsize size = (gsize)leg->from->n * band.n, rows = (gsize)leg->to->n * band.n;
    g_autofree TwsmValue *u = g_new(TwsmValue, 3 * size), *y = g_new(TwsmValue, 3 * rows);
    twsm_source_field(s, 0, band, 1, u);
    for (gsize k = 0; k < size; k++)
        u[2 * size + k] = u[k] + u[size + k];
    TwsmChain chain = {.n_legs = 1, .leg = (TwsmLeg *)leg, .n_rhs = 3};
    TwsmHow how = {.algorithm = TWSM_FUSED};
    g_assert_true(twsm_cpu_leg(leg, &chain, band, &how, u, y, NULL, NULL));
    double difference = 0, sum = 0;
    for (gsize k = 0; k < rows; k++) {
        difference += pow(cabsf(y[k] + y[rows + k] - y[2 * rows + k]), 2);
        sum += pow(cabsf(y[2 * rows + k]), 2);
    }
    g_test_message("linearity: %.2g", sqrt(difference / sum));
    g_assert_cmpfloat(sqrt(difference / sum), <, 3e-6);
}

// Property: results do not depend on the number of threads, bit for bit (sums have fixed places).
static void test_threads(void)
{
    LithoRun one = {.threads = 1}, three = {.threads = 3};
    g_autoptr(LithoCube) a = twsm_case_run_on(litho_device_cpu(), curved, "fmax=12", &one, NULL);
    g_autoptr(LithoCube) b = twsm_case_run_on(litho_device_cpu(), curved, "fmax=12", &three, NULL);
    g_assert_cmpmem(a->samples, 4 * litho_box_count(a->held), b->samples,
                    4 * litho_box_count(b->held));
}

// --- stages, partial results, cancel ----------------------------------------------------------

static void count_part(LithoCube *part, gpointer data)
{
    LithoCube **last = data;
    litho_cube_unref(*last);
    *last = litho_cube_ref(part);
}

// Property: traces grow block by block while frequencies arrive; the last part misses only the last
// block, so it is closer to the whole than nothing and not equal to it.
static void test_partial(void)
{
    LithoDevice list[2];
    int n_devices = devices(list);
    for (int d = 0; d < n_devices; d++) {
        LithoCube *last = NULL;
        LithoRun run = {.on_partial = count_part, .partial_data = &last};
        g_autoptr(LithoCube) whole = twsm_case_run_on(
            list[d], curved, "fmax=60 wavelet=24 cells_per_wavelength=1.3", &run, NULL);
        g_assert_nonnull(last);
        double missing = twsm_case_cube_difference(last, whole);
        g_test_message("last part misses %.3g", missing);
        g_assert_cmpfloat(missing, <, 0.5);
        g_assert_cmpfloat(missing, >, 1e-6);
        litho_cube_unref(last);
    }
}

static gpointer cancel_soon(gpointer data)
{
    g_usleep(400000);
    g_cancellable_cancel(data);
    return GINT_TO_POINTER((int)litho_now_ms());
}

// Property: a run that would take minutes stops within 100 ms of the cancel, in every algorithm,
// with G_IO_ERROR_CANCELLED. 250 ms are allowed for a loaded machine.
static void test_cancel(void)
{
    static const char *const settings[] = {"algorithm=fused", "algorithm=alg2", "algorithm=mod2",
                                           "algorithm=fast", "algorithm=fft"};
    LithoDevice list[2];
    int n_devices = devices(list);
    for (int d = 0; d < n_devices; d++)
        for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
            const char *model = strstr(settings[k], "fft") ? flat_layers : curved;
            g_autoptr(GCancellable) cancel = g_cancellable_new();
            g_autoptr(GError) error = NULL;
            LithoRun run = {.cancel = cancel};
            g_autofree char *all = g_strconcat(
                settings[k], " cells_per_wavelength=", d ? "20" : "16", " strip_width=64", NULL);
            GThread *thread = g_thread_new("cancel", cancel_soon, cancel);
            g_autoptr(LithoCube) cube = twsm_case_run_on(list[d], model, all, &run, &error);
            int at = (int)litho_now_ms();
            int asked = GPOINTER_TO_INT(g_thread_join(thread));
            if (cube) { // quicker than the cancel: nothing to stop
                g_test_message("%s on %s had finished", settings[k], list[d].backend->key);
                continue;
            }
            g_test_message("%s on %s stopped after %d ms", settings[k], list[d].backend->key,
                           at - asked);
            g_assert_true(litho_error_is_cancelled(error));
            g_assert_cmpint(at - asked, <, 250);
        }
}

// Property: moving the wavelet does not run the wave again unless the mesh depends on it; changing
// the algorithm keeps the mesh. Counted in the report of stages by the engine's own timings.
static void test_stages(void)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_twsm);
    TwsmParams *p = litho_flow_step(flow, 0)->params;
    p->fmax = 10;
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings};
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    const int algorithms[] = {TWSM_FUSED, TWSM_MOD2, TWSM_MOD2};
    const guint meshes[] = {1, 1, 1}, propagations[] = {1, 2, 2};
    for (int k = 0; k < 3; k++) {
        p->algorithm = algorithms[k];
        g_autoptr(LithoCube) cube = litho_engine_run(engine, flow, NULL, NULL, &run, NULL);
        g_assert_nonnull(cube);
        litho_timings_end_pass(timings);
        LithoStage stages[LITHO_TIMINGS_STAGES];
        guint n = litho_timings_snapshot(timings, stages, LITHO_TIMINGS_STAGES);
        for (guint s = 0; s < n; s++) {
            if (strcmp(stages[s].name, "mesh") == 0)
                g_assert_cmpuint(stages[s].count, ==, meshes[k]);
            if (strcmp(stages[s].name, "propagate") == 0)
                g_assert_cmpuint(stages[s].count, ==, propagations[k]);
        }
    }
    litho_engine_free(engine);
    litho_timings_unref(timings);
    litho_flow_free(flow);
}

// --- models -----------------------------------------------------------------------------------

static void expect_error(const char *json, const char *settings, const char *words)
{
    g_autoptr(GError) error = NULL;
    LithoCube *cube = twsm_case_run_on(litho_device_cpu(), json, settings, NULL, &error);
    g_assert_null(cube);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, words));
}

static char *replaced(const char *what, const char *with)
{
    g_auto(GStrv) parts = g_strsplit(curved, what, 2);
    g_assert_nonnull(parts[1]);
    return g_strjoinv(with, parts);
}

// Property: a mistake in a model is refused in a sentence that names it, and the place.
static void test_model_errors(void)
{
    const struct {
        const char *what, *with, *words;
    } cases[] = {
        {"0T 1R 0T", "", "empty"},
        {"0T 1R 0T", "1R", "hit 1 is at boundary 1"},
        {"0T 1R 0T", "0T 1R 7T", "no boundary 7"},
        {"0T 1R 0T", "0T 1X", "position 4"},
        {"0T 1R 0T", "0T 1R", "receiver"},
        {"'velocity':2600", "'velocity':0", "layers[1].velocity"},
        {"'density':2300", "'density':-1", "layers[1].density"},
        {"'type':'dipping'", "'type':'bent'", "boundaries[1].type"},
        {"'type':'dipping'", "'type':'dipping','tilt':3", "boundaries[1].tilt"},
        {"'type':'dipping'", "'type':'grid','file':'none.npy','x0':0,'y0':0,'dx':1,'dy':1",
         "boundaries[1].depth"},
        {"'depth':300,", "", "boundaries[0].depth is missing"},
        {"[-400,400]", "[400,-400]", "extent"},
        {"[-200,100,5]", "[-200,100,0]", "receivers.x"},
        {"[50,20,10]", "[50,20,500]", "hit 2"},
        {"'type':'gaussian','depth':300,'amplitude':60,'sigma_x':150", "'type':'flat','depth':10",
         "source 1 lies on boundary 0"},
        {"'z':0}", "'z':330}", "receiver"},
        {"'record':2.2", "'record':'long'", "record must be a number"},
        {"'dt':0.004", "'dt':0.04", "dt"},
        {"{'velocity':3200,'density':2500}", "{'velocity':3200,'density':2500},{'velocity':1}",
         "layers[3].density"},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *json = replaced(cases[k].what, cases[k].with);
        expect_error(json, "", cases[k].words);
    }
    expect_error("no-such-model.json", "", "flat, dipping");
    expect_error(curved, "cells_per_wavelength=1", "force=on");
}

// Property: meshes between the limits are computed with a warning; force computes below.
static void test_warnings(void)
{
    const char *const settings[] = {"cells_per_wavelength=1.6", "cells_per_wavelength=1 force=on",
                                    "coefficients=plane fmax=10", "record=0.4 fmax=10",
                                    "source_x=380 fmax=10"};
    const char *const words[] = {"1.6", "1.0", "critical", "wraps", "Fresnel"};
    for (int k = 0; k < 5; k++) {
        g_autoptr(LithoCube) cube = twsm_case_run(curved, settings[k]);
        gboolean found = FALSE;
        for (guint m = 0; m < cube->notes->len; m++)
            found |= strstr(g_ptr_array_index(cube->notes, m), words[k]) != NULL;
        g_assert_true(found);
    }
}

// Property: one frequency, and a number of frequencies that fills no block, work as any other.
static void test_few_frequencies(void)
{
    for (int n = 1; n <= 33; n += 32) {
        g_autofree char *fused = g_strdup_printf("frequencies=%d algorithm=fused", n);
        g_autofree char *stored = g_strdup_printf("frequencies=%d algorithm=mod2", n);
        g_autoptr(LithoCube) a = twsm_case_run(curved, fused), b = twsm_case_run(curved, stored);
        g_assert_cmpfloat(twsm_case_cube_difference(a, b), <, 1e-5);
    }
}

static void write_npy(const char *path, const float *z, int rows, int columns)
{
    g_autofree char *header = g_strdup_printf(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns);
    GString *file = g_string_new_len("\x93NUMPY\x01\x00\x76\x00", 10);
    g_string_append_printf(file, "%-117s\n", header);
    g_string_append_len(file, (const char *)z, 4l * rows * columns);
    g_assert_true(g_file_set_contents(path, file->str, file->len, NULL));
    g_string_free(file, TRUE);
}

// Property: one surface given as a formula, as a grid file and as horizon points (text in any
// order, and .npy) gives the same traces, within the interpolation error of a 20 m grid (0.1 %).
static void test_files(void)
{
    enum { NX = 51, NY = 41 };
    g_autofree float *z = g_new(float, NX *NY), *points = g_new(float, 3 * NX * NY);
    g_autoptr(GString) text = g_string_new("# x y z\n");
    g_autofree char *folder = g_dir_make_tmp("twsm-XXXXXX", NULL);
    for (int k = 0; k < NX * NY; k++) {
        int m = (k * 7 + 3) % (NX * NY); // the order of points must not matter
        double x = -500 + 20 * (m % NX), y = -400 + 20 * (m / NX);
        z[m] = (float)(300 + 60 * exp(-x * x / (2 * 150.0 * 150)));
        g_string_append_printf(text, "%g, %g, %.9g\n", x, y, z[m]);
        points[3 * k] = (float)x, points[3 * k + 1] = (float)y, points[3 * k + 2] = z[m];
    }
    g_autofree char *grid = g_build_filename(folder, "grid.npy", NULL);
    g_autofree char *horizon = g_build_filename(folder, "horizon.txt", NULL);
    g_autofree char *cloud = g_build_filename(folder, "points.npy", NULL);
    write_npy(grid, z, NY, NX);
    write_npy(cloud, points, NX * NY, 3);
    g_file_set_contents(horizon, text->str, -1, NULL);
    char *with[3] = {
        g_strdup_printf("'type':'grid','file':'%s','x0':-500,'y0':-400,'dx':20,'dy':20", grid),
        g_strdup_printf("'type':'horizon','file':'%s'", horizon),
        g_strdup_printf("'type':'horizon','file':'%s'", cloud)};
    g_autoptr(LithoCube) formula = twsm_case_run(curved, "fmax=20");
    for (int k = 0; k < 3; k++) {
        g_autofree char *json =
            replaced("'type':'gaussian','depth':300,'amplitude':60,'sigma_x':150", with[k]);
        g_autoptr(LithoCube) cube = twsm_case_run(json, "fmax=20");
        double error = twsm_case_cube_difference(cube, formula);
        g_test_message("%s: %.2g", with[k], error);
        g_assert_cmpfloat(error, <, 1e-3);
        g_free(with[k]);
    }
    remove(grid);
    remove(horizon);
    remove(cloud);
    remove(folder);
}

// Property: the built-in models run, and the grid of the output carries the receivers' coordinates.
static void test_builtin(void)
{
    for (const char *const *name = twsm_model_names(); *name; name++) {
        g_autoptr(LithoCube) cube = twsm_case_run(*name, "fmax=8 cells_per_wavelength=2.5");
        g_assert_true(cube->grid.has_xy);
        float peak = 0;
        for (gint64 k = 0; k < litho_box_count(cube->held); k++) {
            g_assert_true(isfinite(cube->samples[k]));
            peak = MAX(peak, fabsf(cube->samples[k]));
        }
        g_assert_cmpfloat(peak, >, 0);
    }
    g_autoptr(LithoCube) dome = twsm_case_run("dome", "fmax=8");
    g_assert_cmpint(dome->grid.axis[0].n, ==, 21);
    g_assert_cmpint(dome->grid.axis[1].n, ==, 41);
    g_assert_cmpfloat(dome->grid.origin[0], ==, -1000);
    g_assert_cmpfloat(dome->grid.xline_step[0], ==, 50);
    g_assert_cmpfloat(dome->grid.inline_step[1], ==, 100);
}

// --- what a run tells -------------------------------------------------------------------------

static const LithoShape *shape_of(GArray *shapes, const char *key)
{
    for (guint k = 0; k < shapes->len; k++)
        if (strcmp(g_array_index(shapes, LithoShape, k).key, key) == 0)
            return &g_array_index(shapes, LithoShape, k);
    g_test_message("no shape %s", key);
    g_assert_not_reached();
}

// Property: the model is told before the long sum begins (a cancel during the sum finds it), with
// boundaries at their depths, source and receivers at their places, and the ray of a dipping
// reflector meeting it at a right angle: n = (sin, 0, -cos) from the source, distance d cos(dip).
static void test_model_report(void)
{
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    LithoReport *report = litho_report_new();
    LithoRun run = {.cancel = cancel, .report = report};
    GThread *thread = g_thread_new("cancel", cancel_soon, cancel);
    g_autoptr(LithoCube) cube =
        twsm_case_run_on(litho_device_cpu(), "dipping",
                         "algorithm=alg1 near_field=off coefficients=pair", &run, &error);
    g_thread_join(thread);
    g_assert_true(cube || litho_error_is_cancelled(error));
    g_autoptr(GArray) shapes = litho_report_shapes(report);
    const LithoShape *sheet = shape_of(shapes, "boundary0"), *ray = shape_of(shapes, "ray0");
    g_assert_cmpint(sheet->kind, ==, LITHO_SHAPE_SHEET);
    g_assert_cmpuint(sheet->rows * sheet->columns, ==, sheet->n);
    for (guint k = 0; k < sheet->n; k++) {
        const float *p = sheet->xyz + 3 * k;
        g_assert_cmpfloat_with_epsilon(p[2], 1000 + p[0] * tan(G_PI / 12), 0.01);
        g_assert_true(sheet->value[k] >= 0 && sheet->value[k] <= 1);
    }
    g_assert_cmpuint(shape_of(shapes, "receivers")->n, ==, 41);
    g_assert_cmpfloat(shape_of(shapes, "receivers")->xyz[0], ==, -1000);
    g_assert_cmpuint(shape_of(shapes, "sources")->n, ==, 1);
    double d = 1000 * cos(G_PI / 12), time = 0;
    g_assert_cmpuint(ray->n, ==, 3);
    g_assert_cmpfloat_with_epsilon(ray->xyz[3], -d * sin(G_PI / 12), 1);
    g_assert_cmpfloat_with_epsilon(ray->xyz[4], 0, 1);
    g_assert_cmpfloat_with_epsilon(ray->xyz[5], d * cos(G_PI / 12), 1);
    g_assert_true(litho_report_get(report, "ray0", &time));
    g_assert_cmpfloat_with_epsilon(time, 2 * d / 2000, 1e-6);
    litho_report_unref(report);
}

static const LithoCurve *curve_of(GArray *curves, const char *key)
{
    for (guint k = 0; k < curves->len; k++)
        if (strcmp(g_array_index(curves, LithoCurve, k).key, key) == 0)
            return &g_array_index(curves, LithoCurve, k);
    return NULL;
}

// Property: widths tried one after another stay in the curve of time against width, ascending,
// beside the paper's; another model begins anew; the strips' memory is M N 16 bytes.
static void test_strip_report(void)
{
    const int widths[] = {256, 32, 100, 32};
    const guint points[] = {1, 2, 3, 3};
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_twsm);
    TwsmParams *p = litho_flow_step(flow, 0)->params;
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    p->algorithm = TWSM_MOD2;
    p->fmax = 8;
    for (guint k = 0; k <= G_N_ELEMENTS(widths); k++) {
        LithoReport *report = litho_report_new();
        LithoRun run = {.report = report};
        if (k < G_N_ELEMENTS(widths))
            p->strip_width = widths[k];
        else
            p->fmax = 6;
        g_autoptr(LithoCube) cube = litho_engine_run(engine, flow, NULL, NULL, &run, NULL);
        g_assert_nonnull(cube);
        g_autoptr(GArray) curves = litho_report_curves(report);
        const LithoCurve *time = curve_of(curves, "strip_time");
        const LithoCurve *bytes = curve_of(curves, "strip_bytes");
        g_assert_nonnull(time);
        g_assert_nonnull(curve_of(curves, "strip_paper_gpu"));
        g_assert_cmpuint(time->n, ==, k < G_N_ELEMENTS(widths) ? points[k] : 1);
        for (guint m = 1; m < time->n; m++)
            g_assert_cmpfloat(time->x[m], >, time->x[m - 1]);
        double elements = 0;
        g_assert_true(litho_report_get(report, "elements", &elements));
        g_assert_cmpfloat_with_epsilon(bytes->y[0], 16e-6 * 16 * elements, 1e-9);
        litho_report_unref(report);
    }
    litho_engine_free(engine);
    litho_flow_free(flow);
}

static gint32 header_word(const guint8 *header, int byte)
{
    const guint8 *b = header + byte - 1;
    return (gint32)((guint32)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]);
}

// Property: SEG-Y of two shots carries source and receiver of every trace (bytes 73-88, 41, 49, the
// scalars of bytes 69 and 71), and reads back as the same cube.
static void test_segy(void)
{
    static const char shots[] =
        "{'layers':[{'velocity':2000,'density':2200},{'velocity':3000,'density':2400}],"
        "'boundaries':[{'type':'flat','depth':500}],'extent':{'x':[-700,700],'y':[-700,700]},"
        "'wave_code':'0R','sources':[[10.5,-20,3],[200,0,0]],"
        "'receivers':{'x':[-100,50,5],'y':[0,25,3],'z':2},'wavelet':{'ricker':10},'fmax':20,"
        "'record':1,'dt':0.004}";
    g_autoptr(LithoCube) cube = twsm_case_run(shots, "");
    g_autofree char *folder = g_dir_make_tmp("twsm-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "two.sgy", NULL);
    GError *error = NULL;
    g_assert_true(litho_cube_save(cube, path, NULL, NULL, &error));
    g_assert_no_error(error);
    g_autoptr(LithoCube) back = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpmem(back->samples, 4 * litho_box_count(back->held), cube->samples,
                    4 * litho_box_count(cube->held));
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++) {
            guint8 h[240];
            g_assert_true(litho_survey_trace_header(back->survey, i, j, h, &error));
            const gint32 wanted[][2] = {{73, i < 3 ? 1050 : 20000},
                                        {77, i < 3 ? -2000 : 0},
                                        {81, 100 * (-100 + 50 * j)},
                                        {85, 100 * 25 * (i % 3)},
                                        {41, -200},
                                        {49, i < 3 ? 300 : 0},
                                        {17, i / 3 + 1}};
            for (guint k = 0; k < G_N_ELEMENTS(wanted); k++)
                g_assert_cmpint(header_word(h, wanted[k][0]), ==, wanted[k][1]);
            g_assert_cmpint((gint16)(h[68] << 8 | h[69]), ==, -100);
            g_assert_cmpint((gint16)(h[70] << 8 | h[71]), ==, -100);
        }
    remove(path);
    remove(folder);
}

// Property: memory is known before a run, and strips that do not fit are refused with the width
// that would. LITHO_MEMORY stands for a small machine.
static void test_memory(void)
{
    TwsmParams p;
    litho_param_defaults(&litho_operator_twsm.params, &p);
    g_strlcpy(p.model.text, "syncline", sizeof p.model.text);
    p.algorithm = TWSM_MOD2;
    guint64 narrow = twsm_memory_cpu(&p), on_gpu = twsm_memory_gpu(&p);
    p.strip_width += 1000;
    guint64 wide = twsm_memory_cpu(&p);
    g_assert_cmpuint(narrow, >, 0);
    g_assert_cmpuint(on_gpu, >, 0);
    // 1000 rows more of (3000 / 12.8) (2400 / 12.8) 2 elements of 28 bytes (near field).
    g_assert_cmpfloat_with_epsilon((double)(wide - narrow) / (1000.0 * 28 * 2 * 235 * 188), 1,
                                   0.02);
    g_setenv("LITHO_MEMORY", "0.05", TRUE);
    expect_error("syncline", "algorithm=mod2 strip_width=4000 fmax=40", "strip_width must be");
    g_unsetenv("LITHO_MEMORY");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/twsm-sums/oracle", test_oracle);
    g_test_add_func("/twsm-sums/algorithms", test_algorithms);
    g_test_add_func("/twsm-sums/options", test_options);
    g_test_add_func("/twsm-sums/fast", test_fast);
    g_test_add_func("/twsm-sums/fast-sources", test_fast_sources);
    g_test_add_func("/twsm-sums/sources", test_sources);
    g_test_add_func("/twsm-sums/threads", test_threads);
    g_test_add_func("/twsm-sums/partial", test_partial);
    g_test_add_func("/twsm-sums/stages", test_stages);
    g_test_add_func("/twsm-sums/model-errors", test_model_errors);
    g_test_add_func("/twsm-sums/warnings", test_warnings);
    g_test_add_func("/twsm-sums/few-frequencies", test_few_frequencies);
    g_test_add_func("/twsm-sums/files", test_files);
    g_test_add_func("/twsm-sums/builtin", test_builtin);
    g_test_add_func("/twsm-sums/model-report", test_model_report);
    g_test_add_func("/twsm-sums/strip-report", test_strip_report);
    g_test_add_func("/twsm-sums/segy", test_segy);
    g_test_add_func("/twsm-sums/memory", test_memory);
    g_test_add_func("/twsm-sums/cancel", test_cancel);
    return g_test_run();
}
