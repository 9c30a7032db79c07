"""Step sizes and other numbers that change with the steps of play, or with how far the policy moves."""

import numpy as np
import pytest

from ga3c.algorithms import schedules
from ga3c.settings.learning import LearningSettings


def test_inverse_is_a_half_after_so_many_steps():
    rates = [schedules.inverse(steps, 0.8, 100) for steps in (0, 100, 300)]
    np.testing.assert_allclose(rates, [0.8, 0.4, 0.2])
    assert schedules.inverse(10**9, 0.8, 0) == 0.8


def test_linear_goes_from_start_to_end_and_stays_there():
    found = [schedules.linear(steps, 1.0, 0.2, 100) for steps in (0, 50, 75, 100, 10**9)]
    np.testing.assert_allclose(found, [1.0, 0.6, 0.4, 0.2, 0.2])
    assert schedules.linear(10**9, 1.0, 0.2, 0) == 1.0


@pytest.mark.parametrize(
    ("schedule", "run_steps", "expected"), [("inverse", 400, 0.4), ("linear", 400, 0.6), ("linear", None, 0.4)]
)
def test_a_linear_rate_ends_with_the_run_where_that_has_an_end(schedule, run_steps, expected):
    settings = LearningSettings(
        learning_rate=0.8,
        learning_rate_decay_steps=200 if schedule == "linear" else 100,
        learning_rate_schedule=schedule,
    )
    assert schedules.learning_rate(100, settings, run_steps) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("rate", "kl", "expected"),
    [
        (3e-3, 0.021, 2e-3),
        (3e-3, 0.019, 3e-3),
        (3e-3, 0.0051, 3e-3),
        (3e-3, 0.0049, 4.5e-3),
        (8e-3, 0.0, 1e-2),
        (1.2e-6, 1.0, 1e-6),
    ],
)
def test_the_rate_is_smaller_after_a_policy_moved_far_and_larger_after_it_hardly_moved(rate, kl, expected):
    assert float(schedules.following_kl(rate, kl, 0.01)) == pytest.approx(expected, rel=1e-5)


def test_a_rate_that_follows_kl_begins_with_the_learning_rate_whatever_the_steps():
    settings = LearningSettings(learning_rate=0.8, learning_rate_schedule="kl")
    assert schedules.learning_rate(10**9, settings, 400) == 0.8


def test_the_entropy_weighs_more_where_the_policy_is_surer_than_it_shall_be():
    weights = [float(schedules.following_entropy(0.01, share, 0.5)) for share in (0.25, 0.5, 1.0)]
    np.testing.assert_allclose(weights, 0.01 * np.exp([0.05, 0, -0.1]), rtol=1e-6)
    assert float(schedules.following_entropy(0.05, 0.0, 1.0)) == pytest.approx(0.05)
    assert float(schedules.following_entropy(1e-4, 1.0, 0.0)) == pytest.approx(1e-4)
