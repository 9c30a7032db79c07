"""Table 3 of the paper: A2C with V-trace under several batching strategies: speed, and time and frames to a score.

The paper's engines are OpenAI Gym, here ale-py's emulator, and CuLE, here our own. Its column of four GPUs is left out.
The score is the mean of 100 games in training, that of the paper one of test games.
"""

from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c.experiments import comparison
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import directory_of, perform
from ga3c.experiments.throughput import write_rows
from ga3c.papers import games, seconds, seeds
from ga3c.papers.cule import Options
from ga3c.records.disk import read_csv, write_whole
from ga3c.views import curves

RUNS = "cule-table3"
SCALES = {
    "cpu": {"game": ("Pong",), "seconds": 1200.0, "seeds": 1},
    "full": {"game": ("Assault", "Asterix", "MsPacman", "Pong"), "seconds": 3600.0, "seeds": 1},
}
SCORES = {"Assault": 800, "Asterix": 1000, "MsPacman": 1500, "Pong": 18}


class Strategy(NamedTuple):
    """A column of the table."""

    engine: str  # of --emulator
    games: int  # paper: envs
    batches: int
    n_steps: int

    @property
    def spu_steps(self) -> int:
        """Steps per update."""
        return self.n_steps // self.batches

    def __str__(self) -> str:
        return f"{self.engine}-{self.games}games-{self.batches}batches-{self.n_steps}steps"


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


class Outcome(NamedTuple):
    """Of a run: what a cell of the table says."""

    steps_per_second: float
    updates_per_second: float
    minutes: float  # to the score; NaN: it was not reached
    million_steps: float


def plan(options: Options) -> dict[LearningRun, Strategy]:
    scale = SCALES[options.scale]
    # With other numbers of games the strategies are the same.
    strategies = list(
        dict.fromkeys(
            one._replace(games=count)
            for one in PAPER
            for count in options.games or (one.games,)
            if not count % one.batches
        )
    )
    return {
        LearningRun(game, str(strategy), tuple(flags(strategy)), seed, seconds(options, scale)): strategy
        for game, strategy, seed in product(games(options, scale["game"]), strategies, seeds(options, scale))
    }


def flags(strategy: Strategy) -> list[str]:
    """Of `train`."""
    values = {
        "--preset": "cule", "--games": strategy.games, "--batches": strategy.batches, "--t-max": strategy.n_steps,
        "--emulator": strategy.engine,
    }  # fmt: skip
    return [word for flag, value in values.items() for word in (flag, str(value))]


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(list(runs), out)
    found = {run: measured(run, directory_of(run, out)) for run in runs}
    write_rows(out / "table3.csv", [_row(run, strategy, found[run]) for run, strategy in runs.items()])
    table = markdown(runs, found)
    write_whole(out / "table3.md", table)
    return f"\n{table}"


def measured(run: LearningRun, directory: Path) -> Outcome:
    speeds = (comparison.median(directory, name) for name in ("trained_steps_per_second", "updates_per_second"))
    return Outcome(*speeds, *_first_at(directory, SCORES.get(run.game)))


def _first_at(directory: Path, score: float | None) -> tuple[float, float]:
    """Minutes and million steps after which the mean of 100 games was first this score. NaN: it never was."""
    rows = read_csv(directory / "episodes.csv")
    if score is None or len(rows.get("score", ())) < curves.SMOOTH_GAMES:
        return np.nan, np.nan
    means = curves.moving_mean(rows["score"], curves.SMOOTH_GAMES)[curves.SMOOTH_GAMES - 1 :]
    reached = np.flatnonzero(means >= score)
    if not len(reached):
        return np.nan, np.nan
    game = reached[0] + curves.SMOOTH_GAMES - 1
    return float(rows["seconds"][game]) / 60, float(rows["steps"][game]) / 1e6


def _row(run: LearningRun, strategy: Strategy, outcome: Outcome) -> dict:
    own = {"game": run.game, "seed": run.seed, **strategy._asdict(), "spu_steps": strategy.spu_steps}
    numbers = {name: f"{value:.6g}" for name, value in outcome._asdict().items()}
    paper = PAPER.get(strategy, {}).get(run.game, ("",) * 4)
    names = "kfps", "updates_per_second", "minutes", "million_steps"
    return own | numbers | {f"paper_{name}": value for name, value in zip(names, paper, strict=True)}


def markdown(runs: dict[LearningRun, Strategy], found: dict[LearningRun, Outcome]) -> str:
    """A row for each run; the paper's numbers in brackets."""
    head = ["game", "engine", "games", "batches", "N-steps", "SPU", "1,000 steps/s", "updates/s"]
    head += ["minutes to the score", "million steps to it"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for run, strategy in runs.items():
        steps, updates, minutes, million = found[run]
        own = [f"{steps / 1000:.2f}", f"{updates:.1f}", _or_dash(minutes), _or_dash(million)]
        paper = PAPER.get(strategy, {}).get(run.game)
        cells = [f"{one} ({'-' if p is None else p})" for one, p in zip(own, paper, strict=True)] if paper else own
        score = f"{run.game}, {SCORES[run.game]}" if run.game in SCORES else run.game
        name = [score, strategy.engine, f"{strategy.games:,}", strategy.batches, strategy.n_steps, strategy.spu_steps]
        lines.append("| " + " | ".join(map(str, [*name, *cells])) + " |")
    return "\n".join(lines) + "\nIn brackets: the paper's, on 12 cores, with a Titan V where its engine is CuLE.\n"


def _or_dash(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"
