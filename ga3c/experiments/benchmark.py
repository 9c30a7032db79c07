"""How fast this machine trains, and how fast it could: the whole program, and each station alone."""

import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ga3c import environments, networks
from ga3c.environments import rewards
from ga3c.errors import ConfigError
from ga3c.experiments import station_costs
from ga3c.experiments.runs import child_environment
from ga3c.experiments.station_costs import Cost
from ga3c.machine import usable_cores
from ga3c.processes import agents_start
from ga3c.progress import counts_of
from ga3c.records.csv_reading import read_csv
from ga3c.rollout import EnvironmentSpec, slots_needed
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.replay import ReplaySettings
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import flags_of
from ga3c.settings.schedule import ScheduleSettings

GROUPS = ("environment", "schedule", "learning", "replay")


@dataclass(frozen=True)
class BenchmarkOptions:
    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    schedule: ScheduleSettings = field(default_factory=lambda: ScheduleSettings(controller="off"))
    learning: LearningSettings = field(default_factory=LearningSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    seconds: float = 20.0
    """Seconds that the whole program is measured in each round, in two halves, after their starts."""
    rounds: int = 3
    """How often the whole program and the stations take turns."""
    json: str | None = None
    """File to write the figures to."""


RATES = ("pps", "tps", "trained_steps_per_second", "frames_per_second", "updates_per_second")
TIMES_MS = (
    "prediction_ms", "prediction_queue_ms", "prediction_queue_model_ms", "prediction_assembly_ms",
    "prediction_model_ms", "prediction_reply_ms", "training_queue_ms", "update_ms", "update_assembly_ms",
    "update_model_ms",
)  # fmt: skip
# What throughput.csv says of the whole program, and its name in the result.
COLUMNS = {name: name for name in (*RATES, *TIMES_MS)} | {
    "agents_core_ms_per_step": "agents_core_ms",
    "server_core_ms_per_step": "server_core_ms",
    "mean_prediction_batch": "prediction_batch",
    "mean_policy_lag_updates": "policy_lag_updates",
}
SETTLING_SECONDS, STATION_SECONDS = 5, 3.0  # the former are left out of each run, from its first update on


def training_settings(options: BenchmarkOptions) -> Settings:
    """Returns the settings that are measured."""
    return replace(Settings(), **{name: getattr(options, name) for name in GROUPS})


def since_first_update(rows: dict[str, np.ndarray]) -> np.ndarray:
    """Indices of the rows of throughput.csv from the one with the first update on: games take time to start, and a
    replay memory to fill."""
    return np.flatnonzero(np.cumsum(rows.get("updates_per_second", ())))


def measure_run(options: BenchmarkOptions) -> dict[str, float]:
    """The whole program, over the rows of its throughput.csv, one each second: means of what is counted in a second,
    which may hold one update or two, and medians of the rest, where there is any. Raises ConfigError."""
    settings = training_settings(options)
    flags = [*flags_of(settings, rewards.usual), "--log-seconds", "1", "--plot-seconds", "0"]
    with tempfile.TemporaryDirectory() as scratch, (Path(scratch) / "output.txt").open("w+") as output:
        run = Path(scratch) / "run"
        command = [sys.executable, "-m", "ga3c", "train", "--run-dir", str(run), *flags]
        how = {"stdout": output, "stderr": output, "start_new_session": True, "env": child_environment()}
        with subprocess.Popen(command, **how) as process:
            try:
                rows, learning = {}, np.array([])
                while len(learning) < SETTLING_SECONDS + options.seconds / 2:
                    time.sleep(0.5)
                    if process.poll() is not None:
                        output.seek(0)
                        said = output.read().strip().splitlines() or ["it said nothing"]
                        raise ConfigError(f"The run ended early: {said[-1]}")
                    rows = read_csv(run / "throughput.csv")
                    learning = since_first_update(rows)
            finally:
                process.terminate()
    settled = learning[SETTLING_SECONDS:]
    return {
        name: float((np.nanmean if name in RATES else np.nanmedian)(rows[column][settled]))
        for column, name in COLUMNS.items()
        if not np.isnan(rows[column][settled]).all()
    }


def measure_stations(
    model, settings: Settings, spec: EnvironmentSpec, agents: int, turns: str, replays: bool, mean_batch: float
) -> dict:
    """Each station alone, for a few seconds: a `station_costs.Cost` by name."""
    learning, replay, envs = settings.learning, settings.replay, settings.schedule.envs_per_agent
    if settings.schedule.one_thread:
        envs, agents = settings.schedule.games_of(agents) // settings.schedule.batches, 1
    wait = turns in ("synchronised", "alternating")
    rollouts = agents if wait else slots_needed(learning.t_max, envs, learning.minimum_batch_steps) - 2
    costs = {
        "emulate": station_costs.emulate(settings.environment, learning.t_max, envs, STATION_SECONDS),
        "predict": station_costs.predict(model, spec, envs, mean_batch, STATION_SECONDS),
        "queue": station_costs.queue(spec, learning.t_max, envs, rollouts + 2, STATION_SECONDS),
    }
    if not replays:
        return costs | {"train": station_costs.train(model, spec, learning.t_max, rollouts * envs, STATION_SECONDS)}
    return costs | {
        "train": station_costs.train_transitions(model, spec, replay.batch, replay.steps_per_update, STATION_SECONDS),
        "replay": station_costs.replay(spec, settings, agents, STATION_SECONDS),
    }


def bound(costs: dict, on_gpu: bool, turns: str = "asynchronous") -> float:
    """Steps per second that this machine could reach if nothing were lost between the stations.

    asynchronous: without a GPU the cores do everything; with one the slower side counts: the cores with games and
    messages, or the model, which does one thing at a time.
    synchronised: first games and messages, on all cores; then the model, in the time that it takes alone.
    alternating: games and predictions as if asynchronous; then the update.
    serial: all in turn, on one core, without messages.
    What a replay memory costs belongs to the update."""
    cores = usable_cores()
    games = (costs["emulate"].core_ms + costs["queue"].core_ms) / cores
    predict, train = costs["predict"], costs["train"]
    if "replay" in costs:
        train = Cost(*(update + replay for update, replay in zip(train, costs["replay"], strict=True)))
    if turns == "serial":
        return 1000 / (costs["emulate"].wall_ms + predict.wall_ms + train.wall_ms)
    if turns == "synchronised":
        return 1000 / (games + predict.wall_ms + train.wall_ms)
    if turns == "alternating":
        playing = max(games, predict.wall_ms) if on_gpu else games + predict.core_ms / cores
        return 1000 / (playing + train.wall_ms)
    if not on_gpu:
        return 1000 * cores / sum(cost.core_ms for cost in costs.values())
    return min(1000 / games, 1000 / (predict.wall_ms + train.wall_ms))


def measure(options: BenchmarkOptions) -> dict[str, dict[str, float]]:
    """Takes turns between the whole program and the stations, and says how it goes; figures by name."""
    settings = training_settings(options)
    agents_start.start()
    spec = environments.closed(settings.environment).spec
    network = networks.resolve(settings.learning.network, spec, settings.learning.algorithm)

    from ga3c.devices.device import set_up_device, threads  # isort: skip (first: it loads TensorFlow)
    from ga3c import algorithms
    from ga3c.devices.pieces import pieces
    from ga3c.model import Model

    count = threads(network)
    device = set_up_device("auto", count)
    on_gpu = device == "gpu"
    algorithm, agents = algorithms.make(settings, spec.actions), counts_of(settings).agents
    turns = algorithms.turns(settings, algorithm)
    print(station_costs.where_emulated(settings, on_gpu), end="")
    model = Model(spec, settings.learning, algorithm, 1, algorithms.compiled(settings, device), pieces(turns, count))
    rounds = []
    for number in range(1, options.rounds + 1):
        # The stations between two halves of the run: where the machine's speed drifts, it drifts for both.
        print(f"Round {number} of {options.rounds}: the whole program ...", end="", flush=True)
        first = measure_run(options)
        print(f" {first['pps']:.0f} steps/s, each station alone ...", end="", flush=True)
        played, batch = station_costs.as_played(settings, first), first["prediction_batch"]
        costs = measure_stations(model, played, spec, agents, turns, algorithm.replays, batch)
        second = measure_run(options)
        print(f" the whole program {second['pps']:.0f} steps/s,", end="", flush=True)
        measured = {name: (first[name] + second[name]) / 2 for name in first if name in second}
        measured |= {f"{name}_core_ms": cost.core_ms for name, cost in costs.items()}
        measured["bound_pps"] = bound(costs, on_gpu, turns)
        measured["efficiency"] = measured["pps"] / measured["bound_pps"]
        print(f" bound {measured['bound_pps']:.0f}", flush=True)
        rounds.append(measured)
    known = (name for name in rounds[0] if all(name in measured for measured in rounds))
    return {name: summary([measured[name] for measured in rounds]) for name in known}


def summary(values: list[float]) -> dict[str, float]:
    return {"minimum": min(values), "median": statistics.median(values), "maximum": max(values)}


def report(figures: dict[str, dict[str, float]]) -> str:
    """The figures as a table and as sentences."""
    names = {
        "pps": ("PPS", "steps/s", 0),
        "tps": ("TPS", "rollouts/s", 0),
        "frames_per_second": ("frames", "frames/s", 0),
        "updates_per_second": ("updates", "updates/s", 1),
        "policy_lag_updates": ("policy lag", "updates", 1),
        "agents_core_ms": ("agents", "core-ms a step", 3),
        "server_core_ms": ("server", "core-ms a step", 3),
        "emulate_core_ms": ("alone: emulation", "core-ms a step", 3),
        "predict_core_ms": ("alone: prediction", "core-ms a step", 3),
        "train_core_ms": ("alone: training", "core-ms a step", 3),
        "replay_core_ms": ("alone: replay memory", "core-ms a step", 3),
        "queue_core_ms": ("alone: queues", "core-ms a step", 3),
        "bound_pps": ("bound", "steps/s", 0),
        "efficiency": ("efficiency", "PPS / bound", 2),
    }
    lines = [f"{'':20} {'lowest':>9} {'median':>9} {'highest':>9}"]
    for name, (label, unit, digits) in names.items():
        if name in figures:
            cells = " ".join(f"{figures[name][kind]:9,.{digits}f}" for kind in ("minimum", "median", "maximum"))
            lines.append(f"{label:20} {cells}  {unit}")
    return "\n".join([*lines, "", *latency(figures)])


def latency(figures: dict[str, dict[str, float]]) -> list[str]:
    """From request to answer, and of one update: what the model has of it. The paper's figures: section 5.1.
    A rollout that goes into a replay memory waits for no batch."""
    f = {name: figure["median"] for name, figure in figures.items()}
    waits = f"A rollout waits {f['training_queue_ms']:.1f} ms for its batch. " if "training_queue_ms" in f else ""
    predictions = [f"A prediction for all games takes {f['prediction_model_ms']:.2f} ms."]
    if "prediction_ms" in f:  # it is not one thread that plays and predicts
        needed = f["prediction_model_ms"] + f["prediction_queue_model_ms"]
        predictions = [
            f"An agent waits {f['prediction_ms']:.2f} ms for a prediction: queue {f['prediction_queue_ms']:.2f} "
            f"({f['prediction_queue_model_ms']:.2f} of it while the model answers others), assembly "
            f"{f['prediction_assembly_ms']:.2f}, model {f['prediction_model_ms']:.2f}, reply "
            f"{f['prediction_reply_ms']:.2f}.",
            f"  The model and the wait for it: {100 * needed / f['prediction_ms']:.0f} % "
            "(paper: 108 ms, of which the model 10 %).",
        ]
    return [
        *predictions,
        f"{waits}An update takes {f['update_ms']:.2f} ms: "
        f"assembly {f['update_assembly_ms']:.2f}, model {f['update_model_ms']:.2f}.",
        f"  The model: {100 * f['update_model_ms'] / f['update_ms']:.0f} % (paper: 11.1 ms, of which the model 41 %).",
    ]
