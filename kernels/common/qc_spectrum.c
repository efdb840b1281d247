// SPDX-License-Identifier: GPL-3.0-or-later
//
// Amplitude spectra of traces for the QC panel.
#include "core/text.h"
#include "kernels/kernels.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/error.h"

enum { TRACES_PER_STEP = 64 };

// One trace length: window, buffers and plan.
typedef struct Transform {
    int n;
    float *window, *in;
    fftwf_complex *out;
    fftwf_plan plan;
} Transform;

static void transform_init(Transform *t, int n)
{
    t->n = n;
    t->window = g_new(float, n);
    t->in = fftwf_alloc_real(n);
    t->out = fftwf_alloc_complex(n / 2 + 1);
    t->plan = fftwf_plan_dft_r2c_1d(n, t->in, t->out, FFTW_ESTIMATE);
    // Periodic Hann; its mean is 1/2, so 2/n * 2 makes a sine of amplitude A a line of height A.
    for (int k = 0; k < n; k++)
        t->window[k] = (float)((2 - 2 * cos(2 * G_PI * k / n)) / n);
}

static void transform_clear(Transform *t)
{
    fftwf_destroy_plan(t->plan);
    fftwf_free(t->in);
    fftwf_free(t->out);
    g_free(t->window);
}

// Adds |spectrum|^2 of one trace; FALSE (and nothing added) when a sample is not finite.
static gboolean add_power(Transform *t, const float *trace, double *power)
{
    for (int k = 0; k < t->n; k++) {
        if (!isfinite(trace[k]))
            return FALSE;
        t->in[k] = trace[k] * t->window[k];
    }
    fftwf_execute(t->plan);
    for (int k = 0; k <= t->n / 2; k++)
        power[k] += (double)t->out[k][0] * t->out[k][0] + (double)t->out[k][1] * t->out[k][1];
    return TRUE;
}

// `stride` traces apart, counted over the whole box, so that every inline contributes.
static gboolean add_box(Transform *t, const LithoCube *cube, LithoBox box, gint64 stride,
                        double *power, gint64 *traces, LithoRun *run, GError **error)
{
    const gint64 nx = litho_box_size(box, 1), total = litho_box_size(box, 0) * nx;
    const gint64 offset = box.lo[2] - cube->held.lo[2];
    for (gint64 k = 0; k < total; k += stride) {
        gint64 i = box.lo[0] + k / nx, j = box.lo[1] + k % nx;
        if (litho_cube_is_live(cube, i, j) &&
            add_power(t, litho_cube_trace(cube, i, j) + offset, power))
            ++*traces;
        if (k / stride % TRACES_PER_STEP == 0 && !litho_run_step(run, k, total, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_fftw_spectrum(const LithoCube *cube, const LithoBox *box, gint64 max_traces,
                             LithoRun *run, LithoSpectrum *spectrum, GError **error)
{
    LithoBox all = box ? litho_box_intersect(*box, cube->held) : cube->held;
    gint64 total = litho_box_size(all, 0) * litho_box_size(all, 1), length = litho_box_size(all, 2);
    if (litho_box_empty(all) || length < 2) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("a spectrum needs traces of 2 samples or more"));
        return FALSE;
    }
    if (!litho_cube_host(cube, error))
        return FALSE;
    // An odd stride does not walk down the same crosslines of every inline.
    gint64 stride = max_traces > 0 ? (total + max_traces - 1) / max_traces : 1;
    stride += stride > 1 && stride % 2 == 0;
    Transform t;
    transform_init(&t, (int)length);
    guint n = length / 2 + 1;
    g_autofree double *power = g_new0(double, n);
    gint64 traces = 0;
    litho_run_begin(run, "spectrum", "traces");
    gboolean ok = add_box(&t, cube, all, stride, power, &traces, run, error);
    transform_clear(&t);
    if (!ok)
        return FALSE;
    for (guint k = 0; k < n; k++)
        power[k] = traces > 0 ? sqrt(power[k] / traces) : 0;
    spectrum->n = n;
    spectrum->df = 1 / (length * fabs(cube->grid.axis[2].step));
    spectrum->traces = traces;
    spectrum->amplitude = g_steal_pointer(&power);
    return TRUE;
}
