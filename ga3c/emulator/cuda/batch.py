"""A batch of consoles in a GPU's memory, stepped on the GPU."""

from functools import partial

import numpy as np
from numba import cuda
from numba.cuda.core import config

from ga3c.emulator import games, state, step, views
from ga3c.emulator.cuda import arrays, kernels
from ga3c.emulator.threads import GOES_ON, orders
from ga3c.emulator.workers import Workers

# Threads of a warp wait for each other where their games execute different code, but many small warps are slow, too.
# This number was best on an H200.
WARPS_PER_PROCESSOR = 2
WARP_THREADS = 32
CONSOLE_BYTES = 125_000  # of a console without its state: three pictures, and its record twice
CONSOLE_FIELDS = tuple(name for name in step.Consoles._fields if name not in ("begun", "draws", "drawn"))
BEGINNING_FIELDS = "records", "readings", "pictures", "turns", "seen", "lives"
PIXEL_GRID = (1, 4) if config.ENABLE_CUDASIM else (2048, 256)  # blocks, threads of a block


class Batch:
    """Consoles of a game on the GPU, of the shapes of `host`'s, which counts the games that each has begun."""

    def __init__(self, game: step.Game, host: step.Consoles, no_op_max_steps: int):
        count, size, _, _ = host.states.shape
        record_bytes, pixels = host.records.shape[1], host.seen.shape[1]
        self._no_op_counts = max(no_op_max_steps, 1)
        # The cache has each start with each number of no-ops, computed when it is first needed.
        numbers = np.arange(len(game.starts), dtype=np.uint8)
        self._order, self._beginning = game.order, game._replace(sticky=0.0, order=numbers)  # no-ops are never sticky
        self._played = partial(step.consoles, record_bytes=record_bytes, pixels=pixels, size=size, stack=1, draws=0)
        self._is_there = np.zeros(len(game.starts) * self._no_op_counts, bool)
        self._cache = arrays.room(self._played(len(self._is_there)))
        self._game = arrays.put(game._replace(starts=game.starts[:1], start_pictures=game.start_pictures[:1]))
        draws = np.zeros((count, game.frame_skip if game.sticky else 0))  # those of one step
        self._host, self._consoles = host, arrays.room(host._replace(draws=draws))
        self._orders = arrays.room(orders(count, record_bytes, games.STATE))
        self._play_grid = _play_grid(count)

    @property
    def states(self):
        """The observations, uint8 [count, size, size, stack], in the GPU's memory. The next step overwrites them."""
        return self._consoles.states

    def shown(self):
        """Returns a copy of the states in the GPU's memory, uint8 [count, stack, size, size]."""
        count, size, _, stack = self._consoles.states.shape
        target = arrays.empty((count, stack, size, size), np.uint8)
        kernels.show[PIXEL_GRID](target, self._consoles, self._orders)
        return target

    @property
    def ram(self) -> np.ndarray:
        """A copy of the consoles' memory, uint8 [count, 128]."""
        return np.array(self._consoles.records)[:, : state.RAM_BYTES]

    @ram.setter
    def ram(self, values: np.ndarray) -> None:
        records = np.array(self._consoles.records)
        records[:, : state.RAM_BYTES] = values
        arrays.write(self._consoles.records, records)

    @property
    def drawn(self) -> np.ndarray:
        """The number of the step's draws that each console used, int64 [count]; undefined if it began a game."""
        return np.array(self._consoles.drawn)

    def fetch(self) -> None:
        """Copies the consoles' fields to the host, except those that the host keeps itself."""
        for name in CONSOLE_FIELDS:
            getattr(self._host, name)[:] = np.asarray(getattr(self._consoles, name))

    def load(self) -> None:
        """Copies the consoles' fields from the host: the inverse of `fetch`."""
        for name in CONSOLE_FIELDS:
            arrays.write(getattr(self._consoles, name), getattr(self._host, name))

    def restart(self, which: np.ndarray, no_ops: np.ndarray) -> np.ndarray:
        """Begins a game, with its no-ops (int64 [count]), in the marked consoles (bool [count]). Returns the lives."""
        self._enter(which, no_ops)
        self._begin()
        self._look()
        return np.array(self._consoles.lives)

    def step(
        self, actions: np.ndarray, over: np.ndarray, no_ops: np.ndarray, draws: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Steps all consoles by their actions (int64 [count], ALE's numbers); those `over` (bool [count]) begin a game
        instead. `draws` (float64 [count, frames]) decide on sticky actions; [count, 0] without these.

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
        starts = self._order[self._host.begun % len(self._order)].astype(np.int64)
        entries = starts * self._no_op_counts + no_ops
        self._play_beginnings(np.unique(entries[which]))
        arrays.write(self._orders.entries, np.where(which, entries, GOES_ON))
        self._host.begun[which] += 1

    def _play_beginnings(self, entries: np.ndarray) -> None:
        """Plays the beginnings that are not in the cache yet, on a core, and copies them there."""
        new = entries[~self._is_there[entries]]
        if not len(new):
            return
        played = self._played(len(new))
        played.begun[:] = new // self._no_op_counts
        played.ended[:] = step.OVER
        all_of_them, actions = np.ones(len(new), bool), np.zeros(len(new), np.int64)
        Workers(self._beginning, views.of_states(), played).step(all_of_them, actions, new % self._no_op_counts)
        for number, entry in enumerate(new):
            for name in BEGINNING_FIELDS:
                target, source = getattr(self._cache, name), getattr(played, name)
                arrays.write(target[entry : entry + 1], source[number : number + 1])
        self._is_there[new] = True

    def _begin(self) -> None:
        kernels.begin[PIXEL_GRID](self._cache, self._consoles, self._orders)

    def _look(self) -> None:
        kernels.look[PIXEL_GRID](self._game, self._consoles, self._orders)


def _play_grid(count: int) -> tuple[int, int]:
    """Returns the number of blocks, and the consoles of a block, which is one warp."""
    processors = 1 if config.ENABLE_CUDASIM else cuda.get_current_device().MULTIPROCESSOR_COUNT
    consoles_per_warp = min(-(-count // (processors * WARPS_PER_PROCESSOR)), WARP_THREADS)
    return -(-count // consoles_per_warp), consoles_per_warp
