"""The 6507's stack and its instructions. The stack's upper half lies in the RIOT's RAM, its lower half in the TIA."""

import numpy as np

from ga3c.emulator import opcodes as op
from ga3c.emulator.arithmetic import load_register
from ga3c.emulator.bus import read, write
from ga3c.emulator.cartridge import cartridge_read
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.state import BREAK, CARRY, DECIMAL, INTERRUPT, NEGATIVE, OVERFLOW, PC, SP, ZERO, A

BREAK_VECTOR = np.int64(0xFFFE)


@compiled
def _push(console: int, picture: int, value: int, cycles: int) -> int:
    """Pushes a byte. Returns the cycle at which the CPU goes on."""
    sp = load32(console, SP)
    store32(console, SP, (sp - 1) & 0xFF)
    return write(console, picture, 0x100 | sp, value, cycles)


@compiled
def _push_pc(console: int, picture: int, pc: int, cycles: int) -> int:
    cycles = _push(console, picture, pc >> 8, cycles)
    return _push(console, picture, pc & 0xFF, cycles)


@compiled
def _top(console: int, rom: int, picture: int, bus: int, cycles: int) -> int:
    return read(console, rom, picture, 0x100 | load32(console, SP), bus, cycles)


@compiled
def _pull(console: int, rom: int, picture: int, bus: int, cycles: int) -> int:
    store32(console, SP, (load32(console, SP) + 1) & 0xFF)
    return _top(console, rom, picture, bus, cycles)


@compiled
def _pull_pc(console: int, rom: int, picture: int, bus: int, cycles: int) -> int:
    low = _pull(console, rom, picture, bus, cycles)
    return low | _pull(console, rom, picture, low, cycles) << 8


@compiled
def flags(console: int, n: int, z: int, c: int) -> int:
    """Returns the status register: all flags as one byte."""
    v, b = load32(console, OVERFLOW), load32(console, BREAK)
    d, i = load32(console, DECIMAL), load32(console, INTERRUPT)
    return n & 0x80 | v << 6 | 0x20 | b << 4 | d << 3 | i << 2 | (z == 0) << 1 | c


@compiled
def _set_flags(console: int, byte: int) -> None:
    store32(console, NEGATIVE, byte)
    store32(console, OVERFLOW, byte >> 6 & 1)
    store32(console, BREAK, byte >> 4 & 1)
    store32(console, DECIMAL, byte >> 3 & 1)
    store32(console, INTERRUPT, byte >> 2 & 1)
    store32(console, ZERO, ~byte & 2)
    store32(console, CARRY, byte & 1)


@compiled
def on_stack(console: int, rom: int, picture: int, what: int, address: int, bus: int, cycles: int) -> int:
    """Executes JSR (to `address`), RTS, BRK, RTI, or pushes or pulls a byte. Returns the cycle after it.

    Before it pulls, the CPU reads the byte at the stack pointer and discards it.
    """
    pc = load32(console, PC)
    byte = flags(console, load32(console, NEGATIVE), load32(console, ZERO), load32(console, CARRY))
    if what == op.JSR:
        cycles = _push_pc(console, picture, (pc - 1) & 0xFFFF, cycles)
        store32(console, PC, address)
    elif what == op.PHA:
        return _push(console, picture, load32(console, A), cycles)
    elif what == op.PHP:
        return _push(console, picture, byte, cycles)
    elif what == op.BRK:
        cycles = _push_pc(console, picture, (pc + 1) & 0xFFFF, cycles)
        cycles = _push(console, picture, byte | 0x10, cycles)
        store32(console, INTERRUPT, 1)
        store32(console, BREAK, 1)
        low = cartridge_read(console, rom, BREAK_VECTOR)
        store32(console, PC, low | cartridge_read(console, rom, BREAK_VECTOR + 1) << 8)
    else:
        bus = _top(console, rom, picture, bus, cycles)
        if what == op.RTS:
            store32(console, PC, (_pull_pc(console, rom, picture, bus, cycles) + 1) & 0xFFFF)
        elif what == op.PLA:
            load_register(console, A, _pull(console, rom, picture, bus, cycles))
        else:
            byte = _pull(console, rom, picture, bus, cycles)
            _set_flags(console, byte)
            if what == op.RTI:
                store32(console, PC, _pull_pc(console, rom, picture, byte, cycles))
    return cycles
