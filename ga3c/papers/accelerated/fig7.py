"""Figure 7 of the paper: norms of the weights of both learners in the runs of figure 6."""

from pathlib import Path

from ga3c.experiments.runs import directory_of, perform
from ga3c.experiments.tables import write_rows
from ga3c.papers.accelerated import Options, fig6
from ga3c.views import curves

RUNS = fig6.RUNS
READS = fig6.READS
NORM = curves.over_steps("weight_norm")
PAPER = "Paper: the learner with the larger batch lags behind the other one in both pairs."


def reproduce(options: Options, out: Path) -> str:
    pairs, rows = fig6.plan(options), []
    perform([run for runs in pairs.values() for run in runs], out, options.machines)
    for pair, runs in pairs.items():
        for run in runs:
            learners = fig6.learners_of(directory_of(run, out)).items()
            for (learner, path), batch, other in zip(learners, pair, pair[::-1], strict=True):
                own = {"learner": learner, "batch": batch, "other_batch": other, "seed": run.seed}
                rows.append(own | {"steps": 0} | last_of(path, "weight_norm"))
    write_rows(out / "fig7.csv", rows)
    fig6.draw(pairs, out, "fig7", NORM, "norm of all weights")
    lines = [
        f"{row['learner']} with {row['batch']} (the other {row['other_batch']}), seed {row['seed']}: "
        f"{row['weight_norm']} after {row['steps']} steps"
        for row in rows
    ]
    return "\n".join(["", *lines, PAPER])


def last_of(directory: Path, *columns: str) -> dict:
    """Returns columns that say where the curves of a run end."""
    row = {}
    for column in columns:
        steps, values = curves.of_run(directory, curves.over_steps(column))
        row |= {"steps": round(1e6 * steps[-1]), column: f"{values[-1]:.4g}"} if len(values) else {column: ""}
    return row
