// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/usfft.h"

#include <math.h>
#include <string.h>

#include "kernels/wavepacket/tiling.h"

double wp_kernel_value(const WpKernel *k, double z)
{
    double u = 2 * z / k->width;
    if (fabs(u) > 1)
        return 0;
    if (k->kind == WP_GAUSSIAN)
        return exp(-k->shape * z * z);
    return wp_bessel_i0(k->shape * sqrt(1 - u * u)) / wp_bessel_i0(k->shape);
}

// Interpolation through WP_DEGREE+1 Chebyshev nodes (Newton form, expanded): the pieces are entire
// functions, so this is within a factor of a few of the best polynomial. `shift` = (w-1)/2 - t. The
// outermost pieces end on the kernel's edge and are continued smoothly past it by the formula.
static void fit_tap(WpKernel *k, int t)
{
    enum { N = WP_DEGREE + 1 };
    double x[N], c[N], poly[N] = {0};
    for (int i = 0; i < N; i++) {
        x[i] = 0.5 * cos(M_PI * (i + 0.5) / N);
        c[i] = wp_kernel_value(k, x[i] + 0.5 * (k->width - 1) - t);
    }
    for (int j = 1; j < N; j++)
        for (int i = N - 1; i >= j; i--)
            c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - j]);
    for (int i = N - 1; i >= 0; i--) { // poly = poly (x - x_i) + c_i
        for (int d = N - 1; d > 0; d--)
            poly[d] = poly[d - 1] - x[i] * poly[d];
        poly[0] = -x[i] * poly[0] + c[i];
    }
    for (int d = 0; d < N; d++)
        k->coef[d][t] = (float)poly[d];
}

void wp_kernel_init(WpKernel *k, WpKernelKind kind, int width, double sigma)
{
    memset(k, 0, sizeof *k);
    k->kind = kind;
    k->width = width;
    k->sigma = sigma;
    double r = width / sigma * (sigma - 0.5);
    if (kind == WP_KAISER)
        k->shape = M_PI * sqrt(r * r - 0.8);
    else // the cut at w/2 and the nearest alias equally small
        k->shape = 2 * M_PI / width * sqrt(1 - 1 / sigma);
    for (int t = 0; t < width; t++)
        fit_tap(k, t);
}

// Gauss-Legendre nodes of one half of the kernel, their weights times the kernel there.
typedef struct Nodes {
    int n; // of the whole rule
    double at[WP_MAX_WIDTH + 21], weight[WP_MAX_WIDTH + 21];
} Nodes;

// 2w + 40 nodes, found by Newton's method on the Legendre recurrence.
static Nodes nodes_of(const WpKernel *k)
{
    Nodes nodes = {.n = 2 * k->width + 40};
    const int n = nodes.n;
    for (int i = 0; i < (n + 1) / 2; i++) {
        double z = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int it = 0; it < 20; it++) {
            double p0 = 1, p1 = z;
            for (int j = 2; j <= n; j++) {
                double p2 = ((2 * j - 1) * z * p1 - (j - 1) * p0) / j;
                p0 = p1;
                p1 = p2;
            }
            slope = n * (z * p1 - p0) / (z * z - 1);
            double step = p1 / slope;
            z -= step;
            if (fabs(step) < 1e-15)
                break;
        }
        nodes.at[i] = 0.5 * k->width * z;
        nodes.weight[i] = 2 / ((1 - z * z) * slope * slope) * wp_kernel_value(k, nodes.at[i]);
    }
    return nodes;
}

static double transform(const WpKernel *k, const Nodes *nodes, double x)
{
    double sum = 0;
    for (int i = 0; i < (nodes->n + 1) / 2; i++) {
        const double term = nodes->weight[i] * cos(2 * M_PI * x * nodes->at[i]);
        sum += 2 * i + 1 == nodes->n ? term : 2 * term;
    }
    return 0.5 * k->width * sum;
}

void wp_kernel_deconvolution(const WpKernel *k, int64_t n, int nf, double *factor)
{
    const Nodes nodes = nodes_of(k);
    for (int64_t i = 0; i <= n / 2; i++) // the transform is even
        factor[i] = 1 / transform(k, &nodes, (double)(i - n / 2) / nf);
    for (int64_t i = n / 2 + 1; i < n; i++)
        factor[i] = factor[2 * (n / 2) - i];
}
