// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration: positions and amplitudes against the exact phase shift. Exact = engine
// splitstep, which is the phase-shift method where velocity does not vary laterally.
#include "kernels/migrate/taps.h"
#include "tests/migrate_helpers.h"

// --- positions and amplitudes -----------------------------------------------------------------

// Radial profile at one dip through the impulse response, bilinear in x, z is fine at 8 cells a
// wavelength; the same for both images compared.
static void profile(const LithoCube *image, int centre, double dip, double first, int n, double *p)
{
    const double cell = litho_grid_spacing(&image->grid, LITHO_XLINE);
    const double dz = image->grid.axis[2].step;
    for (int k = 0; k < n; k++) {
        double r = first + k, x = centre + r * sin(dip) / cell, z = r * cos(dip) / dz;
        int j = (int)x, i = (int)z;
        double fx = x - j, fz = z - i;
        const float *a = litho_cube_trace(image, 0, j), *b = litho_cube_trace(image, 0, j + 1);
        p[k] =
            (1 - fx) * ((1 - fz) * a[i] + fz * a[i + 1]) + fx * ((1 - fz) * b[i] + fz * b[i + 1]);
    }
}

// Shift (m) of a against b that correlates best, and the ratio of their sizes.
static void compare_profiles(const double *a, const double *b, int n, double *shift, double *ratio)
{
    double c[21], aa = 0, bb = 0;
    int best = 10;
    for (int lag = -10; lag <= 10; lag++) {
        c[lag + 10] = 0;
        for (int k = 10; k < n - 10; k++)
            c[lag + 10] += a[k + lag] * b[k];
        if (c[lag + 10] > c[best])
            best = lag + 10;
    }
    for (int k = 0; k < n; k++) {
        aa += a[k] * a[k];
        bb += b[k] * b[k];
    }
    g_assert_cmpint(best, >, 0);
    g_assert_cmpint(best, <, 20);
    *shift =
        best - 10 + 0.5 * (c[best - 1] - c[best + 1]) / (c[best - 1] - 2 * c[best] + c[best + 1]);
    *ratio = sqrt(aa / bb);
}

// Relative L2 difference of two images over dips up to `most` degrees as seen from the impulse.
static double image_difference(const LithoCube *a, const LithoCube *b, int centre, double most)
{
    const double cell = litho_grid_spacing(&a->grid, LITHO_XLINE), dz = a->grid.axis[2].step;
    double d = 0, n = 0;
    for (gint64 j = 0; j < a->grid.axis[1].n; j++)
        for (gint64 z = 1; z < a->grid.axis[2].n; z++) {
            if (atan2(fabs((double)(j - centre)) * cell, z * dz) > most * G_PI / 180)
                continue;
            double p = litho_cube_trace(a, 0, j)[z], q = litho_cube_trace(b, 0, j)[z];
            d += (p - q) * (p - q);
            n += q * q;
        }
    return sqrt(d / n);
}

// Property: the impulse response (v = 2000 m/s, 12.5 m cells, 0.6 s, 4 to 30 Hz) lies on its circle
// within 1 m and within 5 % of the exact amplitude for dips up to 60 degrees, for small and large
// steps and with the coarse grid. Wrong signs, swapped axes or a wrong stencil miss by metres.
static void test_impulse(void)
{
    enum { NX = 161, CENTRE = 80, N = 220 };
    static const char *const cases[] = {"step=1 degree=23", "step=1 degree=31", "step=2 degree=31",
                                        "step=2 degree=47", "step=1 degree=31 coarse=on"};
    LithoGrid grid = time_grid(1, NX, 512, 12.5, 0.002);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    litho_cube_trace(in, 0, CENTRE)[300] = 1;
    const char *common = "velocity=2000 dz=12.5 nz=62 fmin=4 fmax=30 pad=60";
    g_autoptr(LithoCube) exact = migrate(in, "%s engine=splitstep", common);
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(LithoCube) image = migrate(in, "%s %s", common, cases[c]);
        for (int dip = 0; dip <= 60; dip += 5) {
            double a[N], b[N], shift, ratio;
            profile(image, CENTRE, dip * G_PI / 180, 490, N, a);
            profile(exact, CENTRE, dip * G_PI / 180, 490, N, b);
            compare_profiles(a, b, N, &shift, &ratio);
            g_test_message("%s, %d degrees: shift %.2f m, amplitude %.3f", cases[c], dip, shift,
                           ratio);
            g_assert_cmpfloat(fabs(shift), <=, 1);
            g_assert_cmpfloat(ratio, >=, 0.95);
            g_assert_cmpfloat(ratio, <=, 1.06);
        }
        double d = image_difference(image, exact, CENTRE, 60);
        g_test_message("%s: L2 difference up to 60 degrees %.3f", cases[c], d);
        g_assert_cmpfloat(d, <=, 0.09);
    }
}

