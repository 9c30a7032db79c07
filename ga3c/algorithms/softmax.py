"""Actions of a policy that is a softmax of logits, as pure functions of tensors."""

import tensorflow as tf


def act(outputs: tuple[tf.Tensor, tf.Tensor], seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
    """Samples actions. Returns what goes into the rows that asked, [batch] each, by the names of their fields.

    seed: int32 [2], of this batch alone. explore: not used; a softmax explores by itself.
    """
    logits, values = outputs
    # Gumbel-max: the largest of logit + Gumbel noise is a sample of the softmax.
    noise = tf.random.stateless_uniform(tf.shape(logits), seed, minval=1e-20)
    actions = tf.argmax(logits - tf.math.log(-tf.math.log(noise)), axis=1, output_type=tf.int32)
    return {"action": actions, "log_probability": log_probabilities(logits, actions), "value": values}


def log_probabilities(logits: tf.Tensor, actions: tf.Tensor) -> tf.Tensor:
    """log pi(a), float32 [batch], of actions int32 [batch] under logits [batch, actions]."""
    return tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)
