"""Figure 4 of the paper: training queue and prediction batch of what Figure 3 shows, from the same runs."""

from pathlib import Path

from ga3c.experiments.tables import write_rows
from ga3c.experiments.throughput import SpeedRun, csv_row
from ga3c.papers.ga3c import Options, fig3
from ga3c.views.drawing import from_zero
from ga3c.views.panels import panels

RUNS = fig3.RUNS
READS = fig3.READS
PANELS = {
    "training_queue": ("Average training queue size", "rollouts of one game"),
    "prediction_batch": ("Average prediction batch size", "states"),
}


def reproduce(options: Options, out: Path) -> str:
    measured = fig3.measure_grid(options, out)
    shown = fig3.top(measured)
    write_rows(out / "fig4.csv", [csv_row(run, measured[run]) for runs in shown.values() for run in runs])
    draw(measured, shown, out / "fig4.png")
    return _words(measured, shown)


def draw(measured: fig3.Measured, shown: dict[int, list[SpeedRun]], file: Path) -> None:
    """Queue left, batch right; means, with the lowest and the highest row."""
    groups = {f"$N_A$ = {agents}": runs for agents, runs in shown.items()}
    with panels(file, 1, 2) as (axes,):
        for axis, (quantity, (title, unit)) in zip(axes, PANELS.items(), strict=True):
            fig3.bars(axis, groups, {run: values[quantity] for run, values in measured.items()}, height="mean")
            axis.set(title=title, ylabel=unit)
            from_zero(axis)


def _words(measured: fig3.Measured, shown: dict[int, list[SpeedRun]]) -> str:
    depicted = [run for runs in shown.values() for run in runs]
    batch = {run: measured[run]["prediction_batch"].mean for run in depicted}
    fastest = max(depicted, key=fig3.tps(measured))
    rank = 1 + sum(other > batch[fastest] for other in batch.values())
    longest = max(depicted, key=lambda run: measured[run]["training_queue"].mean)
    return (
        f"The fastest setting ({fig3.setting(fastest)}) has prediction batches of {batch[fastest]:.1f} states, number "
        f"{rank} of {len(depicted)} in size (paper: one of the largest). The longest training queue is "
        f"{measured[longest]['training_queue'].mean:.0f} rollouts ({fig3.setting(longest)})."
    )
