"""DQN (Mnih et al. 2015), what was put on it, and C51 (Bellemare et al. 2017): from transitions of a replay."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from ga3c.algorithms import adam, exploration, q_learning, rmsprop, schedules
from ga3c.algorithms.a3c import flat
from ga3c.algorithms.alone import ALONE
from ga3c.algorithms.clipping import clip_to
from ga3c.settings.learning import LearningSettings
from ga3c.settings.replay import ReplaySettings


class DQN:
    """What a `Model` is given, as `a3c.A3C`; it learns from transitions (`rollout.transition_dtype`).

    A network's outputs are (action values [batch, actions], the largest of them [batch]).
    """

    learns_from = ("observation", "action", "return", "discount", "next_observation", "weight")
    replays = True
    initial_errors = True  # what `act` says of a step tells the error of its transition
    devices = ALONE
    act = staticmethod(exploration.act)

    def __init__(self, settings: LearningSettings, replay: ReplaySettings, run_steps: int | None):
        """run_steps: after which the run ends."""
        self._settings, self._replay, self._run_steps = settings, replay, run_steps
        self.network_options = {"dueling": replay.dueling, "support": None}

    def exploration(self, steps: int, games: int = 0) -> float | np.ndarray:
        """Epsilon after so many steps of play, as `exploration.epsilon`."""
        return exploration.epsilon(steps, self._settings, games)

    def learning_rate(self, steps: int) -> float:
        """After so many steps of play."""
        return schedules.learning_rate(steps, self._settings, self._run_steps)

    def initial_state(self, weights: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
        """What the optimizer keeps, before the first update."""
        return rmsprop.initial_state_centred(weights)

    @property
    def decays(self) -> tuple[float | None, ...]:
        """As `a3c.A3C.decays`."""
        return (self._settings.rmsprop_decay,) * 2

    local_steps = 1

    def update(
        self,
        apply: Callable,
        weights: tuple[tf.Tensor, ...],
        state: tuple[tf.Tensor, ...],
        learning_rate: tf.Tensor,
        batch: dict[str, tf.Tensor],
        target: Callable,
    ) -> tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...], dict[str, tf.Tensor], tf.Tensor]:
        """One update from transitions [1, batch] each. `target(observations)`: outputs of the target network.

        The loss is the mean of those of the transitions, times their weights.

        Returns: new weights, new state of the optimizer, numbers by name, and float32 [batch] errors, by whose size
        the replay's priorities go.
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
        weights, state, clipped = self._fused_step(weights, state, gradients, norm, learning_rate)
        numbers = {
            "loss": loss,
            "value": tf.reduce_mean(taken),
            "value_error": tf.sqrt(tf.reduce_mean(tf.square(errors))),
            "gradient_norm": norm,  # before it was clipped
            "clipped_share": clipped,
            "update_norm": tf.linalg.global_norm([new - old for new, old in zip(weights, before, strict=True)]),
        }
        return weights, state, numbers, errors

    @tf.function(jit_compile=True, autograph=False)
    def _fused_step(self, weights, state, gradients, norm, learning_rate):
        """As one pass over the weights: operation by operation it takes half as long as the gradients. The norms are
        faster without."""
        gradients, clipped = clip_to(gradients, norm, self._settings.gradient_clip_norm)
        return *self._step(weights, state, gradients, learning_rate), clipped

    def _target(self, rows: dict[str, tf.Tensor], outputs: tuple[tf.Tensor, ...], choosing: tf.Tensor) -> tf.Tensor:
        """float32 [batch]: what the values of the actions taken should have been."""
        return q_learning.targets(rows["return"], rows["discount"], outputs[0], choosing)

    def _losses(self, outputs, actions: tf.Tensor, wanted: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Of each transition: its loss, its error and the value of its action; float32 [batch]."""
        taken = q_learning.action_values(outputs[0], actions)
        return q_learning.huber(wanted - taken, self._settings.error_clip), wanted - taken, taken

    def _step(self, weights, state, gradients, learning_rate):
        constants = {"decay": self._settings.rmsprop_decay, "epsilon": self._settings.rmsprop_epsilon}
        return rmsprop.update_centred(weights, state, gradients, learning_rate, **constants)


class C51(DQN):
    """The distribution of the return over `atoms` values, by cross entropy and Adam (Bellemare et al. 2017).

    A network's third output is that distribution's logits [batch, actions, atoms].
    """

    initial_errors = False  # its errors are cross entropies

    def __init__(self, settings: LearningSettings, replay: ReplaySettings, run_steps: int | None):
        super().__init__(settings, replay, run_steps)
        self._support = -replay.value_limit, replay.value_limit
        self.network_options["support"] = (*self._support, replay.atoms)

    def initial_state(self, weights):
        return adam.initial_state(weights)

    @property
    def decays(self):
        return None, adam.FIRST_DECAY, adam.SECOND_DECAY

    def _target(self, rows, outputs, choosing):
        """float32 [batch, atoms]: the distribution of the best action's return."""
        best = tf.argmax(choosing, axis=1, output_type=tf.int32)
        probabilities = tf.nn.softmax(q_learning.action_values(outputs[2], best))
        return q_learning.projection(rows["return"], rows["discount"], probabilities, *self._support)

    def _losses(self, outputs, actions, wanted):
        """The error is the loss, too: the cross entropy (Hessel et al. 2018: priorities by the loss)."""
        losses = q_learning.cross_entropy(wanted, q_learning.action_values(outputs[2], actions))
        return losses, losses, q_learning.action_values(outputs[0], actions)

    def _step(self, weights, state, gradients, learning_rate):
        return adam.update(weights, state, gradients, learning_rate, epsilon=self._settings.adam_epsilon)
