"""Games in play: what a player knows of its games besides what lies in its slots."""

from collections.abc import Callable

import numpy as np

from ga3c import environments
from ga3c.environments.random_start import random_start
from ga3c.environments.reward_scale import RewardScale
from ga3c.environments.scores import Scores, absent_players, lost_steps
from ga3c.environments.stalls import Stalls
from ga3c.settings.game import EnvironmentSettings


class Games:
    """The games of one player, under way."""

    def __init__(self, envs, count: int, settings: EnvironmentSettings):
        discount, self._clip = settings.reward_scaling_discount, settings.reward_clip
        self._limit = settings.start_steps_limit
        self._envs, self._scores = envs, Scores(count)
        self._scale = RewardScale(count, discount, settings.reward_scaling_limit) if discount else None
        stall = settings.stall_limit_steps if environments.resolve(settings.game)[0] == "atari" else 0
        self._stalls = Stalls(envs, count, stall) if stall else None
        self.over = np.zeros(count, np.bool_)  # the next step only starts a new game, or its player has left
        self.finished = self._scores.take
        self._observations: np.ndarray | None = None  # of games that go on

    def begin(self, seed: int, alive: Callable[[], None]) -> np.ndarray:
        """Returns the observations [env, ...] of new games, or of those that go on. See `random_start`."""
        if self._observations is not None:
            return self._observations
        if not (self._limit and getattr(self._envs, "restarts_some", True)):
            observations = self._envs.reset()
            self.over = absent_players(self._envs, len(self.over)).copy()
            return observations
        observations, self.over = random_start(self._envs, self._limit, seed, self._scores, alive)
        return observations

    def step(self, slots, slot: int, row: int) -> tuple[np.ndarray, int, int]:
        """Takes the actions in a row of a rollout, and writes what came of them there.

        Returns the next observations [env, ...], the transitions made, and those of games whose code failed.
        """
        result = self._envs.step(slots["action"][slot, row])
        if self._stalls:
            result = self._stalls.after(result, self.over)
        observations, rewards, terminated, truncated, life_lost = result
        ended, lost = terminated | truncated, lost_steps(self._envs, len(self.over))
        moved = ~(self.over | lost)
        self._scores.add(rewards, moved, ended)
        self._scores.restart(lost)
        if self._scale:
            rewards = self._scale.scaled(rewards, moved, ended)
        slots["reward"][slot, row] = np.clip(rewards, -self._clip, self._clip) if self._clip else rewards
        slots["terminated"][slot, row] = terminated | life_lost
        slots["truncated"][slot, row] = truncated | lost
        slots["valid"][slot, row] = moved
        self.over = ended | absent_players(self._envs, len(ended))
        return observations, int(moved.sum()), int(lost.sum())

    def state(self) -> dict[str, np.ndarray]:
        """Returns all that games go on from, by name, not copied. The environments must have a `state` themselves."""
        arrays = self._envs.state() | {"agent/over": self.over} | self._scores.state()
        for part in filter(None, (self._scale, self._stalls)):
            arrays |= part.state()
        return arrays

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restores a `state`. Raises ValueError where it is of other games; then nothing has changed."""
        own, given = ({name: (a.shape, a.dtype) for name, a in some.items()} for some in (self.state(), arrays))
        if any(name.startswith("agent/") for name in own.keys() ^ given.keys()):
            raise ValueError("they were played with other settings: --stall-limit-steps or --reward-scaling-discount")
        if own != given:
            raise ValueError("they are of another number of games, or of other sizes")
        self._observations = self._envs.restore(arrays)
        self.over = arrays["agent/over"]
        self._scores.restore(arrays)
        for part in filter(None, (self._scale, self._stalls)):
            part.restore(arrays)
