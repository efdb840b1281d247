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
