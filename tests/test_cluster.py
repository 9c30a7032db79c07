"""Pods: what they send, and a real run over a real Ray that is killed here and there."""

import json
import math
import os
import re
import signal

import numpy as np
import psutil
import pytest

from ga3c.__main__ import main
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.rollout import EnvironmentSpec, Episode, column_axis, discrete, rollout_dtype
from ga3c.views import cluster_view
from tests import program
from tests.chaos_nodes import AUTHENTICATION, Nodes
from tests.program import CALM, TINY, Started
from tests.test_apex import SMALL, books

pytest.importorskip("ray", reason="run tests/run.sh, which installs Ray")

from ga3c.cluster import connection
from ga3c.cluster.packing import pack, unpack

T_MAX, ENVS = 5, 3


@pytest.mark.parametrize(("shape", "dtype", "stack"), [((84, 84, 4), "uint8", 4), ((3,), "float32", 1)])
@pytest.mark.parametrize("length", [1, T_MAX])
def test_what_is_sent_comes_back_as_it_was(shape, dtype, stack, length):
    random = np.random.default_rng(0)
    kind = rollout_dtype(EnvironmentSpec("Test", shape, dtype, discrete(4), 1, stack), T_MAX, ENVS, recurrent_size=6)
    record, other = (np.frombuffer(random.bytes(kind.itemsize), kind).copy()[0] for _ in range(2))
    before = {name: other[name].copy() for name in kind.names}
    packed = pack(record, length, 7, [Episode(2.0, 9)], stack)
    assert (packed.length, packed.transitions, packed.episodes) == (length, 7, (Episode(2.0, 9),))
    unpack(packed, other, stack)
    for name in kind.names:
        rows = slice(length) if column_axis(name) else slice(None)
        assert other[name][rows].tobytes() == record[name][rows].tobytes(), name
        if rows != slice(None):
            assert other[name][length:].tobytes() == before[name][length:].tobytes(), name


def test_each_picture_of_a_stack_is_sent_about_once():
    random = np.random.default_rng(0)
    kind = rollout_dtype(EnvironmentSpec("Test", (84, 84, 4), "uint8", discrete(4), 1, 4), 20, 1)
    record, pictures = np.zeros((), kind), random.integers(256, size=(24, 84, 84), dtype=np.uint8)
    for row in range(20):
        record["observation"][row, 0] = pictures[row : row + 4].transpose(1, 2, 0)
    sent = len(pack(record, 20, 20, [], 4).fields["observation"])
    assert sent < 1.2 * pictures.nbytes < 0.4 * record["observation"].nbytes


def test_another_version_is_one_line():
    ours = connection.versions()
    assert connection.difference(ours, "box") == ""
    assert connection.difference(ours | {"Python": "3.9"}, "box").startswith("The pod on box has Python 3.9, and")


@pytest.mark.parametrize(
    "flags", ["--preset dqn", "--serial", "--preset apex-dqn --steps-per-update 8", "--preset ppo-paper"]
)
def test_what_would_wait_for_others_is_refused(flags):
    with pytest.raises(ConfigError, match="--cluster"):
        parse_settings(["--cluster", "local", *flags.split()])


@pytest.mark.parametrize("flags", [[], ["--cluster", "local", "--preset", "apex-dqn"]])
def test_an_age_limit_is_for_pods_without_a_replay(flags):
    with pytest.raises(ConfigError, match="is for pods without a replay"):
        parse_settings([*flags, "--experience-age-limit-updates", "100"])


def test_what_a_pod_played_too_long_ago_is_lost_and_where_pods_keep_dying_the_run_ends(tmp_path):
    """A pod takes weights twice a second, and many updates are made in that: most of what comes is of older ones."""
    run = tmp_path / "run"
    started = Started(
        tmp_path / "log", "--cluster", "local", "--algorithm", "a2c-vtrace", *TINY, "--agents", 1, "--run-dir", run,
        "--rmsprop-epsilon", 1e-5, "--experience-age-limit-updates", 1, "--log-seconds", 0.5, "--checkpoint-seconds", 1,
        code=CALM + "from ga3c.cluster import pod_pool\npod_pool.DEATHS_LIMIT = 1\n",
    )  # fmt: skip

    def dropped():
        file = run / "cluster.json"
        return json.loads(file.read_text())["lost_to_age"] if file.exists() else 0

    started.wait_for(lambda: dropped() > 100)
    os.kill(pods(started)[0].pid, signal.SIGKILL)
    assert started.process.wait(program.HANG_SECONDS) == 1, started.log.read_text()
    assert "Pods keep dying. The last, pod 0 on " in started.log.read_text()
    assert "Saved in" in started.log.read_text()
    said = re.search(r"([\d,]+) steps of pods were played more than 1 updates ago", started.log.read_text())
    assert said, started.log.read_text()
    totals = books(run)
    assert totals["lost_steps"] >= int(said[1].replace(",", "")) > 100
    assert totals["trained_steps"] > 0


def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    run = tmp_path / "run"
    ended = program.run(*SMALL, "--preset", "apex-dqn", "--cluster", "127.0.0.1:1", "--run-dir", run)
    assert ended.returncode == 2, ended.stderr
    assert "Cannot join --cluster 127.0.0.1:1" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not run.exists()


@pytest.mark.long
def test_the_doctor_looks_at_a_cluster(capsys):
    assert main(["doctor", "--cluster", "local"]) == 0
    found = {line.split()[1]: line for line in capsys.readouterr().out.splitlines()}
    assert list(found) == ["cluster", "node", "versions", "network"]
    assert "as here" in found["versions"]
    assert "MB/s come from a pod there" in found["network"]


