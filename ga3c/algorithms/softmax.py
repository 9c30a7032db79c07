"""The policy over discrete actions: a softmax of logits, as pure functions of tensors. `gaussian` has the same ones."""

import tensorflow as tf


def act(outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
    """Samples actions. Returns the fields that go into the rollout's rows, [batch] each, by name.

    seed: int32 [2], another one for each batch. explore: not used; a softmax explores by itself.
    """
    logits, values = outputs[:2]
    actions = sample(logits, seed)
    return {"action": actions, "log_probability": log_probabilities(logits, actions), "value": values}


def sample(logits: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Returns samples of the softmaxes of logits [batch, actions], int32 [batch]."""
    # Gumbel-max: the largest of logit + Gumbel noise is a sample of the softmax.
    noise = tf.random.stateless_uniform(tf.shape(logits), seed, minval=1e-20)
    return tf.argmax(logits - tf.math.log(-tf.math.log(noise)), axis=1, output_type=tf.int32)


def log_probabilities(logits: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    """Returns log pi(a), float32 [batch], of actions int32 [batch] under logits [batch, actions]."""
    return tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)


def terms(logits: tf.Tensor, actions: tf.Tensor, log_epsilon: float = 0.0) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns log pi(a) and the entropy, float32 [batch] each; `log_epsilon` is added to pi inside the logarithms."""
    if not log_epsilon:
        log_pi = tf.nn.log_softmax(logits)
        return tf.gather(log_pi, actions, batch_dims=1), -tf.reduce_sum(tf.exp(log_pi) * log_pi, axis=1)
    pi = tf.nn.softmax(logits)
    taken = tf.gather(pi, actions, batch_dims=1)
    return tf.math.log(taken + log_epsilon), -tf.reduce_sum(pi * tf.math.log(pi + log_epsilon), axis=1)
