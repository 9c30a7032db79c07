"""What does not fit is said before the start, with what would."""

import os
import resource
import subprocess
from types import SimpleNamespace

import pytest

from ga3c import machine
from ga3c.errors import ConfigError
from tests import program


def machine_with(monkeypatch, shared=10**12, memory=10**12, files=10**6):
    monkeypatch.setattr(machine, "shared_memory_free", lambda: shared)
    monkeypatch.setattr(machine, "memory_available", lambda: memory)
    monkeypatch.setattr(machine, "raise_file_limit", lambda: files)


SCARCE = [
    ({"shared": 64_000_000}, "shared memory", 9),
    (
        {"memory": machine.SERVER_BYTES + 2 * (7_000_000 + machine.AGENT_BYTES + 16 * machine.GAME_BYTES)},
        "memory",
        2,
    ),
    ({"files": machine.FILES + 3 * machine.FILES_PER_AGENT}, "file handles", 3),
]


@pytest.mark.parametrize(("little", "what", "fit"), SCARCE)
def test_the_number_that_would_fit(monkeypatch, little, what, fit):
    machine_with(monkeypatch, **little)
    assert machine.check_agents_fit(fit, 7_000_000, 16) == fit
    with pytest.raises(
        ConfigError, match=rf"{what}.* for {fit} agents of 16 games, not for {fit + 1}: try --agents {fit}"
    ):
        machine.check_agents_fit(fit + 1, 7_000_000, 16)


def test_not_even_one(monkeypatch):
    machine_with(monkeypatch, shared=1)
    with pytest.raises(ConfigError, match=r"for 0 agents.*fewer --envs-per-agent"):
        machine.check_agents_fit(1, 7_000_000, 16)


def test_this_machine_is_asked(monkeypatch):
    assert machine.memory_available() > 100_000_000
    free = SimpleNamespace(f_bavail=10, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda path: free if str(path) == "/dev/shm" else None)
    assert machine.shared_memory_free() == 40_960


def test_too_few_file_handles_are_seen_before_the_start(tmp_path):
    arguments = program.command(
        *program.TINY[:2], "--agents", "100", "--envs-per-agent", "16", "--run-dir", str(tmp_path / "run")
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 260))

    ended = subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        timeout=program.HANG_SECONDS,
        cwd=program.ROOT,
        preexec_fn=limit,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(
        "ga3c: This machine has file handles (ulimit -n) for 10 agents of 16 games, not for 100"
    )
    assert not (tmp_path / "run").exists()
