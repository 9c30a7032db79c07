"""Runs a frame line by line, for a GPU: each WSYNC leaves `cpu.run_frame`, which is then entered again.

Consoles that play the same game do much the same in a line, but not in the same number of instructions. Once they are
some instructions apart, hardly two consoles of a warp execute the same one. Leaving the loop synchronises them, so they
begin the next line together (`divergence` estimates the gain). On a core it would only cost time.

NVIDIA's compiler makes no jump table of an if-chain over the opcode. The chain took two thirds of a GPU's instructions,
so the GPU gets a binary search.
"""

from ga3c.emulator.compiled import compiled
from ga3c.emulator.cpu import made, run_frame
from ga3c.emulator.frame import MOST_INSTRUCTIONS, begin_frame
from ga3c.emulator.handlers import handlers_by_halves
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.registers import WSYNC
from ga3c.emulator.state import FRAME_DONE
from ga3c.emulator.tia import tia_write

LINE_DONE = 2  # a value of FRAME_DONE while a frame runs

run_frame_by_halves = made("run_frame_by_halves", handlers_by_halves())  # replaces `run_frame` on a GPU

_tia_write = compiled(tia_write.py_func)  # the original: on a GPU the function below replaces `tia_write`


@compiled
def tia_write_of_line(console: int, picture: int, register: int, value: int, cycles: int) -> int:
    goes_on = _tia_write(console, picture, register, value, cycles)
    if register == WSYNC and not load32(console, FRAME_DONE):
        store32(console, FRAME_DONE, LINE_DONE)
    return goes_on


@compiled
def next_frame_by_lines(console: int, rom: int, picture: int, code: int) -> None:
    """Runs one frame, as `frame.next_frame` does; a GPU has no code made for the game."""
    if load32(console, FRAME_DONE):
        begin_frame(console)
    left = run_frame(console, rom, picture, MOST_INSTRUCTIONS)
    while left > 0 and load32(console, FRAME_DONE) == LINE_DONE:
        left = run_frame(console, rom, picture, left)
    if load32(console, FRAME_DONE) == LINE_DONE:
        store32(console, FRAME_DONE, 0)
