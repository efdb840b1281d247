// SPDX-License-Identifier: GPL-3.0-or-later
//
// Coefficients of reflection and transmission, their tables, and the source field that they enter.
#include "tests/twsm_case.h"

// At its own places a table gives the coefficients themselves, but for rounding to float32.
static void check_nodes(const TwsmContact *contact, const TwsmEffective *table)
{
    const TwsmPieces p = twsm_effective_pieces(table);
    const double here = 0;
    double worst = 0;
    for (int i = 0; i < p.n_cos; i += 3)
        for (int j = 0; j < p.n_chi - 1; j += 2) {
            const double chi = TWSM_CHI_MIN * exp(j * TWSM_CHI_STEP);
            float value[2];
            twsm_effective_row(table, chi, p.cosine[i], &here, 1, value);
            const double complex exact = twsm_coef_effective(contact, chi, p.cosine[i]);
            worst = MAX(worst, cabs(value[0] + I * value[1] - exact));
        }
    g_test_message("%d x %d places, rounding %.2g", p.n_cos, p.n_chi, worst);
    g_assert_cmpfloat(worst, <, 2e-6);
}

// Property: effective coefficients equal those of an independent double precision computation
// (tolerance 1e-3 of unity), and tend to the plane-wave value: a wrong branch of a root is of
// order 1.
static void test_effective(void)
{
    const TwsmContact contact = {2000, 2200, 3000, 2400, FALSE};
    const struct {
        double chi, cos1;
        double complex value;
    } cases[] = {{50, 1, 0.24020 - 0.01159 * I},     {50, 0.8, 0.42984 - 0.09138 * I},
                 {100, 0.75, 0.57558 - 0.14208 * I}, {100, 0.7454, 0.58704 - 0.15289 * I},
                 {200, 0.6, 0.35889 - 0.99645 * I},  {20, 0.9, 0.29103 - 0.05844 * I},
                 {1000, 0.75, 0.73286 - 0.07534 * I}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        double complex c = twsm_coef_effective(&contact, cases[k].chi, cases[k].cos1);
        g_test_message("%g, %g: %.5f%+.5fi", cases[k].chi, cases[k].cos1, creal(c), cimag(c));
        g_assert_cmpfloat(cabs(c - cases[k].value), <, 1e-3);
    }
    g_assert_cmpfloat_with_epsilon(creal(twsm_coef_plane(&contact, 0.75)), 0.81513, 1e-5);
    TwsmEffective *table = twsm_effective_new(&contact, 300, 0.4, NULL);
    double column[3];
    twsm_effective_columns(1, 3, column);
    for (double chi = 6; chi < 290; chi *= 1.7)
        for (double cos1 = 0.45; cos1 < 1; cos1 += 0.0637) {
            float value[6];
            twsm_effective_row(table, chi / 2, cos1, column, 3, value);
            const double complex found = value[2] + I * value[3];
            g_assert_cmpfloat(cabs(found - twsm_coef_effective(&contact, chi, cos1)), <, 1e-3);
        }
    check_nodes(&contact, table);
    twsm_effective_free(table);
    // Seconds of work at high chi: a cancel is seen inside, not behind.
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    const TwsmContact other = {2000, 2200, 2900, 2400, FALSE};
    g_assert_null(twsm_effective_new(&other, 300, 0.4, &(LithoRun){.cancel = cancel}));
    // A table that is there already is no work.
    table = twsm_effective_new(&contact, 290, 0.42, &(LithoRun){.cancel = cancel});
    g_assert_nonnull(table);
    twsm_effective_free(table);
}

// J0 from its integral over half a turn: the midpoint rule converges faster than any power.
static double complex bessel_by_integral(double complex z)
{
    const int n = 60 + (int)(1.3 * cabs(z));
    double complex sum = 0;
    for (int m = 0; m < n; m++)
        sum += ccos(z * sin(G_PI * (m + 0.5) / n));
    return sum / n;
}

// The Sommerfeld integrand as written on paper, at slowness q in units of 1/v1.
static double complex sommerfeld_integrand(const TwsmContact *c, double chi, double cos1,
                                           double complex q)
{
    const double complex n = c->v1 / c->v2;
    double complex x1 = csqrt(1 - q * q), x2 = csqrt(n * n - q * q);
    x1 = cimag(x1) < 0 ? -x1 : x1;
    x2 = cimag(x2) < 0 ? -x2 : x2;
    const double complex r = (c->rho2 * x1 - c->rho1 * x2) / (c->rho2 * x1 + c->rho1 * x2);
    return bessel_by_integral(q * chi * sqrt(1 - cos1 * cos1)) * I * q / x1 *
           (c->transmit ? 1 + r : r) * cexp(I * chi * (x1 * cos1 - 1));
}

