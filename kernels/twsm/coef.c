// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/coef.h"

#include <math.h>

#include "kernels/twsm/pair.h"

static double complex root_down(double complex z)
{
    // The root with Im >= 0: waves that decay away from the contact.
    double complex r = csqrt(z);
    return cimag(r) < 0 ? -r : r;
}

double complex twsm_coef_plane(const TwsmContact *c, double cos1)
{
    double ratio = c->v2 / c->v1;
    double complex cos2 = root_down(1 - ratio * ratio * (1 - cos1 * cos1));
    double complex r = (c->rho2 * c->v2 * cos1 - c->rho1 * c->v1 * cos2) /
                       (c->rho2 * c->v2 * cos1 + c->rho1 * c->v1 * cos2);
    return c->transmit ? 1 + r : r;
}

double twsm_coef_frozen(const TwsmContact *c, double cos1)
{
    double s = sqrt(fmax(0, 1 - cos1 * cos1));
    if (c->v2 > c->v1) {
        double critical = c->v1 / c->v2, a = 0.80 * critical, width = 0.15 * critical;
        if (s > a)
            s = a + width * tanh((s - a) / width);
    }
    return creal(twsm_coef_plane(c, sqrt(1 - s * s)));
}

float *twsm_coef_table(const TwsmContact *contact, gboolean plane)
{
    float *table = g_new0(float, 2 * (TWSM_TABLE + 2));
    for (int k = 0; k <= TWSM_TABLE + 1; k++) {
        double cos1 = MIN(k / (double)TWSM_TABLE, 1);
        double complex c = plane ? twsm_coef_plane(contact, cos1) : twsm_coef_frozen(contact, cos1);
        table[2 * k] = (float)creal(c);
        table[2 * k + 1] = (float)cimag(c);
    }
    return table;
}

// --- effective coefficients -------------------------------------------------------------------

// Bessel J0 of a complex argument, Re z >= 0, |Im z| of a few units. Power series within 14, where
// cancellation costs at most 6 of 16 digits; Hankel's expansion beyond, where 14 terms give 1e-11.
static double complex bessel_j0(double complex z)
{
    if (cabs(z) < 14) {
        double complex q = -0.25 * z * z, term = 1, sum = 1;
        for (int k = 1; k < 60; k++) {
            term *= q / ((double)k * k);
            sum += term;
            if (fabs(creal(term)) + fabs(cimag(term)) < 1e-13)
                break;
        }
        return sum;
    }
    double complex term = 1, p = 0, q = 0, inv = 1 / (8 * z);
    for (int k = 0; k < 14; k++) {
        if (k % 2 == 0)
            p += k % 4 == 0 ? term : -term;
        else
            q += k % 4 == 1 ? -term : term;
        term *= (2.0 * k + 1) * (2.0 * k + 1) / (k + 1) * inv;
    }
    double complex phase = z - G_PI / 4;
    return csqrt(2 / (G_PI * z)) * (p * ccos(phase) - q * csin(phase));
}

// Integrand of the Sommerfeld integral at horizontal slowness q (in units of 1/v1).
static double complex sommerfeld(const TwsmContact *c, double chi, double cos1, double sin1,
                                 double complex q)
{
    double n2 = (c->v1 / c->v2) * (c->v1 / c->v2);
    double complex x1 = root_down(1 - q * q), x2 = root_down(n2 - q * q);
    double complex r = (c->rho2 * x1 - c->rho1 * x2) / (c->rho2 * x1 + c->rho1 * x2);
    if (c->transmit)
        r += 1;
    return bessel_j0(q * chi * sin1) * (I * q / x1) * r * cexp(I * chi * (x1 * cos1 - 1));
}

// Nodes and weights of the 8-point Gauss rule on -1..1.
static const double gauss_x[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                  0.9602898564975363};
static const double gauss_w[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                  0.1012285362903763};

double complex twsm_coef_effective(const TwsmContact *c, double chi, double cos1)
{
    // The path runs below the branch points at q = 1 and q = v1/v2 at depth d, where J0 grows by
    // e^2 at most; it ends where the evanescent tail has fallen by e^-36.
    double sin1 = sqrt(fmax(0, 1 - cos1 * cos1));
    double d = fmin(0.25, 2 / chi), tail = 36 / (chi * cos1);
    double end = fmax(fmax(sqrt(1 + tail * tail), 1.3 * c->v1 / c->v2), 1.3);
    // Panels of 3 radians of phase (8 points resolve it to 1e-7), and no wider than the distance to
    // the branch points asks for.
    int panels = 24 + (int)(chi * end / 3);
    double half = 0.5 * end / panels;
    double complex sum = 0;
    for (int p = 0; p < panels; p++)
        for (int g = 0; g < 8; g++) {
            double s = (2 * p + 1) * half + (g < 4 ? -gauss_x[g] : gauss_x[g - 4]) * half;
            double angle = G_PI * s / end;
            double complex q = s - I * d * sin(angle);
            double complex slope = 1 - I * d * G_PI / end * cos(angle);
            sum += gauss_w[g % 4] * half * slope * sommerfeld(c, chi, cos1, sin1, q);
        }
    return chi * sum;
}

