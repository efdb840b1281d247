// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Muted samples (core/mute.h) of one trace, for host and device. `trace` holds n samples, a whole
// trace or a piece of one; all of it is told as far as these tell.

#ifdef __CUDACC__
#define LITHO_MUTE_INLINE static __device__ inline
#else
#define LITHO_MUTE_INLINE static inline
#endif

enum { LITHO_MUTE_AT_RUN = 16 }; // LITHO_MUTE_RUN of core/mute.h, which a device does not know

// 1 where sample t is muted: in LITHO_MUTE_AT_RUN zeros, or in zeros at an end of the piece; else
// 0.
LITHO_MUTE_INLINE int litho_mute_at(const float *trace, long long n, long long t)
{
    long long lo = t, hi = t + 1;
    if (trace[t] != 0)
        return 0;
    while (lo > 0 && trace[lo - 1] == 0 && hi - lo < LITHO_MUTE_AT_RUN)
        lo--;
    while (hi < n && trace[hi] == 0 && hi - lo < LITHO_MUTE_AT_RUN)
        hi++;
    return hi - lo >= LITHO_MUTE_AT_RUN || lo == 0 || hi == n;
}

// Samples of [lo, hi), LITHO_MUTE_AT_RUN at most, that are not muted: a mute within these begins or
// ends beyond them.
LITHO_MUTE_INLINE int litho_mute_count_live(const float *trace, long long n, long long lo,
                                            long long hi)
{
    if (litho_mute_at(trace, n, lo))
        while (lo < hi && trace[lo] == 0)
            lo++;
    if (lo < hi && litho_mute_at(trace, n, hi - 1))
        while (lo < hi && trace[hi - 1] == 0)
            hi--;
    return (int)(hi - lo);
}
