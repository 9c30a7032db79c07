"""The program on a GPU: python -m tests.benchmarks.gpu --out DIRECTORY [--only WORD ...]

It makes short runs, the most telling first, each in a process of its own with a limit, and prints a table as it goes.
Started again with the same directory it goes on where it was cut off. With --seconds 2 it can be tried on cores.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ga3c.errors import ConfigError
from ga3c.experiments import runs
from ga3c.records.csv_reading import read_csv

START_LIMIT_SECONDS = 180.0  # the first run compiles the emulator, and each the network with XLA
SOLVED = 18.0  # points of Pong


@dataclass(frozen=True)
class GpuRun:
    """A training run that is sampled while it runs."""

    name: str
    flags: tuple[str, ...]
    seconds: float
    variables: tuple[str, ...] = ()  # of the environment, NAME=VALUE
    log_seconds: float = 1.0
    goes_on: bool = True  # keeps its weights

    def command(self, directory: Path) -> list[str]:
        limit = f"{self.seconds + START_LIMIT_SECONDS:.0f}"
        end = () if "--steps" in self.flags else ("--minutes", str(self.seconds / 60))
        return [
            "env", *self.variables, sys.executable,
            "-m", "tests.benchmarks.sampled", str(directory / "samples.txt"), limit, "train", *self.flags, *end,
            "--seed", "1", "--log-seconds", str(self.log_seconds), "--plot-seconds", "0", "--run-dir", str(directory),
        ]  # fmt: skip


def plan(on_gpu: bool, seconds: float) -> list[GpuRun]:
    device, emulator = ("gpu", "gpu") if on_gpu else ("cpu", "ours")
    pong, model, here = ("--game", "Pong"), ("--device", device), ("--emulator", emulator)
    cule = (*pong, "--preset", "cule", *model)
    many, few = ("--games", "4096", "--batches", "4"), ("--games", "240", "--steps", "20000", *model)
    plain, replay = ("--xla", "off"), ("--replay-minimum-transitions", "2000")
    ga3c = (*pong, "--preset", "ga3c")
    exact = ("TF_DETERMINISTIC_OPS=1",)

    def run(name: str, *flags: str, share: float = 1.0, variables: tuple[str, ...] = ()) -> GpuRun:
        return GpuRun(name, flags, share * seconds, variables)

    return [
        run("cule-4096-plain", *cule, *here, *many, *plain),
        run("equal-there", *cule, *here, *few, *plain, variables=exact),
        run("equal-ours", *cule, "--emulator", "ours", *few, *plain, variables=exact),
        run("default", *pong, *model, share=2),
        run("ga3c-plain", *ga3c, *model, *plain),
        run("cule-1200", *cule, *here, "--games", "1200"),
        run("ppo", *pong, "--preset", "ppo", *model, "--emulator", "ours", share=3),
        run("ga3c", *ga3c, *model, share=2),
        run("pong-cores", *cule, "--emulator", "ours", share=2.5),
        run("pong-600", *cule, *here, "--games", "600", "--learning-rate", "0.002", share=2.5),
        run("cule-4096", *cule, *here, *many),
        run("default-cpu", *pong, "--device", "cpu"),
        run("ga3c-cpu", *ga3c, "--device", "cpu"),
        run("ppo-paper", *pong, "--preset", "ppo-paper", *model),
        run("dqn", *pong, "--preset", "dqn", *replay, *model),
        run("apex-dqn", *pong, "--preset", "apex-dqn", *replay, *model),
        run("large", *pong, "--network", "large-stride-1", *model),
        run("large-cpu", *pong, "--network", "large-stride-1", "--device", "cpu"),
        run("paper", *pong, "--preset", "paper", *model),
        run("bfloat16", *cule, *here, *many, "--precision", "bfloat16"),
        run("lockstep", *pong, "--preset", "lockstep", *model),
        run("default-xla", *pong, *model, "--xla", "on"),
    ]


def row(run: GpuRun, out: Path) -> str:
    """Returns what the second half of a run's log says, in a line."""
    log = read_csv(runs.directory_of(run, out) / "throughput.csv")
    if not len(log.get("seconds", ())):
        return f"{run.name:16} no row"
    seconds, steps = log["seconds"], log["steps"]
    half = len(steps) // 2
    rate = (steps[-1] - steps[half]) / max(seconds[-1] - seconds[half], 1e-9)
    told = {name: float(np.median(seen)) if len(seen := _numbers(log[name][half:])) else np.nan for name in TOLD}
    solved = np.flatnonzero(log["mean_score"] >= SOLVED)
    when = f"18 after {seconds[solved[0]]:.0f} s, {steps[solved[0]] / 1e6:.2f} M steps" if len(solved) else ""
    busy = read_csv(runs.directory_of(run, out) / "gpu.csv").get("gpu_percent", [])
    percent = f"{np.median(busy):.0f} %" if len(busy) else "-"
    numbers = "  ".join(f"{label} {told[name]:,.4g}" for name, label in TOLD.items())
    return f"{run.name:16} {rate:>9,.0f} steps/s  GPU {percent}  {numbers}  score {log['mean_score'][-1]:.1f} {when}"


TOLD = {
    "tps": "TPS",
    "updates_per_second": "upd/s",
    "mean_prediction_batch": "batch",
    "prediction_model_ms": "predict ms",
    "update_ms": "update ms",
    "update_assembly_ms": "assembly",
    "mean_policy_lag_updates": "lag",
    "agents": "NA",
    "predictors": "NP",
    "trainers": "NT",
}


def _numbers(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]


def difference(one: Path, other: Path) -> str:
    """Returns how far the weights of two runs of equal length are apart."""
    files = [sorted((path / "checkpoints").glob("*.npz"))[-1] for path in (one, other)]
    mine, theirs = (np.load(file) for file in files)
    worst = {
        name: float(np.abs(mine[name] - theirs[name]).max() / (np.abs(theirs[name]).max() + 1e-12))
        for name in mine.files
        if mine[name].dtype == np.float32 and name in theirs.files
    }
    name = max(worst, key=worst.get)
    return f"{files[0].name}, {files[1].name}: largest relative difference {worst[name]:.3g} ({name})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", help="runs whose names begin so")
    parser.add_argument("--seconds", type=float, default=30.0, help="of a run; some take a multiple")
    options = parser.parse_args()
    from ga3c.devices.device import count_gpus

    on_gpu = count_gpus() > 0
    print("TensorFlow finds a GPU." if on_gpu else "TensorFlow finds no GPU: all runs are on the cores.", flush=True)
    made = [r for r in plan(on_gpu, options.seconds) if not options.only or r.name.startswith(tuple(options.only))]
    for run in made:
        try:
            runs.perform([run], options.out)
        except (runs.RunFailed, ConfigError) as error:
            print(f"{run.name}: {error}")
        print(row(run, options.out), flush=True)
    both = [runs.directory_of(run, options.out) for run in made if run.name.startswith("equal-")]
    if len(both) == 2 and all((path / "checkpoints").exists() for path in both):
        print(difference(*both))


if __name__ == "__main__":
    main()