// Simpson's rule over n (even) intervals of a straight piece of path.
static double complex straight_piece(const TwsmContact *c, double chi, double cos1,
                                     double complex from, double complex to, int n)
{
    double complex sum = 0;
    for (int k = 0; k <= n; k++)
        sum += (k == 0 || k == n ? 1
                : k % 2          ? 4
                                 : 2) *
               sommerfeld_integrand(c, chi, cos1, from + (to - from) * k / n);
    return sum * (to - from) / (3 * n);
}

// Property: at low chi and grazing incidence, too, the coefficient is the Sommerfeld integral to
// 1e-6, here along another path (down by 0.25 i, then straight) by another rule. Panels of equal
// width lost up to 0.3 there: the path passes the branch points close by.
static void test_effective_grazing(void)
{
    static const TwsmContact contact[] = {{2000, 2200, 3000, 2400, FALSE},
                                          {3000, 2400, 2000, 2200, FALSE},
                                          {2000, 2200, 2600, 2300, TRUE}};
    static const double at[][2] = {{5, 0.3}, {7, 0.15}, {12, 0.1}, {20, 0.5}, {30, 1}};
    for (guint m = 0; m < G_N_ELEMENTS(contact); m++)
        for (guint k = 0; k < G_N_ELEMENTS(at); k++) {
            const double chi = at[k][0], cos1 = at[k][1], tail = 30 / (chi * cos1);
            const double end = MAX(sqrt(1 + tail * tail), 2);
            const double complex down = -0.25 * I;
            const double complex exact =
                chi * (straight_piece(&contact[m], chi, cos1, 0, down, 400) +
                       straight_piece(&contact[m], chi, cos1, down, down + end,
                                      2 * (int)(end * MAX(100, 8 * chi))));
            const double complex found = twsm_coef_effective(&contact[m], chi, cos1);
            g_test_message("contact %u, chi %g, cosine %g: %.6f%+.6fi, differs by %.2g", m, chi,
                           cos1, creal(found), cimag(found), cabs(found - exact));
            g_assert_cmpfloat(cabs(found - exact), <, 1e-6);
        }
}

// Property: a table's numbers do not depend on the tables made before it: made at once, made longer
// twice, or found in a longer one, every row is the same to the last bit. (Three contacts that
// differ in nothing but the unit of density: the coefficients are equal.)
static void test_kept(void)
{
    const double reach[3][3] = {{180, 180, 180}, {140, 155, 180}, {250, 180, 180}};
    double column[30];
    float row[3][60];
    twsm_effective_columns(1, 30, column);
    for (int k = 0; k < 3; k++) {
        const TwsmContact contact = {2000, 2200 * (1 << k), 2500, 2400 * (1 << k), FALSE};
        for (int turn = 0; turn < 3; turn++) {
            TwsmEffective *table =
                twsm_effective_new(&contact, reach[k][turn], 0.61 + 0.01 * turn, NULL);
            twsm_effective_row(table, 5.5, 0.77, column, 30, row[k]);
            twsm_effective_free(table);
        }
        g_assert_cmpmem(row[k], sizeof row[k], row[0], sizeof row[0]);
    }
}

