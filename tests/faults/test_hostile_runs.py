"""Runs of strangers, opened by every command that reads one: a sample, in a process of its own."""

import subprocess
import sys

from tests import program


def test_no_run_does_harm(tmp_path):
    """One of many, and a stranger's game whose agent another run is to begin with."""
    which = ["--every", "1597", "--also", "train --from | a game called 'stranger:Evil"]
    command = [sys.executable, "-m", "tests.faults.hostile_runs", tmp_path / "runs", *which]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=program.ROOT, timeout=3 * program.HANG_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
