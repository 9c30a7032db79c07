"""The short form of recorded games: seeds, actions and settings, from which the games are played again, bit for bit.

Games of one environment follow each other, so a seed stands for all of them. A digest of everything that a player saw
is kept with each seed: a replay that differs anywhere is noticed.
"""

import contextlib
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ga3c import environments
from ga3c.datasets.about import OURS, About, settings_of
from ga3c.datasets.recorded_games import LOG_PROBABILITY, RecordedGames, Recorder, Step
from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.records.files import reason, write_whole
from ga3c.settings.run import Settings


@dataclass
class _Line:
    """The games that one environment has played, one after the other."""

    seed: int
    actions: list[np.ndarray] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    seen: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))  # digest of what a player saw


@dataclass(frozen=True)
class ShortForm:
    """Games in the short form."""

    name: str
    settings: Settings
    own: dict  # `About.own`
    with_ram: bool
    seeds: np.ndarray  # int64 [lines]
    lengths: np.ndarray  # int64 [lines], in steps
    digests: np.ndarray  # uint8 [lines, 16]
    actions: np.ndarray  # [steps, ...], of all lines
    log_probabilities: np.ndarray | None  # float32 [steps]

    @property
    def about(self) -> About:
        return About(self.name, self.settings, self.own["player"], self.own.get("credits", {}))


class ShortRecorder:
    """A `recorded_games.Recorder` that keeps seeds and actions. Another recorder may see the same games."""

    def __init__(self, also: Recorder | None = None):
        self.lines: list[_Line] = []
        self._of: dict[int, _Line] = {}  # by environment
        self._also, self.steps = also, 0
        self._first: dict[int, bytes] = {}  # what games without a step have shown

    def begin(self, env: int, seed: int | None, observation: np.ndarray, infos: dict) -> None:
        if seed is not None:
            self._of[env] = _Line(seed)
            self.lines.append(self._of[env])
        self._first[env] = observation.tobytes()
        if self._also:
            self._also.begin(env, seed, observation, infos)

    def step(self, env: int, step: Step) -> None:
        line = self._of[env]
        line.actions.append(step.action)
        if LOG_PROBABILITY in step.infos:
            line.log_probabilities.append(step.infos[LOG_PROBABILITY])
        ends = step.terminated, step.truncated
        line.seen.update(self._first.pop(env, b""))
        line.seen.update(step.observation.tobytes() + np.array([step.reward, *ends], np.float64).tobytes())
        self.steps += 1
        if self._also:
            self._also.step(env, step)

    def close(self) -> None:
        if self._also:
            self._also.close()


def write(path: Path, about: About, games: ShortRecorder, with_ram: bool) -> None:
    """Writes the short form of recorded games, once the first of them are played again and found to be the same.

    Raises ConfigError where they are not, or the disk does not take the file.
    """
    lines = [line for line in games.lines if line.actions]
    actions = np.array([action for line in lines for action in line.actions])
    known = [chance for line in lines for chance in line.log_probabilities]
    if actions.dtype.kind == "i" and actions.max() < 256:
        actions = actions.astype(np.uint8)
    short = ShortForm(
        name=about.name,
        settings=about.settings,
        own=about.own | {"credits": about.credits},
        with_ram=with_ram,
        seeds=np.array([line.seed for line in lines]),
        lengths=np.array([len(line.actions) for line in lines]),
        digests=np.array([list(line.seen.digest()) for line in lines], np.uint8),
        actions=actions,
        log_probabilities=np.array(known, np.float32) if len(known) == len(actions) else None,
    )
    with contextlib.closing(ShortRecorder()) as again:
        replay(short, again, most_lines=1)
    arrays = {name: getattr(short, name) for name in ("seeds", "lengths", "digests", "actions")}
    if short.log_probabilities is not None:
        arrays["log_probabilities"] = short.log_probabilities
    meta = {"name": short.name, "with_ram": with_ram, OURS: short.own}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, checkpoint.pack(arrays, meta))
    except OSError as error:
        raise ConfigError(f"Cannot write {path}: {reason(error)}.") from error


def read(path: Path) -> ShortForm:
    """Reads a file in the short form. Raises ConfigError."""
    try:
        arrays, meta = checkpoint.load(path)
    except ConfigError as error:
        raise ConfigError(str(error).replace("Cannot read the checkpoint", "Cannot read")) from error
    try:
        own, lengths, actions = meta[OURS], arrays["lengths"], arrays["actions"]
        if not (lengths.min() > 0 and lengths.sum() == len(actions)):
            raise ValueError("its lengths are not those of its actions")
        lines = arrays["seeds"].shape, (len(lengths), 16)
        if lines != (lengths.shape, arrays["digests"].shape) or not isinstance(own["player"], str):
            raise ValueError("its parts do not fit")
        return ShortForm(
            name=str(meta["name"]),
            settings=settings_of(own),
            own=own,
            with_ram=bool(meta["with_ram"]),
            log_probabilities=arrays.get("log_probabilities"),
            **{name: arrays[name] for name in ("seeds", "lengths", "digests", "actions")},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} holds no recorded games ({reason(error)}).") from error


def replay(short: ShortForm, recorder: ShortRecorder, most_lines: int | None = None) -> None:
    """Plays the games again, all of them or those of the first lines, for a recorder.

    Raises ConfigError where anything is not as it was when they were recorded.
    """
    first = 0
    for line, length in enumerate(short.lengths[:most_lines]):
        steps = slice(first, first := first + int(length))
        known = None if short.log_probabilities is None else short.log_probabilities[steps]
        seed = int(short.seeds[line])
        with contextlib.closing(environments.make(short.settings.environment, 1, seed)) as games:
            _play(RecordedGames(games, recorder, seed, short.with_ram), short.actions[steps], known)
        if recorder.lines[-1].seen.digest() != short.digests[line].tobytes():
            raise ConfigError(
                f"The games of {short.settings.environment.game} with seed {seed} are not the same when they are "
                "played again: the short form is not for this game, or not for this version of it."
            )


def _play(games: RecordedGames, actions: np.ndarray, log_probabilities: np.ndarray | None) -> None:
    actions = actions.astype(games.spec.actions.dtype)
    if actions.shape[1:] != games.spec.actions.shape or not games.spec.actions.allowed(actions):
        raise ConfigError(f"The recorded actions are not those of the game '{games.spec.name}'.")
    games.reset()
    for step, action in enumerate(actions):
        if games.over[0]:
            games.step(np.zeros_like(action[None]))  # begins the next game, whatever the action
        games.step(action[None], None if log_probabilities is None else log_probabilities[step : step + 1])
