"""A frame line by line, for a GPU: `cpu.run_frame` is left and entered again whenever the CPU waits for the next line.

Consoles that play the same game do much the same in a line, but not in the same number of instructions. Once they are
some instructions apart, hardly two of a warp are ever at the same one. Leaving the loop they wait for each other, and
enter the next line together (`divergence` counts what that is worth). On a core it would only take time.

Nor does NVIDIA's compiler make one jump of a choice by the opcode: in a chain of comparisons a GPU spent two thirds of
its instructions.
"""

from ga3c.emulator.compiled import compiled
from ga3c.emulator.cpu import made, run_frame
from ga3c.emulator.frame import MOST_INSTRUCTIONS, begin_frame
from ga3c.emulator.handlers import handlers_by_halves
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.registers import WSYNC
from ga3c.emulator.state import FRAME_DONE
from ga3c.emulator.tia import tia_write

LINE_DONE = 2  # in FRAME_DONE, while a frame runs

run_frame_by_halves = made("run_frame_by_halves", handlers_by_halves())  # on a GPU for `run_frame`

_tia_write = compiled(tia_write.py_func)  # as it is: on a GPU the one below stands for `tia_write`


@compiled
def tia_write_of_line(console: int, picture: int, register: int, value: int, cycles: int) -> int:
    goes_on = _tia_write(console, picture, register, value, cycles)
    if register == WSYNC and not load32(console, FRAME_DONE):
        store32(console, FRAME_DONE, LINE_DONE)
    return goes_on


@compiled
def next_frame_by_lines(console: int, rom: int, picture: int) -> None:
    """`frame.next_frame`."""
    if load32(console, FRAME_DONE):
        begin_frame(console)
    left = run_frame(console, rom, picture, MOST_INSTRUCTIONS)
    while left > 0 and load32(console, FRAME_DONE) == LINE_DONE:
        left = run_frame(console, rom, picture, left)
    if load32(console, FRAME_DONE) == LINE_DONE:
        store32(console, FRAME_DONE, 0)
