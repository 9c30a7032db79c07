"""Draws the curves of one or more runs: python -m ga3c plot [RUN ...]."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from ga3c import run_directory
from ga3c.commands.command_line import parse
from ga3c.config import ConfigError
from ga3c.drawing import pyplot, save
from ga3c.run_directory import read_csv

DESCRIPTION = (
    """Draws score, throughput, counts and queues. One run: into its directory. Several: against each other."""
)


COUNTS, QUEUES = ("agents", "predictors", "trainers"), ("prediction_queue", "training_queue")


@dataclass(frozen=True)
class PlotOptions:
    runs: Annotated[tuple[str, ...], tyro.conf.Positional] = field(default_factory=tuple)
    """Directories of runs. None: the newest run of --game, or of all."""
    game: str | None = None
    """The game whose newest run is drawn if no directory is named."""
    out: str | None = None
    """File to draw into (png, pdf or svg). Default: plot.png in the run, comparison.png for several."""


def moving_mean(values: np.ndarray, width: int) -> np.ndarray:
    """Mean of each value and the `width` - 1 before it (fewer at the start)."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - width, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def draw(runs: list[Path], out: Path) -> None:
    """Draws the runs into `out`; the file appears when it is complete."""
    plt = pyplot()
    figure, axes = plt.subplots(3, 2, figsize=(11, 9), layout="constrained")
    colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    for index, run in enumerate(runs):
        label = f"{run.parent.name} {run.name}" if len(runs) > 1 else ""
        try:
            _draw_run(axes, run, colours[index % len(colours)], label, single=len(runs) == 1)
        except ConfigError:
            plt.close(figure)
            raise
    titles = (
        ("Score over time", "minutes", "score"),
        ("Score over steps", "million steps", "score"),
        ("Predictions per second (PPS)", "minutes", "steps/s"),
        ("Trainings per second (TPS)", "minutes", "rollouts/s"),
        ("Agents, predictors, trainers", "minutes", "number"),
        ("Waiting in the queues", "minutes", "messages"),
    )
    for axis, (title, x, y) in zip(axes.flat, titles, strict=True):
        axis.set(title=title, xlabel=x, ylabel=y)
        if axis.get_legend_handles_labels()[0]:
            axis.legend()
    games = dict.fromkeys(run.resolve().parent.name for run in runs)
    figure.suptitle(" / ".join(games), fontsize=13)
    save(figure, out)


def _columns(path: Path, *names: str) -> dict[str, np.ndarray]:
    """What `read_csv` reads. Raises ConfigError where a file has other columns."""
    columns = read_csv(path)
    if columns and (missing := set(names) - set(columns)):
        raise ConfigError(f"{path} is damaged, or of another version: it has no column {min(missing)}.")
    return columns


def _draw_run(axes, run: Path, colour: str, label: str, single: bool) -> None:
    episodes = _columns(run / "episodes.csv", "seconds", "steps", "score")
    rows = _columns(run / "throughput.csv", "seconds", "pps", "tps", *COUNTS, *QUEUES)
    if episodes and len(episodes["score"]):
        for axis, x in ((axes[0, 0], episodes["seconds"] / 60), (axes[0, 1], episodes["steps"] / 1e6)):
            if single:
                axis.plot(x, episodes["score"], ".", color="0.75", markersize=2, label="each game", rasterized=True)
            name = label or "mean of 100 games"
            axis.plot(x, moving_mean(episodes["score"], 100), color=colour, linewidth=1.8, label=name)
    if not rows or not len(rows["seconds"]):
        return
    minutes = rows["seconds"] / 60
    axes[1, 0].plot(minutes, rows["pps"], color=colour, linewidth=1, label=label)
    axes[1, 1].plot(minutes, rows["tps"], color=colour, linewidth=1, label=label)
    for name, style in zip(COUNTS, ("-", "--", ":"), strict=True):
        axes[2, 0].step(minutes, rows[name], style, where="post", color=colour, label=name if single else None)
    for name, style in zip(QUEUES, ("-", ":"), strict=True):
        text = name.replace("_", " ") if single else None
        axes[2, 1].plot(minutes, rows[name], style, color=colour, linewidth=1, label=text)
    for axis in (axes[1, 0], axes[1, 1]):
        axis.set_ylim(bottom=0)


def run(arguments: list[str]) -> int:
    options = parse(PlotOptions, arguments, PlotOptions(), DESCRIPTION, "plot")
    if options.runs:
        runs = [run_directory.existing(name) for name in options.runs]
    else:
        runs = [run_directory.newest(options.game, with_checkpoint=False)]
    out = Path(options.out) if options.out else runs[0] / "plot.png" if len(runs) == 1 else Path("comparison.png")
    if out.suffix not in (".png", ".pdf", ".svg"):
        raise ConfigError(f"--out {out}: draw into a .png, .pdf or .svg file.")
    try:
        draw(runs, out)
    except OSError as error:
        raise ConfigError(f"Cannot write {out}: {error.strerror}.") from error
    print(f"Drawn into {out}")
    return 0
