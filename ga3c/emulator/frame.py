"""Runs the console from one frame to the next."""

import numpy as np

from ga3c.emulator import state
from ga3c.emulator.compiled import compiled
from ga3c.emulator.cpu import run_frame
from ga3c.emulator.picture import LINE_CLOCKS, LINE_CYCLES, draw_until
from ga3c.emulator.pointers import call, load32, store32
from ga3c.emulator.tia import NEVER

MOST_INSTRUCTIONS = np.int64(25_000)  # np.int64: Numba would compile `run_frame` a second time for a constant


@compiled
def next_frame(console: int, rom: int, picture: int, code: int) -> None:
    """Runs one frame. If the game sends no VSYNC, the next call continues the same frame.

    `code` is the address of the code made for the game (`made`); 0: `run_frame` runs it, with the same results.
    """
    if load32(console, state.FRAME_DONE):
        begin_frame(console)
    if code:
        call(code, console, rom, picture, MOST_INSTRUCTIONS)
    else:
        run_frame(console, rom, picture, MOST_INSTRUCTIONS)
    draw_until(console, picture, load32(console, state.DUE_CLOCK))


@compiled
def goes_on(console: int) -> int:
    """Returns 1 if the next frame continues the last one, in the same picture; else 0."""
    return 1 - load32(console, state.FRAME_DONE)


@compiled
def is_drawn(console: int) -> bool:
    """Returns True if the picture of the last drawn frame is complete."""
    return load32(console, state.DRAWN_CLOCK) >= load32(console, state.END_LINE) * LINE_CLOCKS


@compiled
def begin_frame(console: int) -> None:
    """Restarts the counts of clocks and cycles at the beginning of the line in which the last frame ended."""
    cycles = load32(console, state.CYCLES)
    phase = cycles % LINE_CYCLES
    past = cycles - phase
    if load32(console, state.PAL):  # a PAL television shows no colour after an odd number of lines
        store32(console, state.COLOUR_LOSS, cycles // LINE_CYCLES & 1)
    store32(console, state.CYCLES, phase)
    store32(console, state.FRAME_PHASE, phase)
    store32(console, state.TIMER_SET_CYCLES, load32(console, state.TIMER_SET_CYCLES) - past)
    store32(console, state.DUMP_CYCLES, load32(console, state.DUMP_CYCLES) - past)
    store32(console, state.HMOVE_CLOCK, load32(console, state.HMOVE_CLOCK) - 3 * past)
    if load32(console, state.VSYNC_END) != NEVER:
        store32(console, state.VSYNC_END, load32(console, state.VSYNC_END) - 3 * past)
    store32(console, state.DUE_CLOCK, 0)
    store32(console, state.DRAWN_CLOCK, load32(console, state.FIRST_LINE) * LINE_CLOCKS)
