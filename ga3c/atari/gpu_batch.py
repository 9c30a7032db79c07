"""A batch of Atari games on a GPU: as `batch`, with the states in the GPU's memory."""

import sys

import numpy as np
from numba import cuda

from ga3c.atari.batch import Batch
from ga3c.atari.rules import Rules
from ga3c.emulator.compiled import is_missing
from ga3c.emulator.cuda import arrays, batch, dlpack, kernels


class GpuBatch(Batch):
    """Games on a GPU. Seeds and actions give the same as on cores. `threads` has no meaning here.

    `states` is an array in the GPU's memory, with `__cuda_array_interface__`, which the next step overwrites. Rewards,
    lives and ends are copied to `consoles` after each step; what a console is made of is as old as the last `state`.
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

    @staticmethod
    def given(array: np.ndarray) -> dlpack.Shared:
        return dlpack.Shared(arrays.put(array))

    @staticmethod
    def on_host(actions) -> np.ndarray:
        if hasattr(actions, "__cuda_array_interface__"):
            actions = cuda.as_cuda_array(actions).copy_to_host()
        return np.asarray(actions)

    def room(self) -> None:
        return None

    def shown(self) -> dlpack.Shared:
        """Returns a copy of the states, which other libraries may read on any stream."""
        shown = dlpack.Shared(self.gpu.shown())
        arrays.finish()
        return shown

    def pictures(self) -> np.ndarray:
        self.gpu.fetch()
        return super().pictures()

    @property
    def ram(self) -> np.ndarray:
        """A copy of the consoles' memory, uint8 [game, 128]."""
        return self.gpu.ram

    @ram.setter
    def ram(self, values: np.ndarray) -> None:
        self.gpu.ram = values

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
