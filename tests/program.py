"""Runs the program as a person does: `python -m ga3c ...` in a process of its own.

A program that needs TensorFlow is forked from a Python that has loaded it (`tests/warm.py`), where that is the same.
"""

import contextlib
import csv
import io
import itertools
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from ga3c.__main__ import WITHOUT_MODEL
from tests import warm

ROOT = Path(__file__).parent.parent
HANG_SECONDS = 600  # nothing takes so long, on a busy machine neither: who waits for longer waits in vain
LOOKS_APART = 10  # of those at all of a program's processes: a look reads the whole of /proc
# Small and quick: two agents with four games each on the environment of tests/tiny_environment.py.
TINY = ["--game", "tests.tiny_environment:Match-v0", "--agents", "2", "--envs-per-agent", "4"]
TINY += ["--learning-rate", "0.002", "--plot-seconds", "0"]
SLOW = ["--wrapper", "tests.tiny_environment:Slow"]  # for a run that plays while a test waits for something else

STARTED: list[subprocess.Popen | warm.Process] = []  # for those that a failed test leaves behind


# What breaks a part of the program, and then the program.
BROKEN = "{code}\nimport sys\nfrom ga3c.__main__ import main\nsys.exit(main(sys.argv[1:]))"

# A learner that waits for nobody rests before each update: it costs less while a test waits for others.
CALM = """
import time
from ga3c.devices import device
from ga3c.model import Model
train = Model.train
def rest_and_train(self, *arguments):
    time.sleep(0.02)
    return train(self, *arguments)
Model.train = rest_and_train
"""

# A stop that waits for all steps to be trained on, however busy the machine is: none counts as lost.
PATIENT_STOP = f"from ga3c.systems import stations\nstations.STOP_SECONDS = {HANG_SECONDS}\n"


def command(*arguments, code="") -> list[str]:
    """`code` runs before the program: it breaks a part of it."""
    return [sys.executable, *(["-c", BROKEN.format(code=code)] if code else ["-m", "ga3c"]), *map(str, arguments)]


def run(*arguments, timeout=HANG_SECONDS, code="", **options) -> subprocess.CompletedProcess:
    """Runs the program to its end."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    cwd = options.pop("cwd", ROOT)
    if not options and (ended := _run_forked(arguments, code, timeout, environment, cwd)):
        return ended
    return subprocess.run(
        command(*arguments, code=code), capture_output=True, text=True, timeout=timeout, env=environment, cwd=cwd,
        check=False, **options,
    )  # fmt: skip


def _fork(arguments, code, out: int, errors: int, environment, cwd, new_session) -> warm.Process | None:
    words = [str(argument) for argument in arguments]
    if words[:1] and words[0] in WITHOUT_MODEL:
        return None
    code = BROKEN.format(code=code) if code else ""
    return warm.start(words, code, out, errors, env=dict(environment), cwd=str(cwd), new_session=new_session)


def _run_forked(arguments, code, timeout, environment, cwd) -> subprocess.CompletedProcess | None:
    ends = [os.pipe(), os.pipe()]
    process = _fork(arguments, code, ends[0][1], ends[1][1], environment, cwd, new_session=False)
    for _, written in ends:
        os.close(written)
    with ThreadPoolExecutor(2) as pool, open(ends[0][0]) as out, open(ends[1][0]) as errors:
        said = [pool.submit(file.read) for file in (out, errors)]
        if process is None:
            return None
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
        return subprocess.CompletedProcess(arguments, status, *[text.result() for text in said])


def agents(training: int) -> list[psutil.Process]:
    """The agents of a run, oldest first: children of the process that agents are forked from."""
    grandchildren = [p for child in psutil.Process(training).children() for p in child.children()]
    return sorted(grandchildren, key=lambda p: (p.create_time(), p.pid))


def fill(file: int) -> int:
    """Writes into a pipe or a terminal until it takes nothing more. Returns how many bytes that were."""
    own, written = os.open(f"/proc/{os.getpid()}/fd/{file}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY), 0
    with contextlib.suppress(BlockingIOError):
        while True:
            written += os.write(own, b".")
    os.close(own)
    return written


class Started:
    """The program in the background; its output goes to a file."""

    def __init__(self, log: Path, *arguments, code=""):
        self.log = log
        with log.open("w") as out:
            self.process = _fork(arguments, code, out.fileno(), out.fileno(), os.environ, ROOT, new_session=True)
            if self.process is None:
                self.process = subprocess.Popen(
                    command(*arguments, code=code), stdout=out, stderr=subprocess.STDOUT, cwd=ROOT,
                    start_new_session=True,
                )  # fmt: skip
        STARTED.append(self.process)
        self.family: set[psutil.Process] = set()

    def wait_for(self, condition, seconds=HANG_SECONDS):
        """Waits until `condition()` is true, remembering all processes of the program on the way."""
        deadline = time.monotonic() + seconds
        for look in itertools.count():
            if condition():
                break
            assert self.process.poll() is None, f"ended early:\n{self.log.read_text()}"
            assert time.monotonic() < deadline, f"did not happen in time:\n{self.log.read_text()}"
            if look % LOOKS_APART == 0:
                self.look()
            time.sleep(0.05)
        self.look()

    def look(self) -> None:
        try:
            me = psutil.Process(self.process.pid)
            self.family |= {me, *me.children(recursive=True)}
        except psutil.NoSuchProcess:
            pass

    def agents(self) -> list[psutil.Process]:
        return agents(self.process.pid)

    def stop(self, number=signal.SIGINT, timeout=HANG_SECONDS) -> int:
        """Sends a signal to the whole process group, as Ctrl-C does. Returns the exit status."""
        self.look()
        os.killpg(self.process.pid, number)
        return self.process.wait(timeout)

    def left_over(self, seconds=HANG_SECONDS) -> list[psutil.Process]:
        """Processes of the program that do not end."""
        return psutil.wait_procs(self.family, timeout=seconds)[1]


def rows(file: Path) -> list[dict[str, str]]:
    """The rows of a CSV file that are whole; [] as long as there is none. The program may be writing it."""
    if not file.exists():
        return []
    with file.open(newline="") as opened:
        text = opened.read()
    return list(csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline="")))
