// SPDX-License-Identifier: GPL-3.0-or-later
//
// Short Fourier transforms in registers, for whatever type PATCH_T is: a float (CUDA), a vector of
// floats (CPU). No include guard: each includer names its type and its way to declare a function.
//
// Forward: X[k] = sum x[n] exp(-2 pi i n k / N), natural order on both sides, in place. Swapping
// the arguments gives the backward transform, not divided by N.

// y = x0 + .. + x3 times the powers of -i.
PATCH_FN void patch_dft4(PATCH_T *r0, PATCH_T *i0, PATCH_T *r1, PATCH_T *i1, PATCH_T *r2,
                         PATCH_T *i2, PATCH_T *r3, PATCH_T *i3)
{
    const PATCH_T sr = *r0 + *r2, si = *i0 + *i2, dr = *r0 - *r2, di = *i0 - *i2;
    const PATCH_T tr = *r1 + *r3, ti = *i1 + *i3, er = *r1 - *r3, ei = *i1 - *i3;
    *r0 = sr + tr;
    *i0 = si + ti;
    *r1 = dr + ei;
    *i1 = di - er;
    *r2 = sr - tr;
    *i2 = si - ti;
    *r3 = dr - ei;
    *i3 = di + er;
}

// Times c - i s.
PATCH_FN void patch_turn(PATCH_T *re, PATCH_T *im, float c, float s)
{
    const PATCH_T r = *re * c + *im * s;
    *im = *im * c - *re * s;
    *re = r;
}

// Transforms of 3, 5, 6, 7 and 8 neighbouring values.
PATCH_FN void patch_dft3(PATCH_T *re, PATCH_T *im)
{
    const float h = 0.866025403784439f; // sin(pi / 3)
    const PATCH_T sr = re[1] + re[2], si = im[1] + im[2];
    const PATCH_T dr = h * (re[1] - re[2]), di = h * (im[1] - im[2]);
    const PATCH_T mr = re[0] - 0.5f * sr, mi = im[0] - 0.5f * si;
    re[0] += sr;
    im[0] += si;
    re[1] = mr + di;
    im[1] = mi - dr;
    re[2] = mr - di;
    im[2] = mi + dr;
}

PATCH_FN void patch_dft5(PATCH_T *re, PATCH_T *im)
{
    const float c1 = 0.309016994374947f, c2 = -0.809016994374947f; // of 2 pi / 5, 4 pi / 5
    const float s1 = 0.951056516295154f, s2 = 0.587785252292473f;
    const PATCH_T ar = re[1] + re[4], ai = im[1] + im[4], br = re[2] + re[3], bi = im[2] + im[3];
    const PATCH_T cr = re[1] - re[4], ci = im[1] - im[4], dr = re[2] - re[3], di = im[2] - im[3];
    const PATCH_T er = re[0] + c1 * ar + c2 * br, ei = im[0] + c1 * ai + c2 * bi;
    const PATCH_T fr = re[0] + c2 * ar + c1 * br, fi = im[0] + c2 * ai + c1 * bi;
    const PATCH_T gr = s1 * cr + s2 * dr, gi = s1 * ci + s2 * di;
    const PATCH_T hr = s2 * cr - s1 * dr, hi = s2 * ci - s1 * di;
    re[0] += ar + br;
    im[0] += ai + bi;
    re[1] = er + gi;
    im[1] = ei - gr;
    re[2] = fr + hi;
    im[2] = fi - hr;
    re[3] = fr - hi;
    im[3] = fi + hr;
    re[4] = er - gi;
    im[4] = ei + gr;
}

