"""Games that a recorder sees while they are played."""

from typing import NamedTuple, Protocol

import numpy as np

from ga3c.environments.checked import blaming

RAM, LOG_PROBABILITY = "ram", "log_probability"  # names of infos


class Step(NamedTuple):
    """One step of a game."""

    action: np.ndarray  # as the agent has chosen it
    reward: float  # not clipped
    terminated: bool
    truncated: bool
    observation: np.ndarray  # after the step, as the agent sees it
    infos: dict[str, np.ndarray | float]


class Recorder(Protocol):
    """Takes in the games of several environments that step together."""

    def begin(self, env: int, seed: int | None, observation: np.ndarray, infos: dict) -> None:
        """Begins a game. The one before it in this environment, if it has not ended, is cut off here.

        seed: that of the environment; None: the game follows another one in it.
        """

    def step(self, env: int, step: Step) -> None:
        """Adds a step to the game of an environment."""

    def close(self) -> None:
        """Cuts off the games that have not ended, and completes the record."""


class RecordedGames:
    """Games as `environments.make` returns them, with everything else that they have. A recorder sees each step.

    `reset` and `step` raise ConfigError where the game's own code fails.
    """

    def __init__(self, games, recorder: Recorder, seed: int, with_ram: bool = False, once: bool = False):
        """seed: the one that the games were made with. with_ram: the console's memory is recorded, too (Atari games on
        our own emulator). once: of each environment only the first game is recorded."""
        self._games, self._recorder, self._seed, self._once = games, recorder, seed, once
        self._with_ram, self._blame = with_ram, f"The game '{games.spec.name}' failed"
        self.over = np.zeros(0, np.bool_)  # bool [env]: the next step begins a new game, or is not recorded

    def __getattr__(self, name: str):
        return getattr(self._games, name)

    def reset(self) -> np.ndarray:
        with blaming(self._blame):
            observations = self._games.reset()
        self.over = np.zeros(len(observations), np.bool_)
        for env, observation in enumerate(observations):
            self._recorder.begin(env, (self._seed + env) % 2**31, observation.copy(), self._infos(env))
        return observations

    def step(self, actions: np.ndarray, log_probabilities: np.ndarray | None = None) -> tuple:
        """Steps the games. log_probabilities: of the actions, where they are known."""
        with blaming(self._blame):
            found = observations, rewards, terminated, truncated, _ = self._games.step(actions)
        for env, observation in enumerate(observations):
            if not self.over[env]:
                known = {} if log_probabilities is None else {LOG_PROBABILITY: np.float32(log_probabilities[env])}
                ends = bool(terminated[env]), bool(truncated[env])
                one = Step(actions[env], float(rewards[env]), *ends, observation.copy(), self._infos(env) | known)
                self._recorder.step(env, one)
            elif not self._once:
                self._recorder.begin(env, None, observation.copy(), self._infos(env))
        self.over = terminated | truncated | (self.over & self._once)
        return found

    def _infos(self, env: int) -> dict[str, np.ndarray]:
        return {RAM: self._games.batch.ram[env].copy()} if self._with_ram else {}
