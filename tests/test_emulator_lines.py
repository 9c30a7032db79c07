"""Where a frame ends, taken whole or line by line (as on a GPU): on cartridges whose lines are counted.

The emulator runs as plain Python, in a process of its own. So a write to the TIA can be either way's, without a GPU or
its compiler.
"""

import ctypes
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

from tests import program

VSYNC, WSYNC, COLUBK = 0x00, 0x02, 0x09
LINE_CYCLES = 76
LDA, LDX, STA, STX, JMP, NOP = 0xA9, 0xA2, 0x85, 0x86, 0x4C, 0xEA  # LDA #n, LDX #n: 2 cycles; NOP: 2; else 3
WAIT, AGAIN, THREE = [STA, WSYNC], [JMP, 0x00, 0xF0], [0xA5, 0x80]  # the last: LDA n, 3 cycles in which nothing is done
ON, OFF = [LDA, 2, STA, VSYNC], [LDA, 0, STA, VSYNC]


@dataclass
class Cartridge:
    code: list[int]
    cycles: list[int]  # of its first four frames, each from the beginning of the line in which the one before ended
    pal: bool = False
    done: bool = True


def _lines(count: int, cycles: int = 0) -> int:
    return count * LINE_CYCLES + cycles


SHORT = [*WAIT, LDX, 0, LDA, 2, STA, VSYNC, *WAIT]  # on 7 cycles after the beginning of a line, then the next line
LEFT = _lines(10) + 3 * (25_000 - 10)  # instructions of 3 cycles each
# With what is written 291 lines after its beginning (PAL: 343) a frame ends in any case, and with the end of a VSYNC of
# 76 cycles at the least; where neither comes, 25,000 instructions are run of it at a time.
CARTRIDGES = {
    "262 lines": Cartridge([*ON, *WAIT * 3, *OFF, *WAIT * 259, *AGAIN], [_lines(3, 5), *[_lines(262, 5)] * 3]),
    "300 lines": Cartridge(
        [*ON, *WAIT * 3, *OFF, *WAIT * 297, *AGAIN], [_lines(3, 5), _lines(292), _lines(8, 5), _lines(292)]
    ),
    "VSYNC of 76 cycles": Cartridge(
        [*SHORT, NOP, NOP, STX, VSYNC, *WAIT * 98, *AGAIN], [_lines(2, 7), *[_lines(100, 7)] * 3]
    ),
    "VSYNC of 75 cycles": Cartridge([*SHORT, *THREE, STX, VSYNC, *WAIT * 98, *AGAIN], [_lines(292)] * 4),
    "lines without VSYNC": Cartridge([*WAIT, *AGAIN], [_lines(292)] * 4),
    "PAL lines without VSYNC": Cartridge([*WAIT, *AGAIN], [_lines(344)] * 4, pal=True),
    # One of them at the very cycle with which the frame may end.
    "writes without lines": Cartridge([JMP, 0x03, 0xF0, STA, COLUBK, JMP, 0x03, 0xF0], [_lines(291)] * 4),
    "VSYNC over the end": Cartridge([*WAIT * 290, *ON, *WAIT * 3, *OFF, *AGAIN], [_lines(292), _lines(1, 5)] * 2),
    "ten lines and nothing more": Cartridge([*WAIT * 10, JMP, 20, 0xF0], [LEFT, LEFT + 75_000], done=False),
}


def test_a_frame_ends_with_the_line_with_which_it_should_in_either_way():
    run = "from tests.test_emulator_lines import play; play()"
    ended = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, cwd=program.ROOT)
    assert ended.returncode == 0, ended.stderr
    found = [line.split(":") for line in ended.stdout.splitlines()]
    expected = [[name, str(cycles), str(one.done)] for name, one in CARTRIDGES.items() for cycles in one.cycles[:3]]
    assert found == expected


def play() -> None:
    """In a process that has nothing of the emulator yet. Prints the cycles of each frame. Raises AssertionError."""
    _as_plain_python()
    from ga3c.emulator import bus, cpu, frame, lines, tia
    from ga3c.emulator.setups import new_record
    from ga3c.emulator.state import CYCLES, DUE_CLOCK, FRAME_DONE, PAL, PC

    ways = (tia.tia_write, frame.next_frame), (lines.tia_write_of_line, lines.next_frame_by_lines)
    for name, cartridge in CARTRIDGES.items():
        data = np.full(4096, NOP, np.uint8)
        data[: len(cartridge.code)] = cartridge.code
        first, rom = new_record("any", data.tobytes())
        first.view(np.int32)[[PC // 4, FRAME_DONE // 4, PAL // 4]] = 0xF000, 1, cartridge.pal
        records = np.stack([first, first])
        for _ in cartridge.cycles[:3]:
            for record, (tia_write, next_frame) in zip(records, ways, strict=True):
                fields, console = record.view(np.int32), record.ctypes.data
                cpu.tia_write = bus.tia_write = tia_write
                next_frame(console, rom.ctypes.data, 0, 0)
                frame.draw_until(console, 0, int(fields[DUE_CLOCK // 4]))  # what a GPU does later
            np.testing.assert_array_equal(*records, err_msg=name)
            print(name, fields[CYCLES // 4], bool(fields[FRAME_DONE // 4]), sep=":")


def _as_plain_python() -> None:
    from ga3c.emulator import compiled, pointers

    def not_compiled(function):
        function.py_func = function
        return function

    compiled.compiled = not_compiled
    for bits, kind in ((8, ctypes.c_uint8), (32, ctypes.c_int32), (64, ctypes.c_int64)):

        def load(base, offset, kind=kind):
            return kind.from_address(base + offset).value

        def store(base, offset, value, kind=kind):
            kind.from_address(base + offset).value = int(value)

        setattr(pointers, f"load{bits}", load)
        setattr(pointers, f"store{bits}", store)
