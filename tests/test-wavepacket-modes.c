// SPDX-License-Identifier: GPL-3.0-or-later
//
// The wave-packet operator as the engine drives it, on the CPU: denoise, compress, interpolate,
// reconstruct, segments, caches, cancel.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "core/error.h"
#include "core/synth/synth_parts.h"
#include "tests/wavepacket-bench.h"

// Property: at 0 dB a hard threshold reaches 17 dB and more, the noise level is found to 3 %, and
// moving the threshold runs neither plan nor forward transform again. A level that forgets sigma_b,
// takes the mean over all translations, or drops the residual's real coefficients no sooner than
// complex ones, loses 1 dB and more.
static void test_denoise(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) truth = events_cube(64, 64, 64);
    g_autoptr(LithoCube) noisy = events_cube(64, 64, 64);
    const gint64 n = litho_grid_samples(&truth->grid);
    double sigma = add_noise(noisy, 77);
    const double ks[] = {3.5, 2.75, 2.5}, limits[] = {16.5, 17, 16.5};
    for (int i = 0; i < 3; i++) {
        b.p->threshold = ks[i];
        g_autoptr(LithoCube) out = apply(&b, noisy);
        double snr = wp_test_snr(out->samples, truth->samples, n);
        g_test_message("hard %.2f sigma: %.2f dB, kept %.0f of %.0f, sigma %.4f (true %.4f)", ks[i],
                       snr, number(&b, "kept"), number(&b, "total"), number(&b, "sigma"), sigma);
        g_assert_cmpfloat(snr, >=, limits[i]);
        g_assert_cmpfloat(fabs(number(&b, "sigma_estimated") / sigma - 1), <, 0.03);
    }
    g_assert_cmpuint(count(&b, "plan"), ==, 1);
    g_assert_cmpuint(count(&b, "gather"), ==, 1);
    g_assert_cmpuint(count(&b, "spread"), ==, 3);
    b.p->rule = 1;
    b.p->threshold = 1.75;
    g_autoptr(LithoCube) soft = apply(&b, noisy);
    double snr = wp_test_snr(soft->samples, truth->samples, n);
    g_test_message("soft 1.75 sigma: %.2f dB", snr);
    g_assert_cmpfloat(snr, >=, 9);
    // A threshold of zero keeps everything.
    b.p->threshold = 0;
    g_autoptr(LithoCube) same = apply(&b, noisy);
    g_assert_cmpfloat(wp_test_error(same->samples, noisy->samples, n), <, 1.2e-3);
    clear(&b);
}

// Property: a slider that moves the directions finds the level of the noise measured, also where
// another cube was filtered meanwhile, as the expected SNR does beside a drag. With one level kept
// it was measured three times.
static void test_levels(void)
{
    Bench b = bench(), other = bench();
    g_autoptr(LithoCube) noisy = events_cube(32, 32, 64);
    g_autoptr(LithoCube) judged = events_cube(32, 32, 64);
    add_noise(noisy, 79);
    add_noise(judged, 80);
    for (int directions = 3; directions <= 5; directions++) {
        b.p->directions = directions;
        g_autoptr(LithoCube) out = apply(&b, noisy);
        g_autoptr(LithoCube) beside = apply(&other, judged);
        g_assert_cmpuint(count(&b, "noise level"), ==, 1);
    }
    clear(&other);
    clear(&b);
}

static double error_of_inlines(const LithoCube *a, const LithoCube *b, gint64 lo, gint64 hi)
{
    const gint64 plane = a->grid.axis[1].n * a->grid.axis[2].n;
    return wp_test_error(a->samples + lo * plane, b->samples + lo * plane, (hi - lo) * plane);
}

// Property: denoising is not much worse at the faces than in the middle: the outer two inlines err
// less than twice as much. Without mirrored samples it is 2.7 and 2.1 times.
static void test_faces(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) truth = events_cube(64, 64, 64);
    g_autoptr(LithoCube) noisy = events_cube(64, 64, 64);
    add_noise(noisy, 78);
    g_autoptr(LithoCube) out = apply(&b, noisy);
    const double middle = error_of_inlines(out, truth, 16, 48);
    const double low = error_of_inlines(out, truth, 0, 2);
    const double high = error_of_inlines(out, truth, 62, 64);
    g_test_message("error %.3f at the first inlines, %.3f in the middle, %.3f at the last ones",
                   low, middle, high);
    g_assert_cmpfloat(low, <=, 2 * middle);
    g_assert_cmpfloat(high, <=, 2 * middle);
    clear(&b);
}

