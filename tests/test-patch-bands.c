// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter in noise that is louder in places: for a short time, or at some
// frequencies alone.
#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "core/measured.h"
#include "kernels/kernels.h"
#include "tests/common.h"
#include "tests/patch_common.h"
#include "tests/quality_cubes.h"

enum { N_IL = 64, N_XL = 64, N_T = 192 };

typedef enum { CORNER, BURST } Where;

// White noise, and louder noise of a colour in a corner or around one time: the energy of the
// events in all.
static LithoCube *local_noise(PatchColour colour, Where where, double louder)
{
    g_autoptr(LithoCube) white = patch_noise(PATCH_WHITE, N_IL, N_XL, N_T, 0.3, 3);
    g_autoptr(LithoCube) loud = patch_noise(colour, N_IL, N_XL, N_T, 1, 4);
    double energy = 0;
    const gint64 n = litho_cube_held_samples(loud);
    for (gint64 k = 0; k < n; k++) {
        const gint64 il = k / N_T / N_XL, xl = k / N_T % N_XL, t = k % N_T;
        const double off = (t - 0.55 * N_T) / 12;
        const double part = where == BURST ? exp(-0.5 * off * off) : il < 24 && xl < 24;
        loud->samples[k] *= (float)(1 + (louder - 1) * part);
    }
    LithoCube *noise = patch_sum(white, loud);
    for (gint64 k = 0; k < n; k++)
        energy += noise->samples[k] * noise->samples[k];
    for (gint64 k = 0; k < n; k++)
        noise->samples[k] *= (float)sqrt((double)n / energy);
    return noise;
}

static LithoCube *run(LithoFlow *flow, const LithoCube *in, LithoReport *report, GError **error)
{
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoRun how = {.report = report};
    LithoCube *out = litho_engine_run(engine, flow, in, NULL, &how, error);
    litho_engine_free(engine);
    return out;
}

static gboolean tells_places(LithoReport *report)
{
    g_autoptr(GPtrArray) remarks = litho_report_remarks(report);
    for (guint k = 0; k < remarks->len; k++)
        if (strstr(remarks->pdata[k], "varies from place to place"))
            return TRUE;
    return FALSE;
}

// Property: noise of the energy of crossing events that is loud in a corner at low frequencies, or
// at all of them around one time, leaves the events with 14 dB and more; one level for all places
// leaves them with 0.7 and 1.2.
static void test_follows(void)
{
    const PatchColour colours[] = {PATCH_LOW, PATCH_WHITE};
    g_autoptr(LithoCube) clean = patch_cube(PATCH_CONFLICT, N_IL, N_XL, N_T);
    for (int c = 0; c < 2; c++) {
        g_autoptr(LithoCube) noise = local_noise(colours[c], c == 0 ? CORNER : BURST, 8);
        g_autoptr(LithoCube) in = patch_sum(clean, noise);
        g_autoptr(LithoFlow) flow = patch_flow("faults=off");
        g_autoptr(GError) error = NULL;
        LithoReport *report = litho_report_new();
        g_autoptr(LithoCube) out = run(flow, in, report, &error);
        g_assert_no_error(error);
        const double own = patch_snr(out, clean, NULL);
        g_test_message("case %d: %.2f dB", c, own);
        g_assert_cmpfloat(own, >, 14);
        g_assert_true(tells_places(report));
        litho_report_unref(report);
    }
}

static LithoCube *read_part(const LithoBox *box, LithoRun *how, gpointer data, GError **error)
{
    return litho_run_step(how, 0, 1, error) ? litho_cube_copy_box(data, *box, error) : NULL;
}

static LithoMeasured *measure(const LithoCube *in)
{
    const LithoPatchParams p = patch_settings("faults=off window=16");
    const LithoReader reader = {.grid = &in->grid, .read = read_part, .data = (gpointer)in};
    g_autoptr(GError) error = NULL;
    LithoMeasured *measured = litho_patch_measure(&p, &reader, NULL, &error);
    g_assert_no_error(error);
    return measured;
}

// Numbers of cells, which stand behind the version and the frequencies in what was measured.
enum { CELLS = 2 * sizeof(guint32) };

