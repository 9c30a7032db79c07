"""Comparison: several settings over several games and seeds, at equal time or equal steps, and what came of it."""

import contextlib
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c import environments
from ga3c.errors import ConfigError
from ga3c.experiments.aggregates import interquartile_mean, interval, probability_of_improvement
from ga3c.experiments.runs import RunFailed, child_environment, directory_of, perform, train_command
from ga3c.experiments.tables import rounded
from ga3c.records import checkpoint, run_directory
from ga3c.records.collapse import collapses
from ga3c.records.csv_reading import read_csv
from ga3c.records.files import read_json
from ga3c.text import count
from ga3c.views import curves

EVALUATION = "evaluation.json"


@dataclass(frozen=True)
class LearningRun:
    """One training run that goes on where it was interrupted: the usual settings, but for `flags` of `train`."""

    game: str
    setting: str  # what people call these flags
    flags: tuple[str, ...]
    seed: int
    seconds: float  # of training at the most, without the time of starts
    steps: int = 0  # 0: as many as come in this time

    goes_on = True
    log_seconds = 5.0

    @property
    def name(self) -> str:
        return f"{run_directory.game_directory(self.game).name}-{self.setting}-seed{self.seed}"

    def command(self, directory: Path) -> list[str]:
        seconds = self.seconds
        if checkpoint.saved(directory / "checkpoints"):
            seconds -= checkpoint.load_newest(directory / "checkpoints")[2]["totals"]["seconds"]
        limits = ["--minutes", f"{max(seconds / 60, 0.01):.3f}", *(["--steps", str(self.steps)] if self.steps else [])]
        return [*train_command(directory, self.game, self.seed, self.flags), *limits]


class Outcome(NamedTuple):
    """The outcome of one finished run."""

    run: LearningRun
    directory: Path
    minutes: float
    steps: int
    frames: int
    games: int
    mean_of_last_games: float  # of the last 100 in training
    mean_over_time: float  # of the score, from the run's first second to its last: how early it learned
    collapses: int  # that it has not recovered from
    evaluation: dict  # what `evaluate --json` wrote

    def row(self) -> dict:
        """For a CSV file."""
        ways = {
            f"{way}_{name}": value[name]
            for way, value in self.evaluation["ways"].items()
            for name in ("mean", "std", "min", "max")
        }
        own = {name: getattr(self, name) for name in self._fields if name not in ("run", "directory", "evaluation")}
        run = asdict(self.run) | {"flags": " ".join(self.run.flags)}
        return run | rounded(own | ways) | {"protocol": self.evaluation["fingerprint"]}


class Evaluation(NamedTuple):
    """How the agents of finished runs are evaluated, besides the number of their games."""

    protocol: str | None = None  # of Atari games; None: that of the training
    best: bool = False  # the best mean of the networks that --checkpoint-steps has kept; False: the newest agent's


NEWEST = Evaluation()


def make(
    runs: list[LearningRun], out: Path, evaluation_games: int, how: Evaluation = NEWEST, machines: str | None = None
) -> list[Outcome]:
    """Makes, or goes on with, the runs that are not finished, and lets each play `evaluation_games` games.

    machines: those of the cluster at this address make the runs (`runs.perform`).
    Raises ConfigError, RunFailed.
    """
    perform(runs, out, machines)
    return [_outcome(run, directory_of(run, out), evaluation_games, how) for run in runs]


def _outcome(run: LearningRun, directory: Path, evaluation_games: int, how: Evaluation) -> Outcome:
    kept = checkpoint.kept_networks(directory / "checkpoints") if how.best else []
    evaluations = [
        _evaluation(run, directory / EVALUATION.replace(".", f"-{agent.stem}."), evaluation_games, how.protocol, agent)
        for agent in kept
    ] or [_evaluation(run, directory / EVALUATION, evaluation_games, how.protocol, directory)]
    evaluation = max(evaluations, key=lambda one: one["ways"]["sampled"]["mean"])
    rows, games = read_csv(directory / "throughput.csv"), curves.read(directory, "episodes", "score")
    scores = games["score"] if games else np.array([])
    return Outcome(
        run,
        directory,
        rows["seconds"][-1] / 60,
        int(rows["steps"][-1]),
        int(rows["frames"][-1]),
        len(scores),
        float(scores[-curves.SMOOTH_GAMES :].mean()) if len(scores) else float("nan"),
        _over_training(directory, min(run.seconds, rows["seconds"][-1])),
        sum(found.recovered_game is None for found in collapses(scores)),
        evaluation,
    )


