"""Two ways to execute an instruction: in the loop that has the frequent ones at hand, or one by one."""

import numpy as np
import pytest

from ga3c.emulator.cartridge import BANK_BYTES
from ga3c.emulator.cpu import run_frame
from ga3c.emulator.handlers import handler
from ga3c.emulator.instruction import execute
from ga3c.emulator.opcodes import NAMES
from ga3c.emulator.picture import LINE_CLOCKS
from ga3c.emulator.setups import new_record
from ga3c.emulator.state import DECIMAL, DRAWN_CLOCK, FIRST_LINE, FRAME_DONE, JAMMED, PC, SP

INSTRUCTIONS, NOP = 40, 0xEA
LEAD_AWAY = [opcode for opcode, name in enumerate(NAMES) if name in ("KIL", "BRK", "RTI", "RTS", "JSR", "JMP", "JMI")]


def _one_by_one(console: np.ndarray, rom: np.ndarray, picture: np.ndarray) -> int:
    fields, left = console.view(np.int32), INSTRUCTIONS
    fields[FRAME_DONE // 4] = 0
    while left > 0 and not fields[FRAME_DONE // 4] and not fields[JAMMED // 4]:
        left = execute(console.ctypes.data, rom.ctypes.data, picture.ctypes.data, left)
    return left


@pytest.mark.parametrize(("seed", "banks"), [(0, 1), (1, 2), (2, 4), (3, 1)])
def test_the_loop_does_what_each_instruction_does(seed, banks):
    random = np.random.default_rng(seed)
    data = random.integers(0, 256, banks * BANK_BYTES, np.uint8)
    data[np.isin(data, LEAD_AWAY) & (random.random(len(data)) < 0.95)] = NOP
    start, rom = new_record("any", data.tobytes())
    start.view(np.int32)[DRAWN_CLOCK // 4] = start.view(np.int32)[FIRST_LINE // 4] * LINE_CLOCKS
    records, pictures = np.stack([start, start]), np.zeros((2, 210, 160), np.uint8)
    seen = set()
    for _ in range(400):
        program, stack = random.integers(0x1000, 0x10000) | 0x1000, random.integers(256)
        for fields in records.view(np.int32):
            fields[PC // 4], fields[SP // 4], fields[JAMMED // 4] = program, stack, 0
            fields[DECIMAL // 4] = seed == 3
        seen.add(int(data[program % BANK_BYTES]))
        left = run_frame(records[0].ctypes.data, rom.ctypes.data, pictures[0].ctypes.data, INSTRUCTIONS)
        assert left == _one_by_one(records[1], rom, pictures[1])
        np.testing.assert_array_equal(records[0], records[1])
        np.testing.assert_array_equal(pictures[0], pictures[1])
    assert len(seen) > 100


def test_most_documented_instructions_are_at_hand():
    at_hand = [opcode for opcode in range(256) if handler(opcode)]
    assert len(at_hand) > 130
    assert not any(NAMES[opcode] in ("BRK", "RTI", "KIL") for opcode in at_hand)
