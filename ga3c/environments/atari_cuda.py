"""Atari games of our own emulator on a GPU: as `atari_ours`, with the observations in the GPU's memory."""

import sys

import numpy as np

from ga3c.emulator import step
from ga3c.emulator.compiled import is_missing
from ga3c.emulator.cuda import kernels
from ga3c.emulator.cuda.batch import Batch
from ga3c.environments.atari_ours import OwnAtariEnvironments
from ga3c.settings.game import EnvironmentSettings


class CudaAtariEnvironments(OwnAtariEnvironments):
    """A batch of games on a GPU. Seeds and actions give the same observations, rewards and ends as on cores.

    Observations are an array in the GPU's memory, with `__cuda_array_interface__`, which the next step overwrites.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int):
        super().__init__(rom, settings, count, seed)
        if is_missing(kernels.play):
            print("Compiling the emulator for the GPU: a minute or two, once.", file=sys.stderr, flush=True)
        self._batch = Batch(self._game, self.consoles, settings.no_op_max_steps)
        self._ended, self._lives = np.zeros(count, np.int64), np.zeros(count, np.int32)
        self._draws = np.arange(self._game.frame_skip if self._game.sticky else 0)  # of one step

    def restart(self, envs: np.ndarray):
        """Starts a new game in the marked copies (bool [count], at least one). Returns all observations."""
        self._draw_sticky()
        self._play_starts(envs)
        lives = self._batch.restart(envs, self._no_ops)
        self._lives[envs], self._ended[envs] = lives[envs], 0
        if self._game.sticky:
            self.consoles.drawn[envs] += self._no_ops[envs]
        self._draw(envs)
        return self._batch.states

    def step(self, actions: np.ndarray):
        over, lives = self._ended > 0, self._lives
        self._play_starts(over)
        rewards, self._lives, self._ended = self._batch.step(self._actions[actions], over, self._no_ops, self._next())
        if self._game.sticky:
            self.consoles.drawn[:] += np.where(over, self._no_ops, self._batch.drawn)
        self._draw(over)
        life_lost = (self._lives < lives) & self._life_loss_terminates
        terminated, truncated = self._ended & step.OVER > 0, self._ended & step.CUT > 0
        return self._batch.states, rewards, terminated, truncated, life_lost

    def state(self) -> dict[str, np.ndarray]:
        """Returns the state of the games. Games on cores can restore it, and the reverse."""
        self._batch.fetch()
        return super().state()

    def restore(self, arrays: dict[str, np.ndarray]):
        """Restores a result of `state`. Returns all observations."""
        super().restore(arrays)
        self._batch.load()
        self._ended, self._lives = self.consoles.ended.copy(), self.consoles.lives.copy()
        return self._batch.states

    def _next(self) -> np.ndarray:
        """Returns the draws for sticky actions of a step, float64 [count, frames]. The GPU draws no random numbers."""
        self._draw_sticky()
        return np.take_along_axis(self.consoles.draws, self.consoles.drawn[:, None] + self._draws, axis=1)