// Property: noise of low frequency has a level of its own in every box: measured by frequency it
// leaves 3 dB and more over one level for all boxes, and 10 dB are gained. White noise loses
// nothing by it.
static void test_coloured(void)
{
    g_autoptr(LithoCube) truth = events_cube(64, 64, 64);
    const gint64 n = litho_grid_samples(&truth->grid);
    for (int colour = LITHO_NOISE_WHITE; colour <= LITHO_NOISE_LOW; colour++) {
        g_autoptr(LithoCube) noisy = litho_synth_spoil_with(truth, colour, 0, 0, 5, NULL, NULL);
        Bench b = bench();
        g_autoptr(LithoCube) measured = apply(&b, noisy);
        b.p->sigma = sqrt(wp_test_energy(truth->samples, n) / n);
        g_autoptr(LithoCube) stated = apply(&b, noisy);
        const double own = wp_test_snr(measured->samples, truth->samples, n);
        const double one = wp_test_snr(stated->samples, truth->samples, n);
        g_test_message("noise %d: level per box %.2f dB, one level %.2f dB", colour, own, one);
        g_assert_cmpfloat(own, >, 10);
        g_assert_cmpfloat(own, >, colour == LITHO_NOISE_LOW ? one + 3 : one - 0.2);
        clear(&b);
    }
}

static LithoCube *read_box(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    return litho_cube_copy_box(data, *box, error);
}

// White noise of `part` of the signal's amplitude on the second half of the inlines.
static void add_to_half(LithoCube *cube, double part)
{
    const gint64 half = litho_grid_samples(&cube->grid) / 2;
    g_autoptr(LithoCube) more = litho_cube_copy_box(cube, cube->held, NULL);
    add_some_noise(more, part, 9);
    memcpy(cube->samples + half, more->samples + half, half * sizeof(float));
}

// Noise that falls with frequency, added to half of the traces.
static void add_low_to_half(LithoCube *cube, double part)
{
    const gint64 n3 = cube->grid.axis[2].n, half = litho_grid_traces(&cube->grid) / 2;
    g_autoptr(LithoCube) more = litho_cube_copy_box(cube, cube->held, NULL);
    add_some_noise(more, part, 9);
    for (gint64 t = half; t < 2 * half; t++) {
        const float *from = more->samples + t * n3;
        float *to = cube->samples + t * n3, low = 0;
        for (gint64 i = 0; i < n3; i++) {
            low += 0.2f * (from[i] - to[i] - low);
            to[i] += 2 * low;
        }
    }
}

