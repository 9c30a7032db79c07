"""The TIA's registers as the CPU writes and reads them."""

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.motion import move_objects, release_missile, reset_position, start_drift
from ga3c.emulator.objects import STALE_BL, STALE_M0, STALE_M1, STALE_P0, STALE_P1, STALE_PF, mark_stale
from ga3c.emulator.picture import BLANK_CLOCKS, LINE_CLOCKS, LINE_CYCLES, draw_until
from ga3c.emulator.pointers import load8, load32, store8, store32
from ga3c.emulator.registers import (
    COLUBK,
    COLUP0,
    CTRLPF,
    CXCLR,
    ENABL,
    ENAM0,
    ENAM1,
    GRP0,
    GRP1,
    HMBL,
    HMCLR,
    HMM0,
    HMOVE,
    HMP0,
    NUSIZ0,
    NUSIZ1,
    PF0,
    PF1,
    PF2,
    REFP0,
    REFP1,
    RESBL,
    RESMP0,
    RESMP1,
    RESP0,
    VBLANK,
    VDELBL,
    VDELP0,
    VDELP1,
    VSYNC,
    WSYNC,
)
from ga3c.emulator.state import (
    COLLISIONS,
    DUE_CLOCK,
    DUMP_CYCLES,
    FRAME_DONE,
    FRAME_PHASE,
    INPT4,
    OLD_ENABL,
    OLD_GRP0,
    PADDLE_0,
    PAL,
    REFLECTED,
    REGISTERS,
    SUPPRESS_P0,
    VSYNC_END,
)

REFLECT_CLOCKS = BLANK_CLOCKS + 79
NEVER = 0x7FFFFFFF
MOST_CYCLES, MOST_CYCLES_PAL = 291 * LINE_CYCLES, 343 * LINE_CYCLES

# Of registers whose change is seen: after how many clocks, and in which objects. The playfield's takes longer.
DELAY, CHANGED = np.zeros((2, 64), np.int64)
DELAY[[NUSIZ0, NUSIZ1]], DELAY[[REFP0, REFP1]] = 8, 1
for register, objects in (
    (NUSIZ0, STALE_P0 | STALE_M0),
    (NUSIZ1, STALE_P1 | STALE_M1),
    (CTRLPF, STALE_PF | STALE_BL),
    (REFP0, STALE_P0),
    (REFP1, STALE_P1),
    (PF0, STALE_PF),
    (PF1, STALE_PF),
    (PF2, STALE_PF),
    (ENAM0, STALE_M0),
    (ENAM1, STALE_M1),
    (ENABL, STALE_BL),
    (VDELP0, STALE_P0),
    (VDELP1, STALE_P1),
    (VDELBL, STALE_BL),
    (RESMP0, STALE_M0),
    (RESMP1, STALE_M1),
):
    CHANGED[register] = objects


@compiled
def tia_write(console: int, picture: int, register: int, value: int, cycles: int) -> int:
    """Returns the cycle at which the CPU goes on: that of the next line after WSYNC."""
    if cycles >= MOST_CYCLES and (cycles >= MOST_CYCLES_PAL or not load32(console, PAL)):
        store32(console, FRAME_DONE, 1)
    if register == WSYNC:
        return (cycles + LINE_CYCLES - 1) // LINE_CYCLES * LINE_CYCLES
    clock = 3 * cycles
    if register > CXCLR or RESBL < register < GRP0:
        return cycles
    old = load8(console, REGISTERS + register)
    if register == VSYNC:
        draw_until(console, picture, clock)
        _vsync(console, value, clock)
    elif register == VBLANK:
        draw_until(console, picture, clock + 1)
        if old & 0x80 and not value & 0x80:
            store32(console, DUMP_CYCLES, cycles)
    elif RESP0 <= register <= RESBL:
        reset_position(console, picture, register, clock)
        return cycles
    elif register == HMM0:
        start_drift(console, picture, old, value, clock)
    elif HMP0 <= register <= HMBL:
        pass
    elif register == HMOVE:
        draw_until(console, picture, clock)
        move_objects(console, cycles)
        return cycles
    elif register == HMCLR:
        for motion in range(HMP0, HMBL + 1):
            store8(console, REGISTERS + motion, 0)
        return cycles
    elif register == CXCLR:
        draw_until(console, picture, clock)
        store32(console, COLLISIONS, 0)
        return cycles
    elif GRP0 <= register <= GRP1:
        _graphics(console, picture, register - GRP0, value, clock)
    elif value != old and not picture and COLUP0 <= register <= COLUBK:  # collisions have no colour
        store32(console, DUE_CLOCK, clock)
    elif value != old:
        _change(console, picture, register, value, clock)
    store8(console, REGISTERS + register, value)
    return cycles


