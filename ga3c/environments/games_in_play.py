"""Games in play: what a player knows of its games besides what lies in its slots."""

from collections.abc import Callable

import numpy as np

from ga3c.rollout import Episode
from ga3c.settings.game import EnvironmentSettings


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


def lost_steps(envs, count: int) -> np.ndarray:
    """Returns bool [count]: the games whose last step was none, because their own code failed. Most have no `lost`."""
    return getattr(envs, "lost", np.zeros(count, np.bool_))


def random_start(
    envs, limit_steps: int, seed: int, scores: Scores, alive: Callable[[], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Lets each game take a random number of random steps, which nobody learns from: this decorrelates start states.

    Stooke and Abbeel 2018, section 5.3. All games step together: one that takes fewer steps begins anew when as many
    are left. A game under way counts these steps in `scores`, one that ended in them does not. `alive()` is called
    after each step. Returns the observations [env, ...], and which games are over: their next step only starts a new
    one.
    """
    count = len(scores)
    observations, over = envs.reset(), np.zeros(count, np.bool_)
    random = np.random.default_rng([seed, 1])  # with the seed alone it would be the first game's own
    steps = random.integers(limit_steps + 1, size=count)
    for left in range(int(steps.max()), -1, -1):
        begin = steps == left
        if begin.any():
            observations = envs.restart(begin)
            scores.restart(begin)
            over &= ~begin
        if left:
            observations, rewards, terminated, truncated, _ = envs.step(envs.spec.actions.random(random, count))
            scores.add(rewards, ~over, terminated | truncated)
            scores.restart(lost_steps(envs, count))
            over = terminated | truncated
            alive()
    scores.take()
    return observations, over


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


class Games:
    """The games of one player, under way."""

    def __init__(self, envs, count: int, settings: EnvironmentSettings):
        discount, self._clip = settings.reward_scaling_discount, settings.reward_clip
        self._limit = settings.start_steps_limit
        self._envs, self._scores = envs, Scores(count)
        self._scale = RewardScale(count, discount, settings.reward_scaling_limit) if discount else None
        self.over = np.zeros(count, np.bool_)  # the next step only starts a new game
        self.finished = self._scores.take
        self._observations: np.ndarray | None = None  # of games that go on

    def begin(self, seed: int, alive: Callable[[], None]) -> np.ndarray:
        """Returns the observations [env, ...] of new games, or of those that go on. See `random_start`."""
        if self._observations is not None:
            return self._observations
        if not self._limit:
            return self._envs.reset()
        observations, self.over = random_start(self._envs, self._limit, seed, self._scores, alive)
        return observations

    def step(self, slots, slot: int, row: int) -> tuple[np.ndarray, int, int]:
        """Takes the actions in a row of a rollout, and writes what came of them there.

        Returns the next observations [env, ...], the transitions made, and those of games whose code failed.
        """
        observations, rewards, terminated, truncated, life_lost = self._envs.step(slots["action"][slot, row])
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
        self.over = ended
        return observations, int(moved.sum()), int(lost.sum())

    def state(self) -> dict[str, np.ndarray]:
        """Returns all that games go on from, by name, not copied. The environments must have a `state` themselves."""
        arrays = self._envs.state() | {"agent/over": self.over} | self._scores.state()
        return arrays | (self._scale.state() if self._scale else {})

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Restores a `state`. Raises ValueError where it is of other games; then nothing has changed."""
        own, given = ({name: (a.shape, a.dtype) for name, a in some.items()} for some in (self.state(), arrays))
        if own != given:
            raise ValueError("they are of another number of games, or of other sizes")
        self._observations = self._envs.restore(arrays)
        self.over = arrays["agent/over"]
        self._scores.restore(arrays)
        if self._scale:
            self._scale.restore(arrays)
