"""What is seen of pods: from files that this test writes, whatever stands in them."""

import json
import time
from dataclasses import replace

import pytest

from ga3c.records.cluster_file import ClusterFile
from ga3c.records.columns import THROUGHPUT_COLUMNS
from ga3c.records.disk import Disk
from ga3c.settings import saved_settings as saved_settings
from ga3c.settings.run import Settings
from ga3c.views import cluster_view
from ga3c.views.dashboard import contents
from ga3c.views.run_view import RunView
from tests.test_screen import append, lines, throughput

MORE = {"drawn_per_second": 5120, "experience_age_steps": 31_000, "pods_bytes_per_second": 64_000}


def pod(number, **others):
    own = {"number": number, "node": "box", "state": "plays", "steps": 900, "steps_per_second": 50.0 + number}
    own |= {"bytes_per_second": 2000, "messages_per_second": 1.5, "weights_age_seconds": 0.4, "heard_seconds": 0.1}
    return own | others


@pytest.fixture
def run_dir(tmp_path):
    path = tmp_path / "Pong" / "run"
    path.mkdir(parents=True)
    settings = Settings()
    settings = replace(settings, schedule=replace(settings.schedule, cluster="local", agents=4))
    (path / "config.json").write_text(json.dumps({"settings": saved_settings.to_dict(settings)}))
    columns = [*THROUGHPUT_COLUMNS, *MORE]
    append(path / "throughput.csv", columns, [[*throughput(5 * i), *MORE.values()] for i in range(1, 21)])
    append(path / "episodes.csv", ["seconds", "steps", "score", "length_steps", "agent"], [[1, 1, 1, 1, 0]])
    return path


def write(path, pods, **others):
    nodes = [{"name": "box", "cores": 4.0}, {"name": "other", "cores": 8.0}]
    content = {"time": time.time(), "wanted": 4, "nodes": nodes, "pods": pods, "shards": [{}, {}]} | others
    (path / "cluster.json").write_text(json.dumps(content))


def test_pods_stand_on_the_screen_those_first_that_need_a_look(run_dir):
    write(run_dir, [pod(1), pod(2, state="silent", heard_seconds=61), pod(3, steps_per_second=7), pod(4)])
    found = lines(RunView(run_dir), 80, 60)
    text = "\n".join(found)
    for words in ("3 of 4 on 2 nodes", "drawn, 2 shards   5,120 steps/s", "31,000 steps", "64 KB/s"):
        assert words in text
    numbers = [int(line.split()[1]) for line in found if line.startswith("│") and line.split()[2:3] == ["box"]]
    assert numbers == [2, 3, 1, 4]
    assert "61.0 s" in text
    few = "\n".join(lines(RunView(run_dir), 80, 28))
    assert "and 2 more" in few
    assert "silent" in few
    for height in range(3, 60):
        assert len(lines(RunView(run_dir), 80, height)) <= height


def test_pods_stand_on_the_page(run_dir):
    write(run_dir, [pod(1), pod(2, weights_age_seconds=None)])
    head, *rows = contents.pods(RunView(run_dir)).children
    cells = [[cell.children for cell in row.children] for row in rows]
    assert len(head.children) == len(cells[0])
    assert cells[0] == ["1", "box", "plays", "900", "51", "2", "1.5", "0.4", "0.1"]
    assert cells[1][7] == "-"


DAMAGED = [
    "", "{", "[]", "null", '{"nodes": 1, "pods": 2}', '{"nodes": [1], "pods": [[], 3, {}]}',
    '{"time": "x", "nodes": [], "pods": [{"number": "\\u001b[31m", "node": "\\u001b[31m\\n", "steps": 1e999}]}',
]  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED)
def test_whatever_lies_there_is_shown_as_far_as_it_can_be(run_dir, content):
    (run_dir / "cluster.json").write_text(content)
    text = "\n".join(lines(RunView(run_dir), 80, 40))
    assert "\x1b" not in text
    assert all("\x1b" not in pod.node for pod in cluster_view.read(run_dir).pods)
    contents.pods(RunView(run_dir))


def test_it_is_written_now_and_then_and_whole(tmp_path):
    said, asked = [], []
    file = ClusterFile(tmp_path, 1000.0, Disk(said.append))
    for number in range(3):
        file.look(lambda: asked.append(0) or {"wanted": number})  # noqa: B023
    assert json.loads((tmp_path / "cluster.json").read_text()) == {"wanted": 0}
    assert (len(asked), said) == (1, [])
    file = ClusterFile(tmp_path, 0.0, Disk(said.append))
    file.look(lambda: {"wanted": 9})
    assert json.loads((tmp_path / "cluster.json").read_text()) == {"wanted": 9}