// Property: horizontal reflectors come to their depth within a tenth of a sample.
static void test_flat(void)
{
    LithoGrid grid = time_grid(1, 81, 300, 12.5, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    for (int j = 0; j < 81; j++) {
        add_event(in, 0, j, 2 * 420.0 / 2400, 20, 1);
        add_event(in, 0, j, 2 * 200.0 / 2400, 20, 0.5);
    }
    g_autoptr(LithoCube) image = migrate(in, "velocity=2400 dz=10 nz=60 fmax=55 sponge=0");
    double value;
    assert_below(fabs(peak_depth(image, 0, 40, 300, 500, &value) - 420), 1);
    assert_below(fabs(value - 1), 0.05);
    assert_below(fabs(peak_depth(image, 0, 40, 120, 300, &value) - 200), 1);
}

// Property: dipping planes in 3-D, any azimuth, come to the same depth as with the exact phase
// shift. The plane's echo time is twice the perpendicular distance over v.
static void test_dips(void)
{
    static const struct {
        double dip, azimuth, depth, within; // within: fraction of dz
    } planes[] = {{25, 0, 420, 0.1}, {45, 30, 420, 0.1}, {60, 0, 300, 0.15}, {60, 45, 300, 0.15}};
    enum { N = 64 };
    const double v = 2400, cell = 20, dz = 20;
    for (guint k = 0; k < G_N_ELEMENTS(planes); k++) {
        LithoGrid grid = time_grid(N, N, 300, cell, 0.004);
        g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
        const double dip = planes[k].dip * G_PI / 180, azimuth = planes[k].azimuth * G_PI / 180;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double along = ((j - 32) * cos(azimuth) + (i - 32) * sin(azimuth)) * cell;
                double z = planes[k].depth + tan(dip) * along;
                // Zero-offset time at the surface point: its distance to the plane.
                if (z > 0)
                    add_event(in, i, j, 2 * z * cos(dip) / v, 12, 1);
            }
        g_autofree char *common =
            g_strdup_printf("velocity=%g dz=%g nz=40 fmax=24 sponge=0", v, dz);
        g_autoptr(LithoCube) image = migrate(in, "%s step=1", common);
        g_autoptr(LithoCube) exact = migrate(in, "%s engine=splitstep pad=40", common);
        double a, b;
        double found = peak_depth(image, 32, 32, 100, 700, &a);
        double expected = peak_depth(exact, 32, 32, 100, 700, &b);
        g_test_message("dip %g azimuth %g: %.1f m, exact %.1f m, true %.1f m; amplitude %.2f",
                       planes[k].dip, planes[k].azimuth, found, expected, planes[k].depth, a / b);
        assert_below(fabs(found - expected), planes[k].within * dz + 1e-9);
        assert_below(fabs(found - planes[k].depth), 0.35 * dz);
    }
}

// Property: a point diffractor focuses in its own cell with 93 % of the exact method's peak.
static void test_diffractor(void)
{
    enum { N = 56 };
    const double v = 2400, cell = 20, depth = 400;
    LithoGrid grid = time_grid(N, N, 300, cell, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double r = hypot(hypot((i - 28) * cell, (j - 28) * cell), depth);
            add_event(in, i, j, 2 * r / v, 14, pow(depth / r, 2));
        }
    const char *common = "velocity=2400 dz=20 nz=36 fmax=28 sponge=0";
    g_autoptr(LithoCube) image = migrate(in, "%s step=1", common);
    g_autoptr(LithoCube) exact = migrate(in, "%s engine=splitstep pad=30", common);
    gint64 best[2] = {0, 0};
    const LithoCube *cubes[] = {image, exact};
    for (int c = 0; c < 2; c++)
        for (gint64 k = 0; k < litho_grid_samples(&image->grid); k++)
            if (fabsf(cubes[c]->samples[k]) > fabsf(cubes[c]->samples[best[c]]))
                best[c] = k;
    g_assert_cmpint(best[0], ==, best[1]);
    g_assert_cmpint(best[0] / 36 / N, ==, 28);
    g_assert_cmpint(best[0] / 36 % N, ==, 28);
    double peak = image->samples[best[0]] / exact->samples[best[1]];
    g_test_message("peak %.3f of the exact method's", peak);
    g_assert_cmpfloat(peak, >=, 0.93);
}

