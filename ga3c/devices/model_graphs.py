"""The two compiled functions of a model: one acts, the other makes an update."""

import functools

import numpy as np
import tensorflow as tf

from ga3c.devices.graph import Graph
from ga3c.devices.pieces import PIECE_STATES, Pieces, in_pieces
from ga3c.rollout import RECURRENT_STATE, column_axis


class ModelGraphs:
    """Connects a network with its algorithm. The first calls compile, and decide on all shapes but the batch's size."""

    def __init__(self, network, algorithm, xla: bool, pieces: Pieces):
        """network: a keras.Model, or one of ours with its methods; with a memory a `networks.recurrent.Recurrent`.
        algorithm: an `algorithms.algorithm.Algorithm`."""
        self._network, self._algorithm, self._pieces = network, algorithm, pieces
        self._counted = getattr(network, "counted", lambda observations: [observations])  # by its statistics
        acts = {count: functools.partial(self._act, count) for count in (1, pieces.predictions)}
        self._acts = {count: Graph(act, lambda _: 0, xla, count > 1) for count, act in acts.items()}
        self._make_update = Graph(self._update, column_axis, xla, pieces.updates > 1)
        self.prediction_sizes = [1] if pieces.predictions == 1 else [1, PIECE_STATES * pieces.predictions]
        self._fields: tuple[str, ...] = ()  # of what `act` returns
        self.numbers: tuple[str, ...] = ()  # names of what an update reports, in the algorithm's order

    def act(
        self,
        weights,
        observations,
        seed: np.ndarray,
        explore: tf.Tensor,
        games: np.ndarray | None,
        recurrent_states: np.ndarray | None,
    ):
        """Returns what the algorithm adds to the rows of a rollout, by field, and the first two outputs of the network.

        games: int32 [batch], if `explore` has a number for each game; else None. recurrent_states: float32 [batch,
        size], if the network has a memory; then they are one of the fields, too, as they are after the step.
        """
        divided = len(observations) >= self.prediction_sizes[-1]  # into as many pieces as there can be, maybe one
        batch = {"observations": tf.convert_to_tensor(observations)} | ({} if games is None else {"games": games})
        if recurrent_states is not None:
            batch[RECURRENT_STATE] = recurrent_states
        arrays = self._acts[self._pieces.predictions if divided else 1](weights, seed, explore, batch)
        return dict(zip(self._fields, arrays, strict=False)), arrays[len(self._fields) :]

    def _act(self, pieces: int, weights, seed, explore, batch: dict[str, tf.Tensor]):
        states = batch.get(RECURRENT_STATE)
        outputs = self._apply(weights, batch["observations"], pieces, states)
        if states is not None:
            outputs, states = outputs
        if "games" in batch:
            explore = tf.gather(explore, batch["games"] % explore.shape[0])
        fields = self._algorithm.act(outputs, seed, explore)
        if states is not None:
            fields[RECURRENT_STATE] = states
        self._fields = tuple(fields)
        # Flat: to put names and tuples together again takes 20 us of each call.
        return *fields.values(), *outputs[:2]

    def update(self, weights, optimizer, learning_rate: float, batch: dict[str, np.ndarray], target):
        """Returns new weights, the new state of the optimizer, `numbers` float32 [n], and if the algorithm replays the
        errors of the transitions. target: the weights of the target network, for an algorithm that replays."""
        targets = [target] * self._algorithm.replays
        return self._make_update(weights, optimizer, np.float32(learning_rate), batch, *targets)

    def _update(self, weights, optimizer, learning_rate, batch, *targets):
        pieces = self._pieces.updates
        trained, optimizer, numbers, *others = self._algorithm.update(
            lambda trained, observations, *memory: self._apply(
                weights._replace(trained=trained), observations, pieces, *memory
            ),
            weights.trained,
            optimizer,
            weights.rate(learning_rate),
            batch,
            *[functools.partial(self._apply, target, pieces=pieces) for target in targets],
        )
        self.numbers = tuple(numbers)
        devices = self._algorithm.devices
        of_targets = weights.of_targets
        if of_targets:
            of_targets = weights.of_targets_with(others.pop(), batch["valid"], devices.sum)
        statistics = weights.statistics_with(batch, self._counted, devices.sum)
        weights = weights._replace(trained=trained, statistics=statistics, of_targets=of_targets)
        return weights, optimizer, devices.mean(tf.stack(list(numbers.values()))), *others

    def _apply(self, weights, observations, pieces: int, states=None, *rows):
        """Returns the outputs of the network; if it has a memory, and so `states`, what `Recurrent.decide` does."""
        if states is not None:
            encode, decide = (
                functools.partial(method, weights.trained, weights.fixed)
                for method in (self._network.encode, self._network.decide)
            )
            (hidden,) = in_pieces(lambda part: (encode(part),), observations, pieces)
            return decide(hidden, states, *rows)
        apply = self._network.stateless_call
        return in_pieces(lambda states: apply(weights.trained, weights.fixed, states)[0], observations, pieces)
