"""Figure 5 of the paper: learning of Ape-X DQN with smaller and larger replays, at equal time."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.apex import Options, small_game
from ga3c.papers.apex.final import FINAL
from ga3c.papers.plan import chosen, learning_runs, report

RUNS = "apex-fig5"
READS = (*LEARNING, "capacities")
READS_AT_FULL_SCALE = ("cluster",)
SCALES = {
    "cpu": {**small_game.SCALE, "capacities": (1_000, 4_000, 16_000, 64_000), "flags": small_game.FLAGS},
    # 35 hours; the paper's games are in the picture alone.
    "full": {
        "game": ("Breakout", "Pong", "Qbert", "Seaquest", "WizardOfWor", "MsPacman"), "seconds": 126_000.0, "seeds": 1,
        "capacities": (250_000, 500_000, 1_000_000, 2_000_000),
        "flags": "--cluster {cluster} --agents 256 --envs-per-agent 1",
    },
}  # fmt: skip


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    flags = f"--preset apex-dqn {scale['flags']}".format(cluster=options.cluster)
    capacities = sorted(scale["capacities"])
    return learning_runs(scale, {f"{size}-transitions": f"{flags} --replay-transitions {size}" for size in capacities})


def reproduce(options: Options, out: Path) -> str:
    paper = "on most games a larger replay, up to two million transitions, is a little better."
    return report(plan(options), options, out, "fig5", paper, FINAL)
