"""Epsilon-greedy play: the best action, and with probability epsilon a random one."""

import numpy as np
import tensorflow as tf

from ga3c.algorithms import schedules
from ga3c.rollout import FORBIDDEN
from ga3c.settings.learning import DQN_EVALUATION_EPSILON, LearningSettings


def epsilon(steps: int, settings: LearningSettings, games: int) -> float | np.ndarray:
    """Returns epsilon after so many steps: one for all games, or float32 [games] (Horgan et al. 2018, section 4.1)."""
    if games and settings.exploration == "per-game":
        levels = settings.exploration_levels or games
        place = (np.arange(games) % levels / max(1, levels - 1)).astype(np.float32)
        return settings.exploration_base ** (1.0 + settings.exploration_exponent * place)
    return schedules.linear(
        steps, settings.exploration_start, settings.exploration_end, settings.exploration_decay_steps
    )


def scored(settings: LearningSettings, agents: int, games: int) -> np.ndarray:
    """Returns which games count for the score, with an epsilon for each game: bool [agents, games of each].

    They are those that explore no more than an evaluation of DQN (Mnih et al. 2015), or the one that explores least.
    The scores of the others depend on how much they explore.
    """
    epsilons = epsilon(0, settings, agents * games).reshape(agents, games)
    return epsilons <= max(DQN_EVALUATION_EPSILON, float(epsilons.min()))


def act(
    outputs: tuple[tf.Tensor, ...], seed: tf.Tensor, explore: tf.Tensor, masked: bool = False
) -> dict[str, tf.Tensor]:
    """Returns the best action, or with probability `explore` a random one, and what is known of it, by field.

    outputs: action values float32 [batch, actions], the largest of them [batch]; more are not used.
    seed: int32 [2], another one for each batch.
    explore: float32, [] for the whole batch, or [batch].
    masked: some actions are FORBIDDEN, and are never taken.
    """
    q_values, best_values = outputs[:2]
    actions = q_values.shape[1]
    whether, which = tf.unstack(tf.random.stateless_uniform((tf.shape(q_values)[0], 2), seed), axis=1)
    best = tf.argmax(q_values, axis=1, output_type=tf.int32)
    if masked:
        allowed = tf.cast(q_values > FORBIDDEN / 2, tf.int32)
        number, actions = _numbered(allowed, which)
    else:
        number = tf.minimum(tf.cast(which * actions, tf.int32), actions - 1)
    taken = tf.where(whether < explore, number, best)
    probability = explore / actions + tf.where(taken == best, 1.0 - explore, 0.0)
    return {
        "action": taken,
        "log_probability": tf.math.log(probability),
        "value": best_values,
        "action_value": tf.gather(q_values, taken, batch_dims=1),
    }


def _numbered(allowed: tf.Tensor, which: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns one of the allowed actions of each state, int32 [batch], and how many there are, float32 [batch].

    allowed: int32 [batch, actions], 1 or 0. which: float32 [batch], from 0 to 1: where it stands among them.
    """
    count = tf.maximum(tf.reduce_sum(allowed, axis=1), 1)
    number = tf.minimum(tf.cast(which * tf.cast(count, tf.float32), tf.int32), count - 1)
    after = tf.cast(tf.cumsum(allowed, axis=1) > number[:, None], tf.int32)
    return tf.argmax(after, axis=1, output_type=tf.int32), tf.cast(count, tf.float32)
