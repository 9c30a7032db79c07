"""Table 2 of the paper: hours for 50 million steps of policy gradients, by the number of devices."""

from itertools import product
from pathlib import Path

from ga3c.experiments import tables
from ga3c.experiments.runs import results
from ga3c.papers import RUN
from ga3c.papers.accelerated import Options, devices
from ga3c.papers.accelerated.devices import DeviceRun
from ga3c.papers.plan import chosen
from ga3c.papers.replayed import csv_rows, steps_per_second

RUNS = "accelerated-table2"
READS = (*RUN, "devices")
SCALES = {
    "cpu": {"seconds": 60.0, "game": "Breakout", "devices": (1, 2)},
    "full": {"seconds": 900.0, "game": "Breakout", "devices": (1, 2, 4, 8)},
}
# Hours by the number of GPUs, with 5 cores for each.
PAPER = {
    "a2c": {1: 3.8, 2: 2.2, 4: 1.2, 8: 0.59},
    "a3c": {2: 2.4, 4: 1.3, 8: 0.65},
    "ppo": {1: 4.4, 2: 2.6, 4: 1.5, 8: 1.1},
    "appo": {2: 2.8, 4: 1.5, 8: 0.71},
}


def plan(options: Options) -> list[DeviceRun]:
    scale, runs = chosen(SCALES, options), []
    for algorithm, count in product(PAPER, scale["devices"]):
        if count == 1 and algorithm in devices.ASYNCHRONOUS:
            continue  # it would be the one that is not
        spread = devices.spread(algorithm, count)
        appo = devices.appo() if algorithm == "appo" else {}
        runs.append(
            DeviceRun(
                scale["game"], spread["agents"], 1, 1, scale["seconds"], envs_per_agent=spread["envs_per_agent"],
                preset=devices.preset(algorithm), algorithm=algorithm, devices=devices.flag(options.scale, count),
                device_updates="asynchronous" if algorithm in devices.ASYNCHRONOUS else None,
                t_max=devices.horizon(algorithm, count), **appo,
            )
        )  # fmt: skip
    return runs


def reproduce(options: Options, out: Path) -> str:
    speeds = results(plan(options), out, steps_per_second)
    counts = {devices.flag(options.scale, count): count for count in chosen(SCALES, options)["devices"]}
    # All numbers in their order, and all algorithms: an asynchronous one has no run on one device.
    cells = dict.fromkeys(product(PAPER, counts.values()))
    cells |= {(run.algorithm, counts[run.devices]): speed for run, speed in speeds.items()}
    table = devices.hours_table(cells, PAPER, digits=2)
    tables.write(out, "table2", csv_rows(speeds), table)
    return f"\n{table}{devices.note(options)}"
