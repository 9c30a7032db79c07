"""Means over seeds and games with their confidence intervals (Agarwal et al. 2021, NeurIPS)."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


def interquartile_mean(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """The mean of the middle half: a lucky seed counts less than in the mean, and more of them than in the median."""
    return stats.trim_mean(values, 0.25, axis=axis)


def interval(strata: Sequence[Sequence[float]], statistic: Callable, resamples: int = 10_000) -> tuple[float, float]:
    """95 % interval of `statistic(values, axis)` of all values, by the percentile bootstrap.

    `strata` are sequences of equal length, say the seeds of each game: values are drawn anew within each, so that
    every resample has all games. The same values give the same interval.
    """
    values, rng = np.array(strata, np.float64), np.random.default_rng(1)
    drawn = rng.integers(values.shape[1], size=(resamples, *values.shape))
    samples = np.take_along_axis(np.broadcast_to(values, drawn.shape), drawn, axis=2)
    results = statistic(samples.reshape(resamples, -1), axis=1)
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(results, [tail, 100 - tail])
    return float(low), float(high)


def probability_of_improvement(ours: Sequence[float], others: Sequence[float]) -> float:
    """Chance that a run of ours is better than one of the others; a tie counts half (Mann and Whitney's U)."""
    ours, others = np.array(ours), np.array(others)
    return float(((ours[:, None] > others) + 0.5 * (ours[:, None] == others)).mean())
