"""Checks what this machine has for training, and measures what it reaches: python -m ga3c doctor."""

import csv
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from ga3c import machine
from ga3c.commands.command_line import parse
from ga3c.errors import ConfigError
from ga3c.installation import IS_INSTALLED, check_ray
from ga3c.machine import usable_cores
from ga3c.progress import counts_of
from ga3c.records import run_directory
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype, slots_needed
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.presets import USUAL_FOR_ATARI, with_presets
from ga3c.settings.run import Settings
from ga3c.text import count

DESCRIPTION = """Checks Python, packages, GPU, memory, cores, display and disk, and trains twice for some seconds
to see what this machine reaches, and with which system. Each line that finds something says what to do."""
ROOT = Path(__file__).resolve().parent.parent.parent
REQUIREMENTS, SETUP = ROOT / "requirements.txt", ROOT / ".setup.sh"
LITTLE_DISK = 2_000_000_000  # bytes
MEASURED_SECONDS, NOISE = 20.0, 0.05  # each system is measured for half of it; a difference below this says nothing


@dataclass(frozen=True)
class DoctorOptions:
    measure: bool = True
    """Train twice for some seconds, with agents and with all games in one batch, to see what this machine reaches."""
    cluster: str | None = None
    """Check a cluster in place of this machine (local, auto or an address, as for training): its nodes, their versions,
    and the speed of a call to each."""


class Finding(NamedTuple):
    well: bool
    text: str
    advice: str = ""


def python() -> Finding:
    version, bits = platform.python_version(), 8 * struct.calcsize("P")
    if IS_INSTALLED:
        least, end = sorted(map(int, re.findall(r"3\.(\d+)", metadata.metadata("ga3c")["Requires-Python"])))
        known, how = [f"3.{minor}" for minor in reversed(range(least, end))], "install ga3c there"
    else:
        known = re.search(r"^versions='([\d. ]+)'", SETUP.read_text(encoding="utf-8"), re.MULTILINE)[1].split()
        how = "PYTHON=/path/to/python3 ./run.sh"
    fits = version.rpartition(".")[0] in known and bits == 64
    advice = "" if fits else f"name a 64-bit Python {known[-1]} to {known[0]}: {how}"
    return Finding(fits, f"{version}, {bits} bits, {sys.executable}", advice)


def system() -> Finding:
    """Finds what this system lacks beside Linux, and what that costs."""
    costs = {
        "it cannot end what a game has started when its agent is killed": sys.platform == "linux",
        "a run that is moved is not kept from a second start": sys.platform == "linux",
        "a busy agent is not told from one that hangs (no /proc)": machine.core_seconds(os.getpid()) is not None,
        "free memory is not known": machine.memory_available() is not None,
    }
    lacks = [cost for cost, is_there in costs.items() if not is_there]
    return Finding(True, "; ".join([f"{platform.system()}, {platform.machine()}", *lacks]))


def packages() -> Finding:
    """Compares the installed packages, with all their files, with requirements.txt. An installed package has no list:
    it is asked what it needs."""
    pins = _needed() if IS_INSTALLED else _pinned()
    others = []
    for name, version in pins.items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = "missing"
        if found != (version or found) or found == "missing":
            others.append(f"{name} {found}, not {version}" if version else f"{name} is missing")
        elif gone := _missing_file(name):
            others.append(f"{name} lacks {gone}")
    if others:
        advice = "pip install --force-reinstall ga3c" if IS_INSTALLED else "delete .venv and start ./run.sh again"
        return Finding(False, "; ".join(others), advice)
    return Finding(True, f"all {len(pins)} are there" if IS_INSTALLED else f"all {len(pins)} as in requirements.txt")


def _pinned() -> dict[str, str]:
    """Returns the versions in requirements.txt by package."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE))


def _needed() -> dict[str, str]:
    """Returns the packages that the installed package needs, without those of its extras; any version will do."""
    needed = [one for one in metadata.requires("ga3c") or () if "extra ==" not in one]
    return {re.match(r"[\w.-]+", one)[0]: "" for one in needed}


def _missing_file(package: str) -> str:
    """Returns a file of an installed package that is not there; "" if there is none.

    It reads the package's RECORD itself: `files` of Python 3.12 and later leaves out what is missing."""
    installed = metadata.distribution(package)
    for name, *_ in csv.reader((installed.read_text("RECORD") or "").splitlines()):
        if not name.endswith(".pyc") and not Path(installed.locate_file(name)).exists():
            return name
    return ""


