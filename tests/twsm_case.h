// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "kernels/twsm/setup.h"

// Helpers that the tests of tip-wave modelling share: running a model given as text, spectra by
// exact theory, and errors between traces.

// Two curved boundaries close together: every kind of pair occurs (grazing, wrong side, distant).
#define TWSM_CASE_CURVED(more)                                                                     \
    "{'layers':[{'velocity':2000,'density':2200},{'velocity':2600,'density':2300},"                \
    "{'velocity':3200,'density':2500}],"                                                           \
    "'boundaries':[{'type':'gaussian','depth':300,'amplitude':60,'sigma_x':150},"                  \
    "{'type':'dipping','depth':700,'dip_x':8,'dip_y':-4}],"                                        \
    "'extent':{'x':[-400,400],'y':[-350,350]},'wave_code':'0T 1R 0T'," more                        \
    "'receivers':{'x':[-200,100,5],'y':[-100,100,3],'z':0},'wavelet':{'ricker':8},'fmax':20,"      \
    "'record':2.2,'dt':0.004}"

typedef struct TwsmCaseFlow {
    LithoFlow *flow;
    char *path; // of the model's file, or NULL
} TwsmCaseFlow;

// The flow of `json` (single quotes stand for double ones; or a built-in model's name) with
// "key=value ..." settings.
static inline TwsmCaseFlow twsm_case_flow(const char *json, const char *settings)
{
    TwsmCaseFlow f = {litho_flow_new(), NULL};
    litho_flow_append(f.flow, &litho_operator_twsm);
    TwsmParams *params = litho_flow_step(f.flow, 0)->params;
    if (*json == '{') {
        g_autofree char *text = g_strdup(json);
        int file = g_file_open_tmp("twsm-XXXXXX.json", &f.path, NULL);
        g_assert_cmpint(file, >=, 0);
        close(file);
        g_strdelimit(text, "'", '"');
        g_assert_true(g_file_set_contents(f.path, text, -1, NULL));
    }
    g_strlcpy(params->model.text, f.path ? f.path : json, sizeof params->model.text);
    g_auto(GStrv) words = g_strsplit(settings ? settings : "", " ", -1);
    for (char **word = words; *word; word++) {
        char *equals = strchr(*word, '=');
        if (!equals)
            continue;
        *equals = '\0';
        g_assert_true(
            litho_param_parse(&litho_operator_twsm.params, params, *word, equals + 1, NULL));
    }
    return f;
}

static inline void twsm_case_flow_clear(TwsmCaseFlow *f)
{
    litho_flow_free(f->flow);
    if (f->path)
        remove(f->path);
    g_free(f->path);
}

// Runs it on `device`.
static inline LithoCube *twsm_case_run_on(LithoDevice device, const char *json,
                                          const char *settings, LithoRun *run, GError **error)
{
    TwsmCaseFlow f = twsm_case_flow(json, settings);
    LithoEngine *engine = litho_engine_new(device);
    LithoCube *cube = litho_engine_run(engine, f.flow, NULL, NULL, run, error);
    litho_engine_free(engine);
    twsm_case_flow_clear(&f);
    return cube;
}

// Runs as twsm_case_run_on() does; the run must succeed.
static inline LithoCube *twsm_case_run_well(LithoDevice device, const char *json,
                                            const char *settings)
{
    GError *error = NULL;
    LithoCube *cube = twsm_case_run_on(device, json, settings, NULL, &error);
    g_assert_no_error(error);
    return cube;
}

static inline LithoCube *twsm_case_run(const char *json, const char *settings)
{
    return twsm_case_run_well(litho_device_cpu(), json, settings);
}

// Every device of this machine that runs the operator.
static inline int twsm_case_devices(LithoDevice list[2])
{
    list[0] = litho_device_cpu();
    return 1 + litho_device_parse("cuda", &list[1], NULL);
}

// For a thread: cancels `data` in 0.4 s and tells when, ms.
static inline gpointer twsm_case_cancel_soon(gpointer data)
{
    g_usleep(400000);
    g_cancellable_cancel(data);
    return GINT_TO_POINTER((int)litho_now_ms());
}

// Relative L2 difference of n samples, in parts of `b`.
static inline double twsm_case_difference(const float *a, const float *b, gint64 n)
{
    double difference = 0, size = 0;
    for (gint64 k = 0; k < n; k++) {
        difference += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
        size += (double)b[k] * b[k];
    }
    return sqrt(difference / size);
}

static inline double twsm_case_cube_difference(LithoCube *a, LithoCube *b)
{
    return twsm_case_difference(litho_cube_host(a, NULL), litho_cube_host(b, NULL),
                                litho_box_count(a->held));
}

// Ricker trace p(t) = (dw/pi) Re sum_k W(w_k) P(w_k) exp(-i w_k t), with w_k = k dw + i sig, for
// spectra of a unit source: written out from the definition, independent of the program's FFT.
typedef double complex (*TwsmExact)(double complex w, const void *data);

static inline void twsm_case_trace(TwsmExact exact, const void *data, double ricker, double record,
                                   int n_frequencies, double sig, int n, float *trace)
{
    double dw = 2 * G_PI / record, wp = 2 * G_PI * ricker;
    g_autofree double *sum = g_new0(double, n);
    for (int k = 1; k <= n_frequencies; k++) {
        double complex w = k * dw + I * sig;
        double complex p =
            exact(w, data) * 4 * sqrt(G_PI) * w * w / (wp * wp * wp) * cexp(-(w / wp) * (w / wp));
        double complex turn = cexp(-I * w * record / n), at = 1;
        for (int t = 0; t < n; t++, at *= turn)
            sum[t] += dw / G_PI * creal(p * at);
    }
    for (int t = 0; t < n; t++)
        trace[t] = (float)sum[t];
}