@compiled
def _vsync(console: int, value: int, clock: int) -> None:
    if value & 2:
        store32(console, VSYNC_END, clock + LINE_CLOCKS)
    elif clock >= load32(console, VSYNC_END):
        store32(console, VSYNC_END, NEVER)
        store32(console, FRAME_DONE, 1)


@compiled
def _change(console: int, picture: int, register: int, value: int, clock: int) -> None:
    """A register whose new value is seen from some clocks later on."""
    delay = _playfield_delay(clock) if PF0 <= register <= PF2 else DELAY[register]
    draw_until(console, picture, clock + delay)
    if NUSIZ0 <= register <= NUSIZ1:
        store32(console, SUPPRESS_P0 + 4 * (register - NUSIZ0), 0)
    elif register == CTRLPF and clock % LINE_CLOCKS < REFLECT_CLOCKS:
        store32(console, REFLECTED, value & 1)
    elif RESMP0 <= register <= RESMP1:
        release_missile(console, register - RESMP0, value)
    mark_stale(console, CHANGED[register])


@compiled
def _playfield_delay(clock: int) -> int:
    phase = clock // 3 & 3
    return 4 if phase == 0 else 5 if phase == 1 else 2 if phase == 2 else 3


@compiled
def _graphics(console: int, picture: int, player: int, value: int, clock: int) -> None:
    """Writing one player's graphics also moves the other's into its old register, and ENABL with GRP1.

    What is seen changes in the new register or the old, as VDELPx and VDELBL say.
    """
    other, stale = 1 - player, 0
    moved = load8(console, REGISTERS + GRP0 + other)
    if value != load8(console, REGISTERS + GRP0 + player) and not load8(console, REGISTERS + VDELP0 + player) & 1:
        stale = STALE_P0 << player
    if moved != load32(console, OLD_GRP0 + 4 * other) and load8(console, REGISTERS + VDELP0 + other) & 1:
        stale |= STALE_P0 << other
    enabled = load8(console, REGISTERS + ENABL)
    if player == 1 and enabled != load32(console, OLD_ENABL) and load8(console, REGISTERS + VDELBL) & 1:
        stale |= STALE_BL
    if stale:
        draw_until(console, picture, clock + 1)
        mark_stale(console, stale)
    else:
        store32(console, DUE_CLOCK, clock + 1)
    store32(console, OLD_GRP0 + 4 * other, moved)
    if player == 1:
        store32(console, OLD_ENABL, enabled)


@compiled
def tia_read(console: int, picture: int, address: int, bus: int, cycles: int) -> int:
    """Collisions, paddles and buttons in the upper two bits; the lower six are what was on the data bus."""
    register = address & 0xF
    low = bus & 0x3F
    if register < 8:
        draw_until(console, picture, 3 * cycles)
        return low | (load32(console, COLLISIONS) >> 2 * register << 6) & 0xC0
    if register < 12:
        return low | _paddle(console, register - 8, cycles)
    if register < 14:
        return low | load32(console, INPT4 + 4 * (register - 12))
    return low


@compiled
def _paddle(console: int, paddle: int, cycles: int) -> int:
    """Bit 7 says that the capacitor behind the paddle's resistance is charged; the time is counted without a sign."""
    ohms = load32(console, PADDLE_0 + 4 * paddle)
    if ohms <= 0:
        return 0x80 if ohms == 0 else 0
    if load8(console, REGISTERS + VBLANK) & 0x80:
        return 0
    phase = load32(console, FRAME_PHASE)
    charged = load32(console, DUMP_CYCLES) - phase + int(1.6 * ohms * 0.01e-6 * 1.19e6)
    return 0x80 if 0 <= charged < cycles - phase else 0
