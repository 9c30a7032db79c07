"""Experiments: many training runs, each made once, in a process and a directory of its own."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, TypeVar

from ga3c.errors import ConfigError
from ga3c.installation import check_ray
from ga3c.records import checkpoint, run_directory
from ga3c.records.csv_reading import read_csv
from ga3c.records.files import GrowingFile, open_to_write, read_json, reason, write_whole
from ga3c.records.lock import is_locked, take
from ga3c.text import count, duration

OUTPUT = "output.txt"  # in the directory of a run: what it prints
FINISHED = "finished.json"  # lies in the directory of a finished run and says how it was made
BEGUN = "begun.json"  # the same of an unfinished one
LIMITS = ("seconds", "steps")  # may be others when a run goes on
START_SECONDS = 10.0  # about what a run takes besides its time of training
STOP_SECONDS = 20.0  # what an interrupted run gets to end by itself
Found = TypeVar("Found")  # what a finished run came to


def child_environment() -> dict[str, str]:
    """For a program of ours that this one starts: it ends when this one does, however that ends (`__main__`)."""
    return os.environ | {"GA3C_PARENT": str(os.getpid())}


class RunFailed(Exception):
    """A training run ended with an error; the text is for the user."""


class Run(Protocol):
    """A training run of an experiment: a dataclass whose fields say how it is made."""

    seconds: float  # of training
    log_seconds: float  # between two rows of its throughput.csv
    goes_on: bool  # where it was interrupted, and a finished one keeps its weights; else it is made again

    @property
    def name(self) -> str: ...

    def command(self, directory: Path) -> list[str]: ...


def train_command(directory: Path, game: str, seed: int, flags: Iterable[str]) -> list[str]:
    """Returns the command of a training run, which goes on if there is a checkpoint in its directory."""
    if checkpoint.saved(directory / "checkpoints"):
        words = ["--resume", str(directory), "--game", game]
    else:
        words = ["--game", game, "--seed", str(seed), *flags, "--run-dir", str(directory)]
    return [sys.executable, "-m", "ga3c", "train", "--plot-seconds", "0", "--console", "plain", *words]


def directory_of(run: Run, out: Path) -> Path:
    return out / "runs" / run.name


def is_finished(run: Run, out: Path) -> bool:
    """Raises ConfigError where the run was made with other settings."""
    return _says_the_same(run, directory_of(run, out) / FINISHED)


def _says_the_same(run: Run, file: Path, but: tuple[str, ...] = ()) -> bool:
    """Returns whether there is such a file. Raises ConfigError where it has other settings than the run."""
    if not file.exists():
        return False
    if not isinstance(saved := read_json(file), dict):
        raise ConfigError(f"Cannot read {file}: it is no description of a run.")
    asked = json.loads(json.dumps(asdict(run)))  # a tuple is a list there
    if asked | {name: value for name, value in saved.items() if name not in but} != asked:
        raise ConfigError(f"{file.parent} was made with other settings: name another directory with --out.")
    return True


def perform(runs: list[Run], out: Path, machines: str | None = None) -> None:
    """Makes those of the runs that are not finished; one that was interrupted goes on, or is made again.

    The order is shuffled, and always the same: a slow phase of the machine shall not hit neighbouring settings.
    machines: the address of a cluster, each of whose machines makes one run after the other; None: this one makes all.
    Raises ConfigError, or RunFailed.
    """
    with alone(out):
        _perform(runs, out, machines)


def results(
    runs: Iterable[Run], out: Path, read: Callable[[Run, Path], Found], machines: str | None = None
) -> dict[Run, Found]:
    """Makes the runs that are not finished; returns what `read(run, out)` finds in each. `machines`, and what it
    raises: as `perform`."""
    runs = list(runs)
    perform(runs, out, machines)
    return {run: read(run, out) for run in runs}


@contextlib.contextmanager
def alone(out: Path):
    """Two starts in one directory would take each other's unfinished runs away."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = os.open(out / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        take(lock)
    except BlockingIOError:
        raise ConfigError(f"Another start makes runs in {out}: wait for it, or name another --out.") from None
    except OSError as error:
        raise ConfigError(f"Cannot write to {out}: {error.strerror}.") from error
    try:
        yield
    finally:
        os.close(lock)


