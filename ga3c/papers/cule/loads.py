"""Training runs under the paper's loads: all games as one batch, with inference alone, or with training as well."""

from pathlib import Path

import numpy as np

from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import RunFailed, directory_of
from ga3c.records.disk import read_csv

ENGINES = {"ale": "ale-py", "ours": "ours", "gpu": "ours, GPU"}
STYLES = {"ale": ("C1", "s"), "ours": ("C0", "o"), "gpu": ("C2", "^")}
N_STEPS = 5


def run(game: str, engine: str, count: int, seconds: float, *flags: str, name: str) -> LearningRun:
    """`count` games on an engine; `flags` of `train` say what is done with them, `name` what that is called."""
    batched = ("--sampling", "batched", "--games", str(count), "--emulator", engine)
    return LearningRun(game, f"{name}-{engine}-{count}games", (*flags, *batched), 1, seconds)


def inference(game: str, engine: str, count: int, seconds: float) -> LearningRun:
    """A2C's network chooses the actions; nothing is learned."""
    flags = ("--preset", "a2c", "--t-max", str(N_STEPS), "--algorithm", "none")
    return run(game, engine, count, seconds, *flags, name="inference")


def training(game: str, engine: str, count: int, seconds: float) -> LearningRun:
    """A2C with N steps."""
    return run(game, engine, count, seconds, "--preset", "a2c", "--t-max", str(N_STEPS), name="training")


def frames_per_second(run: LearningRun, out: Path) -> float:
    """Raw ones, as the paper counts: median of the rows of its log in which games were played. Raises RunFailed."""
    rates = read_csv(directory_of(run, out) / "throughput.csv")["frames_per_second"]
    if not (rates > 0).any():
        raise RunFailed(f"{run.name} was too short to tell its speed: remove its directory, and give more --seconds.")
    return float(np.median(rates[rates > 0]))


def thousands(value: float) -> str:
    return f"{value / 1000:.1f}K"
