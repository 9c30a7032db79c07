"""The norms of updates, and those of single layers (Stooke and Abbeel 2018, appendix C)."""

from collections.abc import Sequence

import tensorflow as tf

from ga3c.settings.learning import LearningSettings

_RANKS = {"conv0": 4, "fc0": 2}  # the first tensor of this rank is the layer's filters, or its matrix


def by_layer(kind: str, tensors: Sequence[tf.Tensor]) -> dict[str, tf.Tensor]:
    """Returns the norms of the first convolution's and the first fully connected layer's tensor, by name.

    tensors: the weights of a network, or something of the same shapes. kind: what they are. A bias is no part of a
    layer here. A network without convolutions has one norm.
    """
    layers = {name: next((t for t in tensors if len(t.shape) == rank), None) for name, rank in _RANKS.items()}
    return {f"{name}_{kind}_norm": tf.norm(tensor) for name, tensor in layers.items() if tensor is not None}


def of_gradients(gradients: Sequence[tf.Tensor], settings: LearningSettings) -> dict[str, tf.Tensor]:
    """Returns the norms of a gradient that has not been clipped yet; none, unless they are recorded."""
    return by_layer("gradient", gradients) if settings.record_norms else {}


def of_update(
    settings: LearningSettings, before: Sequence[tf.Tensor], after: Sequence[tf.Tensor], gradients: Sequence[tf.Tensor]
) -> dict[str, tf.Tensor]:
    """Returns the norm of what an update added to all weights, and further ones if they are recorded.

    These are that of all weights after it; and by layer those of the weights after it, of what it added to them, and of
    the gradients, as in `of_gradients`.
    """
    added = [new - old for new, old in zip(after, before, strict=True)]
    found = {"update_norm": tf.linalg.global_norm(added)}
    if settings.record_norms:
        found |= {"weight_norm": tf.linalg.global_norm(after)} | by_layer("weight", after) | by_layer("update", added)
    return found | of_gradients(gradients, settings)
