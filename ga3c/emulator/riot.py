"""The RIOT (6532): the timer and the two ports. Its 128 bytes of RAM are read and written where the CPU does it."""

from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.state import (
    DDRA,
    DDRB,
    OUTA,
    SWCHA,
    SWCHB,
    TIMER,
    TIMER_OFFSET,
    TIMER_READ,
    TIMER_SET_CYCLES,
    TIMER_SHIFT,
)


@compiled
def riot_read(console: int, address: int, cycles: int) -> int:
    """What the register at an address holds: SWCHA, DDRA, SWCHB, DDRB, or by two addresses each INTIM and TIMINT."""
    register = address & 7
    if register == 0:
        return load32(console, SWCHA)
    if register == 1:
        return load32(console, DDRA)
    if register == 2:
        return load32(console, SWCHB)
    if register == 3:
        return load32(console, DDRB)
    timer = _timer(console, cycles)
    if register & 1:
        return 0x80 if timer < 0 and not load32(console, TIMER_READ) else 0
    return _intim(console, cycles, timer) & 0xFF


@compiled
def _timer(console: int, cycles: int) -> int:
    elapsed = cycles - load32(console, TIMER_SET_CYCLES) - 1
    return load32(console, TIMER) - (elapsed >> load32(console, TIMER_SHIFT)) - 1


@compiled
def _intim(console: int, cycles: int, timer: int) -> int:
    """Once it has run out the timer counts single cycles; the first read after that makes it count intervals again."""
    if timer >= 0:
        return timer
    if not load32(console, TIMER_READ):
        set_cycles, shift = load32(console, TIMER_SET_CYCLES), load32(console, TIMER_SHIFT)
        since = cycles - set_cycles - (load32(console, TIMER) << shift)
        if since < 2:
            return -since
        store32(console, TIMER_READ, 1)
        store32(console, TIMER_OFFSET, since)
    return timer - load32(console, TIMER_OFFSET) + 1


@compiled
def turns_until_next(console: int, value: int, cycles: int, turn_cycles: int) -> int:
    """How many reads of INTIM, the first at `cycles` and so far apart, give the value that it has now."""
    if value != _timer(console, cycles):
        return 0
    intervals = load32(console, TIMER) - value
    last = load32(console, TIMER_SET_CYCLES) + (intervals << load32(console, TIMER_SHIFT))
    return (last - cycles) // turn_cycles + 1


@compiled
def riot_write(console: int, address: int, value: int, cycles: int) -> None:
    if address & 0x14 == 0x14:
        interval = address & 3
        store32(console, TIMER, value)
        store32(console, TIMER_SHIFT, 10 if interval == 3 else 3 * interval)
        store32(console, TIMER_SET_CYCLES, cycles)
        store32(console, TIMER_READ, 0)
    elif address & 7 == 0:
        store32(console, OUTA, value)
    elif address & 7 == 1:
        store32(console, DDRA, value)
    elif address & 7 == 3:
        store32(console, DDRB, value)
