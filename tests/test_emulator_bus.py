"""Programs in the console's memory, run by ours and by ALE's: what is on the data bus where nobody drives it."""

import struct

import numpy as np
import pytest
from ale_py import ALEInterface, roms
from ale_py._ale_py import ALEState

from ga3c.emulator import state
from ga3c.emulator.frame import next_frame
from ga3c.emulator.setups import new_record
from tests.frame_oracle import new_ale
from tests.saved_state import read_into

X, PC, MEMORY = 1, 5, 1  # places of whole numbers in the states that ALE saves
END = bytes.fromhex("85f0 a902 8500 8502 8502 a900 8500 4c")  # STA $F0, VSYNC on and off, JMP to itself


def with_program(ale: ALEInterface, program: bytes, index: int) -> bytes:
    """ALE's state, about to run this from the beginning of the RAM with X and Y as `index`."""
    program += END
    program += bytes([0x80 + len(program) - 1, 0])
    saved = bytearray(ale.cloneState().serialize())
    cpu, memory = saved.index(b"M6502Low") + 8, saved.index(b"M6532") + 5
    struct.pack_into("<2i", saved, cpu + 4 * X, index, index)
    struct.pack_into("<i", saved, cpu + 4 * PC, 0x80)
    struct.pack_into(f"<{len(program)}i", saved, memory + 4 * MEMORY, *program)
    return bytes(saved)


@pytest.mark.parametrize("opcode", ["b9", "bd", "19", "5d", "1d"])
def test_a_register_that_is_read_past_the_end_of_a_page(opcode):
    """Its lower bits keep the last byte of the instruction: ALE does not read within the page first."""
    ale, random = new_ale("solaris"), np.random.default_rng(1)
    record, rom = new_record("solaris", roms.get_rom_path("solaris").read_bytes())
    picture, seen = np.zeros((210, 160), np.uint8), set()
    for page in bytes.fromhex("1f3f5fbfff") * 8:
        base, index = int(random.integers(0xE1, 0x100)), int(random.integers(0x20, 0x28))
        saved = with_program(ale, b"\xa9\0" + bytes.fromhex(opcode) + bytes([base, page]), index)
        ale.restoreState(ALEState(saved))
        read_into(record, saved)
        ale.act(0)
        next_frame(record.ctypes.data, rom.ctypes.data, picture.ctypes.data, 0)
        np.testing.assert_array_equal(record[: state.RAM_BYTES], ale.getRAM())
        seen.add(int(record[0x70]))
    assert len(seen) > 1
