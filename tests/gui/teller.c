// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/teller.h"

#include <math.h>
#include <string.h>

typedef struct TellerParams {
    double threshold, gain;
    int mode, patience, wait_ms;
} TellerParams;

// --- telling ------------------------------------------------------------------------------------

enum { SIDE = 24, N = 8, POINTS = 200, BARS = 40 };

static void tell_earth(LithoReport *report)
{
    float sheet[3 * SIDE * SIDE], receivers[3 * SIDE],
        ray[9] = {300, 400, 0, 1200, 1000, 880, 2100, 1600, 0};
    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++) {
            float x = 100.0f * c, y = 90.0f * r, *at = &sheet[3 * (r * SIDE + c)];
            at[0] = x;
            at[1] = y;
            at[2] = 900 - ((x - 1200) * (x - 1200) + (y - 1000) * (y - 1000)) / 7000;
        }
    for (int k = 0; k < SIDE; k++) {
        receivers[3 * k] = 100.0f * k;
        receivers[3 * k + 1] = 1600;
        receivers[3 * k + 2] = 0;
    }
    litho_report_shape(
        report,
        &(LithoShape){
            .key = "source", .label = "Source", .n = 1, .kind = LITHO_SHAPE_POINTS, .xyz = ray});
    litho_report_shape(report, &(LithoShape){.key = "receivers",
                                             .label = "Receivers",
                                             .n = SIDE,
                                             .kind = LITHO_SHAPE_POINTS,
                                             .xyz = receivers});
    litho_report_shape(report, &(LithoShape){.key = "boundary",
                                             .label = "Boundary 1",
                                             .kind = LITHO_SHAPE_SHEET,
                                             .n = SIDE * SIDE,
                                             .rows = SIDE,
                                             .columns = SIDE,
                                             .xyz = sheet});
    litho_report_shape(report, &(LithoShape){.key = "ray",
                                             .label = "Ray of the wave code",
                                             .n = 3,
                                             .kind = LITHO_SHAPE_LINE,
                                             .xyz = ray});
}

static void tell_boxes(LithoReport *report, double threshold)
{
    g_autofree float *xyz = g_new(float, 3 * 8 * GUI_TELLER_BOXES);
    float value[GUI_TELLER_BOXES];
    for (int b = 0; b < GUI_TELLER_BOXES; b++) {
        const int at[3] = {b / (N * N), b / N % N, b % N};
        double far = 0;
        for (int k = 0; k < 3; k++)
            far += pow((at[k] + 0.5) / N - (k == 2 ? 0.7 : 0.5), 2);
        value[b] = (float)MAX(exp(-18 * far) * 2 - threshold, 0);
        value[b] = MIN(value[b], 1);
        for (int c = 0; c < 8; c++)
            for (int k = 0; k < 3; k++)
                xyz[3 * (8 * b + c) + k] = (float)(at[k] + (c >> k & 1)) / N - 0.5f;
    }
    litho_report_shape(report, &(LithoShape){.key = "boxes",
                                             .label = "Share kept",
                                             .space = LITHO_SPACE_FREQUENCY,
                                             .kind = LITHO_SHAPE_BOXES,
                                             .n = 8 * GUI_TELLER_BOXES,
                                             .xyz = xyz,
                                             .value = value});
}

static void tell_curves(LithoReport *report, double threshold)
{
    double x[POINTS], y[POINTS];
    for (int c = 0; c < GUI_TELLER_CURVES; c++) {
        g_autofree char *key = g_strdup_printf("error_%d", c),
                        *name = g_strdup_printf("n=%d", 5 + 2 * c);
        for (int k = 0; k < POINTS; k++) {
            x[k] = 80.0 * k / (POINTS - 1);
            y[k] = pow(10, -6 + c * 0.4 + pow(x[k] / 80, 3) * (5 - 0.5 * c));
        }
        litho_report_curve(report, key, "Phase error", "dip, degrees", "rad", POINTS, x, y);
        litho_report_curve_style(report, key, "error", name, FALSE, TRUE, FALSE);
    }
    for (int k = 0; k < BARS; k++) {
        x[k] = pow(10, -3 + 0.1 * k);
        y[k] = 4000 * exp(-pow(k - 14, 2) / 60.0) + 300 * exp(-pow(k - 28, 2) / 16.0);
    }
    litho_report_curve(report, "magnitudes", "Magnitudes", "magnitude", "coefficients", BARS, x, y);
    litho_report_curve_style(report, "magnitudes", NULL, NULL, TRUE, FALSE, TRUE);
    litho_report_curve_marks(report, "magnitudes", 1, &threshold);
}

// --- depth --------------------------------------------------------------------------------------

enum { DEPTH = 2, DEPTHS = 210 };

double gui_teller_time(double depth)
{
    return 2 * depth / (1500 + 0.6 * depth);
}

static gboolean output_grid(const LithoGrid *in, const void *params, LithoResolved *known,
                            LithoGrid *out, GError **error)
{
    (void)known;
    (void)error;
    *out = *in;
    if (((const TellerParams *)params)->mode != DEPTH)
        return TRUE;
    out->is_depth = TRUE;
    out->axis[2].n = DEPTHS;
    out->axis[2].first = 0;
    out->axis[2].step = 5;
    g_strlcpy(out->axis[2].unit, "m", sizeof out->axis[2].unit);
    return TRUE;
}