// Property: the field of a source on the first boundary is exp(i w r / v) / r times taper and
// coefficient at every element and frequency, written out in float64: within 3e-7 of 1 / r where
// the coefficient has a formula, 1e-3 where it comes from a table; 0 where no direct wave arrives.
static void test_source(void)
{
    static const int kinds[] = {TWSM_COEF_PAIR, TWSM_COEF_PLANE, TWSM_COEF_EFFECTIVE};
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        TwsmParams params;
        litho_param_defaults(&litho_operator_twsm.params, &params);
        g_strlcpy(params.model.text, "dome", sizeof params.model.text);
        params.coefficients = kinds[k];
        params.cells_per_wavelength = 1.3;
        params.damping = 2;
        params.source_x = 150;
        g_autoptr(TwsmSetup) s = twsm_setup_open(&params, NULL, NULL);
        g_assert_true(twsm_setup_build(s, &params, NULL, NULL));
        const TwsmPoints *m = s->chain[0].leg[0].from;
        const TwsmContact contact = {2000, 2200, 3000, 2400, FALSE};
        const TwsmBand band = {97, 31};
        g_autofree TwsmValue *u = g_new(TwsmValue, (gsize)m->n * band.n);
        g_assert_true(twsm_source_field(s, 0, band, u, &(LithoRun){.threads = 2}, NULL));
        double worst = 0;
        for (int j = 0; j < m->n; j += 11) {
            const double dx = m->x[j] + s->centre[0] - 150, dy = m->y[j] + s->centre[1];
            const double dz = m->z[j] + s->centre[2], r = sqrt(dx * dx + dy * dy + dz * dz);
            const double cos1 = (m->nx[j] * dx + m->ny[j] * dy + m->nz[j] * dz) / r;
            for (int f = 0; f < band.n; f += 10) {
                const double complex w = (band.k0 + f) * s->dw + I * s->sig;
                const double complex c =
                    kinds[k] == TWSM_COEF_PAIR ? twsm_coef_frozen(&contact, cos1)
                    : kinds[k] == TWSM_COEF_PLANE
                        ? twsm_coef_plane(&contact, cos1)
                        : twsm_coef_effective(&contact, creal(w) * r / 2000, cos1);
                const double complex exact =
                    cos1 > 0 ? cexp(I * w * r / 2000) * m->taper[j] * c : 0;
                worst = MAX(worst, cabs(u[(gsize)j * band.n + f] * r - exact));
            }
        }
        g_test_message("coefficients %d: %.2g of 1 / r", kinds[k], worst);
        g_assert_cmpfloat(worst, <, kinds[k] == TWSM_COEF_EFFECTIVE ? 1e-3 : 4e-7);
    }
}

// Property: the frozen coefficient is the plane one below 0.8 of the critical sine, real and smooth
// above: no jump larger than its neighbours' slope allows (a kink there focuses into a false
// event).
static void test_frozen(void)
{
    const TwsmContact contact = {2000, 2200, 3000, 2400, FALSE};
    double last = twsm_coef_frozen(&contact, 1);
    for (double cos1 = 1; cos1 > 0; cos1 -= 1e-3) {
        double c = twsm_coef_frozen(&contact, cos1), sin1 = sqrt(1 - cos1 * cos1);
        if (sin1 < 0.8 * 2 / 3)
            g_assert_cmpfloat_with_epsilon(c, creal(twsm_coef_plane(&contact, cos1)), 1e-12);
        g_assert_cmpfloat(fabs(c - last), <, 0.01);
        last = c;
    }
    g_assert_cmpfloat(last, <, 1);
}

// Property: where the rock is equally fast everywhere, coefficients do not depend on the angle, not
// even at grazing incidence, and a layer thinner than the wavelength gives the image source's wave:
// T R T ricker(t - r / c) / r. Measured 0.7 to 1.7 %; without the near field it is 70 % off.
static void test_even(void)
{
    const TwsmContact contact = {2000, 1000, 2000, 3000, FALSE};
    g_assert_cmpfloat(creal(twsm_coef_plane(&contact, 0)), ==, 0.5);
    g_assert_cmpfloat(twsm_coef_frozen(&contact, 0), ==, 0.5);
    static const char model[] =
        "{'layers':[{'velocity':2000,'density':1000},{'velocity':2000,'density':1500},"
        "{'velocity':2000,'density':3000}],"
        "'boundaries':[{'type':'flat','depth':400},{'type':'flat','depth':460}],"
        "'extent':{'x':[-900,900],'y':[-900,900]},'wave_code':'0T 1R 0T','source':[0,0,0],"
        "'receivers':{'x':[0,100,4],'y':[0,1,1],'z':0},'wavelet':{'ricker':10,'delay':0.15},"
        "'fmax':25,'record':1.2,'dt':0.004}";
    g_autoptr(LithoCube) cube = twsm_case_run(model, "");
    for (int j = 0; j < 4; j++) {
        const double r = hypot(920, 100 * j), size = 1.2 * 0.8 / 3 / r;
        double worst = 0;
        for (int k = 0; k < 300; k++) {
            const double a = G_PI * 10 * (k * 0.004 - 0.15 - r / 2000);
            const double exact = size * (1 - 2 * a * a) * exp(-a * a);
            worst = fmax(worst, fabs(litho_cube_trace(cube, 0, j)[k] - exact));
        }
        g_test_message("offset %d m: %.4f", 100 * j, worst / size);
        g_assert_cmpfloat(worst / size, <, 0.02);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/twsm-coef/effective", test_effective);
    g_test_add_func("/twsm-coef/effective-grazing", test_effective_grazing);
    g_test_add_func("/twsm-coef/source", test_source);
    g_test_add_func("/twsm-coef/kept", test_kept);
    g_test_add_func("/twsm-coef/frozen", test_frozen);
    g_test_add_func("/twsm-coef/even", test_even);
    return g_test_run();
}
