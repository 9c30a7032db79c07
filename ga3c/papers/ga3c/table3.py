"""Table 3 of the paper: scores of trained agents, beside those of the paper, a human and a random player."""

from pathlib import Path

from ga3c.experiments import comparison, comparison_report, tables
from ga3c.experiments.comparison import LearningRun, Outcome
from ga3c.papers import LEARNING
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen, learning_runs, learnt
from ga3c.records.files import write_whole
from ga3c.records.run_directory import game_directory

RUNS = "table3"
READS = LEARNING
# human, random, A3C (4 days, CPU), GA3C (1 day, GPU)
PAPER = {
    "Amidar": (1676, 6, 264, 218),
    "Boxing": (10, -2, 60, 92),
    "Centipede": (10322, 1926, 3756, 7386),
    "NameThisGame": (6796, 198, 10476, 5643),
    "MsPacman": (15375, 1748, 654, 1978),
    "Pong": (16, -18, 6, 18),
    "Qbert": (12085, 272, 15149, 14966),
    "Seaquest": (40426, 216, 2355, 1706),
    "UpNDown": (9896, 533, 74706, 8623),
}
SCALES = {
    "cpu": {"game": tuple(PAPER), "seconds": 420.0, "seeds": 1, "flags": "--preset ga3c"},
    "full": {"game": tuple(PAPER), "seconds": 86_400.0, "seeds": 1, "flags": "--preset paper"},
}


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    return learning_runs(scale, {"ga3c": scale["flags"]})


def reproduce(options: Options, out: Path) -> str:
    outcomes = learnt(plan(options), options, out)
    comparison_report.report(outcomes, out, RUNS)
    table = markdown(outcomes)
    write_whole(out / "table3.md", table)
    return "\n" + table


def markdown(outcomes: list[Outcome]) -> str:
    """A row for each game; ours: the seed with the best mean, as the paper takes its best agent, and all seeds."""
    head = "game, human, random, A3C (4 days CPU), GA3C (1 day GPU), ours, ours greedy, seeds, minutes, million steps"
    rows = []
    for name, runs in comparison.by_game(outcomes).items():
        game = game_directory(name).name
        best = max(runs, key=lambda o: o.evaluation["ways"]["sampled"]["mean"])
        ways = {name: way["mean"] for name, way in best.evaluation["ways"].items()}
        means = [o.evaluation["ways"]["sampled"]["mean"] for o in runs]
        ours = [f"{ways['sampled']:.1f}", f"{ways['greedy']:.1f}", ", ".join(f"{mean:.1f}" for mean in means)]
        spent = [f"{best.minutes:.0f}", f"{best.steps / 1e6:.1f}"]
        rows.append([game, *PAPER.get(game, [None] * 4), *ours, *spent])
    return tables.markdown(head.split(", "), rows)
