"""Agent: a process that steps its games, asks for actions and ships finished rollouts.

Never imports TensorFlow: agents start fast and stay small.
"""

import numpy as np

from ga3c.prediction_queue import Order, PredictionClient
from ga3c.settings.game import EnvironmentSettings
from ga3c.training_queue import Episode, TrainingClient
from ga3c.transport.agent_memory import AgentMemory, Doing


class Scores:
    """True scores and lengths of the games in progress, by environment."""

    def __init__(self, envs: int):
        self._scores = np.zeros(envs)
        self._lengths = np.zeros(envs, np.int64)
        self.finished: list[Episode] = []

    def add(self, rewards: np.ndarray, moved: np.ndarray, ended: np.ndarray) -> None:
        """One step: `moved` marks environments that made a transition, `ended` those whose game is over."""
        self._scores += rewards * moved
        self._lengths += moved
        for env in np.flatnonzero(ended):
            self.finished.append(Episode(float(self._scores[env]), int(self._lengths[env]), int(env)))
            self.restart(env)

    def restart(self, envs: np.ndarray | int) -> None:
        """These environments have begun a new game; what they have played of theirs is forgotten."""
        self._scores[envs] = self._lengths[envs] = 0

    def take(self) -> list[Episode]:
        """The games that ended since the last call."""
        finished, self.finished = self.finished, []
        return finished

    def state(self) -> dict[str, np.ndarray]:
        return {"agent/scores": self._scores, "agent/lengths": self._lengths}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self._scores, self._lengths = arrays["agent/scores"], arrays["agent/lengths"]


def lost_steps(envs, count: int) -> np.ndarray:
    """bool [count]: the games whose last step was none, for their own code failed. Most have no such thing."""
    return getattr(envs, "lost", np.zeros(count, np.bool_))


def random_start(
    envs, limit_steps: int, seed: int, memory: AgentMemory, scores: Scores
) -> tuple[np.ndarray, np.ndarray]:
    """Each game takes a random number of random steps, which nobody learns from: so start states are decorrelated.

    Stooke and Abbeel 2018, section 5.3. All games step together: one that takes fewer begins anew when as many are
    left. A game under way counts in `scores` with these steps, one that ended in them does not.

    Returns: observations [env, ...], and which games are over: their next step only starts a new one.
    """
    observations, count = envs.reset(), memory.slots["action"].shape[2]
    over = np.zeros(count, np.bool_)
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
            memory.now(Doing.STARTING)  # a sign of life
    scores.take()
    return observations, over


class RewardScale:
    """What rewards are divided by: the running deviation of the return so far, R <- discount R + r, in these games.

    As Gymnasium's and OpenAI Baselines' normalized rewards. With a `limit` they are kept as long as the largest is
    neither above it nor, when as many games have ended as there are, below its inverse.
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
        """One step; arguments as those of `Scores.add`."""
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
    """Games under way: what an agent knows of them besides what lies in its slots."""

    def __init__(self, envs, count: int, settings: EnvironmentSettings):
        discount, self._limit = settings.reward_scaling_discount, settings.start_steps_limit
        self.envs, self.scores = envs, Scores(count)
        self.scale = RewardScale(count, discount, settings.reward_scaling_limit) if discount else None
        self.over = np.zeros(count, np.bool_)  # the next step only starts a new one
        self._observations: np.ndarray | None = None  # of games that go on

    def begin(self, seed: int, memory: AgentMemory) -> np.ndarray:
        """Returns the observations [env, ...] of new games, or of those that go on."""
        if self._observations is not None:
            return self._observations
        if not self._limit:
            return self.envs.reset()
        observations, self.over = random_start(self.envs, self._limit, seed, memory, self.scores)
        return observations

    def state(self) -> dict[str, np.ndarray]:
        """All of it by name, from which games go on; not copied. Of environments that have a `state` themselves."""
        arrays = self.envs.state() | {"agent/over": self.over} | self.scores.state()
        return arrays | (self.scale.state() if self.scale else {})

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The inverse of `state`. Raises ValueError where it is of other games; then nothing has changed."""
        own, given = ({name: (a.shape, a.dtype) for name, a in of.items()} for of in (self.state(), arrays))
        if own != given:
            raise ValueError("they are of another number of games, or of other sizes")
        self._observations = self.envs.restore(arrays)
        self.over = arrays["agent/over"]
        self.scores.restore(arrays)
        if self.scale:
            self.scale.restore(arrays)


def play(
    envs,
    memory: AgentMemory,
    predictions: PredictionClient,
    training: TrainingClient,
    settings: EnvironmentSettings,
    seed: int,
    at_once: bool,
    games: Games | None = None,
) -> None:
    """Plays until the server says that it is enough, then ships what is left of the last rollout.

    `seed`: of what is random before the first request. `at_once`: a rollout goes on over the end of games, and is
    shipped when it is complete. Else it ends with them (paper), and waits for its bootstrap value, which comes with
    the answer to the row that follows it. `games`: of these environments, where they go on, or shall be saved.
    """
    slots = memory.slots
    t_max, count = slots["action"].shape[1:3]
    games, clip = games or Games(envs, count, settings), settings.reward_clip
    scores, scale = games.scores, games.scale
    complete: tuple[int, int, int] | None = None  # slot, length, transitions; waits for its bootstrap value

    slot, row, transitions = training.free_slot(), 0, 0
    slots["observation"][slot, 0] = games.begin(seed, memory)
    memory.add_steps(0)  # CPU time of the start is none of a silence
    while True:
        predictions.ask(slot, row)
        memory.requested()
        memory.now(Doing.WAITING_FOR_ANSWER)
        order = predictions.wait()
        memory.now(Doing.STEPPING)
        if complete:
            # The first value of this rollout is the one that follows the rollout before it.
            slots["bootstrap_value"][complete[0]] = slots["value"][slot, 0]
            training.ship(*complete, scores.take())
            memory.shipped()
            complete = None
        if order == Order.PAUSE:
            memory.now(Doing.PAUSING)
            order = predictions.wait()
            if order == Order.GO_ON:
                continue  # with a new answer to the same row
        if order == Order.FINISH:
            if row:
                slots["bootstrap_value"][slot] = slots["value"][slot, row]
                slots["last_observation"][slot] = slots["observation"][slot, row]
                training.ship(slot, row, transitions, scores.take())
                memory.shipped()
            return

        observations, rewards, terminated, truncated, life_lost = envs.step(slots["action"][slot, row])
        lost = lost_steps(envs, count)
        moved = ~(games.over | lost)
        scores.add(rewards, moved, terminated | truncated)
        scores.restart(lost)
        if scale:
            rewards = scale.scaled(rewards, moved, terminated | truncated)
        slots["reward"][slot, row] = np.clip(rewards, -clip, clip) if clip else rewards
        slots["terminated"][slot, row] = terminated | life_lost
        slots["truncated"][slot, row] = truncated | lost
        slots["valid"][slot, row] = moved
        moves = int(moved.sum())
        memory.add_steps(moves + int(lost.sum()))
        transitions += moves
        games.over = terminated | truncated
        row += 1
        if row == t_max or (games.over.all() and not at_once):
            slots["last_observation"][slot] = observations
            if at_once:
                training.ship(slot, row, transitions, scores.take())
                memory.shipped()
            else:
                complete = slot, row, transitions
            memory.now(Doing.WAITING_FOR_SLOT)
            slot, row, transitions = training.free_slot(), 0, 0
            memory.now(Doing.STEPPING)
        slots["observation"][slot, row] = observations