def test_the_doctor_finds_no_cluster(capsys):
    assert main(["doctor", "--cluster", "127.0.0.1:1"]) == 1
    assert "nothing answers at" in capsys.readouterr().out


SMALLEST_SHARD = ["--replay-shards", 2, "--replay-minimum-transitions", 400]


@pytest.mark.long
def test_pods_send_to_shards_and_learning_waits_for_one_that_died(tmp_path):
    run = tmp_path / "run"
    started = Started(
        tmp_path / "log", "--cluster", "local", "--preset", "apex-dqn", *SMALL, *SMALLEST_SHARD, "--run-dir", run,
        "--seed", 1, "--checkpoint-seconds", 1, code=CALM,
    )  # fmt: skip

    def updates():
        rows = program.rows(run / "throughput.csv")
        return sum(float(row["updates_per_second"]) > 0 for row in rows)

    started.wait_for(lambda: updates() > 3 and len(actors(started, "Shard")) == 2)
    os.kill(actors(started, "Shard")[0].pid, signal.SIGKILL)
    started.wait_for(lambda: "learning goes on when that has 200" in started.log.read_text())
    before = updates()
    started.wait_for(lambda: len(actors(started, "Shard")) == 2 and updates() > before + 3)
    shards = json.loads((run / "cluster.json").read_text())["shards"]
    assert sorted(shard["starts"] for shard in shards) == [1, 2]
    assert all(shard["size"] > 200 for shard in shards)
    assert cluster_view.read(run).shards == 2
    assert started.stop() == 130, started.log.read_text()
    assert "Traceback" not in started.log.read_text()
    assert not started.left_over()
    assert books(run)["updates"] > 20


def pods(started) -> list[psutil.Process]:
    return actors(started, "Pod")


def actors(started, kind) -> list[psutil.Process]:
    """Of the run, those that have begun to play."""
    started.look()
    found = []
    for process in started.family:
        try:
            if process.is_running() and process.cmdline()[0].startswith(f"ray::{kind}"):
                found.append(process)
        except (psutil.Error, IndexError):
            pass
    return sorted(found, key=lambda one: one.create_time())


def test_pods_on_this_machine_learn_are_replaced_and_the_run_is_saved_when_the_raylet_dies(tmp_path):
    run = tmp_path / "run"
    started = Started(
        tmp_path / "log", "--cluster", "local", "--preset", "apex-dqn", *SMALL, "--run-dir", run, "--seed", 1,
        "--checkpoint-seconds", 1, code=CALM,
    )  # fmt: skip

    def steps():
        rows = program.rows(run / "throughput.csv")
        return int(rows[-1]["steps"]) if rows else 0

    def best():
        """Mean score of the better half: games have an epsilon each."""
        scores = [float(row["score"]) for row in program.rows(run / "episodes.csv")][-100:]
        return np.mean(sorted(scores)[len(scores) // 2 :]) if len(scores) == 100 else 0.0

    started.wait_for(lambda: best() > 17 and len(pods(started)) == 2)
    os.kill(pods(started)[0].pid, signal.SIGKILL)
    started.wait_for(lambda: "takes its place" in started.log.read_text())
    before = steps()
    started.wait_for(lambda: len(pods(started)) == 2 and steps() > before + 500)
    started.wait_for(lambda: cluster_view.read(run).playing == 2)
    shown = cluster_view.read(run)
    assert (shown.wanted, shown.nodes, {pod.state for pod in shown.pods}) == (2, 1, {"plays"})
    for pod in shown.pods:
        assert pod.steps > 0
        assert 0 <= pod.weights_age_seconds < math.inf
    rows = program.rows(run / "throughput.csv")
    assert all(float(rows[-1][name]) > 0 for name in ("drawn_per_second", "experience_age_steps", "replay_size"))
    assert any(float(row["pods_bytes_per_second"]) > 0 for row in rows)
    [raylet] = [one for one in started.family if one.is_running() and one.name() == "raylet"]
    raylet.kill()
    assert started.process.wait(program.HANG_SECONDS) == 1, started.log.read_text()
    assert "ga3c: Ray's raylet on this machine has died." in started.log.read_text()
    assert "Saved in" in started.log.read_text()
    assert "Traceback" not in started.log.read_text()
    assert "Cluster: 1 node" in started.log.read_text()
    assert not started.left_over()
    assert books(run)["updates"] > 20


@pytest.mark.long
def test_a_node_leaves_another_joins_and_the_run_goes_on(tmp_path, monkeypatch):
    for name, value in AUTHENTICATION.items():
        monkeypatch.setenv(name, value)
    nodes = Nodes(1, 1, tmp_path, dict(os.environ))
    try:
        run = tmp_path / "run"
        started = Started(
            tmp_path / "log", "--cluster", nodes.address, "--preset", "apex-dqn", *SMALL, "--agents", 1, "--run-dir",
            run, code=CALM,
        )  # fmt: skip

        def steps():
            rows = program.rows(run / "throughput.csv")
            return int(rows[-1]["steps"]) if rows else 0

        started.wait_for(lambda: steps() > 500)
        nodes.kill(0)
        for what in ("has left the cluster", "has joined the cluster", "takes its place"):
            started.wait_for(lambda: what in started.log.read_text())  # noqa: B023
        before = steps()
        started.wait_for(lambda: steps() > before + 500)
        assert started.stop() == 130, started.log.read_text()
        assert "Traceback" not in started.log.read_text()
        assert "with 1 core for pods" in started.log.read_text()
        books(run)
    finally:
        nodes.stop()
