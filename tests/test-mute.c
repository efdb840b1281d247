// SPDX-License-Identifier: GPL-3.0-or-later
//
// Muted samples of a survey stay zero behind the operators that promise it, for every region alike.
#include <string.h>

#include "core/engine/engine.h"
#include "core/mute.h"
#include "core/synth/synth_parts.h"
#include "kernels/kernels.h"
#include "tests/common.h"

enum { TRACES = 24, SAMPLES = 96, DEAD = 5, UNTOLD = 9 }; // two missing traces, one of them live by its flag

// A mute that follows the traces, padding below, and one in the middle; a run that is too short.
static gboolean is_muted(gint64 trace, gint64 t)
{
    return t < 10 + trace % TRACES / 2 || t >= 90 || (trace == 40 && t >= 50 && t < 66);
}

static gboolean is_missing(gint64 trace)
{
    return trace == DEAD * TRACES + DEAD || trace == UNTOLD * TRACES + DEAD;
}

static LithoCube *make_cube(void)
{
    const LithoGrid grid = litho_grid_new(TRACES, TRACES, SAMPLES);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++) {
        const gint64 trace = k / SAMPLES, t = k % SAMPLES;
        const gboolean zero = is_muted(trace, t) || (trace == 50 && t >= 50 && t < 65);
        cube->samples[k] =
            zero ? 0 : (float)(litho_hash_normal(5, 1, k) + 4 * ((t + trace) % 31 < 3));
    }
    memset(litho_cube_trace(cube, DEAD, DEAD), 0, SAMPLES * sizeof(float));
    cube->live[DEAD * TRACES + DEAD] = 0;
    memset(litho_cube_trace(cube, UNTOLD, DEAD), 0, SAMPLES * sizeof(float));
    return cube;
}

static LithoCube *run(const LithoOperator *op, const char *settings, const LithoCube *in,
                      const LithoBox *region)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, op);
    g_assert_true(
        litho_operator_settings(op, litho_flow_step(flow, 0)->params, settings, &error));
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoCube *out = litho_engine_run(engine, flow, in, region, NULL, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

static const struct {
    const char *key, *settings;
} cases[] = {{"fx", "window=12"}, {"patch", ""}, {"wavepacket", "scales=2"}};

static void test_stays_zero(gconstpointer data)
{
    const guint k = GPOINTER_TO_UINT(data);
    const LithoOperator *op = litho_operator_find(cases[k].key);
    g_autoptr(LithoCube) in = make_cube();
    g_autoptr(LithoCube) out = run(op, cases[k].settings, in, NULL);
    gint64 zeros = 0, live = 0;
    for (gint64 trace = 0; trace < TRACES * TRACES; trace++)
        for (gint64 t = 0; t < SAMPLES && !is_missing(trace); t++) {
            const float x = out->samples[trace * SAMPLES + t];
            if (is_muted(trace, t))
                g_assert_cmpfloat(x, ==, 0);
            else {
                live++;
                zeros += x == 0;
            }
        }
    g_test_message("%s: %ld of %ld samples that are not muted are zero", op->key, (long)zeros,
                   (long)live);
    g_assert_cmpint(zeros, <, live / 1000); // the gap of trace 50 is too short for a mute
    g_assert_cmpfloat(out->samples[50 * SAMPLES + 57], !=, 0);
}

// A missing trace is no mute: fx writes it where it is asked to.
static void test_missing(void)
{
    g_autoptr(LithoCube) in = make_cube();
    const LithoOperator *fx = litho_operator_find("fx");
    g_autoptr(LithoCube) out = run(fx, "window=12 fill_dead=on", in, NULL);
    for (int k = 0; k < 2; k++) {
        const float *trace = litho_cube_trace(out, k ? DEAD : UNTOLD, DEAD);
        int zeros = 0;
        for (int t = 30; t < 80; t++)
            zeros += trace[t] == 0;
        g_assert_cmpint(zeros, <, 3);
    }
}

// Property: any box of the survey is muted as the whole survey is.
static void test_parts(void)
{
    g_autoptr(LithoCube) in = make_cube();
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    g_autoptr(LithoCube) whole = litho_cube_new(&in->grid, NULL);
    memset(whole->samples, 0x3f, litho_grid_samples(&in->grid) * sizeof(float));
    g_autoptr(LithoCube) blank = litho_cube_copy_box(whole, litho_box_full(&in->grid), NULL);
    litho_mute_keep(in, whole, litho_box_full(&in->grid), 2);
    for (int trial = 0; trial < 200; trial++) {
        LithoBox box;
        for (int a = 0; a < 3; a++) {
            const int n = (int)in->grid.axis[a].n;
            box.lo[a] = g_rand_int_range(random, 0, n);
            box.hi[a] = g_rand_int_range(random, (int)box.lo[a] + 1, n + 1);
        }
        if (box.lo[0] <= UNTOLD && UNTOLD < box.hi[0]) // told by the whole trace
            continue;
        g_autoptr(LithoCube) held = litho_cube_copy_box(in, litho_mute_box(&in->grid, box), NULL);
        g_autoptr(LithoCube) part = litho_cube_copy_box(blank, box, NULL);
        litho_mute_keep(held, part, box, 1);
        g_autoptr(LithoCube) expected = litho_cube_copy_box(whole, box, NULL);
        g_assert_cmpmem(part->samples, litho_box_count(box) * sizeof(float), expected->samples,
                        litho_box_count(box) * sizeof(float));
    }
}

// A time slice alone, computed from what it needs of the survey, is that of the whole result.
static void test_slice(gconstpointer data)
{
    const guint k = GPOINTER_TO_UINT(data);
    const LithoOperator *op = litho_operator_find(cases[k].key);
    g_autoptr(LithoCube) in = make_cube();
    g_autoptr(LithoCube) whole = run(op, cases[k].settings, in, NULL);
    LithoBox slice = litho_box_full(&in->grid);
    slice.lo[2] = 14;
    slice.hi[2] = 15;
    g_autoptr(LithoCube) part = run(op, cases[k].settings, in, &slice);
    for (gint64 i = 0; i < TRACES; i++)
        for (gint64 j = 0; j < TRACES; j++) {
            const float a = litho_cube_trace(whole, i, j)[14];
            const float b = litho_cube_trace(part, i, j)[14 - part->held.lo[2]];
            g_assert_cmpfloat(a, ==, b);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *zero = g_strdup_printf("/mute/stays-zero/%s", cases[k].key);
        g_autofree char *slice = g_strdup_printf("/mute/slice/%s", cases[k].key);
        g_test_add_data_func(zero, GUINT_TO_POINTER(k), test_stays_zero);
        g_test_add_data_func(slice, GUINT_TO_POINTER(k), test_slice);
    }
    g_test_add_func("/mute/missing", test_missing);
    g_test_add_func("/mute/parts", test_parts);
    return g_test_run();
}