def gpu() -> Finding:
    said = _output("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    if said is None:
        return Finding(True, "no NVIDIA GPU (nvidia-smi does not answer): the model runs on the cores")
    code = "import ga3c.devices.device as d; print(len(d.tf.config.list_physical_devices('GPU')))"
    seen = _output(sys.executable, "-c", code)
    if re.fullmatch(r"[1-9]\d*", seen or ""):
        return Finding(True, said.replace("\n", "; "))
    advice = "delete .venv and start ./run.sh again: it installs CUDA; if that does not help, update the driver"
    return Finding(False, f"{said}, but TensorFlow does not find it", advice)


def cores() -> Finding:
    return Finding(True, f"{usable_cores()} of {os.cpu_count()} usable")


def memory() -> Finding:
    """Finds how many agents of the default size each resource of this machine is enough for."""
    usual = with_presets(Settings(), USUAL_FOR_ATARI, None)
    schedule, learning, seen = usual.schedule, usual.learning, usual.environment
    shape = (seen.frame_size_pixels, seen.frame_size_pixels, seen.frame_stack)
    pong = EnvironmentSpec("Pong", shape, "uint8", discrete(6), seen.frame_skip_frames)
    slots = slots_needed(learning.t_max, schedule.envs_per_agent, learning.minimum_batch_steps)
    slots_bytes = slots * rollout_dtype(pong, learning.t_max, schedule.envs_per_agent).itemsize
    fit = machine.agents_that_fit(slots_bytes, schedule.envs_per_agent)
    text = ", ".join(f"{what} for {count(agents, 'agent')}" for what, agents in fit.items())
    short = [machine.REMEDIES[what] for what, agents in fit.items() if agents < 2 * usable_cores()]
    return Finding(not short, text, "; ".join(short))


def display() -> Finding:
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return Finding(True, "there is one: ./play.sh opens a window")
    return Finding(True, "none: ./play.sh plays in the terminal, or records a video")


def ffmpeg() -> Finding:
    import imageio_ffmpeg

    try:
        return Finding(True, imageio_ffmpeg.get_ffmpeg_version())
    except RuntimeError as error:
        return Finding(False, str(error).splitlines()[0], "install ffmpeg, or record a .gif: ./play.sh --record a.gif")


def disk() -> Finding:
    results = run_directory.RESULTS
    free = shutil.disk_usage(results.parent).free
    if not os.access(results if results.exists() else results.parent, os.W_OK):
        return Finding(False, f"{results} cannot be written", "name another place with --run-dir")
    advice = "" if free > LITTLE_DISK else "make room, or name another place with --run-dir"
    return Finding(not advice, f"{free / 1e9:.0f} GB free for {results}", advice)


def speed() -> Finding:
    """Measures training with GA3C's agents, and with as many games as one batch."""
    from ga3c.experiments.benchmark import BenchmarkOptions, measure_run

    print("    Training twice, to measure the speed: about a minute (--no-measure leaves it out) ...", flush=True)
    usual, batched = (with_presets(Settings(), preset, None) for preset in (USUAL_FOR_ATARI, "ppo"))
    games = usual.schedule.games_of(counts_of(usual).agents)
    schedules = replace(usual.schedule, controller="off"), replace(batched.schedule, games=games)
    try:
        measured = (
            measure_run(BenchmarkOptions(one.environment, schedule, one.learning, seconds=MEASURED_SECONDS))
            for one, schedule in zip((usual, batched), schedules, strict=True)
        )
        agents, batch = (one["frames_per_second"] / usual.environment.frame_skip_frames for one in measured)
    except ConfigError as error:
        return Finding(False, str(error), "see what ./run.sh --game Pong says")
    return Finding(True, said_of_speed(agents, batch, games))


def said_of_speed(agents: float, batch: float, games: int) -> str:
    """Returns a sentence about the steps per second of both systems."""
    steps, names = max(agents, batch), ["agents", "--sampling batched"]
    faster, other = names if agents >= batch else names[::-1]
    much = "about as fast as" if min(agents, batch) > (1 - NOISE) * steps else "faster than"
    frames = EnvironmentSettings().frame_skip_frames * steps
    return (
        f"{steps:,.0f} steps/s of Pong ({frames:,.0f} frames/s, {3600 * steps / 1e6:.1f} million steps an hour), "
        f"controller off: {games} games with {faster}, {much} {other} ({min(agents, batch):,.0f})"
    )


CHECKS: dict[str, Callable[[], Finding]] = {
    "Python": python,
    "system": system,
    "packages": packages,
    "GPU": gpu,
    "cores": cores,
    "memory": memory,
    "display": display,
    "ffmpeg": ffmpeg,
    "disk": disk,
}


def _output(*command: str) -> str | None:
    """Returns what a command prints; None if it fails."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ended.stdout.strip() if ended.returncode == 0 else None


def run(arguments: list[str]) -> int:
    """Returns 1 if something needs to be done."""
    options = parse(DoctorOptions, arguments, DoctorOptions(), DESCRIPTION, "doctor")
    well = True
    for name, finding in _cluster(options.cluster) if options.cluster else _machine(options.measure):
        well &= finding.well
        print(f"{'ok' if finding.well else '!!'}  {name:9} {finding.text}", flush=True)
        if finding.advice:
            print(f"    {'':9} -> {finding.advice}", flush=True)
    return 0 if well else 1


def _machine(measure: bool) -> Iterator[tuple[str, Finding]]:
    for name, check in (CHECKS | ({"speed": speed} if measure else {})).items():
        yield name, check()


def _cluster(where: str) -> Iterator[tuple[str, Finding]]:
    check_ray("--cluster")
    from ga3c.cluster.diagnosis import findings  # it loads Ray

    for found in findings(where):
        yield found.name, Finding(found.well, found.text, found.advice)
