"""The work of each GPU thread in a step: a thread has one console, a word of 8 pixels, or one pixel.

The results are those of `step`, which steps the consoles one after the other on a core. A new game is copied from a
cache of all beginnings (CuLE, section 3), since playing the no-ops would delay the other consoles of the warp.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load8, load64, store64
from ga3c.emulator.step import NO_OP, play_frames

BOTH, ONE_MORE, NOTHING, BEGUN, IDLE = range(5)  # what a step shows: two frames, one more, none, a new game; no step
WORD_BYTES = 8
GOES_ON = -1
_NO_FRACTION = np.float32(1 << 23)  # single precision has no fraction from here on: adding it rounds


class Orders(NamedTuple):
    """The orders for a step; the first axis of all arrays is [console]."""

    actions: np.ndarray  # int64, ALE's numbers
    entries: np.ndarray  # int64: the console of the cache that a new game is copied from; GOES_ON: the game goes on
    shows: np.ndarray  # int64: BOTH, ONE_MORE, NOTHING, BEGUN, IDLE
    records: np.ndarray  # uint8 [., SIZE]: the records before the step, to play it again
    readings: np.ndarray  # int32 [., games.STATE]: the readings before the step


def orders(count: int, record_bytes: int, reading_words: int) -> Orders:
    return Orders(
        actions=np.zeros(count, np.int64),
        entries=np.zeros(count, np.int64),
        shows=np.zeros(count, np.int64),
        records=np.zeros((count, record_bytes), np.uint8),
        readings=np.zeros((count, reading_words), np.int32),
    )


@compiled
def begin_word(cache, consoles, orders, index):
    """Begins a game: copies 8 pixels of each picture. The thread of a console's first pixels copies all else, too."""
    pixels = consoles.seen.shape[1]
    console, at = index // (pixels // WORD_BYTES), index % (pixels // WORD_BYTES) * WORD_BYTES
    entry = orders.entries[console]
    if at == 0:
        orders.shows[console] = IDLE if entry == GOES_ON else BEGUN
    if entry == GOES_ON:
        return
    ours, theirs = consoles.pictures.ctypes.data + 2 * pixels * console, cache.pictures.ctypes.data + 2 * pixels * entry
    store64(ours, at, load64(theirs, at))
    store64(ours, pixels + at, load64(theirs, pixels + at))
    seen = load64(cache.seen.ctypes.data + pixels * entry, at)
    store64(consoles.seen.ctypes.data + pixels * console, at, seen)
    if at == 0:
        _begin(cache, consoles, entry, console)


@compiled
def _begin(cache, consoles, entry, console):
    _copy_row(cache.records, entry, consoles.records, console)
    _copy_row(cache.readings, entry, consoles.readings, console)
    consoles.turns[console], consoles.lives[console] = cache.turns[entry], cache.lives[entry]
    consoles.actions[console] = NO_OP
    consoles.frames[console] = consoles.ended[console] = consoles.rewards[console] = 0


@compiled
def _copy_row(source, row, target, target_row):
    for column in range(source.shape[1]):
        target[target_row, column] = source[row, column]


@compiled
def play_console(game, consoles, orders, console):
    """Plays the frames of a step, as `step._step` does. `consoles.draws` are those of this step."""
    if orders.entries[console] != GOES_ON:
        return
    _copy_row(consoles.records, console, orders.records, console)
    _copy_row(consoles.readings, console, orders.readings, console)
    turn, frames, before = consoles.turns[console], consoles.frames[console], consoles.actions[console]
    first_drawn, complete = game.frame_skip - 2, False
    while not complete:
        consoles.drawn[console] = 0
        reward, lives, frame, complete = play_frames(game, consoles, console, orders.actions[console], first_drawn)
        if first_drawn <= 0:
            break
        if not complete:
            _copy_row(orders.records, console, consoles.records, console)
            _copy_row(orders.readings, console, consoles.readings, console)
            consoles.turns[console], consoles.frames[console], consoles.actions[console] = turn, frames, before
            first_drawn = 0
    consoles.rewards[console], consoles.lives[console] = reward, lives
    if not consoles.ended[console]:
        orders.shows[console] = BOTH
    else:
        orders.shows[console] = ONE_MORE if frame > 0 and frame == game.frame_skip - 1 else NOTHING


