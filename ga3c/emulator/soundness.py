"""Validates consoles that a file holds: compiled code uses their numbers as addresses, and checks nothing."""

import numpy as np

from ga3c.emulator import state
from ga3c.emulator.cartridge import SLICE_BYTES, open_windows
from ga3c.emulator.picture import LINE_CLOCKS
from ga3c.emulator.step import CUT, OVER, TURN, WENT_ON, Consoles, Game

# The largest value of each field; the smallest is 0.
_MOST = dict.fromkeys((state.A, state.X, state.Y, state.SP, state.OLD_GRP0, state.OLD_GRP1, state.OLD_ENABL), 0xFF)
_MOST |= dict.fromkeys((state.CARRY, state.DECIMAL, state.BREAK, state.INTERRUPT, state.OVERFLOW), 1)
_MOST |= dict.fromkeys(range(state.POSITION_P0, state.POSITION_BL + 4, 4), 159)
_MOST |= {state.PC: 0xFFFF, state.TIMER: 0xFF, state.TIMER_SHIFT: 10, state.CYCLES: 2**30}
_PLUGGED = slice(state.CARTRIDGE, state.COLOUR_LOSS)  # fixed by the game
_WINDOWS = slice(state.WINDOWS, state.WINDOWS + state.WINDOW_BYTES * state.WINDOW_COUNT)


def are_sound(consoles: Consoles, game: Game) -> bool:
    """Returns True if these can be consoles that play this game."""
    counts = (
        (consoles.turns, TURN | WENT_ON if consoles.pictures.shape[1] > 2 else TURN),
        (consoles.ended, OVER | CUT),
        (consoles.actions, 17),
        (consoles.begun, 2**62),
        (consoles.frames, 2**62),
        (consoles.drawn, consoles.draws.shape[1]),
    )
    return all(is_within(array, most) for array, most in counts) and _records_are_sound(consoles.records, game)


def is_within(array: np.ndarray, most: int) -> bool:
    """Returns True if all values are from 0 to `most`."""
    return bool(((array >= 0) & (array <= most)).all())


def _records_are_sound(records: np.ndarray, game: Game) -> bool:
    fields, start = records.view(np.int32), game.starts[0]
    first_clock = start.view(np.int32)[state.FIRST_LINE // 4] * LINE_CLOCKS
    opened = records.copy()
    for record in opened:
        open_windows(record.ctypes.data)
    windows = records[:, _WINDOWS].copy().view(np.int32)[:, ::2]
    return (
        bool((records[:, _PLUGGED] == start[_PLUGGED]).all())
        and all(is_within(fields[:, at // 4], most) for at, most in _MOST.items())
        and bool((fields[:, state.DRAWN_CLOCK // 4] >= first_clock).all())
        and bool((opened == records).all())
        and is_within(windows, len(game.rom) - SLICE_BYTES)
    )
