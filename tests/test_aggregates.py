"""Means and intervals: values that are known, and how often an interval holds the truth."""

import numpy as np
import pytest
from scipy import stats

from ga3c.experiments.aggregates import in_words, interquartile_mean, interval, probability_of_improvement


def test_the_interquartile_mean_is_of_the_middle_half():
    assert interquartile_mean(np.array([-1000.0, 1, 2, 3, 4, 5, 6, 1000])) == pytest.approx(3.5)
    assert interquartile_mean(np.array([1.0, 2, 9])) == pytest.approx(4)  # of three there is nothing to leave out
    np.testing.assert_allclose(interquartile_mean(np.arange(8.0).reshape(2, 4), axis=1), [1.5, 5.5])


def test_the_interval_of_a_mean():
    """Of 400 scores of deviation 10: plus or minus 1.96 x 10 / 20."""
    scores = np.random.default_rng(1).normal(50, 10, 400).tolist()
    low, high = interval([scores], np.mean)
    assert low == pytest.approx(np.mean(scores) - 0.98, abs=0.15)
    assert high == pytest.approx(np.mean(scores) + 0.98, abs=0.15)
    low_of_two, high_of_two = interval([scores, scores], np.mean)  # games are drawn apart
    assert high_of_two - low_of_two == pytest.approx((high - low) / 2**0.5, rel=0.05)
    assert interval([[3.0, 3.0, 3.0]], np.mean) == (3.0, 3.0)
    assert interval([scores], np.mean) == (low, high)


def test_resamples_that_are_drawn_in_parts_are_the_same(monkeypatch):
    strata = np.random.default_rng(1).normal(50, 10, (3, 7)).tolist()
    whole = interval(strata, interquartile_mean)
    monkeypatch.setattr("ga3c.experiments.aggregates.VALUES_AT_ONCE", 1_000)
    assert interval(strata, interquartile_mean) == whole


def test_the_interval_of_few_runs_of_one_game_is_students():
    low, high = interval([[1.0, 2.0, 6.0]], np.mean)
    assert (low, high) == pytest.approx(stats.t.interval(0.95, 2, 3, stats.sem([1, 2, 6])), rel=0.02)


def test_values_are_drawn_within_their_game():
    """Two games that differ by 1000 in every run: what is drawn always has as much of each."""
    low, high = interval([[1.0, 2, 3], [1001.0, 1002, 1003]], np.mean)
    assert (low, high) == pytest.approx((502 - 2.78 / 6**0.5, 502 + 2.78 / 6**0.5), abs=0.1)


@pytest.mark.parametrize("statistic", [np.mean, interquartile_mean])
@pytest.mark.parametrize(
    ("games", "runs", "deviations"),
    [
        (1, 3, (1,)),
        (1, 5, (1,)),
        (1, 10, (1,)),
        (1, 30, (1,)),
        (3, 3, (1, 1, 1)),
        (5, 5, (1, 1, 1, 1, 1)),
        (3, 5, (0.3, 2, 0.3)),  # one game in which runs differ most
    ],
)
def test_the_interval_holds_the_truth_about_as_often_as_it_says(statistic, games, runs, deviations):
    """Normal scores, games that differ by as much as their runs do."""
    rng, trials, held = np.random.default_rng(2), 400, 0
    means, deviations = np.arange(games)[:, None], np.array(deviations)[:, None]
    for _ in range(trials):
        low, high = interval(means + deviations * rng.standard_normal((games, runs)), statistic, resamples=300)
        held += low <= (games - 1) / 2 <= high
    assert 0.925 <= held / trials <= 0.99


def test_fewer_than_three_runs_have_no_interval_and_are_shown():
    for runs in ([[7.0]], [[7.0, 9.5]], [[7.0, 9.5], [1.0, 2.0]]):
        assert interval(runs, np.mean) == (None, None)
    assert in_words(None, None, [7.0, 9.5]) == "too few: 7, 9.5"
    assert in_words(7.0, 9.512, [7.0, 8.0, 9.5]) == "7.00 to 9.51"


def test_the_probability_of_improvement():
    assert probability_of_improvement([5, 6, 7], [1, 2]) == 1
    assert probability_of_improvement([1, 2], [5, 6, 7]) == 0
    assert probability_of_improvement([1, 3], [2, 2]) == 0.5
    assert probability_of_improvement([2, 2], [2, 2]) == 0.5
