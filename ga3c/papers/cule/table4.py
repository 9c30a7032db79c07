"""Table 4 of the paper: hours for 50 million steps (200 million frames) of PPO and Rainbow, by the number of devices.

All games step as one batch; each device learns from its part of every batch. The paper's games are on the GPUs, too.
"""

from itertools import product
from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import perform
from ga3c.experiments.throughput import write_rows
from ga3c.papers import only, seconds
from ga3c.papers.accelerated import devices
from ga3c.papers.cule import Options, loads
from ga3c.papers.replayed import hours
from ga3c.records.files import write_whole
from ga3c.settings.game import EnvironmentSettings

RUNS = "cule-table4"
# `games` are for each device. With little in the replay an update costs what it does later.
SCALES = {
    "cpu": {
        "seconds": 60.0,
        "devices": (1, 2),
        "games": 64,
        "rainbow": ("--replay-minimum-transitions", "5000", "--replay-transitions", "50000"),
    },
    "full": {"seconds": 900.0, "devices": (1, 2, 4, 8), "games": 2048, "rainbow": ()},
}
PAPER = {  # hours by the number of GPUs: System III, 8 V100
    "ppo": {1: 9.38, 2: 4.45, 4: 2.12, 8: 1.1},
    "rainbow": {1: 10.5, 2: 5.1, 4: 3.2, 8: 2.1},
}


def plan(options: Options) -> dict[LearningRun, tuple[str, int]]:
    """The runs, and algorithm and number of devices of each."""
    scale, game = SCALES[options.scale], only(options.game, "Pong", "--game")
    games, runs = only(options.games, scale["games"], "--games"), {}
    for algorithm, count in product(PAPER, options.devices or scale["devices"]):
        flag, name = devices.flag(options.scale, count), f"{algorithm}-{count}devices"
        words = ("--preset", algorithm, *(("--devices", flag) if flag else ()), *scale.get(algorithm, ()))
        run = loads.run(game, "auto", games * count, seconds(options, scale), *words, name=name)
        runs[run] = algorithm, count
    return runs


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(list(runs), out)
    skip = EnvironmentSettings().frame_skip_frames
    found = {what: loads.frames_per_second(run, out) / skip for run, what in runs.items()}
    rows = [
        {"algorithm": algorithm, "devices": count, "steps_per_second": f"{speed:.6g}", "hours": f"{hours(speed):.6g}"}
        | {"paper_hours": PAPER[algorithm].get(count, "")}
        for (algorithm, count), speed in found.items()
    ]
    write_rows(out / "table4.csv", rows)
    table = markdown(found)
    write_whole(out / "table4.md", table)
    return f"\n{table}" + devices.note(options)


def markdown(found: dict[tuple[str, int], float]) -> str:
    counts = list(dict.fromkeys(count for _, count in found))
    head = ["algorithm", *(f"{count} device{'s' * (count > 1)}" for count in counts)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for algorithm in dict.fromkeys(algorithm for algorithm, _ in found):
        cells = []
        for count in counts:
            speed = found[algorithm, count]
            paper = PAPER[algorithm].get(count)
            cells.append(f"{hours(speed):.1f} h ({speed:,.0f} steps/s)" + (f"; paper {paper} h" if paper else ""))
        lines.append("| " + " | ".join([algorithm, *cells]) + " |")
    return "\n".join(lines) + "\n"
