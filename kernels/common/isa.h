// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Files in `isa_sources` (kernels/meson.build) are compiled for what every processor has and, where
// the package is for any x86-64, for AVX2 and AVX-512 too. Each build defines LITHO_ISA_NAME(f) for
// the functions that others call; LITHO_ISA_DECLARE(f) stands below the declaration of f.

#ifdef LITHO_ISA
#define LITHO_ISA_PASTE(a, b) a##_##b
#define LITHO_ISA_PASTE2(name, isa) LITHO_ISA_PASTE(name, isa)
#define LITHO_ISA_NAME(name) LITHO_ISA_PASTE2(name, LITHO_ISA)
#else
#define LITHO_ISA_NAME(name) name
#endif

// NULL where a build does not exist.
#define LITHO_ISA_DECLARE(name)                                                                    \
    extern __typeof__(name) name##_avx2 __attribute__((weak));                                     \
    extern __typeof__(name) name##_avx512 __attribute__((weak))

// The build that this processor runs fastest.
#ifdef __x86_64__
#define LITHO_ISA_PICK(name)                                                                       \
    (&name##_avx512 && __builtin_cpu_supports("avx512f") ? name##_avx512                           \
     : &name##_avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")             \
         ? name##_avx2                                                                             \
         : name)
#else
#define LITHO_ISA_PICK(name) (name)
#endif
