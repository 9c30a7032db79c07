"""Executes any one instruction of the 6507 as the manual describes it, with all registers in the record."""

import numpy as np

from ga3c.emulator import opcodes as op
from ga3c.emulator.addressing import operand
from ga3c.emulator.bus import read, write
from ga3c.emulator.cartridge import SLICE_BYTES, window_of
from ga3c.emulator.compiled import compiled
from ga3c.emulator.operations import operate
from ga3c.emulator.pointers import load8, load32, store32
from ga3c.emulator.riot import turns_until
from ga3c.emulator.stack import on_stack
from ga3c.emulator.state import CARRY, CYCLES, NEGATIVE, OVERFLOW, PC, ZERO

INTIM = 0x284
BACK_5 = 0xFB  # a branch by -5 leads to the instruction of three bytes just before it
# Indexed by operation: a branch is taken while a value that falls to 0 is at least this; -1: or does not depend on it.
LEAST = np.full(op.OPERATION.max() + 1, -1, np.int64)
LEAST[[op.BNE, op.BPL, op.BEQ, op.BMI]] = 1, 0, 0, 0x80


@compiled
def execute(console: int, rom: int, picture: int, instructions: int) -> int:
    """Executes one instruction, or a whole loop that waits for the timer. Returns the number of `instructions` left."""
    pc, cycles = load32(console, PC), load32(console, CYCLES)
    low = high = np.int64(0)  # np.int64: Numba would compile `read` a second time for a constant
    opcode = read(console, rom, picture, pc, low, cycles) & 0xFF

    if op.LENGTH[opcode] > 1:
        low = read(console, rom, picture, pc + 1, opcode, cycles)
    if op.LENGTH[opcode] > 2:
        high = read(console, rom, picture, pc + 2, low, cycles)
    what, access = op.OPERATION[opcode], op.ACCESS[opcode]
    cycles += op.BASE_CYCLES[opcode]
    store32(console, PC, (pc + op.LENGTH[opcode]) & 0xFFFF)
    if op.MODE[opcode] == op.RELATIVE:
        store32(console, CYCLES, cycles + _branch(console, what, low))
        return instructions - 1
    address, bus, cycles = operand(console, rom, picture, opcode, low, high, cycles)
    value = low
    if access & op.READ:
        value = read(console, rom, picture, address, bus, cycles)
    if what in (op.JSR, op.RTS, op.BRK, op.RTI, op.PHA, op.PHP, op.PLA, op.PLP):
        cycles = on_stack(console, rom, picture, what, address, bus, cycles)
    elif what == op.JMP:
        store32(console, PC, address)
    elif what == op.JMI:
        low = read(console, rom, picture, address, bus, cycles)
        high = read(console, rom, picture, address & 0xFF00 | (address + 1) & 0xFF, low, cycles)
        store32(console, PC, low | high << 8)
    else:
        value = operate(console, what, value, bus)
        if access & op.WRITE:
            cycles = write(console, picture, address, value, cycles)
    if address == INTIM and what in (op.LDA, op.LDX, op.LDY):
        turns, turn = _waiting_turns(console, rom, value, cycles, instructions)
        cycles += turns * turn
        instructions -= 2 * turns
    store32(console, CYCLES, cycles)
    return instructions - 1


@compiled
def _branch(console: int, what: int, distance: int) -> int:
    """Executes a branch. Returns the number of additional cycles."""
    if not is_taken(console, what):
        return 0
    pc = load32(console, PC)
    target = (pc + (distance ^ 0x80) - 0x80) & 0xFFFF
    store32(console, PC, target)
    return 2 if (target ^ pc) & 0xFF00 else 1


@compiled
def _waiting_turns(console: int, rom: int, value: int, cycles: int, instructions: int):
    """Shortens a loop that reads INTIM and branches back: the timer only falls, so the last turn is known.

    Returns the number of turns that branch back, and the cycles of a turn; (0, 0) if there is no such loop. The
    register keeps the old value until the next turn reads it. If the frame may end before, only turns of the same
    value count.
    """
    pc = load32(console, PC)
    window, offset = window_of(console, pc), pc % SLICE_BYTES
    if offset + 1 >= load32(window, 4):
        return 0, 0
    code = load32(window, 0) + offset
    opcode = load8(rom, code)
    if load8(rom, code + 1) != BACK_5 or op.MODE[opcode] != op.RELATIVE or not is_taken(console, op.OPERATION[opcode]):
        return 0, 0
    turn = 8 if (pc + 2 ^ pc - 3) & 0xFF00 else 7
    least = LEAST[op.OPERATION[opcode]]
    turns = turns_until(console, value if least < 0 else least, cycles + turn, turn)
    if 2 * turns + 3 > instructions:
        turns = min(turns_until(console, value, cycles + turn, turn), instructions // 2)
    return turns, turn


@compiled
def is_taken(console: int, what: int) -> bool:
    """Returns True if the flags say that this branch is taken."""
    if what == op.BNE:
        return load32(console, ZERO) != 0
    if what == op.BEQ:
        return load32(console, ZERO) == 0
    if what == op.BPL:
        return load32(console, NEGATIVE) & 0x80 == 0
    if what == op.BMI:
        return load32(console, NEGATIVE) & 0x80 != 0
    if what == op.BCC:
        return load32(console, CARRY) == 0
    if what == op.BCS:
        return load32(console, CARRY) != 0
    return (load32(console, OVERFLOW) == 0) == (what == op.BVC)
