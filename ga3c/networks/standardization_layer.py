"""The layer that standardises vectors."""

from keras import layers, ops

FURTHEST = 10.0  # standardized numbers are clipped to plus or minus this


class Standardization(layers.Layer):
    """Subtracts the mean of each number of a vector, divides by its standard deviation, and clips.

    Its three weights, which no gradient changes, are `standardization.Statistics`, in that order.
    """

    def build(self, input_shape):
        for name, shape, initializer in (
            ("mean", input_shape[1:], "zeros"),
            ("variance", input_shape[1:], "ones"),
            ("count", (), "zeros"),
        ):
            setattr(self, name, self.add_weight(name=name, shape=shape, initializer=initializer, trainable=False))

    def call(self, vectors):
        deviation = ops.sqrt(ops.convert_to_tensor(self.variance) + 1e-8)
        return ops.clip((vectors - ops.convert_to_tensor(self.mean)) / deviation, -FURTHEST, FURTHEST)
