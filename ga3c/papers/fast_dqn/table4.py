"""Table 4 of the paper: scores of fast DQN and of DQN, beside the paper's, a human's and a random player's.

A score is the best mean of a run's evaluations, one for every 250,000 steps of training (section 5.2). Each is of 30
games under the rules of Mnih et al. 2015, with 5 % of all actions at random. A shorter run has its last network's.
"""

from pathlib import Path

from ga3c.experiments import comparison, comparison_report, tables
from ga3c.experiments.comparison import Evaluation, LearningRun, Outcome
from ga3c.papers import LEARNING
from ga3c.papers.fast_dqn import Options
from ga3c.papers.fast_dqn.scores import PAPER
from ga3c.papers.plan import chosen, learning_runs, learnt
from ga3c.records.files import write_whole
from ga3c.records.run_directory import game_directory

RUNS = "fast_dqn-table4"
READS = LEARNING
WAYS = {name: f"--preset {preset} --checkpoint-steps 250000" for name, preset in (("fast", "fast-dqn"), ("dqn", "dqn"))}
EVALUATION = Evaluation("dqn", best=True)
SCALES = {
    "cpu": {
        "game": ("Pong", "Boxing", "Freeway"), "seconds": 600.0, "seeds": 1,
        "constants": "--replay-transitions 200000 --replay-minimum-transitions 10000 --exploration-decay-steps 100000 "
        "--target-updates 500",
    },
    "full": {"game": tuple(PAPER), "seconds": 864_000.0, "steps": 50_000_000, "seeds": 1, "constants": ""},
}  # fmt: skip


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    return learning_runs(scale, {name: f"{flags} {scale['constants']}".strip() for name, flags in WAYS.items()})


def reproduce(options: Options, out: Path) -> str:
    outcomes = learnt(plan(options), options, out, EVALUATION)
    comparison_report.report(outcomes, out, "table4-games")
    table = markdown(outcomes)
    write_whole(out / "table4.md", table)
    return "\n" + table


def markdown(outcomes: list[Outcome]) -> str:
    """A row for each game: the mean of the seeds, and in brackets what it is in percent of a human's."""
    head = ["game", "random", "human", "ours, fast DQN", "ours, DQN", "steps, fast and DQN", "paper: DQN", "fast DQN"]
    rows = []
    for game, runs in comparison.by_game(outcomes).items():
        known = PAPER.get(game_directory(game).name, ())
        ours = [[one for one in runs if one.run.setting == way] for way in WAYS]
        means = [sum(one.evaluation["ways"]["sampled"]["mean"] for one in some) / len(some) for some in ours]
        steps = ", ".join(f"{sum(one.steps for one in some) / len(some) / 1e6:.2f} million" for some in ours)
        cells = [_score(mean, known) for mean in means]
        theirs = [_score(score, known) for score in known[2:]] if known else [None, None]
        rows.append([game, *(known[:2] if known else [None, None]), *cells, steps, *theirs])
    return tables.markdown(head, rows)


def _score(score: float, known: tuple[float, ...]) -> str:
    if not known:
        return f"{score:,.1f}"
    random, human = known[:2]
    return f"{score:,.1f} ({100 * (score - random) / (human - random):.1f} %)"
