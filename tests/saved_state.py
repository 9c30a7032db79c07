"""Reads a state that ALE has saved into the record of one of our consoles.

The layout was found by observing the bytes: whole numbers of 32 bits, and two patterns for true and false.
"""

import struct

import numpy as np

from ga3c.emulator import dpc, state
from ga3c.emulator import registers as reg
from ga3c.emulator.cartridge import BANK_BYTES, open_windows
from ga3c.emulator.controllers import PADDLE

TRUE, FALSE = b"\xb2\xfa\xb1\xfa", b"\xd2\xba\xd1\xba"
_CPU = [
    "A",
    "X",
    "Y",
    "SP",
    "_",
    "PC",
    "NEGATIVE",
    "OVERFLOW",
    "BREAK",
    "DECIMAL",
    "INTERRUPT",
    "ZERO",
    "CARRY",
    "FRAME_DONE",
]


def _numbers(data: bytes, start: int, count: int) -> list[int]:
    words = (data[start + 4 * i : start + 4 * i + 4] for i in range(count))
    return [1 if w == TRUE else 0 if w == FALSE else struct.unpack("<i", w)[0] for w in words]


def read_into(record: np.ndarray, saved: bytes) -> None:
    """Sets the record, uint8 [SIZE], to the console that ALE has saved, which has the same cartridge and controller."""
    fields = record.view(np.int32)

    def put(offset: int, value: int) -> None:
        fields[offset // 4] = value

    start_clock = _tia(record, put, saved)
    phase = -start_clock // 3
    cpu = _numbers(saved, saved.index(b"M6502Low") + 8, len(_CPU))
    for name, value in zip(_CPU, cpu, strict=True):
        if name != "_":
            put(getattr(state, name), value << 7 if name == "NEGATIVE" else value)
    put(state.CYCLES, _numbers(saved, saved.index(b"System") + 6, 1)[0] + phase)
    riot = _numbers(saved, saved.index(b"M6532") + 5, 1 + state.RAM_BYTES + 7)
    record[: state.RAM_BYTES] = riot[1 : 1 + state.RAM_BYTES]
    timer, shift, set_cycles, read_cycles, was_read, ddra, ddrb = riot[1 + state.RAM_BYTES :]
    put(state.TIMER, timer)
    put(state.TIMER_SHIFT, shift)
    put(state.TIMER_SET_CYCLES, set_cycles + phase)
    put(state.TIMER_READ, was_read)
    put(state.TIMER_OFFSET, (read_cycles - set_cycles - (timer << shift)) if was_read else 0)
    put(state.DDRA, ddra)
    put(state.DDRB, ddrb)
    put(state.FRAME_PHASE, phase)
    put(state.COLOUR_LOSS, 0)
    put(state.STALE, 63)
    put(state.REFLECTED, record[state.REGISTERS + reg.CTRLPF] & 1)
    _cartridge(record, put, saved)
    _paddles(put, saved, int(fields[state.CONTROLLER // 4]))


def _cartridge(record: np.ndarray, put, saved: bytes) -> None:
    start = saved.index(b"Cartridge")
    name = saved[start : start + struct.unpack_from("<I", saved, start - 4)[0]]
    numbers = _numbers(saved, start + len(name), 5)
    if name.startswith((b"CartridgeF8", b"CartridgeF6")):
        put(state.BANK, numbers[0] * BANK_BYTES)
    elif name == b"CartridgeE0":
        put(state.BANK, numbers[1] | numbers[2] << 8 | numbers[3] << 16)
    elif name == b"CartridgeDPC":
        put(state.BANK, numbers[0] * BANK_BYTES)
        _dpc(record, _numbers(saved, start + len(name), 42))
    if name.endswith(b"SC"):
        ram = _numbers(saved, start + len(name) + 8, state.RAM_BYTES)
        record[state.CARTRIDGE_RAM : state.CARTRIDGE_RAM + state.RAM_BYTES] = ram
    open_windows(record.ctypes.data)


def _dpc(record: np.ndarray, numbers: list[int]) -> None:
    """Reads the DPC. ALE saves a count before each eight numbers."""
    counters = np.array(numbers[20:28])
    parts = {dpc.TOP: numbers[2:10], dpc.BOTTOM: numbers[11:19], dpc.FLAG: numbers[29:37]}
    for first, values in (parts | {dpc.LOW: counters & 0xFF, dpc.HIGH: counters >> 8}).items():
        record[first : first + 8] = values
    record[dpc.RANDOM] = numbers[41]


def _paddles(put, saved: bytes, controller: int) -> None:
    if controller >= PADDLE:
        left, right = _numbers(saved, 0, 2)
        put(state.PADDLE_0, left if controller == PADDLE else right)
        put(state.PADDLE_1, right if controller == PADDLE else left)


def _tia(record: np.ndarray, put, saved: bytes) -> int:
    """Reads the TIA. Returns the clock at which the frame began."""
    tia = _numbers(saved, saved.index(b"TIA") + 3, 54)
    start_clock = tia[0]
    registers = record[state.REGISTERS : state.REGISTERS + state.REGISTER_COUNT]
    registers[[reg.VSYNC, reg.VBLANK, reg.NUSIZ0, reg.NUSIZ1]] = tia[9:13]
    registers[reg.COLUP0 : reg.COLUBK + 1] = [colour & 0xFF for colour in tia[13:17]]
    registers[reg.CTRLPF] = tia[17]
    registers[[reg.REFP0, reg.REFP1]] = [8 * tia[19], 8 * tia[20]]
    registers[[reg.PF0, reg.PF1, reg.PF2]] = [(tia[21] & 0xF) << 4, tia[21] >> 4 & 0xFF, tia[21] >> 12]
    registers[[reg.GRP0, reg.GRP1]] = tia[22:24]
    put(state.OLD_GRP0, tia[24])
    put(state.OLD_GRP1, tia[25])
    registers[[reg.ENAM0, reg.ENAM1, reg.ENABL]] = [2 * enabled for enabled in tia[26:29]]
    put(state.OLD_ENABL, 2 * tia[29])
    registers[reg.HMP0 : reg.HMP0 + 5] = [motion << 4 for motion in tia[30:35]]
    registers[[reg.VDELP0, reg.VDELP1, reg.VDELBL]] = tia[35:38]
    registers[[reg.RESMP0, reg.RESMP1]] = [2 * locked for locked in tia[38:40]]
    put(state.DRAWN_CLOCK, tia[3] - start_clock)
    put(state.COLLISIONS, _collisions(tia[40]))
    for thing in range(5):
        put(state.POSITION_P0 + 4 * thing, tia[41 + thing])
    put(state.HMOVE_CLOCK, tia[48] - start_clock)
    put(state.HMOVE_BLANK, tia[49])
    put(state.COSMIC_ARK, tia[50])
    put(state.COSMIC_ARK_COUNTER, tia[51])
    put(state.DUMP_CYCLES, tia[53] - start_clock // 3)
    put(state.VSYNC_END, tia[7] if tia[7] == 0x7FFFFFFF else tia[7] - start_clock)
    return start_clock


def _collisions(latched: int) -> int:
    """Converts the collision bits. ALE has bit 7 of each register below its bit 6, and none for CXBLPF's bit 6."""
    bits = 0
    for bit in range(15):
        register, lower = (bit // 2, bit & 1) if bit < 13 else (7, bit - 13)
        bits |= (latched >> bit & 1) << (2 * register + 1 - lower)
    return bits
