"""Ray's own processes, in a process that Ray may end: one start of a real Ray, without pods, and many looks at it."""

import json
import os
import subprocess
import sys

import pytest

from tests.program import HANG_SECONDS, ROOT

pytest.importorskip("ray", reason="run tests/run.sh, which installs Ray")

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
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=HANG_SECONDS, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(home)},
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


def test_no_events_of_an_actors_calls_are_kept(found):
    assert found["events"] == 0