enum { MIN_CHI = 5 };

struct TwsmEffective {
    int n_chi, n_cos;
    double log_min, log_step;
    double *cosine;        // ascending, n_cos
    double complex *value; // [i_cos][i_chi]
};

// Cosines from `low` to 1: a hundredth apart, and within reach of the critical angle as fine as the
// head wave's transition zone at the highest chi (width about 1/sqrt(chi)) asks for.
static double *make_cosines(double low, double critical, double fine, int *count)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(double));
    for (double at = low; at < 1;) {
        g_array_append_val(list, at);
        double reach = fabs(at - critical);
        at += CLAMP(fine + 0.12 * (reach - fine), fine, 0.01);
    }
    double one = 1;
    g_array_append_val(list, one);
    *count = list->len;
    return (double *)g_array_free(list, FALSE);
}

TwsmEffective *twsm_effective_new(const TwsmContact *contact, double chi_max, double cos_min,
                                  LithoRun *run)
{
    TwsmEffective *t = g_new0(TwsmEffective, 1);
    double ratio = contact->v1 / contact->v2;
    double critical = ratio < 1 ? sqrt(1 - ratio * ratio) : 0;
    chi_max = fmax(chi_max, 2 * MIN_CHI);
    t->log_min = log(MIN_CHI);
    t->n_chi = 4 + (int)(log(chi_max / MIN_CHI) / 0.055);
    t->log_step = log(chi_max / MIN_CHI) / (t->n_chi - 1);
    double fine = fmin(0.01, 0.1 / sqrt(chi_max));
    // At least the four cosines that interpolation asks for.
    t->cosine =
        make_cosines(CLAMP(cos_min, 0.05, 0.95), critical, critical > 0 ? fine : 0.01, &t->n_cos);
    t->value = g_new(double complex, (gsize)t->n_cos * t->n_chi);
    gint stop = 0;
#pragma omp parallel for collapse(2) schedule(dynamic, 4) num_threads(litho_run_threads(run))
    for (int j = 0; j < t->n_chi; j++)
        for (int i = 0; i < t->n_cos; i++) {
            if (g_atomic_int_get(&stop) || litho_run_cancelled(run))
                g_atomic_int_set(&stop, 1);
            else
                t->value[(gsize)i * t->n_chi + j] = twsm_coef_effective(
                    contact, exp(t->log_min + (t->n_chi - 1 - j) * t->log_step), t->cosine[i]);
        }
    if (stop) {
        twsm_effective_free(t);
        return NULL;
    }
    // Long integrals first keeps the threads busy to the end; turn the rows round again.
    for (int i = 0; i < t->n_cos; i++)
        for (int j = 0; j < t->n_chi / 2; j++) {
            double complex *row = t->value + (gsize)i * t->n_chi, swap = row[j];
            row[j] = row[t->n_chi - 1 - j];
            row[t->n_chi - 1 - j] = swap;
        }
    return t;
}

void twsm_effective_free(TwsmEffective *table)
{
    if (!table)
        return;
    g_free(table->cosine);
    g_free(table->value);
    g_free(table);
}

static int find_cosine(const TwsmEffective *t, double cos1)
{
    int lo = 0, hi = t->n_cos - 1;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (t->cosine[mid] <= cos1)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

// Lagrange weights at x of the four nodes `at`.
static void lagrange(const double at[4], double x, double w[4])
{
    for (int m = 0; m < 4; m++) {
        w[m] = 1;
        for (int l = 0; l < 4; l++)
            if (l != m)
                w[m] *= (x - at[l]) / (at[m] - at[l]);
    }
}

void twsm_effective_row(const TwsmEffective *t, double chi1, double cos1, int k0, int n,
                        double complex *out)
{
    static const double steps[4] = {-1, 0, 1, 2};
    double wc[4], wk[4], base = log(chi1) - t->log_min;
    int i = CLAMP(find_cosine(t, cos1), 1, t->n_cos - 3);
    lagrange(t->cosine + i - 1, MAX(cos1, t->cosine[0]), wc);
    for (int k = 0; k < n; k++) {
        double at = CLAMP((base + log(k0 + k)) / t->log_step, 0, t->n_chi - 1.0);
        int j = CLAMP((int)at, 1, t->n_chi - 3);
        lagrange(steps, at - j, wk);
        double complex sum = 0;
        for (int c = 0; c < 4; c++) {
            const double complex *row = t->value + (gsize)(i - 1 + c) * t->n_chi + j - 1;
            sum += wc[c] * (wk[0] * row[0] + wk[1] * row[1] + wk[2] * row[2] + wk[3] * row[3]);
        }
        out[k] = sum;
    }
}
