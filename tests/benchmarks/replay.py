"""What the replay memory costs, against a copy of the same bytes: python -m tests.benchmarks.replay

Draws and puts together batches of 512 prioritised transitions of Atari's states, updates their priorities, and copies
as many bytes, in turns, on one core; then plays on until all rows were written over twice, and looks at the memory.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import psutil

from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Drawn, Replay
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype

BATCH, AGENTS, ENVS, T_MAX = 512, 2, 8, 20
SPEC = EnvironmentSpec("Atari", (84, 84, 4), "uint8", discrete(6), 4, 4)


def play(replay: Replay, record: np.void, transitions: int) -> None:
    until = replay.stored + transitions
    while replay.stored < until:
        for agent in range(AGENTS):
            replay.add(agent, record, T_MAX)
        replay.offer()


def memory_mb() -> float:
    return psutil.Process().memory_info().rss / 1e6


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transitions", type=int, default=100_000, help="in the replay; 1,000,000 take 7.1 GB")
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    replay = Replay(Recipe(SPEC, AGENTS, ENVS, options.transitions, 1, 0.99, priority_alpha=0.5), lambda: 0.4)
    random = np.random.default_rng(1)
    record = np.zeros((), rollout_dtype(SPEC, T_MAX, ENVS))
    record["valid"], record["observation"] = True, random.integers(256, size=record["observation"].shape)
    for agent in range(AGENTS):
        replay.begin(agent, record["observation"][0])
    play(replay, record, int(1.1 * options.transitions))
    drawn = replay.draw(BATCH)
    states = drawn.arrays["observation"], drawn.arrays["next_observation"]
    copies, errors = [state.copy() for state in states], random.random(BATCH).astype(np.float32)
    originals = [state.copy() for state in states]
    replay.learned(drawn, errors)
    took: dict[str, list[float]] = {"draw": [], "priorities": [], "copy": []}
    batches: list[Drawn] = []
    for _ in range(options.rounds):
        took["copy"].append(milliseconds(lambda: [np.copyto(*pair) for pair in zip(copies, originals, strict=True)]))
        took["draw"].append(milliseconds(lambda: batches.append(replay.draw(BATCH))))
        took["priorities"].append(milliseconds(lambda: replay.learned(batches.pop(), errors)))
    copy = np.median(took["copy"])
    for name, times in took.items():
        low, middle = np.percentile(times, [10, 50])
        print(f"{name:10}: {middle:6.2f} ms (lowest tenth {low:.2f}), {middle / copy:.3f} of the copy")
    full = memory_mb()
    play(replay, record, 2 * options.transitions)
    print(f"memory: {full:.0f} MB when it was full, {memory_mb():.0f} MB when it was written over twice")


if __name__ == "__main__":
    main()
