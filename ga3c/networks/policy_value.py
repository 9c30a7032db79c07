"""The paper's networks (sections 3.2 and 5.1, footnote 2), and one for smaller pictures.

Convolutions are unpadded, as in Mnih et al. 2016.
"""

from collections.abc import Callable
from functools import partial

import keras
from keras import layers, ops

from ga3c.networks import heads, inputs
from ga3c.networks.inputs import Seen
from ga3c.networks.recurrent import Memory, Recurrent, network
from ga3c.rollout import Actions

Sizes = tuple[tuple[int, int, int], ...]  # filters, kernel and stride of each convolution
DQN: Sizes = ((32, 8, 4), (64, 4, 2), (64, 3, 1))  # of Mnih et al. 2015
# By the network's name. compact is for pictures of 42x42, which become 13x13 and 6x6. It makes a third of the
# multiplications that small makes with 84x84.
CONVOLUTIONS: dict[str, Sizes] = {
    "small": ((16, 8, 4), (32, 4, 2)),
    "compact": ((16, 6, 3), (32, 3, 2)),
    **{f"large-stride-{first}": ((32, 8, first), (32, 4, 2), (64, 4, 2)) for first in (4, 3, 2, 1)},
}


class PixelConvolution(layers.Conv2D):
    """A convolution over bytes, scaled to 0..1. It scales its kernel, which gives the same for less work."""

    def convolution_op(self, inputs, kernel):
        return super().convolution_op(ops.cast(inputs, self.compute_dtype), kernel / 255)


class StandardizingConvolution(layers.Conv2D):
    """A convolution over bytes minus their mean, divided by four deviations: k * (x - mean) = k * x - k * mean.

    Moving things are many deviations from the mean: divided by one, they would give the next layers far too large
    inputs. Its three weights, which no gradient changes, are `standardization.Statistics`, in that order.
    """

    def build(self, input_shape):
        super().build(input_shape)
        for name, shape, value in (("mean", input_shape[1:], 0.0), ("variance", (), 128.0**2), ("count", (), 0.0)):
            initializer = keras.initializers.Constant(value)
            setattr(self, name, self.add_weight(name=name, shape=shape, initializer=initializer, trainable=False))

    def call(self, inputs):
        # A screen that never changed has no deviation: at least one grey level is taken.
        scale = 0.25 * ops.rsqrt(ops.maximum(ops.cast(self.variance, "float32"), 1.0))
        kernel = self.kernel * ops.cast(scale, self.compute_dtype)
        mean = ops.cast(self.mean, "float32")[None]
        if self.compute_dtype != "float32":  # the difference of two results that are nearly the same would be rounding
            pixels, added = ops.cast(ops.cast(inputs, "float32") - mean, self.compute_dtype), self.bias
        else:  # one sum for each picture, and one gradient, as for the bias alone
            pixels, added = ops.cast(inputs, "float32"), self.bias - self.convolution_op(mean, kernel)
        return self.activation(self.convolution_op(pixels, kernel) + added)


def convolved(seen: Seen, sizes: Sizes, dtype: str, after: Callable = lambda hidden: hidden, **options):
    """Returns the inputs of a network with convolutions, and a vector of all features, [batch, n].

    after: what follows each convolution, a function from features to features. options: of all convolutions.
    """
    first = StandardizingConvolution if seen.standardize else PixelConvolution  # it scales the bytes

    def convolve(picture, first_name: str | None):
        hidden, layer = picture, partial(first, name=first_name)
        for filters, kernel, stride in sizes:
            hidden, layer = after(layer(filters, kernel, stride, dtype=dtype, **options)(hidden)), layers.Conv2D
        return hidden

    return inputs.pictures(seen, convolve, dtype)


def images(
    name: str,
    seen: Seen,
    actions: Actions,
    dtype: str = "float32",
    normalize_values: bool = False,
    memory: Memory | None = None,
) -> keras.Model | Recurrent:
    """Returns the convolutions of `name` (`CONVOLUTIONS`), 256 units, a `memory` if there is to be one, and two heads.
    dtype: that of all but memory and heads.

    Input: uint8 [batch, height, width, channels]; or a dict of parts.
    Output: (policy [batch, actions.policy_size], *`heads.value`), float32.
    """
    options = {"dtype": dtype, "activation": "relu", "kernel_initializer": "he_uniform"}
    observations, features = convolved(seen, CONVOLUTIONS[name], **options)
    hidden = layers.Dense(256, **options)(features)
    # Both start near zero: where scores are rare, values of a few points are errors that spoil the layers below.
    last = partial(heads.policy_and_value, actions=actions, gain=0.01, normalize=normalize_values)
    return network(observations, hidden, last, memory)
