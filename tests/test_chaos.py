"""The short form of tests/chaos.py: everything once or a few times."""

import subprocess
import sys

from tests import program


def test_the_books_balance_after_everything_went_wrong():
    script = program.ROOT / "tests" / "chaos.py"
    blows = ["--kills", "6", "--stops", "2", "--disk-full", "1", "--server-kills", "1", "--pause-seconds", "0.3"]
    ended = subprocess.run(
        [sys.executable, str(script), *blows, "--seed", "3"], capture_output=True, text=True, timeout=280, check=False
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert "The books balance" in ended.stdout
