"""What came of a comparison, as tables and pictures."""

import math
from pathlib import Path

from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.experiments import aggregates
from ga3c.experiments.comparison import Aggregate, Outcome, aggregate
from ga3c.experiments.throughput import write_rows
from ga3c.records.disk import write_whole
from ga3c.views import curves
from ga3c.views.drawing import pyplot, save

LINES = ("-", "--", ":")  # where there are more settings than colors


def refuse_mixed(outcomes: list[Outcome]) -> None:
    """Raises ConfigError where runs were not made under one protocol."""
    if mix := protocols.mix(o.evaluation["fingerprint"] for o in outcomes):
        raise ConfigError(f"These runs do not compare, {mix}.")


def markdown(found: list[Aggregate]) -> str:
    """A table, a row for each aggregate."""
    percent = round(100 * aggregates.CONFIDENCE)
    lines = [
        f"| game | setting | runs | score (interquartile mean) | {percent} % interval | median | over training | "
        "beats the first | collapsed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for a in found:
        over_time = "" if math.isnan(a.over_time) else f"{a.over_time:.2f}"
        interval = aggregates.in_words(a.low, a.high, a.means if a.game else ())  # those of all games stand above
        lines.append(
            f"| {a.game or 'all, human-normalised'} | {a.setting} | {a.runs} | {a.score:.2f} | "
            f"{interval} | {a.median:.2f} | {over_time} | {100 * a.better_than_first:.0f} % | {a.collapses} |"
        )
    return "\n".join(lines) + "\n"


def draw(outcomes: list[Outcome], file: Path, over: curves.Quantity = curves.SCORE_OVER_TIME) -> None:
    """A panel for each game: the mean over seeds of each setting, and a band from lowest to highest."""
    plt = pyplot()
    colors = len(plt.rcParams["axes.prop_cycle"])
    games = list(dict.fromkeys(o.run.game for o in outcomes))
    columns = min(3, len(games))
    rows = -(-len(games) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5.5 * columns, 4 * rows), squeeze=False, layout="constrained")
    for axis in axes.flat[len(games) :]:
        axis.remove()
    for axis, game in zip(axes.flat, games, strict=False):
        settings = list(dict.fromkeys(o.run.setting for o in outcomes if o.run.game == game))
        few = len(settings) <= colors  # with more, bands would hide lines
        for index, setting in enumerate(settings):
            seeds = [o.directory for o in outcomes if (o.run.game, o.run.setting) == (game, setting)]
            curve = curves.of_runs(seeds, over)
            axis.plot(
                curve.x,
                curve.y,
                color=f"C{index}",
                linestyle=LINES[index // colors % len(LINES)],
                linewidth=1.5,
                label=setting,
            )
            if few and len(seeds) > 1 and len(curve.x):
                axis.fill_between(curve.x, curve.low, curve.high, color=f"C{index}", alpha=0.2, linewidth=0)
        unit = "minutes" if over.x == "seconds" else "million steps"
        axis.set(title=game, xlabel=unit, ylabel=f"score (mean of {curves.SMOOTH_GAMES} games)")
        beside = {} if few else {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
        axis.legend(**beside)
    save(figure, file)


def report(outcomes: list[Outcome], out: Path, name: str) -> str:
    """Writes NAME-runs.csv, NAME.md, NAME.png and NAME-steps.png into `out`; returns the table."""
    refuse_mixed(outcomes)
    write_rows(out / f"{name}-runs.csv", [o.row() for o in outcomes])
    table = markdown(aggregate(outcomes))
    write_whole(out / f"{name}.md", table)
    draw(outcomes, out / f"{name}.png")
    draw(outcomes, out / f"{name}-steps.png", curves.SCORE_OVER_STEPS)
    return table
