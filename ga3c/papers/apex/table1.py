"""Table 1 of the paper: median of human-normalised scores over games, beside those of other agents."""

from pathlib import Path

import numpy as np

from ga3c.environments import atari
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from ga3c.experiments import comparison, comparison_report, tables
from ga3c.experiments.comparison import LearningRun, Outcome
from ga3c.papers import LEARNING
from ga3c.papers.apex import Options
from ga3c.papers.apex.final import FINAL
from ga3c.papers.plan import chosen, learning_runs, learnt
from ga3c.records.files import write_whole

RUNS = "apex-table1"
READS = LEARNING
READS_AT_FULL_SCALE = ("cluster",)
# Agent: training time, million frames, resources for each game, games, their median from no-op starts in percent.
PAPER = {
    "Ape-X DQN": ("5 days", "22,800", "376 cores, 1 GPU", 57, 434),
    "Rainbow": ("10 days", "200", "1 GPU", 57, 223),
    "Distributional (C51)": ("10 days", "200", "1 GPU", 57, 178),
    "Prioritized Dueling": ("9.5 days", "200", "1 GPU", 57, 172),
    "DQN": ("9.5 days", "200", "1 GPU", 57, 79),
    "Gorila DQN": ("about 4 days", "-", "unknown", 49, 96),
    "UNREAL (tuned for each game)": ("-", "250", "16 cores", 57, 331),
}
ALL_GAMES = tuple(atari.display_name(rom) for rom in sorted(RANDOM_AND_HUMAN_SCORES))
SCALES = {
    "cpu": {
        "game": ("Pong",), "seconds": 3600.0, "seeds": 1,
        "flags": "--batch 64 --replay-transitions 200000 --replay-minimum-transitions 20000",
    },
    "full": {
        "game": ALL_GAMES, "seconds": 432_000.0, "seeds": 1,
        "flags": "--cluster {cluster} --agents 360 --envs-per-agent 1",
    },
}  # fmt: skip


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    return learning_runs(scale, {"apex": f"--preset apex-dqn {scale['flags']}".format(cluster=options.cluster)})


def reproduce(options: Options, out: Path) -> str:
    outcomes = learnt(plan(options), options, out, FINAL)
    comparison_report.report(outcomes, out, "table1-games")
    table = markdown(outcomes)
    write_whole(out / "table1.md", table)
    return "\n" + table


def normalized(outcomes: list[Outcome]) -> dict[str, float]:
    """By game, the mean over its seeds: 0 is a random player, 1 a human."""
    by_game = {
        game: [one.evaluation["ways"]["sampled"]["human_normalized"] for one in runs]
        for game, runs in comparison.by_game(outcomes).items()
    }
    return {game: float(np.mean(scores)) for game, scores in by_game.items() if None not in scores}


def markdown(outcomes: list[Outcome]) -> str:
    scores = normalized(outcomes)
    head = ["agent", "training time", "million frames", "resources", "games", "median, no-op starts"]
    frames, minutes = (float(np.median([getattr(one, name) for one in outcomes])) for name in ("frames", "minutes"))
    median = f"{100 * np.median(list(scores.values())):.0f} %" if scores else None
    ours = ["ours", f"{minutes / 60:.1f} hours", f"{frames / 1e6:,.1f}", "this machine", len(scores), median]
    papers = ([agent, *row[:4], f"{row[4]} %"] for agent, row in PAPER.items())
    return tables.markdown(head, [ours, *papers])
