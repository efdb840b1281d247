// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>
#include <string.h>

#include "core/flow.h"
#include "core/operator.h"
#include "kernels/patch/choice.h"
#include "kernels/patch/patch.h"
#include "tests/patch_cubes.h"

// Helpers that the tests of the local Fourier filter on both backends share.

static inline LithoPatchParams patch_settings(const char *words)
{
    const LithoOperator *op = litho_operator_find("patch");
    LithoPatchParams p;
    litho_param_defaults(&op->params, &p);
    g_auto(GStrv) list = g_strsplit(words, " ", -1);
    for (char **word = list; *word; word++)
        if (**word)
            g_assert_true(litho_operator_set(op, &p, *word, NULL));
    return p;
}

// A flow of the filter alone. The caller frees it.
static inline LithoFlow *patch_flow(const char *words)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_patch);
    *(LithoPatchParams *)litho_flow_step(flow, 0)->params = patch_settings(words);
    return flow;
}

// Window that a report tells where it was left automatic; 0 = none.
static inline int patch_window_told(LithoReport *report)
{
    g_autoptr(GArray) numbers = litho_report_numbers(report);
    for (guint k = 0; k < numbers->len; k++) {
        const LithoNumber *number = &g_array_index(numbers, LithoNumber, k);
        if (litho_number_is_used(number, "patch", "window"))
            return (int)number->value;
    }
    return 0;
}

// LithoReader.read of a cube.
static inline LithoCube *patch_read_part(const LithoBox *box, LithoRun *run, gpointer cube,
                                         GError **error)
{
    return litho_run_step(run, 0, 1, error) ? litho_cube_copy_box(cube, *box, error) : NULL;
}

// The settings with what the data choose in them.
static inline LithoPatchParams patch_chosen(const LithoCube *in, const char *words)
{
    const LithoPatchParams p = patch_settings(words);
    const LithoReader reader = {.grid = &in->grid, .read = patch_read_part, .data = (gpointer)in};
    g_autoptr(GError) error = NULL;
    PatchFound found;
    patch_choice_read(&p, &reader, NULL, &found, &error);
    g_assert_no_error(error);
    return patch_choice_take(&p, found);
}

// `region` of the output (NULL: all of it) by `impl` on device 0, by numbers that were measured
// before (NULL: by those of `in`).
static inline LithoCube *patch_run_by(const LithoImpl *impl, const LithoCube *in,
                                      const LithoPatchParams *params, LithoMeasured *measured,
                                      const LithoBox *region, LithoRun *run)
{
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_cube_new_box(&in->grid, region ? *region : in->held, NULL);
    litho_cube_inherit(out, in);
    gpointer plan = impl->plan(&in->grid, params, NULL, run, &error);
    g_assert_no_error(error);
    const LithoPass pass = {.params = params,
                            .first_stage = 1,
                            .in = in,
                            .region = out->held,
                            .out = out,
                            .measured = measured};
    impl->exec(plan, &pass, run, &error);
    g_assert_no_error(error);
    impl->destroy(plan);
    return out;
}

static inline LithoCube *patch_run(const LithoImpl *impl, const LithoCube *in,
                                   const LithoPatchParams *params, const LithoBox *region,
                                   int threads)
{
    LithoRun run = {.threads = threads};
    return patch_run_by(impl, in, params, NULL, region, &run);
}

// Region `box` of `whole` to the bit.
static inline void patch_assert_part(const LithoCube *whole, const LithoCube *part)
{
    g_autoptr(LithoCube) cut = litho_cube_copy_box(whole, part->held, NULL);
    g_assert_cmpmem(cut->samples, 4 * litho_cube_held_samples(cut), litho_cube_host(part, NULL),
                    4 * litho_cube_held_samples(part));
    const gsize traces = litho_box_size(part->held, 0) * litho_box_size(part->held, 1);
    g_assert_cmpmem(cut->live, traces, part->live, traces);
}

// Events and noise, a tenth of the traces dead, some samples not finite.
static inline LithoCube *patch_spoilt(gint64 n_il, gint64 n_xl, gint64 n_t)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, n_il, n_xl, n_t);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n_il, n_xl, n_t, 0.5, 3);
    LithoCube *in = patch_sum(clean, noise);
    patch_kill(in, 10, 4);
    for (gint64 k = 0; k < litho_cube_held_samples(in); k += 997)
        if (in->live[k / n_t])
            in->samples[k] = k % 2 ? NAN : INFINITY;
    return in;
}

// 48 x 48 traces of curved events 10 dB above noise, half of them recorded, and of the others those
// at every so many inlines and crosslines; one sample of each of these is not a number. Eight apart
// they are 18, eleven apart 12, and eight of these stand alone.
static inline LithoCube *patch_lone(int apart)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_CURVED, 48, 48, 96);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 48, 48, 96, 0.316, 7);
    LithoCube *in = patch_sum(clean, noise);
    for (int i = 0; i < 48; i++)
        for (int j = 24; j < 48; j++) {
            const int t = i * 48 + j;
            in->live[t] = i % apart == apart / 2 && (j - 20) % apart == apart / 2;
            if (in->live[t])
                in->samples[t * 96 + 50] = NAN;
            else
                memset(in->samples + t * 96, 0, 96 * sizeof(float));
        }
    return in;
}

// Number of the traces of patch_lone() that are in `out`, whole traces of it, as they were, but for
// the sample that is not a number, which is 0.
static inline int patch_lone_left(const LithoCube *in, const LithoCube *out)
{
    int n = 0;
    for (gint64 i = out->held.lo[0]; i < out->held.hi[0]; i++)
        for (gint64 j = MAX(out->held.lo[1], 24); j < out->held.hi[1]; j++) {
            const float *a = litho_cube_trace(in, i, j), *b = litho_cube_trace(out, i, j);
            n += litho_cube_is_live(in, i, j) && !memcmp(a, b, 50 * sizeof *a) && b[50] == 0 &&
                 !memcmp(a + 51, b + 51, 45 * sizeof *a);
        }
    return n;
}

// Progress that is told of one stage.
typedef struct PatchHeard {
    const char *stage;
    gint64 done, total;
    guint ends;
} PatchHeard;

// A LithoRun's on_progress: the stage goes on without a step back.
static inline void patch_hear(const LithoProgress *progress, gpointer data)
{
    PatchHeard *h = data;
    if (strcmp(progress->what, h->stage) != 0)
        return;
    g_assert_cmpint(progress->done, >=, h->done);
    g_assert_true(h->total == 0 || progress->total == h->total);
    h->done = progress->done;
    h->total = progress->total;
    h->ends += progress->done == progress->total;
}
