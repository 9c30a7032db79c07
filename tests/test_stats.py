"""The counters that all threads share."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.rollout import Episode
from ga3c.stats import Stats, Timings, Totals
from tests.program import HANG_SECONDS


def batch(steps=8, episodes=(), versions=(0,), columns=2):
    rollout = SimpleNamespace(transitions=steps, episodes=episodes, agent=SimpleNamespace(number=3))
    return SimpleNamespace(rollouts=[rollout], columns=columns, versions=np.array(versions))


def update(version=0, applied=True, **numbers):
    return SimpleNamespace(version=version, applied=applied, numbers=numbers)


def test_a_window_holds_what_came_since_the_last_one():
    stats = Stats(Totals())
    for version, loss in enumerate((1.0, 3.0, 8.0)):
        stats.trained(batch(versions=[version - 1, version]), update(version, loss=loss), Timings())
        if version == 1:
            assert stats.take_window()[1].mean("loss") == 2.0
    totals, window = stats.take_window()
    assert window.mean("loss") == 8.0
    assert (window.lag_sum, window.lag_rows, window.lag_max) == (1.0, 2, 1)
    assert (totals.updates, totals.steps, totals.lag_rows) == (3, 24, 6)


def test_time_goes_on_from_the_saved_seconds():
    stats = Stats(Totals(seconds=100.0, steps=7))
    time.sleep(0.05)
    assert stats.totals().seconds == 100.0  # nothing was predicted yet: games are being started
    stats.predicted(1, Timings())
    time.sleep(0.05)
    assert 100.05 <= stats.totals().seconds < 100.0 + HANG_SECONDS
    assert stats.totals().steps == 7


def test_games_stand_with_the_steps_at_which_they_came_in():
    stats = Stats(Totals(), recent_scores=[1.0] * 100)
    stats.trained(batch(8, [Episode(5.0, 50)]), update(), Timings())
    stats.trained(batch(8, [Episode(-2.5, 9), Episode(7.0, 11)]), update(1), Timings())
    rows = [row[1:] for row in stats.take_episodes()]
    assert rows == [(8, "5", 50, 3), (16, "-2.5", 9, 3), (16, "7", 11, 3)]
    assert stats.take_episodes() == []
    assert stats.last_score == 7.0
    assert stats.recent_scores()[-3:] == [5.0, -2.5, 7.0]
    assert len(stats.recent_scores()) == 100
    assert stats.mean_score() == pytest.approx((97 + 5 - 2.5 + 7) / 100)


def test_games_that_explore_more_than_they_show_do_not_count():
    stats = Stats(Totals(), scored=np.array([[False, True], [True, True]]))
    for position in (0, 1, 2):  # more agents than there were at the start: they explore as the first ones do
        played = batch(8, [Episode(1.0 + 2 * position, 9), Episode(2.0 + 2 * position, 9, game=1)])
        played.rollouts[0].agent.position = position
        stats.trained(played, update(), Timings())
    assert stats.recent_scores() == [2.0, 3.0, 4.0, 6.0]
    assert [row[2] for row in stats.take_episodes()] == ["2", "3", "4", "6"]
    assert stats.totals().episodes == 4


def test_an_agents_end_adds_to_what_was_made_and_lost():
    stats = Stats(Totals(made_steps=10, lost_steps=1))
    stats.agent_ended(100, 4)
    assert (stats.totals().made_steps, stats.totals().lost_steps) == (110, 5)


def test_copies_do_not_change_any_more():
    stats = Stats(Totals())
    totals, timings = stats.totals(), stats.timings()
    stats.predicted(32, Timings(requests=1))
    assert (totals.predictions, timings.requests) == (0, 0)
    assert (stats.totals().predictions, stats.timings().requests) == (32, 1)
    assert stats.timings().since(timings).requests == 1


def test_a_window_and_its_totals_are_of_one_moment():
    stats, ended = Stats(Totals()), threading.Event()

    def report():
        while not ended.is_set():
            stats.trained(batch(versions=[0]), update(), Timings())

    threads = [threading.Thread(target=report) for _ in range(2)]
    for thread in threads:
        thread.start()
    before = 0
    for _ in range(2_000):
        totals, window = stats.take_window()
        assert totals.lag_rows - before == window.lag_rows
        before = totals.lag_rows
    ended.set()
    for thread in threads:
        thread.join()


def test_nothing_is_lost_between_threads():
    stats = Stats(Totals())

    def report():
        for _ in range(2_000):
            stats.predicted(1, Timings(requests=1))
            stats.trained(batch(1), update(), Timings(updates=1))
            stats.agent_ended(1, 1)

    threads = [threading.Thread(target=report) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    totals, window = stats.take_window()
    counts = totals.predictions, totals.updates, totals.steps, totals.made_steps, totals.lost_steps, window.updates
    assert counts == (8_000,) * 6


def test_predictions_that_come_together_are_counted_each():
    """Those of a pod come with its rollouts."""
    stats = Stats(Totals())
    stats.predicted(96, Timings(), batches=3)
    assert (stats.totals().predictions, stats.totals().prediction_batches) == (96, 3)
