# SPDX-License-Identifier: GPL-3.0-or-later
"""Predictive deconvolution of each trace (Peacock and Treitel 1969, doi:10.1190/1.1440003)."""
import numpy
from lithoscope.external import serve


def deconvolve(cube, gap, length, prewhitening, about):
    """Subtracts from each trace what its own past predicts, `gap` ms ahead, with a filter of `length` ms."""
    dt = 1000 * about["sample_interval"]
    lag, n = max(1, round(gap / dt)), max(1, round(length / dt))
    result = numpy.empty_like(cube)
    index = numpy.abs(numpy.subtract.outer(numpy.arange(n), numpy.arange(n)))
    size = 2 * cube.shape[2]
    for i, traces in enumerate(cube.astype(float)):
        spectra = numpy.fft.rfft(traces, size)
        correlation = numpy.fft.irfft(numpy.abs(spectra) ** 2, size)[:, :n + lag]
        scale = correlation[:, :1]
        correlation = correlation / numpy.where(scale > 0, scale, 1)
        matrix = correlation[:, index] + (0.01 * prewhitening + (scale[:, :, None] <= 0)) * numpy.eye(n)
        filters = numpy.linalg.solve(matrix, correlation[:, lag:lag + n, None])[..., 0]
        predicted = numpy.fft.irfft(spectra * numpy.fft.rfft(filters, size), size)
        result[i] = traces
        result[i, :, lag:] -= predicted[:, :max(cube.shape[2] - lag, 0)]
    return result


serve(deconvolve)
