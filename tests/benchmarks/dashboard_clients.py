"""How long the dashboard takes to answer many pages at once: python tests/benchmarks/dashboard_clients.py."""

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from ga3c.records.columns import DECISION_COLUMNS, EPISODE_COLUMNS, THROUGHPUT_COLUMNS  # noqa: E402
from ga3c.settings import saved_settings as saved_settings  # noqa: E402
from ga3c.settings.learning import LearningSettings  # noqa: E402
from ga3c.settings.run import Settings  # noqa: E402
from tests.dashboard_client import Client  # noqa: E402

NUMBERS = ["loss", "policy_loss", "value_loss", "entropy", "gradient_norm", "learning_rate"]
TICK_SECONDS = 2.0


def make_runs(results: Path, runs: int, rows: int) -> list[str]:
    """Runs as they lie on disk: rows of throughput.csv, twenty times as many games, a decision each hundred rows."""
    numbers = random.Random(1)
    names = [f"Pong/run-{index}" for index in range(runs)]
    for index, name in enumerate(names):
        run = results / name
        run.mkdir(parents=True)
        settings = saved_settings.to_dict(Settings(learning=LearningSettings(t_max=5 + index)))
        (run / "config.json").write_text(json.dumps({"settings": settings}))
        cells = [[5 * row, 1000 * row, *(numbers.random() for _ in [*THROUGHPUT_COLUMNS[2:], *NUMBERS])]
                 for row in range(rows)]  # fmt: skip
        games = [[row / 4, 50 * row, numbers.randint(-21, 21), 900, row % 8] for row in range(20 * rows)]
        decisions = [dict.fromkeys(DECISION_COLUMNS, 1.0) | {"seconds": 500 * row, "reason": "because"}
                     for row in range(rows // 100)]  # fmt: skip
        for log, columns, lines in (
            ("throughput", [*THROUGHPUT_COLUMNS, *NUMBERS], cells),
            ("episodes", EPISODE_COLUMNS, games),
            ("controller", DECISION_COLUMNS, [one.values() for one in decisions]),
        ):
            with (run / f"{log}.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([columns, *lines])
    return names


class Page(threading.Thread):
    """Somebody's page: opened, and asking at each tick. `seconds` holds how long each answer took."""

    def __init__(self, port: int, chosen: list[str], until: float, start: float):
        super().__init__(daemon=True)
        self._port, self._chosen, self._until, self._start = port, chosen, until, start
        self.seconds: list[float] = []
        self.answered, self.failed = 0, ""

    def run(self) -> None:
        try:
            time.sleep(max(0.0, self._start - time.monotonic()))
            client = Client(self._port, self._chosen)
            self._timed(client.open)
            while time.monotonic() < self._until:
                began = time.monotonic()
                for body in client.bodies():
                    self._timed(client.tick, body)
                time.sleep(max(0.0, began + TICK_SECONDS - time.monotonic()))
            client.close()
        except (AssertionError, OSError) as error:
            self.failed = f"{type(error).__name__}: {error}"

    def _timed(self, ask, *arguments) -> None:
        began = time.monotonic()
        ask(*arguments)
        self.seconds.append(time.monotonic() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--chosen", type=int, default=2, help="runs that each page shows beside each other")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        names = make_runs(Path(place), options.runs, options.rows)
        command = [sys.executable, "-m", "ga3c", "dashboard", "--port", "0", "--results", place]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
            try:
                port = int(re.search(r":(\d+)/", server.stdout.readline()).group(1))
                now = time.monotonic()
                pages = [
                    Page(
                        port,
                        [names[(index + more) % len(names)] for more in range(options.chosen)],
                        now + options.seconds,
                        now + TICK_SECONDS * index / options.clients,
                    )
                    for index in range(options.clients)
                ]
                for page in pages:
                    page.start()
                for page in pages:
                    page.join()
            finally:
                server.terminate()
    seconds = sorted(second for page in pages for second in page.seconds)
    failed = [page.failed for page in pages if page.failed]
    median, late, longest = (seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.95, 1))
    print(f"{options.clients} pages, {options.seconds:g} s: {len(seconds)} answers, {len(failed)} pages failed; "
          f"median {median:.3f} s, 95 % {late:.3f} s, longest {longest:.3f} s; "
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    for line in failed[:3]:
        print(line)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