// Property: where velocity depends on depth only (two layers; a gradient) the image agrees with the
// phase-shift method.
static void test_layers(void)
{
    static const char *const tables[] = {"0 1800\n290 1800 # top\n290.1 2600\n2000 2600\n",
                                         "Depth, Velocity\nm, m/s\n0, 1800\n1000, 2600\n"};
    g_autofree char *path = scratch_path("litho-test-vz.txt");
    LithoGrid grid = time_grid(1, 151, 400, 12.5, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    for (int k = 0; k < 3; k++)
        add_event(in, 0, 50 + 25 * k, 0.3 + 0.15 * k, 18, 1);
    for (guint k = 0; k < G_N_ELEMENTS(tables); k++) {
        g_assert_true(g_file_set_contents(path, tables[k], -1, NULL));
        // Steep waves lie beyond the design: the circles' upper parts are left out of the sums.
        g_autoptr(LithoCube) a = migrate(in, "velocity=%s dz=10 nz=80 fmax=36 pad=40 step=1", path);
        g_autoptr(LithoCube) b =
            migrate(in, "velocity=%s dz=10 nz=80 fmax=36 pad=40 engine=splitstep", path);
        double ab = 0, aa = 0, bb = 0;
        for (int j = 0; j < 151; j++)
            for (int z = 22; z < 80; z++) {
                double p = litho_cube_trace(a, 0, j)[z], q = litho_cube_trace(b, 0, j)[z];
                ab += p * q;
                aa += p * p;
                bb += q * q;
            }
        g_test_message("table %u: correlation %.4f", k, ab / sqrt(aa * bb));
        g_assert_cmpfloat(ab / sqrt(aa * bb), >=, 0.98);
    }
    g_unlink(path);
}

// A Ricker wavelet turned by 45 degrees: what a source that is a point of a 2-D section sends.
static void add_event_2d(LithoCube *cube, int j, double time, double f, double amplitude)
{
    const LithoAxis *t = &cube->grid.axis[2];
    float *trace = litho_cube_trace(cube, 0, j);
    for (gint64 k = 0; k < t->n; k++) {
        double sum = 0;
        for (double hz = 0.5; hz < 4 * f; hz += 0.5)
            sum += pow(hz / f, 2) * exp(-pow(hz / f, 2)) *
                   cos(2 * G_PI * hz * (k * t->step - time) + G_PI / 4);
        trace[k] += (float)(amplitude * sum * 0.05);
    }
}

// Property: a shot record over a flat reflector images it at its depth for every opening angle the
// design covers (0.1 dz to 43 degrees, 0.3 dz at 51), and division by the illumination evens the
// amplitudes out. A conjugate in the wrong place images nothing; a sign of the phase, 16 m off.
static void test_shot(void)
{
    enum { NX = 201, SOURCE = 100 };
    const double v = 2000, cell = 12.5, depth = 400, dz = 12.5;
    LithoGrid grid = time_grid(1, NX, 400, cell, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    for (int j = 0; j < NX; j++) {
        double r = hypot((j - SOURCE) * cell, 2 * depth);
        add_event_2d(in, j, r / v, 15, sqrt(2 * depth / r) * 2 * depth / r);
    }
    const char *common = "mode=shot velocity=2000 dz=12.5 nz=48 fmax=40 wavelet=15 pad=40 step=1 "
                         "source_x=1250";
    g_autoptr(LithoCube) image = migrate(in, "%s", common);
    g_autoptr(LithoCube) even = migrate(in, "%s imaging=normalised", common);
    double middle, at;
    peak_depth(even, 0, SOURCE, 330, 470, &middle);
    // Reflection point halfway to the receiver: tan(angle) = its offset / depth.
    const int offsets[] = {0, 10, 20, 30, 40};
    for (guint k = 0; k < G_N_ELEMENTS(offsets); k++) {
        double found = peak_depth(image, 0, SOURCE + offsets[k], 330, 470, NULL);
        g_test_message("%.0f degrees: %.2f m", atan(offsets[k] * cell / depth) * 180 / G_PI, found);
        assert_below(fabs(found - depth), (offsets[k] < 40 ? 0.1 : 0.3) * dz);
    }
    peak_depth(even, 0, SOURCE + 20, 330, 470, &at);
    g_test_message("normalised amplitude at 32 degrees: %.2f of the centre's", at / middle);
    g_assert_cmpfloat(at / middle, >, 0.7);
    g_assert_cmpfloat(at / middle, <, 1.3);
}

// Property: a shot's image keeps its size on the coarse grid, on a line and on a survey: 5 %
// (measured 1 and 2 %; the two grids differ in the error of their polynomials). Nearly all of the
// wavelet lies in the half of the band that is coarse. A source spread with the same weights
// whatever the cell gives 2 times the image on the line and 4 times on the survey.
static void test_coarse_shot(void)
{
    static const int lines[] = {1, 81};
    for (guint k = 0; k < G_N_ELEMENTS(lines); k++) {
        const int ni = lines[k], nj = 81;
        const double v = 4000, cell = 12.5, depth = 250;
        LithoGrid grid = time_grid(ni, nj, 200, cell, 0.004);
        g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
        for (int i = 0; i < ni; i++)
            for (int j = 0; j < nj; j++) {
                const double r = hypot(hypot((i - ni / 2) * cell, (j - nj / 2) * cell), 2 * depth);
                add_event(in, i, j, r / v, 15, 2 * depth / r);
            }
        double size[2];
        for (int coarse = 0; coarse < 2; coarse++) {
            g_autoptr(LithoCube) image =
                migrate(in,
                        "mode=shot velocity=4000 dz=12.5 nz=28 fmax=80 wavelet=15 pad=10 step=1 "
                        "degree=31 source_x=500 source_y=%g coarse=%s",
                        ni / 2 * cell, coarse ? "on" : "off");
            const double at = peak_depth(image, ni / 2, nj / 2, 190, 310, &size[coarse]);
            g_test_message("%d lines, coarse %d: %g at %.1f m", ni, coarse, size[coarse], at);
        }
        assert_below(fabs(size[1] / size[0] - 1), 0.05);
    }
}

// Largest error with which rows from..to of the taps turn samples of the wave cos(k x + 1) into its
// values at `spacing` o; inputs lie at `between` i.
static double wave_error(const LithoTaps *taps, double k, double spacing, double between, int from,
                         int to)
{
    double worst = 0;
    for (int o = from; o < to; o++) {
        double sum = 0;
        for (int i = 0; i < taps->count[o]; i++)
            sum += litho_taps_row(taps, o)[i] * cos(k * between * (taps->first[o] + i) + 1);
        worst = fmax(worst, fabs(sum - cos(k * spacing * o + 1)));
    }
    return worst;
}

// Property: between the grids waves keep their size: from wide cells within 1.5 % up to 0.75 of the
// largest wavenumber these hold and 4 % at 0.8 (12 and 20 % in the first cells at an end, where the
// samples lie on one side), to wide cells within 0.6 % up to 0.75, and what would fold to there is
// left out. Means of one value are that value. Measured: 1.1, 3.0, 8.6, 12.5, 0.4 and 0.4 %; a
// shift by a tenth of a cell is 20 %.
static void test_taps(void)
{
    static const double ratios[] = {1.25, 1.5, 2, 3, 4};
    for (guint r = 0; r < G_N_ELEMENTS(ratios); r++) {
        const double ratio = ratios[r];
        const int wide = litho_taps_wide(203, ratio);
        g_assert_cmpfloat((wide - 1) * ratio, >=, 202 - 1e-6);
        g_assert_cmpfloat((wide - 2) * ratio, <, 202);
        LithoTaps up = litho_taps_interpolation(wide, 203, ratio);
        LithoTaps down = litho_taps_decimation(203, wide, ratio);
        LithoTaps mean = litho_taps_mean(203, wide, 0.5 - 0.5 * ratio, ratio);
        const int edge = (int)(6 * ratio), inside = 7;
        for (double part = 0; part <= 0.8; part += 0.05) {
            const double k = part * G_PI / ratio;
            g_assert_cmpfloat(wave_error(&up, k, 1, ratio, edge, 203 - edge), <=,
                              part < 0.76 ? 0.015 : 0.04);
            g_assert_cmpfloat(wave_error(&up, k, 1, ratio, 0, 203), <=, part < 0.76 ? 0.12 : 0.2);
            if (part < 0.76)
                g_assert_cmpfloat(wave_error(&down, k, ratio, 1, inside, wide - inside), <=, 0.006);
        }
        for (double k = 1.25 * G_PI / ratio; k <= G_PI; k += 0.05)
            for (int o = inside; o < wide - inside; o++) {
                double sum = 0;
                for (int i = 0; i < down.count[o]; i++)
                    sum += litho_taps_row(&down, o)[i] * cos(k * (down.first[o] + i) + 1);
                g_assert_cmpfloat(fabs(sum), <=, 0.006);
            }
        g_assert_cmpfloat(wave_error(&mean, 0, 1, 1, 0, wide), <=, 1e-6);
        litho_taps_clear(&up);
        litho_taps_clear(&down);
        litho_taps_clear(&mean);
    }
}

// A burst of a few hertz around f.
static void add_tone(LithoCube *cube, int i, int j, double time, double f, double amplitude)
{
    const LithoAxis *t = &cube->grid.axis[2];
    float *trace = litho_cube_trace(cube, i, j);
    for (gint64 k = 0; k < t->n; k++) {
        const double x = k * t->step - time;
        trace[k] += (float)(amplitude * cos(2 * G_PI * f * x) * exp(-pow(2 * G_PI * 2 * x, 2) / 2));
    }
}

// Echoes of a plane 250 m below the middle that dips by 20 degrees along the lines, in bursts
// around f: as a stack, or a shot at (x, y) = (sx, sy) from the middle, fired 0.25 s after the
// record's start. They fade to the sides, so that the edges of different grids do not matter.
static LithoCube *tone_record(int ni, int nj, double cell, double v, const double *source, double f)
{
    const double dip = 20 * G_PI / 180, d = 250 * cos(dip);
    LithoGrid grid = time_grid(ni, nj, 256, cell, 0.004);
    LithoCube *in = litho_cube_new(&grid, NULL);
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            const double x = (j - nj / 2) * cell, y = (i - ni / 2) * cell;
            double time = 2 * (d + x * sin(dip)) / v;
            if (source) { // from the source's image in the plane
                const double off = 2 * (d + source[0] * sin(dip));
                time =
                    0.25 +
                    hypot(hypot(x - source[0] + off * sin(dip), y - source[1]), off * cos(dip)) / v;
            }
            add_tone(
                in, i, j, time, f,
                exp(-pow(x / (0.2 * nj * cell), 2) - (ni > 1 ? pow(y / (0.2 * ni * cell), 2) : 0)));
        }
    return in;
}

// Amplitude of a against b, and their difference, below a depth and away from the edges.
static void compare_images(const LithoCube *a, const LithoCube *b, double *ratio,
                           double *difference)
{
    enum { EDGE = 8, TOP = 15 };
    const int ni = b->grid.axis[0].n, nj = b->grid.axis[1].n, nz = b->grid.axis[2].n;
    const int edge = ni > 1 ? EDGE : 0;
    double ab = 0, bb = 0, d = 0;
    for (int i = edge; i < ni - edge; i++)
        for (int j = EDGE; j < nj - EDGE; j++)
            for (int z = TOP; z < nz - 2; z++) {
                const double p = litho_cube_trace(a, i, j)[z], q = litho_cube_trace(b, i, j)[z];
                ab += p * q;
                bb += q * q;
                d += (p - q) * (p - q);
            }
    *ratio = ab / bb;
    *difference = sqrt(d / bb);
}

// Property: every part of the band gives on its wider cells what it gives on the image's own, in
// amplitude and phase: bursts inside each of the six parts on a line, of two on a survey, sizes
// that no spacing divides, a stack and a shot whose source lies between cells. Degree 47, so that
// the polynomials' errors do not count. The interpolation is good to 0.8 % on each axis. A shot's
// low frequencies are imaged here within a wave's length of the source, whose waves along the
// surface meet the edges of different grids: 3 to 6 %. A wrong weight of the source is a factor of
// two and more; an image off by half a cell of the coarse grid, 0.3.
static void test_rungs(void)
{
    static const double tones[] = {47, 38, 30.5, 21.5, 15, 10.5};
    static const double source[] = {13, -7};
    static const struct {
        int ni, nj, nz, first, step;
        gboolean shot;
        double within;
    } cases[] = {{1, 97, 47, 0, 1, FALSE, 0.02},
                 {1, 96, 48, 1, 1, TRUE, 0.08},
                 {47, 53, 47, 2, 2, FALSE, 0.02},
                 {46, 50, 47, 2, 2, TRUE, 0.08}};
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++)
        for (guint k = cases[c].first; k < G_N_ELEMENTS(tones); k += cases[c].step) {
            const double v = 3000, cell = 10,
                         middle[] = {cases[c].nj / 2 * cell, cases[c].ni / 2 * cell};
            const double side = cases[c].ni > 1 ? source[1] : 0, at[] = {source[0], side};
            g_autoptr(LithoCube) in =
                tone_record(cases[c].ni, cases[c].nj, cell, v, cases[c].shot ? at : NULL, tones[k]);
            g_autofree char *common =
                g_strdup_printf("mode=%s velocity=%g dz=10 nz=%d fmin=4 fmax=60 wavelet=0 "
                                "delay=0.25 step=1 degree=47 pad=12 "
                                "sponge=12 source_x=%g source_y=%g",
                                cases[c].shot ? "shot" : "zero-offset", v, cases[c].nz,
                                middle[0] + at[0], middle[1] + at[1]);
            g_autoptr(LithoCube) fine = migrate(in, "%s coarse=off", common);
            g_autoptr(LithoCube) coarse = migrate(in, "%s coarse=on", common);
            double ratio, difference;
            compare_images(coarse, fine, &ratio, &difference);
            g_test_message("%d x %d, %s, %g Hz: amplitude %.4f, difference %.4f", cases[c].ni,
                           cases[c].nj, cases[c].shot ? "shot" : "stack", tones[k], ratio,
                           difference);
            g_assert_cmpfloat(difference, <=, cases[c].within);
            g_assert_cmpfloat(fabs(ratio - 1), <=, 0.04);
        }
}

