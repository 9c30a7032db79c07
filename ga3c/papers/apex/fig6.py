"""Figure 6 of the paper: learning of few actors with copies of each transition in the replay, and of many without.

With k copies the contents of the replay are replaced as fast as by k times as many actors, but they are less diverse.
"""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.apex import Options, fig4, small_game
from ga3c.papers.apex.final import FINAL
from ga3c.papers.plan import chosen, learning_runs, report

RUNS = "apex-fig6"
READS = (*LEARNING, "actors", "copies")
READS_AT_FULL_SCALE = ("cluster",)
SCALES = {
    "cpu": {**small_game.SCALE, "actors": (8, 64), "copies": (1, 8)},
    # 40 hours; the paper's games are in the picture alone.
    "full": {
        "game": fig4.SCALES["full"]["game"], "seconds": 144_000.0, "seeds": 1, "actors": (32, 256),
        "copies": (1, 2, 4, 8),
    },
}  # fmt: skip


def plan(options: Options) -> list[LearningRun]:
    """The fewest actors have each number of copies, and the others one."""
    scale = chosen(SCALES, options)
    few, *many = sorted(scale["actors"])
    cells = [*((few, copies) for copies in sorted(scale["copies"])), *((actors, 1) for actors in many)]
    settings = {
        f"{actors}-actors-{copies}-fold": f"{fig4.flags(options, actors)} --replay-copies {copies}"
        for actors, copies in cells
    }
    return learning_runs(scale, settings)


def reproduce(options: Options, out: Path) -> str:
    paper = "32 actors whose transitions are stored 8 times do not learn as 256 actors do, and copies may harm."
    return report(plan(options), options, out, "fig6", paper, FINAL)
