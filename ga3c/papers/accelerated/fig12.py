"""Figure 12 of the paper: learning curves of DQN, categorical DQN and Rainbow with large batches."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.papers import LEARNING
from ga3c.papers.accelerated import Options, fig4
from ga3c.papers.accelerated.table3 import PAPER
from ga3c.papers.plan import chosen, learning_runs, report

RUNS = "accelerated-fig12"
READS = (*LEARNING, "batches")
SCALES = fig4.SCALES


def plan(options: Options) -> list[LearningRun]:
    scale = chosen(SCALES, options)
    batches = {preset: options.batches or (batch,) for preset, batch in PAPER}
    settings = {
        f"{preset}-{batch}": f"{fig4.flags(preset, batch)} {scale['constants']}"
        for preset, several in batches.items()
        for batch in several
    }
    return learning_runs(scale, settings)


def reproduce(options: Options, out: Path) -> str:
    paper = "all three learn most games; Rainbow fails on Breakout with rewards of three steps."
    return report(plan(options), options, out, "fig12", paper)
