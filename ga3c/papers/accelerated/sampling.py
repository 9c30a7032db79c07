"""Runs that play and learn nothing: how fast games are sampled."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.experiments.throughput import SpeedRun
from ga3c.papers.accelerated import Options
from ga3c.papers.plan import chosen
from ga3c.records.run_directory import game_directory

AGENTS_PER_CORE = 2  # so that with alternating sampling one steps its games while the other is predicted for


@dataclass(frozen=True)
class SamplingRun(SpeedRun):
    """A run on a few cores, games and inference together."""

    sampling: str = "alternating"
    algorithm: str = "none"

    @property
    def cores(self) -> int:
        return self.agents // AGENTS_PER_CORE

    @property
    def games_per_core(self) -> int:
        return AGENTS_PER_CORE * self.envs_per_agent

    @property
    def name(self) -> str:
        game = game_directory(self.game).name
        return f"{game}-{self.sampling}-cores{self.cores}-games{self.games_per_core}"

    def command(self, directory: Path) -> list[str]:
        on_cores = ["taskset", "--cpu-list", ",".join(map(str, usable()[: self.cores]))]
        return [*on_cores, *super().command(directory)]


def usable() -> list[int]:
    """The cores that this process may use, by number. Raises ConfigError where they cannot be told to a run."""
    if not (hasattr(os, "sched_getaffinity") and shutil.which("taskset")):
        raise ConfigError("Which cores a run may use can be said on Linux alone, with taskset (package util-linux).")
    return sorted(os.sched_getaffinity(0))


def plan(options: Options, cores: Sequence[int], scales: dict, samplings: Sequence[str]) -> list[SamplingRun]:
    """A run for each sampling, number of cores and number of games per core. Raises ConfigError."""
    if max(cores) > len(usable()):
        raise ConfigError(f"--cores {max(cores)} is out of range: {len(usable())} can be used here.")
    scale = chosen(scales, options)
    for count in scale["games"]:
        if count % AGENTS_PER_CORE:
            raise ConfigError(f"--games {count} is odd: each core has two groups of games that alternate.")
    return [
        SamplingRun(
            scale["game"], AGENTS_PER_CORE * n, 1, 1, scale["seconds"],
            envs_per_agent=count // AGENTS_PER_CORE, t_max=scale["t_max"], sampling=sampling,
            start_from=options.start_from,
        )
        for sampling in samplings for n in cores for count in scale["games"]
    ]  # fmt: skip
