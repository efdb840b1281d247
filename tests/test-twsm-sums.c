// SPDX-License-Identifier: GPL-3.0-or-later
//
// The sums of tip-wave modelling: every algorithm against a float64 sum over all pairs and against
// the others, on the CPU and, where there is one, on the GPU; masks; partial results; cancelling.
#include "tests/common.h"
#include "tests/twsm_case.h"

static const char curved[] = TWSM_CASE_CURVED("'source':[50,20,10],");
// The upper boundary hangs far into the layer below: ways between its flanks are blocked.
static const char hanging[] =
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"
    "{'velocity':3200,'density':2500}],"
    "'boundaries':[{'type':'gaussian','depth':300,'amplitude':300,'sigma_x':100},"
    "{'type':'flat','depth':700}],"
    "'extent':{'x':[-400,400],'y':[-350,350]},'wave_code':'0T 1R 0T','source':[150,20,10],"
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':8},'fmax':20,"
    "'record':2.2,'dt':0.004}";
static const char curved_three[] = TWSM_CASE_CURVED("'sources':[[50,20,10],[-120,0,10],[0,0,0]],");

static const char flat_layers[] =
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"
    "{'velocity':3200,'density':2500}],"
    "'boundaries':[{'type':'flat','depth':300},{'type':'flat','depth':700}],"
    "'extent':{'x':[-400,400],'y':[-350,350]},'wave_code':['0T 1R 0T','0R'],'source':[50,20,10],"
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':8},'fmax':20,"
    "'record':2.2,'dt':0.004}";

