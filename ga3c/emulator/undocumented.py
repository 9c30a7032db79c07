"""Operations that no manual has: two of the documented ones at once, mostly."""

from ga3c.emulator import opcodes as op
from ga3c.emulator.arithmetic import add, subtract
from ga3c.emulator.compiled import compiled


@compiled
def undocumented(what, value, high, a, x, y, sp, n, z, c, v, d):
    """`what`: an operation's number; `value`: the byte read; `high`: the upper byte of the address; the registers.

    Returns: the value to be written, A, X, SP, N, Z, C, V.
    """
    if what == op.DCP:
        value = (value - 1) & 0xFF
        c = 1 if a >= value else 0
        n = z = (a - value) & 0xFF
    elif what == op.ISB:
        value = (value + 1) & 0xFF
        a, c, v = subtract(a, value, c, d)
        n = z = a
    elif what == op.SLO:
        c = value >> 7
        value = value << 1 & 0xFF
        a = n = z = a | value
    elif what == op.RLA:
        value = value << 1 | c
        c = value >> 8
        value &= 0xFF
        a = n = z = a & value
    elif what == op.SRE:
        c = value & 1
        value >>= 1
        a = n = z = a ^ value
    elif what == op.RRA:
        value = value | c << 8
        c = value & 1
        value >>= 1
        a, c, v = add(a, value, c, d)
        n = z = a
    elif what == op.ANC:
        a = n = z = a & value
        c = a >> 7
    elif what == op.ASR:
        a &= value
        c = a & 1
        a = n = z = a >> 1
    elif what == op.ARR:
        a = (a & value | c << 8) >> 1
        n = z = a
        c = a >> 6 & 1
        v = (a >> 6 ^ a >> 5) & 1
    elif what == op.SBX:
        c = 1 if a & x >= value else 0
        x = n = z = ((a & x) - value) & 0xFF
    elif what == op.LAS:
        a = x = sp = n = z = value & sp
    elif what == op.ANE:
        a = n = z = x & value & (a | 0xEE)
    elif what == op.LXA:
        a = x = n = z = value & (a | 0xEE)
    elif what == op.SHA:
        value = a & x & (high + 1)
    elif what == op.SHX:
        value = x & (high + 1)
    elif what == op.SHY:
        value = y & (high + 1)
    elif what == op.SHS:
        sp = a & x
        value = sp & (high + 1)
    return value, a, x, sp, n, z, c, v
