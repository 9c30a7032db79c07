"""The short form of tests/chaos.py: everything once or a few times."""

import re
import subprocess
import sys

import pytest

from tests import program
from tests.program import SLOW


def test_the_books_balance_after_everything_went_wrong():
    script = program.ROOT / "tests" / "chaos.py"
    blows = ["--game", "tests.tiny_environment:Match-v0", "--kills", "6", "--stops", "2", "--disk-full", "1"]
    blows += ["--server-kills", "1", "--pause-seconds", "0.3", "--settled-seconds", "3", "--seed", "3"]
    command = [sys.executable, str(script), *blows, "--", *SLOW]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert "The books balance" in ended.stdout


def test_the_books_balance_after_pods_a_shard_a_node_and_the_learner_were_killed():
    pytest.importorskip("ray", reason="run tests/run.sh, which installs Ray")
    script = program.ROOT / "tests" / "chaos.py"
    blows = ["--pods", "--shards", "1", "--nodes", "2", "--kills", "1", "--shard-kills", "1", "--node-kills", "1"]
    blows += ["--server-kills", "1", "--stops", "0", "--disk-full", "0"]
    blows += ["--settled-seconds", "1", "--preset", "apex-dqn", "--game", "CartPole-v1", "--agents", "1", "--calm"]
    small = ["--replay-minimum-transitions", "400", "--replay-transitions", "10000", "--batch", "32"]
    ended = subprocess.run(
        [sys.executable, str(script), *blows, "--", *small], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert "1 shards killed, 1 nodes killed" in ended.stdout
    assert "The books balance" in ended.stdout


@pytest.mark.long
def test_many_changes_of_the_counts():
    """The long form looks for what grows; a short one sees that the books balance."""
    script = program.ROOT / "tests" / "endurance.py"
    arguments = [sys.executable, str(script), "--changes", "20", "--most", "2", "2", "2"]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=program.HANG_SECONDS)
    made, accounted = re.search(r"([\d,]+) made, ([\d,]+) accounted for", ended.stdout).groups()
    assert made == accounted, ended.stdout + ended.stderr
