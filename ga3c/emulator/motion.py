"""The positions of the TIA's objects: RESxx, HMOVE and RESMPx, also at unusual times."""

from ga3c.emulator import registers as reg
from ga3c.emulator import state
from ga3c.emulator.compiled import compiled
from ga3c.emulator.objects import SECOND_COPY, STALE_BL, STALE_M0, STALE_P0, THIRD_COPY, mark_stale, tia_register
from ga3c.emulator.picture import BLANK_CLOCKS, LINE_CLOCKS, LINE_CYCLES, draw_until
from ga3c.emulator.pointers import load32, store32

DRIFT_CLOCKS = 63
NEITHER, DRAWN, SOON = range(3)


@compiled
def reset_position(console: int, picture: int, register: int, clock: int) -> None:
    """Executes a write to RESxx: the object stands where the beam is, some pixels later."""
    thing = register - reg.RESP0
    pixel = clock % LINE_CLOCKS - BLANK_CLOCKS
    if register >= reg.RESM0:
        draw_until(console, picture, clock if register == reg.RESBL else clock + 8)
        since = (clock - load32(console, state.HMOVE_CLOCK)) // 3
        position = _position_while_moving(register, since, pixel)
        if position < 0:
            position = 2 if pixel < 0 else (pixel + 4) % 160
        store32(console, state.POSITION_P0 + 4 * thing, position)
        mark_stale(console, STALE_BL if register == reg.RESBL else STALE_M0 << (register - reg.RESM0))
        return
    position = 3 if pixel < 0 else (pixel + 5) % 160
    near = _near_copy(console, thing, position - 5)
    draw_until(console, picture, clock + 11 if near == DRAWN else clock)
    store32(console, state.POSITION_P0 + 4 * thing, position)
    store32(console, state.SUPPRESS_P0 + 4 * thing, near != SOON)
    mark_stale(console, STALE_P0 << thing)


@compiled
def _position_while_moving(register: int, since_cycles: int, pixel: int) -> int:
    """Returns ALE's position of a missile or the ball reset shortly after HMOVE; -1: the usual position."""
    if register == reg.RESM0 and since_cycles == 20 and pixel == 1:
        return 8
    if register == reg.RESM1 and since_cycles == 3 and pixel == -50:
        return 3
    if register == reg.RESBL:
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
    """Returns DRAWN if one of a player's copies is being drawn at a pixel, SOON if one begins a few pixels later.

    A copy that is being drawn is completed. If a copy begins soon, the first copy at the new position is drawn in this
    line already.
    """
    nusiz = tia_register(console, reg.NUSIZ0 + player) & 7
    position = load32(console, state.POSITION_P0 + 4 * player)
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
    """Executes a write to RESMPx: a released missile stands in the middle of its player."""
    if not value & 2 and tia_register(console, reg.RESMP0 + player) & 2:
        size = tia_register(console, reg.NUSIZ0 + player) & 7
        middle = 8 if size == 5 else 16 if size == 7 else 4
        position = load32(console, state.POSITION_P0 + 4 * player) + middle
        store32(console, state.POSITION_M0 + 4 * player, position % 160)


@compiled
def _motion(amount: int, cycle: int) -> int:
    """Returns by how many pixels HMOVE moves an object to the right. Within a visible line it sends fewer pulses."""
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
    """Executes HMOVE. Early in a line it also blanks the first eight pixels."""
    cycle = cycles % LINE_CYCLES
    stale = STALE_M0 if load32(console, state.COSMIC_ARK) else 0
    for thing in range(5):
        amount = _motion(tia_register(console, reg.HMP0 + thing), cycle)
        if amount:
            position = load32(console, state.POSITION_P0 + 4 * thing)
            store32(console, state.POSITION_P0 + 4 * thing, (position + amount) % 160)
            stale |= STALE_P0 << thing if thing < 2 else STALE_M0 << (thing - 2) if thing < 4 else STALE_BL
    mark_stale(console, stale)
    store32(console, state.COSMIC_ARK, 0)
    store32(console, state.HMOVE_CLOCK, 3 * cycles)
    if (cycle <= 20 or cycle == 75) and not load32(console, state.NO_BLANKS):
        store32(console, state.HMOVE_BLANK, 1)


@compiled
def start_drift(console: int, picture: int, old: int, value: int, clock: int) -> None:
    """Executes a write to HMM0. A change while HMOVE is active keeps missile 0 moving (stars of Cosmic Ark)."""
    if old & 0xF0 == 0x70 and value & 0xF0 == 0x60 and clock == load32(console, state.HMOVE_CLOCK) + DRIFT_CLOCKS:
        draw_until(console, picture, clock)
        store32(console, state.COSMIC_ARK, 1)
        store32(console, state.COSMIC_ARK_COUNTER, 0)
