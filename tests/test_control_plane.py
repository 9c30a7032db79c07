"""Ray's own processes, in a process that Ray may end: one start of a real Ray, without pods, and many looks at it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.program import HANG_SECONDS, ROOT

pytest.importorskip("ray", reason="run tests/run.sh, which installs Ray")

import ray
from ray import _raylet

from ga3c.cluster import access, connection, ray_session
from ga3c.errors import ConfigError

SCRIPT = """
import json, os, signal, time
import psutil, ray
from ga3c.cluster import connection, control_plane
from ga3c.cluster.control_plane import ControlPlane, RayletDied

found = {"said": connection.join("local", 1)}
control = ControlPlane()
found["nodes"], found["well"] = len(control.nodes), control.fault()
found["got"] = control.get(ray.put("something"))

class Actor:
    def called(self):
        return 1

@ray.remote
def marker():
    return 1

actor = connection.as_actor(Actor, num_cpus=0).remote()
ray.get([actor.called.remote() for _ in range(20)] + [marker.remote()])
events = []
while not any("marker" in one for one in events):
    events = [str(one) for one in ray._private.state.state._get_all_task_events()]
found["events"] = sum("called" in one for one in events)
family = psutil.Process().children(recursive=True)
lines = [line for one in [psutil.Process(), *family] for line in one.net_connections() if line.status == "LISTEN"]
found["ports"] = sorted({line.laddr.ip.removeprefix("::ffff:") for line in lines})

def kill(name):
    [one for one in family if one.name() == name][0].kill()

def wait_for_fault(other=""):
    while (fault := control.fault()) == other:
        time.sleep(0.1)
    return fault

control_plane.SILENCE_SECONDS = 1.0
kill("gcs_server")
found["silent"] = wait_for_fault()
found["still"] = control.get(ray.put("more"))
kill("raylet")
found["died"] = wait_for_fault(found["silent"])
try:
    control.check_store()
except RayletDied as error:
    found["store"] = str(error)
control.end()
connection.leave()
found["joined"] = ray.is_initialized()
found["left"] = sorted(os.listdir(os.environ["TMPDIR"] + "/ray"))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with tempfile.TemporaryDirectory(prefix="ga3c-") as temporary:  # its path is short: sockets lie there
        for name, mark in (("session_killed", ray_session.MARK), ("session_of_others", "logs")):
            folder = Path(temporary) / "ray" / name
            folder.mkdir(parents=True)
            (folder / mark).touch()
        ended = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=HANG_SECONDS,
            cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(home), "TMPDIR": temporary},
        )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads(ended.stdout.splitlines()[-1]) | {"home": home, "stderr": ended.stderr}


def test_a_silent_gcs_is_a_fault_while_the_store_is_still_there(found):
    assert (found["nodes"], found["well"], found["got"]) == (1, "", "something")
    assert found["silent"].startswith("Ray's GCS, on the cluster's first machine, has not answered for")
    assert found["still"] == "more"


def test_the_store_is_left_alone_when_the_raylet_has_died_and_ray_is_left(found):
    assert found["died"] == "Ray's raylet on this machine has died."
    assert found["store"] == "Ray's raylet on this machine has died"
    assert not found["joined"]


def test_the_folder_of_a_session_goes_with_it_and_so_do_those_of_killed_ones(found):
    assert found["left"] == ["session_of_others"]


def test_no_events_of_an_actors_calls_are_kept(found):
    assert found["events"] == 0


def test_a_local_start_listens_for_this_machine_alone_and_nobody_else_reads_its_token(found):
    assert found["ports"] == ["127.0.0.1"]
    assert (found["home"] / ".ray" / "auth_token").stat().st_mode & 0o777 == 0o600
    assert found["said"].endswith("cores for pods.")


def test_why_a_local_ray_did_not_start_is_seen(monkeypatch, tmp_path, capfd):
    def dies(**_):
        os.write(2, b"said by Ray before it ends the process")
        raise Exception("the node timed out")  # as Ray does

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(ray, "init", dies)
    with pytest.raises(ConfigError, match="Cannot join --cluster local: the node timed out"):
        connection.join("local", 1)
    assert capfd.readouterr().err == "said by Ray before it ends the process"


def test_a_token_that_others_can_read_is_closed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    access.keep_token()  # there is none
    token = tmp_path / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text("secret")
    token.chmod(0o644)
    access.keep_token()
    assert token.stat().st_mode & 0o777 == 0o600


def test_it_is_said_when_ray_asks_for_no_token(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setattr(_raylet, "get_authentication_mode", lambda: _raylet.AuthenticationMode.DISABLED)
    assert "Ray asks nobody for a token (RAY_AUTH_MODE=disabled): whoever reaches" in access.warning()
    monkeypatch.setattr(_raylet, "get_authentication_mode", lambda: _raylet.AuthenticationMode.TOKEN)
    assert access.warning() == ""


def test_a_session_has_its_mark_once_that_is_locked(tmp_path, monkeypatch):
    """Another start that found it before would take the session for that of a killed program."""
    folder, seen = tmp_path / "session_mine", []
    folder.mkdir()
    lock = ray_session.fcntl.flock

    def locked(file, kind):
        seen.append((folder / ray_session.MARK).exists())
        lock(file, kind)

    monkeypatch.setattr(ray_session.fcntl, "flock", locked)
    ray_session.keep(folder)
    assert seen == [False, True]  # the second look is its own, in vain
    assert folder.exists()
    ray_session.end(folder)
    assert not folder.exists()
