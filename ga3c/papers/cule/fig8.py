"""Figure 8 of the paper: frames per second on cores over the steps of games that begin alike, and how many begin anew.

It is figure 4's question on cores, where no game waits for another: the speed does not fall as games part.
"""

import time
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c.experiments.tables import rounded, write_rows
from ga3c.papers.cule import Options, fig4, loads
from ga3c.papers.plan import chosen
from ga3c.records.run_directory import game_directory
from ga3c.views.panels import panels

RUNS = "cule-fig8"
READS = ("game", "games")
SCALES = {
    "cpu": {"game": fig4.GAMES, "games": 64, "most_steps": 600, "every": 20},
    "full": {"game": fig4.GAMES, "games": 512, "most_steps": 2000, "every": 20},
}
ROUNDS = 3


class Stretch(NamedTuple):
    """The steps from `step` on: raw frames per second, the median of three rounds, and the games that began anew."""

    step: int
    frames_per_second: float
    restarted: int


def reproduce(options: Options, out: Path) -> str:
    scale = chosen(SCALES, options)
    count, found = scale["games"], {}
    for game in scale["game"]:
        how = {"count": count, "steps": scale["most_steps"], "every": scale["every"]}
        measured = loads.kept(out / f"{game_directory(game).name}.json", how, partial(measure, game, **how))
        found[game] = [Stretch(*one) for one in measured]
    rows = [{"game": game, "games": count, **rounded(one._asdict())} for game, steps in found.items() for one in steps]
    write_rows(out / "fig8.csv", rows)
    draw(found, count, out / "fig8.png")
    return words(found)


def measure(game: str, count: int, steps: int, every: int) -> list[Stretch]:
    """Plays the same random games in each round. Raises ConfigError where our emulator does not play the game."""
    rounds = [_round(game, count, steps, every) for _ in range(ROUNDS)]
    return [
        Stretch(step, float(np.median([speeds[step][0] for speeds in rounds])), rounds[0][step][1])
        for step in rounds[0]
    ]


def _round(game: str, count: int, steps: int, every: int) -> dict[int, tuple[float, int]]:
    batch, random, found = fig4.equal_games(game, count), np.random.default_rng(1), {}
    actions = batch.spec.actions
    batch.step(actions.random(random, count))  # compiles
    batch.reset()
    for first in range(0, steps, every):
        chosen_actions = [actions.random(random, count) for _ in range(min(every, steps - first))]
        began = time.perf_counter()
        ends = [batch.step(one)[2:4] for one in chosen_actions]
        seconds = time.perf_counter() - began
        frames = len(ends) * count * batch.spec.frames_per_step
        found[first] = frames / seconds, int(sum(terminated.sum() + cut.sum() for terminated, cut in ends))
    batch.close()
    return found


def draw(found: dict[str, list[Stretch]], count: int, file: Path) -> None:
    """A panel for each game: the speed, and below it the share of games that begin anew."""
    highest = max(one.frames_per_second for one in chain.from_iterable(found.values()))
    rows, columns = -(-len(found) // 2), min(2, len(found))
    with panels(file, rows, columns, size=(4.5 * columns, 2.6 * rows)) as axes:
        for axis, (game, steps) in zip(axes.flat, found.items(), strict=False):
            at = [one.step for one in steps]
            axis.plot(at, [one.frames_per_second for one in steps], color="C0", label="frames per second")
            axis.bar(at, [highest * one.restarted / count for one in steps], width=at[-1] / len(at) or 1, color="C1",
                     alpha=0.6, label="games that begin anew (full height: all)")  # fmt: skip
            axis.set(title=game, ylim=(0, 1.05 * highest), xlabel="step", ylabel="frames per second")


def words(found: dict[str, list[Stretch]]) -> str:
    lines = []
    for game, steps in found.items():
        speeds = np.array([one.frames_per_second for one in steps])
        early, late = np.median(speeds[: max(1, len(speeds) // 10)]), np.median(speeds[len(speeds) // 2 :])
        lines.append(
            f"{game}: {early:,.0f} raw frames per second in the first tenth of the steps, "
            f"{late:,.0f} in the second half."
        )
    return "\n".join([*lines, "Paper: on cores the speed is not higher at the beginning, where all games do the same."])
