"""The RIOT (6532): its timer and its two ports. `bus` accesses its 128 bytes of RAM directly."""

from ga3c.emulator import state
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32, store32


@compiled
def riot_read(console: int, address: int, cycles: int) -> int:
    """Returns a register: SWCHA, DDRA, SWCHB, DDRB, or INTIM and TIMINT, which have two addresses each."""
    register = address & 7
    if register == 0:
        return load32(console, state.SWCHA)
    if register == 1:
        return load32(console, state.DDRA)
    if register == 2:
        return load32(console, state.SWCHB)
    if register == 3:
        return load32(console, state.DDRB)
    timer = _timer(console, cycles)
    if register & 1:
        return 0x80 if timer < 0 and not load32(console, state.TIMER_READ) else 0
    return _intim(console, cycles, timer) & 0xFF


@compiled
def _timer(console: int, cycles: int) -> int:
    elapsed = cycles - load32(console, state.TIMER_SET_CYCLES) - 1
    return load32(console, state.TIMER) - (elapsed >> load32(console, state.TIMER_SHIFT)) - 1


@compiled
def _intim(console: int, cycles: int, timer: int) -> int:
    """Returns INTIM. An expired timer counts single cycles until it is read; then it counts intervals again."""
    if timer >= 0:
        return timer
    if not load32(console, state.TIMER_READ):
        set_cycles, shift = load32(console, state.TIMER_SET_CYCLES), load32(console, state.TIMER_SHIFT)
        since = cycles - set_cycles - (load32(console, state.TIMER) << shift)
        if since < 2:
            return -since
        store32(console, state.TIMER_READ, 1)
        store32(console, state.TIMER_OFFSET, since)
    return timer - load32(console, state.TIMER_OFFSET) + 1


@compiled
def turns_until(console: int, least: int, cycles: int, turn_cycles: int) -> int:
    """Returns how many reads of INTIM give `least` (0 or more) or more, every `turn_cycles` from `cycles` on."""
    if _timer(console, cycles) < least:
        return 0
    intervals = load32(console, state.TIMER) - least
    last = load32(console, state.TIMER_SET_CYCLES) + (intervals << load32(console, state.TIMER_SHIFT))
    return (last - cycles) // turn_cycles + 1


@compiled
def riot_write(console: int, address: int, value: int, cycles: int) -> None:
    if address & 0x14 == 0x14:
        interval = address & 3
        store32(console, state.TIMER, value)
        store32(console, state.TIMER_SHIFT, 10 if interval == 3 else 3 * interval)
        store32(console, state.TIMER_SET_CYCLES, cycles)
        store32(console, state.TIMER_READ, 0)
    elif address & 7 == 0:
        store32(console, state.OUTA, value)
    elif address & 7 == 1:
        store32(console, state.DDRA, value)
    elif address & 7 == 3:
        store32(console, state.DDRB, value)
