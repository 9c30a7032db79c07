"""Table 2 of the paper: hours for 50 million steps of policy gradients, by the number of devices."""

from itertools import product
from pathlib import Path

from ga3c.experiments.runs import perform
from ga3c.experiments.throughput import csv_row, write_rows
from ga3c.papers import only, seconds
from ga3c.papers.accelerated import Options, devices
from ga3c.papers.accelerated.devices import DeviceRun
from ga3c.papers.replayed import hours, steps_per_second
from ga3c.records.files import write_whole

RUNS = "accelerated-table2"
SCALES = {"cpu": {"seconds": 60.0, "devices": (1, 2)}, "full": {"seconds": 900.0, "devices": (1, 2, 4, 8)}}
# Hours by the number of GPUs, with 5 cores for each.
PAPER = {
    "a2c": {1: 3.8, 2: 2.2, 4: 1.2, 8: 0.59},
    "a3c": {2: 2.4, 4: 1.3, 8: 0.65},
    "ppo": {1: 4.4, 2: 2.6, 4: 1.5, 8: 1.1},
    "appo": {2: 2.8, 4: 1.5, 8: 0.71},
}


def plan(options: Options) -> list[DeviceRun]:
    scale, game = SCALES[options.scale], only(options.game, "Breakout", "--game")
    runs = []
    for algorithm, count in product(PAPER, options.devices or scale["devices"]):
        preset = devices.ASYNCHRONOUS.get(algorithm, algorithm)
        if count == 1 and algorithm in devices.ASYNCHRONOUS:
            continue  # it would be the one that is not
        spread = devices.spread(algorithm, count)
        runs.append(
            DeviceRun(
                game, spread["agents"], 1, 1, seconds(options, scale), envs_per_agent=spread["envs_per_agent"],
                preset=preset, algorithm=algorithm, devices=devices.flag(options.scale, count),
                device_updates="asynchronous" if algorithm in devices.ASYNCHRONOUS else None,
                learning_rate=devices.APPO_RATE if algorithm == "appo" else None,
            )
        )  # fmt: skip
    return runs


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(runs, out)
    speeds = {run: steps_per_second(run, out) for run in runs}
    rows = [
        csv_row(run, {}) | {"steps_per_second": f"{s:.6g}", "hours": f"{hours(s):.6g}"} for run, s in speeds.items()
    ]
    write_rows(out / "table2.csv", rows)
    table = markdown(speeds, options)
    write_whole(out / "table2.md", table)
    return f"\n{table}{devices.note(options)}"


def markdown(speeds: dict[DeviceRun, float], options: Options) -> str:
    counts = options.devices or SCALES[options.scale]["devices"]
    head = ["algorithm", *(f"{count} device{'s' * (count > 1)}" for count in counts)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    found = {(run.algorithm, run.devices): speed for run, speed in speeds.items()}
    for algorithm, paper in PAPER.items():
        cells = []
        for count in counts:
            speed = found.get((algorithm, devices.flag(options.scale, count)))
            own = f"{hours(speed):.2f} h ({speed:,.0f} steps/s)" if speed else "-"
            cells.append(own + (f"; paper {paper[count]} h" if count in paper else ""))
        lines.append("| " + " | ".join([algorithm, *cells]) + " |")
    return "\n".join(lines) + "\n"
