# SPDX-License-Identifier: GPL-3.0-or-later
"""A neural network as an operator: an ONNX model of one input and one output of the same shape, run by onnxruntime.

    python3 -m pip install onnxruntime numpy
"""
import functools
import numpy
from lithoscope.external import serve


@functools.lru_cache(maxsize=1)
def load(model, threads):
    """The model once for all requests: reading it takes longer than a slice."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if len(session.get_inputs()) != 1 or len(session.get_outputs()) != 1:
        raise ValueError(f"{model} has {len(session.get_inputs())} inputs and {len(session.get_outputs())} outputs; "
                         "one of each is needed")
    return session, session.get_inputs()[0]


def network(cube, model, amplitude, removes, about, **halo):
    """The model sees samples over `amplitude`, either [1, 1, inline, crossline, sample] or [inline, 1, crossline,
    sample]; with `removes` what it gives is noise, and is taken away."""
    if not model:
        raise ValueError("model is empty; an ONNX file is needed")
    session, entry = load(model, about["threads"])
    shape = {5: (1, 1, *cube.shape), 4: (cube.shape[0], 1, *cube.shape[1:])}.get(len(entry.shape))
    if shape is None:
        raise ValueError(f"{model} takes {len(entry.shape)} dimensions; 4 (sections) or 5 (cubes) are needed")
    given = (cube / amplitude).astype(numpy.float32).reshape(shape)
    result, = session.run(None, {entry.name: given})
    if result.shape != given.shape:
        raise ValueError(f"{model} gives {result.shape} for {given.shape}; the same shape is needed")
    result = amplitude * result.reshape(cube.shape)
    return cube - result if removes else result


serve(network)
