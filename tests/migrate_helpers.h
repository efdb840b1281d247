// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Helpers that the tests of migration share: grids, settings, one run on the CPU, events, measures.
// Each test uses some of them.
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "core/peers.h"
#include "core/io/survey.h"
#include "kernels/migrate/migrate.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static LithoGrid time_grid(int ni, int nj, int nt, double cell, double dt)
{
    LithoGrid g = litho_grid_new(ni, nj, nt);
    g.inline_step[1] = g.xline_step[0] = cell;
    g.axis[2].step = dt;
    g.axis[2].source = LITHO_FROM_USER;
    return g;
}

static void set(LithoFlow *flow, const char *settings)
{
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    for (int k = 0; words[k]; k++) {
        char *eq = strchr(words[k], '=');
        if (!eq)
            continue;
        *eq = 0;
        g_autoptr(GError) error = NULL;
        litho_param_parse(&litho_operator_migrate.params, litho_flow_step(flow, 0)->params,
                          words[k], eq + 1, &error);
        g_assert_no_error(error);
    }
}

static LithoFlow *flow_of(const char *settings)
{
    LithoFlow *flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_migrate);
    set(flow, settings);
    return flow;
}

static LithoCube *try_migrate(const LithoCube *in, LithoRun *run, GError **error,
                              const char *settings)
{
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, run, error);
    litho_engine_free(engine);
    return out;
}

static LithoCube *migrate(const LithoCube *in, const char *format, ...) G_GNUC_PRINTF(2, 3);
static LithoCube *migrate(const LithoCube *in, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *settings = g_strdup_vprintf(format, args);
    va_end(args);
    g_autoptr(GError) error = NULL;
    LithoCube *out = try_migrate(in, NULL, &error, settings);
    g_assert_no_error(error);
    return out;
}

// Messages of a process that hears from the others what it said itself.
static gboolean echo_send(const void *bytes, gsize count, int to, LithoRun *run, gpointer data)
{
    (void)to, (void)run;
    g_byte_array_append(data, bytes, (guint)count);
    return TRUE;
}

static gboolean echo_receive(void *bytes, gsize count, int from, LithoRun *run, gpointer data)
{
    GByteArray *said = data;
    (void)from, (void)run;
    g_assert_cmpuint(count, <=, said->len);
    memcpy(bytes, said->data, count);
    g_byte_array_remove_range(said, 0, (guint)count);
    return TRUE;
}

// Runs as the last of more processes than there are frequencies: a share without any.
static LithoCube *migrate_as_surplus(LithoDevice device, const LithoCube *in, const char *settings,
                                     GError **error)
{
    g_autoptr(GByteArray) said = g_byte_array_new();
    LithoPeers peers = {
        .rank = 2001, .n = 2002, .data = said, .send = echo_send, .receive = echo_receive};
    LithoRun run = {.peers = &peers};
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoEngine *engine = litho_engine_new(device);
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, &run, error);
    if (out && !litho_cube_host(out, error))
        g_clear_pointer(&out, litho_cube_unref);
    litho_engine_free(engine);
    return out;
}

static double ricker(double t, double f)
{
    double a = G_PI * f * t;
    return (1 - 2 * a * a) * exp(-a * a);
}

static void add_event(LithoCube *cube, int i, int j, double time, double f, double amplitude)
{
    const LithoAxis *t = &cube->grid.axis[2];
    float *trace = litho_cube_trace(cube, i, j);
    for (gint64 k = 0; k < t->n; k++)
        trace[k] += (float)(amplitude * ricker(t->first + k * t->step - time, f));
}

static LithoCube *random_cube(const LithoGrid *grid, guint32 seed)
{
    LithoCube *cube = litho_cube_new(grid, NULL);
    GRand *rand = g_rand_new_with_seed(seed);
    for (gint64 k = 0; k < litho_grid_samples(grid); k++)
        cube->samples[k] = (float)g_rand_double_range(rand, -1, 1);
    g_rand_free(rand);
    return cube;
}

// A process beyond the band's frequencies takes part in every mode, and adds nothing.
static void check_surplus(LithoDevice device)
{
    static const char *const cases[] = {
        "",
        "coarse=on",
        "engine=splitstep",
        "form=pointwise growth=100",
        "gpu_kernel=per-degree",
        "mode=shot source_x=100 source_y=100",
        "mode=demigrate nt=80",
        "mode=demigrate nt=80 engine=splitstep",
    };
    LithoGrid grid = time_grid(20, 24, 80, 12, 0.004), depth = time_grid(20, 24, 20, 12, 10);
    depth.is_depth = TRUE;
    g_autoptr(LithoCube) in = random_cube(&grid, 6);
    g_autoptr(LithoCube) image = random_cube(&depth, 7);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const gboolean back = strstr(cases[k], "demigrate") != NULL;
        g_autoptr(GError) error = NULL;
        g_autofree char *settings = g_strdup_printf("velocity=2000 nz=20 degree=9 %s", cases[k]);
        g_test_message("%s", cases[k]);
        g_autoptr(LithoCube) out = migrate_as_surplus(device, back ? image : in, settings, &error);
        g_assert_no_error(error);
        for (gint64 s = 0; s < litho_grid_samples(&out->grid); s++)
            g_assert_cmpfloat(out->samples[s], ==, 0);
    }
}

static double dot(const LithoCube *a, const LithoCube *b)
{
    double sum = 0;
    for (gint64 k = 0; k < litho_grid_samples(&a->grid); k++)
        sum += (double)a->samples[k] * b->samples[k];
    return sum;
}

static double relative_difference(const LithoCube *a, const LithoCube *b)
{
    double d = 0, n = 0;
    for (gint64 k = 0; k < litho_grid_samples(&b->grid); k++) {
        d += pow((double)a->samples[k] - b->samples[k], 2);
        n += pow(b->samples[k], 2);
    }
    return sqrt(d / n);
}

// Depth (m) and value of the trace's largest sample between two depths, by a parabola.
static double peak_depth(const LithoCube *image, int i, int j, double from, double to,
                         double *value)
{
    const double dz = image->grid.axis[2].step;
    const float *t = litho_cube_trace(image, i, j);
    gint64 k = (gint64)ceil(from / dz), hi = MIN((gint64)(to / dz), image->grid.axis[2].n - 2);
    for (gint64 z = k; z <= hi; z++)
        k = t[z] > t[k] ? z : k;
    double l = t[k - 1], m = t[k], r = t[k + 1], shift = 0.5 * (l - r) / (l - 2 * m + r);
    if (value)
        *value = m - 0.25 * (l - r) * shift;
    return (k + shift) * dz;
}

#define assert_below(x, limit)                                                                     \
    do {                                                                                           \
        double x_ = (x), limit_ = (limit);                                                         \
        g_test_message(#x " = %.4g (limit %.4g)", x_, limit_);                                     \
        g_assert_cmpfloat(x_, <=, limit_);                                                         \
    } while (0)

static char *scratch_path(const char *name)
{
    return g_build_filename(g_get_tmp_dir(), name, NULL);
}

#pragma GCC diagnostic pop
