"""What is Linux's alone is taken away: a run trains, stops and goes on as on macOS.

It is Linux all the same: what only macOS does differently in its kernel and its libraries, this does not show.
"""

import os
import sys

import pytest

from ga3c import machine
from ga3c.commands import doctor
from ga3c.records import checkpoint
from tests import program
from tests.variants import variants

# Python runs it in each process before anything else. What only ga3c asks is answered as macOS would: the libraries
# are those of this system.
NOT_LINUX = """
import ctypes, io, multiprocessing.context, multiprocessing.heap, multiprocessing.util, os, socket, sys, types

class Sys(types.ModuleType):
    @property
    def platform(self):
        if self is not sys:  # importlib makes modules of the type that sys has
            return vars(self)["platform"]
        asks = sys._getframe(1).f_globals.get("__name__") or ""
        return "darwin" if asks.partition(".")[0] == "ga3c" else "linux"

def without(function):
    def call(path, *arguments, **options):
        if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(("/proc", "/dev/shm", "/sys/fs")):
            raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
        return function(path, *arguments, **options)
    return call

def named(function):
    def call(self, address):
        if isinstance(address, (str, bytes)) and address[:1] in ("\\0", b"\\0"):
            raise OSError(22, "Invalid argument")
        return function(self, address)
    return call

def no_prctl(function):
    def look(self, name):
        if name == "prctl":
            raise AttributeError(name)
        return function(self, name)
    return look

sys.__class__ = Sys
for name in ("stat", "statvfs", "open", "listdir", "scandir", "access"):
    setattr(os, name, without(getattr(os, name)))
io.open = without(io.open)
socket.socket.bind = named(socket.socket.bind)
ctypes.CDLL.__getattr__ = no_prctl(ctypes.CDLL.__getattr__)
for name in ("sched_getaffinity", "sched_setaffinity", "pipe2", "memfd_create", "eventfd", "pidfd_open", "fdatasync",
             "posix_fallocate", "posix_fadvise", "copy_file_range", "sendfile", "setresuid", "getresuid"):
    if hasattr(os, name):
        delattr(os, name)
multiprocessing.util.abstract_sockets_supported = False
multiprocessing.heap.Arena._dir_candidates = []
context = multiprocessing.context
context._default_context._default_context = context._concrete_contexts["spawn"]
"""


@pytest.fixture
def not_linux(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(NOT_LINUX)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{program.ROOT}")


@pytest.mark.parametrize("game", variants(["CartPole-v1", "Pong"], "CartPole-v1"))
def test_without_what_is_linux_alone_a_run_trains_stops_and_goes_on(not_linux, tmp_path, game):
    run_dir = tmp_path / "run"
    options = ["--agents", "2", "--envs-per-agent", "4", "--controller", "off", "--log-seconds", "0.5"]
    started = program.Started(tmp_path / "log", "--game", game, "--run-dir", run_dir, *options)
    started.wait_for(lambda: any(float(row["trained_steps"]) > 0 for row in program.rows(run_dir / "throughput.csv")))
    assert started.stop() == 130, started.log.read_text()
    assert not started.left_over()
    steps = checkpoint.load_newest(run_dir / "checkpoints")[2]["totals"]["steps"]
    ended = program.run("--resume", run_dir, "--steps", steps + 500, env={"PYTHONPATH": os.environ["PYTHONPATH"]})
    assert ended.returncode == 0, ended.stderr
    assert checkpoint.load_newest(run_dir / "checkpoints")[2]["totals"]["steps"] >= steps + 500


def test_doctor_says_what_a_system_lacks_and_what_that_costs(monkeypatch):
    if sys.platform == "linux":
        assert ";" not in doctor.system().text
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(machine, "core_seconds", lambda _process: None)
    monkeypatch.setattr(machine, "memory_available", lambda: None)
    assert doctor.system().text.count(";") == 4
