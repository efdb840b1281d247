// SPDX-License-Identifier: GPL-3.0-or-later
//
// Events are few wavenumbers of a window at one frequency, whatever traces are loud. Values at
// traces that have more beside the events than most count less, and what the events have there
// takes their place, as in a filling by projections: each time a trace has its weight of its own
// value and the rest of the events found before.
#include "kernels/patch/swell_split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/common/select.h"
#include "kernels/patch/swell.h"

enum { TIMES = 3 };
// Coefficients above so many times the level are events. 3 keeps noise of single traces, which
// comes to all wavenumbers: 3 to 8 dB less; 5 loses 1 dB where events have low frequencies.
static const float LIMIT = 4;
// The power that a share of values of noise does not exceed is -log(1 - share) times its mean.
static const double QUIET = 0.4, MOST = 0.3, MIDDLE = 0.5;
// A trace has its whole weight up to so many times the power of most, in the first and later times.
static const float FIRST = 2, LATER = 4;
// An event has so many times its power on most traces at most.
static const float EVEN = 4;
// A window needs so large a part of its traces.
enum { PART = 8 };
// Traces whose taper is less say nothing of the power of most.
static const float MARGIN = 0.2f;

bool patch_split_begin(PatchSplit *s, const LithoPatchAxis axis[2])
{
    const int n[2] = {axis[0].length, axis[1].length};
    *s = (PatchSplit){.axis = {axis[0], axis[1]}, .traces = n[0] * n[1]};
    s->taper = malloc(s->traces * sizeof *s->taper);
    fftwf_complex *x = fftwf_alloc_complex(s->traces);
    if (s->taper && x) {
        s->forward = fftwf_plan_dft_2d(n[0], n[1], x, x, FFTW_FORWARD, FFTW_ESTIMATE);
        s->inverse = fftwf_plan_dft_2d(n[0], n[1], x, x, FFTW_BACKWARD, FFTW_ESTIMATE);
        for (int k = 0; k < s->traces; k++)
            s->taper[k] = (float)(litho_patch_taper(axis[0], k / n[1]) *
                                  litho_patch_taper(axis[1], k % n[1]));
    }
    fftwf_free(x);
    return s->forward && s->inverse;
}

void patch_split_end(PatchSplit *s)
{
    if (s->forward)
        fftwf_destroy_plan(s->forward);
    if (s->inverse)
        fftwf_destroy_plan(s->inverse);
    free(s->taper);
    *s = (PatchSplit){0};
}

bool patch_split_room(const PatchSplit *s, PatchSplitRoom *r)
{
    r->x = fftwf_alloc_complex(s->traces);
    r->event = fftwf_alloc_complex(s->traces);
    r->sum = fftwf_alloc_complex(s->traces);
    r->weight = fftwf_alloc_real(s->traces);
    r->power = fftwf_alloc_real(s->traces);
    r->sorted = fftwf_alloc_real(s->traces);
    return r->x && r->event && r->sum && r->weight && r->power && r->sorted;
}

void patch_split_room_end(PatchSplitRoom *r)
{
    fftwf_free(r->x);
    fftwf_free(r->event);
    fftwf_free(r->sum);
    fftwf_free(r->weight);
    fftwf_free(r->power);
    fftwf_free(r->sorted);
}

// The mean of noise by the power that `share` of n values, which it reorders, do not exceed.
static float mean_by(double share, float *sorted, int n)
{
    return n > 0 ? litho_select_kth(sorted, n, (gint64)(share * n)) / (float)-log(1 - share) : 0;
}

// Weights by the powers of the traces over the taper, against those of most: amplitudes above
// `most` of it count no more than that. `share` of the traces are no louder.
static void weigh(const PatchSplit *s, PatchSplitRoom *r, double share, float most)
{
    int n = 0;
    for (int k = 0; k < s->traces; k++)
        if (r->weight[k] > 0 && s->taper[k] > MARGIN)
            r->sorted[n++] = r->power[k];
    const float limit = most * mean_by(share, r->sorted, n);
    for (int k = 0; k < s->traces; k++)
        if (r->weight[k] > 0)
            r->weight[k] = fmaxf(r->power[k] > limit ? sqrtf(limit / r->power[k]) : 1, 1e-12f);
}

