"""The signature of a deployed agent: its inputs and outputs by name, and the function that a file holds."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

Arrays = dict[str, np.ndarray]  # inputs or outputs by name, [batch, ...] each
Runtime = Callable[[Arrays], Arrays]  # a file that was read again


def described(tensors: dict) -> list[dict]:
    """Returns inputs or outputs of a model as plain values, for JSON. The first axis of a shape is the batch."""
    return [{"name": name, "dtype": one.dtype, "shape": list(one.shape)} for name, one in tensors.items()]


def frozen(model: keras.Model, batch: int | None = None):
    """Returns a model as a tf.function whose weights are constants, and the signature of its inputs.

    batch: how many observations it takes at a time; None: any number.
    """
    trained, others = (
        [variable.numpy() for variable in variables]
        for variables in (model.trainable_variables, model.non_trainable_variables)
    )
    signature = specs(model, batch)

    def decide(*inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        named = {one.name: tensor for one, tensor in zip(signature, inputs, strict=True)}
        return model.stateless_call(trained, others, named)[0]

    return tf.function(decide, input_signature=signature, autograph=False), signature


def specs(model: keras.Model, batch: int | None) -> list[tf.TensorSpec]:
    """Returns the specs of a model's inputs, in their order."""
    return [tf.TensorSpec((batch, *one.shape[1:]), one.dtype, name) for name, one in model.input.items()]
