"""The learner of a run: its model and its counters."""

from collections.abc import Callable

import numpy as np

from ga3c.progress import Progress

from ga3c.devices.device import set_up_device, threads  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, networks
from ga3c.algorithms import exploration
from ga3c.devices.pieces import pieces
from ga3c.machine import check_compiler_fits
from ga3c.model import Acting, Model
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.learning import DQN_EVALUATION_EPSILON
from ga3c.settings.run import Settings
from ga3c.stats import Stats
from ga3c.systems.replicas import Replicas, replicas_of

NO_LAGS = np.zeros(0, np.int64)
Arrays = dict[str, np.ndarray]  # weights, by name
Make = Callable[[Arrays | None], tuple[str, Model | Replicas, Stats]]  # given the weights to go on from


class Learner:
    """The model and the counters, made at the start, while the agents start their games."""

    device: str  # in words: where the model is
    model: Model | Replicas
    stats: Stats

    def __init__(self, make: Make):
        self._make = make

    def start(self, arrays: Arrays | None) -> None:
        """Raises ConfigError where the arrays are of another network."""
        self.device, self.model, self.stats = self._make(arrays)

    def count_games(self, rollouts: list) -> None:
        """Counts the games that ended in rollouts that nobody learns from."""
        self.stats.stored([rollout._replace(transitions=0) for rollout in rollouts], 0, NO_LAGS)


def model_and_stats(
    settings: Settings, spec: EnvironmentSpec, begun: Progress, players: int, say: Callable, arrays: Arrays | None
) -> tuple[str, Model | Replicas, Stats]:
    """Returns the device in words, the model, with the weights in `arrays` if there are any, and the counters.

    `players`: the number of agents that share the games. Raises ConfigError where the arrays are of another network.
    """
    device, model = _model(settings, spec, begun, say)
    if arrays is not None:
        model.restore(arrays)
    return device, model, stats_of(settings, begun, model, players, say)


def _model(settings: Settings, spec: EnvironmentSpec, begun: Progress, say: Callable) -> tuple[str, Model | Replicas]:
    algorithm = algorithms.make(settings, spec.actions)
    run, learning = settings.run, settings.learning
    network = networks.resolve(learning.network, spec, learning.algorithm)
    if run.xla == "on":
        check_compiler_fits()
    count = run.tensorflow_threads or threads(network)
    seed = learning.seed + begun.totals.updates
    turns, acts = algorithms.turns(settings, algorithm), settings.replay.concurrent_training
    acting = Acting(begun.totals.trained_steps, settings.schedule.games_of(begun.counts.agents), acts)

    def make(algorithm, xla: bool, threads: int) -> Model:
        return Model(spec, learning, algorithm, seed, xla, pieces(turns, threads), acting)

    if run.devices:
        return replicas_of(settings, spec, count, make)
    device = set_up_device(run.device, count)
    xla = algorithms.compiled(settings, device)
    if xla:
        say("XLA compiles the network for this machine: a minute or two, at each start. --xla off goes without.")
    if xla and device == "cpu" and algorithms.loops(settings) and spec.has_pictures:
        say("On the cores XLA makes each update of several minibatches a hundred times as slow: leave --xla on out.")
    return device, make(algorithm, xla, count)


def stats_of(
    settings: Settings, begun: Progress, model: Model | Replicas, players: int, say: Callable, units: int = 1
) -> Stats:
    """Returns the counters. Where each game explores on its own, only games that explore little have scores.

    `players`: of each of so many `units`, which share the games evenly and explore alike.
    """
    if not model.per_game or settings.learning.exploration != "per-game":  # an algorithm of the user's may have its own
        return Stats(begun.totals, begun.recent_scores)
    games = settings.schedule.games_of(begun.counts.agents)
    scored = exploration.scored(settings.learning, players, games // units // players)
    if not scored.all():
        most, count = f"{DQN_EVALUATION_EPSILON:.0%}", units * scored.sum()
        say(f"Scores are those of {count} of {games} games: the others take more random actions than {most}.")
    return Stats(begun.totals, begun.recent_scores, scored)
