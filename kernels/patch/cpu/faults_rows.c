// SPDX-License-Identifier: GPL-3.0-or-later
//
// Loudness of the noise in windows of 4 x 4 traces, a row of them side by side in lanes, and its
// part that passed. Loops over lanes are told to be free of dependences: their rows are many, and a
// compiler that cannot tell them apart leaves them to one lane at a time.
#include "kernels/patch/cpu/faults_rows.h"

#include <math.h>
#include <string.h>

// --- windows -------------------------------------------------------------------------------------

// Squares of the taper.
#define OUTER2 0.146446609406726f // sin(pi / 8)^2
#define INNER2 0.853553390593274f // sin(3 pi / 8)^2

// Energies of a row of traces at frequency f, of four at a time behind the taper along crosslines.
LITHO_INLINE void line_powers(const Scratch *s, int f, int row, Lane to, int lanes)
{
    const float *re = s->re[f][row], *im = s->im[f][row];
    Lane power;
    memset(power + lanes, 0, (W - 1) * sizeof *power);
#pragma omp simd
    for (int l = 0; l < lanes; l++)
        power[l] = re[l] * re[l] + im[l] * im[l];
#pragma omp simd
    for (int l = 0; l < lanes; l++)
        to[l] = OUTER2 * (power[l] + power[l + 3]) + INNER2 * (power[l + 1] + power[l + 2]);
}

// The least values of each lane take in a row of others: least[0] <= least[1] ..
LITHO_INLINE void sort_in(Lane *least, int n, Lane x, int lanes)
{
    for (int r = 0; r < n; r++)
#pragma omp simd
        for (int l = 0; l < lanes; l++) {
            const float a = least[r][l], b = x[l];
            least[r][l] = a < b ? a : b;
            x[l] = a < b ? b : a;
        }
}

// Mean powers of windows, without the transforms: rows of windows share those of their traces.
LITHO_CLONES void patch_fault_quiet(Scratch *s, int bins, int rank)
{
    const int lanes = s->size.lanes;
    Lane lines[W][BINS], least[LITHO_PATCH_FAULT_RANKS];
    for (int row = 1 - W; row + W <= s->size.rows; row++) {
        for (int f = 0; f < bins; f++)
            line_powers(s, f, row + W - 1, lines[(row + W - 1) % W][f], lanes);
        for (int r = 0; r <= rank && row >= 0; r++)
#pragma omp simd
            for (int l = 0; l < lanes; l++)
                least[r][l] = INFINITY;
        for (int f = 0; f < bins && row >= 0; f++) {
            const float *a = lines[row % W][f], *b = lines[(row + 1) % W][f];
            const float *c = lines[(row + 2) % W][f], *d = lines[(row + 3) % W][f];
            const float *noise = s->noise[row][f];
            Lane mean;
#pragma omp simd
            for (int l = 0; l < lanes; l++)
                mean[l] = (OUTER2 * (a[l] + d[l]) + INNER2 * (b[l] + c[l])) * noise[l];
            sort_in(least, MIN(rank, f) + 1, mean, lanes);
        }
        if (row >= 0)
            memcpy(s->quiet[row], least[rank], lanes * sizeof(float));
    }
}

LITHO_CLONES void patch_fault_spread(const Scratch *s, int bins, Lane to[BINS])
{
    for (int f = 0; f < bins; f++) {
        const float *level = s->levels[f];
#pragma omp simd
        for (int l = 0; l < s->size.lanes; l++)
            to[f][l] = (1 - s->share[l]) * level[s->cell[l]] + s->share[l] * level[s->above[l]];
    }
}

LITHO_CLONES void patch_fault_noise(const Lane below[BINS], const Lane above[BINS], float share,
                                    int bins, int lanes, float energy, Lane noise[BINS])
{
    for (int f = 0; f < bins; f++)
#pragma omp simd
        for (int l = 0; l < lanes; l++) {
            const float sigma = (1 - share) * below[f][l] + share * above[f][l];
            const float mean = sigma * sigma * energy;
            noise[f][l] = 1 / (mean > 1e-30f ? mean : 1e-30f);
        }
}

LITHO_CLONES void patch_fault_factors(Scratch *s, int row, float rows, float limit)
{
    const int lanes = s->size.lanes;
    Lane sum = {0};
    for (int a = row - BESIDE; a <= row + BESIDE; a++)
        for (int b = -BESIDE; b <= BESIDE; b++)
#pragma omp simd
            for (int l = BESIDE; l < lanes; l++)
                sum[l] += s->quiet[a][l + b];
    memset(s->factor, 0, sizeof(Lane));
#pragma omp simd
    for (int l = BESIDE; l < lanes; l++)
        s->factor[l] =
            limit * litho_patch_fault_louder(s->quiet[row][l], sum[l] / (rows * s->windows[l]));
}

// --- what passed ---------------------------------------------------------------------------------

LITHO_CLONES void patch_fault_energies(const Scratch *s, int bins, int length, float scale,
                                       Made *made)
{
    for (int i = 0; i < s->size.made_il; i++) {
        float *energy = made->energy[i];
        memset(energy, 0, sizeof(Lane));
        for (int f = 0; f < bins; f++) {
            const float by = scale * (f == 0 || 2 * f == length ? 1 : 2);
            const float *re = made->re[f][i] + EDGE, *im = made->im[f][i] + EDGE;
            const float *noise = s->noise[i + EDGE][f] + EDGE;
#pragma omp simd
            for (int l = 0; l < s->size.made_xl; l++)
                energy[l] += by * (re[l] * re[l] + im[l] * im[l]) * noise[l];
        }
    }
}

LITHO_CLONES gboolean patch_fault_gathers(const Scratch *s, int first, int last, int i, float rows,
                                          Lane sum, Lane largest)
{
    const float windows = (float)(last - first + 1);
    int any = 0;
    memset(sum, 0, sizeof(Lane));
    memset(largest, 0, sizeof(Lane));
    for (int a = 0; a < NEAR; a++)
        for (int b = 0; b < NEAR; b++) {
            Lane own = {0};
            for (int w = first; w <= last; w++) {
                const float *energy = s->made[w % NEAR].energy[i + a] + b;
#pragma omp simd
                for (int l = 0; l < TILE_ROOM; l++)
                    own[l] += energy[l];
            }
#pragma omp simd
            for (int l = 0; l < TILE_ROOM; l++) {
                sum[l] += own[l];
                largest[l] = largest[l] > own[l] ? largest[l] : own[l];
            }
        }
#pragma omp simd reduction(| : any)
    for (int l = 0; l < TILE_ROOM; l++)
        any |= sum[l] - largest[l] >
               0.99f * LITHO_PATCH_FAULT_FROM * windows * (rows * s->traces[l] - 1);
    return any;
}
