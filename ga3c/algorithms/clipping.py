"""Gradients with a limit for their norm."""

from collections.abc import Sequence

import tensorflow as tf


def clip(gradients: Sequence[tf.Tensor], limit: float) -> tuple[Sequence[tf.Tensor], tf.Tensor, tf.Tensor]:
    """Scales all gradients together down to the norm `limit`. 0 means no limit.

    Returns: the gradients, their norm before that, and 1.0 where they were scaled, else 0.0.
    """
    norm = tf.linalg.global_norm(gradients)
    gradients, clipped = clip_to(gradients, norm, limit)
    return gradients, norm, clipped


def clip_to(gradients: Sequence[tf.Tensor], norm: tf.Tensor, limit: float) -> tuple[Sequence[tf.Tensor], tf.Tensor]:
    """Scales gradients whose norm is known. Returns: the gradients, and 1.0 where they were scaled, else 0.0."""
    if not limit:
        return gradients, tf.constant(0.0)
    clipped, _ = tf.clip_by_global_norm(gradients, limit, use_norm=norm)
    return clipped, tf.cast(norm > limit, tf.float32)