@compiled
def see_word(game, consoles, orders, index):
    """Computes 8 pixels of the grey picture: the brighter of two frames, or of the grey before and one frame."""
    pixels = consoles.seen.shape[1]
    console, at = index // (pixels // WORD_BYTES), index % (pixels // WORD_BYTES) * WORD_BYTES
    shows = orders.shows[console]
    if shows >= NOTHING:
        return
    pictures, seen = consoles.pictures.ctypes.data + 2 * pixels * console, consoles.seen.ctypes.data + pixels * console
    last = consoles.turns[console] ^ 1
    first, second = last ^ 1, last
    if shows == BOTH and game.frame_skip == 1:
        first = last
    elif shows == ONE_MORE:
        second = last ^ 1
    one, other = load64(pictures + pixels * first, at), load64(pictures + pixels * second, at)
    before = load64(seen, at) if shows == ONE_MORE else 0
    merged = 0
    for shift in range(0, 64, 8):
        grey = max(game.grey[one >> shift & 0xFF], game.grey[other >> shift & 0xFF], before >> shift & 0xFF)
        merged |= np.int64(grey) << shift
    store64(seen, at, merged)


@compiled
def look_pixel(game, consoles, orders, index):
    """Computes a pixel of the small frame and appends it to the state, as `shrink.shrink` and `shrink.push` do."""
    size, stack = consoles.states.shape[1], consoles.states.shape[3]
    console, pixel = index // (size * size), index % (size * size)
    if orders.shows[console] == IDLE:
        return
    row, column = pixel // size, pixel % size
    seen = consoles.seen.ctypes.data + consoles.seen.shape[1] * console
    zero = orders.shows[console] >> 3  # 0, since all values are below 8
    level = _level(seen, game.rows, game.columns, row, column, zero)
    for frame in range(stack - 1):
        before = consoles.states[console, row, column, frame + 1]
        consoles.states[console, row, column, frame] = 0 if orders.shows[console] == BEGUN else before
    consoles.states[console, row, column, stack - 1] = level


@compiled
def show_pixel(target, consoles, index):
    """Copies a pixel of all frames of a state to `target`, uint8 [console, stack, size, size]."""
    size, stack = consoles.states.shape[1], consoles.states.shape[3]
    console, pixel = index // (size * size), index % (size * size)
    row, column = pixel // size, pixel % size
    for frame in range(stack):
        target[console, frame, row, column] = consoles.states[console, row, column, frame]


@compiled
def _level(seen, rows, columns, row, column, zero):
    """Returns the mean of a rectangle of the picture in whole numbers; between two levels, OpenCV's rounding decides.

    `zero` is a 0 that the compiler does not know.
    """
    width = columns.first[-1] + len(columns.parts)
    corner = seen + width * rows.first[row] + columns.first[column]
    whole = rows.whole * columns.whole
    total = whole // 2
    for y in range(len(rows.parts)):
        line = 0
        for x in range(len(columns.parts)):
            line += np.int64(columns.parts[x, column]) * load8(corner, width * y + x)
        total += np.int64(rows.parts[y, row]) * line
    level = total // whole
    return _in_single_precision(corner, width, rows, columns, row, column, zero) if level * whole == total else level


@intrinsic
def _rounded(typing_context, product, zero):
    """Returns a product in single precision. It keeps a GPU from fusing the product with a sum, which rounds once."""

    def generate(context, builder, signature, arguments):
        product, zero = arguments
        bits = builder.xor(builder.bitcast(product, ir.IntType(32)), builder.trunc(zero, ir.IntType(32)))
        return builder.bitcast(bits, ir.FloatType())

    return types.float32(types.float32, types.int64), generate


@compiled
def _in_single_precision(corner, width, rows, columns, row, column, zero):
    total = np.float32(0)
    for y in range(len(rows.parts)):
        line = np.float32(0)
        for x in range(len(columns.parts)):
            line += _rounded(np.float32(load8(corner, width * y + x)) * columns.shares[x, column], zero)
        total += _rounded(line * rows.shares[y, row], zero)
    return np.int64(total + _NO_FRACTION - _NO_FRACTION)
