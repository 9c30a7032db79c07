"""A batch of Atari games on a GPU: as `batch`, with the states in the GPU's memory."""

import sys

import numpy as np

from ga3c.atari.batch import Batch
from ga3c.atari.rules import Rules
from ga3c.emulator.compiled import is_missing
from ga3c.emulator.cuda import batch, kernels


class GpuBatch(Batch):
    """Games on a GPU. Seeds and actions give the same as on cores. `threads` has no meaning here.

    `states` is an array in the GPU's memory, with `__cuda_array_interface__`, which the next step overwrites. Rewards,
    lives and ends are copied to `consoles` after each step; all else of `consoles` is as old as the last `state`.
    """

    def __init__(self, rom: str, rules: Rules, seeds: np.ndarray, threads: int = 1):
        super().__init__(rom, rules, seeds)
        if is_missing(kernels.play):
            print("Compiling the emulator for the GPU: a minute or two, once.", file=sys.stderr, flush=True)
        self.gpu = batch.Batch(self.game, self.consoles, rules.noop_max)
        self._draws = np.arange(self.game.frame_skip if self.game.sticky else 0)  # of one step

    @property
    def states(self):
        """The observations, uint8 [game, size, size, stack]."""
        return self.gpu.states

    def _step(self, which: np.ndarray, begins: np.ndarray, actions: np.ndarray, target: None) -> None:
        consoles, no_ops = self.consoles, self.chance.no_ops
        if (begins == which).all():
            lives = self.gpu.restart(begins, no_ops)
            consoles.rewards[begins], consoles.lives[begins], consoles.ended[begins] = 0, lives[begins], 0
            drawn = no_ops * begins
        else:
            draws = np.take_along_axis(consoles.draws, consoles.drawn[:, None] + self._draws, axis=1)
            consoles.rewards[:], consoles.lives[:], consoles.ended[:] = self.gpu.step(actions, begins, no_ops, draws)
            drawn = np.where(begins, no_ops, self.gpu.drawn)
        if self.game.sticky:
            consoles.drawn[:] += drawn

    def state(self, which=slice(None)) -> dict[str, np.ndarray]:
        """Returns the state of these games. Games on cores can restore it, and the reverse."""
        self.gpu.fetch()
        return super().state(which)

    def restore(self, arrays: dict[str, np.ndarray], which=slice(None)) -> None:
        self.gpu.fetch()
        super().restore(arrays, which)
        self.gpu.load()