// A shot over a plane that dips by 55 degrees to the left, 500 m below the source at x = 1250 m;
// echoes from the image of the source.
static LithoCube *steep_shot(int n, double cell)
{
    const double v = 1500, dip = 55 * G_PI / 180, x_s = 1250, d = 500 * cos(dip);
    const double image_x = x_s - 2 * d * sin(dip), image_z = 2 * d * cos(dip);
    LithoGrid grid = time_grid(1, n, 500, cell, 0.004);
    LithoCube *in = litho_cube_new(&grid, NULL);
    for (int j = 0; j < n; j++)
        add_event_2d(in, j, hypot(j * cell - image_x, image_z) / v, 25, 1);
    return in;
}

// The image on every second cell, after what that cannot hold was filtered out: windowed sinc of 4
// cells' reach, unlike the operator's own filter.
static double decimated(const LithoCube *fine, int j, int z)
{
    double sum = 0, weight = 0;
    for (int k = -16; k <= 16; k++) {
        const double x = k / 2.0,
                     w = (k ? sin(G_PI * x) / (G_PI * x) : 1) * pow(cos(G_PI * k / 34.0), 2);
        const int at = CLAMP(2 * j + k, 0, (int)fine->grid.axis[1].n - 1);
        sum += w * litho_cube_trace(fine, 0, at)[z];
        weight += w;
    }
    return sum / weight;
}

