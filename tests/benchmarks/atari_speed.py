"""Steps per second of ga3c.atari, ale-py's vector environment and EnvPool, in turns, with random actions.

    python tests/benchmarks/atari_speed.py --games pong breakout --counts 1 8 64 256 --threads 1 2

Prints a table for ga3c/atari/README.md: medians of the rounds. Programs that are not installed are left out. Run
nothing else meanwhile; `taskset -c 0` keeps all threads on one core.
"""

import argparse
import importlib.util
import statistics
import time

import numpy as np

GAMES = ["pong", "breakout", "ms_pacman", "seaquest", "qbert", "beam_rider", "battle_zone", "space_invaders"]
GAMES += ["name_this_game", "montezuma_revenge"]
WARM_UP_STEPS = 60


def ours(game: str, count: int, threads: int, size: int):
    from ga3c.atari import AtariVectorEnv

    return AtariVectorEnv(game, count, threads=threads, size=size, use_fire_reset=True)


def ale_py(game: str, count: int, threads: int, size: int):
    from ale_py.vector_env import AtariVectorEnv

    return AtariVectorEnv(game, count, num_threads=threads, img_height=size, img_width=size)


def envpool(game: str, count: int, threads: int, size: int):
    import envpool

    name = game.title().replace("_", "")
    return envpool.make_gymnasium(f"{name}-v5", num_envs=count, num_threads=threads, img_height=size, img_width=size)


PROGRAMS = {"ga3c.atari": ours, "ale-py": ale_py, "envpool": envpool}
MODULES = {"ga3c.atari": "numba", "ale-py": "ale_py", "envpool": "envpool"}


def steps_per_second(envs, count: int, seconds: float) -> float:
    """Returns the steps of all games in a second."""
    actions = int(getattr(envs, "single_action_space", envs.action_space).n)
    random = np.random.default_rng(0)
    chosen = random.integers(actions, size=(256, count)).astype(np.int32)
    envs.reset()
    for row in chosen[:WARM_UP_STEPS]:
        envs.step(row)
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        envs.step(chosen[steps % len(chosen)])
        steps += 1
    return steps * count / (time.perf_counter() - began)


def measured(game: str, count: int, threads: int, options: argparse.Namespace) -> dict[str, float]:
    """Returns the median of each program."""
    rates = {name: [] for name in PROGRAMS if importlib.util.find_spec(MODULES[name])}
    for number in range(options.rounds):
        for name in list(rates)[:: -1 if number % 2 else 1]:  # a slow drift then hits all alike
            envs = PROGRAMS[name](game, count, threads, options.size)
            rates[name].append(steps_per_second(envs, count, options.seconds))
            envs.close()
    return {name: statistics.median(all_of_them) for name, all_of_them in rates.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=GAMES, help="as ROM files are named")
    parser.add_argument("--counts", nargs="+", type=int, default=[1, 8, 64, 256], help="games that step together")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--size", type=int, default=84)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a measurement")
    options = parser.parse_args()
    names = [name for name in PROGRAMS if importlib.util.find_spec(MODULES[name])]
    print(f"| game | games | threads | {' | '.join(names)} | times the faster of the others |")
    print("|---" * (4 + len(names)) + "|")
    for game in options.games:
        for count in options.counts:
            for threads in options.threads:
                rates = measured(game, count, threads, options)
                best = max((rate for name, rate in rates.items() if name != "ga3c.atari"), default=float("nan"))
                cells = " | ".join(f"{rate:,.0f}" for rate in rates.values())
                print(f"| {game} | {count} | {threads} | {cells} | {rates['ga3c.atari'] / best:.2f} |", flush=True)


if __name__ == "__main__":
    main()
