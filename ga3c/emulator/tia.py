"""The TIA's registers as the CPU writes and reads them."""

import numpy as np

from ga3c.emulator import registers as reg
from ga3c.emulator import state
from ga3c.emulator.compiled import compiled
from ga3c.emulator.motion import move_objects, release_missile, reset_position, start_drift
from ga3c.emulator.objects import STALE_BL, STALE_M0, STALE_M1, STALE_P0, STALE_P1, STALE_PF, mark_stale, tia_register
from ga3c.emulator.picture import BLANK_CLOCKS, LINE_CLOCKS, LINE_CYCLES, draw_until
from ga3c.emulator.pointers import load32, store8, store32

REFLECT_CLOCKS = BLANK_CLOCKS + 79
NEVER = 0x7FFFFFFF
MOST_CYCLES, MOST_CYCLES_PAL = 291 * LINE_CYCLES, 343 * LINE_CYCLES

# Indexed by register: the clocks until a new value is visible (the playfield's take longer), the objects it changes,
# and the bits that have an effect.
DELAY, CHANGED, EFFECT = np.zeros((3, 64), np.int64)
EFFECT[:] = 0xFF
EFFECT[[reg.ENAM0, reg.ENAM1, reg.ENABL, reg.RESMP0, reg.RESMP1]] = 2
EFFECT[[reg.VDELP0, reg.VDELP1, reg.VDELBL]], EFFECT[[reg.REFP0, reg.REFP1]] = 1, 8
DELAY[[reg.NUSIZ0, reg.NUSIZ1]], DELAY[[reg.REFP0, reg.REFP1]] = 8, 1
for stale, registers in {
    STALE_PF: [reg.CTRLPF, reg.PF0, reg.PF1, reg.PF2],
    STALE_BL: [reg.CTRLPF, reg.ENABL, reg.VDELBL],
    STALE_P0: [reg.NUSIZ0, reg.REFP0, reg.VDELP0],
    STALE_P1: [reg.NUSIZ1, reg.REFP1, reg.VDELP1],
    STALE_M0: [reg.NUSIZ0, reg.ENAM0, reg.RESMP0],
    STALE_M1: [reg.NUSIZ1, reg.ENAM1, reg.RESMP1],
}.items():
    CHANGED[registers] |= stale


@compiled
def tia_write(console: int, picture: int, register: int, value: int, cycles: int) -> int:
    """Writes a register. Returns the cycle at which the CPU goes on: after WSYNC, the beginning of the next line."""
    if cycles >= MOST_CYCLES and (cycles >= MOST_CYCLES_PAL or not load32(console, state.PAL)):
        store32(console, state.FRAME_DONE, 1)
        draw_until(console, picture, 3 * cycles)
    if register == reg.WSYNC:
        return (cycles + LINE_CYCLES - 1) // LINE_CYCLES * LINE_CYCLES
    clock = 3 * cycles
    if register > reg.CXCLR or reg.RESBL < register < reg.GRP0:
        return cycles
    old = tia_register(console, register)
    if register == reg.VSYNC:
        draw_until(console, picture, clock)
        _vsync(console, value, clock)
    elif register == reg.VBLANK:
        draw_until(console, picture, clock + 1)
        if old & 0x80 and not value & 0x80:
            store32(console, state.DUMP_CYCLES, cycles)
    elif reg.RESP0 <= register <= reg.RESBL:
        reset_position(console, picture, register, clock)
        return cycles
    elif register == reg.HMM0:
        start_drift(console, picture, old, value, clock)
    elif reg.HMP0 <= register <= reg.HMBL:
        pass
    elif register == reg.HMOVE:
        draw_until(console, picture, clock)
        move_objects(console, cycles)
        return cycles
    elif register == reg.HMCLR:
        for motion in range(reg.HMP0, reg.HMBL + 1):
            store8(console, state.REGISTERS + motion, 0)
        return cycles
    elif register == reg.CXCLR:
        draw_until(console, picture, clock)
        store32(console, state.COLLISIONS, 0)
        return cycles
    elif reg.GRP0 <= register <= reg.GRP1:
        return write_graphics(console, picture, register, value, cycles)
    elif value != old:
        return write_change(console, picture, register, value, cycles)
    store8(console, state.REGISTERS + register, value)
    return cycles


