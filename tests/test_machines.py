"""Whole training runs on the machines of a cluster: a real Ray, one of whose machines is lost."""

import contextlib
import os
import subprocess
import sys

import psutil
import pytest

from tests import program
from tests.chaos_nodes import AUTHENTICATION, Nodes
from tests.program import Started

pytest.importorskip("ray", reason="run tests/run.sh, which installs Ray")

from ga3c.cluster import machines
from ga3c.errors import ConfigError

GAME = "tests.tiny_environment:Match-v0"
WORDS = ["zoo", GAME, "--minutes", 5, "--episodes", 1, "--agents", 1, "--envs-per-agent", 4, "--controller", "off"]

JOIN = """
import sys
from ga3c.cluster import connection
from ga3c.errors import ConfigError
try:
    connection.join(sys.argv[1], 1)
except ConfigError as error:
    print(error)
"""


def workers() -> list[psutil.Process]:
    """Those that make runs, on all nodes of this machine."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, IndexError):
            if process.cmdline()[0].startswith("ray::_Worker"):
                found.append(process)
    return found


def test_two_machines_make_two_runs_one_of_them_is_lost_and_no_stranger_joins(tmp_path, monkeypatch):
    for name, value in AUTHENTICATION.items():
        monkeypatch.setenv(name, value)
    nodes, out = Nodes(2, 1, tmp_path, dict(os.environ)), tmp_path / "zoo"
    try:
        nodes.wait_for_all()
        stranger = subprocess.run(
            [sys.executable, "-c", JOIN, nodes.address], capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(program.ROOT), "RAY_AUTH_TOKEN": "another"},
            timeout=program.HANG_SECONDS,
        )  # fmt: skip
        refused = f"Cannot join --cluster {nodes.address}: it asks for another token than the one here."
        assert stranger.stdout.startswith(refused), stranger.stdout + stranger.stderr
        assert len((stranger.stdout + stranger.stderr).splitlines()) == 1
        words = [*WORDS, "--seeds", 2, "--steps", 1_000, "--machines", nodes.address, "--out", out]
        started = Started(tmp_path / "log", *words)

        def lines(of: str) -> list[str]:
            return [line for line in started.log.read_text().splitlines() if of in line]

        started.wait_for(lambda: len(lines(" on ")) == 3)  # the first line says which games
        workers()[0].kill()  # for want of memory, say: its machine is still there
        started.wait_for(lambda: len(lines(" on ")) == 4)
        nodes.kill(0)
        started.wait_for(lambda: len(lines("is lost: Match-v0")) == 2)
        assert started.process.wait(program.HANG_SECONDS) == 0, started.log.read_text()
        assert len(lines(" on ")) == 5  # two runs began twice, or one three times
        assert len(list(out.glob("runs/*/finished.json"))) == 2
        assert "Match-v0" in (out / "zoo.md").read_text()
        assert not (out / ".machines").exists()
    finally:
        nodes.stop()


def test_machines_that_are_not_there_are_one_line(tmp_path):
    ended = program.run(*WORDS, "--machines", "127.0.0.1:1", "--out", tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert "Cannot join --machines 127.0.0.1:1: nothing answers" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_the_mark_in_the_shared_folder_follows_no_link(tmp_path, monkeypatch):
    victim = tmp_path / "somebody's"
    victim.write_text("precious")
    (tmp_path / machines.MARK).symlink_to(victim)
    monkeypatch.setattr(machines.connection, "join", lambda *_: "")
    monkeypatch.setattr(machines.connection, "nodes_alive", list)
    with pytest.raises(ConfigError, match="No machine of --machines auto can be used"):
        machines.perform("auto", tmp_path, {"run": ()}, None, print)
    assert victim.read_text() == "precious"
    assert not (tmp_path / machines.MARK).is_symlink()
