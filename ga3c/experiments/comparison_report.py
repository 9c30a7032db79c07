"""What came of a comparison, as tables and pictures."""

import math
from pathlib import Path

import numpy as np

from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.experiments import aggregates
from ga3c.experiments.comparison import Aggregate, Outcome, aggregate
from ga3c.experiments.throughput import write_rows
from ga3c.records.disk import write_whole
from ga3c.views import curves
from ga3c.views.drawing import BAND, COLOURS, INK, common_legend, pyplot, save


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
    """A panel for each game: the mean over seeds of each setting, and a band from lowest to highest.

    Of more settings than there are colours each has a panel of its own, with the first behind it.
    """
    plt = pyplot()
    panels = _panels(outcomes)
    many = max(map(len, panels.values())) == 1
    columns = min(4 if many else 3, len(panels))
    rows, (width, height) = -(-len(panels) // columns), (2.6, 2.0) if many else (5.5, 4.2)
    figure, axes = plt.subplots(
        rows, columns, figsize=(width * columns, height * rows + 0.4 * many), squeeze=False, layout="constrained",
        sharex=many, sharey=many,
    )  # fmt: skip
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    for axis, ((game, title), settings) in zip(axes.flat, panels.items(), strict=False):
        first = outcomes[0].run.setting
        for index, setting in enumerate([first, *settings] if many else settings):
            seeds = [o.directory for o in outcomes if (o.run.game, o.run.setting) == (game, setting)]
            curve, behind = curves.of_runs(seeds, over), many and index == 0
            color = INK if behind else "C0" if many else f"C{index}"
            label = f"{first}, in each panel" if behind else None if many else setting
            axis.plot(curve.x, curve.y, color=color, label=label)
            if len(seeds) > 1 and len(curve.x) and not behind:
                axis.fill_between(curve.x, curve.low, curve.high, color=color, **BAND)
        axis.set_title(title)
    unit = "minutes" if over.x == "seconds" else "million steps"
    figure.supxlabel(unit, fontsize="medium")
    figure.supylabel(f"score (mean of {curves.SMOOTH_GAMES} games)", fontsize="medium")
    common_legend(figure)
    save(figure, file)


def _panels(outcomes: list[Outcome]) -> dict[tuple[str, str], list[str]]:
    """Game and title -> the settings that are drawn there; all of a game, or one."""
    found: dict[tuple[str, str], list[str]] = {}
    settings = list(dict.fromkeys(o.run.setting for o in outcomes))
    games = list(dict.fromkeys(o.run.game for o in outcomes))
    for game in games:
        if len(settings) <= len(COLOURS):
            found[game, game] = settings
        else:
            found |= {(game, setting if len(games) == 1 else f"{game}, {setting}"): [setting] for setting in settings}
    return found


def draw_scores(scores: dict[str, dict[str, list[float]]], file: Path) -> None:
    """A panel for each of `scores`, by title; in it a row for each setting, with the scores of its runs.

    A dot is a run, a line the interquartile mean with its 95 % interval.
    """
    plt = pyplot()
    rows = max(map(len, scores.values()))
    size = {"figsize": (4.5 * len(scores), 0.27 * rows + 1.3), "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(1, len(scores), layout="constrained", **size)
    for axis, (title, by_setting) in zip(axes.flat, scores.items(), strict=True):
        for row, values in enumerate(by_setting.values()):
            middle = aggregates.interquartile_mean(np.array(values))
            low, high = aggregates.interval([values], aggregates.interquartile_mean)
            axis.plot(values, [row] * len(values), "o", color="C0", alpha=0.6, label="a run")
            axis.plot(middle, row, "|", color="C1", markersize=12, markeredgewidth=2, label="interquartile mean")
            if low is not None:
                axis.plot([low, high], [row, row], color="C1", linewidth=1, label="its 95 % interval")
        axis.set(title=title, ylim=(rows - 0.5, -0.5))
        axis.set_yticks(range(len(by_setting)), list(by_setting))
    common_legend(figure)
    save(figure, file)


def _scores(outcomes: list[Outcome]) -> dict[str, dict[str, list[float]]]:
    """For `draw_scores`: of the games after training, and the means over training."""
    found: dict[str, dict[str, list[float]]] = {}
    for o in outcomes:
        for what, value in (("after", o.evaluation["ways"]["sampled"]["mean"]), ("over", o.mean_over_time)):
            found.setdefault(f"{o.run.game}: score {what} training", {}).setdefault(o.run.setting, []).append(value)
    return found


def report(outcomes: list[Outcome], out: Path, name: str) -> str:
    """Writes NAME-runs.csv, NAME.md, NAME.png, NAME-steps.png and NAME-scores.png into `out`; returns the table."""
    refuse_mixed(outcomes)
    write_rows(out / f"{name}-runs.csv", [o.row() for o in outcomes])
    table = markdown(aggregate(outcomes))
    write_whole(out / f"{name}.md", table)
    draw(outcomes, out / f"{name}.png")
    draw(outcomes, out / f"{name}-steps.png", curves.SCORE_OVER_STEPS)
    draw_scores(_scores(outcomes), out / f"{name}-scores.png")
    return table
