"""From one frame to the next."""

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.cpu import run_frame
from ga3c.emulator.picture import LINE_CLOCKS, LINE_CYCLES, draw_until
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.state import (
    COLOUR_LOSS,
    CYCLES,
    DRAWN_CLOCK,
    DUE_CLOCK,
    DUMP_CYCLES,
    END_LINE,
    FIRST_LINE,
    FRAME_DONE,
    FRAME_PHASE,
    HMOVE_CLOCK,
    PAL,
    TIMER_SET_CYCLES,
    VSYNC_END,
)
from ga3c.emulator.tia import NEVER

MOST_INSTRUCTIONS = np.int64(25_000)  # not as a constant, for which `run_frame` would be compiled once more


@compiled
def next_frame(console: int, rom: int, picture: int) -> None:
    """Runs one frame. A game that sends no VSYNC goes on in the next call with the same frame."""
    if load32(console, FRAME_DONE):
        begin_frame(console)
    run_frame(console, rom, picture, MOST_INSTRUCTIONS)
    draw_until(console, picture, load32(console, DUE_CLOCK))


@compiled
def is_drawn(console: int) -> bool:
    """Whether the picture of the frame that was drawn last is complete."""
    return load32(console, DRAWN_CLOCK) >= load32(console, END_LINE) * LINE_CLOCKS


@compiled
def begin_frame(console: int) -> None:
    """Clocks and cycles are counted anew, from the beginning of the line in which the frame before ended."""
    cycles = load32(console, CYCLES)
    phase = cycles % LINE_CYCLES
    past = cycles - phase
    if load32(console, PAL):  # after an odd number of lines there is no colour
        store32(console, COLOUR_LOSS, cycles // LINE_CYCLES & 1)
    store32(console, CYCLES, phase)
    store32(console, FRAME_PHASE, phase)
    store32(console, TIMER_SET_CYCLES, load32(console, TIMER_SET_CYCLES) - past)
    store32(console, DUMP_CYCLES, load32(console, DUMP_CYCLES) - past)
    store32(console, HMOVE_CLOCK, load32(console, HMOVE_CLOCK) - 3 * past)
    if load32(console, VSYNC_END) != NEVER:
        store32(console, VSYNC_END, load32(console, VSYNC_END) - 3 * past)
    store32(console, DUE_CLOCK, 0)
    store32(console, DRAWN_CLOCK, load32(console, FIRST_LINE) * LINE_CLOCKS)