// Property: on cells that hold the waves but not their product (v = 1500, 50 Hz, 12.5 m: 0.75 of
// Nyquist at 65 degrees, the product 1.5), antialias = on gives the image of cells half as wide,
// filtered, to 7 % (waves beyond 0.75 and the filters' different slopes); without, a fifth of the
// image folded. By phase shift, so that both grids propagate alike.
static void test_antialias(void)
{
    enum { N = 161, NZ = 180 };
    g_autoptr(LithoCube) in = steep_shot(N, 12.5);
    g_autoptr(LithoCube) fine_in = steep_shot(2 * N, 6.25);
    const char *common = "mode=shot velocity=1500 dz=5 nz=180 fmax=50 wavelet=25 source_x=1250 "
                         "engine=splitstep";
    g_autoptr(LithoCube) fine = migrate(fine_in, "%s pad=60 sponge=60", common);
    double miss[2];
    for (int protect = 0; protect < 2; protect++) {
        g_autoptr(LithoCube) image =
            migrate(in, "%s pad=30 antialias=%s", common, protect ? "true" : "false");
        double difference = 0, size = 0;
        for (int j = 20; j < N - 20; j++)
            for (int z = 20; z < NZ; z++) {
                const double exact = decimated(fine, j, z);
                difference += pow(litho_cube_trace(image, 0, j)[z] / 2 - exact, 2);
                size += exact * exact;
            }
        miss[protect] = sqrt(difference / size);
        g_test_message("antialias %d: relative difference %.3f", protect, miss[protect]);
    }
    g_assert_cmpfloat(miss[1], <, 0.07);
    g_assert_cmpfloat(miss[0], >, 3 * miss[1]);
}

