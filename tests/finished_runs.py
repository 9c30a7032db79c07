"""Directories as finished runs of an experiment leave them."""

import csv
import json
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ga3c.environments import protocols
from ga3c.experiments import comparison
from ga3c.experiments.comparison import LearningRun, Outcome
from ga3c.experiments.runs import FINISHED, directory_of
from ga3c.experiments.throughput import SpeedRun
from ga3c.records.columns import EPISODE_COLUMNS, THROUGHPUT_COLUMNS
from ga3c.settings.game import EnvironmentSettings

ENVS_PER_AGENT = 16
PROTOCOL = protocols.fingerprint(EnvironmentSettings())


def make_run(run: SpeedRun, out, tps=100.0, cores_used=math.nan, rows=10, **columns):
    """A finished run with `rows` equal rows in its time, and one of its stop. 1 PPS = 1 step a second = 5 TPS."""
    directory = directory_of(run, out)
    directory.mkdir(parents=True)
    interval = run.seconds / rows
    values = dict.fromkeys(THROUGHPUT_COLUMNS, 1.0) | {"tps": tps, "pps": 5 * tps, "cores_used": cores_used} | columns
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


def learnt(run: LearningRun, out: Path, mean: float, normalized=0.5, fingerprint=PROTOCOL, scores=None) -> Outcome:
    """A finished run whose agent was evaluated to `mean`."""
    make_run(run, out)
    directory = directory_of(run, out)
    scores = np.linspace(-20, mean, 200) if scores is None else scores
    seconds = np.linspace(0, run.seconds, len(scores))
    with (directory / "episodes.csv").open("w", newline="") as file:
        rows = [(s, 100 * s, score, 50, 0) for s, score in zip(seconds, scores, strict=True)]
        csv.writer(file, lineterminator="\n").writerows([EPISODE_COLUMNS, *rows])
    way = {"mean": mean, "std": 1.0, "min": mean, "max": mean, "human_normalized": normalized, "scores": [mean]}
    way |= {"low": None, "high": None}
    evaluation = {
        "episodes": 3,
        "fingerprint": fingerprint,
        "ways": {"sampled": way, "greedy": way | {"mean": mean + 1}},
    }
    (directory / comparison.EVALUATION).write_text(json.dumps(evaluation))
    return comparison.make([run], out, evaluation_games=3)[0]
