"""Games that go round in a circle: nothing that counts happens in them any more."""

import numpy as np


class Stalls:
    """Begins games anew in which for `limit_steps` steps there was no reward and no life was lost.

    Such a game counts as cut off (truncated). Its next step only starts a new one, as after any end of a game.
    """

    def __init__(self, envs, count: int, limit_steps: int):
        self._envs, self._limit = envs, limit_steps
        self._quiet_steps, self._cut = np.zeros(count, np.int64), np.zeros(count, np.bool_)

    def after(self, step: tuple[np.ndarray, ...], over: np.ndarray) -> tuple[np.ndarray, ...]:
        """Returns what a step of the games has returned, as if the games themselves knew of the limit.

        `over`, bool [count]: the games of which this step was none.
        """
        observations, rewards, terminated, truncated, life_lost = step
        if self._cut.any():  # these games have gone on by a step
            observations = self._envs.restart(self._cut)
            terminated, truncated, life_lost = (ends & ~self._cut for ends in (terminated, truncated, life_lost))
        something = over | (rewards != 0) | terminated | truncated | life_lost
        self._quiet_steps = np.where(something, 0, self._quiet_steps + 1)
        self._cut = self._quiet_steps >= self._limit
        return observations, rewards, terminated, truncated | self._cut, life_lost

    def state(self) -> dict[str, np.ndarray]:
        return {"agent/quiet_steps": self._quiet_steps, "agent/cut": self._cut}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self._quiet_steps, self._cut = arrays["agent/quiet_steps"], arrays["agent/cut"]
