"""A batch of consoles in a GPU's memory, stepped there."""

import numpy as np
from numba import cuda
from numba.cuda.core import config

from ga3c.emulator import games, step
from ga3c.emulator.cuda import arrays, kernels
from ga3c.emulator.threads import GOES_ON, orders

# The threads of a warp wait for each other wherever their games are at different places. So a warp gets as few
# consoles as leave no processor without: this many warps of a processor have room for their registers.
WARPS_PER_PROCESSOR = 8
WARP_THREADS = 32
CONSOLE_BYTES = 125_000  # beside its state: three pictures, and twice its record
PIXEL_GRID = (1, 4) if config.ENABLE_CUDASIM else (2048, 256)  # blocks, threads of each


class Batch:
    """`count` consoles of a game, with frames of `size` pixels, `stack` of them a state."""

    def __init__(self, game: step.Game, count: int, size: int, stack: int, no_op_max_steps: int):
        record_bytes, pixels = game.starts.shape[1], game.start_pictures.shape[1]
        self._starts, self._no_op_counts = len(game.starts), max(no_op_max_steps, 1)
        self._cache = arrays.put(self._beginnings(game, record_bytes, pixels, size))
        self._game = arrays.put(game._replace(starts=game.starts[:1], start_pictures=game.start_pictures[:1]))
        draws = game.frame_skip if game.sticky else 0  # of a step
        self._consoles = arrays.room(step.consoles(count, record_bytes, pixels, size, stack, draws))
        self._orders = arrays.room(orders(count, record_bytes, games.STATE))
        self._begun = np.zeros(count, np.int64)
        self._of_consoles = set(step.Consoles._fields) - {"begun", "draws", "drawn"}
        self._play_grid = _play_grid(count)

    def _beginnings(self, game: step.Game, record_bytes: int, pixels: int, size: int) -> step.Consoles:
        """Played on a core: each start with each number of no-ops, of which it does not matter if they are sticky."""
        game = game._replace(sticky=0.0)
        count = self._starts * self._no_op_counts
        cache = step.consoles(count, record_bytes, pixels, size, 1, draws=0)
        cache.begun[:] = np.arange(count) // self._no_op_counts
        step.restart(game, cache, np.ones(count, bool), np.arange(count) % self._no_op_counts)
        return cache

    @property
    def states(self):
        """uint8 [count, size, size, stack] in the GPU's memory: the next step writes over it."""
        return self._consoles.states

    @property
    def drawn(self) -> np.ndarray:
        """int64 [count]: how many of the step's draws each has used; where a game began, any number."""
        return np.array(self._consoles.drawn)

    def fetch(self, consoles: step.Consoles) -> None:
        """Copies what each console has to where a batch on the cores has it, but for what the host draws."""
        for name in self._of_consoles:
            getattr(consoles, name)[:] = np.asarray(getattr(self._consoles, name))
        consoles.begun[:] = self._begun

    def load(self, consoles: step.Consoles) -> None:
        """The inverse of `fetch`."""
        for name in self._of_consoles:
            arrays.write(getattr(self._consoles, name), getattr(consoles, name))
        self._begun[:] = consoles.begun

    def restart(self, which: np.ndarray, no_ops: np.ndarray) -> np.ndarray:
        """Begins a game in the marked consoles (bool [count]), with so many no-ops (int64 [count]). Returns lives."""
        self._enter(which, no_ops)
        self._begin()
        self._look()
        return np.array(self._consoles.lives)

    def step(
        self, actions: np.ndarray, over: np.ndarray, no_ops: np.ndarray, draws: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """`actions` (int64 [count]) are ALE's numbers; where a game was `over` (bool [count]), one begins instead.
        `draws` (float64 [count, frames]): which frames repeat an action; [count, 0] where none does.

        Returns rewards, lives (int32 [count], both), and how games ended (int64 [count], the bits of `step`).
        """
        consoles = self._consoles
        arrays.write(self._orders.actions, actions)
        arrays.write(consoles.draws, draws)
        self._enter(over, no_ops)
        self._begin()
        kernels.play[self._play_grid](self._game, consoles, self._orders)
        kernels.see[PIXEL_GRID](self._game, consoles, self._orders)
        self._look()
        return np.array(consoles.rewards), np.array(consoles.lives), np.array(consoles.ended)

    def _enter(self, which: np.ndarray, no_ops: np.ndarray) -> None:
        entries = self._begun % self._starts * self._no_op_counts + no_ops
        arrays.write(self._orders.entries, np.where(which, entries, GOES_ON))
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
