"""Means over the valid steps of a batch, as pure functions of tensors [batch]."""

import tensorflow as tf


def total(terms: tf.Tensor, valid: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.where(valid, terms, 0.0))


def count(valid: tf.Tensor) -> tf.Tensor:
    """Returns the number of valid steps, float32; 1 where there is none."""
    return tf.maximum(tf.reduce_sum(tf.cast(valid, tf.float32)), 1.0)


def mean(terms: tf.Tensor, valid: tf.Tensor) -> tf.Tensor:
    """Returns the mean of the valid steps; 0 where there is none."""
    return total(terms, valid) / count(valid)


def variance(terms: tf.Tensor, valid: tf.Tensor) -> tf.Tensor:
    return mean(tf.square(terms - mean(terms, valid)), valid)


def normalized(terms: tf.Tensor, valid: tf.Tensor) -> tf.Tensor:
    """Returns the terms minus their mean, divided by their standard deviation."""
    return (terms - mean(terms, valid)) * tf.math.rsqrt(variance(terms, valid) + 1e-8)


def root_mean_square(terms: tf.Tensor, valid: tf.Tensor) -> tf.Tensor:
    return tf.sqrt(mean(tf.square(terms), valid))


def explained_variance(returns: tf.Tensor, values: tf.Tensor, valid: tf.Tensor) -> tf.Tensor:
    """Returns 1 - var(R - V) / var(R), at least -1. Perfect values have 1, a constant has 0."""
    return tf.maximum(1.0 - variance(returns - values, valid) / tf.maximum(variance(returns, valid), 1e-8), -1.0)
