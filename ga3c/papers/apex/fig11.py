"""Figure 11 of the paper: how much is played in a second, over the number of actors."""

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c.experiments import tables
from ga3c.experiments.runs import RunFailed, directory_of, results
from ga3c.experiments.throughput import SpeedRun, csv_row
from ga3c.papers import RUN
from ga3c.papers.apex import Options
from ga3c.papers.plan import chosen
from ga3c.records.cluster_file import NAME
from ga3c.records.csv_reading import read_csv
from ga3c.views.drawing import INK
from ga3c.views.panels import beside_paper

RUNS = "apex-fig11"
READS = (*RUN, "actors", "cluster")
SCALES = {
    "cpu": {
        "game": "Pong", "seconds": 60.0, "actors": (1, 2, 4), "games": 8,
        "never": 500_000,  # transitions before the first update, where the learner only stores
        "constants": {"batch": 64, "replay_transitions": 50_000, "replay_minimum_transitions": 2_000},
    },
    "full": {
        "game": "Pong", "seconds": 900.0, "actors": (32, 64, 128, 256), "games": 1, "never": 10_000_000,
        "constants": {},
    },
}  # fmt: skip
# Frames per second of all actors (section 4.1, and section 5 for 256), each on a core of its own.
PAPER = {256: 37_000, 360: 50_000}


@dataclass(frozen=True)
class ApexRun(SpeedRun):
    """Pods of one core each, and a learner that learns, or stores alone."""

    cluster: str = "local"
    learns: bool = True
    batch: int | None = None
    replay_transitions: int | None = None
    replay_minimum_transitions: int | None = None

    most_log_seconds = 2.0

    @property
    def name(self) -> str:
        return super().name + ("-learns" if self.learns else "-stores")

    def command(self, directory: Path) -> list[str]:
        words = super().command(directory)
        return [word for word in words if word != "--learns"]


class Rate(NamedTuple):
    """Speeds of a finished run while all pods play."""

    steps_per_second: float
    updates_per_second: float
    bytes_per_second: float  # that the learner gets from pods
    messages_per_second: float  # at the last look


def plan(options: Options) -> list[ApexRun]:
    scale, runs = chosen(SCALES, options), []
    for actors, learns in product(scale["actors"], (True, False)):
        constants = dict(scale["constants"])
        if not learns:
            constants |= dict.fromkeys(("replay_transitions", "replay_minimum_transitions"), scale["never"])
        runs.append(
            ApexRun(
                scale["game"], actors, 1, 1, scale["seconds"], envs_per_agent=scale["games"], preset="apex-dqn",
                cluster=options.cluster, learns=learns, **constants,
            )
        )  # fmt: skip
    return runs


def reproduce(options: Options, out: Path) -> str:
    rates = results(plan(options), out, rate)
    table = markdown(rates)
    tables.write(
        out, "fig11", [csv_row(run, {}) | tables.rounded(found._asdict()) for run, found in rates.items()], table
    )
    draw(rates, out / "fig11.png")
    return f"\n{table}\n{words(rates)}"


def rate(run: ApexRun, out: Path) -> Rate:
    """Raises RunFailed."""
    directory = directory_of(run, out)
    rows = read_csv(directory / "throughput.csv")
    counts = (rows["games"] >= run.agents * run.envs_per_agent) & (rows["seconds"] <= run.seconds)
    counts &= rows["seconds"] >= run.seconds / 5
    if run.learns:
        counts &= np.cumsum(rows["updates_per_second"]) > 0
    if counts.sum() < 3:
        raise RunFailed(f"{run.name}: all pods played too late to be measured: give more --seconds, and another --out.")
    slope = float(np.polyfit(rows["seconds"][counts], rows["steps"][counts], 1)[0])
    means = (float(rows[name][counts].mean()) for name in ("updates_per_second", "pods_bytes_per_second"))
    return Rate(slope, *means, _messages(directory))


def _messages(directory: Path) -> float:
    try:
        pods = json.loads((directory / NAME).read_text(encoding="utf-8"))["pods"]
        return float(sum(pod["messages_per_second"] for pod in pods))
    except (OSError, ValueError, KeyError, TypeError):
        return float("nan")


def markdown(rates: dict[ApexRun, Rate]) -> str:
    head = ["actors", "learner", "steps/s", "frames/s", "of one actor", "updates/s", "KB/s", "requests/s"]
    rows = []
    for run, found in sorted(rates.items(), key=lambda pair: (not pair[0].learns, pair[0].agents)):
        frames = 4 * found.steps_per_second
        cells = [run.agents, "learns" if run.learns else "stores alone", f"{found.steps_per_second:,.0f}"]
        cells += [f"{frames:,.0f}", f"{frames / run.agents:,.0f}", f"{found.updates_per_second:.2f}"]
        rows.append([*cells, f"{found.bytes_per_second / 1000:,.0f}", f"{found.messages_per_second:.1f}"])
    for actors, frames in PAPER.items():
        cells = [actors, "paper", f"{frames / 4:,.0f}", f"{frames:,}", f"{frames / actors:,.0f}"]
        rows.append([*cells, None, None, None])
    return tables.markdown(head, rows)


def draw(rates: dict[ApexRun, Rate], file: Path) -> None:
    """Frames per second over actors."""
    titles = f"{next(iter(rates)).game}, this machine", "the paper: a core for each actor"
    with beside_paper(file, titles, ("actors", "frames per second")) as (ours, paper):
        for learns, label in ((True, "the learner learns"), (False, "it stores alone")):
            line = sorted(
                (run.agents, 4 * found.steps_per_second) for run, found in rates.items() if run.learns == learns
            )
            if line:
                ours.plot(*zip(*line, strict=True), "o-", label=label)
        ours.set_xticks(sorted({run.agents for run in rates}))
        paper.plot([0, 360], [0, 50_000], "--", color=INK, label="139 frames/s of each actor")
        paper.plot(list(PAPER), list(PAPER.values()), "o", color="C2", label="paper")


def words(rates: dict[ApexRun, Rate]) -> str:
    alone = sorted((run.agents, found.steps_per_second) for run, found in rates.items() if not run.learns)
    (few, least), (many, most) = alone[0], alone[-1]
    return (
        f"{many} actors play {most / least:.2f} times as fast as {few} where the learner stores alone. Paper: in "
        "proportion to their number, with a core for each."
    )
