// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// In front of a function whose helpers are all LITHO_INLINE: it is compiled for the vector units of
// newer processors too, and the loader takes what the machine has. A build for this machine alone
// needs none of it; sanitizers do not bear the loader's early choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__AVX512F__) &&    \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LITHO_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LITHO_CLONES
#endif
// A helper that becomes part of each of the caller's versions.
#define LITHO_INLINE static inline __attribute__((always_inline))
