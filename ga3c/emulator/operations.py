"""The 6507's operations on a value: all instructions but branches, jumps and those of the stack."""

from ga3c.emulator import opcodes as op
from ga3c.emulator.arithmetic import change, compare, load_register, with_accumulator
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.state import CARRY, DECIMAL, INTERRUPT, JAMMED, NEGATIVE, OVERFLOW, SP, ZERO, A, X, Y
from ga3c.emulator.undocumented import undocumented


@compiled
def operate(console: int, what: int, value: int, high: int) -> int:
    """Executes an operation. Returns the value to write, if the instruction writes.

    `value` is the operand, `high` the upper byte of its address.
    """
    a, x, y = load32(console, A), load32(console, X), load32(console, Y)
    if what == op.LDA:
        load_register(console, A, value)
    elif what == op.LDX:
        load_register(console, X, value)
    elif what == op.LDY:
        load_register(console, Y, value)
    elif what == op.STA:
        return a
    elif what == op.STX:
        return x
    elif what == op.STY:
        return y
    elif what == op.TAX:
        load_register(console, X, a)
    elif what == op.TAY:
        load_register(console, Y, a)
    elif what == op.TXA:
        load_register(console, A, x)
    elif what == op.TYA:
        load_register(console, A, y)
    elif what == op.TSX:
        load_register(console, X, load32(console, SP))
    elif what == op.TXS:
        store32(console, SP, x)
    elif what == op.INX:
        load_register(console, X, x + 1)
    elif what == op.INY:
        load_register(console, Y, y + 1)
    elif what == op.DEX:
        load_register(console, X, x - 1)
    elif what == op.DEY:
        load_register(console, Y, y - 1)
    elif what in (op.ADC, op.SBC, op.AND, op.ORA, op.EOR):
        with_accumulator(console, what, value)
    elif what == op.CMP:
        compare(console, a, value)
    elif what == op.CPX:
        compare(console, x, value)
    elif what == op.CPY:
        compare(console, y, value)
    elif what == op.BIT:
        store32(console, ZERO, a & value)
        store32(console, NEGATIVE, value)
        store32(console, OVERFLOW, value >> 6 & 1)
    elif what in (op.ASL_A, op.LSR_A, op.ROL_A, op.ROR_A):
        load_register(console, A, change(console, what, a))
    elif what in (op.INC, op.DEC, op.ASL, op.LSR, op.ROL, op.ROR):
        return change(console, what, value)
    elif what in (op.CLC, op.SEC):
        store32(console, CARRY, what == op.SEC)
    elif what in (op.CLD, op.SED):
        store32(console, DECIMAL, what == op.SED)
    elif what in (op.CLI, op.SEI):
        store32(console, INTERRUPT, what == op.SEI)
    elif what == op.CLV:
        store32(console, OVERFLOW, 0)
    elif what == op.KIL:
        store32(console, JAMMED, 1)
    elif what != op.NOP:
        return undocumented(console, what, value, high)
    return value
