"""A Python that has loaded TensorFlow, and from which the tests fork the program: a start saves three seconds.

It has loaded nothing of ours and has one thread, so the program that it becomes differs in one thing from one that is
started anew: an import of TensorFlow, or of another package in `LOADED`, finds what is loaded. Linux only; where it
cannot be had, `start` returns None.
"""

import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
SERVER = "import sys\nfrom tests import warm\nprogram = warm.serve(int(sys.argv[1]))\nprogram()"
REQUEST_BYTES = 1 << 17
NUMBER = struct.Struct("i")
# Packages that most runs load. What of them is not installed is left out.
LOADED = [
    "tensorflow",
    "tensorboard.summary.v2",
    "tensorboard.compat.tensorflow_stub",
    "tyro",
    "typeguard",
    "gymnasium",
]
LOADED += ["gymnasium.wrappers", "ale_py", "numba", "lz4.frame", "PIL.PngImagePlugin", "matplotlib.pyplot"]
LOADED += ["matplotlib.backends.backend_agg", "asyncio", "multiprocessing.forkserver", "unittest.mock"]
# Python and these packages read these when they start: where one differs, the program is started anew.
READ_AT_START = ("PYTHON", "TF_", "CUDA", "LD_", "LANG", "LC_", "NUMBA_", "MPL", "GYM")
OWN = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", "OPENBLAS_NUM_THREADS": "1"}
AT_START = dict(os.environ)
STARTED: list[subprocess.Popen] = []  # at most one


class Process:
    """A program that was forked, with what the tests use of subprocess.Popen."""

    def __init__(self, answers: socket.socket):
        self.returncode: int | None = None
        self._answers = answers  # the number of its process, then its status
        self.pid = self._answer()

    def _answer(self) -> int:
        answer = self._answers.recv(NUMBER.size)
        assert answer, "the Python that the program was forked from has ended"
        return NUMBER.unpack(answer)[0]

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._answers.settimeout(timeout)
            try:
                self.returncode = self._answer()
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout) from None
            self._answers.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def start(arguments: list[str], code: str, out: int, errors: int, **how) -> Process | None:
    """Forks the program with these files as its stdout and stderr. `code` runs before it.

    `how` is its environment (`env`), its directory (`cwd`), and whether it has a session of its own (`new_session`).
    None: it cannot be forked as asked.
    """
    if _read_at_start(how["env"]) != _read_at_start(AT_START) or not (server := _server()):
        return None
    request = json.dumps({"arguments": arguments, "code": code, **how}).encode()
    assert len(request) < REQUEST_BYTES
    own, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(server, [request], [theirs.fileno(), out, errors])
    return Process(own)


def _read_at_start(environment: dict[str, str]) -> dict[str, str]:
    given = environment | {name: OWN[name] for name in OWN if environment.get(name, OWN[name]) == OWN[name]}
    return {name: text for name, text in given.items() if name.startswith(READ_AT_START)}


@functools.cache
def _server() -> socket.socket | None:
    """Starts the Python that is forked; it ends with this process. None where it has more than one thread."""
    if not hasattr(os, "pidfd_open"):
        return None
    own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-c", SERVER, str(theirs.fileno())]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with theirs:
        STARTED.append(subprocess.Popen(command, cwd=ROOT, env=AT_START | OWN, pass_fds=[theirs.fileno()], **quiet))
    return own if own.recv(1) else None


def serve(number: int) -> Callable[[], None]:
    """Loads packages, and forks at each request. Returns in the child: what makes it the program."""
    gc.disable()  # as `ga3c.devices.device` does it
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    if len(os.listdir("/proc/self/task")) > 1:
        sys.exit("A package has left a thread: a fork is not safe.")
    requests, ready = socket.socket(fileno=number), selectors.DefaultSelector()
    requests.send(b".")
    ready.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is not requests:
                ready.unregister(key.fileobj)
                _tell_status(key.fileobj, *key.data)
                continue
            request, files, *_ = socket.recv_fds(requests, REQUEST_BYTES, 3)
            if not request:
                os._exit(0)
            child = os.fork()
            if not child:
                os.dup2(files[1], 1)
                os.dup2(files[2], 2)
                ready.close()
                requests.detach()
                os.closerange(3, 1 << 16)
                return functools.partial(_become, **json.loads(request))
            ready.register(os.pidfd_open(child), selectors.EVENT_READ, (child, files[0]))
            os.write(files[0], NUMBER.pack(child))
            for file in files[1:]:
                os.close(file)


def _tell_status(watched: int, child: int, answers: int) -> None:
    os.close(watched)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(answers, NUMBER.pack(status))
    os.close(answers)


def _become(arguments: list[str], code: str, env: dict[str, str], cwd: str, new_session: bool) -> None:
    """Runs `python -m ga3c ARGUMENTS`, or `python -c CODE ARGUMENTS`, in this process."""
    if new_session:
        os.setsid()
    gc.enable()
    for name, file in (("stdout", 1), ("stderr", 2)):  # what Python made of the files that it was started with
        kind = getattr(sys, name)
        stream = open(file, "w", encoding=kind.encoding, errors=kind.errors, newline="\n", closefd=False)  # noqa: SIM115
        stream.reconfigure(line_buffering=name == "stderr" or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # it is of this environment
    main = sys.modules["__main__"].__dict__
    for name in ("warm", "program"):
        del main[name]
    for name in ("tests", "tests.warm"):
        del sys.modules[name]
    sys.argv[1:] = arguments
    if code:
        exec(compile(code, "<string>", "exec"), main)
    else:
        if not getattr(sys.flags, "safe_path", False):
            sys.path[0] = os.getcwd()
        runpy._run_module_as_main("ga3c")
