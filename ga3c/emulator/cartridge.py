"""Cartridges and bank switching: the CPU sees 4K at a time, and a larger cartridge selects which 4K.

A 2K cartridge is repeated to fill 4K. BANK is the offset in the ROM of the selected 4K. The CPU sees them through
windows of 1K, a table in the record. An access beyond the plain bytes of a window may switch the bank, or reach RAM.
"""

import numpy as np

from ga3c.emulator import dpc
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load8, load32, store8, store32
from ga3c.emulator.state import BANK, CARTRIDGE, CARTRIDGE_RAM, WINDOW_BYTES, WINDOW_COUNT, WINDOWS

BANK_BYTES = 4096
SLICE_BYTES = 1024
PLAIN, F8, F6, F8SC, F6SC, E0, FE, DPC = range(8)
# The number of plain bytes in the last window. RAM and the DPC are in the first window, which then has none.
LAST_PLAIN_BYTES = np.array([1024, 0x3F8, 0x3F6, 0x3F8, 0x3F6, 0x3E0, 1024, 0x3C0], np.int64)
# BANK of an E0 cartridge holds its first three slices of 1K, one byte each; the last slice is fixed.
_E0_START, E0_LAST = 4 | 5 << 8 | 6 << 16, 7


def insert(record: np.ndarray, data: bytes, kind: int) -> np.ndarray:
    """Puts a cartridge into the console with this record, uint8 [SIZE].

    Returns the ROM, uint8, with some bytes of padding: the code may read beyond the last instruction.
    """
    fields = record.view(np.int32)
    fields[CARTRIDGE // 4] = kind
    fields[BANK // 4] = _E0_START if kind == E0 else BANK_BYTES if kind in (F8, F8SC, DPC) else 0
    if kind == DPC:
        record[dpc.RANDOM] = dpc.FIRST_RANDOM
    open_windows(record.ctypes.data)
    return np.frombuffer(data * (BANK_BYTES // len(data) or 1) + bytes(8), np.uint8)


@compiled
def open_windows(console: int) -> None:
    """Fills the table of windows for the cartridge and its selected bank."""
    kind, bank = load32(console, CARTRIDGE), load32(console, BANK)
    for number in range(WINDOW_COUNT):
        part, window = number & 3, console + WINDOWS + WINDOW_BYTES * number
        if not number & 4:  # A12 is not set
            store32(window, 4, 0)
            continue
        if kind == E0:
            start = SLICE_BYTES * (E0_LAST if part == 3 else load8(console, BANK + part))
        elif kind == FE:  # bit 13 of the address selects the bank
            start = SLICE_BYTES * part + (0 if number & 8 else BANK_BYTES)
        else:
            start = SLICE_BYTES * part + bank
        plain = LAST_PLAIN_BYTES[kind] if part == 3 else SLICE_BYTES
        store32(window, 0, start)
        store32(window, 4, 0 if part == 0 and (F8SC <= kind <= F6SC or kind == DPC) else plain)


@compiled
def window_of(console: int, address: int) -> int:
    return console + WINDOWS + WINDOW_BYTES * (address >> 10 & WINDOW_COUNT - 1)


@compiled
def cartridge_read(console: int, rom: int, address: int) -> int:
    window, offset = window_of(console, address), address % SLICE_BYTES
    if offset >= load32(window, 4):
        in_4k, kind = address & 0xFFF, load32(console, CARTRIDGE)
        _switch(console, kind, in_4k)
        if F8SC <= kind <= F6SC and 0x80 <= in_4k < 0x100:
            return load8(console, CARTRIDGE_RAM + in_4k - 0x80)
        if kind == DPC and in_4k < dpc.REGISTERS:
            return dpc.dpc_read(console, rom, in_4k)
        if kind == DPC and in_4k >= dpc.DRAWS_TOO:
            dpc.draw(console)
    return load8(rom, load32(window, 0) + offset)


@compiled
def cartridge_write(console: int, address: int, value: int) -> None:
    offset, kind = address & 0xFFF, load32(console, CARTRIDGE)
    _switch(console, kind, offset)
    if F8SC <= kind <= F6SC and offset < 0x80:
        store8(console, CARTRIDGE_RAM + offset, value)
    elif kind == DPC and dpc.WRITTEN <= offset < dpc.REGISTERS:
        dpc.dpc_write(console, offset, value)


@compiled
def _switch(console: int, kind: int, offset: int) -> None:
    if kind in (F8, F8SC, DPC) and 0xFF8 <= offset <= 0xFF9:
        store32(console, BANK, (offset - 0xFF8) * BANK_BYTES)
    elif kind in (F6, F6SC) and 0xFF6 <= offset <= 0xFF9:
        store32(console, BANK, (offset - 0xFF6) * BANK_BYTES)
    elif kind == E0 and 0xFE0 <= offset < 0xFF8:
        store8(console, BANK + ((offset - 0xFE0) >> 3), offset & 7)
    else:
        return
    open_windows(console)
