"""Shows a player a console after a step: its state, or colours and whole pictures, which are computed here."""

from typing import NamedTuple

import numpy as np
from numba import carray

from ga3c.emulator.compiled import compiled, inner
from ga3c.emulator.pointers import bytes_at
from ga3c.emulator.shrink import Cover, cover, shrink
from ga3c.emulator.step import copy, last_pictures

STATES, OWN = range(2)  # the states of `step`, with the stack as the first axis; what this file computes
MAX, MEAN, LAST = range(3)


class View(NamedTuple):
    """Holds the pictures that are shown of a batch; the first axis of `seen` and `frames` is [console]."""

    kind: int
    pool: int  # how the last two pictures become one
    tones: np.ndarray  # uint8 [planes, 256], indexed by colour: grey, or red, green and blue
    rows: Cover
    columns: Cover
    seen: np.ndarray  # uint8 [., planes, pixels]: the last picture, before scaling
    frames: np.ndarray  # uint8 [., stack, height, width, planes]


def of_states() -> View:
    """Returns the view of the states."""
    one = cover(1, 1)
    tones, seen, frames = (np.zeros((0,) * axes, np.uint8) for axes in (2, 3, 5))
    return View(STATES, MAX, tones, one, one, seen, frames)


def computed(count: int, tones: np.ndarray, picture_shape: tuple[int, int], shape: tuple[int, ...], pool: int) -> View:
    """Returns a view of `count` consoles with frames of `shape`, [stack, height, width, planes]."""
    (height, width), (_, rows, columns, planes) = picture_shape, shape
    seen = np.zeros((count, planes, height * width), np.uint8)
    return View(OWN, pool, tones, cover(height, rows), cover(width, columns), seen, np.zeros((count, *shape), np.uint8))


@inner
def work_for_view(view):
    """Returns the buffers that a thread needs to show consoles."""
    height, width = view.frames.shape[2:4]
    return np.empty(160, np.uint32), np.empty(width, np.uint32), np.empty((height, width), np.uint8)


@inner
def show(view, game, consoles, console, frames_before, work, target):
    """Writes what is shown of a console after a step to the address `target`, if that is not 0.

    `frames_before` is its `frames` before the step.
    """
    if view.kind == OWN:
        _see(view, game, consoles, console, frames_before)
        _append(view, console, work, consoles.frames[console] == 0)
        flat = view.frames[console].reshape(-1)
        if target:
            copy(flat, carray(bytes_at(target), len(flat)))
    elif target:
        states = consoles.states[console]
        _stack_first(states.reshape(-1), states.shape[2], carray(bytes_at(target), states.size))


@inner
def _stack_first(states, stack, out):
    pixels = len(states) // stack
    for frame in range(stack):
        if stack == 4:  # all frames of a pixel are one word
            words, shift = states.view(np.uint32), np.uint32(8 * frame)
            for pixel in range(pixels):
                out[frame * pixels + pixel] = words[pixel] >> shift
        else:
            for pixel in range(pixels):
                out[frame * pixels + pixel] = states[pixel * stack + frame]


@inner
def _see(view, game, consoles, console, frames_before):
    """Pools the last two pictures. The frame that ends a game is not seen, as in `step`."""
    numbers = last_pictures(game, consoles, console)
    before, newest = consoles.pictures[console, numbers[0]], consoles.pictures[console, numbers[1]]
    whole = game.frame_skip > 1 and consoles.frames[console] - frames_before == game.frame_skip
    for plane in range(len(view.tones)):
        tones, seen = view.tones[plane], view.seen[console, plane]
        if consoles.frames[console] == 0:
            _pool(MAX, tones[newest], tones[newest], seen)
        elif consoles.ended[console] == 0:
            _pool(view.pool, tones[before], tones[newest], seen)
        elif whole:
            _pool(view.pool, seen, tones[before], seen)


@compiled
def see(view, game, consoles, frames_before):
    """Computes `seen` of all consoles. `frames_before` is int64 [console], their `frames` before the step."""
    for console in range(len(frames_before)):
        _see(view, game, consoles, console, frames_before[console])


@inner
def _pool(pool, before, newest, out):
    for pixel in range(len(out)):
        if pool == MAX:
            out[pixel] = max(before[pixel], newest[pixel])
        elif pool == MEAN:
            out[pixel] = (np.uint32(before[pixel]) + np.uint32(newest[pixel])) >> np.uint32(1)
        else:
            out[pixel] = newest[pixel]


@inner
def _append(view, console, work, begins):
    """Scales the picture, and appends it to the frames, which are black where a game begins."""
    line, totals, small = work
    stack, height, width, planes = view.frames[console].shape
    flat, frame_bytes = view.frames[console].reshape(-1), height * width * planes
    for at in range(frame_bytes * (stack - 1)):
        flat[at] = 0 if begins else flat[at + frame_bytes]
    for plane in range(planes):
        shrink(view.seen[console, plane].reshape(-1, 160), view.rows, view.columns, line, totals, small)
        newest = view.frames[console, stack - 1]
        for y in range(height):
            for x in range(width):
                newest[y, x, plane] = small[y, x]
