"""Measures the speed of GA3C and of other programs in turn, on the same game with the same network.

tests/benchmarks/run.sh sets everything up and starts this. ga3c runs with what SAME_WORK says and
without the controller. What follows `--` is added to its command line.
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from ga3c import environments
from ga3c.errors import ConfigError
from ga3c.settings.learning import Network

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OURS = "ga3c"
# What ga3c is given to do the same work as the others, by its algorithm.
SAME_WORK = {
    "a3c": ["--envs-per-agent", "16", "--t-max", "5", "--minimum-batch-steps", "80"],
    "ppo": ["--preset", "ppo-paper"],
    # Epsilon as at the end of its fall: most play asks the network.
    "dqn": [
        "--preset", "dqn", "--exploration-start", "0.1", "--exploration-end", "0.1",
        "--replay-transitions", "50000", "--replay-minimum-transitions", "1000",
    ],
}  # fmt: skip
# What --against names, for each of those algorithms: script, number of games, and what else it is given.
OTHERS = {
    "a3c": {
        "plain-sync-a2c": [("sync_a2c.py", 32, ["--plain"])],
        "tuned-sync-a2c": [("sync_a2c.py", 32, [])],
        "sb3-a2c": [("sb3.py", 16, []), ("sb3.py", 32, [])],
    },
    "ppo": {
        "sb3-ppo": [("sb3.py", 8, ["--algorithm", "ppo"])],
        "sb3-ppo-one-process": [("sb3.py", 8, ["--algorithm", "ppo", "--environments", "dummy"])],
    },
    "dqn": {
        "sb3-dqn": [
            ("sb3.py", 1, ["--algorithm", "dqn", "--environments", "dummy"]),
            ("sb3.py", 8, ["--algorithm", "dqn"]),
        ],
    },
}
NETWORKS = [name for name in get_args(Network) if name.startswith(("small", "large"))]


@dataclass(frozen=True)
class Measurement:
    """One run of one program."""

    steps_per_second: list[float]
    """Steps that were trained on, in windows of equal length."""
    parameters: int
    details: dict = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.steps_per_second)


Rounds = dict[str, list[Measurement]]  # by program, each round one


def measure_ours(options: argparse.Namespace) -> Measurement:
    """One run, in a directory that is gone afterwards."""
    count = windows(options)
    minutes = ((count + 2.5) * options.window_seconds + 2) / 60  # one window before, and some time to spare
    with tempfile.TemporaryDirectory(prefix="ga3c-benchmark-") as directory:
        run_dir = Path(directory) / "run"
        command = [sys.executable, "-m", "ga3c", "train", "--controller", "off", "--game", options.game]
        command += [*network_of(options), *SAME_WORK[options.algorithm], *options.forwarded]
        command += ["--log-seconds", str(options.window_seconds)]
        command += ["--minutes", f"{minutes:.4f}", "--run-dir", str(run_dir)]
        output = _output(OURS, command, os.environ | {"PYTHONPATH": str(ROOT)})
        with (run_dir / "throughput.csv").open(newline="") as file:
            rows = whole_windows(list(csv.DictReader(file)), count)
        run = json.loads((run_dir / "config.json").read_text(encoding="utf-8"))
    parameters = re.search(r"([\d,]+) parameters", output)
    details = {"pps": _column(rows, "pps"), "mean_policy_lag_updates": _column(rows, "mean_policy_lag_updates")}
    details |= {"versions": run["versions"], "hardware": run["hardware"], "settings": run["settings"]}
    return Measurement(_column(rows, "trained_steps_per_second"), int(parameters[1].replace(",", "")), details)


def network_of(options: argparse.Namespace) -> list[str]:
    """Flags. DQN has its own on both sides."""
    return [] if options.algorithm == "dqn" else ["--network", options.network]


def whole_windows(rows: list[dict[str, str]], count: int) -> list[dict[str, str]]:
    """`count` rows of throughput.csv: not the first with updates, in which everything starts, nor any before; nor the
    last, cut off by the end."""
    first = next((number for number, row in enumerate(rows) if float(row["updates_per_second"])), len(rows))
    rows = rows[first + 1 : -1][:count]
    if len(rows) < count:
        raise ConfigError(f"{OURS} ended after {len(rows)} of {count} windows: leave the end of a run to --seconds.")
    return rows


def _column(rows: list[dict[str, str]], name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def measure_other(script: str, games: int, more: list[str], options: argparse.Namespace) -> Measurement:
    """One run of a script of this folder, in the Python that has its packages."""
    rom = environments.resolve(options.game)[1]
    command = [options.python, str(HERE / script), "--game", rom, "--games", str(games), *network_of(options)]
    command += ["--seconds", str(options.seconds), "--window-seconds", str(options.window_seconds)]
    command += ["--warm-up-seconds", str(options.window_seconds), *more]
    details = json.loads(_output(script, command, _bare_environment()).splitlines()[-1])
    return Measurement(details.pop("steps_per_second"), details.pop("parameters"), details)


def _bare_environment() -> dict[str, str]:
    """Without what makes ga3c and its packages found."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}


