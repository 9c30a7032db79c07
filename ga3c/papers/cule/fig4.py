"""Figure 4 of the paper: frames per second over the steps of games that begin alike, and how many begin anew.

The paper measures it on a GPU, where threads that do different things wait for each other. Here that waiting is counted
on a core (`ga3c.emulator.divergence`): what is left of the speed of games that do the same at all times, if nothing of
an instruction is common to all.
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ga3c import environments
from ga3c.errors import ConfigError
from ga3c.experiments import emulation
from ga3c.experiments.tables import rounded, write_rows
from ga3c.papers.cule import Options, loads
from ga3c.papers.plan import chosen
from ga3c.records.run_directory import game_directory
from ga3c.settings.game import EnvironmentSettings
from ga3c.views.panels import panels

RUNS = "cule-fig4"
READS = ("game", "games")
WARP = 32
GAMES = ("Assault", "Asterix", "MsPacman", "Pong")
SCALES = {
    "cpu": {"game": GAMES, "games": 64, "most_steps": 300, "every": 10},
    "full": {"game": GAMES, "games": 512, "most_steps": 2000, "every": 10},
}
PAPER_LOSS = 0.3  # of the speed at the beginning, in the worst case


class Step(NamedTuple):
    """Means over warps. Shares of the speed of games that do the same at all times."""

    step: int
    by_lines: float  # they begin each line of the picture together, as they do in our emulator on a GPU
    by_frames: float  # they begin each frame together alone
    instructions_per_frame: float
    restarted: int  # games that begin anew, of all


def reproduce(options: Options, out: Path) -> str:
    scale, found = chosen(SCALES, options), {}
    count = scale["games"]
    if count % WARP:
        raise ConfigError(f"--games {count} is out of range: a warp has {WARP}, give a multiple of it.")
    for game in scale["game"]:
        how = {"count": count, "steps": scale["most_steps"], "every": scale["every"]}
        measured = loads.kept(out / f"{game_directory(game).name}.json", how, partial(measure, game, **how))
        found[game] = [Step(*one) for one in measured]
    rows = [{"game": game, "games": count} | rounded(step._asdict()) for game, steps in found.items() for step in steps]
    write_rows(out / "fig4.csv", rows)
    draw(found, count, out / "fig4.png")
    return words(found)


def equal_games(game: str, count: int):
    """Returns a batch of games that begin in the same state. Raises ConfigError where our emulator does not play it."""
    emulation.check_atari(game)
    return environments.make(EnvironmentSettings(game=game, no_op_max_steps=0, emulator="ours"), count, seed=1)


def measure(game: str, count: int, steps: int, every: int) -> list[Step]:
    """Games begin in the same state and are played at random; counted is one step in `every`. Raises ConfigError where
    the game is not played by our emulator."""
    batch, random, found = equal_games(game, count), np.random.default_rng(1), []
    batch.reset()
    over = np.zeros(count, bool)
    restarted = 0
    for step in range(steps):
        actions = batch.spec.actions.random(random, count)
        restarted += int(over.sum())
        if step % every == 0:
            warps = [slice(first, first + WARP) for first in range(0, count, WARP)]
            counts = [[batch.divergence(warp, actions, lines) for warp in warps] for lines in (True, False)]
            found.append(_mean(step, *counts, batch.spec.frames_per_step, restarted))
            restarted = 0
        _, _, terminated, truncated, _ = batch.step(actions)
        over = terminated | truncated
    return found


def _mean(step: int, by_lines: list, by_frames: list, frames: int, restarted: int) -> Step:
    shares = (float(np.mean([one.share(WARP) for one in counts])) for counts in (by_lines, by_frames))
    return Step(step, *shares, float(np.mean([one.instructions for one in by_lines])) / WARP / frames, restarted)


def draw(found: dict[str, list[Step]], count: int, file: Path) -> None:
    """A panel for each game: both shares, and below them the games that begin anew."""
    rows, columns = -(-len(found) // 2), min(2, len(found))
    with panels(file, rows, columns, size=(4.5 * columns, 2.6 * rows)) as axes:
        for axis, (game, steps) in zip(axes.flat, found.items(), strict=False):
            at = [one.step for one in steps]
            axis.plot(at, [one.by_lines for one in steps], color="C0", label="each line begun together")
            axis.plot(at, [one.by_frames for one in steps], "--", color="C0", label="each frame begun together")
            axis.bar(at, [one.restarted / count for one in steps], width=at[-1] / len(at) or 1, color="C1", alpha=0.6,
                     label="games that begin anew")  # fmt: skip
            axis.set(title=game, ylim=(0, 1.05), xlabel="step", ylabel="share of the speed")


def words(found: dict[str, list[Step]]) -> str:
    lines = []
    for game, steps in found.items():
        late = {name: np.mean([getattr(one, name) for one in steps[len(steps) // 2 :]]) for name in Step._fields}
        lines.append(
            f"{game}: of the speed of {WARP} equal games {steps[0].by_lines:.2f} in the first step, "
            f"{late['by_lines']:.2f} in the second half of the steps; {late['by_frames']:.2f} if they did not begin "
            f"each line together. {late['instructions_per_frame']:,.0f} instructions a frame."
        )
    paper = f"Paper, measured on a GPU: at the most {100 * PAPER_LOSS:.0f} % less than at the beginning."
    return "\n".join([*lines, paper])
