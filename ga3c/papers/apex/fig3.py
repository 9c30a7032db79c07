"""Figure 3 of the paper: learning of Ape-X DPG with more and more actors, at equal time."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.apex import Options, half
from ga3c.papers.plan import chosen, learning_runs, report

RUNS = "apex-fig3"
READS = (*LEARNING, "actors")
READS_AT_FULL_SCALE = ("cluster",)
SCALES = {
    # An actor is a game of an agent.
    "cpu": {
        "game": ("HalfCheetah-v5",), "seconds": 1200.0, "seeds": 1, "actors": (2, 16),
        "flags": "--agents 2 --envs-per-agent {half} --replay-minimum-transitions 10000",
    },
    # The paper's manipulator has a task without a ball, too; dm_control has it no more.
    "full": {
        "game": ("manipulator-bring_ball", "humanoid-stand", "humanoid-walk", "humanoid-run"),
        "seconds": 43_200.0, "seeds": 1, "actors": (2, 4, 8, 16, 32, 64),
        "flags": "--cluster {cluster} --agents {actors} --envs-per-agent 1",
    },
}  # fmt: skip


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    flags = f"--preset apex-dpg {scale['flags']}"
    settings = {
        f"{actors}-actors": flags.format(half=half(actors, options), actors=actors, cluster=options.cluster)
        for actors in scale["actors"]
    }
    return learning_runs(scale, settings)


def reproduce(options: Options, out: Path) -> str:
    paper = "the more actors, from 2 to 64, the sooner and the more surely a task is learned."
    return report(plan(options), options, out, "fig3", paper)
