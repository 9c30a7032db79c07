"""A run without agents and without TensorFlow: what a real one writes, in the same order, within milliseconds."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c import progress
from ga3c.controller.counts import Counts
from ga3c.errors import ConfigError
from ga3c.records import lock, run_directory, stats_writer
from ga3c.records.columns import DECISION_COLUMNS, MESSAGE_COLUMNS
from ga3c.records.csv_log import CsvLog
from ga3c.records.csv_reading import read_csv
from ga3c.records.disk import Disk
from ga3c.records.recovery import Recovery
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Timings, Totals

UPDATES_PER_CHECKPOINT, STEPS_PER_UPDATE = 2, 5
SPEC = EnvironmentSpec("small", (1,), "float32", discrete(2), 1)
SILENT = SimpleNamespace(say=lambda _: None, status=lambda *_, **__: None)  # a console
ATTEMPTS = 3  # to save a checkpoint, as the server tries again


class Model:
    """Its weights are the number of its updates."""

    numbers = ()

    def __init__(self):
        self.version = 0

    def state(self) -> dict[str, np.ndarray]:
        return {"network/0": np.full(500, self.version, np.float32), "version": np.int64(self.version)}


class Games:
    """In the place of a `systems.under_way.UnderWay`: their state is the number of the updates."""

    loaded = None

    def __init__(self, model: Model):
        self._model = model

    @contextmanager
    def held(self):
        yield {"played": np.array([self._model.version])}

    def check(self, said: list[str]) -> None:
        """A checkpoint comes with its games, but that they cannot be read, or that it is not the newest; it says so."""
        if self.loaded is None:
            assert "egin anew" in said[-1]
            assert said[-1].startswith("Cannot read the games in") or any(" Taking " in line for line in said)
        else:
            assert self.loaded["played"].tolist() == [self._model.version]


class NoTensorBoard:
    """TensorFlow writes those files itself."""

    def __init__(self, *_):
        pass

    def write(self, row):
        pass

    def close(self):
        pass


def without_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is claimed for the life of the process, in which there are many runs here."""
    monkeypatch.setattr(lock, "_claim", lambda path: None)
    monkeypatch.setattr(stats_writer, "TensorBoardWriter", NoTensorBoard)


def play(
    directory: Path,
    checkpoints: int,
    acknowledge: Callable[[int], None] = lambda updates: None,
    look: Callable[[Totals, int], None] = lambda totals, version: None,
) -> None:
    """Begins the run, or goes on with it.

    `acknowledge` gets the number of updates in each checkpoint that is said to be saved, `look` what a resumed run
    begins with: its totals, and the version of its weights. Raises ConfigError.
    """
    said = []
    usual = Settings()
    run = replace(usual.run, run_dir=str(directory), checkpoints_kept=2, checkpoint_games=True)
    replay, schedule = replace(usual.replay, checkpoint_replay=True), replace(usual.schedule, serial=True)
    settings = replace(usual, run=run, replay=replay, schedule=schedule)
    begun, model = progress.beginning(settings), Model()
    replay, games = Replay(Recipe(SPEC, 1, 1, 20, 1, 0.9)), Games(model)
    resumed = (directory / "config.json").exists()
    if resumed:
        run_directory.go_on(directory, settings)
    else:
        run_directory.create(settings)
    messages = CsvLog(directory / "messages.csv", MESSAGE_COLUMNS, Disk(lambda _: None, directory))
    messages.append([[0, "Training"]])
    disk = Disk(said.append, directory)
    recovery = Recovery(directory, settings, disk, said.append)
    if resumed and recovery.begins_anew():
        look(begun.totals, model.version)
    elif resumed:
        begun, arrays = recovery.load()
        model.version = int(arrays["version"])
        assert (arrays["network/0"] == model.version).all()
        look(begun.totals, model.version)
        recovery.load_replay(replay, begun.totals.steps)
        _check_replay(replay, model.version)
        recovery.load_games(games, begun.totals.steps)
        games.check(said)
    replay.begin(0, np.zeros((1, 1), np.float32))
    CsvLog(directory / "controller.csv", DECISION_COLUMNS, disk).append([])
    stats, counts = Stats(begun.totals, begun.recent_scores), Counts(1, 1, 1)
    system = SimpleNamespace(
        stats=stats, counts=counts, games=lambda: (1, 1), waiting=lambda: (0, 0),
        agents_core_seconds=lambda: 0.0, watched=dict, model=model, chosen_counts=counts, next_agent=1, under_way=games,
    )  # fmt: skip
    writer = stats_writer.StatsWriter(system, directory, 1.0, 4, SILENT, disk)

    def save() -> None:
        for _ in range(ATTEMPTS):
            if recovery.save(system, writer.write_episodes):
                recovery.save_replay(replay, stats.totals().steps, last=True)
                return acknowledge(model.version)
        return None

    stats.predicted(1, Timings())
    for _ in range(checkpoints):
        for _ in range(UPDATES_PER_CHECKPOINT):
            model.version += 1
            replay.add(0, _rollout(model.version), STEPS_PER_UPDATE)
            replay.offer()
            stats.trained(
                _batch(model.version),
                SimpleNamespace(version=model.version - 1, applied=True, numbers={"update_norm": 1.0}),
                Timings(),
            )
        writer.write()
        save()
    writer.finish()
    save()


def _rollout(number: int) -> np.void:
    """What was played before an update: which one, each reward says."""
    record = np.zeros((), rollout_dtype(SPEC, STEPS_PER_UPDATE, 1))
    record["reward"], record["valid"] = number, True
    return record


def _check_replay(replay: Replay, version: int) -> None:
    """It is empty, or holds what was played before the update that the run goes on from; nothing of later."""
    if replay.size:
        rewards = replay.draw(100).arrays["return"]
        assert rewards.min() >= 1
        assert rewards.max() <= version


def _batch(number: int):
    """One rollout, in which a game ended; its score says which."""
    game = SimpleNamespace(score=float(number), length_steps=9)
    rollout = SimpleNamespace(transitions=STEPS_PER_UPDATE, episodes=[game], agent=SimpleNamespace(number=0))
    return SimpleNamespace(rollouts=[rollout], columns=1, versions=np.zeros(1))


def check(directory: Path, acknowledged: int, lost_at_most: int = 0) -> None:
    """Goes on with the run, from no earlier than the update that was last said to be saved (0: none was).

    What its checkpoint counts is in its logs, and nothing besides.
    """
    begun_with: list[int] = []

    def look(totals: Totals, version: int) -> None:
        begun_with.append(version)
        assert version == totals.updates >= acknowledged - lost_at_most
        games = read_csv(directory / "episodes.csv")
        assert list(games.get("score", ())) == list(range(1, version + 1))
        assert list(games.get("steps", ())) == [STEPS_PER_UPDATE * number for number in range(1, version + 1)]
        for log in ("throughput", "controller"):
            assert all(read_csv(directory / f"{log}.csv").get("steps", np.zeros(0)) <= totals.steps)

    refused = ""
    try:
        play(directory, 1, look=look)
    except ConfigError as refusal:
        refused = str(refusal)
    assert "\n" not in refused
    assert begun_with or acknowledged <= lost_at_most, refused
    assert refused or not list((directory / "checkpoints").glob("*.partial"))
