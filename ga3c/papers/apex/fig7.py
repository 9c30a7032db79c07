"""Figure 7 of the paper: learning of Ape-X DQN with six exploration rates, and with one for each game."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.apex import Options, fig5, small_game
from ga3c.papers.apex.final import FINAL
from ga3c.papers.plan import chosen, learning_runs, report

RUNS = "apex-fig7"
READS = LEARNING
READS_AT_FULL_SCALE = ("cluster",)
SCALES = {
    "cpu": {**small_game.SCALE, "flags": f"{small_game.FLAGS} --replay-transitions 16000"},
    # 35 hours; the paper's games are in the picture alone.
    "full": {
        "game": fig5.SCALES["full"]["game"], "seconds": 126_000.0, "seeds": 1,
        "flags": f"{fig5.SCALES['full']['flags']} --replay-transitions 1000000",
    },
}  # fmt: skip
LEVELS = {"each-its-own": 0, "six": 6}


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    flags = f"--preset apex-dqn {scale['flags']}".format(cluster=options.cluster)
    return learning_runs(scale, {name: f"{flags} --exploration-levels {count}" for name, count in LEVELS.items()})


def reproduce(options: Options, out: Path) -> str:
    paper = "a rate for each game is a little better than six rates."
    return report(plan(options), options, out, "fig7", paper, FINAL)
