"""The address bus: A12 selects the cartridge; otherwise A7 and A9 select the TIA, the RIOT's RAM or its ports."""

from ga3c.emulator.cartridge import cartridge_read, cartridge_write
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load8, store8
from ga3c.emulator.riot import riot_read, riot_write
from ga3c.emulator.tia import tia_read, tia_write


@compiled
def read(console: int, rom: int, picture: int, address: int, bus: int, cycles: int) -> int:
    """Returns the byte at an address. `bus` is the last byte on the data bus: the TIA does not drive all bits."""
    if address & 0x1000:
        return cartridge_read(console, rom, address)
    if not address & 0x80:
        return tia_read(console, picture, address, bus, cycles)
    if address & 0x200:
        return riot_read(console, address, cycles)
    return load8(console, address & 0x7F)


@compiled
def write(console: int, picture: int, address: int, value: int, cycles: int) -> int:
    """Writes a byte. Returns the cycle at which the CPU goes on, which is later than `cycles` after WSYNC."""
    if address & 0x1000:
        cartridge_write(console, address, value)
    elif not address & 0x80:
        return tia_write(console, picture, address & 0x3F, value, cycles)
    elif address & 0x200:
        riot_write(console, address, value, cycles)
    else:
        store8(console, address & 0x7F, value)
    return cycles
