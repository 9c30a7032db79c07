"""Figure 4 of the paper: learning of Ape-X DQN with more and more actors, at equal time and with one size of replay."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.apex import Options, half, small_game
from ga3c.papers.apex.final import FINAL
from ga3c.papers.plan import chosen, learning_runs, report

RUNS = "apex-fig4"
READS = (*LEARNING, "actors")
READS_AT_FULL_SCALE = ("cluster",)
SCALES = {
    # An actor is a game of an agent: each has an epsilon of its own.
    "cpu": {
        **small_game.SCALE, "actors": (8, 64),
        "flags": f"--agents 2 --envs-per-agent {{half}} {small_game.CONSTANTS} --replay-transitions 16000",
    },
    # 35 hours; the paper's six games are in the picture alone.
    "full": {
        "game": ("Breakout", "Pong", "Qbert", "Seaquest", "Hero", "MsPacman"), "seconds": 126_000.0, "seeds": 1,
        "actors": (8, 16, 32, 64, 128, 256),
        "flags": "--cluster {cluster} --agents {actors} --envs-per-agent 1 --replay-transitions 1000000",
    },
}  # fmt: skip


def flags(options: Options, actors: int) -> str:
    """Returns the flags of `train`."""
    games = half(actors, options)
    own = SCALES[options.scale]["flags"].format(half=games, actors=actors, cluster=options.cluster)
    return f"--preset apex-dqn {own}"


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    return learning_runs(scale, {f"{actors}-actors": flags(options, actors) for actors in scale["actors"]})


def reproduce(options: Options, out: Path) -> str:
    paper = "the more actors, from 8 to 256, the better, at the same number of updates."
    return report(plan(options), options, out, "fig4", paper, FINAL)
