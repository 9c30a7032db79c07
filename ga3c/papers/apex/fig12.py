"""Figure 12 of the paper: learning of Ape-X DQN with more and more actors, with and without priorities."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.apex import Options, fig4
from ga3c.papers.apex.final import FINAL
from ga3c.papers.plan import chosen, learning_runs, reports

RUNS = "apex-fig12"
READS = (*LEARNING, "actors")
READS_AT_FULL_SCALE = ("cluster",)
SCALES = {
    "cpu": fig4.SCALES["cpu"] | {"uniform": ""},
    # 35 hours as in fig4. The paper has nine games, which are in the picture alone.
    # Each way has the better one of two learning rates.
    "full": fig4.SCALES["full"] | {"actors": (32, 64, 128, 256), "uniform": "--learning-rate 0.00025"},
}


def plan(options: Options) -> dict[str, list[LearningRun]]:
    """The runs by the number of actors."""
    scale = chosen(SCALES, options)
    ways = {"priorities": "", "uniform": f" --priority-alpha 0 {scale['uniform']}"}
    return {
        f"{actors}-actors": learning_runs(
            scale, {f"{actors}-actors-{name}": fig4.flags(options, actors) + flags for name, flags in ways.items()}
        )
        for actors in scale["actors"]
    }


def reproduce(options: Options, out: Path) -> str:
    paper = "both learn more with more actors; with 256, priorities are equal or better in 7 of 9 games."
    return f"{reports(plan(options), options, out, 'fig12', FINAL)}\nPaper: {paper}"
