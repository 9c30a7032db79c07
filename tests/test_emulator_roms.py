"""Cartridges that hold anything."""

import numpy as np
import pytest

from ga3c.emulator.cartridge import BANK_BYTES, open_windows
from ga3c.emulator.frame import next_frame
from ga3c.emulator.setups import new_record
from ga3c.emulator.state import BANK, CARTRIDGE, FRAME_DONE, PC


@pytest.mark.parametrize("seed", range(24))
def test_any_rom_runs_and_stays_within_its_record_and_its_picture(seed):
    random = np.random.default_rng(seed)
    banks, kind = [(1, 0), (2, 1), (4, 2), (2, 3), (4, 4), (2, 5), (2, 6), (4, 7)][seed % 8]
    record, rom = new_record("any", random.integers(0, 256, banks * BANK_BYTES, np.uint8).tobytes())
    memory = np.full((3, max(record.size, 210 * 160)), 0xA5, np.uint8)
    memory[1, : record.size] = record
    console, guards = memory[1, : record.size], memory.copy()
    fields = console.view(np.int32)
    fields[CARTRIDGE // 4], fields[PC // 4], fields[FRAME_DONE // 4] = kind, 0xF000 + seed, 1
    fields[BANK // 4] = 0 if kind != 5 else 0x010203
    open_windows(console.ctypes.data)
    pictures = np.full((3, 210, 160), 0xA5, np.uint8)
    for _ in range(30):
        next_frame(console.ctypes.data, rom.ctypes.data, pictures[1].ctypes.data, 0)
    np.testing.assert_array_equal(memory[[0, 2]], guards[[0, 2]])
    np.testing.assert_array_equal(memory[1, record.size :], guards[1, record.size :])
    assert (pictures[[0, 2]] == 0xA5).all()
