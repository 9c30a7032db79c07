"""Networks with and without a memory, run over the rows of a batch of rollouts.

A memory starts at the first row of a rollout from the state that it had when that row was played, and everything after
that is computed anew with the weights of now: gradients go back through time to the first row, and no further. So with
policy lag, and after the first epoch of PPO, the one thing that is old is the state before the first row, which older
weights have made. It is taken as it is ("stored state", Kapturowski et al. 2019, section 3, without burn-in): rollouts
are few updates old, other than those of a replay. What older weights did with it enters V-trace's and PPO's ratios,
because these compare the policy that has acted with the one that is computed from the same state now.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ga3c.algorithms.algorithm import Tensors

FIELDS = ("recurrent_state", "restart")  # of a rollout, which a network with a memory needs besides


def flat(field: tf.Tensor) -> tf.Tensor:
    """Returns a field [time, columns, ...] as [time * columns, ...]."""
    return tf.reshape(field, (-1, *field.shape[2:]))


def outputs_of(apply: Callable, weights: Tensors, batch: dict[str, tf.Tensor]) -> tuple[Tensors, Any]:
    """Returns the outputs of the network for all rows, [time * columns, ...], and what it remembers after the last one:
    None without a memory."""
    if "restart" not in batch:
        return apply(weights, flat(batch["observation"])), None
    # A row that is neither a step nor a restart is padding: the state of its game waits for the last observation.
    held = ~(batch["valid"] | batch["restart"])
    return apply(weights, flat(batch["observation"]), batch["recurrent_state"], batch["restart"], held)


def last_value(apply: Callable, weights: Tensors, batch: dict[str, tf.Tensor], remembered: Any) -> tf.Tensor:
    """Returns the value of the state after the last row, [columns]. remembered: what `outputs_of` has returned."""
    if remembered is None:
        return apply(weights, batch["last_observation"])[1]
    outputs, _ = apply(weights, batch["last_observation"], remembered)
    return outputs[1]


def by_column(fields: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Swaps the axes of fields [time, columns, ...]; and back. What the network remembers is [columns, size] always."""
    return {
        name: field if name == "recurrent_state" else tf.transpose(field, (1, 0, *range(2, field.shape.rank)))
        for name, field in fields.items()
    }
