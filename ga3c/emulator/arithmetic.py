"""The 6507's arithmetic and flags, as ALE computes them: binary and decimal sums, comparisons, shifts."""

import numpy as np

from ga3c.emulator import opcodes as op
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.state import CARRY, DECIMAL, NEGATIVE, OVERFLOW, ZERO, A

# From BCD to a number, and from a number's last two digits to BCD. FROM_DECIMAL also has the bytes with digits above 9.
FROM_DECIMAL = np.array([(b >> 4) * 10 + (b & 15) for b in range(256)], np.int64)
TO_DECIMAL = np.array([(n % 100 // 10) << 4 | n % 10 for n in range(256)], np.int64)


@compiled
def add(a: int, operand: int, carry: int, decimal: int):
    """Returns (sum, carry, overflow)."""
    if decimal:
        total = FROM_DECIMAL[a] + FROM_DECIMAL[operand] + carry
        result = TO_DECIMAL[total & 0xFF]
        overflow = ((a ^ result) & 0x80) and ((result ^ operand) & 0x80)
        return result, np.int64(total > 99), np.int64(overflow != 0)
    total = a + operand + carry
    return total & 0xFF, total >> 8, (~(a ^ operand) & (a ^ total)) >> 7 & 1


@compiled
def subtract(a: int, operand: int, carry: int, decimal: int):
    """Returns (difference, carry, overflow)."""
    if decimal:
        difference = FROM_DECIMAL[a] - FROM_DECIMAL[operand] - (1 - carry)
        if difference < 0:
            difference += 100
        result = TO_DECIMAL[difference & 0xFF]
        overflow = ((a ^ result) & 0x80) and ((result ^ operand) & 0x80)
        return result, np.int64(a >= operand + 1 - carry), np.int64(overflow != 0)
    total = a + (operand ^ 0xFF) + carry
    return total & 0xFF, total >> 8, (~(a ^ operand ^ 0xFF) & (a ^ total)) >> 7 & 1


@compiled
def set_nz(console: int, value: int) -> int:
    store32(console, NEGATIVE, value)
    store32(console, ZERO, value)
    return value


@compiled
def load_register(console: int, register: int, value: int) -> None:
    store32(console, register, set_nz(console, value & 0xFF))


@compiled
def compare(console: int, register: int, value: int) -> None:
    store32(console, CARRY, register >= value)
    set_nz(console, (register - value) & 0xFF)


@compiled
def change(console: int, what: int, value: int) -> int:
    """Executes INC, DEC or a shift, also one of the accumulator. Returns the new value."""
    carry = load32(console, CARRY)
    if what == op.INC:
        value += 1
    elif what == op.DEC:
        value -= 1
    elif what == op.ASL or what == op.ASL_A:
        store32(console, CARRY, value >> 7)
        value <<= 1
    elif what == op.LSR or what == op.LSR_A:
        store32(console, CARRY, value & 1)
        value >>= 1
    elif what == op.ROL or what == op.ROL_A:
        store32(console, CARRY, value >> 7)
        value = value << 1 | carry
    else:
        store32(console, CARRY, value & 1)
        value = (value | carry << 8) >> 1
    return set_nz(console, value & 0xFF)


@compiled
def with_accumulator(console: int, what: int, value: int) -> None:
    a, carry, decimal = load32(console, A), load32(console, CARRY), load32(console, DECIMAL)
    if what == op.ADC or what == op.SBC:
        if what == op.ADC:
            a, carry, overflow = add(a, value, carry, decimal)
        else:
            a, carry, overflow = subtract(a, value, carry, decimal)
        store32(console, CARRY, carry)
        store32(console, OVERFLOW, overflow)
    elif what == op.AND:
        a &= value
    elif what == op.ORA:
        a |= value
    else:
        a ^= value
    load_register(console, A, a)
