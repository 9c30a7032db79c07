"""The undocumented operations of the 6507, which mostly combine two documented ones."""

from ga3c.emulator import opcodes as op
from ga3c.emulator.arithmetic import change, compare, load_register, with_accumulator
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.state import CARRY, OVERFLOW, SP, A, X, Y


@compiled
def undocumented(console: int, what: int, value: int, high: int) -> int:
    """Executes an operation (a number of `opcodes`). Returns the value to write, if the instruction writes.

    `value` is the operand, `high` the upper byte of its address.
    """
    a, x, y = load32(console, A), load32(console, X), load32(console, Y)
    if what == op.LAX:
        load_register(console, A, value)
        store32(console, X, value)
    elif what == op.SAX:
        value = a & x
    elif what == op.DCP:
        value = change(console, op.DEC, value)
        compare(console, a, value)
    elif what == op.ISB:
        value = change(console, op.INC, value)
        with_accumulator(console, op.SBC, value)
    elif what == op.SLO:
        value = change(console, op.ASL, value)
        with_accumulator(console, op.ORA, value)
    elif what == op.RLA:
        value = change(console, op.ROL, value)
        with_accumulator(console, op.AND, value)
    elif what == op.SRE:
        value = change(console, op.LSR, value)
        with_accumulator(console, op.EOR, value)
    elif what == op.RRA:
        value = change(console, op.ROR, value)
        with_accumulator(console, op.ADC, value)
    elif what == op.ANC:
        load_register(console, A, a & value)
        store32(console, CARRY, (a & value) >> 7)
    elif what == op.ASR:
        load_register(console, A, change(console, op.LSR, a & value))
    elif what == op.ARR:
        a = (a & value | load32(console, CARRY) << 8) >> 1
        load_register(console, A, a)
        store32(console, CARRY, a >> 6 & 1)
        store32(console, OVERFLOW, (a >> 6 ^ a >> 5) & 1)
    elif what == op.SBX:
        compare(console, a & x, value)
        store32(console, X, ((a & x) - value) & 0xFF)
    elif what == op.LAS:
        load_register(console, A, value & load32(console, SP))
        store32(console, X, load32(console, A))
        store32(console, SP, load32(console, A))
    elif what == op.ANE:
        load_register(console, A, x & value & (a | 0xEE))
    elif what == op.LXA:
        load_register(console, A, value & (a | 0xEE))
        store32(console, X, load32(console, A))
    elif what == op.SHA:
        value = a & x & (high + 1)
    elif what == op.SHX:
        value = x & (high + 1)
    elif what == op.SHY:
        value = y & (high + 1)
    elif what == op.SHS:
        store32(console, SP, a & x)
        value = a & x & (high + 1)
    return value
