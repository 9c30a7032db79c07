"""Targets: closed forms, and a loop that looks forward from each row on its own."""

import numpy as np
import pytest

from ga3c.algorithms.returns import Played, lambda_returns


def returns(reward, value, terminated, truncated, valid, bootstrap, discount, weight=1.0):
    """`lambda_returns` of one column, given as lists."""
    columns = [np.array(x, np.float32)[:, None] for x in (reward, value)]
    flags = [np.array(x, bool)[:, None] for x in (terminated, truncated, valid)]
    bootstrap = np.array([bootstrap], np.float32)
    return lambda_returns(Played(*columns, *flags, bootstrap), discount, weight).numpy()[:, 0]


@pytest.mark.parametrize("discount", [0.0, 0.9, 1.0])
def test_constant_reward(discount):
    steps, reward, bootstrap = 6, 2.0, 5.0
    no, left = [0] * steps, np.arange(steps, 0, -1)
    result = returns([reward] * steps, no, no, no, [1] * steps, bootstrap, discount)
    gathered = left if discount == 1 else (1 - discount**left) / (1 - discount)
    np.testing.assert_allclose(result, reward * gathered + discount**left * bootstrap, rtol=1e-6)


def test_an_end_is_worth_nothing_and_a_cut_its_last_value():
    value, end, no, yes = [10, 20, 30, 40], [0, 1, 0, 0], [0] * 4, [1, 1, 0, 1]  # row 2: the game restarts
    terminated = returns([1, 1, 7, 1], value, end, no, yes, 100, 0.5)
    truncated = returns([1, 1, 7, 1], value, no, end, yes, 100, 0.5)
    in_last_row = returns([1, 1], [10, 20], [0, 0], [0, 1], [1, 1], 100, 0.5)
    np.testing.assert_allclose(terminated[[0, 1, 3]], [1.5, 1, 51])
    np.testing.assert_allclose(truncated[[0, 1, 3]], [1 + 0.5 * 16, 1 + 0.5 * 30, 51])
    np.testing.assert_allclose(in_last_row, [1 + 0.5 * 51, 1 + 0.5 * 100])


def test_a_step_that_failed_cuts_the_game_before_it():
    value, cut, no, yes = [10, 20, 30, 40], [0, 0, 1, 0], [0] * 4, [1, 1, 0, 1]  # row 3 is of a new game
    failed = returns([1, 1, 0, 1], value, no, cut, yes, 100, 0.5)
    np.testing.assert_allclose(failed[[0, 1, 3]], [1 + 0.5 * 16, 1 + 0.5 * 30, 51])


def test_lambda_goes_from_one_step_to_all():
    reward, value, no, yes = [1, 2, 3], [10, 20, 30], [0] * 3, [1] * 3
    rollout = (reward, value, no, no, yes, 40)
    np.testing.assert_allclose(returns(*rollout, 0.5, weight=0.0), [1 + 10, 2 + 15, 3 + 20])
    np.testing.assert_allclose(returns(*rollout, 0.5, weight=1.0), [1 + 0.5 * 13.5, 2 + 0.5 * 23, 3 + 20])


def naive(reward, value, terminated, truncated, valid, bootstrap, discount, return_lambda):
    """The return of each valid row of one column, NaN elsewhere: the mean of its n-step returns."""
    result = np.full(len(reward), np.nan)
    for start in np.flatnonzero(valid):
        total, weight, share, t = 0.0, 1.0, 1.0, start  # share: of the returns that are longer
        result[start] = 0.0
        while True:
            total += weight * reward[t]
            weight *= discount
            following = value[t + 1] if t + 1 < len(reward) else bootstrap
            last = terminated[t] or truncated[t] or t + 1 == len(reward) or not valid[t + 1]
            worth = 0.0 if terminated[t] else following
            result[start] += share * (1.0 if last else 1 - return_lambda) * (total + weight * worth)
            if last:
                break
            share *= return_lambda
            t += 1
    return result


def random_rollout(rng, columns):
    """reward, value, terminated, truncated, valid [time, columns], and a last value [columns]."""
    steps = int(rng.integers(1, 12))
    reward, value = rng.normal(size=(2, steps, columns)).astype(np.float32)
    bootstrap = rng.normal(size=columns).astype(np.float32)
    terminated, truncated = rng.random((2, steps, columns)) < 0.2
    valid, failed = np.ones((steps, columns), bool), rng.random((steps, columns)) < 0.1
    for column in range(columns):
        for t in range(steps):  # the row after an episode's end is no transition: its flags mean nothing
            valid[t, column] = not (t and valid[t - 1, column] and (terminated | truncated)[t - 1, column])
            if valid[t, column] and failed[t, column]:  # nor is a step that failed: the next row is a new game's first
                valid[t, column], terminated[t, column], truncated[t, column] = False, False, True
        length = int(rng.integers(1, steps + 1))  # a rollout may be short: Batch.fill pads it so
        valid[length:, column], value[length:, column] = False, bootstrap[column]
    return reward, value, terminated, truncated, valid, bootstrap


@pytest.mark.parametrize("return_lambda", [1.0, 0.9])
@pytest.mark.parametrize("seed", range(20))
def test_random_rollouts(seed, return_lambda):
    *arrays, bootstrap = random_rollout(np.random.default_rng(seed), columns=40)
    result = lambda_returns(Played(*arrays, bootstrap), 0.9, return_lambda).numpy()
    expected = [naive(*(a[:, c] for a in arrays), bootstrap[c], 0.9, return_lambda) for c in range(40)]
    valid = arrays[-1]
    np.testing.assert_allclose(result[valid], np.stack(expected, axis=1)[valid], rtol=1e-4, atol=1e-5)
