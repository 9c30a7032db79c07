"""How much the consoles of a warp would hold each other up on a GPU, counted on a core.

The threads of a warp execute the same code at the same time. In the loop over instructions of `cpu.run_frame` each turn
begins together, and threads whose instructions are different ones wait for each other: their operations come one after
the other. So a turn costs as much as its consoles have opcodes, and 1 / that is what is left of the speed, if nothing
of an instruction were common to all. Fetching, addressing and writing are: the truth is better than this count.
That is counted in two ways: threads begin each line of the picture together (as `lines` has it), or each frame alone.
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

_ADDRESSED = 0x1000  # bit of an address: the cartridge
_STORES_ZERO_PAGE = np.array([name in ("STA", "STX", "STY") for name in op.NAMES]) & (op.MODE == op.ZERO_PAGE)


class Count(NamedTuple):
    """Of one warp and step."""

    instructions: int  # of all consoles
    opcodes: int  # different ones in a turn, summed over turns: as many turns as it takes one after the other

    def share(self, consoles: int) -> float:
        """Of the speed of consoles that do the same at all times."""
        return self.instructions / (consoles * self.opcodes)


def count(records: np.ndarray, rom: np.ndarray, actions: np.ndarray, frames: int, by_lines: bool) -> Count:
    """Runs so many frames in the consoles of a warp (uint8 [consoles, SIZE]), each with its action (ALE's number).

    For cartridges that a console sees in one piece, or in banks of 4K. Waiting for the timer, which `run_frame` cuts
    short, is counted in full.
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
                    run_frame(console, code, 0, 1)
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
    if address & _ADDRESSED:
        return load8(rom, load32(console, BANK) + (address & 0xFFF))
    return load8(console, address & 0x7F)
