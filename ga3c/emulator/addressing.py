"""The 6507's addressing modes: the address of an instruction's operand."""

from ga3c.emulator import opcodes as op
from ga3c.emulator.bus import read
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32
from ga3c.emulator.state import X, Y


@compiled
def operand(console: int, rom: int, picture: int, opcode: int, low: int, high: int, cycles: int):
    """Returns (address, the last byte on the data bus, cycles). `low` and `high` are the two bytes after the opcode."""
    mode = op.MODE[opcode]
    x, y = load32(console, X), load32(console, Y)
    if mode == op.IMPLIED:
        return low, opcode, cycles
    if mode <= op.ZERO_PAGE:
        return low, low, cycles
    if mode == op.ZERO_PAGE_X:
        return (low + x) & 0xFF, low, cycles
    if mode == op.ZERO_PAGE_Y:
        return (low + y) & 0xFF, low, cycles
    if mode == op.INDEXED:
        pointer = (low + x) & 0xFF
        low = read(console, rom, picture, pointer, low, cycles)
        high = read(console, rom, picture, (pointer + 1) & 0xFF, low, cycles)
    elif mode == op.INDIRECT:
        pointer = low
        low = read(console, rom, picture, pointer, low, cycles)
        high = read(console, rom, picture, (pointer + 1) & 0xFF, low, cycles)
    if mode == op.ABSOLUTE or mode == op.INDEXED:
        return low | high << 8, high, cycles
    low += x if mode == op.ABSOLUTE_X else y
    address = low & 0xFF | high << 8
    if low <= 0xFF:
        return address, high, cycles
    if op.ACCESS[opcode] == op.READ:  # crossing a page costs a cycle; ALE omits the read of the wrong address before it
        cycles += 1
    return (address + 0x100) & 0xFFFF, high, cycles
