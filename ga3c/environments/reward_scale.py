"""Rewards scaled by the deviation of the returns."""

import numpy as np


class RewardScale:
    """Divides rewards by the running deviation of the return so far, R <- discount R + r, in these games.

    Gymnasium and OpenAI Baselines call this normalized rewards. With a `limit` rewards stay as they are while the
    largest is not above it and, once as many games have ended as there are, not below its inverse.
    """

    def __init__(self, envs: int, discount: float, limit: float = 0.0):
        self._discount, self._limit, self._returns = discount, limit, np.zeros(envs)
        self._count = self._mean = self._squares = 0.0  # of the returns; squares of their distance from the mean
        self._largest, self._ended = 0.0, 0  # of all rewards by size; games

    def _is_needed(self, rewards: np.ndarray, moved: np.ndarray, ended: np.ndarray) -> bool:
        self._largest = max(self._largest, float(np.abs(rewards * moved).max()))
        self._ended += int((ended & moved).sum())
        if self._largest > self._limit:
            return True
        return 0 < self._largest < 1 / self._limit and self._ended >= len(self._returns)

    def scaled(self, rewards: np.ndarray, moved: np.ndarray, ended: np.ndarray) -> np.ndarray:
        """Returns the rewards of one step, scaled. The arguments are those of `Scores.add`."""
        if self._limit and not self._is_needed(rewards, moved, ended):
            return rewards
        self._returns = self._discount * self._returns + rewards
        for value in self._returns[moved]:  # Welford 1962
            self._count += 1
            distance = value - self._mean
            self._mean += distance / self._count
            self._squares += distance * (value - self._mean)
        self._returns[ended | ~moved] = 0.0
        variance = self._squares / self._count if self._squares else 1.0
        return rewards / np.sqrt(variance + 1e-8)

    def state(self) -> dict[str, np.ndarray]:
        moments = np.array([self._count, self._mean, self._squares])
        arrays = {"agent/returns": self._returns, "agent/moments": moments}
        seen = {"agent/largest": np.array(self._largest), "agent/ended": np.array(self._ended)}
        return arrays | (seen if self._limit else {})

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self._returns = arrays["agent/returns"]
        self._count, self._mean, self._squares = arrays["agent/moments"].tolist()
        if self._limit:
            self._largest, self._ended = float(arrays["agent/largest"]), int(arrays["agent/ended"])
