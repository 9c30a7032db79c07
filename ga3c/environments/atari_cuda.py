"""Atari games on our own console, on a GPU: what `atari_ours` gives, with the observations in the GPU's memory."""

import numpy as np

from ga3c.emulator import step
from ga3c.emulator.cuda.batch import Batch
from ga3c.environments.atari_ours import OwnAtariEnvironments
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings

STARTS = 16  # of a game, which come again then: all of them, with each number of no-ops, lie in the GPU's memory


class CudaAtariEnvironments(OwnAtariEnvironments):
    """The same seeds and actions give the same observations, rewards, lives and ends.

    Observations are an array in the GPU's memory, with `__cuda_array_interface__`; a step writes over them.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int):
        """Raises ConfigError with sticky actions: their draws are not on the GPU."""
        if settings.sticky_action_probability:
            raise ConfigError("There are no sticky actions on a GPU: leave --sticky-action-probability out.")
        super().__init__(rom, settings, count, seed)
        size, stack = settings.frame_size_pixels, settings.frame_stack
        self._batch = Batch(self.first_starts(STARTS), count, size, stack, settings.no_op_max_steps)
        self._ended, self._lives = np.zeros(count, np.int64), np.zeros(count, np.int32)

    def restart(self, envs: np.ndarray):
        """Starts a new game in the marked copies (bool [count], one at the least). Returns all observations."""
        lives = self._batch.restart(envs, self._no_ops)
        self._lives[envs], self._ended[envs] = lives[envs], 0
        self._draw(envs)
        return self._batch.states

    def step(self, actions: np.ndarray):
        over, lives = self._ended > 0, self._lives
        rewards, self._lives, self._ended = self._batch.step(self._actions[actions], over, self._no_ops)
        self._draw(over)
        life_lost = (self._lives < lives) & self._life_loss_terminates
        terminated, truncated = self._ended & step.OVER > 0, self._ended & step.CUT > 0
        return self._batch.states, rewards, terminated, truncated, life_lost
