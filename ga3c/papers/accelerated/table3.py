"""Table 3 of the paper: hours for 50 million steps of Q-learning with large batches."""

from itertools import product
from pathlib import Path

from ga3c.experiments import tables
from ga3c.experiments.runs import results
from ga3c.papers import RUN
from ga3c.papers.accelerated import Options, devices, fig4
from ga3c.papers.plan import chosen
from ga3c.papers.replayed import ReplayedRun, csv_rows, hours, steps_per_second
from ga3c.settings.presets import agents_of

RUNS = "accelerated-table3"
READS = (*RUN, "devices")
SCALES = {
    "cpu": {
        "seconds": 90.0, "game": "Breakout", "devices": (1,),
        "constants": {"replay_transitions": 50_000, "replay_minimum_transitions": 4_000},
    },
    "full": {"seconds": 900.0, "game": "Breakout", "devices": (1,), "constants": {}},
}  # fmt: skip
# Preset and batch -> hours with 1, 2, 4 and 8 GPUs, and 5 cores for each.
PAPER = {
    ("dqn", 512): (8.3, 4.8, 3.1, 2.6),
    ("rainbow", 512): (14.1, 8.6, 6.6, 6.4),
    ("c51", 2048): (10.7, 6.0, 2.8, 1.8),
}
GPUS = (1, 2, 4, 8)
ASYNCHRONOUS = ("dqn", 512)  # with several devices it is measured in both ways
PAPER_ASYNCHRONOUS = (None, None, 3.9, None)


def plan(options: Options) -> list[ReplayedRun]:
    scale, runs = chosen(SCALES, options), []
    cases = [(*key, count, None) for key, count in product(PAPER, scale["devices"])]
    cases += [(*ASYNCHRONOUS, count, "asynchronous") for count in scale["devices"] if count > 1]
    for preset, batch, count, updates in cases:
        spread = agents_of(fig4.games_for(batch))
        if spread["agents"] < count:
            spread = {"agents": count, "envs_per_agent": fig4.games_for(batch) // count}
        runs.append(
            ReplayedRun(
                scale["game"], spread["agents"], 1, 1, scale["seconds"], envs_per_agent=spread["envs_per_agent"],
                preset=preset, batch=batch, devices=devices.flag(options.scale, count),
                device_updates=updates, **scale["constants"],
            )
        )  # fmt: skip
    return runs


def reproduce(options: Options, out: Path) -> str:
    speeds = results(plan(options), out, steps_per_second)
    paper = [dict(zip((f"paper_hours_{n}_gpus" for n in GPUS), _paper(run), strict=True)) for run in speeds]
    table = markdown(speeds)
    tables.write(out, "table3", [row | its for row, its in zip(csv_rows(speeds), paper, strict=True)], table)
    return f"\n{table}" + (devices.note(options) if options.devices else "")


def _paper(run: ReplayedRun) -> tuple[float | None, ...]:
    return PAPER_ASYNCHRONOUS if run.device_updates else PAPER[run.preset, run.batch]


def _where(run: ReplayedRun) -> str:
    return ", ".join(filter(None, (run.devices or "one", run.device_updates)))


def markdown(speeds: dict[ReplayedRun, float]) -> str:
    head = ["algorithm and batch", "devices", "steps/s", "hours for 50 million steps"]
    head += [f"paper: {count} GPU{'s' * (count > 1)}" for count in GPUS]
    rows = (
        [f"{run.preset}-{run.batch}", _where(run), f"{speed:,.0f}", f"{hours(speed):.1f}"]
        + [f"{time:.1f}" if time else "-" for time in _paper(run)]
        for run, speed in speeds.items()
    )
    return tables.markdown(head, rows)
