"""Directories as finished runs of an experiment leave them."""

import csv
import json
import math
from dataclasses import asdict

from ga3c.experiments.runs import FINISHED, directory_of
from ga3c.experiments.throughput import SpeedRun
from ga3c.records.columns import THROUGHPUT_COLUMNS

UNKNOWN = (math.nan, math.nan)
ENVS_PER_AGENT = 16


def make_run(run: SpeedRun, out, tps=100.0, core_ms=UNKNOWN, rows=10, **columns):
    """A finished run with `rows` equal rows in its time, and one of its stop. 1 PPS = 1 step a second = 5 TPS."""
    directory = directory_of(run, out)
    directory.mkdir(parents=True)
    interval = run.seconds / rows
    values = dict.fromkeys(THROUGHPUT_COLUMNS, 1.0) | {"tps": tps, "pps": 5 * tps} | columns
    values |= dict(zip(("server_core_ms_per_step", "agents_core_ms_per_step"), core_ms, strict=True))
    lines = []
    for i in range(1, rows + 2):
        now = {"seconds": i * interval, "steps": 5 * tps * i * interval, "frames": 20 * tps * i * interval}
        wrong = {"tps": 1e6, "pps": 1e6, "training_queue": 1e6} if i <= rows / 5 or i > rows else {}
        lines.append(values | wrong | now)
    with (directory / "throughput.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, values.keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    settings = {"schedule": {"envs_per_agent": ENVS_PER_AGENT}}
    (directory / "config.json").write_text(json.dumps({"settings": settings, "hardware": {"cores": 2}}))
    (directory / FINISHED).write_text(json.dumps(asdict(run)))