// Part of an image's energy at places steeper than 72 degrees, as seen from the impulse in the
// middle of the first plane, and the relative difference from `exact` at places up to 60.
static double steep_part(const LithoCube *image, const LithoCube *exact, double *difference)
{
    const int n = image->grid.axis[0].n, nz = image->grid.axis[2].n;
    const double cell = litho_grid_spacing(&image->grid, LITHO_XLINE);
    const double dz = image->grid.axis[2].step;
    double steep = 0, all = 0, d = 0, e = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int z = 0; z < nz; z++) {
                const double p = litho_cube_trace(image, i, j)[z];
                const double q = litho_cube_trace(exact, i, j)[z];
                const double dip = atan2(hypot(i - n / 2, j - n / 2) * cell, z * dz) * 180 / G_PI;
                all += p * p;
                steep += dip > 72 ? p * p : 0;
                d += dip <= 60 && z > 0 ? (p - q) * (p - q) : 0;
                e += dip <= 60 && z > 0 ? q * q : 0;
            }
    *difference = sqrt(d / e);
    return steep / all;
}

// Property: waves steeper than the largest dip are taken away, not brought to a wrong place: at
// places steeper than 72 degrees the image of an impulse (2000 m/s, cells of 12.5 m) has at most
// 0.03 of its energy, exact 0.031 (without: 0.20), and below 60 degrees it is as good as before.
// Both hold, too, where the velocity is taken for one that varies to the sides.
static void test_steep(void)
{
    enum { N = 81, NZ = 40 };
    static const char *const cases[] = {"degree=23", "degree=31", "degree=31 step=2",
                                        "degree=23 coarse=on"};
    LithoGrid grid = time_grid(N, N, 256, 12.5, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    litho_cube_trace(in, N / 2, N / 2)[100] = 1;
    const char *common = "dz=12.5 nz=40 fmin=4 fmax=30 pad=30 step=1";
    g_autoptr(LithoCube) exact = migrate(in, "velocity=2000 engine=splitstep %s", common);
    double difference;
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(LithoCube) image = migrate(in, "velocity=2000 %s %s", common, cases[c]);
        double part = steep_part(image, exact, &difference);
        g_test_message("%s: %.4f beyond 72 degrees, difference up to 60 %.3f", cases[c], part,
                       difference);
        g_assert_cmpfloat(part, <=, 0.03);
        g_assert_cmpfloat(difference, <=, 0.11);
    }
    g_autoptr(LithoCube) before = migrate(in, "velocity=2000 stop=off %s", common);
    g_assert_cmpfloat(steep_part(before, exact, &difference), >, 0.1);

    // 0.4 % to the sides: hardly another image, another way.
    g_autofree char *path = scratch_path("litho-test-sides.npy");
    LithoGrid depth = time_grid(N, N, NZ, 12.5, 12.5);
    depth.is_depth = TRUE;
    g_autoptr(LithoCube) velocity = litho_cube_new(&depth, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&depth); k++)
        velocity->samples[k] = k / NZ % 2 ? 2004 : 1996;
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(velocity, path, &save, NULL, NULL));
    g_autoptr(LithoCube) sides = migrate(in, "velocity=%s %s", path, common);
    double part = steep_part(sides, exact, &difference);
    g_test_message("sides: %.4f beyond 72 degrees, difference up to 60 %.3f", part, difference);
    g_assert_cmpfloat(part, <=, 0.03);
    g_assert_cmpfloat(difference, <=, 0.11);
    g_unlink(path);
}

