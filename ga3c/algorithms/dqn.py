"""DQN (Mnih et al. 2015) with its extensions, and C51 (Bellemare et al. 2017), which learn from a replay."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from ga3c.algorithms import exploration, norms, optimizers, q_learning, schedules
from ga3c.algorithms.algorithm import Tensors
from ga3c.algorithms.alone import ALONE
from ga3c.algorithms.clipping import clip_to
from ga3c.algorithms.sequences import flat
from ga3c.settings.run import Settings


class DQN:
    """An `algorithm.Algorithm` that learns from transitions of a replay (`rollout.transition_dtype`).

    Outputs of its network: (action values [batch, actions], the largest of them [batch]).
    """

    learns_from = ("observation", "action", "return", "discount", "next_observation", "weight")
    replays = True
    initial_errors = True  # the error of a transition is known from what `act` returns for its step
    _own_optimizer = staticmethod(optimizers.of_centred_rmsprop)
    devices = ALONE
    central = None
    local_steps = 1

    def __init__(self, settings: Settings, actions=None):
        """actions: those of the game, a `rollout.Actions`; discrete ones. None: all of them are always allowed."""
        self._settings, self._replay, self._run_steps = settings.learning, settings.replay, settings.run.steps
        self._masked = actions is not None and actions.masked

    def act(self, outputs: Tensors, seed: tf.Tensor, explore: tf.Tensor) -> dict[str, tf.Tensor]:
        """Returns the best actions, or random ones, as `exploration.act` says."""
        return exploration.act(outputs, seed, explore, self._masked)

    @property
    def network_options(self) -> dict:
        """Arguments of `networks.build`: whether the network is dueling, and no distribution of values."""
        return {"dueling": self._replay.dueling, "support": None}

    def exploration(self, steps: int, games: int = 0) -> float | np.ndarray:
        """Returns epsilon after so many steps of play, as `exploration.epsilon` says."""
        return exploration.epsilon(steps, self._settings, games)

    def learning_rate(self, steps: int) -> float:
        """Returns the step size after so many steps of play."""
        return schedules.learning_rate(steps, self._settings, self._run_steps)

    def initial_state(self, weights: Tensors) -> Tensors:
        """Returns the state of the optimizer before the first update."""
        return self._optimizer.initial_state(weights)

    @property
    def _optimizer(self) -> optimizers.Optimizer:
        return optimizers.chosen(self._settings, self._own_optimizer)

    @property
    def decays(self) -> tuple[float | None, ...]:
        """The decays of the running means in the optimizer's state."""
        return self._optimizer.decays

    def update(
        self, apply: Callable, weights: Tensors, state: Tensors, learning_rate: tf.Tensor, batch: dict, target: Callable
    ) -> tuple:
        """Makes one update from transitions [1, batch, ...], as `algorithm.Algorithm.update` says.

        The loss is the mean of the transitions' losses, times their weights.
        """
        rows = {name: flat(field) for name, field in batch.items()}
        outputs = target(rows["next_observation"])
        choosing = apply(weights, rows["next_observation"]) if self._replay.double_q else outputs
        wanted = self._target(rows, outputs, choosing[0])
        with tf.GradientTape() as tape:
            tape.watch(weights)
            losses, errors, taken = self._losses(apply(weights, rows["observation"]), rows["action"], wanted)
            loss = tf.reduce_mean(rows["weight"] * losses)
        count = tf.cast(tf.size(rows["weight"]), tf.float32)
        gradients = self.devices.gradients(tape.gradient(loss, weights), count)
        norm, before = tf.linalg.global_norm(gradients), weights
        if self.central is None:
            weights, state, clipped = self._fused_step(weights, state, gradients, norm, learning_rate)
        else:
            limited, clipped = clip_to(gradients, norm, self._settings.gradient_clip_norm)
            weights, state = self.central.step(self._optimizer.update, weights, state, limited, learning_rate)
        numbers = {
            "loss": loss,
            "value": tf.reduce_mean(taken),
            "value_error": tf.sqrt(tf.reduce_mean(tf.square(errors))),
            "gradient_norm": norm,  # before clipping
            "clipped_share": clipped,
        }
        numbers |= norms.of_update(self._settings, before, weights, gradients)
        return weights, state, numbers, errors

    @tf.function(jit_compile=True, autograph=False)
    def _fused_step(self, weights, state, gradients, norm, learning_rate):
        """Clips and steps in one compiled pass over the weights. Run operation by operation, this would take half as
        long as computing the gradients. The norms are faster outside."""
        gradients, clipped = clip_to(gradients, norm, self._settings.gradient_clip_norm)
        return *self._optimizer.update(weights, state, gradients, learning_rate), clipped

    def _target(self, rows: dict[str, tf.Tensor], outputs: Tensors, choosing: tf.Tensor) -> tf.Tensor:
        """Returns what the values of the actions taken should have been, float32 [batch]."""
        return q_learning.targets(rows["return"], rows["discount"], outputs[0], choosing)

    def _losses(self, outputs, actions: tf.Tensor, wanted: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Returns the loss of each transition, its error and the value of its action; float32 [batch] each."""
        taken = q_learning.action_values(outputs[0], actions)
        return q_learning.huber(wanted - taken, self._settings.error_clip), wanted - taken, taken


class C51(DQN):
    """DQN that learns the distribution of returns over `atoms` values, by cross entropy (Bellemare et al. 2017).

    The third output of its network is the distribution's logits [batch, actions, atoms].
    """

    initial_errors = False  # its errors are of distributions
    _own_optimizer = staticmethod(optimizers.of_adam)

    @property
    def network_options(self):
        """Arguments of `networks.build`: whether the network is dueling, and the values of its distribution."""
        limit = self._replay.value_limit
        return {"dueling": self._replay.dueling, "support": (-limit, limit, self._replay.atoms)}

    def _target(self, rows, outputs, choosing):
        """Returns the distribution of the best action's return, float32 [batch, atoms]."""
        best = tf.argmax(choosing, axis=1, output_type=tf.int32)
        probabilities = tf.nn.softmax(q_learning.action_values(outputs[2], best))
        limit = self._replay.value_limit
        return q_learning.projection(rows["return"], rows["discount"], probabilities, -limit, limit)

    def _losses(self, outputs, actions, wanted):
        """Returns the cross entropy as loss, and it or the KL divergence as error (`priority_error`)."""
        losses = q_learning.cross_entropy(wanted, q_learning.action_values(outputs[2], actions))
        errors = losses
        if self._replay.priority_error == "kl":
            errors = losses + tf.reduce_sum(tf.math.xlogy(wanted, wanted), axis=1)  # minus the target's entropy
        return losses, errors, q_learning.action_values(outputs[0], actions)
