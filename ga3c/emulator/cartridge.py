"""Cartridges: 4K that the CPU sees at once, and how a larger one changes what it sees.

A 2K cartridge comes here twice in a row. BANK is where in the ROM the 4K of now begin. An access to an address from
HOTSPOTS on may change it.
"""

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.memory import load8, load32, store32
from ga3c.emulator.state import BANK, CARTRIDGE, HOTSPOTS

BANK_BYTES = 4096
PLAIN, F8 = range(2)
_HOTSPOTS = {PLAIN: BANK_BYTES, F8: 0xFF8}


def insert(record: np.ndarray, data: bytes) -> np.ndarray:
    """Puts a cartridge into the console with this record, uint8 [SIZE].

    Returns the ROM as the console's code reads it, uint8. It has some bytes more: instructions are read three at once.
    """
    kind = F8 if len(data) > BANK_BYTES else PLAIN
    fields = record.view(np.int32)
    fields[CARTRIDGE // 4], fields[HOTSPOTS // 4] = kind, _HOTSPOTS[kind]
    fields[BANK // 4] = max(len(data) - BANK_BYTES, 0)
    return np.frombuffer(data * (BANK_BYTES // len(data) or 1) + bytes(8), np.uint8)


@compiled
def cartridge_read(console: int, rom: int, address: int, bus: int) -> int:
    offset = address & 0xFFF
    _switch(console, offset)
    return load8(rom, load32(console, BANK) + offset)


@compiled
def cartridge_write(console: int, rom: int, address: int, value: int) -> None:
    _switch(console, address & 0xFFF)


@compiled
def _switch(console: int, offset: int) -> None:
    kind = load32(console, CARTRIDGE)
    if kind == F8 and 0xFF8 <= offset <= 0xFF9:
        store32(console, BANK, (offset - 0xFF8) << 12)
