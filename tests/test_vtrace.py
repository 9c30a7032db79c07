"""V-trace: a sum over what lies ahead, written from its Eq. 1, and what it comes to with equal policies."""

import numpy as np
import pytest

from ga3c.algorithms import vtrace
from ga3c.algorithms.returns import Played, lambda_returns
from ga3c.settings.learning import LearningSettings
from tests.test_returns import random_rollout


def naive(ratio, reward, value, terminated, truncated, valid, last, discount, weight, rho_limit, c_limit):
    """v_t and rho_t (r_t + discount v_{t+1} - V(s_t)) of each valid row of one column, NaN elsewhere; `weight`: lambda.

    v_t = V(s_t) + sum over the rows k ahead, up to the episode's end, of discount^(k - t) (c_t ... c_{k-1}) delta_k.
    """
    rows = len(reward)
    following = [value[t + 1] if t + 1 < rows else last for t in range(rows)]
    worth = np.where(terminated, 0.0, following)
    targets, advantages = np.full(rows, np.nan), np.full(rows, np.nan)
    for start in np.flatnonzero(valid)[::-1]:
        targets[start], factor, t = value[start], 1.0, start
        while True:
            targets[start] += factor * min(rho_limit, ratio[t]) * (reward[t] + discount * worth[t] - value[t])
            last_of_all = terminated[t] or truncated[t] or t + 1 == rows or not valid[t + 1]
            if last_of_all:
                break
            factor *= discount * weight * min(c_limit, ratio[t])
            t += 1
        over = terminated[start] or truncated[start] or start + 1 == rows or not valid[start + 1]
        ahead = worth[start] if over else worth[start] + weight * (targets[start + 1] - worth[start])
        advantages[start] = min(rho_limit, ratio[start]) * (reward[start] + discount * ahead - value[start])
    return targets, advantages


@pytest.mark.parametrize(("rho_limit", "c_limit", "weight"), [(1.0, 1.0, 1.0), (2.0, 0.8, 0.9), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("seed", range(5))
def test_random_rollouts(seed, rho_limit, c_limit, weight):
    rng = np.random.default_rng(seed)
    *arrays, last = random_rollout(rng, columns=30)
    valid, log_ratios = arrays[-1], rng.normal(size=arrays[0].shape).astype(np.float32)
    settings = LearningSettings(discount=0.9, return_lambda=weight, vtrace_rho_limit=rho_limit, vtrace_c_limit=c_limit)
    found = vtrace.targets(Played(*arrays, last), log_ratios, settings)
    columns = [
        naive(np.exp(log_ratios)[:, c], *(a[:, c] for a in arrays), last[c], 0.9, weight, rho_limit, c_limit)
        for c in range(30)
    ]
    for ours, expected in zip(found, np.stack(columns, axis=-1), strict=True):
        np.testing.assert_allclose(ours.numpy()[valid], expected[valid], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("weight", [1.0, 0.7])
def test_with_equal_policies_it_is_the_return(weight):
    """Of n steps with lambda = 1, as the paper says; with less it is the lambda-return, and its error."""
    *arrays, last = random_rollout(np.random.default_rng(7), columns=50)
    value, valid = arrays[1], arrays[-1]
    returns = lambda_returns(Played(*arrays, last), 0.9, weight).numpy()
    settings = LearningSettings(discount=0.9, return_lambda=weight)
    found = vtrace.targets(Played(*arrays, last), np.zeros_like(value), settings)
    np.testing.assert_allclose(found.values.numpy()[valid], returns[valid], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.advantages.numpy()[valid], (returns - value)[valid], rtol=1e-4, atol=1e-5)


def test_a_step_that_is_no_longer_taken_teaches_nothing_and_one_that_is_likelier_no_more_than_the_limits():
    def targets(log_ratio, rho_limit=1.0, c_limit=1.0):
        log_ratios, *column = (np.array([[x], [x]], np.float32) for x in (log_ratio, 1.0, 10.0))
        flags = [np.array([[x], [x]], bool) for x in (False, False, True)]
        settings = LearningSettings(discount=0.5, return_lambda=1.0, vtrace_rho_limit=rho_limit, vtrace_c_limit=c_limit)
        rollouts = Played(*column, *flags, np.array([40.0], np.float32))
        return [x.numpy()[:, 0] for x in vtrace.targets(rollouts, log_ratios, settings)]

    # One step: 1 + 0.5 * 40 - 10 = 11 in the second row, 1 + 0.5 * 10 - 10 = -4 in the first.
    np.testing.assert_allclose(targets(-1e9), [[10, 10], [0, 0]])
    np.testing.assert_allclose(targets(0.0), [[10 - 4 + 0.5 * 11, 21], [1 + 0.5 * 21 - 10, 11]])
    np.testing.assert_allclose(targets(1e9), targets(0.0))  # exp of it is infinite
    np.testing.assert_allclose(targets(1e9, 2.0, 1.0), [[10 - 8 + 0.5 * 22, 32], [2 * (1 + 0.5 * 32 - 10), 22]])
    np.testing.assert_allclose(targets(1e9, 2.0, 0.5), [[10 - 8 + 0.25 * 22, 32], [2 * (1 + 0.5 * 32 - 10), 22]])
