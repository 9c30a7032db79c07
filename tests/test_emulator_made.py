"""The code made for a game does what the loop over its instructions does, also in cartridges that hold anything."""

import numpy as np
import pytest

from ga3c.emulator import made
from ga3c.emulator.cartridge import BANK_BYTES, open_windows
from ga3c.emulator.controllers import press
from ga3c.emulator.frame import next_frame
from ga3c.emulator.opcodes import IMMEDIATE, LENGTH, MODE, NAMES, RELATIVE
from ga3c.emulator.program import Program
from ga3c.emulator.setups import new_record
from ga3c.emulator.state import BANK, CARTRIDGE, FRAME_DONE, PC, SP
from tests.variants import variants

KIL = [opcode for opcode, name in enumerate(NAMES) if name == "KIL"]
LEAVES = {"KIL", "BRK", "RTI", "RTS", "JMI", "JMP", "JSR", "TXS"}  # instructions that would soon leave the others
START = 0xF300, 0xF000
NOP, JMP, STA, SED, TXS = 0xEA, 0x4C, 0x85, 0xF8, 0x9A


def instructions(random: np.random.Generator) -> np.ndarray:
    """Returns a bank of instructions in a loop, mostly with operands that lead to RAM or to the cartridge."""
    usual = [opcode for opcode, name in enumerate(NAMES) if name not in LEAVES]
    data = []
    while len(data) < BANK_BYTES - 40:
        opcode, low = int(random.choice(usual)), random.integers(0x80, 0x100)
        if MODE[opcode] == IMMEDIATE or random.random() < 0.1:
            low = random.integers(0x100)
        skips_one = [opcode, 1, NOP]
        data += skips_one if MODE[opcode] == RELATIVE else [opcode, low, random.choice([0, 0xF0])][: LENGTH[opcode]]
    return np.array([*data, JMP, 0x06, 0xF0] + [NOP] * (BANK_BYTES - len(data) - 3), np.uint8)


def cartridge(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns a console and its ROM. It is about to run random bytes, with jumps that keep to them; from seed 24 on,
    random instructions."""
    random = np.random.default_rng(seed)
    banks, kind = [(1, 0), (2, 1), (4, 2), (2, 3), (4, 4), (2, 5), (2, 6), (4, 7)][seed % 8]
    data = random.integers(0, 256, banks * BANK_BYTES, np.uint8)
    data[np.isin(data, KIL)] = STA
    for at in range(200, len(data) - 3, 97):  # a jump every 97 bytes
        data[at : at + 3] = JMP, random.integers(256), 0xF0 | random.integers(16)
    if seed >= 24:
        data = np.tile(instructions(random), banks)
    data[:6] = 0xA2, 0xFF, TXS, SED if seed % 3 == 0 else NOP, STA, 0x02
    record, rom = new_record("any", data.tobytes())
    fields = record.view(np.int32)
    fields[CARTRIDGE // 4], fields[PC // 4], fields[SP // 4], fields[FRAME_DONE // 4] = kind, START[seed >= 24], 0xFF, 1
    fields[BANK // 4] = 0 if kind != 5 else 0x010203
    open_windows(record.ctypes.data)
    return record, rom


@pytest.mark.parametrize("seed", variants(range(27), *range(8), 24, 26))
def test_it_does_what_the_loop_does(seed, monkeypatch):
    monkeypatch.setattr(made.run_frame._cache, "_cache_path", None)
    record, rom = cartridge(seed)
    code = made.code_for("any", rom, record.copy)
    consoles, pictures = np.stack([record, record]), np.zeros((2, 210, 160), np.uint8)
    random = np.random.default_rng(seed)
    for _ in range(300):
        action = int(random.integers(18))
        for console, picture, way in zip(consoles, pictures, (0, code), strict=True):
            press(console.ctypes.data, action)
            next_frame(console.ctypes.data, rom.ctypes.data, picture.ctypes.data, way)
        np.testing.assert_array_equal(*consoles)
        np.testing.assert_array_equal(*pictures)


def test_what_was_never_executed_is_known_where_something_leads_to_it():
    lda, beq, jsr, rts = 0xA9, 0xF0, 0x20, 0x60
    code = [lda, 1, beq, 3, JMP, 0, 0xF0, jsr, 13, 0xF0, JMP, 0, 0xF0, rts]  # the branch is never taken
    record, rom = new_record("any", bytes(code + [NOP] * (BANK_BYTES - len(code))))
    record.view(np.int32)[PC // 4] = 0xF000
    known = Program(record, rom, np.zeros(1, np.int64))
    assert sorted(known.address) == [0, 2, 4, 7, 10, 13]
    assert 10 in known.entries  # the call returns there


def test_it_is_kept_and_made_again_if_the_file_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr(made.run_frame._cache, "_cache_path", str(tmp_path))
    record, rom = cartridge(0)
    assert made.code_for("any", rom, record.copy)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    assert made.code_for("any", rom, lambda: pytest.fail("it is made again"))
    file.write_bytes(content[:10])
    assert made.code_for("any", rom, record.copy)
    assert file.read_bytes() == content
