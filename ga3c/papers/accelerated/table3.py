"""Table 3 of the paper: hours for 50 million steps of Q-learning with large batches."""

from itertools import product
from pathlib import Path

from ga3c.experiments.runs import perform
from ga3c.experiments.throughput import csv_row, write_rows
from ga3c.papers import only, seconds
from ga3c.papers.accelerated import Options, devices, fig4
from ga3c.papers.replayed import ReplayedRun, hours, steps_per_second
from ga3c.records.files import write_whole
from ga3c.settings.presets import agents_of

RUNS = "accelerated-table3"
SCALES = {
    "cpu": {"seconds": 90.0, "constants": {"replay_transitions": 50_000, "replay_minimum_transitions": 4_000}},
    "full": {"seconds": 900.0, "constants": {}},
}
# Preset and batch -> hours with 1, 2, 4 and 8 GPUs, and 5 cores for each.
PAPER = {
    ("dqn", 512): (8.3, 4.8, 3.1, 2.6),
    ("rainbow", 512): (14.1, 8.6, 6.6, 6.4),
    ("c51", 2048): (10.7, 6.0, 2.8, 1.8),
}
GPUS = (1, 2, 4, 8)


def plan(options: Options) -> list[ReplayedRun]:
    scale, game = SCALES[options.scale], only(options.game, "Breakout", "--game")
    runs = []
    for (preset, batch), count in product(PAPER, options.devices or (1,)):
        spread = agents_of(fig4.games_for(batch))
        if spread["agents"] < count:
            spread = {"agents": count, "envs_per_agent": fig4.games_for(batch) // count}
        runs.append(
            ReplayedRun(
                game, spread["agents"], 1, 1, seconds(options, scale), envs_per_agent=spread["envs_per_agent"],
                preset=preset, batch=batch, devices=devices.flag(options.scale, count), **scale["constants"],
            )
        )  # fmt: skip
    return runs


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(runs, out)
    speeds = {run: steps_per_second(run, out) for run in runs}
    write_rows(out / "table3.csv", [csv_row(run, {}) | _columns(run, speed) for run, speed in speeds.items()])
    table = markdown(speeds)
    write_whole(out / "table3.md", table)
    return f"\n{table}" + (devices.note(options) if options.devices else "")


def _columns(run: ReplayedRun, speed: float) -> dict:
    paper = {f"paper_hours_{count}_gpus": time for count, time in zip(GPUS, PAPER[run.preset, run.batch], strict=True)}
    return {"steps_per_second": f"{speed:.6g}", "hours": f"{hours(speed):.6g}"} | paper


def markdown(speeds: dict[ReplayedRun, float]) -> str:
    head = ["algorithm and batch", "devices", "steps/s", "hours for 50 million steps"]
    head += [f"paper: {count} GPU{'s' * (count > 1)}" for count in GPUS]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for run, speed in speeds.items():
        paper = [f"{time:.1f}" for time in PAPER[run.preset, run.batch]]
        lines.append(
            "| "
            + " | ".join(
                [f"{run.preset}-{run.batch}", run.devices or "one", f"{speed:,.0f}", f"{hours(speed):.1f}", *paper]
            )
            + " |"
        )
    return "\n".join(lines) + "\n"
