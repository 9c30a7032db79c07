"""Changes the counts thousands of times in one real run, and looks at what that leaves behind.

    python tests/endurance.py --changes 10000

Every change sets agents, predictors and trainers to random numbers. In half of the changes agents that are not wanted
pause, in the other half they end at once. Prints resident memory, threads and open files of the server after a tenth of
the changes and at the end; ends with 1 if they grew by more than two percent. Linux only.
"""

import argparse
import contextlib
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ga3c.controller.counts import Counts  # the rest where it is used: each agent's process loads this file

REST = Counts(2, 1, 1)  # the setting in which it is measured
GROWTH = 0.02


def measure(server, most: Counts) -> dict[str, float]:
    """At rest, after a larger setting than any: no process or thread of another, all memory of agents once in use."""
    from ga3c.processes import agent_pool

    agent_pool.SPARE_SECONDS = 0.0
    largest = Counts(*(2 * count for count in most))  # larger than chance makes it, with those that are still leaving
    for counts in (largest, REST):
        server.system.scale(counts)
        deadline = time.monotonic() + 60
        while (
            len(server.system._agents.report()) != counts.agents
            or server.system._agents.starting()
            or sum(thread.is_alive() for thread in server.system._threads) != counts.predictors + counts.trainers
        ):
            if time.monotonic() > deadline:
                lines = server.system.report()
                more = f"\n... and {len(lines) - 20} lines more" if len(lines) > 20 else ""
                raise SystemExit("It did not come to rest:\n" + "\n".join(lines[:20]) + more)
            time.sleep(0.1)
    time.sleep(2.0)
    me = psutil.Process()
    return {
        "resident MB": me.memory_info().rss / 1e6,
        "threads": me.num_threads(),
        "open files": me.num_fds(),
        "memory maps": len(me.memory_maps(grouped=False)),
        "processes": len(me.children(recursive=True)),
    }


def open_files() -> Counter:
    """What the open files of this process are, without the numbers that tell two of a kind apart."""
    names = []
    for file in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists them
            names.append(re.sub(r"\d+|pym-\S+", "N", os.readlink(file)))
    return Counter(names)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--game", default="tests.tiny_environment:Match-v0")
    parser.add_argument("--most", type=int, nargs=3, default=(6, 4, 4), help="agents, predictors, trainers")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    from ga3c import environments
    from ga3c.processes import agent_pool, agents_start
    from ga3c.records.console import Console
    from ga3c.settings.game import EnvironmentSettings
    from ga3c.settings.run import RunSettings, Settings
    from ga3c.settings.schedule import ScheduleSettings

    agents_start.start()
    settings = Settings(
        environment=EnvironmentSettings(game=options.game),
        schedule=ScheduleSettings(**REST._asdict(), envs_per_agent=4, controller="off"),
        run=RunSettings(log_seconds=1.0),
    )
    from ga3c.server.recorded_run import RecordedRun
    from ga3c.server.server import Server
    from ga3c.systems import system_of

    rng, random_counts = random.Random(options.seed), lambda: Counts(*(rng.randint(1, most) for most in options.most))
    with tempfile.TemporaryDirectory() as scratch, open(os.devnull, "w") as nowhere:
        games = environments.make(settings.environment, 1, 0)
        console = Console(nowhere.fileno())
        run = RecordedRun(system_of(settings), settings, Path(scratch), games.spec, console)
        server = Server(run, settings.run, console)
        server.start()
        serving = threading.Thread(target=server.serve, args=(lambda: None,), name="serve")
        serving.start()
        try:
            before = {}
            for number in range(1, options.changes + 1):
                agent_pool.SPARE_SECONDS = 0.0 if number % 200 < 100 else 60.0
                server.system.scale(random_counts())
                time.sleep(rng.uniform(0.0, 0.04))
                if not serving.is_alive():
                    raise SystemExit(f"The run has ended after {number} changes:\n{server.failure}")
                if number == max(1, options.changes // 10):
                    before, files_before = measure(server, Counts(*options.most)), open_files()
                    print(f"after {number:6} changes: {before}", flush=True)
            after, files = measure(server, Counts(*options.most)), open_files()
            print(f"after {options.changes:6} changes: {after}", flush=True)
        finally:
            server.request_stop()
            serving.join()
            totals = server.stop()
    accounted = totals.trained_steps + totals.skipped_steps + totals.lost_steps
    print(f"{totals.steps:,} steps; {totals.made_steps:,} made, {accounted:,} accounted for", flush=True)
    grown = [name for name in before if after[name] > (1 + GROWTH) * before[name]]
    if grown:
        print(
            f"Grown by more than {100 * GROWTH:.0f} %: {', '.join(grown)}; new: {dict(files - files_before)}",
            flush=True,
        )
    return 1 if grown or totals.made_steps != accounted or totals.lost_steps else 0


if __name__ == "__main__":
    sys.exit(main())
