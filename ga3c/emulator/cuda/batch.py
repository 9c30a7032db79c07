"""A batch of consoles in a GPU's memory, stepped there."""

import numpy as np
from numba import cuda
from numba.cuda.core import config

from ga3c.emulator import games, step
from ga3c.emulator.cuda import kernels
from ga3c.emulator.threads import GOES_ON, orders

# The threads of a warp wait for each other wherever their games are at different places. So a warp gets as few
# consoles as leave no processor without: this many warps of a processor have room for their registers.
WARPS_PER_PROCESSOR = 8
WARP_THREADS = 32
PIXEL_GRID = (1, 4) if config.ENABLE_CUDASIM else (2048, 256)  # blocks, threads of each


class Batch:
    """`count` consoles of a game, with frames of `size` pixels, `stack` of them a state."""

    def __init__(self, game: step.Game, count: int, size: int, stack: int, no_op_max_steps: int):
        record_bytes, pixels = game.starts.shape[1], game.start_pictures.shape[1]
        self._starts, self._no_op_counts = len(game.starts), max(no_op_max_steps, 1)
        self._cache = _put(self._beginnings(game, record_bytes, pixels, size))
        self._game = _put(game._replace(starts=game.starts[:1], start_pictures=game.start_pictures[:1]))
        self._consoles = _room(step.consoles(count, record_bytes, pixels, size, stack, draws=0))
        self._orders = _room(orders(count, record_bytes, games.STATE))
        self._begun = np.zeros(count, np.int64)
        self._play_grid = _play_grid(count)

    def _beginnings(self, game: step.Game, record_bytes: int, pixels: int, size: int) -> step.Consoles:
        """Played on a core: each start with each number of no-ops."""
        count = self._starts * self._no_op_counts
        cache = step.consoles(count, record_bytes, pixels, size, 1, draws=0)
        cache.begun[:] = np.arange(count) // self._no_op_counts
        step.restart(game, cache, np.ones(count, bool), np.arange(count) % self._no_op_counts)
        return cache

    @property
    def states(self):
        """uint8 [count, size, size, stack] in the GPU's memory: the next step writes over it."""
        return self._consoles.states

    def restart(self, which: np.ndarray, no_ops: np.ndarray) -> np.ndarray:
        """Begins a game in the marked consoles (bool [count]), with so many no-ops (int64 [count]). Returns lives."""
        self._enter(which, no_ops)
        self._begin()
        self._look()
        return np.array(self._consoles.lives)

    def step(self, actions: np.ndarray, over: np.ndarray, no_ops: np.ndarray) -> tuple[np.ndarray, ...]:
        """`actions` (int64 [count]) are ALE's numbers; where a game was `over` (bool [count]), one begins instead.

        Returns rewards, lives (int32 [count], both), and how games ended (int64 [count], the bits of `step`).
        """
        consoles = self._consoles
        self._orders.actions[:] = actions
        self._enter(over, no_ops)
        self._begin()
        kernels.play[self._play_grid](self._game, consoles, self._orders)
        kernels.see[PIXEL_GRID](self._game, consoles, self._orders)
        self._look()
        return np.array(consoles.rewards), np.array(consoles.lives), np.array(consoles.ended)

    def _enter(self, which: np.ndarray, no_ops: np.ndarray) -> None:
        entries = self._begun % self._starts * self._no_op_counts + no_ops
        self._orders.entries[:] = np.where(which, entries, GOES_ON)
        self._begun[which] += 1

    def _begin(self) -> None:
        kernels.begin[PIXEL_GRID](self._cache, self._consoles, self._orders)

    def _look(self) -> None:
        kernels.look[PIXEL_GRID](self._game, self._consoles, self._orders)


def _play_grid(count: int) -> tuple[int, int]:
    """Blocks, and consoles of each; a block is one warp."""
    processors = 1 if config.ENABLE_CUDASIM else cuda.get_current_device().MULTIPROCESSOR_COUNT
    consoles_per_warp = min(-(-count // (processors * WARPS_PER_PROCESSOR)), WARP_THREADS)
    return -(-count // consoles_per_warp), consoles_per_warp


def _put(arrays):
    """A named tuple with its arrays, and those of its named tuples, copied into the GPU's memory."""
    if isinstance(arrays, tuple):
        return type(arrays)(*map(_put, arrays))
    if not isinstance(arrays, np.ndarray):
        return arrays
    return arrays.copy() if config.ENABLE_CUDASIM else cuda.to_device(arrays)


def _room(arrays):
    """As much room in the GPU's memory as a named tuple of arrays takes."""
    make = np.empty if config.ENABLE_CUDASIM else cuda.device_array
    return type(arrays)(*(make(one.shape, one.dtype) for one in arrays))