// Two by three, without twiddles: n = 3 a + 2 b, k = 3 a' + 4 b' modulo 6.
PATCH_FN void patch_dft6(PATCH_T *re, PATCH_T *im)
{
    PATCH_T r[6] = {re[0] + re[3], re[2] + re[5], re[4] + re[1],
                    re[0] - re[3], re[2] - re[5], re[4] - re[1]};
    PATCH_T i[6] = {im[0] + im[3], im[2] + im[5], im[4] + im[1],
                    im[0] - im[3], im[2] - im[5], im[4] - im[1]};
    patch_dft3(r, i);
    patch_dft3(r + 3, i + 3);
    re[0] = r[0];
    im[0] = i[0];
    re[4] = r[1];
    im[4] = i[1];
    re[2] = r[2];
    im[2] = i[2];
    re[3] = r[3];
    im[3] = i[3];
    re[1] = r[4];
    im[1] = i[4];
    re[5] = r[5];
    im[5] = i[5];
}

PATCH_FN void patch_dft7(PATCH_T *re, PATCH_T *im)
{
    // Cosines and sines of 2 pi / 7, 4 pi / 7, 6 pi / 7.
    const float c[3] = {0.623489801858734f, -0.222520933956314f, -0.900968867902419f};
    const float s[3] = {0.781831482468030f, 0.974927912181824f, 0.433883739117558f};
    const PATCH_T ar = re[1] + re[6], ai = im[1] + im[6], dr = re[1] - re[6], di = im[1] - im[6];
    const PATCH_T br = re[2] + re[5], bi = im[2] + im[5], er = re[2] - re[5], ei = im[2] - im[5];
    const PATCH_T gr = re[3] + re[4], gi = im[3] + im[4], fr = re[3] - re[4], fi = im[3] - im[4];
    const PATCH_T r1 = re[0] + c[0] * ar + c[1] * br + c[2] * gr;
    const PATCH_T i1 = im[0] + c[0] * ai + c[1] * bi + c[2] * gi;
    const PATCH_T r2 = re[0] + c[1] * ar + c[2] * br + c[0] * gr;
    const PATCH_T i2 = im[0] + c[1] * ai + c[2] * bi + c[0] * gi;
    const PATCH_T r3 = re[0] + c[2] * ar + c[0] * br + c[1] * gr;
    const PATCH_T i3 = im[0] + c[2] * ai + c[0] * bi + c[1] * gi;
    const PATCH_T u1 = s[0] * dr + s[1] * er + s[2] * fr, v1 = s[0] * di + s[1] * ei + s[2] * fi;
    const PATCH_T u2 = s[1] * dr - s[2] * er - s[0] * fr, v2 = s[1] * di - s[2] * ei - s[0] * fi;
    const PATCH_T u3 = s[2] * dr - s[0] * er + s[1] * fr, v3 = s[2] * di - s[0] * ei + s[1] * fi;
    re[0] += ar + br + gr;
    im[0] += ai + bi + gi;
    re[1] = r1 + v1;
    im[1] = i1 - u1;
    re[6] = r1 - v1;
    im[6] = i1 + u1;
    re[2] = r2 + v2;
    im[2] = i2 - u2;
    re[5] = r2 - v2;
    im[5] = i2 + u2;
    re[3] = r3 + v3;
    im[3] = i3 - u3;
    re[4] = r3 - v3;
    im[4] = i3 + u3;
}

PATCH_FN void patch_dft8(PATCH_T *re, PATCH_T *im)
{
    const float h = 0.70710678118654752440f;
    patch_dft4(&re[0], &im[0], &re[2], &im[2], &re[4], &im[4], &re[6], &im[6]);
    patch_dft4(&re[1], &im[1], &re[3], &im[3], &re[5], &im[5], &re[7], &im[7]);
    patch_turn(&re[3], &im[3], h, h);
    patch_turn(&re[5], &im[5], 0, 1);
    patch_turn(&re[7], &im[7], -h, h);
    const PATCH_T r[8] = {re[0], re[2], re[4], re[6], re[1], re[3], re[5], re[7]};
    const PATCH_T i[8] = {im[0], im[2], im[4], im[6], im[1], im[3], im[5], im[7]};
    for (int k = 0; k < 4; k++) {
        re[k] = r[k] + r[k + 4];
        im[k] = i[k] + i[k + 4];
        re[k + 4] = r[k] - r[k + 4];
        im[k + 4] = i[k] - i[k + 4];
    }
}

