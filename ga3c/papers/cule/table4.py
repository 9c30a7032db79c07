"""Table 4 of the paper: hours for 50 million steps (200 million frames) of PPO and Rainbow, by the number of devices.

All games step as one batch; each device learns from its part of every batch. The paper's games are on the GPUs, too.
"""

from itertools import product
from pathlib import Path

from ga3c.experiments import tables
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import results
from ga3c.papers import RUN
from ga3c.papers.accelerated import devices
from ga3c.papers.cule import Options, loads
from ga3c.papers.plan import chosen
from ga3c.papers.replayed import speed_columns
from ga3c.settings.game import EnvironmentSettings

RUNS = "cule-table4"
READS = (*RUN, "games", "devices")
# `games` are for each device. With little in the replay an update costs what it does later.
SCALES = {
    "cpu": {
        "game": "Pong", "seconds": 60.0, "devices": (1, 2), "games": 64,
        "rainbow": ("--replay-minimum-transitions", "5000", "--replay-transitions", "50000"),
    },
    "full": {"game": "Pong", "seconds": 900.0, "devices": (1, 2, 4, 8), "games": 2048, "rainbow": ()},
}  # fmt: skip
PAPER = {  # hours by the number of GPUs: System III, 8 V100
    "ppo": {1: 9.38, 2: 4.45, 4: 2.12, 8: 1.1},
    "rainbow": {1: 10.5, 2: 5.1, 4: 3.2, 8: 2.1},
}


def plan(options: Options) -> dict[LearningRun, tuple[str, int]]:
    """The runs, and algorithm and number of devices of each."""
    scale, runs = chosen(SCALES, options), {}
    for algorithm, count in product(PAPER, scale["devices"]):
        flag, name = devices.flag(options.scale, count), f"{algorithm}-{count}devices"
        words = (
            "--preset",
            devices.preset(algorithm),
            *(("--devices", flag) if flag else ()),
            *scale.get(algorithm, ()),
        )
        run = loads.run(scale["game"], "auto", scale["games"] * count, scale["seconds"], *words, name=name)
        runs[run] = algorithm, count
    return runs


def reproduce(options: Options, out: Path) -> str:
    runs, skip = plan(options), EnvironmentSettings().frame_skip_frames
    found = {runs[run]: rate / skip for run, rate in results(runs, out, loads.frames_per_second).items()}
    rows = []
    for (algorithm, count), speed in found.items():
        paper = {"paper_hours": PAPER[algorithm].get(count, "")}
        rows.append({"algorithm": algorithm, "devices": count} | speed_columns(speed) | paper)
    table = devices.hours_table(found, PAPER, digits=1)
    tables.write(out, "table4", rows, table)
    return f"\n{table}" + devices.note(options)
