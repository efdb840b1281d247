// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Two windows as the real and imaginary part of one transform, lane by lane. Behind
// kernels/common/vector_rows.h.

// Zero where x is not finite.
LITHO_INLINE LithoPart clean(LithoPart x)
{
    return litho_keep(x - x == 0, x);
}

// Twice the spectra of the two windows at k, from the common spectrum Z there and at -k.
typedef struct Both {
    LithoPart ar, ai, br, bi;
} Both;

LITHO_INLINE Both separate(LithoPart re, LithoPart im, LithoPart re_opposite, LithoPart im_opposite)
{
    return (Both){re + re_opposite, im - im_opposite, im + im_opposite, re_opposite - re};
}

LITHO_INLINE Both masked(Both x, LithoMask a, LithoMask b)
{
    return (Both){litho_keep(a, x.ar), litho_keep(a, x.ai), litho_keep(b, x.br),
                  litho_keep(b, x.bi)};
}

// Z at k of what is kept, and at -k (in the order of k).
LITHO_INLINE void join(Both x, LithoPart *re, LithoPart *im)
{
    *re = x.ar - x.bi;
    *im = x.ai + x.br;
}

LITHO_INLINE void join_opposite(Both x, LithoPart *re, LithoPart *im)
{
    *re = x.ar + x.bi;
    *im = x.br - x.ai;
}