// Three by four: n = 3 a + b, k = a' + 4 b', with twiddles W^(b a').
PATCH_FN void patch_dft12(PATCH_T *re, PATCH_T *im)
{
    const float c[3] = {0.866025403784439f, 0.5f, 0}; // of pi / 6, pi / 3, pi / 2
    for (int b = 0; b < 3; b++)
        patch_dft4(&re[b], &im[b], &re[b + 3], &im[b + 3], &re[b + 6], &im[b + 6], &re[b + 9],
                   &im[b + 9]);
    patch_turn(&re[4], &im[4], c[0], c[1]);
    patch_turn(&re[5], &im[5], c[1], c[0]);
    patch_turn(&re[7], &im[7], c[1], c[0]);
    patch_turn(&re[8], &im[8], -c[1], c[0]);
    patch_turn(&re[10], &im[10], c[2], 1);
    patch_turn(&re[11], &im[11], -1, c[2]);
    for (int a = 0; a < 4; a++)
        patch_dft3(&re[3 * a], &im[3 * a]);
    const PATCH_T r[12] = {re[0], re[1], re[2], re[3], re[4],  re[5],
                           re[6], re[7], re[8], re[9], re[10], re[11]};
    const PATCH_T i[12] = {im[0], im[1], im[2], im[3], im[4],  im[5],
                           im[6], im[7], im[8], im[9], im[10], im[11]};
    for (int k = 0; k < 12; k++) {
        re[k] = r[k % 4 * 3 + k / 4];
        im[k] = i[k % 4 * 3 + k / 4];
    }
}

#define PATCH_DFT4(a, b, c, d)                                                                     \
    patch_dft4(&re[a], &im[a], &re[b], &im[b], &re[c], &im[c], &re[d], &im[d])
#define PATCH_SWAP(a, b)                                                                           \
    do {                                                                                           \
        const PATCH_T swap_re = re[a], swap_im = im[a];                                            \
        re[a] = re[b];                                                                             \
        im[a] = im[b];                                                                             \
        re[b] = swap_re;                                                                           \
        im[b] = swap_im;                                                                           \
    } while (0)

// n = 4 n1 + n2, k = k1 + 4 k2: four transforms over n1, twiddles W^(n2 k1), four over n2.
PATCH_FN void patch_fft16(PATCH_T re[16], PATCH_T im[16])
{
    const float c1 = 0.92387953251128675613f, s1 = 0.38268343236508977173f;
    const float h = 0.70710678118654752440f;
    PATCH_DFT4(0, 4, 8, 12);
    PATCH_DFT4(1, 5, 9, 13);
    PATCH_DFT4(2, 6, 10, 14);
    PATCH_DFT4(3, 7, 11, 15);
    // Element 4 k1 + n2 takes W^(n2 k1), W = exp(-2 pi i / 16).
    patch_turn(&re[5], &im[5], c1, s1);
    patch_turn(&re[6], &im[6], h, h);
    patch_turn(&re[7], &im[7], s1, c1);
    patch_turn(&re[9], &im[9], h, h);
    patch_turn(&re[10], &im[10], 0, 1);
    patch_turn(&re[11], &im[11], -h, h);
    patch_turn(&re[13], &im[13], s1, c1);
    patch_turn(&re[14], &im[14], -h, h);
    patch_turn(&re[15], &im[15], -c1, -s1);
    PATCH_DFT4(0, 1, 2, 3);
    PATCH_DFT4(4, 5, 6, 7);
    PATCH_DFT4(8, 9, 10, 11);
    PATCH_DFT4(12, 13, 14, 15);
    // Element 4 k1 + k2 is X[k1 + 4 k2].
    PATCH_SWAP(1, 4);
    PATCH_SWAP(2, 8);
    PATCH_SWAP(3, 12);
    PATCH_SWAP(6, 9);
    PATCH_SWAP(7, 13);
    PATCH_SWAP(11, 14);
}

#undef PATCH_DFT4
#undef PATCH_SWAP
