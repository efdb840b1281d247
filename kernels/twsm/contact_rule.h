// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Plane-wave reflection and transmission at a contact, and the direct wave of a source at an
// element: the same arithmetic for the CPU and for CUDA.
#include "kernels/twsm/pair.h"

// Contact of two acoustic half-spaces; velocities m/s, densities kg/m3. Medium 1 is the one the
// wave comes from.
typedef struct TwsmContact {
    double v1, rho1, v2, rho2;
    int transmit; // T = 1 + R, else R
} TwsmContact;

// Plane wave at incidence cos1 in 0..1. Beyond the critical angle complex, for the time factor
// exp(-i w t). Where both sides are equally fast, grazing waves have the coefficient of all others.
TWSM_INLINE void twsm_contact_plane(const TwsmContact *c, double cos1, double *re, double *im)
{
    const double ratio = c->v2 / c->v1, cosine = c->v1 == c->v2 ? 1 : cos1;
    const double square = 1 - ratio * ratio * (1 - cosine * cosine);
    const double a = c->rho2 * c->v2 * cosine, b = c->rho1 * c->v1 * sqrt(fabs(square));
    if (square >= 0) {
        *re = (a - b) / (a + b);
        *im = 0;
    } else { // (a - ib) / (a + ib)
        *re = (a * a - b * b) / (a * a + b * b);
        *im = -2 * a * b / (a * a + b * b);
    }
    *re += c->transmit ? 1 : 0;
}

// The plane-wave coefficient with the angle held smoothly below the critical one, so that it is
// real and has no kink: a kink diffracts and its ring focuses on the axis (docs/twsm.md).
TWSM_INLINE double twsm_contact_frozen(const TwsmContact *c, double cos1)
{
    double s = sqrt(fmax(0.0, 1 - cos1 * cos1)), re, im;
    if (c->v2 > c->v1) {
        const double critical = c->v1 / c->v2, a = 0.80 * critical, width = 0.15 * critical;
        if (s > a)
            s = a + width * tanh((s - a) / width);
    }
    twsm_contact_plane(c, sqrt(1 - s * s), &re, &im);
    return re;
}

// Coefficient of the direct wave on the first boundary.
typedef enum TwsmFirst {
    TWSM_FIRST_FROZEN,    // twsm_contact_frozen()
    TWSM_FIRST_PLANE,     // twsm_contact_plane()
    TWSM_FIRST_EFFECTIVE, // a table over frequency and incidence
} TwsmFirst;

// A source as the elements of the first boundary see it. Plain data: copied to the device as it is.
typedef struct TwsmRayRule {
    TwsmContact contact;
    TwsmFirst first;
    double source[3]; // m, relative to the model's centre
    double arrive;    // +1: the wave comes from above, -1 from below
    double turns;     // dw / (2 pi v), 1/m
    double fall;      // sig / v, 1/m
} TwsmRayRule;

// The direct wave at one element.
typedef struct TwsmRay {
    double turns; // of phase per frequency number
    double cos1;  // of incidence
    double amp;   // taper, spreading and damping; 0: no direct wave arrives
} TwsmRay;

TWSM_INLINE TwsmRay twsm_ray(const TwsmRayRule *rule, float x, float y, float z, float nx, float ny,
                             float nz, float taper)
{
    const double dx = x - rule->source[0], dy = y - rule->source[1], dz = z - rule->source[2];
    const double r = sqrt(dx * dx + dy * dy + dz * dz);
    const double cos1 = rule->arrive * (nx * dx + ny * dy + nz * dz) / r;
    TwsmRay ray;
    ray.turns = r * rule->turns;
    ray.cos1 = cos1 < 1 ? cos1 : 1;
    ray.amp = cos1 > 0 ? taper / r * (rule->fall != 0 ? exp(-r * rule->fall) : 1) : 0;
    return ray;
}

// Columns of a table of effective coefficients: chi = TWSM_CHI_MIN exp(j TWSM_CHI_STEP).
#define TWSM_CHI_MIN 5.0
#define TWSM_CHI_STEP 0.055
enum {
    TWSM_PIECE = 8,    // floats of a cubic piece: re and im of the powers 0..3
    TWSM_GUIDES = 256, // cells of the table's guide to its cosines
};

// A table of effective coefficients, ready for look-ups: cubic pieces in log chi at every cosine,
// combined by Lagrange weights of four cosines. Pointers of one memory, host or device.
typedef struct TwsmPieces {
    int n_chi, n_cos;
    const double *cosine; // [n_cos], ascending
    const double *weight; // [n_cos][4]: 1 / product of differences of cosine i - 1 + m to the other
                          // three of i - 1 .. i + 2
    const int *guide;     // [TWSM_GUIDES + 1]: a row at or below cosine g / TWSM_GUIDES
    const float *piece;   // [n_cos][n_chi][TWSM_PIECE], of t = column - j in 0..1
} TwsmPieces;

// First of the four cosines around cos1, and their weights.
TWSM_INLINE int twsm_pieces_cosine(const TwsmPieces *p, double cos1, float w[4])
{
    int i = p->guide[(int)(cos1 * TWSM_GUIDES)];
    while (i < p->n_cos - 2 && p->cosine[i + 1] <= cos1)
        i++;
    i = i > 1 ? i : 1;
    i = i < p->n_cos - 3 ? i : p->n_cos - 3;
    const double *at = p->cosine + i - 1, *scale = p->weight + 4 * i;
    const double x = cos1 > p->cosine[0] ? cos1 : p->cosine[0];
    const double a = x - at[0], b = x - at[1], c = x - at[2], d = x - at[3];
    w[0] = (float)(b * c * d * scale[0]);
    w[1] = (float)(a * c * d * scale[1]);
    w[2] = (float)(a * b * d * scale[2]);
    w[3] = (float)(a * b * c * scale[3]);
    return i - 1;
}

// Column of the piece for place `at` (in columns), and the place within it.
TWSM_INLINE int twsm_pieces_column(const TwsmPieces *p, double at, float *t)
{
    const double top = p->n_chi - 1;
    at = at > 0 ? at : 0;
    at = at < top ? at : top;
    int j = (int)at;
    j = j > 1 ? j : 1;
    j = j < p->n_chi - 3 ? j : p->n_chi - 3;
    *t = (float)(at - j);
    return j;
}
