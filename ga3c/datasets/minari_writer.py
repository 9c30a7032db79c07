"""Writes recorded games as a data set of Minari 0.5.4: HDF5 with one group a game, and metadata in JSON.

Minari itself needs Python 3.11, holds each game in memory and does not compress. So the file is written with h5py.
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from gymnasium import spaces

from ga3c.datasets import spaces_json
from ga3c.datasets.about import About
from ga3c.datasets.recorded_games import Step
from ga3c.errors import ConfigError
from ga3c.records.files import reason
from ga3c.rollout import EnvironmentSpec

DATA, METADATA = "main_data.hdf5", "metadata.json"
CHUNK_BYTES = 250_000  # of rows that are compressed together, about
ROWS_HELD = 64  # of each game in memory


@dataclass(frozen=True)
class Form:
    """The form in which games are written."""

    observations: spaces.Space
    actions: spaces.Space
    as_the_game_wants: Callable[[np.ndarray], np.ndarray]  # makes actions [count, ...] of those of the agent

    @classmethod
    def of(cls, games) -> "Form":
        """Returns the form of games as `environments.make` returns them: actions are the game's own."""
        spec: EnvironmentSpec = games.spec
        actions = getattr(games, "action_space", None) or spaces_json.of_actions(spec.actions)
        wants = getattr(games, "as_the_game_wants", lambda some: some)
        return cls(spaces_json.of_observations(spec), actions, wants)


class MinariWriter:
    """A `recorded_games.Recorder` that writes into a directory."""

    def __init__(self, data: Path, about: About, games):
        """data: an empty directory. Raises OSError."""
        self._data, self._about, self._spec, self._form = data, about, games.spec, Form.of(games)
        self._disk = _Disk(data / DATA)
        self._file = h5py.File(self._disk, "w", track_order=True)
        self._games: dict[int, _Game] = {}  # under way, by environment
        self.games = self.steps = 0

    def begin(self, env: int, seed: int | None, observation: np.ndarray, infos: dict) -> None:
        self._cut(env)
        self._games[env] = game = _Game(seed)
        game.add({"observations": observation, **_named(infos)})

    def step(self, env: int, step: Step) -> None:
        game = self._games[env]
        if game.group is None:
            game.group = self._file.create_group(f"episode_{self.games}", track_order=True)
            game.group.attrs["id"] = self.games
            if game.seed is not None:
                game.group.attrs["seed"] = game.seed
            self.games += 1
        game.make_room()
        self._check_disk()
        game.add(
            {
                "observations": step.observation,
                "actions": self._form.as_the_game_wants(step.action[None])[0],
                "rewards": step.reward,
                "terminations": step.terminated,
                "truncations": step.truncated,
                **_named(step.infos),
            }
        )
        game.steps += 1
        if step.terminated or step.truncated:
            self._end(env)

    def _cut(self, env: int) -> None:
        """Ends a game that has not ended itself, as truncated. A game without a step is forgotten."""
        if env in self._games and self._games[env].steps:
            self._games[env].held["truncations"][-1] = True
            self._end(env)

    def _end(self, env: int) -> None:
        game = self._games.pop(env)
        game.flush()
        game.group.attrs["total_steps"] = game.steps
        game.group.require_group("infos")
        self.steps += game.steps

    def close(self) -> None:
        """Writes what is left. Raises ConfigError, or OSError for the metadata."""
        for env in list(self._games):
            self._cut(env)
        self.abandon()
        self._check_disk()
        size = (self._data / DATA).stat().st_size / 1e6
        said = {
            "total_episodes": self.games,
            "total_steps": self.steps,
            "data_format": "hdf5",
            "jpeg_encoding": False,  # pictures are as they were
            "observation_space": spaces_json.to_json(self._form.observations),
            "action_space": spaces_json.to_json(self._form.actions),
            "dataset_size": round(size, 1),
            **self._about.metadata(self._spec),
        }
        (self._data / METADATA).write_text(json.dumps(said))

    def _check_disk(self) -> None:
        """Raises ConfigError where something could not be written."""
        if error := self._disk.error:
            raise ConfigError(f"Cannot write the data set {self._about.name}: {reason(error)}.") from error

    def abandon(self) -> None:
        """Closes the file, whatever is in it."""
        self._file.close()
        self._disk.close()


def _named(infos: dict) -> dict:
    return {f"infos/{name}": value for name, value in infos.items()}


class _Disk:
    """The file that HDF5 writes to. Where the disk is full it goes on in memory: HDF5 ends the process if a write
    fails."""

    def __init__(self, path: Path):
        self._file = path.open("w+b", buffering=0)
        self.error: OSError | None = None  # with which a write failed

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def readinto(self, content) -> int:
        return self._file.readinto(content)

    def write(self, content) -> int:
        offset, left = self._file.tell(), memoryview(content)
        try:
            while len(left):
                left = left[self._file.write(left) :]
        except OSError as error:
            self._goes_on_in_memory(error)
            self._file.seek(offset)
            self._file.write(content)
        return len(content)

    def truncate(self, size: int) -> None:
        try:
            self._file.truncate(size)
        except OSError as error:
            self._goes_on_in_memory(error)

    def _goes_on_in_memory(self, error: OSError) -> None:
        self.error = error
        self._file.seek(0)
        memory = io.BytesIO(self._file.read())
        self._file.close()
        self._file = memory

    def flush(self) -> None:
        """Does nothing: there is no buffer."""

    def close(self) -> None:
        self._file.close()


class _Game:
    """A game under way: its newest rows are in memory, the others in the file."""

    def __init__(self, seed: int | None):
        self.seed, self.steps = seed, 0
        self.group: h5py.Group | None = None  # made with the first step
        self.held: dict[str, list] = {}

    def add(self, row: dict) -> None:
        for name, value in row.items():
            self.held.setdefault(name, []).append(value)

    def make_room(self) -> None:
        """Writes the rows in memory if there are many. The last row always comes later: it may have to be changed."""
        if len(self.held["observations"]) >= ROWS_HELD:
            self.flush()

    def flush(self) -> None:
        for name, values in self.held.items():
            rows = np.array(values)
            if name not in self.group:
                chunk = max(1, min(ROWS_HELD * 16, CHUNK_BYTES // max(1, rows[0].nbytes)))
                self.group.create_dataset(
                    name, (0, *rows.shape[1:]), rows.dtype, maxshape=(None, *rows.shape[1:]),
                    chunks=(chunk, *rows.shape[1:]), compression="gzip", compression_opts=4, shuffle=rows.itemsize > 1,
                )  # fmt: skip
            written = self.group[name]
            written.resize(len(written) + len(rows), axis=0)
            written[-len(rows) :] = rows
        self.held = {}
