"""Means over seeds and games with their confidence intervals (Agarwal et al. 2021, NeurIPS)."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
VALUES_AT_ONCE = 1_000_000  # of resamples in memory
FEWEST_RUNS = 3  # of each game: fewer say too little of how runs differ, and are shown one by one


def interquartile_mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """The mean of the middle half: a lucky seed counts less than in the mean, and more of them than in the median."""
    return stats.trim_mean(values, 0.25, axis=axis)


Ends = tuple[float, float] | tuple[None, None]  # of an interval, or of none


def interval(strata: Sequence[Sequence[float]], statistic: Callable, resamples: int = 10_000) -> Ends:
    """95 % interval of `statistic(values, axis)` of all values: Student's t, with the bootstrap's standard error.

    `strata` are sequences of equal length, say the seeds of each game: values are drawn anew within each, so that
    every resample has all games. The percentiles of the resamples are too narrow where each game has few values: the
    bootstrap divides by n, not by n - 1, and knows no t (Hesterberg 2015, The American Statistician 69). The degrees of
    freedom are Welch's. The interval may reach past the best score that a game has. The same values give the same
    interval; (None, None): there are fewer than `FEWEST_RUNS` in each.
    """
    values, rng = np.array(strata, np.float64), np.random.default_rng(1)
    count = values.shape[1]
    if count < FEWEST_RUNS:
        return None, None
    found, at_once = [], max(1, VALUES_AT_ONCE // values.size)
    for first in range(0, resamples, at_once):
        drawn = rng.integers(count, size=(min(at_once, resamples - first), *values.shape))
        samples = np.take_along_axis(np.broadcast_to(values, drawn.shape), drawn, axis=2)
        found.append(statistic(samples.reshape(len(drawn), -1), axis=1))
    error = np.concatenate(found).std() * np.sqrt(count / (count - 1))
    variances = values.var(axis=1)
    freedom = (count - 1) * variances.sum() ** 2 / (variances**2).sum() if variances.any() else 1
    middle, half = statistic(values.ravel(), axis=0), stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * error
    return float(middle - half), float(middle + half)


def in_words(low: float | None, high: float | None, values: Sequence[float], digits: int = 2) -> str:
    """An interval, or where there is none the values that are too few for it."""
    if low is None:
        shown = ", ".join(f"{value:.6g}" for value in values)
        return f"too few: {shown}" if shown else "too few"
    return f"{low:.{digits}f} to {high:.{digits}f}"


def probability_of_improvement(ours: Sequence[float], others: Sequence[float]) -> float:
    """Chance that a run of ours is better than one of the others; a tie counts half (Mann and Whitney's U)."""
    ours, others = np.array(ours), np.array(others)
    return float(((ours[:, None] > others) + 0.5 * (ours[:, None] == others)).mean())