// Setup of a run of `json` with these parameters.
static TwsmSetup *setup_of(const char *json, TwsmParams *params)
{
    g_autofree char *path = NULL;
    g_autofree char *text = g_strdelimit(g_strdup(json), "'", '"');
    close(g_file_open_tmp("twsm-XXXXXX.json", &path, NULL));
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_strlcpy(params->model.text, path, sizeof params->model.text);
    g_autoptr(LithoResolved) known = NULL;
    g_assert_true(litho_resolve(&litho_operator_twsm, params, NULL, &known, NULL));
    TwsmSetup *setup = twsm_setup_open(params, known, NULL);
    g_assert_true(twsm_setup_build(setup, params, NULL, NULL));
    remove(path);
    return setup;
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
    params.damping = 1.5;
    GRand *rand = g_rand_new_with_seed(11);
    for (int near = 0; near < 2; near++) {
        params.near_field = near ? TWSM_NEAR_ON : TWSM_NEAR_OFF;
        g_autoptr(TwsmSetup) s = setup_of(curved, &params);
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
    int n_devices = twsm_case_devices(list);
    for (guint m = 0; m < G_N_ELEMENTS(models); m++) {
        g_autoptr(LithoCube) reference = twsm_case_run_well(list[0], models[m], "algorithm=fused");
        for (int d = 0; d < n_devices; d++)
            for (guint k = d == 0; k < G_N_ELEMENTS(settings); k++) {
                g_autoptr(LithoCube) cube = twsm_case_run_well(list[d], models[m], settings[k]);
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
    int n_devices = twsm_case_devices(list);
    g_autoptr(LithoCube) plain = twsm_case_run_well(list[0], hanging, "fmax=12");
    for (guint k = 0; k < G_N_ELEMENTS(options); k++) {
        g_autofree char *stored = g_strconcat(options[k], " algorithm=mod2 fmax=12", NULL);
        g_autofree char *fused = g_strconcat(options[k], " algorithm=fused fmax=12", NULL);
        g_autoptr(LithoCube) reference = twsm_case_run_well(list[0], hanging, stored);
        for (int d = 0; d < n_devices; d++) {
            g_autoptr(LithoCube) cube = twsm_case_run_well(list[d], hanging, fused);
            double error = twsm_case_cube_difference(cube, reference);
            g_test_message("%s on %s: %.2g", options[k], list[d].backend->key, error);
            // A sharp mask turns a rounding of heights into a whole beam; the others round only.
            g_assert_cmpfloat(error, <, strstr(options[k], "mask_soft=0") ? 1e-3 : 1e-5);
        }
        double change = twsm_case_cube_difference(reference, plain);
        g_test_message("changes the traces by %.2g", change);
        g_assert_cmpfloat(change, >, 1e-4);
    }
    // Property: a mask leaves every beam alone where nothing is in the way.
    g_autoptr(LithoCube) open = twsm_case_run_well(list[0], curved, "fmax=12");
    g_autoptr(LithoCube) masked = twsm_case_run_well(list[0], curved, "fmax=12 mask=segment");
    g_assert_cmpfloat(twsm_case_cube_difference(masked, open), <, 1e-6);
}

// Property: where two boxes of elements are called clear, each way between them is seen whole, so
// skipping the look at the ways changes no beam: a bound that is too low, or of another cell,
// fails. More than half of the boxes that are open are called so, over a ridge that leaves a
// quarter of the layer free. Between flat boundaries there is no mask at all.
static void test_mask_boxes(void)
{
    TwsmParams params;
    litho_param_defaults(&litho_operator_twsm.params, &params);
    params.mask = TWSM_MASK_SEGMENT;
    params.cells_per_wavelength = 5; // boxes as small beside the model as in a real one
    g_auto(GStrv) parts = g_strsplit(hanging, "'x':[-400,400],'y':[-350,350]", 2);
    g_autofree char *wide = g_strjoinv("'x':[-1200,1200],'y':[-1200,1200]", parts);
    g_autoptr(TwsmSetup) s = setup_of(wide, &params);
    const TwsmLeg *leg = &s->chain[0].leg[0];
    const TwsmPoints *a = leg->from, *b = leg->to;
    int boxes = 0, open = 0, clear = 0;
    for (int i = 0; i + 64 <= b->n; i += 11 * 64)
        for (int j = 0; j + 16 <= a->n; j += 13 * 16) {
            const TwsmBox from = twsm_points_box(a, j, 16), to = twsm_points_box(b, i, 64);
            gboolean called_clear = twsm_mask_box_clear(leg->mask, &from, &to, TRUE), seen = TRUE;
            for (int k = 0; k < 64 * 16 && seen; k++) {
                int m = j + k % 16, l = i + k / 16;
                seen = twsm_mask_at(leg->mask, (float[3]){a->x[m], a->y[m], a->z[m]},
                                    (float[3]){b->x[l], b->y[l], b->z[l]}) == 1;
            }
            g_assert_true(seen || !called_clear);
            boxes++;
            open += seen;
            clear += called_clear;
        }
    g_test_message("%d boxes, %d open, %d of them called clear", boxes, open, clear);
    g_assert_cmpint(clear, >, open / 2);
    g_assert_cmpint(open, <, boxes / 2);
    g_autoptr(TwsmSetup) flat = setup_of(flat_layers, &params);
    g_assert_null(flat->chain[0].leg[0].mask);
}

// Property: clusters stand for their pairs within the error asked for on smooth boundaries, and do
// stand for most of them (otherwise the test would compare the direct sum with itself): 11, 0 and
// 24 % of the pairs are summed directly at the three errors.
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
    int n_devices = twsm_case_devices(list);
    static const char *const settings[] = {"algorithm=fast", "algorithm=fast fast_error=1e-4",
                                           "algorithm=fast fast_error=2e-5"};
    const double limit[] = {1e-3, 1e-4, 2e-5}, most_direct[] = {20, 20, 30};
    g_autoptr(LithoCube) direct = twsm_case_run_well(list[0], wide, "algorithm=fused");
    for (int d = 0; d < n_devices; d++)
        for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
            double share = 1;
            GError *error = NULL;
            LithoReport *report = litho_report_new();
            LithoRun run = {.report = report};
            g_autoptr(LithoCube) fast = twsm_case_run_on(list[d], wide, settings[k], &run, &error);
            g_assert_no_error(error);
            double difference = twsm_case_cube_difference(fast, direct);
            g_assert_true(litho_report_get(report, "direct_share", &share));
            g_test_message("%s, %s: %.2g, %.1f %% of the pairs directly", list[d].backend->key,
                           settings[k], difference, share);
            g_assert_cmpfloat(difference, <, limit[k]);
            g_assert_cmpfloat(difference, >, 1e-7);
            g_assert_cmpfloat(share, <, most_direct[k]);
            litho_report_unref(report);
        }
}

// Property: with several sources fast keeps its 1e-3.
static void test_fast_sources(void)
{
    LithoDevice list[2];
    int n_devices = twsm_case_devices(list);
    g_autoptr(LithoCube) direct = twsm_case_run_well(list[0], curved_three, "algorithm=fused");
    for (int d = 0; d < n_devices; d++) {
        g_autoptr(LithoCube) fast = twsm_case_run_well(list[d], curved_three, "algorithm=fast");
        double error = twsm_case_cube_difference(fast, direct);
        g_test_message("%s: %.2g", list[d].backend->key, error);
        g_assert_cmpfloat(error, <, 1e-3);
    }
}

// Property: the operator is linear in the sources: the sum of two single shots is the shot of a
// field that is the sum (3e-6: three float32 sums of beams that mostly cancel), and the sources of
// one run equal single runs. A source of the parameters is one, however many the model has.
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
    g_assert_cmpint(one->grid.axis[0].n, ==, 3);
    // Coordinates left to the model are those of its first source.
    g_autoptr(LithoCube) same = twsm_case_run(curved_three, "algorithm=fused source_x=50");
    g_assert_cmpint(same->grid.axis[0].n, ==, 3);
    g_assert_cmpmem(same->samples, n * sizeof(float), one->samples, n * sizeof(float));

    TwsmParams params;
    litho_param_defaults(&litho_operator_twsm.params, &params);
    params.fmax = 12;
    g_autoptr(TwsmSetup) s = twsm_setup_open(&params, NULL, NULL);
    s->model->n_sources = 2;
    s->model->source[1][0] = 300;
    g_assert_true(twsm_setup_build(s, &params, NULL, NULL));
    const TwsmLeg *leg = &s->chain[0].leg[0];
    TwsmBand band = {1, 16};
    gsize size = (gsize)leg->from->n * band.n, rows = (gsize)leg->to->n * band.n;
    g_autofree TwsmValue *u = g_new(TwsmValue, 3 * size), *y = g_new(TwsmValue, 3 * rows);
    g_assert_true(twsm_source_field(s, 0, band, u, &(LithoRun){.threads = 1}, NULL));
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

// --- partial results, cancel ------------------------------------------------------------------

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
    int n_devices = twsm_case_devices(list);
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

// Property: a run that would take minutes stops within 100 ms of the cancel, in every algorithm,
// with G_IO_ERROR_CANCELLED. 250 ms are allowed for a loaded machine.
static void test_cancel(void)
{
    static const char *const settings[] = {"algorithm=fused", "algorithm=alg2", "algorithm=mod2",
                                           "algorithm=fast", "algorithm=fft"};
    LithoDevice list[2];
    int n_devices = twsm_case_devices(list);
    for (int d = 0; d < n_devices; d++)
        for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
            const char *model = strstr(settings[k], "fft") ? flat_layers : curved;
            g_autoptr(GCancellable) cancel = g_cancellable_new();
            g_autoptr(GError) error = NULL;
            LithoRun run = {.cancel = cancel};
            g_autofree char *all = g_strconcat(
                settings[k], " cells_per_wavelength=", d ? "20" : "16", " strip_width=64", NULL);
            GThread *thread = g_thread_new("cancel", twsm_case_cancel_soon, cancel);
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

// --- what a change costs ----------------------------------------------------------------------

// A pass of `engine` with this algorithm and wavelet; counts the passes that propagated.
static LithoCube *pass_with(LithoEngine *engine, LithoFlow *flow, int algorithm, double wavelet,
                            guint *propagated)
{
    TwsmParams *params = litho_flow_step(flow, 0)->params;
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings};
    GError *error = NULL;
    params->algorithm = algorithm;
    params->wavelet = wavelet;
    LithoCube *cube = litho_engine_run(engine, flow, NULL, NULL, &run, &error);
    g_assert_no_error(error);
    litho_timings_end_pass(timings);
    *propagated += test_passes_of(timings, "propagate") > 0;
    litho_timings_unref(timings);
    return cube;
}

// Property: a wavelet that leaves the meshes alone costs no propagation and gives the samples of a
// whole run, bit for bit; one that wants other meshes propagates anew, and so does the return.
static void test_wavelet(void)
{
    static const double wavelet[] = {9, 12, 3, 12};
    static const guint wanted[] = {1, 1, 2, 3};
    LithoDevice list[2];
    int n_devices = twsm_case_devices(list);
    for (int d = 0; d < n_devices; d++) {
        LithoEngine *engine = litho_engine_new(list[d]);
        LithoFlow *flow = litho_flow_new();
        litho_flow_append(flow, &litho_operator_twsm);
        TwsmParams *params = litho_flow_step(flow, 0)->params;
        g_strlcpy(params->model.text, "dome", sizeof params->model.text);
        params->fmax = 12;
        guint propagated = 0;
        for (guint k = 0; k < G_N_ELEMENTS(wavelet); k++) {
            g_autofree char *all = g_strdup_printf("fmax=12 wavelet=%g", wavelet[k]);
            g_autoptr(LithoCube) kept = pass_with(engine, flow, TWSM_AUTO, wavelet[k], &propagated);
            g_autoptr(LithoCube) whole = twsm_case_run_well(list[d], "dome", all);
            g_assert_cmpfloat(twsm_case_cube_difference(kept, whole), ==, 0);
            g_assert_cmpuint(propagated, ==, wanted[k]);
        }
        litho_engine_free(engine);
        litho_flow_free(flow);
    }
}

// Property: spectra serve another wavelet only when the algorithm that made them is asked for:
// those of `fast`, made on the meshes of an earlier `fused`, are not taken for `fused`.
static void test_wavelet_and_algorithm(void)
{
    LithoDevice list[2];
    int n_devices = twsm_case_devices(list);
    for (int d = 0; d < n_devices; d++) {
        LithoEngine *engine = litho_engine_new(list[d]);
        TwsmCaseFlow f = twsm_case_flow(curved, "cells_per_wavelength=2");
        guint propagated = 0;
        g_autoptr(LithoCube) fused = pass_with(engine, f.flow, TWSM_FUSED, 9, &propagated);
        g_autoptr(LithoCube) fast = pass_with(engine, f.flow, TWSM_FAST, 9, &propagated);
        g_autoptr(LithoCube) back = pass_with(engine, f.flow, TWSM_FUSED, 10, &propagated);
        g_assert_cmpuint(propagated, ==, 3);
        g_autoptr(LithoCube) kept = pass_with(engine, f.flow, TWSM_FUSED, 9, &propagated);
        g_assert_cmpuint(propagated, ==, 3);
        g_assert_cmpfloat(twsm_case_cube_difference(fast, fused), >, 0);
        g_assert_cmpfloat(twsm_case_cube_difference(kept, fused), ==, 0);
        litho_engine_free(engine);
        twsm_case_flow_clear(&f);
    }
}

// Property: the traces can be given up before they are made; they are when nobody gives them up.
static void test_traces_cancelled(void)
{
    TwsmParams params;
    litho_param_defaults(&litho_operator_twsm.params, &params);
    params.fmax = 12;
    g_autoptr(TwsmSetup) s = twsm_setup_open(&params, NULL, NULL);
    g_assert_true(twsm_setup_build(s, &params, NULL, NULL));
    LithoGrid grid;
    twsm_setup_grid(s, &grid);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    g_autofree TwsmValue *spectra = g_new0(TwsmValue, (gsize)s->receivers->n * s->n_frequencies);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    LithoRun run = {.cancel = cancel};
    g_assert_true(twsm_traces(s, spectra, s->n_frequencies, cube, &run, NULL));
    g_cancellable_cancel(cancel);
    g_assert_false(twsm_traces(s, spectra, s->n_frequencies, cube, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/twsm-sums/oracle", test_oracle);
    g_test_add_func("/twsm-sums/algorithms", test_algorithms);
    g_test_add_func("/twsm-sums/options", test_options);
    g_test_add_func("/twsm-sums/mask-boxes", test_mask_boxes);
    g_test_add_func("/twsm-sums/fast", test_fast);
    g_test_add_func("/twsm-sums/fast-sources", test_fast_sources);
    g_test_add_func("/twsm-sums/sources", test_sources);
    g_test_add_func("/twsm-sums/threads", test_threads);
    g_test_add_func("/twsm-sums/wavelet", test_wavelet);
    g_test_add_func("/twsm-sums/wavelet-and-algorithm", test_wavelet_and_algorithm);
    g_test_add_func("/twsm-sums/traces-cancelled", test_traces_cancelled);
    g_test_add_func("/twsm-sums/partial", test_partial);
    g_test_add_func("/twsm-sums/few-frequencies", test_few_frequencies);
    g_test_add_func("/twsm-sums/cancel", test_cancel);
    return g_test_run();
}
