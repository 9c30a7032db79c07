"""Figure 2 of the paper: sampling speed of a core over the games on it, by cores, beside that without inference."""

import multiprocessing
from pathlib import Path

from ga3c.experiments import station_costs
from ga3c.experiments.runs import results
from ga3c.experiments.tables import rounded, write_rows
from ga3c.experiments.throughput import Spread, csv_row, measure
from ga3c.papers import RUN
from ga3c.papers.accelerated import Options, sampling
from ga3c.papers.accelerated.sampling import SamplingRun
from ga3c.settings.game import EnvironmentSettings
from ga3c.views.drawing import by_doubling, from_zero
from ga3c.views.panels import banded, panels

RUNS = "accelerated-fig2"
READS = (*RUN, "games", "cores", "start_from")
SCALES = {
    # Agents wait for each other at the end of a rollout, too: long ones, so that it does not count.
    "cpu": {"seconds": 20.0, "game": "Breakout", "games": (2, 4, 8, 16, 32), "t_max": 50},
    "full": {"seconds": 60.0, "game": "Breakout", "games": (2, 4, 8, 16, 32), "t_max": 50},
}
EMULATION_SECONDS = 5.0
PAPER = {(16, 8): 0.8}  # (cores, games per core) -> about what share of the speed without inference


def plan(options: Options) -> list[SamplingRun]:
    count = len(sampling.usable())
    cores = options.cores or [n for n in (1, 2, 4, 8, 16) if n <= count]
    return sampling.plan(options, cores, SCALES, ["alternating"])


def reproduce(options: Options, out: Path) -> str:
    measured = results(plan(options), out, measure)
    runs = list(measured)
    speeds = {run: Spread(*(value / run.cores for value in measured[run]["pps"])) for run in runs}
    alone = {n: without_inference(runs[0].game, n, options.seconds) for n in dict.fromkeys(run.cores for run in runs)}
    rows = [csv_row(run, measured[run]) | _columns(run, speeds[run], alone[run.cores]) for run in runs]
    write_rows(out / "fig2.csv", rows)
    draw(speeds, alone, out / "fig2.png")
    return _words(speeds, alone)


def without_inference(game: str, cores: int, seconds: float | None) -> float:
    """Steps per second of each core, when so many step games with random actions at the same time."""
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        work = [(EnvironmentSettings(game=game), 5, 16, min(seconds or EMULATION_SECONDS, EMULATION_SECONDS))] * cores
        costs = pool.starmap(station_costs.emulate, work, chunksize=1)
    return sum(1000 / cost.wall_ms for cost in costs) / cores


def _columns(run: SamplingRun, speed: Spread, alone: float) -> dict:
    values = {f"samples_per_second_per_core_{name}": value for name, value in speed._asdict().items()}
    return {
        "cores": run.cores,
        "games_per_core": run.games_per_core,
        **rounded(values | {"without_inference": alone}),
        "share_of_that": f"{speed.median / alone:.4f}",
        "paper_share_of_that": PAPER.get((run.cores, run.games_per_core), ""),
    }


def draw(speeds: dict[SamplingRun, Spread], alone: dict[int, float], file: Path) -> None:
    """A line for each number of cores, from lowest to highest of its rows, and a dashed one without inference."""
    with panels(file) as ((axis,),):
        for index, (cores, speed) in enumerate(alone.items()):
            runs = sorted((run for run in speeds if run.cores == cores), key=lambda run: run.games_per_core)
            label = f"{cores} core{'s' * (cores > 1)}"
            style = {"color": f"C{index}", "label": label}
            banded(axis, [run.games_per_core for run in runs], [speeds[run] for run in runs], **style)
            style["label"] += ", without inference"
            axis.axhline(speed, linestyle="--", linewidth=1, **style)
        by_doubling(axis, sorted({run.games_per_core for run in speeds}))
        axis.set(xlabel="games per core", ylabel="samples per second and core")
        axis.set_title(f"{next(iter(speeds)).game}: sampling speed, alternating")
        from_zero(axis)


def _words(speeds: dict[SamplingRun, Spread], alone: dict[int, float]) -> str:
    lines = []
    for cores, speed in alone.items():
        shares = {run.games_per_core: speeds[run].median / speed for run in speeds if run.cores == cores}
        said = ", ".join(f"{100 * share:.0f} % with {games}" for games, share in sorted(shares.items()))
        lines.append(f"{cores} core{'s' * (cores > 1)}: {speed:.0f} samples/s each without inference; {said} games.")
    return "\n".join([*lines, "Paper: about 80 % with 8 games on each of 16 cores, and inference on a GPU."])
