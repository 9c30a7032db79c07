"""Scores and lengths of the games of one player."""

import numpy as np

from ga3c.rollout import Episode


class Scores:
    """Counts true scores and lengths of the games in progress, by environment."""

    def __init__(self, envs: int):
        self._scores = np.zeros(envs)
        self._lengths = np.zeros(envs, np.int64)
        self.finished: list[Episode] = []

    def __len__(self) -> int:
        return len(self._scores)

    def add(self, rewards: np.ndarray, moved: np.ndarray, ended: np.ndarray) -> None:
        """Counts one step: `moved` marks environments that made a transition, `ended` those whose game is over."""
        self._scores += rewards * moved
        self._lengths += moved
        for env in np.flatnonzero(ended):
            self.finished.append(Episode(float(self._scores[env]), int(self._lengths[env]), int(env)))
            self.restart(env)

    def restart(self, envs: np.ndarray | int) -> None:
        """Forgets what these environments have played of their games: they have begun new ones."""
        self._scores[envs] = self._lengths[envs] = 0

    def take(self) -> list[Episode]:
        """Returns the games that ended since the last call."""
        finished, self.finished = self.finished, []
        return finished

    def state(self) -> dict[str, np.ndarray]:
        return {"agent/scores": self._scores, "agent/lengths": self._lengths}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self._scores, self._lengths = arrays["agent/scores"], arrays["agent/lengths"]


def absent_players(envs, count: int) -> np.ndarray:
    """Returns bool [count]: the games whose next step is none, because their player has left. Most have no `absent`."""
    return getattr(envs, "absent", np.zeros(count, np.bool_))


def lost_steps(envs, count: int) -> np.ndarray:
    """Returns bool [count]: the games whose last step was none, because their own code failed. Most have no `lost`."""
    return getattr(envs, "lost", np.zeros(count, np.bool_))