// Property: waves that steepen in faster rock below are taken away there: 1600 m/s down to 200 m,
// 2800 below. What leaves the slow rock at 40 degrees and more cannot go on within 65 (sin 65 of
// 2800 is sin 31 of 1600); without the second polynomial it goes on as noise.
static void test_steep_below(void)
{
    enum { N = 161 };
    LithoGrid grid = time_grid(1, N, 400, 12.5, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    litho_cube_trace(in, 0, N / 2)[200] = 1; // 0.25 s in the slow rock, 770 m in the fast one
    g_autofree char *path = scratch_path("litho-test-faster.txt");
    g_assert_true(g_file_set_contents(path, "0 1600\n200 1600\n200.1 2800\n2000 2800\n", -1, NULL));
    const char *common = "dz=10 nz=80 fmin=4 fmax=30 pad=60 step=1";
    g_autoptr(LithoCube) exact = migrate(in, "velocity=%s engine=splitstep %s", path, common);
    g_autoptr(LithoCube) image = migrate(in, "velocity=%s %s", path, common);
    g_autoptr(LithoCube) before = migrate(in, "velocity=%s stop=off %s", path, common);
    // Below the step, outside the cone that waves of 65 degrees reach, as seen from where they
    // leave the slow rock (at most 120 m aside of the impulse).
    double with = 0, without = 0, truth = 0;
    for (int j = 0; j < N; j++)
        for (int z = 22; z < 80; z++) {
            const double aside = abs(j - N / 2) * 12.5 - 120, below = z * 10.0 - 200;
            if (aside < below * tan(72 * G_PI / 180))
                continue;
            with += pow(litho_cube_trace(image, 0, j)[z], 2);
            without += pow(litho_cube_trace(before, 0, j)[z], 2);
            truth += pow(litho_cube_trace(exact, 0, j)[z], 2);
        }
    g_test_message("energy beyond: %.3g, without the stop %.3g, exact %.3g", with, without, truth);
    g_assert_cmpfloat(with - truth, <, 0.25 * (without - truth));
    g_unlink(path);
}

// Property: with the default border and padding the outer traces of a flat reflector keep their
// amplitude; without padding the border eats them.
static void test_edges(void)
{
    LithoGrid grid = time_grid(1, 101, 250, 12.5, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    for (int j = 0; j < 101; j++)
        add_event(in, 0, j, 2 * 400.0 / 2400, 20, 1);
    g_autoptr(LithoCube) image = migrate(in, "velocity=2400 dz=10 nz=60 fmax=55");
    g_autoptr(LithoCube) bare = migrate(in, "velocity=2400 dz=10 nz=60 fmax=55 pad=0");
    double middle, edge, eaten;
    peak_depth(image, 0, 50, 300, 500, &middle);
    for (int j = 0; j <= 20; j += 5) {
        peak_depth(image, 0, j, 300, 500, &edge);
        peak_depth(bare, 0, j, 300, 500, &eaten);
        g_test_message("trace %d: %.2f of the middle's, without padding %.2f", j, edge / middle,
                       eaten / middle);
        g_assert_cmpfloat(edge / middle, >, 0.45);
        g_assert_cmpfloat(edge / middle, <, 1.2);
    }
}

// Property: in a medium of one velocity the pointwise form is the operator form.
static void test_forms(void)
{
    LithoGrid grid = time_grid(40, 40, 200, 12.5, 0.004);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    litho_cube_trace(in, 20, 20)[90] = 1;
    const char *common = "velocity=2200 dz=10 nz=40 fmax=40 step=1 pad=0";
    g_autoptr(LithoCube) a = migrate(in, "%s stop=off", common);
    g_autoptr(LithoCube) b = migrate(in, "%s form=pointwise", common);
    assert_below(relative_difference(b, a), 5e-3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-accuracy/impulse", test_impulse);
    g_test_add_func("/migrate-accuracy/flat", test_flat);
    g_test_add_func("/migrate-accuracy/dips", test_dips);
    g_test_add_func("/migrate-accuracy/diffractor", test_diffractor);
    g_test_add_func("/migrate-accuracy/layers", test_layers);
    g_test_add_func("/migrate-accuracy/shot", test_shot);
    g_test_add_func("/migrate-accuracy/coarse-shot", test_coarse_shot);
    g_test_add_func("/migrate-accuracy/taps", test_taps);
    g_test_add_func("/migrate-accuracy/rungs", test_rungs);
    g_test_add_func("/migrate-accuracy/antialias", test_antialias);
    g_test_add_func("/migrate-accuracy/steep", test_steep);
    g_test_add_func("/migrate-accuracy/steep-below", test_steep_below);
    g_test_add_func("/migrate-accuracy/edges", test_edges);
    g_test_add_func("/migrate-accuracy/forms", test_forms);
    return g_test_run();
}
