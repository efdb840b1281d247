// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// splitmix64's finaliser (Steele, Lea, Flood 2014): full avalanche, so that neighbouring indices
// give unrelated numbers. Pure.
static inline guint64 litho_mix(guint64 x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
