"""Table 3 of the paper: A2C with V-trace under several batching strategies: speed, and time and frames to a score.

The paper's engines are OpenAI Gym, here ale-py's emulator, and CuLE, here our own. Its column of four GPUs is left out.
The score is the mean of 100 games in training, that of the paper one of test games. At cpu scale it is the paper's
three strategies with 120 games on our engine, for a few minutes each: long enough to see which gets under way first.
"""

from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c.experiments import comparison, tables
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import directory_of, results
from ga3c.papers import CURVES
from ga3c.papers.accelerated import as_flags
from ga3c.papers.cule import Options
from ga3c.papers.plan import chosen
from ga3c.records.run_directory import game_directory
from ga3c.views import curves
from ga3c.views.panels import SCORE_LABEL, panels, score_curve, score_label_x

RUNS = "cule-table3"
READS = (*CURVES, "games")
SCALES = {
    "cpu": {"game": ("Pong",), "seconds": 270.0, "seeds": 1},
    "full": {"game": ("Assault", "Asterix", "MsPacman", "Pong"), "seconds": 3600.0, "seeds": 1},
}
SCORES = {"Assault": 800, "Asterix": 1000, "MsPacman": 1500, "Pong": 18}
ON_THE_WAY = {"Pong": 0}  # a score before that, for short runs


class Strategy(NamedTuple):
    """A column of the table."""

    engine: str  # of --emulator
    games: int  # paper: envs
    batches: int
    n_steps: int
    return_lambda: float = 0.95  # that of the preset; the paper's is 1

    @property
    def spu_steps(self) -> int:
        """Steps per update."""
        return self.n_steps // self.batches

    @property
    def words(self) -> str:
        """For a legend, on two lines."""
        batches = f"{self.batches} batches" if self.batches > 1 else "one batch"
        own = f", λ {self.return_lambda:g}" if self.return_lambda == 1 else ""
        return f"{self.engine}, {self.games:,} games,\n{batches}, {self.n_steps} steps{own}"

    def __str__(self) -> str:
        own = "-lambda1" if self.return_lambda == 1 else ""
        return f"{self.engine}-{self.games}games-{self.batches}batches-{self.n_steps}steps{own}"


# By game: training KFPS (1,000 steps a second), updates a second, minutes and million steps to the score of SCORES.
# None: it was not reached.
PAPER = {
    Strategy("ale", 120, 1, 5): {
        "Assault": (4.2, 7.0, 20.2, 5.0), "Asterix": (4.3, 7.1, 8.1, 2.0),
        "MsPacman": (4.0, 6.7, 16.6, 4.0), "Pong": (4.3, 7.2, 21.2, 5.5),
    },
    Strategy("ale", 120, 5, 5): {
        "Assault": (3.4, 28.3, None, None), "Asterix": (3.3, 27.9, 35.2, 7.0),
        "MsPacman": (3.3, 27.1, 20.5, 4.0), "Pong": (3.4, 28.1, 12.2, 2.5),
    },
    Strategy("ale", 120, 20, 20): {
        "Assault": (3.0, 24.7, 42.6, 7.5), "Asterix": (3.0, 24.8, 14.4, 2.5),
        "MsPacman": (2.8, 23.7, 14.7, 2.5), "Pong": (3.0, 24.9, 8.4, 1.5),
    },
    Strategy("ale", 1200, 20, 20): {
        "Assault": (4.9, 4.1, 44.2, 13.0), "Asterix": (4.9, 4.1, 27.1, 8.0),
        "MsPacman": (4.8, 4.0, 12.4, 3.5), "Pong": (4.8, 4.0, 8.7, 2.5),
    },
    Strategy("ours", 1200, 1, 5): {
        "Assault": (10.6, 1.8, 18.8, 12.0), "Asterix": (11.9, 2.0, None, None),
        "MsPacman": (9.0, 1.5, None, None), "Pong": (10.5, 1.8, None, None),
    },
    Strategy("ours", 1200, 5, 5): {
        "Assault": (11.5, 9.6, 9.4, 6.5), "Asterix": (12.5, 10.4, 14.0, 10.5),
        "MsPacman": (9.6, 8.0, 6.9, 4.0), "Pong": (11.2, 9.3, 5.9, 4.0),
    },
    Strategy("ours", 1200, 20, 20): {
        "Assault": (11.0, 9.1, 9.9, 6.5), "Asterix": (12.1, 10.0, 3.4, 2.5),
        "MsPacman": (9.2, 7.7, 11.8, 6.5), "Pong": (10.6, 8.9, 3.1, 2.0),
    },
}  # fmt: skip


CPU_GAMES = 120


class Outcome(NamedTuple):
    """The cells of one run. NaN: the run did not reach that score."""

    steps_per_second: float
    updates_per_second: float
    minutes_on_the_way: float  # to the score of ON_THE_WAY
    minutes: float  # to that of SCORES
    million_steps: float
    last_score: float  # mean of the last 100 games


def plan(options: Options) -> dict[LearningRun, Strategy]:
    scale = chosen(SCALES, options)
    seeds = range(1, scale["seeds"] + 1)
    return {
        LearningRun(
            game_directory(game).name, str(strategy), tuple(flags(strategy).split()), seed, scale["seconds"]
        ): strategy
        for game, strategy, seed in product(scale["game"], _strategies(options), seeds)
    }


