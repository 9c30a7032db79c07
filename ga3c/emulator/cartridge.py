"""Cartridges: 4K that the CPU sees at once, and how a larger one changes what it sees.

A 2K cartridge comes here twice in a row. BANK is where in the ROM the 4K of now begin; an access to an address from
HOTSPOTS on may change it, or needs more than a look into these 4K.
"""

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.memory import load8, load32, store8, store32
from ga3c.emulator.state import BANK, CARTRIDGE, CARTRIDGE_RAM, HOTSPOTS

BANK_BYTES = 4096
SLICE_BYTES = 1024
PLAIN, F8, F6, F8SC, F6SC, E0, FE = range(7)
_HOTSPOTS = {PLAIN: BANK_BYTES, F8: 0xFF8, F6: 0xFF6, F8SC: 0, F6SC: 0, E0: 0, FE: 0}
_E0_START = (
    4 | 5 << 8 | 6 << 16
)  # BANK of an E0 cartridge: its first three slices of 1K, a byte each; the last is fixed


def insert(record: np.ndarray, data: bytes, kind: int) -> np.ndarray:
    """Puts a cartridge into the console with this record, uint8 [SIZE].

    Returns the ROM as the console's code reads it, uint8. It has some bytes more: instructions are read three at once.
    """
    fields = record.view(np.int32)
    fields[CARTRIDGE // 4], fields[HOTSPOTS // 4] = kind, _HOTSPOTS[kind]
    fields[BANK // 4] = _E0_START if kind == E0 else BANK_BYTES if kind in (F8, F8SC) else 0
    return np.frombuffer(data * (BANK_BYTES // len(data) or 1) + bytes(8), np.uint8)


@compiled
def cartridge_read(console: int, rom: int, address: int) -> int:
    offset, kind = address & 0xFFF, load32(console, CARTRIDGE)
    if kind == FE:  # which bank follows from bit 13 of the address
        return load8(rom, offset + (0 if address & 0x2000 else BANK_BYTES))
    _switch(console, kind, offset)
    if kind == E0:
        part = 7 if offset >= 3 * SLICE_BYTES else load8(console, BANK + offset // SLICE_BYTES)
        return load8(rom, part * SLICE_BYTES + offset % SLICE_BYTES)
    if kind >= F8SC and 0x80 <= offset < 0x100:
        return load8(console, CARTRIDGE_RAM + offset - 0x80)
    return load8(rom, load32(console, BANK) + offset)


@compiled
def cartridge_write(console: int, address: int, value: int) -> None:
    offset, kind = address & 0xFFF, load32(console, CARTRIDGE)
    _switch(console, kind, offset)
    if F8SC <= kind <= F6SC and offset < 0x80:
        store8(console, CARTRIDGE_RAM + offset, value)


@compiled
def _switch(console: int, kind: int, offset: int) -> None:
    if kind in (F8, F8SC) and 0xFF8 <= offset <= 0xFF9:
        store32(console, BANK, (offset - 0xFF8) * BANK_BYTES)
    elif kind in (F6, F6SC) and 0xFF6 <= offset <= 0xFF9:
        store32(console, BANK, (offset - 0xFF6) * BANK_BYTES)
    elif kind == E0 and 0xFE0 <= offset < 0xFF8:
        store8(console, BANK + ((offset - 0xFE0) >> 3), offset & 7)