static void tell_depth(LithoReport *report)
{
    double depth[DEPTHS], time[DEPTHS];
    for (int k = 0; k < DEPTHS; k++) {
        depth[k] = 5.0 * k;
        time[k] = gui_teller_time(depth[k]);
    }
    litho_report_curve(report, "depth_time", "Time of a depth", "m", "s", DEPTHS, depth, time);
    litho_report_curve_role(report, "depth_time", LITHO_CURVE_DEPTH_TIME);
}

static void fill_depths(const LithoCube *in, LithoCube *out, float gain)
{
    for (gint64 i = out->held.lo[0]; i < out->held.hi[0]; i++)
        for (gint64 j = out->held.lo[1]; j < out->held.hi[1]; j++)
            for (gint64 k = out->held.lo[2]; k < out->held.hi[2]; k++) {
                double t = gui_teller_time(litho_axis_value(&out->grid.axis[2], k));
                gint64 at = llround(litho_axis_index(&in->grid.axis[2], t));
                float *to = &litho_cube_trace(out, i, j)[k - out->held.lo[2]];
                *to = at < in->grid.axis[2].n ? gain * litho_cube_trace(in, i, j)[at] : 0;
            }
}

// --- the operator -------------------------------------------------------------------------------

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)in;
    (void)params;
    (void)run;
    (void)error;
    return g_new0(char, 1);
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    (void)data;
    const TellerParams *p = pass->params;
    if (!litho_cube_host(pass->in, error))
        return FALSE;
    tell_earth(run->report);
    tell_boxes(run->report, p->threshold);
    tell_curves(run->report, p->threshold);
    litho_report_number(run->report, "kept", "Kept", "%", 100 / (1 + 20 * p->threshold));
    if (p->patience == 0)
        litho_report_used(run->report, gui_teller.key, "patience", GUI_TELLER_PATIENCE);
    litho_run_begin(run, "waiting", "steps");
    for (int done = 0; done < p->wait_ms / 10; done++) {
        g_usleep(10000);
        if (!litho_run_step(run, done, p->wait_ms / 10, error))
            return FALSE;
    }
    if (p->mode == DEPTH) {
        tell_depth(run->report);
        litho_cube_inherit(pass->out, pass->in);
        fill_depths(pass->in, pass->out, (float)p->gain);
        return TRUE;
    }
    litho_cube_paste(pass->out, (LithoCube *)pass->in);
    litho_cube_inherit(pass->out, pass->in);
    gint64 n = litho_box_count(pass->out->held);
    for (gint64 k = 0; k < n; k++)
        pass->out->samples[k] *= (float)p->gain;
    return TRUE;
}

static LithoBox input_box(const LithoGrid *in, const void *params, LithoBox region)
{
    if (((const TellerParams *)params)->mode == DEPTH) {
        region.lo[2] = 0;
        region.hi[2] = in->axis[2].n;
    }
    return region;
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)known;
    (void)in;
    (void)threads;
    const TellerParams *p = params;
    // 1e6 times the gain, so that a test can ask for more than any machine has.
    return (guint64)(p->gain * p->gain * 8.0 * litho_box_count(region));
}

static const LithoImpl cpu = {plan, exec, g_free, memory};

static const LithoParam rows[] = {
    LITHO_CHOICE(TellerParams, mode, "plain\0careful\0depth\0", .label = "Mode", .stage = 0,
                 .doc = "Which of the three; depth turns times into depths."),
    LITHO_FLOAT(TellerParams, threshold, .label = "Threshold", .def = 0.1, .min = 1e-3, .max = 10,
                .log = true, .stage = 1, .doc = "What is below is left out; 0.01 to 1 is usual."),
    LITHO_FLOAT(TellerParams, gain, .label = "Gain", .def = 0.8, .min = 1e-3, .max = 1e6,
                .soft_min = 0.1, .soft_max = 10, .log = true, .stage = 1,
                .doc = "Factor on every sample."),
    LITHO_INT(TellerParams, patience, .label = "Patience", .when = "mode=careful",
              .special_text = "as needed", .unit = "turns", .def = 0, .min = 0, .max = 50,
              .stage = 1, .doc = "Turns of the careful mode; 0 = as many as it needs."),
    LITHO_INT(TellerParams, wait_ms, .label = "Duration", .unit = "ms", .def = 0, .min = 0,
              .max = 300000, .soft_max = 5000, .stage = 1, .advanced = true,
              .doc = "How long a pass takes at least."),
};

static const char *const stages[] = {"plan", "copy", NULL};

static const LithoNumberDoc numbers[] = {
    {"kept", "Part that is above the threshold."},
    {NULL},
};

const LithoOperator gui_teller = {
    .key = "teller",
    .title = "Teller",
    .summary = "The input times a gain, with everything a report can hold.",
    .stages = stages,
    .params = {rows, G_N_ELEMENTS(rows), sizeof(TellerParams)},
    .numbers = numbers,
    .needs_input = TRUE,
    .output_grid = output_grid,
    .input_box = input_box,
    .cpu = &cpu,
};
