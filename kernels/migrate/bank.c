// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/bank.h"

#include <math.h>

// Minimax designs (linear programme in five unknowns), qc = 0.4 pi to 0.9 pi; largest error over q:
// 1.2e-5, 1.0e-4, 6.0e-4, 2.9e-3, 1.2e-2, 4.7e-2.
static const LithoSecondDerivative bank[] = {
    {0.4, {-2.92548726, 1.66395375, -0.23411518, 0.03629463, -0.00338958}},
    {0.5, {-2.96886530, 1.70059359, -0.25571298, 0.04445468, -0.00490264}},
    {0.6, {-3.02119721, 1.74597880, -0.28473639, 0.05712389, -0.00776769}},
    {0.7, {-3.08199346, 1.80038550, -0.32313023, 0.07731221, -0.01357075}},
    {0.8, {-3.15060400, 1.86403827, -0.37356211, 0.11122007, -0.02639422}},
    {0.9, {-3.22621642, 1.93709641, -0.43984471, 0.17382850, -0.05797199}},
};

const LithoSecondDerivative *litho_migrate_bank(guint *n)
{
    *n = G_N_ELEMENTS(bank);
    return bank;
}

const LithoSecondDerivative *litho_migrate_bank_choose(double q)
{
    guint k = 0;
    while (k + 1 < G_N_ELEMENTS(bank) && q > bank[k].band * G_PI)
        k++;
    return &bank[k];
}

double litho_migrate_symbol(const LithoSecondDerivative *filter, double q)
{
    // From the arms alone, so that D(0) = 0 whatever the rounding of d0.
    double sum = 0;
    for (int m = 1; m <= 4; m++)
        sum += 2 * filter->d[m] * (cos(m * q) - 1);
    return sum;
}

double litho_migrate_rho(const LithoCells *cells, double dz)
{
    double range = 0;
    if (cells->nx > 1)
        range += LITHO_MIGRATE_RANGE / (cells->dx * cells->dx);
    if (cells->ny > 1)
        range += LITHO_MIGRATE_RANGE / (cells->dy * cells->dy);
    // A single trace has no lateral axis; any positive range will do, s is 0 anyway.
    return range > 0 ? range * dz * dz : 1;
}

LithoStencil litho_migrate_stencil(const LithoSecondDerivative *filter, const LithoCells *cells,
                                   double dz, double omega, double big_k, double rho2)
{
    const double scale = 4 * dz * dz / rho2;
    LithoStencil stencil = {.beta = (float)(scale * omega * omega)};
    double centre = 2 - 4 * big_k * big_k / rho2;
    for (int m = 0; m < 4; m++) {
        if (cells->nx > 1)
            stencil.hx[m] = (float)(scale * filter->d[m + 1] / (cells->dx * cells->dx));
        if (cells->ny > 1)
            stencil.hy[m] = (float)(scale * filter->d[m + 1] / (cells->dy * cells->dy));
        centre -= 2.0 * stencil.hx[m] + 2.0 * stencil.hy[m];
    }
    stencil.alpha = (float)centre;
    return stencil;
}
