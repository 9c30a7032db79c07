"""Whatever fails, and whenever the power goes: a run can be gone on with, and its files agree with each other.

The short form looks at a few of all places; `python -m tests.faults` at every one.
"""

import contextlib
import itertools
import shutil
from pathlib import Path

import pytest

from ga3c.errors import ConfigError
from tests.faults import failing_os, small_run
from tests.faults.failing_os import CONTENTS, FAILURES, NAMES_KEPT, Failing, Killed, Noting, Os, in_place

CHECKPOINTS = 3, 1  # of a run, and of one that goes on with it


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_run.without_the_rest(monkeypatch)


def play(stand_in: Os, run: Path, acknowledge) -> None:
    """The run, and one that goes on with it. Raises ConfigError, Killed."""
    for checkpoints in CHECKPOINTS:
        with in_place(stand_in):
            small_run.play(run, checkpoints, acknowledge)


def check(run: Path, acknowledged: int, lost_at_most: int = 0) -> None:
    with in_place(Os()):
        small_run.check(run, acknowledged, lost_at_most)


def fail(root: Path, at: int, failure: str, lasting: int) -> int:
    """Returns how many calls there were."""
    run, saved, stand_in = root / "deep" / "run", [0], Failing(at, failure, lasting)
    with contextlib.suppress(ConfigError, Killed):  # whatever else is raised would end the program with a traceback
        play(stand_in, run, saved.append)
    # A checkpoint that cannot be read at a resume gives way to the one before.
    check(run, saved[-1], 0 if failure == "killed" else small_run.UPDATES_PER_CHECKPOINT)
    shutil.rmtree(root)
    return stand_in.calls


def calls(tmp_path: Path) -> int:
    return fail(tmp_path / "whole", 10**9, "error", 1)


@pytest.mark.parametrize("failure", FAILURES)
def test_anything_that_is_written_may_fail(tmp_path, failure):
    places = calls(tmp_path)
    assert places > 100
    for at in range(1 + FAILURES.index(failure), places + 1, 13):
        fail(tmp_path / str(at), at, failure, lasting=1 + at % 3)


def notes(root: Path) -> list[tuple]:
    """What a run changes on the disk; ("saved", updates) stands where a checkpoint was said to be saved."""
    stand_in = Noting(root)
    play(stand_in, root / "deep" / "run", lambda updates: stand_in.changes.append(("saved", updates)))
    return stand_in.changes


def cut_power(root: Path, changes: list[tuple], names_kept: float, content: str) -> None:
    """After these changes."""
    saved = [updates for kind, updates, *_ in changes if kind == "saved"]
    root.mkdir()
    failing_os.lay_out(failing_os.after_power_cut(changes, names_kept, content), root)
    check(root / "deep" / "run", saved[-1] if saved else 0)
    shutil.rmtree(root)


def test_the_power_may_go_at_any_moment(tmp_path):
    (tmp_path / "first").mkdir()
    changes = notes(tmp_path / "first")
    ways = itertools.cycle(itertools.product(NAMES_KEPT, CONTENTS))
    for until in range(1, len(changes) + 1, 4):
        cut_power(tmp_path / "after", changes[:until], *next(ways))
