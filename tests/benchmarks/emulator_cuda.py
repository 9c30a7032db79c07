"""The emulator on a GPU: python -m tests.benchmarks.emulator_cuda

Without a GPU, what its kernels need: registers, memory and code, for an A100 and an H100. With one, whether they play
as the cores do, bit for bit, and how many frames per second they make over numbers of games.
"""

import argparse
import time

import numpy as np
from numba import cuda

from ga3c.atari.batch import Batch
from ga3c.atari.gpu_batch import GpuBatch
from ga3c.atari.rules import Rules
from ga3c.emulator.cuda import batch
from ga3c.emulator.proven import DRAWN_CARTRIDGE_RAM, FRAMES_GO_ON, PROVEN, READ_WHAT_IS_LEFT
from ga3c.environments.atari_ours import OwnAtariEnvironments
from ga3c.settings.game import EnvironmentSettings
from tests import cuda_code

CARDS = {"A100": (8, 0), "H100": (9, 0)}
PLAYED_BEFORE_STEPS = 60  # so long games do much the same


def report() -> None:
    libraries = cuda_code.libraries(GpuBatch("pong", Rules(), np.zeros(1, np.int64)).gpu)
    for card, capability in CARDS.items():
        for name, library in libraries.items():
            said = cuda_code.report(cuda_code.ptx(library, capability), capability)
            print(f"{card}  {name:6}{vars(said)}")


def fill_warps(consoles: int) -> None:
    """All batches from now on have so many of them in a warp."""
    batch._play_grid = lambda count: (-(-count // consoles), consoles)


def differs(game: str, count: int, steps: int) -> str | None:
    """Where games on the GPU, 32 in a warp, first are not as those on the cores."""
    fill_warps(32)
    settings = EnvironmentSettings(game=game)
    ours, there = (OwnAtariEnvironments(game, settings, count, 1, kind=kind) for kind in (Batch, GpuBatch))
    random = np.random.default_rng(1)
    if (ours.reset() != np.array(there.reset())).any():
        return "the first observation"
    for step in range(steps):
        actions = ours.spec.actions.random(random, count)
        names = "observations", "rewards", "terminated", "truncated", "life_lost"
        for name, mine, theirs in zip(names, ours.step(actions), there.step(actions), strict=True):
            if wrong := np.flatnonzero((mine != np.array(theirs)).reshape(count, -1).any(axis=1)).tolist():
                return f"step {step}, {name} of game {wrong[0]} and {len(wrong) - 1} more"
    return None


def frames_per_second(game: str, count: int, seconds: float) -> float:
    games = OwnAtariEnvironments(game, EnvironmentSettings(game=game), count, 1, kind=GpuBatch)
    random = np.random.default_rng(1)
    actions = [games.spec.actions.random(random, count) for _ in range(100)]
    games.reset()
    for now in actions[:PLAYED_BEFORE_STEPS]:
        games.step(now)
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        games.step(actions[steps % len(actions)])  # fetches the rewards, so it has ended
        steps += 1
    return steps * count * games.spec.frames_per_step / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=["pong", "breakout", "ms_pacman", "riverraid", "boxing"])
    parser.add_argument("--all", action="store_true", help="compare all proven games that a GPU plays")
    parser.add_argument("--steps", type=int, default=150, help="of four frames, to compare")
    parser.add_argument("--counts", nargs="+", type=int, default=[1024, 4096, 16384])
    parser.add_argument("--consoles", nargs="+", type=int, default=[4, 8, 16, 32], help="of a warp, to try")
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    if not cuda.is_available():
        print("There is no GPU here.")
        with cuda_code.core_as_gpu():
            report()
        return
    for game in (
        sorted(PROVEN - READ_WHAT_IS_LEFT - FRAMES_GO_ON - DRAWN_CARTRIDGE_RAM) if options.all else options.games
    ):
        said = differs(game, 512, options.steps) or f"{options.steps} steps of 512 games as on the cores"
        print(f"{game}: {said}", flush=True)
    for game in options.games:
        for count in options.counts:
            for consoles in options.consoles:
                fill_warps(consoles)
                rate = frames_per_second(game, count, options.seconds)
                print(f"{game}, {count} games, {consoles} of a warp: {rate:,.0f} frames/s", flush=True)


if __name__ == "__main__":
    main()
