// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/cuda/tiles.cuh"

// TRUE for a coefficient that a threshold leaves. The kernels that ask go by the same rounding.
DEV bool stays(float re, float im, float t)
{
    return t <= 0 || !(fmaf(re, re, im * im) < t * t);
}
