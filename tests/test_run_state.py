"""How a run ended: what the server writes, and what those who look on make of it."""

import contextlib
import os
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ga3c.commands import list as listing
from ga3c.commands import watch
from ga3c.errors import TrainingFailed
from ga3c.records import run_directory, run_state
from ga3c.records.columns import MESSAGE_COLUMNS
from ga3c.records.csv_log import CsvLog
from ga3c.records.disk import Disk
from ga3c.records.run_state import RunState, few_words
from ga3c.server.server import Server
from ga3c.settings.run import RunSettings, Settings
from ga3c.trainer import train
from ga3c.views.dashboard import contents
from ga3c.views.dashboard import shown_runs as runs
from ga3c.views.run_view import RunView
from tests.test_list import make_run

PLAIN = replace(Settings().run, checkpoint_seconds=3600)


class FakeRun:
    """Of a run that does nothing, in the place of `server.recorded_run.RecordedRun`."""

    def __init__(self, run_dir):
        self.system, self.disk, self._run_dir = self, Disk(print, run_dir), run_dir
        self.stats, self.fails, self.saves = self, None, True
        self.steps = self.updates = self.skipped_updates = self.episodes = self.seconds = 0
        self.may_end = True

    def totals(self):
        return self

    def games(self):
        return 1, 1

    def start(self):
        """Nothing."""

    stop = start

    def look(self):
        if self.fails:
            raise self.fails

    def is_due(self, steps):
        return False

    def save(self):
        return True

    def finish(self):
        return self.saves

    def write_state(self, state):
        run_state.write(self._run_dir, state)


@pytest.fixture
def server(tmp_path):
    made = Server(FakeRun(tmp_path), replace(PLAIN, steps=0), None)
    made.start()
    assert run_state.read(tmp_path).name == "lost"  # nobody holds the lock of this directory
    return made


def end_of(server, run_dir):
    with contextlib.suppress(TrainingFailed, ZeroDivisionError):
        server.serve(lambda: None)
    server.stop()
    return run_state.read(run_dir)


def test_a_run_ends_at_its_limit_or_is_stopped(server, tmp_path):
    assert end_of(server, tmp_path) == ("ended", "")


def test_who_is_asked_to_stop_is_stopped(server, tmp_path):
    server.request_stop()
    assert end_of(server, tmp_path) == ("stopped", "")


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (TrainingFailed("Pods die.\nTraceback (most):\n  File x\nOSError: gone\n"), "Pods die: OSError: gone"),
        (TrainingFailed("The weights differ."), "The weights differ"),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    ],
)  # fmt: skip
def test_a_run_that_fails_says_why(server, tmp_path, failure, why):
    server._first.fails = failure
    assert end_of(server, tmp_path) == ("failed", why)


def test_a_thread_that_fails_while_the_run_stops_fails_the_run(server, tmp_path, monkeypatch):
    def stop():
        experience = SimpleNamespace(next_batch=lambda: 1 / 0)
        failing = threading.Thread(target=train, args=(experience, None, None), name="trainer")
        failing.start()
        failing.join()

    monkeypatch.setattr(server._first, "stop", stop)
    assert end_of(server, tmp_path) == ("failed", "The trainer failed: ZeroDivisionError: division by zero")
    assert "Traceback" in server.failure


def test_a_run_that_could_not_be_saved_has_failed(server, tmp_path):
    server._first.saves = False
    assert end_of(server, tmp_path) == ("failed", "the last checkpoint could not be written")


def test_the_reason_is_short():
    assert few_words("") == ""
    assert len(few_words("x" * 5_000)) <= 200


START = "Training Pong in results/Pong/run  (Ctrl-C stops and saves)"
SAVED, STOPPING = "Saved in results/Pong/run", "Stopping: the agents hand over what they have played"
SAID = {
    "ended": [START, "Loading TensorFlow.", SAVED, "Go on: ./run.sh"],
    "stopped": [START, STOPPING, SAVED],
    "failed": [START, "ga3c: The trainer failed:", "Traceback", SAVED],
    "lost": [START, STOPPING, SAVED, START, "Going on from checkpoint-000000000001.npz"],
}


@pytest.mark.parametrize("state", SAID)
def test_an_old_run_is_judged_by_what_it_said_last(tmp_path, state):
    log = CsvLog(tmp_path / "messages.csv", MESSAGE_COLUMNS, Disk(print))
    log.append([[0, f"line {number}"] for number in range(5_000)])
    log.append([[1, text] for text in SAID[state]])
    found = run_state.read(tmp_path)
    assert found == (state, "The trainer failed" if state == "failed" else "")
    inner = tmp_path / run_directory.SECONDARY
    inner.mkdir()
    for path in (tmp_path, inner):
        (path / "config.json").write_text("{}")
    assert run_state.read(inner) == found


@pytest.fixture
def results(tmp_path):
    """Three runs, the newest of which failed before it had learned anything."""
    path = tmp_path / "results"
    for name, age, rows, state in (
        ("killed", 300, 1, RunState("running")),
        ("good", 200, 1, RunState("stopped")),
        ("crashed", 100, 0, RunState("failed", "The game is broken")),
    ):
        run = make_run(path / "Pong" / name, age, rows=rows)
        before = os.stat(run)
        run_state.write(run, state)
        os.utime(run, (before.st_atime, before.st_mtime))
    return path


def test_who_looks_on_sees_how_it_ended(results, monkeypatch):
    lines = [" ".join(line.split()) for line in listing.table(results, None)[1:]]
    assert [line.split()[1] for line in lines] == ["lost", "stopped", "failed"]
    assert lines[-1].endswith("The game is broken")
    crashed = RunView(results / "Pong" / "crashed")
    assert (crashed.state, crashed.now.why) == ("failed", "The game is broken")
    said = []
    monkeypatch.setattr(watch, "Console", lambda: SimpleNamespace(say=said.append, status=lambda *_: None))
    watch._follow(crashed)
    assert said == ["The run failed: The game is broken."]


def test_the_dashboard_opens_on_a_run_that_has_something_to_show(results):
    found = runs.Runs(results)
    looked = found.look(found.names())
    assert list(looked) == ["Pong/crashed", "Pong/good", "Pong/killed"]
    assert contents.first(looked) == ["Pong/good"]
    assert "failed\nThe game is broken" in contents.label("Pong/crashed", looked["Pong/crashed"])
    only = {"Pong/crashed": looked["Pong/crashed"]}
    assert contents.first(only) == ["Pong/crashed"]
    run_directory.lock(results / "Pong" / "crashed", RunSettings())  # it runs: there is something to show soon
    assert contents.first(runs.Runs(results).look(["Pong/crashed"]) or only) == ["Pong/crashed"]
    assert RunView(results / "Pong" / "crashed").state == "running"
