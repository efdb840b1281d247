# SPDX-License-Identifier: GPL-3.0-or-later
"""Median over neighbouring traces and samples: single wild samples and traces go, edges of events stay."""
import numpy
from lithoscope.external import serve


def median(cube, radius, half_length):
    """Median over 2 radius + 1 traces in both directions and 2 half_length + 1 samples; missing traces are NaNs."""
    reach = (radius, radius, half_length)
    padded = numpy.pad(cube, [(n, n) for n in reach], constant_values=numpy.nan)
    boxes = numpy.lib.stride_tricks.sliding_window_view(padded, [2 * n + 1 for n in reach])
    result = numpy.zeros_like(cube)
    for i in range(len(cube)):  # an inline at a time: the boxes take many times the memory of the cube
        values = numpy.sort(boxes[i].reshape(*cube.shape[1:], -1), axis=-1)  # NaNs go to the end
        count = numpy.isfinite(values).sum(axis=-1, keepdims=True)
        middle = [numpy.take_along_axis(values, numpy.maximum(n, 0), -1) for n in ((count - 1) // 2, count // 2)]
        result[i] = numpy.where(count > 0, 0.5 * (middle[0] + middle[1]), 0)[..., 0]
    return result


serve(median)