// The events of what the weights leave.
static void find_events(const PatchSplit *s, PatchSplitRoom *r)
{
    const int n = s->traces;
    for (int k = 0; k < n; k++)
        r->sum[k] = r->event[k] + r->weight[k] * (r->x[k] - r->event[k]);
    fftwf_execute_dft(s->forward, r->sum, r->sum);
    for (int k = 0; k < n; k++)
        r->sorted[k] = r->power[k] = patch_split_power(r->sum[k]);
    const float limit = LIMIT * LIMIT * mean_by(QUIET, r->sorted, n);
    for (int k = 0; k < n; k++)
        r->sum[k] = r->power[k] > limit ? r->sum[k] / (float)n : 0;
    fftwf_execute_dft(s->inverse, r->sum, r->event);
}

// Events have about the amplitude of their neighbours, also where swell of neighbouring traces is
// alike and passes for one.
static void even_out(const PatchSplit *s, PatchSplitRoom *r)
{
    int n = 0;
    for (int k = 0; k < s->traces; k++) {
        r->power[k] = patch_split_power(r->event[k]) / (s->taper[k] * s->taper[k]);
        if (r->weight[k] > 0 && s->taper[k] > MARGIN)
            r->sorted[n++] = r->power[k];
    }
    const float limit = n > 0 ? EVEN * litho_select_kth(r->sorted, n, n / 2) : 0;
    for (int k = 0; k < s->traces; k++)
        if (r->power[k] > limit)
            r->event[k] *= sqrtf(limit / r->power[k]);
}

bool patch_split(const PatchSplit *s, PatchSplitRoom *r)
{
    int live = 0;
    for (int k = 0; k < s->traces; k++) {
        r->power[k] = patch_split_power(r->x[k]);
        r->weight[k] = r->power[k] > 0;
        live += r->power[k] > 0;
        r->x[k] *= s->taper[k];
        r->event[k] = 0;
    }
    if (live < s->traces / PART)
        return false;
    weigh(s, r, MIDDLE, FIRST * (float)-log(1 - MIDDLE));
    for (int time = 0; time < TIMES; time++) {
        find_events(s, r);
        for (int k = 0; k < s->traces; k++)
            r->power[k] = patch_split_power(r->x[k] - r->event[k]) / (s->taper[k] * s->taper[k]);
        if (time + 1 < TIMES)
            weigh(s, r, MOST, LATER);
    }
    even_out(s, r);
    for (int k = 0; k < s->traces; k++)
        r->x[k] = r->weight[k] > 0 ? r->x[k] - r->event[k] : 0;
    return true;
}

int patch_swell_bin(int k)
{
    return k < PATCH_SWELL_LOW ? k : PATCH_SWELL_BESIDE + (k - PATCH_SWELL_LOW) * PATCH_SWELL_APART;
}

float patch_swell_median(int k)
{
    return k > 0 ? (float)G_LN2 : 0.455f; // coefficients of frequency 0 are real
}

float patch_swell_is_no_event(float power, float event)
{
    const float from = 0.25f, to = 1;
    return CLAMP((power / fmaxf(event, 1e-30f) - from) / (to - from), 0, 1);
}

void patch_swell_wave(int length, int bin, float complex *wave, float *taper)
{
    double energy = 0;
    for (int t = 0; t < length; t++)
        energy += pow(sin(G_PI * (t + 0.5) / length), 4);
    for (int t = 0; t < length; t++) {
        const double w = pow(sin(G_PI * (t + 0.5) / length), 2) / sqrt(energy);
        const double angle = 2 * G_PI * (double)(bin * t % length) / length;
        taper[t] = (float)w;
        wave[t] = (float)(w * cos(angle)) - (float)(w * sin(angle)) * _Complex_I;
    }
}

float *patch_swell_waves(int length)
{
    float *waves = g_new(float, (gsize)length *PATCH_SWELL_ASKED * 2);
    g_autofree float complex *wave = g_new(float complex, length);
    g_autofree float *taper = g_new(float, length);
    for (int f = 0; f < PATCH_SWELL_ASKED; f++) {
        patch_swell_wave(length, patch_swell_bin(f), wave, taper);
        for (int t = 0; t < length; t++) {
            waves[(t * PATCH_SWELL_ASKED + f) * 2] = crealf(wave[t]);
            waves[(t * PATCH_SWELL_ASKED + f) * 2 + 1] = cimagf(wave[t]);
        }
    }
    return waves;
}

void patch_swell_transform(const float *x, int length, const float *waves, float *sum)
{
    memset(sum, 0, 2 * PATCH_SWELL_ASKED * sizeof *sum);
    for (int t = 0; t < length; t++) {
        const float value = isfinite(x[t]) ? x[t] : 0;
        for (int k = 0; k < 2 * PATCH_SWELL_ASKED; k++)
            sum[k] += value * waves[t * 2 * PATCH_SWELL_ASKED + k];
    }
}
