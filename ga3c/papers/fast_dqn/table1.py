"""Tables 1 to 3 of the paper: hours for 200 million frames, percentages of DQN's, and speed-ups, of 14 variants."""

from itertools import product
from pathlib import Path

import numpy as np

from ga3c.experiments import tables
from ga3c.experiments.runs import results
from ga3c.experiments.throughput import csv_row
from ga3c.papers import RUN
from ga3c.papers.fast_dqn import Options
from ga3c.papers.plan import chosen
from ga3c.papers.replayed import ReplayedRun, hours, speed_columns, steps_per_second
from ga3c.views.drawing import by_doubling
from ga3c.views.panels import beside_paper

RUNS = "fast_dqn-table1"
READS = (*RUN, "seeds", "games")
GAMES = (1, 2, 4, 8)
SCALES = {
    # Few updates to a target, so that a run has several targets.
    "cpu": {
        "game": "Pong", "games": GAMES, "seconds": 45.0, "seeds": 1,
        "constants": {"replay_transitions": 50_000, "replay_minimum_transitions": 1_000, "target_updates": 100},
    },
    "full": {"game": "Pong", "games": GAMES, "seconds": 600.0, "seeds": 5, "constants": {}},
}  # fmt: skip
# The memory is filled with random play. From the first update on the share is 0.1 (section 5.1).
EXPLORATION = {"exploration_start": 1.0, "exploration_decay_steps": 1}
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
    scale = chosen(SCALES, options)
    counts = sorted({1, *scale["games"]})
    return {
        (name, count): [
            ReplayedRun(
                scale["game"], count, 1, 1, scale["seconds"], envs_per_agent=1, preset="dqn", seed=trial,
                sampling=sampling, concurrent_training=concurrent, **EXPLORATION, **scale["constants"],
            )
            for trial in range(1, scale["seeds"] + 1)
        ]
        for (name, (sampling, concurrent)), count in product(VARIANTS.items(), counts)
        if count > 1 or sampling == "asynchronous"
    }  # fmt: skip


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    found = results([run for trials in runs.values() for run in trials], out, steps_per_second)
    speeds = {cell: [found[run] for run in trials] for cell, trials in runs.items()}
    rows = [csv_row(run, {}) | _columns(cell, found[run], speeds) for cell, trials in runs.items() for run in trials]
    table = markdown(speeds)
    tables.write(out, "table1", rows, table)
    draw(speed_ups(speeds), runs[FIRST][0].game, out / "table1.png")
    return f"\n{table}\n{_words(speeds)}"


def speed_ups(speeds: dict[Cell, list[float]]) -> dict[Cell, float]:
    """Returns the quotients of mean times, as in the paper."""
    times = {cell: np.mean([hours(speed) for speed in trials]) for cell, trials in speeds.items()}
    return {cell: float(times[FIRST] / time) for cell, time in times.items()}


def paper_speed_up(cell: Cell) -> float | None:
    """None: the paper has no such variant."""
    its = PAPER[cell[0]].get(cell[1])
    return PAPER[FIRST[0]][FIRST[1]] / its if its else None


def _columns(cell: Cell, speed: float, speeds: dict[Cell, list[float]]) -> dict:
    """Returns the columns of one trial; the speed-up is that of all trials."""
    paper = paper_speed_up(cell)
    return {
        "variant": cell[0],
        "games": cell[1],
        **speed_columns(speed),
        "speed_up": f"{speed_ups(speeds)[cell]:.4f}",
        "paper_hours": PAPER[cell[0]].get(cell[1], ""),
        "paper_speed_up": f"{paper:.4f}" if paper else "",
    }


def markdown(speeds: dict[Cell, list[float]]) -> str:
    """A row for each cell: means, with the standard deviation of several trials."""
    head = ["games", "variant", "steps/s", "hours for 200 million frames", "of DQN's", "speed-up"]
    head += ["paper: hours", "of DQN's", "speed-up"]
    ups, rows = speed_ups(speeds), []
    for name, count in sorted(speeds, key=lambda cell: cell[1]):
        cell, trials = (name, count), speeds[name, count]
        times = [hours(speed) for speed in trials]
        spread = f" ± {np.std(times, ddof=1):.2f}" if len(times) > 1 else ""
        paper = paper_speed_up(cell)
        theirs = [f"{PAPER[name][count]:.2f}", *_relative(paper)] if paper else [None] * 3
        ours = [f"{np.mean(trials):,.0f}", f"{np.mean(times):.2f}{spread}", *_relative(ups[cell])]
        rows.append([count, name, *ours, *theirs])
    return tables.markdown(head, rows)


def _relative(speed_up: float) -> list[str]:
    """Returns the cells of tables 2 and 3."""
    return [f"{100 / speed_up:.1f} %", f"{speed_up:.2f}"]


def draw(ups: dict[Cell, float], game: str, file: Path) -> None:
    """Speed-up over games, a line for each variant."""
    paper = {(name, count): paper_speed_up((name, count)) for name in PAPER for count in PAPER[name]}
    titles = f"{game}, this machine", "the paper: Pong, 1 GPU, 4 cores"
    labels = "games", "speed-up over standard DQN with one game"
    with beside_paper(file, titles, labels, sharey=True) as axes:
        for axis, values in zip(axes, (ups, paper), strict=True):
            for name in VARIANTS:
                line = sorted((count, value) for (of, count), value in values.items() if of == name)
                if line:  # with one game nothing is synchronised
                    axis.plot(*zip(*line, strict=True), "o-", label=name)
            by_doubling(axis, sorted({count for _, count in values}))


def _words(speeds: dict[Cell, list[float]]) -> str:
    ups = speed_ups(speeds)
    best = max(ups, key=ups.get)
    paper = f"{paper_speed_up(best):.2f}" if paper_speed_up(best) else "not in it"
    return (
        f"The fastest is {best[0]} with {best[1]} game{'s' * (best[1] > 1)}: {ups[best]:.2f} times standard DQN with "
        f"one game (paper: {paper}; its fastest is both with 8 games, 2.78)."
    )