@compiled
def _vsync(console: int, value: int, clock: int) -> None:
    if value & 2:
        store32(console, state.VSYNC_END, clock + LINE_CLOCKS)
    elif clock >= load32(console, state.VSYNC_END):
        store32(console, state.VSYNC_END, NEVER)
        store32(console, state.FRAME_DONE, 1)


@compiled
def write_change(console: int, picture: int, register: int, value: int, cycles: int) -> int:
    """Writes another value to a register that is visible some clocks later. Returns `cycles`."""
    clock, old = 3 * cycles, tia_register(console, register)
    if not picture and reg.COLUP0 <= register <= reg.COLUBK:  # collisions have no colour
        store32(console, state.DUE_CLOCK, clock)
    elif not (value ^ old) & EFFECT[register]:
        store32(console, state.DUE_CLOCK, clock + DELAY[register])
    else:
        delay = _playfield_delay(cycles) if reg.PF0 <= register <= reg.PF2 else DELAY[register]
        draw_until(console, picture, clock + delay)
        if reg.NUSIZ0 <= register <= reg.NUSIZ1:
            store32(console, state.SUPPRESS_P0 + 4 * (register - reg.NUSIZ0), 0)
        elif register == reg.CTRLPF and clock % LINE_CLOCKS < REFLECT_CLOCKS:
            store32(console, state.REFLECTED, value & 1)
        elif reg.RESMP0 <= register <= reg.RESMP1:
            release_missile(console, register - reg.RESMP0, value)
        mark_stale(console, CHANGED[register])
    store8(console, state.REGISTERS + register, value)
    return cycles


@compiled
def _playfield_delay(cycles: int) -> int:
    phase = cycles & 3
    return 4 if phase == 0 else 5 if phase == 1 else 2 if phase == 2 else 3


@compiled
def write_graphics(console: int, picture: int, register: int, value: int, cycles: int) -> int:
    """Writes GRPx, which also copies the other player's graphics to its old register; GRP1 copies ENABL, too.

    VDELPx and VDELBL say whether the new or the old register is visible. Returns `cycles`.
    """
    clock, player, stale = 3 * cycles, register - reg.GRP0, 0
    other = 1 - player
    moved = tia_register(console, reg.GRP0 + other)
    if value != tia_register(console, register) and not tia_register(console, reg.VDELP0 + player) & 1:
        stale = STALE_P0 << player
    if moved != load32(console, state.OLD_GRP0 + 4 * other) and tia_register(console, reg.VDELP0 + other) & 1:
        stale |= STALE_P0 << other
    enabled = tia_register(console, reg.ENABL)
    if player == 1 and (enabled ^ load32(console, state.OLD_ENABL)) & 2 and tia_register(console, reg.VDELBL) & 1:
        stale |= STALE_BL
    if stale:
        draw_until(console, picture, clock + 1)
        mark_stale(console, stale)
    else:
        store32(console, state.DUE_CLOCK, clock + 1)
    store32(console, state.OLD_GRP0 + 4 * other, moved)
    if player == 1:
        store32(console, state.OLD_ENABL, enabled)
    store8(console, state.REGISTERS + register, value)
    return cycles


@compiled
def tia_read(console: int, picture: int, address: int, bus: int, cycles: int) -> int:
    """Reads a register: collisions, paddles or buttons in the upper two bits, the data bus in the lower six."""
    register = address & 0xF
    low = bus & 0x3F
    if register < 8:
        draw_until(console, picture, 3 * cycles)
        return low | (load32(console, state.COLLISIONS) >> 2 * register << 6) & 0xC0
    if register < 12:
        return low | _paddle(console, register - 8, cycles)
    if register < 14:
        return low | load32(console, state.INPT4 + 4 * (register - 12))
    return low


@compiled
def _paddle(console: int, paddle: int, cycles: int) -> int:
    """Returns INPTx of a paddle: bit 7 is set when the capacitor behind its resistance is charged. Time is unsigned."""
    ohms = load32(console, state.PADDLE_0 + 4 * paddle)
    if ohms <= 0:
        return 0x80 if ohms == 0 else 0
    if tia_register(console, reg.VBLANK) & 0x80:
        return 0
    phase = load32(console, state.FRAME_PHASE)
    charged = load32(console, state.DUMP_CYCLES) - phase + int(1.6 * ohms * 0.01e-6 * 1.19e6)
    return 0x80 if 0 <= charged < cycles - phase else 0
