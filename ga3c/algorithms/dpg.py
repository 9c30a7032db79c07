"""Ape-X DPG (Horgan et al. 2018, section 3.2 and appendix D): deterministic policy gradients, learned from a replay."""

import itertools
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import tensorflow as tf

from ga3c.algorithms import norms, optimizers
from ga3c.algorithms.algorithm import Tensors
from ga3c.algorithms.clipping import clip
from ga3c.algorithms.dqn import DQN
from ga3c.algorithms.sequences import flat
from ga3c.settings.run import Settings


class DPG(DQN):
    """DQN's update of a critic, and an actor that it judges, for continuous actions.

    Outputs of its network (`networks.actor_critic`): actions pi(s) [batch, n], their values q(s, pi(s)) [batch], and a
    function that gives the values of other actions.
    """

    network_options: ClassVar[dict] = {}
    _own_optimizer = staticmethod(optimizers.of_adam)

    def __init__(self, settings: Settings, actions):
        """actions: those of the game, a `rollout.Actions` with bounds."""
        super().__init__(settings, actions)
        self._low, self._high = np.array(actions.low, np.float32), np.array(actions.high, np.float32)

    def act(self, outputs: tuple, seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the policy's actions with normal noise, within their bounds; fields as `softmax.act`.

        explore: float32, the standard deviation of the noise. The unit is half of the way from bound to bound.
        """
        actions, values, values_of = outputs
        noise = explore * tf.random.stateless_normal(tf.shape(actions), seed)
        taken = tf.clip_by_value(actions + noise * (self._high - self._low) / 2, self._low, self._high)
        return {"action": taken, "value": values, "action_value": values_of(taken)}

    def exploration(self, steps: int, games: int = 0) -> float:
        """Returns the standard deviation of the noise, which stays the same."""
        return self._settings.exploration_noise

    def update(
        self, apply: Callable, weights: Tensors, state: Tensors, learning_rate: tf.Tensor, batch: dict, target: Callable
    ) -> tuple:
        """Makes one update of both networks from transitions [1, batch, ...], as `algorithm.Algorithm.update` says.

        The critic's loss is the mean of (G - q(s, a))^2 / 2 times the transitions' weights, with G = R + discount
        q'(s', pi'(s')). The actor's loss is the mean of -q(s, pi(s)); it changes no weight of the critic.
        """
        rows = {name: flat(field) for name, field in batch.items()}
        wanted = rows["return"] + rows["discount"] * target(rows["next_observation"])[1]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(weights)
            _, values, values_of = apply(weights, rows["observation"])
            taken = values_of(rows["action"])
            errors = wanted - taken
            loss, policy_loss = 0.5 * tf.reduce_mean(rows["weight"] * tf.square(errors)), -tf.reduce_mean(values)
        of_critic, of_actor = tape.gradient(loss, weights), tape.gradient(policy_loss, weights)
        count = tf.cast(tf.size(rows["weight"]), tf.float32)
        gradients, critics = self._put_together(of_critic, of_actor, count)
        limited, norm, clipped = self._clipped(gradients, critics)
        new_weights, state = self._optimizer.update(weights, state, limited, learning_rate)
        numbers = {
            "loss": loss,
            "policy_loss": policy_loss,
            "value": tf.reduce_mean(taken),
            "value_error": tf.sqrt(tf.reduce_mean(tf.square(errors))),
            "gradient_norm": norm,  # the critic's, before clipping
            "clipped_share": clipped,
        }
        numbers |= norms.of_update(self._settings, weights, new_weights, gradients)
        return new_weights, state, numbers, errors

    def _put_together(
        self, of_critic: list, of_actor: list, count: tf.Tensor
    ) -> tuple[Sequence[tf.Tensor], list[bool]]:
        """Returns the gradients of all weights over all devices, and which of the weights are the critic's: those on
        which the value of an action that was taken depends."""
        critics = [one is not None for one in of_critic]
        own = [critic if mine else actor for critic, actor, mine in zip(of_critic, of_actor, critics, strict=True)]
        return self.devices.gradients(own, count), critics

    def _clipped(
        self, gradients: Sequence[tf.Tensor], critics: list[bool]
    ) -> tuple[list[tf.Tensor], tf.Tensor, tf.Tensor]:
        """Limits the norm of the critic's gradient and the elements of the actor's. Returns the gradients, the critic's
        norm before that, and 1.0 if it was limited, else 0.0."""
        limit = self._settings.actor_gradient_clip
        own, norm, clipped = clip(list(itertools.compress(gradients, critics)), self._settings.gradient_clip_norm)
        own = iter(own)
        return (
            [
                next(own) if mine else tf.clip_by_value(one, -limit, limit) if limit else one
                for one, mine in zip(gradients, critics, strict=True)
            ],
            norm,
            clipped,
        )
