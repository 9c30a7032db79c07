"""The zoo: lists of games, the scores to reach in them, and the table of the agents that were trained on them."""

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ga3c import environments
from ga3c.environments import gymnasium
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES, human_normalized
from ga3c.experiments import aggregates, comparison_report, tables
from ga3c.experiments.comparison import Outcome, by_game
from ga3c.text import count, duration
from ga3c.views import curves

# Weights that estimate the median score over 57 games from that of a few, by ROM name (Aitchison et al. 2023).
WEIGHTS = {
    "atari5": {
        "battle_zone": 0.3819751, "double_dunk": 0.0679099, "name_this_game": 0.3108041, "phoenix": 0.1241262,
        "qbert": 0.0804852,
    },
    "atari3": {"battle_zone": 0.3705645, "name_this_game": 0.5132683, "phoenix": 0.1015169},
}  # fmt: skip
LISTS = {name: tuple(weights) for name, weights in WEIGHTS.items()} | {"speed": ("pong", "breakout", "boxing", "qbert")}
MARKS = {"pong": (18,), "breakout": (300, 400), "boxing": (90,), "qbert": (10_000,)}


def marks(game: str) -> tuple[float, ...]:
    """Returns the scores to reach in a game: its own, else that of a human, else that from which Gymnasium calls it
    solved; none where nothing is known."""
    _, name = environments.resolve(game)
    human = RANDOM_AND_HUMAN_SCORES.get(name)
    usual = human[1] if human else gymnasium.solved_at(name)
    return MARKS.get(name, () if usual is None else (usual,))


def estimate(scores: dict[str, float]) -> tuple[str, float] | None:
    """Returns the first list of `WEIGHTS` whose games are all among the scores (by ROM name), and its estimate of the
    median over 57 games, in percent of a human. None: there is no such list."""
    for name, weights in WEIGHTS.items():
        if weights.keys() <= scores.keys():
            percent = {rom: max(0.0, 100 * human_normalized(rom, scores[rom])) for rom in weights}
            return name, 10 ** sum(weight * math.log10(1 + percent[rom]) for rom, weight in weights.items()) - 1
    return None


def _sampled(outcomes: list[Outcome], name: str) -> list:
    return [o.evaluation["ways"]["sampled"][name] for o in outcomes]


def _interval(seeds: list[Outcome]) -> str:
    """Returns the interval of a game's score: over its seeds, or where they are too few, over the agents' games."""
    means, scores = _sampled(seeds, "mean"), _sampled(seeds, "scores")
    strata = [means] if len(means) >= aggregates.FEWEST_RUNS else scores
    return aggregates.in_words(*aggregates.interval(strata, np.mean), (), digits=1)


def _of_each(values: Iterable[float], digits: int) -> str:
    """Returns the value of each seed; a dash for those that are not numbers."""
    return ", ".join("-" if math.isnan(value) else f"{value:.{digits}f}" for value in values)


def _game_cells(rom: str, seeds: list[Outcome]) -> list[str | None]:
    means = _sampled(seeds, "mean")
    score = float(np.mean(means))
    human = human_normalized(rom, score)
    percent = None if human is None else f"{100 * human:.1f} %"
    return [f"{score:.1f}", _interval(seeds), percent, _of_each(means, 1), _of_each((o.steps / 1e6 for o in seeds), 2)]


def _mark_cells(seeds: list[Outcome], mark: float) -> list[str]:
    times = [curves.first_reached(o.directory, mark) for o in seeds]
    return [f"{mark:g}", _of_each((t.minutes for t in times), 1), _of_each((t.million_steps for t in times), 2)]


def markdown(outcomes: list[Outcome]) -> str:
    """Returns the table, with a line for each game and mark, the estimate, and what the numbers mean."""
    percent = round(100 * aggregates.CONFIDENCE)
    head = ["game", "score", f"{percent} % interval", "human-normalised", "score of each seed", "million steps"]
    rows, scores = [], {}
    for game, seeds in by_game(outcomes).items():
        _, rom = environments.resolve(game)
        scores[rom] = float(np.mean(_sampled(seeds, "mean")))
        first, *others = [_mark_cells(seeds, mark) for mark in marks(game)] or [[None] * 3]
        cells = [game, *_game_cells(rom, seeds)]
        rows += [[*cells, *first], *([""] * len(cells) + other for other in others)]
    table = tables.markdown([*head, "mark", "minutes to it", "million steps to it"], rows)
    return f"{table}\n{_estimate_line(scores)}{_explanation(outcomes)}\n"


def _estimate_line(scores: dict[str, float]) -> str:
    if not (found := estimate(scores)):
        return ""
    return f"Estimate of the median over 57 games ({found[0]}): {found[1]:.1f} % of a human.\n\n"


def _explanation(outcomes: list[Outcome]) -> str:
    run, games = outcomes[0].run, count(outcomes[0].evaluation["episodes"], "game")
    flags = " ".join(run.flags) or "the defaults"
    steps = f", or {count(run.steps, 'step')}," if run.steps else ""
    protocols = ", ".join(dict.fromkeys(o.evaluation["fingerprint"] for o in outcomes))
    return (
        f"Trained for {duration(run.seconds)}{steps} with {flags}. {comparison_report.ACTIONS} A seed's score is the "
        f"mean of {games} after training (protocol {protocols}), a game's score the mean over its seeds. Intervals are "
        f"over seeds, or with fewer than {aggregates.FEWEST_RUNS} seeds over these games. A mark is reached when the "
        f"last {curves.SMOOTH_GAMES} games in training have this mean. A dash: not reached, or not known."
    )


def _row(outcome: Outcome, mark: float | None) -> dict:
    way = outcome.evaluation["ways"]["sampled"]
    own = {f"sampled_{name}": way[name] for name in ("low", "high", "human_normalized")}
    reached = curves.first_reached(outcome.directory, math.inf if mark is None else mark)
    times = {f"{name}_to_mark": None if math.isnan(time) else time for name, time in reached._asdict().items()}
    return outcome.row() | tables.rounded(own | {"mark": mark} | times)


def report(outcomes: list[Outcome], out: Path) -> str:
    """Writes zoo.csv, zoo.md, zoo.png and zoo-steps.png into `out`; returns the table."""
    table = markdown(outcomes)
    rows = [_row(outcome, mark) for outcome in outcomes for mark in marks(outcome.run.game) or (None,)]
    tables.write(out, "zoo", rows, table)
    comparison_report.draw(outcomes, out / "zoo.png")
    comparison_report.draw(outcomes, out / "zoo-steps.png", curves.SCORE_OVER_STEPS)
    return f"\n{table}"