def _output(program: str, command: list[str], environment: dict[str, str]) -> str:
    """What a command prints. Raises ConfigError, with the last line of its complaint, if it fails."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    except OSError as error:
        raise ConfigError(f"Cannot start {command[0]}: {error.strerror}.") from error
    if ended.returncode:
        said = (ended.stderr.strip() or ended.stdout.strip() or f"status {ended.returncode}").splitlines()[-1]
        raise ConfigError(f"{program} failed: {said}")
    return ended.stdout


def windows(options: argparse.Namespace) -> int:
    return max(1, round(options.seconds / options.window_seconds))


def ratios(rounds: Rounds) -> dict[str, list[float]]:
    """For each other program: median of ours / its median, for each round."""
    return {
        name: [ours.median / its.median for ours, its in zip(rounds[OURS], measurements, strict=True)]
        for name, measurements in rounds.items()
        if name != OURS
    }


def summary(figures: list[float]) -> dict[str, float]:
    return {"median": statistics.median(figures), "lowest": min(figures), "highest": max(figures)}


def table(rounds: Rounds) -> str:
    """The lines that a person reads."""
    wide = max(map(len, rounds))
    lines = [
        f"{'steps/s (1 step = 4 frames)':{wide + 12}}{'of all windows':>36}{'medians of rounds':>24}",
        f"{'':{wide}}{'parameters':>12}{'median':>12}{'lowest':>12}{'highest':>12}{'lowest':>12}{'highest':>12}",
    ]
    for name, measurements in rounds.items():
        of_windows = summary([rate for measurement in measurements for rate in measurement.steps_per_second])
        of_rounds = summary([measurement.median for measurement in measurements])
        figures = [*of_windows.values(), of_rounds["lowest"], of_rounds["highest"]]
        cells = "".join(f"{figure:12,.0f}" for figure in figures)
        lines.append(f"{name:{wide}}{measurements[0].parameters:12,}{cells}")
    lines.append("")
    for name, of_rounds in ratios(rounds).items():
        whole = summary(of_rounds)
        each = ", ".join(f"{ratio:.2f}" for ratio in of_rounds)
        spread = f"median {whole['median']:.2f} ({whole['lowest']:.2f} to {whole['highest']:.2f})"
        lines.append(f"{OURS} / {name:{wide}}  {spread}; rounds: {each}")
    return "\n".join(lines)


def result(options: argparse.Namespace, rounds: Rounds) -> dict:
    """What --json writes."""
    asked = ("game", "algorithm", "network", "seconds", "window_seconds", "forwarded")
    programs = {
        name: {"parameters": measurements[0].parameters}
        | {"windows": summary([rate for m in measurements for rate in m.steps_per_second])}
        | {"medians_of_rounds": summary([m.median for m in measurements])}
        | {"rounds": [{"steps_per_second": m.steps_per_second} | m.details for m in measurements]}
        for name, measurements in rounds.items()
    }
    compared = {name: summary(of_rounds) | {"rounds": of_rounds} for name, of_rounds in ratios(rounds).items()}
    return {name: getattr(options, name) for name in asked} | {"programs": programs, "ratios": compared}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise ConfigError(f"{message}. See --help.")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Options, and in `forwarded` what comes after `--`. Raises ConfigError."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = _Parser(
        prog="tests/benchmarks/run.sh",
        description=__doc__,
        usage="%(prog)s [OPTIONS] [-- OPTIONS OF ga3c]",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--game", default="Pong", help="Atari game in any usual spelling")
    parser.add_argument(
        "--network", choices=NETWORKS, default="small", help="of the paper's section 5.1; dqn has its own"
    )
    parser.add_argument("--algorithm", choices=OTHERS, default="a3c", help="of ga3c; the other programs go by it")
    parser.add_argument("--against", nargs="+", help="programs to compare with; default: all of the algorithm")
    parser.add_argument("--rounds", type=int, default=3, help="each runs every program once")
    parser.add_argument("--seconds", type=float, default=30, help="to measure in each run")
    parser.add_argument("--window-seconds", type=float, default=5, help="of one figure; the first of a run is left out")
    python = HERE / ".venv" / "bin" / "python"
    parser.add_argument("--python", default=str(python), help="the Python that has what requirements.txt here lists")
    parser.add_argument("--json", help="file to write all figures into")
    options = parser.parse_args(arguments[:split])
    options.forwarded = arguments[split + 1 :]
    others = OTHERS[options.algorithm]
    options.against = options.against or list(others)
    if unknown := [name for name in options.against if name not in others]:
        raise ConfigError(
            f"--against {unknown[0]}: with --algorithm {options.algorithm} there are {', '.join(others)}."
        )
    python = shutil.which(options.python)
    if python is None:
        raise ConfigError(
            f"There is no {options.python}: start tests/benchmarks/run.sh, or name a Python with --python."
        )
    options.python = os.path.abspath(python)
    for name, least in (("rounds", 1), ("window_seconds", 0.1), ("seconds", options.window_seconds)):
        if getattr(options, name) < least:
            raise ConfigError(f"--{name.replace('_', '-')} {getattr(options, name):g}: give {least:g} at the least.")
    kind, _ = environments.resolve(options.game)
    if kind != "atari":
        raise ConfigError(f"The other programs play Atari games, and {options.game} is none.")
    if options.json:
        try:
            Path(options.json).touch()  # to know it before anything is measured
        except OSError as error:
            raise ConfigError(f"Cannot write {options.json}: {error.strerror}.") from error
    return options


def run(arguments: list[str]) -> int:
    options = parse(arguments)
    programs = {OURS: lambda: measure_ours(options)}
    others = [(key, *program) for key in dict.fromkeys(options.against) for program in OTHERS[options.algorithm][key]]
    for key, script, games, more in others:
        # This, too, is better known before.
        _output(f"{script} in {options.python}", [options.python, str(HERE / script), "--help"], _bare_environment())
        arguments_of_it = script, games, more, options
        programs[f"{key}, {games} games"] = lambda them=arguments_of_it: measure_other(*them)

    rounds: Rounds = {name: [] for name in programs}
    network = "dqn" if options.algorithm == "dqn" else options.network
    print(f"{options.game}, {network} network. Load of the machine before: {os.getloadavg()[0]:.2f}.", flush=True)
    for number in range(options.rounds):
        order = list(programs) if number % 2 == 0 else list(programs)[::-1]  # a slow drift then hits all alike
        for name in order:
            rounds[name].append(programs[name]())
            print(f"Round {number + 1}: {name}: {rounds[name][-1].median:,.0f} steps/s", flush=True)
    print(f"\n{table(rounds)}")
    if options.json:
        Path(options.json).write_text(json.dumps(result(options, rounds), indent=2) + "\n", encoding="utf-8")
    return 0


def main() -> int:
    try:
        return run(sys.argv[1:])
    except ConfigError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception: what runs is ended, its directory removed
    sys.exit(main())
