"""The whole program, while the N-th of the calls that write its files fails; and how it goes on afterwards."""

from pathlib import Path

from ga3c.records import checkpoint
from ga3c.records.csv_reading import read_csv
from tests import program

OFTEN = ["--checkpoint-seconds", 1, "--log-seconds", 0.5, "--plot-seconds", 0, "--controller", "off"]
SECONDS = 4  # of training: three checkpoints
CODE = """
from ga3c.records import files
from tests.faults.failing_os import Failing
files.os = Failing({at}, {failure!r}, {lasting}, exits=True)
"""


def fail(root: Path, at: int, failure: str, lasting: int) -> None:
    """Raises AssertionError where something is lost, or ends with a traceback."""
    run, code = root / "run", CODE.format(at=at, failure=failure, lasting=lasting)
    ended = program.run(*program.TINY, *program.SLOW, "--run-dir", run, *OFTEN, "--minutes", SECONDS / 60, code=code)
    said = ended.stdout + ended.stderr
    assert ended.returncode in ((-9, 0) if failure == "killed" else (0, 1, 2)), said
    assert "Traceback" not in said, said
    before = checkpoint.saved(run / "checkpoints")
    if not (run / "config.json").exists():
        assert not before
        return
    ended = program.run("--resume", run, "--minutes", 1 / 60)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    assert "Traceback" not in said, said
    if before:
        assert f"Going on from {before[-1].name}" in said
        check_books(run)


def check_books(run: Path) -> None:
    """What the newest checkpoint counts is in the log, and nothing besides; its weights are of that moment."""
    _, arrays, meta = checkpoint.load_newest(run / "checkpoints", lambda said: None)
    totals = meta["totals"]
    assert arrays["version"] == totals["updates"]
    steps = read_csv(run / "episodes.csv")["steps"]
    assert len(steps) == totals["episodes"]
    assert all(steps <= totals["trained_steps"] + totals["skipped_steps"])