// Property: cells are the survey's own, a quarter of a second long, where the noise is alike
// everywhere: white, of a colour, and below events of 30 dB that stand in one corner.
static void test_alike(void)
{
    for (int c = 0; c < 3; c++) {
        g_autoptr(LithoCube) clean =
            patch_cube(c == 2 ? PATCH_CURVED : PATCH_FAULT, N_IL, N_XL, N_T);
        g_autoptr(LithoCube) noise =
            patch_noise(c == 1 ? PATCH_BAND : PATCH_WHITE, N_IL, N_XL, N_T, c == 2 ? 0.03 : 0.5, 7);
        for (gint64 k = 0; c == 2 && k < litho_cube_held_samples(clean); k++)
            clean->samples[k] *= k / N_T / N_XL < 30 && k / N_T % N_XL < 30 ? 1 : 0.1f;
        g_autoptr(LithoCube) in = patch_sum(clean, noise);
        g_autoptr(LithoMeasured) measured = measure(in);
        gsize n;
        gint32 cells[3];
        memcpy(cells, (const char *)litho_measured_bytes(measured, &n) + CELLS, sizeof cells);
        g_assert_cmpint(cells[0], ==, 4);
        g_assert_cmpint(cells[1], ==, 4);
        g_assert_cmpint(cells[2], ==, 3);
    }
}

// Property: events that missing traces spread over all wavenumbers are no louder noise: cells stay
// the survey's own.
static void test_missing(void)
{
    enum { FINE = 16 }; // of the version
    g_auto(Cubes) c = quality_make("survey", "inlines=64 xlines=64 samples=256 seed=1 snr=20");
    g_autoptr(LithoMeasured) measured = measure(c.noisy);
    gsize n;
    guint32 version;
    memcpy(&version, litho_measured_bytes(measured, &n), sizeof version);
    g_assert_cmpuint(version & FINE, ==, 0);
}

// Samples of a run with these bytes in the recipe; NULL: refused.
static LithoCube *run_with(const LithoMeasured *measured, gconstpointer bytes, gsize n,
                           const LithoCube *in)
{
    g_autoptr(LithoFlow) flow = patch_flow("faults=off window=16");
    g_autoptr(GError) error = NULL;
    litho_flow_step(flow, 0)->measured =
        litho_measured_new(litho_measured_key(measured), litho_measured_text(measured), bytes, n);
    LithoCube *out = run(flow, in, NULL, &error);
    if (!out) {
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
        g_assert_nonnull(strstr(error->message, "another survey"));
    }
    return out;
}

// Property: levels in finer cells are measured part by part to the bits of the whole, stand in the
// recipe and give the samples of a run that measures them; a recipe whose cells are none, or more
// than it has levels of, is refused.
static void test_recipe(void)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, N_IL, N_XL, N_T);
    g_autoptr(LithoCube) noise = local_noise(PATCH_LOW, CORNER, 8);
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    g_autoptr(LithoFlow) flow = patch_flow("faults=off window=16");
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoMeasured) measured = measure(in);
    gsize n;
    gconstpointer bytes = litho_measured_bytes(measured, &n);
    g_autoptr(LithoCube) out = run(flow, in, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) again = run_with(measured, bytes, n, in);
    patch_assert_part(out, again);
    const gint32 wrong[] = {0, -1, 1, 3, N_IL + 1, G_MAXINT32};
    for (guint k = 0; k < G_N_ELEMENTS(wrong); k++) {
        g_autofree guint8 *other = g_memdup2(bytes, n);
        memcpy(other + CELLS, &wrong[k], sizeof wrong[k]);
        g_assert_null(run_with(measured, other, n, in));
    }
    g_assert_null(run_with(measured, bytes, n - sizeof(float), in));
    g_assert_null(run_with(measured, bytes, CELLS, in));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    test_add_answers("/patch-bands/follows", test_follows);
    test_add_answers("/patch-bands/alike", test_alike);
    g_test_add_func("/patch-bands/missing", test_missing);
    g_test_add_func("/patch-bands/recipe", test_recipe);
    return g_test_run();
}
