"""Warp divergence: estimates on a CPU core how much the consoles of a warp would slow each other down on a GPU.

The threads of a warp execute the same code at the same time. They begin each iteration of `cpu.run_frame` together;
threads whose opcodes differ then execute one after the other. So an iteration costs as much as the number of different
opcodes in it. This is an upper bound of the cost, since fetching, addressing and writing are common to all opcodes.
Threads synchronise at each line of the picture (as in `lines`), or only at each frame.
"""

from typing import NamedTuple

import numpy as np

from ga3c.emulator import opcodes as op
from ga3c.emulator.compiled import compiled
from ga3c.emulator.controllers import press
from ga3c.emulator.cpu import run_frame
from ga3c.emulator.frame import MOST_INSTRUCTIONS, begin_frame
from ga3c.emulator.pointers import load8, load32
from ga3c.emulator.registers import WSYNC
from ga3c.emulator.state import BANK, FRAME_DONE, PC

_CARTRIDGE_BIT = 0x1000  # of an address
_STORES_ZERO_PAGE = np.array([name in ("STA", "STX", "STY") for name in op.NAMES]) & (op.MODE == op.ZERO_PAGE)


class Count(NamedTuple):
    """The instruction counts of one warp and step."""

    instructions: int  # executed by all consoles
    opcodes: int  # the number of different opcodes in an iteration, summed over iterations

    def share(self, consoles: int) -> float:
        """Returns the speed as a share of that of consoles which always execute the same instruction."""
        return self.instructions / (consoles * self.opcodes)


def count(records: np.ndarray, rom: np.ndarray, actions: np.ndarray, frames: int, by_lines: bool) -> Count:
    """Runs so many frames in the consoles of a warp (uint8 [consoles, SIZE]), each with its action (ALE's number).

    It supports cartridges of 4K and those with banks of 4K. Loops that wait for the timer are counted in full, though
    `run_frame` shortens them.
    """
    return Count(*_count(records, rom, actions, frames, by_lines))


RUNS, WAITS, DONE = range(3)


@compiled
def _count(records, rom, actions, frames, by_lines):
    instructions, opcodes, turns = 0, 0, 0
    states, met = np.zeros(len(records), np.int64), np.zeros(256, np.int64)
    code = rom.ctypes.data
    for _ in range(frames):
        for lane in range(len(records)):
            _start(records[lane].ctypes.data, actions[lane])
        states[:] = RUNS
        for _ in range(MOST_INSTRUCTIONS):
            turns += 1
            running = 0
            for lane in range(len(records)):
                if states[lane] == RUNS:
                    console = records[lane].ctypes.data
                    opcode = _code_at(console, code, 0)
                    opcodes += met[opcode] != turns
                    met[opcode] = turns
                    instructions += 1
                    waits = by_lines and _STORES_ZERO_PAGE[opcode] and _code_at(console, code, 1) == WSYNC
                    run_frame(console, code, np.int64(0), np.int64(1))
                    states[lane] = DONE if load32(console, FRAME_DONE) else WAITS if waits else RUNS
                    running += states[lane] == RUNS
            if running == 0:
                states[states == WAITS] = RUNS
                if (states == DONE).all():
                    break
    return instructions, opcodes


@compiled
def _start(console, action):
    press(console, action)
    if load32(console, FRAME_DONE):
        begin_frame(console)


@compiled
def _code_at(console, rom, offset):
    address = load32(console, PC) + offset
    if address & _CARTRIDGE_BIT:
        return load8(rom, load32(console, BANK) + (address & 0xFFF))
    return load8(console, address & 0x7F)
