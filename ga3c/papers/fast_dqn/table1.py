"""Tables 1 and 3 of the paper: hours for 200 million frames, and the speed-up, of 14 variants of DQN."""

from itertools import product
from pathlib import Path

import numpy as np

from ga3c.experiments.runs import perform
from ga3c.experiments.throughput import csv_row, write_rows
from ga3c.papers import only, seconds, seeds
from ga3c.papers.fast_dqn import Options
from ga3c.papers.replayed import ReplayedRun, hours, steps_per_second
from ga3c.records.files import write_whole
from ga3c.views.drawing import by_doubling, common_legend, from_zero, pyplot, save

RUNS = "fast_dqn-table1"
SCALES = {
    # Short blocks, so that a run has several.
    "cpu": {
        "seconds": 45.0,
        "seeds": 1,
        "constants": {"replay_transitions": 50_000, "replay_minimum_transitions": 1_000, "target_updates": 100},
    },
    "full": {"seconds": 600.0, "seeds": 5, "constants": {}},
}
GAMES = (1, 2, 4, 8)
# Variant -> sampling, and whether training is concurrent.
VARIANTS = {
    "standard": ("asynchronous", False),
    "concurrent": ("asynchronous", True),
    "synchronised": ("synchronised", False),
    "both": ("synchronised", True),
}
# Hours, by games, with a GTX 1080 and four cores.
PAPER = {
    "standard": {1: 25.08, 2: 19.10, 4: 16.84, 8: 16.92},
    "concurrent": {1: 20.64, 2: 14.00, 4: 12.14, 8: 11.68},
    "synchronised": {2: 19.32, 4: 15.74, 8: 14.60},
    "both": {2: 14.72, 4: 11.08, 8: 9.02},
}
Cell = tuple[str, int]  # a variant, and its number of games
FIRST: Cell = ("standard", 1)  # the speed-ups are relative to it


def plan(options: Options) -> dict[Cell, list[ReplayedRun]]:
    """Each cell's trials. One game has nobody to wait for: it is synchronised in any case."""
    scale, game = SCALES[options.scale], only(options.game, "Pong", "--game")
    counts = sorted({1, *(options.games or GAMES)})
    return {
        (name, count): [
            ReplayedRun(
                game, count, 1, 1, seconds(options, scale), envs_per_agent=1, preset="dqn", seed=trial,
                sampling=sampling, concurrent_training=concurrent, **scale["constants"],
            )
            for trial in seeds(options, scale)
        ]
        for (name, (sampling, concurrent)), count in product(VARIANTS.items(), counts)
        if count > 1 or sampling == "asynchronous"
    }  # fmt: skip


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform([run for trials in runs.values() for run in trials], out)
    speeds = {cell: [steps_per_second(run, out) for run in trials] for cell, trials in runs.items()}
    rows = [
        csv_row(run, {}) | _columns(cell, speed, speeds)
        for cell, trials in runs.items()
        for run, speed in zip(trials, speeds[cell], strict=True)
    ]
    write_rows(out / "table1.csv", rows)
    table = markdown(speeds)
    write_whole(out / "table1.md", table)
    draw(speed_ups(speeds), runs[FIRST][0].game, out / "table1.png")
    return f"\n{table}\n{_words(speeds)}"


def speed_ups(speeds: dict[Cell, list[float]]) -> dict[Cell, float]:
    """Of mean times, as in the paper."""
    times = {cell: np.mean([hours(speed) for speed in trials]) for cell, trials in speeds.items()}
    return {cell: float(times[FIRST] / time) for cell, time in times.items()}


def paper_speed_up(cell: Cell) -> float | None:
    """None: the paper has no such variant."""
    its = PAPER[cell[0]].get(cell[1])
    return PAPER[FIRST[0]][FIRST[1]] / its if its else None


def _columns(cell: Cell, speed: float, speeds: dict[Cell, list[float]]) -> dict:
    """Of one trial; the speed-up is that of all."""
    paper = paper_speed_up(cell)
    return {
        "variant": cell[0],
        "games": cell[1],
        "steps_per_second": f"{speed:.6g}",
        "hours": f"{hours(speed):.6g}",
        "speed_up": f"{speed_ups(speeds)[cell]:.4f}",
        "paper_hours": PAPER[cell[0]].get(cell[1], ""),
        "paper_speed_up": f"{paper:.4f}" if paper else "",
    }


def markdown(speeds: dict[Cell, list[float]]) -> str:
    """A row for each cell: means, with the standard deviation of several trials; "-": not in the paper."""
    head = ["games", "variant", "steps/s", "hours for 200 million frames", "speed-up", "paper: hours", "speed-up"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    ups = speed_ups(speeds)
    for name, count in sorted(speeds, key=lambda cell: cell[1]):
        cell, trials = (name, count), speeds[name, count]
        times = [hours(speed) for speed in trials]
        spread = f" ± {np.std(times, ddof=1):.2f}" if len(times) > 1 else ""
        paper = paper_speed_up(cell)
        theirs = [f"{PAPER[name][count]:.2f}", f"{paper:.2f}"] if paper else ["-", "-"]
        ours = [f"{np.mean(trials):,.0f}", f"{np.mean(times):.2f}{spread}", f"{ups[cell]:.2f}"]
        lines.append("| " + " | ".join([str(count), name, *ours, *theirs]) + " |")
    return "\n".join(lines) + "\n"


def draw(ups: dict[Cell, float], game: str, file: Path) -> None:
    """Ours left, the paper's right: speed-up over games, a line for each variant."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    paper = {(name, count): paper_speed_up((name, count)) for name in PAPER for count in PAPER[name]}
    titles = f"{game}, this machine", "the paper: Pong, 1 GPU, 4 cores"
    for axis, values, title in zip(axes, (ups, paper), titles, strict=True):
        for index, name in enumerate(VARIANTS):
            line = sorted((count, value) for (of, count), value in values.items() if of == name)
            axis.plot(*zip(*line, strict=True), "o-", color=f"C{index}", label=name)
        by_doubling(axis, sorted({count for _, count in values}))
        axis.set(title=title, xlabel="games")
    from_zero(axes[0])
    axes[0].set_ylabel("speed-up over standard DQN with one game")
    common_legend(figure)
    save(figure, file)


def _words(speeds: dict[Cell, list[float]]) -> str:
    ups = speed_ups(speeds)
    best = max(ups, key=ups.get)
    paper = f"{paper_speed_up(best):.2f}" if paper_speed_up(best) else "not in it"
    return (
        f"The fastest is {best[0]} with {best[1]} game{'s' * (best[1] > 1)}: {ups[best]:.2f} times standard DQN with "
        f"one game (paper: {paper}; its fastest is both with 8 games, 2.78)."
    )