def _perform(runs: list[Run], out: Path, machines: str | None) -> None:
    run_directory.check_apart([run.name for run in runs])
    order = random.Random(1).sample(runs, len(runs))
    todo = [run for run in order if not is_finished(run, out)]
    begun = [run for run in todo if directory_of(run, out).exists()]
    for run in filter(lambda run: run.goes_on, begun):
        _says_the_same(run, directory_of(run, out) / BEGUN, but=LIMITS)
    finished = f"{len(runs) - len(todo)} of {count(len(runs), 'run')} {'is' if len(runs) == 1 else 'are'} finished"
    print(f"{finished} in {out}{f', {len(begun)} unfinished' if begun else ''}.", flush=True)
    if machines and todo:
        check_ray("--machines")
        from ga3c.cluster import machines as others  # here: it loads Ray

        out = out.resolve()  # their working directories are others
        jobs = {run.name: (run, directory_of(run, out)) for run in todo}
        others.perform(machines, out, jobs, _make, lambda line: print(line, flush=True))
        return
    for number, run in enumerate(todo, start=1):
        left = sum(later.seconds + START_SECONDS for later in todo[number - 1 :])
        print(f"[{number}/{len(todo)}, about {duration(left)} left] {run.name}", flush=True)
        _make(run, directory_of(run, out))


def _wait_until_left(directory: Path) -> None:
    """A killed start leaves a run that still saves itself. Raises ConfigError where it goes on training."""
    deadline = time.monotonic() + STOP_SECONDS
    while is_locked(directory):
        if time.monotonic() > deadline:
            raise ConfigError(f"Another process trains in {directory}: stop it first, or name another --out.")
        time.sleep(0.1)


def start(command: list[str], output: Path) -> subprocess.Popen:
    """Starts a program of ours that prints into a file.

    It has a session of its own: Ctrl-C reaches this process, which passes it on once. Raises ConfigError.
    """
    try:
        opened = open_to_write(output, os.O_WRONLY)
    except OSError as error:
        raise ConfigError(f"Cannot write to {output}: {reason(error)}.") from error
    with open(opened, "wb") as file:
        file.truncate(0)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            env=child_environment(),
        )


def stop(process: subprocess.Popen) -> None:
    """Stops a training run, which saves itself, and kills it if that takes too long."""
    process.send_signal(signal.SIGINT)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
    finally:
        process.kill()


def refusal_in(output: Path) -> str:
    """Returns the line in which a program of ours has said why it cannot do what was asked."""
    return output.read_text(encoding="utf-8").strip().rpartition("ga3c: ")[2]


class Stopped(Exception):
    """A run on another machine was stopped before its end."""


def _make(run: Run, directory: Path, stopped: Callable[[], bool] = lambda: False) -> None:
    """Makes a run, or goes on with it. Raises ConfigError, RunFailed, and Stopped soon after it is `stopped`."""
    _wait_until_left(directory)
    if (directory / "config.json").exists() and not (run.goes_on and checkpoint.saved(directory / "checkpoints")):
        shutil.rmtree(directory)
    directory.mkdir(parents=True, exist_ok=True)
    begun, output = directory / BEGUN, directory / OUTPUT
    write_whole(begun, json.dumps(asdict(run), indent=2) + "\n")
    process = start(run.command(directory), output)
    try:
        _wait(process, run, directory, stopped)
    except BaseException:
        stop(process)
        raise
    if process.returncode == 2:  # a setting that train refuses
        refusal = refusal_in(output)
        output.unlink()
        if not (directory / "config.json").exists():  # else it is a run that goes on when the reason is gone
            begun.unlink()
            with contextlib.suppress(OSError):
                directory.rmdir()
        raise ConfigError(refusal)
    if process.returncode:
        raise RunFailed(f"{run.name} failed with status {process.returncode}; its output is in {output}")
    for name in ("tensorboard", *(() if run.goes_on else ("checkpoints",))):
        shutil.rmtree(directory / name, ignore_errors=True)
    output.unlink(missing_ok=True)
    begun.replace(directory / FINISHED)


def _wait(process: subprocess.Popen, run: Run, directory: Path, stopped: Callable[[], bool]) -> None:
    """Until the run has ended; writes how busy the GPU is, where there is one, into gpu.csv."""
    has_gpu = shutil.which("nvidia-smi") is not None
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(run.log_seconds)
            return
        if stopped():
            raise Stopped
        rows = read_csv(directory / "throughput.csv") if has_gpu else {}
        if len(rows.get("seconds", ())) and (percent := _gpu_percent()) is not None:
            row = f"{rows['seconds'][-1]:.2f},{percent:g}\n"
            with contextlib.suppress(OSError):  # training is worth more than this row
                GrowingFile(directory / "gpu.csv", durable=False).append(row.encode(), b"seconds,gpu_percent\n")


def _gpu_percent() -> float | None:
    """Time in which the GPU worked, of the last second or so; of the busiest GPU. None: it does not say."""
    query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
        return max(float(line) for line in answer.splitlines())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