def _over_training(directory: Path, seconds: float) -> float:
    """Returns the mean score over so many seconds of a run. NaN without a game."""
    minutes, score = curves.of_run(directory, curves.SCORE_OVER_TIME)
    if not len(score):
        return float("nan")
    return float(np.interp(np.linspace(0, seconds / 60, 1000), minutes, score).mean())


def _evaluation(run: LearningRun, file: Path, games: int, protocol: str | None, agent: Path) -> dict:
    """Returns what `file` says of so many games, which are played if it does not. `agent`: a run or a checkpoint.

    Runs of one seed play the same games, and play them again if asked again; another seed has other games.
    """
    kept = agent.suffix == ".npz"
    words = [*(["--checkpoint"] if kept else []), str(agent), "--game", run.game]
    if protocol and environments.resolve(run.game)[0] == "atari":
        words += ["--protocol", protocol]
    words += ["--seed", str(1_000_000 + 1_000 * run.seed)]
    return evaluated(file, games, f"{run.name}{f', {agent.stem}' if kept else ''}", words)


def evaluated(file: Path, games: int, who: str, words: list[str]) -> dict:
    """Returns what `file` says of so many games, which `evaluate WORDS` plays if it does not. Raises RunFailed."""
    with contextlib.suppress(ConfigError, KeyError, TypeError):
        if (known := read_json(file))["episodes"] == games:
            return known
    print(f"{who}: playing {count(games, 'game')} in each way ...", flush=True)
    command = [sys.executable, "-m", "ga3c", "evaluate", *words, "--episodes", str(games), "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env=child_environment())
    if done.returncode:
        raise RunFailed(f"{who} could not be evaluated: {done.stderr.strip().rpartition('ga3c: ')[2]}")
    return read_json(file)


def by_game(outcomes: list[Outcome]) -> dict[str, list[Outcome]]:
    """Returns the outcomes of each game, in their order."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.run.game, []).append(outcome)
    return found


def median(directory: Path, column: str) -> float:
    """Over the rows of a run's throughput.csv."""
    return float(np.nanmedian(read_csv(directory / "throughput.csv")[column]))


class Aggregate(NamedTuple):
    """The aggregate of one setting's runs on one game or, with human-normalised scores, on all games (`game` empty)."""

    game: str
    setting: str
    runs: int
    score: float  # interquartile mean of the evaluations' means, actions sampled
    low: float | None  # of its 95 % interval; None: of too few runs
    high: float | None
    means: tuple[float, ...]  # of the runs, what `score` is of
    median: float
    over_time: float  # interquartile mean of the scores' means over training; not a number over several games
    better_than_first: float  # chance that a run of it beats one of the first setting
    collapses: int


def aggregate(outcomes: list[Outcome]) -> list[Aggregate]:
    """Each setting on each game, in the order of the runs; with several games, over all of them too."""
    games = list(dict.fromkeys(o.run.game for o in outcomes))
    settings = list(dict.fromkeys(o.run.setting for o in outcomes))
    found = [_aggregate(outcomes, [game], setting, settings[0], "mean") for game in games for setting in settings]
    if len(games) > 1 and all(o.evaluation["ways"]["sampled"]["human_normalized"] is not None for o in outcomes):
        found += [_aggregate(outcomes, games, setting, settings[0], "human_normalized") for setting in settings]
    return found


def _aggregate(outcomes: list[Outcome], games: list[str], setting: str, first: str, what: str) -> Aggregate:
    def strata(of: str) -> list[list[float]]:
        return [
            [o.evaluation["ways"]["sampled"][what] for o in outcomes if (o.run.game, o.run.setting) == (game, of)]
            for game in games
        ]

    ours, others = strata(setting), strata(first)
    values, (low, high) = np.array(ours).ravel(), interval(ours, interquartile_mean)
    seeds = [o for o in outcomes if o.run.setting == setting and o.run.game in games]
    over_time = interquartile_mean(np.array([o.mean_over_time for o in seeds])) if len(games) == 1 else np.nan
    better = np.mean([probability_of_improvement(*pair) for pair in zip(ours, others, strict=True)])
    return Aggregate(
        game=games[0] if len(games) == 1 else "",
        setting=setting,
        runs=len(values),
        score=float(interquartile_mean(values)),
        low=low,
        high=high,
        means=tuple(values.tolist()),
        median=float(np.median(values)),
        over_time=float(over_time),
        better_than_first=float(better),
        collapses=sum(o.collapses for o in seeds),
    )
