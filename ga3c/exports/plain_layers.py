"""The layers of this program, written with Keras' own, so that a file of them opens without this program."""

from collections.abc import Callable
from functools import partial

import keras
import numpy as np
from keras import layers, ops

from ga3c.networks.actor_critic import Rescaling
from ga3c.networks.heads import Denormalization, Deviation
from ga3c.networks.policy_value import PixelConvolution, StandardizingConvolution
from ga3c.networks.standardization_layer import FURTHEST, Standardization


def plain(network: keras.Model) -> keras.Model:
    """Returns a network that computes the same with Keras' own layers, and has the weights that the network has now.

    A Gaussian policy becomes its means alone. Half precision, which not all formats have, becomes float32. Layers
    of the user's own stay as they are.
    """
    return keras.models.clone_model(network, clone_function=_plain)


def _plain(layer) -> Callable:
    """Returns what is called in place of a layer: a function of tensors, or the layer itself."""
    if written := _WRITTEN.get(type(layer)):
        return partial(written, layer)
    if getattr(layer, "compute_dtype", "float32") == "bfloat16":
        return partial(_anew, layer, {"dtype": "float32"})
    return layer


def _anew(layer: layers.Layer, changes: dict, *tensors):
    """Returns what a layer does that differs from this one by `changes` of its configuration alone."""
    changed = type(layer).from_config(layer.get_config() | changes)
    outputs = changed(*tensors)
    changed.set_weights(layer.get_weights())
    return outputs


def _convolution(layer: layers.Conv2D, scaled):
    convolution = layers.Conv2D.from_config(layer.get_config() | {"dtype": "float32"})
    convolved = convolution(scaled)
    convolution.set_weights(layer.get_weights()[:2])  # without statistics
    return convolved


def _pixel_convolution(layer: PixelConvolution, pixels):
    return _convolution(layer, layers.Rescaling(1 / 255)(pixels))


def _standardizing_convolution(layer: StandardizingConvolution, pixels):
    """The mean is subtracted before the convolution. After it, the difference of two large numbers would remain, for
    which the few bits of quantized weights are not enough."""
    deviation = 4 * np.sqrt(np.maximum(layer.variance.numpy(), 1.0))
    return _convolution(layer, _standardized(layer.mean.numpy(), deviation)(pixels))


def _standardization(layer: Standardization, vectors):
    scaled = _standardized(layer.mean.numpy(), np.sqrt(layer.variance.numpy() + 1e-8))(vectors)
    return ops.clip(scaled, -FURTHEST, FURTHEST)


def _standardized(mean: np.ndarray, deviation: np.ndarray) -> Callable:
    """Returns what subtracts the mean and divides by the deviation. In this order it is exact where that is small."""
    subtract, divide = layers.Rescaling(1.0, (-mean).tolist()), layers.Rescaling((1 / deviation).tolist())
    return lambda tensor: divide(subtract(tensor))


def _denormalization(layer: Denormalization, normalized):
    """Returns the values alone, twice: nobody asks for the deviation."""
    values = layers.Rescaling(float(layer.deviation()), float(layer.mean.numpy()))(normalized)
    return values, values


def _rescaling(layer: Rescaling, numbers):
    if layer.inverse:
        return _standardized(layer.middle, layer.half)(numbers)
    return layers.Rescaling(layer.half.tolist(), layer.middle.tolist())(numbers)


def _cell(layer: layers.Layer, hidden, states):
    """A file has no room for the function that the cell's first biases are from."""
    return _anew(layer, {"bias_initializer": "zeros"}, hidden, states)


_WRITTEN = {
    PixelConvolution: _pixel_convolution,
    StandardizingConvolution: _standardizing_convolution,
    Standardization: _standardization,
    Denormalization: _denormalization,
    Deviation: lambda _, means: means,
    Rescaling: _rescaling,
    layers.GRUCell: _cell,
    layers.LSTMCell: _cell,
}
