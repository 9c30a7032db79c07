"""The 6507's loop: frequent instructions at once, with the registers in variables; all others by `instruction.execute`.

Its source is made: the handlers of the frequent instructions stand in one choice by the opcode, which becomes one jump.
"""

# ruff: noqa: F401 - what is imported is used by the source that is made.
from ga3c.emulator.arithmetic import add, subtract
from ga3c.emulator.cartridge import window_of
from ga3c.emulator.compiled import compiled
from ga3c.emulator.handlers import handlers, indented
from ga3c.emulator.instruction import execute
from ga3c.emulator.pointers import load8, load32, store8, store32
from ga3c.emulator.stack import flags
from ga3c.emulator.state import (
    CARRY,
    CYCLES,
    DECIMAL,
    FRAME_DONE,
    JAMMED,
    NEGATIVE,
    OVERFLOW,
    PC,
    SP,
    ZERO,
    A,
    X,
    Y,
)
from ga3c.emulator.tia import tia_read, tia_write

_LOAD = """
pc, cycles = load32(console, PC), load32(console, CYCLES)
a, x, y = load32(console, A), load32(console, X), load32(console, Y)
n, z, c = load32(console, NEGATIVE), load32(console, ZERO), load32(console, CARRY)"""
_STORE = """
store32(console, PC, pc)
store32(console, CYCLES, cycles)
store32(console, A, a)
store32(console, X, x)
store32(console, Y, y)
store32(console, NEGATIVE, n)
store32(console, ZERO, z)
store32(console, CARRY, c)"""
# From `first` until before `last` the program can be fetched as it lies in the ROM: at pc + shift.
_LOOP = """
def run_frame(console: int, rom: int, picture: int, instructions: int) -> int:
    LOAD
    store32(console, FRAME_DONE, 0)
    if load32(console, JAMMED):
        return instructions
    first, last, shift = 0, 0, 0
    while instructions > 0:
        if pc < first or pc >= last:
            pc &= 0xFFFF
            window = window_of(console, pc)
            first = pc & 0xFC00
            last = first + load32(window, 4) - 2
            shift = rom + load32(window, 0) - first
        if pc >= first and pc < last:
            instructions -= 1
            code = pc + shift
            opcode = load8(code, 0)
            HANDLERS
            instructions += 1
        STORE
        instructions = execute(console, rom, picture, instructions)
        LOAD
        first, last = 0, 0
        if load32(console, FRAME_DONE) or load32(console, JAMMED):
            break
    STORE
    return instructions
"""


def made(name: str, choice: str):
    """Runs to the end of the frame, or for so many instructions. Returns how many of them are left.

    `console`, `rom` and `picture` (uint8 [height, 160]; 0: nothing is drawn) are addresses.
    """
    parts, source = {"LOAD": _LOAD, "STORE": _STORE, "HANDLERS": choice}, ""
    for line in _LOOP.replace("run_frame", name).splitlines():
        part, levels = parts.get(line.strip()), line.index(line.strip()) // 4
        source += (indented(part, levels) if part else line) + "\n"
    exec(compile(source, __file__, "exec"), globals())
    function = globals()[name]
    function.__doc__ = made.__doc__
    return compiled(function)


run_frame = made("run_frame", handlers())
