"""Means and intervals: values that are known, and how often an interval holds the truth."""

import numpy as np
import pytest

from ga3c.experiments.aggregates import interquartile_mean, interval, probability_of_improvement


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
    assert interval([[3.0, 3.0]], np.mean) == (3.0, 3.0)
    assert interval([scores], np.mean) == (low, high)


def test_values_are_drawn_within_their_game():
    """Two games that differ by 1000 in every run: what is drawn always has as much of each."""
    low, high = interval([[1.0, 2, 3], [1001.0, 1002, 1003]], np.mean)
    assert 501 <= low < high <= 503


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(200):
        low, high = interval([rng.normal(0, 1, 30)], np.mean, resamples=500)
        held += low <= 0 <= high
    assert 178 <= held <= 199  # 95 %, a little less with 30 values


def test_the_probability_of_improvement():
    assert probability_of_improvement([5, 6, 7], [1, 2]) == 1
    assert probability_of_improvement([1, 2], [5, 6, 7]) == 0
    assert probability_of_improvement([1, 3], [2, 2]) == 0.5
    assert probability_of_improvement([2, 2], [2, 2]) == 0.5