// Property: the noise measured part by part, whatever the parts, is that of the whole, and exec()
// gives the same samples with it, also where leak of events was taken off it and where the noise
// varies from place to place, also at some frequencies alone; numbers of another layout are
// refused.
static void test_measured_of(double part, double more, double low, int missing)
{
    g_autoptr(LithoCube) noisy = events_cube(90, 40, 70);
    add_some_noise(noisy, part, 3);
    if (more > 0)
        add_to_half(noisy, more);
    if (low > 0)
        add_low_to_half(noisy, low);
    kill_traces(noisy, missing, 6);
    Bench b = bench();
    g_autoptr(LithoCube) expected = apply(&b, noisy);
    const guint64 row = 4 * 40 * 70, parts[] = {0, 60 * 2 * row, 1};
    for (guint k = 0; k < G_N_ELEMENTS(parts); k++) {
        const LithoReader reader = {&noisy->grid, parts[k], read_box, noisy};
        g_autoptr(GError) error = NULL;
        LithoMeasured *measured =
            litho_operator_wavepacket.measure(b.p, &reader, NULL, &error);
        g_assert_no_error(error);
        litho_measured_unref(litho_flow_step(b.flow, 0)->measured);
        litho_flow_step(b.flow, 0)->measured = measured;
        g_autoptr(LithoCube) out = apply(&b, noisy);
        g_assert_cmpmem(out->samples, litho_grid_samples(&out->grid) * sizeof(float),
                        expected->samples, litho_grid_samples(&out->grid) * sizeof(float));
    }
    g_autofree char *key = litho_operator_wavepacket.measure_key(b.p);
    g_autoptr(GError) error = NULL;
    litho_measured_unref(litho_flow_step(b.flow, 0)->measured);
    litho_flow_step(b.flow, 0)->measured = litho_measured_new(key, "nonsense", "nonsense", 8);
    g_assert_null(litho_engine_run(b.engine, b.flow, noisy, NULL, &b.run, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    clear(&b);
}

static void test_measured(void)
{
    test_measured_of(1, 0, 0, 0);
    test_measured_of(0.01, 0, 0, 0);
    test_measured_of(0.01, 0, 0, 30);
    test_measured_of(0.3, 1.5, 0, 0);
    test_measured_of(0.3, 1.5, 0, 20);
    test_measured_of(0.3, 0, 1.5, 0);
    test_measured_of(0.3, 1.5, 1.5, 0);
}

// Property: one correction with a 7-tap kernel gives the input back to 2e-5 (single precision), and
// the operator reports that very error.
static void test_reconstruct(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = events_cube(33, 32, 40);
    add_noise(in, 3);
    const gint64 n = litho_grid_samples(&in->grid);
    b.p->mode = WP_RECONSTRUCT;
    const double limits[] = {1.2e-3, 2e-5};
    for (int corrections = 0; corrections < 2; corrections++) {
        b.p->kernel_width = corrections ? 7 : 5;
        b.p->corrections = corrections;
        g_autoptr(LithoCube) out = apply(&b, in);
        double error = wp_test_error(out->samples, in->samples, n);
        g_test_message("%d corrections: %.2e", corrections, error);
        g_assert_cmpfloat(error, <=, limits[corrections]);
        g_assert_cmpfloat(fabs(number(&b, "error") / error - 1), <, 1e-2);
    }
    clear(&b);
}

// Property: compression keeps as many coefficients as asked, the refit recovers what thresholding
// loses (10 dB and more), and a coefficient file reopens to the very same samples.
static void test_compress(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = events_cube(48, 48, 48);
    const gint64 n = litho_grid_samples(&in->grid);
    g_autofree char *folder = g_dir_make_tmp("litho-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "kept.lwp", NULL);
    b.p->mode = WP_COMPRESS;
    g_autoptr(LithoCube) plain = apply(&b, in);
    double snr_plain = wp_test_snr(plain->samples, in->samples, n);
    g_assert_cmpfloat(fabs(number(&b, "snr_plain") - snr_plain), <, 0.05);
    b.p->refit = 8;
    g_strlcpy(b.p->coefficients.text, path, sizeof b.p->coefficients.text);
    g_autoptr(LithoCube) refit = apply(&b, in);
    double snr = wp_test_snr(refit->samples, in->samples, n);
    g_test_message("CR %.6f: %.1f dB, refit %.1f dB, global FFT %.1f dB; file %.0f bytes, 1:%.1f",
                   number(&b, "cr"), snr_plain, snr, number(&b, "snr_fourier"),
                   number(&b, "file_bytes"), number(&b, "file_ratio"));
    g_assert_cmpfloat(fabs(number(&b, "cr") - 0.14), <, 1e-4);
    g_assert_cmpfloat(snr_plain, >, 14);
    g_assert_cmpfloat(snr, >, snr_plain + 10);
    g_assert_cmpfloat(number(&b, "snr_fourier"), >, 20);
    g_assert_cmpuint(count(&b, "plan"), ==, 1);

    const double bytes = number(&b, "file_bytes"), kept = number(&b, "kept");
    b.p->mode = WP_RECONSTRUCT;
    const guint forward = count(&b, "gather");
    g_autoptr(LithoCube) reopened = apply(&b, in);
    g_assert_cmpuint(count(&b, "gather"), ==, forward);  // the input is not transformed
    g_assert_cmpfloat(number(&b, "boxes"), >, 0);        // and what the file holds is shown
    g_assert_cmpmem(reopened->samples, n * sizeof(float), refit->samples, n * sizeof(float));
    g_assert_cmpfloat(number(&b, "file_bytes"), ==, bytes);
    g_assert_cmpfloat(number(&b, "kept"), ==, kept);
    g_assert_cmpfloat(fabs(number(&b, "snr") - snr), <, 0.05);
    // A file of another geometry is refused by name.
    g_autoptr(LithoCube) other = events_cube(32, 48, 48);
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_engine_run(b.engine, b.flow, other, NULL, &b.run, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    g_clear_error(&error);
    g_remove(path);
    g_rmdir(folder);
    clear(&b);
}

static void refuse_file(Bench *b, const LithoCube *in, const char *path, const char *data,
                        gsize size)
{
    g_autoptr(GError) error = NULL;
    g_remove(path); // GLib writes over a file's beginning: the end of a longer one would stay
    g_assert_true(
        g_file_set_contents_full(path, data, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    g_assert_null(litho_engine_run(b->engine, b->flow, (LithoCube *)in, NULL, &b->run, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
}

// Requirement: a file with any one byte changed, a shorter one and a longer one are refused. A file
// of the first version, which had no checksum, still gives its samples. Every seventh byte
// behind the head: the checksum is over all of them.
static void test_damage(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = events_cube(32, 32, 32);
    const gint64 n = litho_grid_samples(&in->grid);
    g_autofree char *folder = g_dir_make_tmp("litho-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "small.lwp", NULL), *data = NULL;
    gsize size;
    b.p->mode = WP_COMPRESS;
    b.p->keep = 0.002;
    g_strlcpy(b.p->coefficients.text, path, sizeof b.p->coefficients.text);
    g_autoptr(LithoCube) made = apply(&b, in);
    g_assert_true(g_file_get_contents(path, &data, &size, NULL));
    g_test_message("%" G_GSIZE_FORMAT " bytes", size);
    b.p->mode = WP_RECONSTRUCT;
    for (gsize at = 0; at < size; at += at > 64 ? 7 : 1)
        for (int k = 0; k < 2; k++) {
            const char change = (char)(k ? 0xff : 1 << at % 8);
            data[at] ^= change;
            refuse_file(&b, in, path, data, size);
            data[at] ^= change;
        }
    refuse_file(&b, in, path, data, size - 1);
    g_autofree char *longer = g_malloc0(size + 1);
    memcpy(longer, data, size);
    refuse_file(&b, in, path, longer, size + 1);

    memcpy(data, "LITHOWP1", 8);
    g_assert_true(g_file_set_contents(path, data, (gssize)size - 32, NULL));
    g_autoptr(LithoCube) old = apply(&b, in);
    g_assert_cmpmem(old->samples, n * sizeof(float), made->samples, n * sizeof(float));
    g_remove(path);
    g_rmdir(folder);
    clear(&b);
}

static void count_partial(LithoCube *part, gpointer data)
{
    g_assert_nonnull(part);
    ++*(int *)data;
}

// Property: 30 POCS steps fill half of the traces, missing at random, to 22 dB or more; recorded
// traces stay bit for bit; every step is published. Thresholds not in units of sigma_b lose 3 dB.
static void test_interpolate(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) truth = events_cube(64, 64, 64);
    g_autoptr(LithoCube) in = events_cube(64, 64, 64);
    const gint64 n = litho_grid_samples(&truth->grid);
    kill_traces(in, 50, 12);
    int published = 0;
    b.run.on_partial = count_partial;
    b.run.partial_data = &published;
    b.p->mode = WP_INTERPOLATE;
    g_autoptr(LithoCube) out = apply(&b, in);
    double snr = wp_test_snr(out->samples, truth->samples, n);
    g_test_message("50 %% missing, 30 iterations: %.2f dB", snr);
    g_assert_cmpfloat(snr, >=, 22);
    g_assert_cmpint(published, ==, 30);
    g_assert_cmpint(litho_cube_count_live(out), ==, 64 * 64);
    for (gint64 t = 0; t < 64 * 64; t++)
        if (in->live[t])
            g_assert_cmpmem(out->samples + t * 64, 256, in->samples + t * 64, 256);
    clear(&b);
}

// Relative error of one plane i of the cube.
static double plane_error(const LithoCube *a, const LithoCube *b, gint64 i)
{
    const gint64 plane = a->grid.axis[1].n * a->grid.axis[2].n;
    return wp_test_error(a->samples + i * plane, b->samples + i * plane, plane);
}

// Property: a volume cut into segments comes back as well as a whole one (1.2e-3), and no plane of
// an overlap is worse than twice the mean plane: no seam. Tapers whose squares do not sum to one
// show at 1e-1. The last segment is shifted back here (100 is not 64 + 48).
static void test_segments(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = events_cube(100, 64, 40);
    GRand *rand = g_rand_new_with_seed(4);
    for (gint64 i = 0; i < litho_grid_samples(&in->grid); i++)
        in->samples[i] += (float)wp_test_gauss(rand); // planes of equal energy
    g_rand_free(rand);
    b.p->mode = WP_RECONSTRUCT;
    b.p->block = 64;
    b.p->overlap = 16;
    g_autoptr(LithoCube) out = apply(&b, in);
    double mean = 0, worst = 0;
    for (gint64 i = 0; i < 100; i++)
        mean += plane_error(out, in, i) / 100;
    for (gint64 i = 30; i < 70; i++)
        worst = MAX(worst, plane_error(out, in, i));
    g_test_message("%g segments: error %.2e, mean plane %.2e, worst inside %.2e",
                   number(&b, "blocks"), number(&b, "error"), mean, worst);
    g_assert_cmpfloat(number(&b, "blocks"), ==, 2);
    g_assert_cmpfloat(number(&b, "error"), <=, 1.2e-3);
    g_assert_cmpfloat(worst, <=, 2 * mean);
    // Small segments along every axis, denoising: the segments share one noise level.
    b.p->mode = WP_DENOISE;
    b.p->block = 32;
    b.p->threshold = 0;
    g_autoptr(LithoCube) many = apply(&b, in);
    g_test_message("%g segments: error %.2e", number(&b, "blocks"), number(&b, "error"));
    g_assert_cmpfloat(number(&b, "blocks"), ==, 48); // of 104 x 68 x 44 with the mirrored samples
    g_assert_cmpfloat(number(&b, "error"), <=, 1.5e-3);
    clear(&b);
}

// Property: a part of a volume in segments has the bits of the whole, whether the noise level is
// given (then its segments alone are computed), measured before, or estimated; also behind other
// parts. The noise varies from place to place, in the end at low frequencies alone.
static void test_regions(void)
{
    enum { ESTIMATED, GIVEN, MEASURED, MEASURED_LOW };
    g_autoptr(LithoCube) wide = events_cube(72, 32, 64);
    add_some_noise(wide, 0.3, 5);
    g_autoptr(LithoCube) low = litho_cube_copy_box(wide, wide->held, NULL);
    add_to_half(wide, 1.5);
    add_low_to_half(low, 1.5);
    kill_traces(wide, 15, 8);
    for (int how = ESTIMATED; how <= MEASURED_LOW; how++) {
        LithoCube *in = how == MEASURED_LOW ? low : wide;
        Bench b = bench();
        b.p->block = 32;
        b.p->overlap = 12;
        b.p->sigma = how == GIVEN ? 0.3 : 0;
        g_autoptr(LithoCube) whole = apply(&b, in);
        g_autoptr(GPtrArray) remarks = litho_report_remarks(b.run.report);
        g_assert_cmpuint(remarks->len, ==, how != GIVEN); // the noise varies
        if (how >= MEASURED) {
            const LithoReader reader = {&in->grid, 0, read_box, in};
            litho_flow_step(b.flow, 0)->measured =
                litho_operator_wavepacket.measure(b.p, &reader, NULL, NULL);
        }
        const LithoBox parts[] = {
            {{37, 0, 0}, {38, 32, 64}}, {{66, 28, 31}, {72, 32, 32}}, {{5, 5, 5}, {60, 6, 9}}};
        for (guint k = 0; k < G_N_ELEMENTS(parts); k++) {
            g_autoptr(GError) error = NULL;
            g_autoptr(LithoCube) part =
                litho_engine_run(b.engine, b.flow, in, &parts[k], &b.run, &error);
            g_assert_no_error(error);
            g_autoptr(LithoCube) mine = litho_cube_copy_box(part, parts[k], NULL);
            g_autoptr(LithoCube) theirs = litho_cube_copy_box(whole, parts[k], NULL);
            g_assert_cmpmem(mine->samples, sizeof(float) * litho_box_count(parts[k]),
                            theirs->samples, sizeof(float) * litho_box_count(parts[k]));
            litho_engine_free(b.engine); // or the next part comes from what is kept
            b.engine = litho_engine_new(litho_device_cpu());
            if (k == 0) { // the second part comes behind another one
                g_autoptr(LithoCube) before =
                    litho_engine_run(b.engine, b.flow, in, &parts[0], &b.run, &error);
                g_assert_no_error(error);
            }
        }
        clear(&b);
    }
}

// Property: a steep event beyond the directional scales (0.3 cycles a sample, 0.34 a trace) comes out
// of noise of its own energy at 14 dB and more: local windows see the residual box's directions. A
// threshold on its samples gives 3 dB.
static void test_steep(void)
{
    Bench b = bench();
    LithoGrid grid = litho_grid_new(48, 48, 64);
    const gint64 n = litho_grid_samples(&grid);
    g_autoptr(LithoCube) truth = litho_cube_new(&grid, NULL);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < n; k++) {
        const double x = (double)(k / (48 * 64)), t = (double)(k % 64);
        truth->samples[k] = (float)cos(2 * G_PI * (0.34 * x + 0.3 * t));
        in->samples[k] = truth->samples[k];
    }
    add_noise(in, 4);
    g_autoptr(LithoCube) out = apply(&b, in);
    const double snr = wp_test_snr(out->samples, truth->samples, n);
    g_test_message("steep event: %.2f dB", snr);
    g_assert_cmpfloat(snr, >, 14);
    clear(&b);
}

// Property: a line along either axis, two lines, and a line in segments come out of noise as strong
// as they are at 12.5 dB and more (in short segments at 9), and half of a line's traces are filled.
// Limits of windows that are those of a cube cost 0.2 dB, in segments 1.4.
static void test_lines(void)
{
    const gint64 sizes[][3] = {{1, 160, 160}, {160, 1, 160}, {2, 160, 160}, {1, 160, 160}};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        Bench b = bench();
        g_autoptr(LithoCube) truth = events_cube(sizes[k][0], sizes[k][1], sizes[k][2]);
        g_autoptr(LithoCube) in = events_cube(sizes[k][0], sizes[k][1], sizes[k][2]);
        const gint64 n = litho_grid_samples(&truth->grid);
        const double sigma = add_noise(in, 9);
        b.p->block = k == 3 ? 64 : 0;
        g_autoptr(LithoCube) out = apply(&b, in);
        const double snr = wp_test_snr(out->samples, truth->samples, n);
        g_test_message("%d x %d, block %d: %.2f dB, sigma %.3f of %.3f", (int)sizes[k][0],
                       (int)sizes[k][1], b.p->block, snr, number(&b, "sigma"), sigma);
        g_assert_cmpfloat(snr, >, b.p->block ? 9 : 12.5);
        g_assert_cmpfloat(fabs(number(&b, "sigma") / sigma - 1), <, 0.05);
        clear(&b);
    }
    Bench b = bench();
    g_autoptr(LithoCube) truth = events_cube(1, 128, 128);
    g_autoptr(LithoCube) in = events_cube(1, 128, 128);
    GRand *rand = g_rand_new_with_seed(8);
    for (gint64 t = 0; t < 128; t++)
        in->live[t] = g_rand_double(rand) >= 0.5;
    g_rand_free(rand);
    b.p->mode = WP_INTERPOLATE;
    g_autoptr(LithoCube) out = apply(&b, in);
    const double snr = wp_test_snr(out->samples, truth->samples, 128 * 128);
    g_test_message("a line filled: %.2f dB", snr);
    g_assert_cmpfloat(snr, >, 12);
    clear(&b);
}

// Adds noise of low frequency, white from trace to trace, of `part` of the signal's amplitude.
static void add_low_noise(LithoCube *cube, double part, guint32 seed)
{
    const gint64 n = litho_grid_samples(&cube->grid), nt = cube->grid.axis[2].n;
    g_autofree float *noise = g_new(float, n);
    wp_test_noise(noise, n, seed);
    for (gint64 i = 0; i < n; i++)
        noise[i] += i % nt > 0 ? 0.97f * noise[i - 1] : 0;
    const double scale =
        part * sqrt(wp_test_energy(cube->samples, n) / wp_test_energy(noise, n));
    for (gint64 i = 0; i < n; i++)
        cube->samples[i] += (float)scale * noise[i];
}

// Property: an event that the coarse box holds (0.02 cycles a trace, 0.03 a sample) comes out of
// noise of low frequency and twice its amplitude at 13.4 dB and more. With all of the box's
// coefficients it is 12.3.
static void test_low(void)
{
    Bench b = bench();
    LithoGrid grid = litho_grid_new(48, 48, 96);
    const gint64 n = litho_grid_samples(&grid);
    g_autoptr(LithoCube) truth = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < n; k++)
        truth->samples[k] =
            (float)cos(2 * G_PI * (0.02 * (double)(k / (48 * 96)) + 0.03 * (double)(k % 96)));
    g_autoptr(LithoCube) in = litho_cube_copy_box(truth, truth->held, NULL);
    add_low_noise(in, 2, 6);
    g_autoptr(LithoCube) out = apply(&b, in);
    const double snr = wp_test_snr(out->samples, truth->samples, n);
    g_test_message("event of low frequency: %.2f dB", snr);
    g_assert_cmpfloat(snr, >, 13.4);
    b.p->threshold = 0;
    g_autoptr(LithoCube) all = apply(&b, in);
    g_assert_cmpfloat(wp_test_error(all->samples, in->samples, n), <, 3e-3);
    clear(&b);
}

// SNR on the traces that are live in `in`, in dB.
static double live_snr(const LithoCube *in, const LithoCube *out, const LithoCube *truth)
{
    const gint64 nt = in->grid.axis[2].n;
    double energy = 0, off = 0;
    for (gint64 t = 0; t < litho_grid_traces(&in->grid); t++)
        if (in->live[t]) {
            const double e = wp_test_error(out->samples + t * nt, truth->samples + t * nt, nt);
            const double s = wp_test_energy(truth->samples + t * nt, nt);
            off += e * e * s;
            energy += s;
        }
    return 10 * log10(energy / off);
}

// Property: at little noise a fifth of the traces missing costs the others less than 1 dB, and half
// of them less than 4; dead traces come back dead, as zeros. With zeros in their place both cost
// 10 dB and more. Compressing, the other traces keep their SNR to 1 dB and 2 dB. A cube
// without holes is left as it is.
static void test_holes(void)
{
    g_autoptr(LithoCube) truth = events_cube(64, 64, 64);
    const int missing[] = {0, 20, 50}, modes[] = {WP_DENOISE, WP_COMPRESS};
    for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
        double snr[3];
        for (guint i = 0; i < G_N_ELEMENTS(missing); i++) {
            Bench b = bench();
            g_autoptr(LithoCube) in = events_cube(64, 64, 64);
            add_some_noise(in, 0.1, 3);
            kill_traces(in, missing[i], 9);
            b.p->mode = modes[m];
            g_autoptr(LithoCube) out = apply(&b, in);
            snr[i] = live_snr(in, out, truth);
            g_test_message("mode %d, %d %% missing: %.2f dB", modes[m], missing[i], snr[i]);
            g_assert_cmpmem(in->live, 64 * 64, out->live, 64 * 64);
            for (gint64 t = 0; t < 64 * 64; t++)
                g_assert_true(in->live[t] || wp_test_energy(out->samples + t * 64, 64) == 0);
            g_assert_cmpuint(count(&b, "missing traces"), ==, missing[i] ? 1 : 0);
            clear(&b);
        }
        g_assert_cmpfloat(snr[1], >, snr[0] - 1);
        g_assert_cmpfloat(snr[2], >, snr[0] - (modes[m] == WP_DENOISE ? 4 : 2));
    }
}

// Property: dead traces come back dead and do not disturb; a NaN in a live trace is refused; zeros
// give zeros in every mode.
static void test_edges(void)
{
    Bench b = bench();
    LithoGrid grid = litho_grid_new(20, 24, 33);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    const gint64 n = litho_grid_samples(&grid);
    for (int mode = 0; mode < 4; mode++) {
        b.p->mode = mode;
        b.p->iterations = 3;
        g_autoptr(LithoCube) out = apply(&b, in);
        g_assert_true(wp_test_energy(out->samples, n) == 0);
    }
    g_autoptr(LithoCube) dead = litho_cube_new(&grid, NULL);
    for (gint64 i = 0; i < n; i++)
        dead->samples[i] = 2;
    dead->live[7] = 0;
    for (int k = 0; k < 33; k++)
        dead->samples[7 * 33 + k] = NAN;
    b.p->mode = WP_RECONSTRUCT;
    g_autoptr(LithoCube) out = apply(&b, dead);
    g_assert_false(out->live[7]);
    g_assert_true(wp_test_energy(out->samples + 7 * 33, 33) == 0);
    g_assert_cmpfloat(number(&b, "error"), <, 2e-3);

    g_autoptr(LithoCube) bad = litho_cube_new(&grid, NULL);
    bad->samples[100] = NAN;
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_engine_run(b.engine, b.flow, bad, NULL, &b.run, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_NUMERICS);
    clear(&b);
}

static gpointer cancel_later(gpointer data)
{
    g_usleep(150000);
    g_cancellable_cancel(data);
    return GINT_TO_POINTER((int)(clock() / (CLOCKS_PER_SEC / 1000)));
}

// Property: cancel is obeyed within 100 ms in the middle of a long job, it is no failure, and the
// next run is right. The bound is on the processor time of all threads, which other programs on a
// loaded machine do not lengthen: five times 100 ms of each processor, for the sanitizers' sake.
static void test_cancel(void)
{
    Bench b = bench();
    g_autoptr(LithoCube) in = events_cube(64, 64, 64);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    b.p->mode = WP_INTERPOLATE;
    b.p->iterations = 1000;
    b.run.cancel = cancel;
    GThread *thread = g_thread_new("cancel", cancel_later, cancel);
    g_assert_null(litho_engine_run(b.engine, b.flow, in, NULL, &b.run, &error));
    int cancelled_at = GPOINTER_TO_INT(g_thread_join(thread));
    int late = (int)(clock() / (CLOCKS_PER_SEC / 1000)) - cancelled_at;
    g_test_message("stopped after %d ms of processor time since the cancel", late);
    g_assert_true(litho_error_is_cancelled(error));
    g_assert_cmpint(late, <, 500 * (int)g_get_num_processors());
    b.run.cancel = NULL;
    b.p->mode = WP_RECONSTRUCT;
    g_autoptr(LithoCube) out = apply(&b, in);
    g_assert_cmpfloat(number(&b, "error"), <, 1.2e-3);
    clear(&b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wavepacket-modes/denoise", test_denoise);
    g_test_add_func("/wavepacket-modes/levels", test_levels);
    g_test_add_func("/wavepacket-modes/coloured", test_coloured);
    g_test_add_func("/wavepacket-modes/faces", test_faces);
    g_test_add_func("/wavepacket-modes/steep", test_steep);
    g_test_add_func("/wavepacket-modes/lines", test_lines);
    g_test_add_func("/wavepacket-modes/low", test_low);
    g_test_add_func("/wavepacket-modes/measured", test_measured);
    g_test_add_func("/wavepacket-modes/reconstruct", test_reconstruct);
    g_test_add_func("/wavepacket-modes/compress", test_compress);
    g_test_add_func("/wavepacket-modes/damage", test_damage);
    g_test_add_func("/wavepacket-modes/interpolate", test_interpolate);
    g_test_add_func("/wavepacket-modes/segments", test_segments);
    g_test_add_func("/wavepacket-modes/regions", test_regions);
    g_test_add_func("/wavepacket-modes/holes", test_holes);
    g_test_add_func("/wavepacket-modes/edges", test_edges);
    g_test_add_func("/wavepacket-modes/cancel", test_cancel);
    return g_test_run();
}
