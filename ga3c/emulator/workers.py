"""Steps a batch of consoles on several threads.

Each thread takes the next console from a counter until none is left, so slow games delay nobody. All but the caller's
thread stay in compiled code and sleep in `read` until a byte comes through their pipe: no Python runs to hand out work.
"""

import os
import threading
import weakref
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

import numpy as np
from numba import types

from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import add64, exchange64
from ga3c.emulator.step import Consoles, Game, play_one, work_for
from ga3c.emulator.views import View, show, work_for_view

# Offsets in bytes of what threads share, each in a cache line of its own.
NEXT, DONE, STOP, BYTES, SHARED_BYTES = range(0, 320, 64)  # BYTES: room for what comes out of the pipes
CALLER = -1  # in place of a pipe
PATIENCE = 200  # how often the caller looks whether all is done before it sleeps for a moment
_read = types.ExternalFunction("read", types.int64(types.int32, types.int64, types.int64))
_write = types.ExternalFunction("write", types.int64(types.int32, types.int64, types.int64))
_sched_yield = types.ExternalFunction("sched_yield", types.int32())
_usleep = types.ExternalFunction("usleep", types.int32(types.uint32))


class Job(NamedTuple):
    """Holds the orders of a step; the first axis of all arrays but `target` is [console]."""

    which: np.ndarray  # bool: the consoles to step; the others stay as they are
    actions: np.ndarray  # int64, ALE's numbers
    no_ops: np.ndarray  # int64: of the game that begins where one has ended
    target: np.ndarray  # int64 [2]: the address of what is shown (0: nowhere), and the bytes of a console there


@compiled
def serve(game, view, consoles, job, shared, pipe, wakes):
    """Steps consoles as often as a byte comes out of `pipe`, until STOP is set.

    The CALLER wakes others by their pipes (int32 [.]), takes part once, and returns when all consoles are stepped.
    """
    work, view_work, count = work_for(game), work_for_view(view), len(job.which)
    base = np.int64(shared.ctypes.data)
    if pipe == CALLER:
        exchange64(base, DONE, 0)
        exchange64(base, NEXT, 0)
        for other in wakes:
            _write(other, base + BYTES, 1)
    while True:
        if pipe != CALLER:
            _read(pipe, base + BYTES, 1)
            if add64(base, STOP, 0):
                return
        console = add64(base, NEXT, 1)
        while console < count:
            if job.which[console]:
                frames = consoles.frames[console]
                play_one(game, consoles, console, job.actions[console], job.no_ops[console], work)
                target = job.target[0] + console * job.target[1]
                show(view, game, consoles, console, frames, view_work, target)
            add64(base, DONE, 1)
            console = add64(base, NEXT, 1)
        if pipe == CALLER:
            looks = 0
            while add64(base, DONE, 0) < count:
                looks += 1
                if looks < PATIENCE:
                    _sched_yield()
                else:
                    _usleep(20)
            return


class Workers:
    """The threads that step a batch: the caller's, and `threads` - 1 of their own, which end with this object."""

    def __init__(self, game: Game, view: View, consoles: Consoles, threads: int = 1):
        count = len(consoles.frames)
        self._batch = game, view, consoles
        self._job = Job(
            np.ones(count, bool), np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(2, np.int64)
        )
        self._shared = np.zeros(SHARED_BYTES // 8, np.int64)
        self._shared[NEXT // 8] = count
        pipes = _pipes(min(threads, count) - 1)
        self._wakes = np.array([write for _, write in pipes], np.int32)
        started = [threading.Thread(target=self._serving(read), daemon=True) for read, _ in pipes]
        for thread, (_, write) in zip(started, pipes, strict=True):
            os.set_blocking(write, False)  # a thread that gets no core for long leaves its bytes in the pipe
            thread.start()
        self.close = weakref.finalize(self, _end, self._shared, self._wakes, started, pipes)

    def _serving(self, pipe: int):
        """Returns the function of a thread. It holds no reference to this object, which could otherwise never end."""
        arguments = *self._batch, self._job, self._shared, np.int32(pipe), self._wakes[:0]
        return lambda: serve(*arguments)

    def step(
        self, which: np.ndarray, actions: np.ndarray, no_ops: np.ndarray, target: np.ndarray | None = None
    ) -> None:
        """Steps the marked consoles (bool [console]), or begins a game, with its no-ops, where the last one has ended.

        `actions` and `no_ops` are int64 [console]. What the view shows is written to `target`, [console, ...].
        """
        job = self._job
        job.which[:], job.actions[:], job.no_ops[:] = which, actions, no_ops
        job.target[:] = (0, 0) if target is None else (target.ctypes.data, target.strides[0])
        helpers = min(len(self._wakes), int(np.count_nonzero(which)) - 1)
        serve(*self._batch, job, self._shared, np.int32(CALLER), self._wakes[: max(helpers, 0)])


def _pipes(count: int) -> list[tuple[int, int]]:
    """Returns so many pipes. Raises ValueError where this process may not have as many open files."""
    pipes = []
    try:
        for _ in range(count):
            pipes.append(os.pipe())
    except OSError as error:
        for end in chain(*pipes):
            os.close(end)
        raise ValueError(
            f"This process may open no more files ({error.strerror}), and each thread needs two: use fewer threads, or "
            "raise the limit (ulimit -n)."
        ) from error
    return pipes


def _end(shared: np.ndarray, wakes: np.ndarray, threads: list[threading.Thread], pipes: list[tuple[int, int]]) -> None:
    shared[STOP // 8], wakes[:] = 1, -1  # their numbers may soon be those of other files
    for thread, (read, write) in zip(threads, pipes, strict=True):
        with suppress(BlockingIOError):  # a full pipe wakes the thread, too
            os.write(write, b"\0")
        thread.join()
        os.close(read)
        os.close(write)
