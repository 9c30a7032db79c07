"""When it is said that training stands still, and whose thread has ended by an exception."""

import threading
import time

import pytest

from ga3c.server import stall
from ga3c.server.stall import StallWatch


def test_once_for_each_stall_and_once_when_it_is_over():
    watch = StallWatch(0.05)
    assert watch.look(0) is None
    time.sleep(0.06)
    assert watch.look(0).startswith("No update for")
    assert watch.look(0) is None
    assert watch.look(1).startswith("Updates again")


def test_games_that_are_being_started_are_no_stall():
    watch = StallWatch(0.05)
    for _ in range(3):
        assert watch.look(0, starting=True) is None
        time.sleep(0.06)
    assert watch.look(0, starting=True) is None
    time.sleep(0.06)
    assert watch.look(0).startswith("No update for")  # all play, and nothing is learnt


def fails(*_):
    raise ValueError


@pytest.mark.parametrize(("begins", "ours"), [(fails, False), (stall.threads_report, True)])
def test_whose_thread_it_is(begins, ours, monkeypatch):
    failed = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    monkeypatch.setattr(stall, "_place", fails)
    thread = threading.Thread(target=begins)
    thread.start()
    thread.join()
    assert stall.began_here(failed[0].exc_traceback) == ours
