"""The DPC, David Crane's display chip in the cartridge of Pitfall II (US patent 4,644,495).

It has 2K of graphics after the program's 8K, and eight data fetchers. Each fetcher counts down through the graphics:
every read returns the next byte. Its flag is set when the counter's low byte equals the fetcher's top, and cleared when
it equals the bottom, so an object appears in some lines only. Each access to the chip draws a random number. Three
fetchers can make sound, which is not emulated and reads as silence.
"""

from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load8, store8
from ga3c.emulator.state import CARTRIDGE_RAM

# Offsets in the cartridge's part of the record; one byte for each fetcher.
LOW, HIGH, TOP, BOTTOM, FLAG = range(CARTRIDGE_RAM, CARTRIDGE_RAM + 40, 8)
RANDOM, FIRST_RANDOM = CARTRIDGE_RAM + 40, 1
REGISTERS, WRITTEN = 0x80, 0x40  # number of registers; the first that is written to
DRAWS_TOO = 0xFC0  # reads from here on draw a random number in ALE, too
DATA_LAST = 8192 + 2047
SOUND = 4  # the first fetcher that reads as sound


@compiled
def dpc_read(console: int, rom: int, address: int) -> int:
    draw(console)
    fetcher, way = address & 7, address >> 3
    if way == 0:
        return load8(console, RANDOM) if fetcher < SOUND else 0
    if way >= 8:
        return 0
    low, flag = load8(console, LOW + fetcher), load8(console, FLAG + fetcher)
    counter = (load8(console, HIGH + fetcher) & 7) << 8 | low
    if low == load8(console, TOP + fetcher):
        flag = 0xFF
    elif low == load8(console, BOTTOM + fetcher):
        flag = 0
    store8(console, FLAG + fetcher, flag)
    value = load8(rom, DATA_LAST - counter)
    counter = (counter - 1) & 0x7FF
    store8(console, LOW + fetcher, counter & 0xFF)
    store8(console, HIGH + fetcher, counter >> 8)
    if way == 1:
        return value
    return flag if way == 7 else _turned(value, way) & flag


@compiled
def _turned(value: int, way: int) -> int:
    if way == 3:  # nibbles swapped
        return value >> 4 | (value & 0xF) << 4
    if way == 4:  # bits reversed
        turned = 0
        for bit in range(8):
            turned |= (value >> bit & 1) << (7 - bit)
        return turned
    if way == 5:
        return value >> 1 | (value & 1) << 7
    if way == 6:
        return (value << 1 | value >> 7) & 0xFF
    return value


@compiled
def dpc_write(console: int, address: int, value: int) -> None:
    draw(console)
    fetcher, what = address & 7, address >> 3
    if what == 8:
        store8(console, TOP + fetcher, value)
        store8(console, FLAG + fetcher, 0)
    elif what == 9:
        store8(console, BOTTOM + fetcher, value)
    elif what == 10:
        store8(console, LOW + fetcher, value)
    elif what == 11:
        store8(console, HIGH + fetcher, value & 7)
    elif what == 14:
        store8(console, RANDOM, FIRST_RANDOM)


@compiled
def draw(console: int) -> None:
    """Draws the next random number with a shift register of 8 bits: four of them give the new bit."""
    last = load8(console, RANDOM)
    new = ~(last >> 7 ^ last >> 5 ^ last >> 4 ^ last >> 3) & 1
    store8(console, RANDOM, (last << 1 | new) & 0xFF)