def _strategies(options: Options) -> list[Strategy]:
    if options.scale == "cpu":
        papers = [one._replace(engine="ours") for one in PAPER if one.engine == "ale" and one.games == CPU_GAMES]
    else:
        papers = list(PAPER)
    # With other numbers of games some of the strategies are the same.
    with_papers_lambda = papers[-1]._replace(return_lambda=1.0)  # of the strategy that `--preset cule` has
    papers = [*papers, with_papers_lambda]
    own = (one._replace(games=count) for one in papers for count in options.games or (one.games,))
    return list(dict.fromkeys(one for one in own if not one.games % one.batches))


def papers(strategy: Strategy, game: str) -> tuple[float | None, ...] | None:
    """The paper's numbers: with this engine, or with as many games on the other one."""
    for engine in (strategy.engine, "ale", "ours"):
        if found := PAPER.get(strategy._replace(engine=engine, return_lambda=0.95), {}).get(game):
            return found
    return None


def flags(strategy: Strategy) -> str:
    """Returns the flags of `train`."""
    values = {"preset": "cule", "games": strategy.games, "batches": strategy.batches, "t_max": strategy.n_steps}
    return as_flags(values | {"emulator": strategy.engine, "return_lambda": strategy.return_lambda})


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    found = results(runs, out, measured, options.machines)
    draw(runs, out)
    table = markdown(runs, found)
    tables.write(out, "table3", [_row(run, strategy, found[run]) for run, strategy in runs.items()], table)
    return f"\n{table}"


def measured(run: LearningRun, out: Path) -> Outcome:
    directory = directory_of(run, out)
    on_the_way, reached = (
        curves.first_reached(directory, wanted.get(run.game, np.inf)) for wanted in (ON_THE_WAY, SCORES)
    )
    _, scores = curves.of_run(directory, curves.SCORE_OVER_TIME)
    last = float(scores[-1]) if len(scores) else np.nan
    return Outcome(
        steps_per_second=comparison.median(directory, "trained_steps_per_second"),
        updates_per_second=comparison.median(directory, "updates_per_second"),
        minutes_on_the_way=on_the_way.minutes,
        minutes=reached.minutes,
        million_steps=reached.million_steps,
        last_score=last,
    )


def _row(run: LearningRun, strategy: Strategy, outcome: Outcome) -> dict:
    own = {"game": run.game, "seed": run.seed, **strategy._asdict(), "spu_steps": strategy.spu_steps}
    own |= {"seconds": run.seconds, "score_on_the_way": ON_THE_WAY.get(run.game, ""), "score": SCORES.get(run.game, "")}
    names = "kfps", "updates_per_second", "minutes", "million_steps"
    theirs = zip(names, papers(strategy, run.game) or ("",) * 4, strict=True)
    return own | tables.rounded(outcome._asdict()) | {f"paper_{name}": value for name, value in theirs}


def markdown(runs: dict[LearningRun, Strategy], found: dict[LearningRun, Outcome]) -> str:
    """A row for each run; the paper's numbers in brackets."""
    head = ["game", "engine", "games", "batches", "N-steps", "λ", "SPU", "1,000 steps/s", "updates/s"]
    head += ["minutes on the way", "minutes to the score", "million steps to it", "last 100 games"]
    rows = []
    for run, strategy in runs.items():
        steps, updates, early, minutes, million, last = found[run]
        own = [f"{steps / 1000:.2f}", f"{updates:.1f}", _or_dash(minutes), _or_dash(million)]
        theirs = papers(strategy, run.game)
        cells = [f"{one} ({'-' if p is None else p})" for one, p in zip(own, theirs, strict=True)] if theirs else own
        cells.insert(2, f"{_or_dash(early)} (to {ON_THE_WAY[run.game]})" if run.game in ON_THE_WAY else "")
        score = f"{run.game}, {SCORES[run.game]}" if run.game in SCORES else run.game
        name = [score, strategy.engine, f"{strategy.games:,}", strategy.batches, strategy.n_steps]
        name += [f"{strategy.return_lambda:g}", strategy.spu_steps]
        rows.append([*name, *cells, _or_dash(last)])
    minutes = f"{min(run.seconds for run in runs) / 60:.1f}"
    return tables.markdown(head, rows) + (
        f"-: not reached in {minutes} minutes. In brackets: the paper's, on 12 cores, with a Titan V where its "
        "engine is CuLE; where it has a strategy on OpenAI Gym alone, that.\n"
    )


def _or_dash(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"


def draw(runs: dict[LearningRun, Strategy], out: Path) -> None:
    """For each game the score of each run, over minutes and over steps."""
    named = list(dict.fromkeys(run.game for run in runs))
    colours = {strategy: f"C{index}" for index, strategy in enumerate(dict.fromkeys(runs.values()))}
    with panels(out / "table3.png", len(named), 2, sharey="row") as axes:
        for row, game in zip(axes, named, strict=True):
            for axis, over in zip(row, (curves.SCORE_OVER_TIME, curves.SCORE_OVER_STEPS), strict=True):
                for run, strategy in runs.items():
                    if run.game == game:
                        score_curve(axis, [directory_of(run, out)], over, colours[strategy], strategy.words)
                axis.set(title=game, xlabel=score_label_x(over))
            row[0].set_ylabel(SCORE_LABEL)
