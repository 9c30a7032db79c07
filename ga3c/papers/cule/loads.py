"""The paper's loads: emulation alone, and training runs of all games as one batch, with inference, or training too."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from ga3c.experiments import emulation
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import RunFailed, directory_of
from ga3c.records.csv_reading import read_csv
from ga3c.records.files import write_whole
from ga3c.records.run_directory import game_directory

ENGINES = {"ale": "ale-py", "ours": "ours", "gpu": "ours, GPU"}
STYLES = {"ale": ("C1", "s"), "ours": ("C0", "o"), "gpu": ("C2", "^")}
N_STEPS = 5
Found = TypeVar("Found")


def run(game: str, engine: str, count: int, seconds: float, *flags: str, name: str) -> LearningRun:
    """`count` games on an engine; `flags` of `train` say what is done with them, `name` what that is called."""
    batched = ("--sampling", "batched", "--games", str(count), "--emulator", engine)
    rows = ("--log-seconds", f"{min(max(seconds / 60, 0.1), 5.0):g}")
    return LearningRun(game, f"{name}-{engine}-{count}games", (*flags, *batched, *rows), 1, seconds)


def inference(game: str, engine: str, count: int, seconds: float) -> LearningRun:
    """A2C's network chooses the actions; nothing is learned."""
    flags = ("--preset", "a2c", "--t-max", str(N_STEPS), "--algorithm", "none")
    return run(game, engine, count, seconds, *flags, name="inference")


def training(game: str, engine: str, count: int, seconds: float) -> LearningRun:
    """A2C with N steps."""
    return run(game, engine, count, seconds, "--preset", "a2c", "--t-max", str(N_STEPS), name="training")


def frames_per_second(run: LearningRun, out: Path) -> float:
    """Raw ones, as the paper counts, from the first update after the run's first fifth to the last one in its time: in
    between whole updates alone, which with PPO take longer than what they learn from. Raises RunFailed."""
    rows = read_csv(directory_of(run, out) / "throughput.csv")
    seconds, frames = rows["seconds"], rows["frames"]
    counts = (np.diff(frames, prepend=0) > 0) & (seconds >= run.seconds / 5) & (seconds <= run.seconds)
    if counts.sum() < 2:
        raise RunFailed(f"{run.name} was too short to tell its speed: remove its directory, and give more --seconds.")
    (first, *_, last) = np.flatnonzero(counts)
    return float((frames[last] - frames[first]) / (seconds[last] - seconds[first]))


def kept(file: Path, how: dict, measure: Callable[[], Found]) -> Found:
    """Returns what `measure()` returned at an earlier start, if that was of the same `how`, or returns now; as JSON."""
    if file.exists() and (known := json.loads(file.read_text(encoding="utf-8"))).get("how") == how and "found" in known:
        return known["found"]
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"how": how, "found": measure()}, indent=2) + "\n"
    write_whole(file, text)
    return json.loads(text)["found"]


def emulation_alone(game: str, count: int, seconds: float, rounds: int, out: Path) -> dict[str, list[float]]:
    """`emulation.frames_per_second`, on each engine; of an earlier start, if it was measured for as long."""
    file = out / "emulation" / f"{game_directory(game).name}-{count}games.json"
    how = {"seconds": seconds, "rounds": rounds, "engines": list(emulation.engines())}

    def measure() -> dict[str, list[float]]:
        print(f"{game}, {count} games: emulation alone ...", flush=True)
        return emulation.frames_per_second(game, count, seconds, rounds, emulation.engines())

    return kept(file, how, measure)


def thousands(value: float) -> str:
    return f"{value / 1000:.1f}K"
