"""The report of a comparison: tables and pictures."""

import math
from itertools import product
from pathlib import Path

import numpy as np

from ga3c.environments import protocols
from ga3c.experiments import aggregates, tables
from ga3c.experiments.comparison import Aggregate, Outcome, aggregate
from ga3c.records.files import write_whole
from ga3c.views import curves
from ga3c.views.drawing import COLOURS, INK
from ga3c.views.panels import SCORE_LABEL, panels, score_curve, score_label_x, score_panel

ACTIONS = "Scores: whole games, actions sampled from the policy; agents of action values take the best action."


def _actions(outcomes: list[Outcome]) -> str:
    """Returns how the games of the scores were played."""
    shares = sorted({share for o in outcomes if (share := o.evaluation.get("exploration", 0.0))})
    return " ".join([ACTIONS, *(f"{100 * share:g} % of all actions are random." for share in shares)])


def markdown(found: list[Aggregate]) -> str:
    """A table, a row for each aggregate."""
    percent = round(100 * aggregates.CONFIDENCE)
    head = ["game", "setting", "runs", "score (interquartile mean)", f"{percent} % interval", "median"]
    rows = []
    for a in found:
        over_time = "" if math.isnan(a.over_time) else f"{a.over_time:.2f}"
        interval = aggregates.in_words(a.low, a.high, a.means if a.game else ())  # those of all games stand above
        score = [f"{a.score:.2f}", interval, f"{a.median:.2f}", over_time, f"{100 * a.better_than_first:.0f} %"]
        rows.append([a.game or "all, human-normalised", a.setting, a.runs, *score, a.collapses])
    return tables.markdown([*head, "over training", "beats the first", "collapsed"], rows)


def draw(outcomes: list[Outcome], file: Path, over: curves.Quantity = curves.SCORE_OVER_TIME) -> None:
    """A panel for each game: the mean over seeds of each setting, and a band from lowest to highest.

    Of more settings than there are colours each has a panel of its own, with the first behind it.
    """
    games, settings = (list(dict.fromkeys(getattr(o.run, name) for o in outcomes)) for name in ("game", "setting"))
    seeds = {what: [] for what in product(games, settings)}
    for o in outcomes:
        seeds[o.run.game, o.run.setting].append(o.directory)
    many = len(settings) > len(COLOURS)
    shown = list(product(games, settings)) if many else [(game, None) for game in games]
    columns = 4 if many else min(3, len(shown))
    rows, shared = -(-len(shown) // columns), many and len(games) == 1
    size = (2.6 * columns, 2.1 * rows) if many else None
    with panels(file, rows, columns, size=size, sharex=shared, sharey=shared) as axes:
        for axis in axes.flat[len(shown) :]:
            axis.remove()
        for index, (axis, (game, setting)) in enumerate(zip(axes.flat, shown, strict=False)):
            title = ", ".join([game] * (len(games) > 1 or not many) + [setting] * many)
            if setting is None:
                score_panel(axis, title, {name: seeds[game, name] for name in settings}, over)
            else:
                score_curve(axis, seeds[game, settings[0]], over, INK, f"{settings[0]}, in each panel")
                score_curve(axis, seeds[game, setting], over, "C0", None)
                axis.set(title=title, xlabel=score_label_x(over), ylabel=SCORE_LABEL)
            if index + columns < len(shown):
                axis.set_xlabel("")
            else:  # no panel stands below it
                axis.tick_params(labelbottom=True)
            if index % columns:
                axis.set_ylabel("")


def draw_scores(scores: dict[str, dict[str, list[float]]], file: Path) -> None:
    """A panel for each of `scores`, by title; in it a row for each setting, with the scores of its runs.

    A dot is a run, a line the interquartile mean with its 95 % interval.
    """
    rows = max(map(len, scores.values()))
    columns = min(2, len(scores))
    lines = -(-len(scores) // columns)
    with panels(file, lines, columns, size=(4.5 * columns, (0.27 * rows + 0.8) * lines + 0.5), sharey=True) as axes:
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


def _scores(outcomes: list[Outcome]) -> dict[str, dict[str, list[float]]]:
    """For `draw_scores`: of the games after training, and the means over training."""
    found: dict[str, dict[str, list[float]]] = {}
    for o in outcomes:
        for what, value in (("after", o.evaluation["ways"]["sampled"]["mean"]), ("over", o.mean_over_time)):
            found.setdefault(f"{o.run.game}: score {what} training", {}).setdefault(o.run.setting, []).append(value)
    return found


def report(outcomes: list[Outcome], out: Path, name: str) -> str:
    """Writes NAME-runs.csv, NAME.md, NAME.png, NAME-steps.png and NAME-scores.png into `out`; returns the table."""
    protocols.refuse_mixed(o.evaluation["fingerprint"] for o in outcomes)
    table = f"{markdown(aggregate(outcomes))}\n{_actions(outcomes)}\n"
    tables.write_rows(out / f"{name}-runs.csv", [o.row() for o in outcomes])
    write_whole(out / f"{name}.md", table)
    draw(outcomes, out / f"{name}.png")
    draw(outcomes, out / f"{name}-steps.png", curves.SCORE_OVER_STEPS)
    draw_scores(_scores(outcomes), out / f"{name}-scores.png")
    return table
