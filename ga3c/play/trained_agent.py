"""A trained agent: a model with the weights of a run or a checkpoint, and what it was trained on."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ga3c import environments
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.machine import usable_cores
from ga3c.records import checkpoint, chosen_runs, run_directory
from ga3c.records.checkpoint_meta import from_meta
from ga3c.settings.catalogue import ALGORITHMS
from ga3c.settings.run import Settings
from ga3c.text import count, one_line, place

LOOK_SECONDS = 2.0  # between two looks for a new checkpoint


@dataclass(frozen=True)
class TrainedAgent:
    """A model with trained weights (`ga3c.model.Model`), and what it was trained on."""

    model: object
    settings: Settings
    game: str  # canonical name
    frames_per_step: int
    steps: int
    path: Path
    games: object  # closed; they convert observations and actions of the game

    def __str__(self) -> str:
        return f"{one_line(self.game)}: {place(self.path)}, {count(self.steps, 'step')} of training"

    @property
    def has_action_values(self) -> bool:
        """It takes the action of the largest value: there is no policy to sample from."""
        return not ALGORITHMS[self.settings.learning.algorithm].policy


def load(
    run: str | None, game: str | None, file: str | None, seed: int, best: bool = False, trusted: bool = False
) -> TrainedAgent:
    """The agent in the checkpoint `file`, else the newest of the run named, else of the newest run of the game.

    `best`: not the newest, but the one with the best mean score of 100 games. `seed` seeds the sampling of its
    actions. `trusted`: the module of its game may be imported, whoever named it. Raises ConfigError.
    """
    if run is not None and file is not None:
        raise ConfigError(f"RUN ({run}) and --checkpoint name an agent each: leave one out.")
    if best and file is not None:
        raise ConfigError("--best and --checkpoint name a checkpoint each: leave one out.")
    if file is not None:
        path = Path(file)
        arrays, meta = checkpoint.load(path)
    else:
        directory = chosen_runs.existing(run) if run else chosen_runs.trained(game)
        if best:
            path = directory / "checkpoints" / checkpoint.BEST
            if not path.exists():
                why = "it is kept once 100 games have ended"
                if run_directory.is_exported(directory):
                    why = "an exported agent has one checkpoint alone"
                raise ConfigError(f"--best: {directory} has no best checkpoint; {why}.")
            arrays, meta = checkpoint.load(path)
        else:
            path, arrays, meta = checkpoint.load_newest(directory / "checkpoints")
    saved = from_meta(meta, path)
    settings, steps = saved.settings, saved.totals.steps
    trained_on = settings.environment.game
    if game is not None and environments.resolve(game) != environments.resolve(trained_on):
        raise ConfigError(f"{path} was trained on {trained_on}, not on {game}: leave --game out, or name another run.")
    own_games.import_all(settings, path, trusted, given=() if game is None else ("game",))
    games = environments.closed(settings.environment)
    spec = games.spec
    saved.check_spaces(spec, path)

    from ga3c.devices.device import set_up_device  # isort: skip (first: it loads TensorFlow)
    from ga3c import algorithms
    from ga3c.model import Model

    set_up_device("cpu", usable_cores())
    model = Model(spec, settings.learning, algorithms.make(settings, spec.actions), seed, xla=False)
    model.restore(arrays)
    return TrainedAgent(model, settings, spec.name, spec.frames_per_step, steps, path, games)


class Policy:
    """The agent's policy; with `live` always that of the newest checkpoint."""

    def __init__(self, agent: TrainedAgent, live: bool):
        self._agent, self._live, self._file, self._looked = agent, live, agent.path, time.monotonic()
        self._steps, self.has_action_values = agent.steps, agent.has_action_values

    def __str__(self) -> str:
        """Whose it is, where that changes."""
        return f", after {count(self._steps, 'step')}" if self._live else ""

    def __call__(self, observations: np.ndarray, recurrent_states: np.ndarray | None = None) -> tuple:
        """Returns what `Model.decide` does."""
        if self._live and time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            self._take_newest()
        return self._agent.model.decide(observations, recurrent_states)

    def _take_newest(self) -> None:
        newest = checkpoint.saved(self._file.parent)[-1:]
        if newest and newest[0] != self._file:
            try:
                arrays, meta = checkpoint.load(newest[0])
                steps = from_meta(meta, newest[0]).totals.steps
                self._agent.model.restore(arrays)
            except ConfigError:  # it is damaged, or gone already: there is a next one
                return
            self._file, self._steps = newest[0], steps
