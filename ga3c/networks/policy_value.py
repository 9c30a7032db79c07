"""The paper's networks (sections 3.2 and 5.1, footnote 2), and one for smaller pictures.

Convolutions are unpadded, as in Mnih et al. 2016.
"""

import keras
from keras import layers, ops

from ga3c.networks import heads
from ga3c.rollout import Actions


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

    def convolution_op(self, inputs, kernel):
        # A screen that never changed has no deviation: at least one grey level is taken.
        scale = 0.25 * ops.rsqrt(ops.maximum(ops.cast(self.variance, "float32"), 1.0))
        kernel = kernel * ops.cast(scale, self.compute_dtype)
        mean = ops.cast(self.mean, "float32")[None]
        if self.compute_dtype != "float32":  # the difference of two results that are nearly the same would be rounding
            return super().convolution_op(ops.cast(ops.cast(inputs, "float32") - mean, self.compute_dtype), kernel)
        pixels = super().convolution_op(ops.cast(inputs, self.compute_dtype), kernel)
        return pixels - super().convolution_op(mean, kernel)


def _network(
    observation_shape: tuple[int, int, int],
    actions: Actions,
    convolutions: list[tuple[int, int, int]],
    standardize: bool,
    dtype: str,
    normalize_values: bool,
):
    """Returns convolutions (filters, kernel, stride), 256 units and two heads. dtype: that of all but the heads.

    Input: uint8 [batch, height, width, channels].
    Output: (policy [batch, actions.policy_size], *`heads.value`), float32.
    """
    observations = keras.Input(observation_shape, dtype="uint8")
    hidden, convolution = observations, StandardizingConvolution if standardize else PixelConvolution
    for filters, kernel, stride in convolutions:
        convolve = convolution(filters, kernel, stride, activation="relu", kernel_initializer="he_uniform", dtype=dtype)
        hidden, convolution = convolve(hidden), layers.Conv2D
    hidden = layers.Flatten(dtype=dtype)(hidden)
    hidden = layers.Dense(256, activation="relu", kernel_initializer="he_uniform", dtype=dtype)(hidden)
    # Both start near zero: where scores are rare, values of a few points are errors that spoil the layers below.
    policy = heads.policy(hidden, actions)
    value = heads.value(hidden, keras.initializers.Orthogonal(0.01), normalize_values)
    return keras.Model(observations, (policy, *value))


def small(
    observation_shape: tuple[int, int, int],
    actions: Actions,
    standardize: bool,
    dtype: str = "float32",
    normalize_values: bool = False,
) -> keras.Model:
    """Returns a network of 16 filters 8x8 stride 4, 32 filters 4x4 stride 2, 256 units."""
    return _network(observation_shape, actions, [(16, 8, 4), (32, 4, 2)], standardize, dtype, normalize_values)


def compact(
    observation_shape: tuple[int, int, int],
    actions: Actions,
    standardize: bool,
    dtype: str = "float32",
    normalize_values: bool = False,
) -> keras.Model:
    """Returns a network of 16 filters 6x6 stride 3, 32 filters 3x3 stride 2, 256 units.

    Pictures of 42x42 become 13x13 and 6x6: a third of the multiplications that `small` makes with 84x84.
    """
    return _network(observation_shape, actions, [(16, 6, 3), (32, 3, 2)], standardize, dtype, normalize_values)


def large(
    observation_shape: tuple[int, int, int],
    actions: Actions,
    standardize: bool,
    first_stride: int,
    dtype: str = "float32",
    normalize_values: bool = False,
) -> keras.Model:
    """Returns a network of 32 filters 8x8 with stride 1 to 4, 32 filters 4x4 and 64 filters 4x4 stride 2, 256 units."""
    return _network(
        observation_shape,
        actions,
        [(32, 8, first_stride), (32, 4, 2), (64, 4, 2)],
        standardize,
        dtype,
        normalize_values,
    )
