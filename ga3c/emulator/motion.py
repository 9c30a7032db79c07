"""Where the TIA's objects stand: RESxx, HMOVE and RESMPx, and what comes of them at odd times."""

from ga3c.emulator.compiled import compiled
from ga3c.emulator.objects import SECOND_COPY, STALE_BL, STALE_M0, STALE_P0, THIRD_COPY, mark_stale
from ga3c.emulator.picture import BLANK_CLOCKS, LINE_CLOCKS, LINE_CYCLES, draw_until
from ga3c.emulator.pointers import load8, load32, store32
from ga3c.emulator.registers import HMP0, NUSIZ0, RESBL, RESM0, RESM1, RESMP0, RESP0
from ga3c.emulator.state import (
    COSMIC_ARK,
    COSMIC_ARK_COUNTER,
    HMOVE_BLANK,
    HMOVE_CLOCK,
    NO_BLANKS,
    POSITION_M0,
    POSITION_P0,
    REGISTERS,
    SUPPRESS_P0,
)

DRIFT_CLOCKS = 63
NEITHER, DRAWN, SOON = range(3)


@compiled
def reset_position(console: int, picture: int, register: int, clock: int) -> None:
    thing = register - RESP0
    pixel = clock % LINE_CLOCKS - BLANK_CLOCKS
    if register >= RESM0:
        draw_until(console, picture, clock if register == RESBL else clock + 8)
        since = (clock - load32(console, HMOVE_CLOCK)) // 3
        position = _position_while_moving(register, since, pixel)
        if position < 0:
            position = 2 if pixel < 0 else (pixel + 4) % 160
        store32(console, POSITION_P0 + 4 * thing, position)
        mark_stale(console, STALE_BL if register == RESBL else STALE_M0 << (register - RESM0))
        return
    position = 3 if pixel < 0 else (pixel + 5) % 160
    near = _near_copy(console, thing, position - 5)
    draw_until(console, picture, clock + 11 if near == DRAWN else clock)
    store32(console, POSITION_P0 + 4 * thing, position)
    store32(console, SUPPRESS_P0 + 4 * thing, near != SOON)
    mark_stale(console, STALE_P0 << thing)


@compiled
def _position_while_moving(register: int, since_cycles: int, pixel: int) -> int:
    """Where ALE puts a missile or the ball when it is reset so long after HMOVE; -1: where it is put otherwise."""
    if register == RESM0 and since_cycles == 20 and pixel == 1:
        return 8
    if register == RESM1 and since_cycles == 3 and pixel == -50:
        return 3
    if register == RESBL:
        if since_cycles == 18 and pixel == 1:
            return 10
        if since_cycles == 3 and pixel == -50:
            return 3
        if since_cycles == 6 and pixel == -41:
            return 5
        if since_cycles == 7 and pixel == -38:
            return 6
    return -1


@compiled
def _near_copy(console: int, player: int, pixel: int) -> int:
    """Whether one of a player's copies is being drawn at a pixel, or begins soon.

    The first ends as if nothing had happened. After the second the new first copy is drawn in this line already.
    """
    nusiz = load8(console, REGISTERS + NUSIZ0 + player) & 7
    position = load32(console, POSITION_P0 + 4 * player)
    size = 16 if nusiz == 5 else 32 if nusiz == 7 else 8
    for copy in (0, SECOND_COPY[nusiz], THIRD_COPY[nusiz]):
        since = (pixel - position - copy + 320) % 160
        if 155 <= since <= 158:
            return SOON
        if since == 159 or since <= size - 2:
            return DRAWN
    return NEITHER


@compiled
def release_missile(console: int, player: int, value: int) -> None:
    """A missile let go of stands in the middle of its player."""
    if not value & 2 and load8(console, REGISTERS + RESMP0 + player) & 2:
        size = load8(console, REGISTERS + NUSIZ0 + player) & 7
        middle = 8 if size == 5 else 16 if size == 7 else 4
        store32(console, POSITION_M0 + 4 * player, (load32(console, POSITION_P0 + 4 * player) + middle) % 160)


@compiled
def _motion(amount: int, cycle: int) -> int:
    """How far right HMOVE moves an object. It gets 15 pulses less than its HMxx asks for when the line is too far."""
    pulses = (amount >> 4) ^ 8
    if cycle <= 20 and cycle >= 3:
        return 8 - min(pulses, (70 - 3 * cycle) // 4)
    if cycle < 3 or cycle == 75:
        return 8 - pulses
    if cycle >= 54:
        return -max(pulses - (222 - 3 * cycle) // 4, 0)
    return 0


@compiled
def move_objects(console: int, cycles: int) -> None:
    cycle = cycles % LINE_CYCLES
    stale = STALE_M0 if load32(console, COSMIC_ARK) else 0
    for thing in range(5):
        amount = _motion(load8(console, REGISTERS + HMP0 + thing), cycle)
        if amount:
            position = load32(console, POSITION_P0 + 4 * thing)
            store32(console, POSITION_P0 + 4 * thing, (position + amount) % 160)
            stale |= STALE_P0 << thing if thing < 2 else STALE_M0 << (thing - 2) if thing < 4 else STALE_BL
    mark_stale(console, stale)
    store32(console, COSMIC_ARK, 0)
    store32(console, HMOVE_CLOCK, 3 * cycles)
    if (cycle <= 20 or cycle == 75) and not load32(console, NO_BLANKS):
        store32(console, HMOVE_BLANK, 1)


@compiled
def start_drift(console: int, picture: int, old: int, value: int, clock: int) -> None:
    """HMM0 changed while HMOVE still moves: the missile goes on moving."""
    if old & 0xF0 == 0x70 and value & 0xF0 == 0x60 and clock == load32(console, HMOVE_CLOCK) + DRIFT_CLOCKS:
        draw_until(console, picture, clock)
        store32(console, COSMIC_ARK, 1)
        store32(console, COSMIC_ARK_COUNTER, 0)
