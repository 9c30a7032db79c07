"""The TIA's registers as the CPU writes and reads them."""

from ga3c.emulator.compiled import compiled
from ga3c.emulator.memory import load8, load32, store8, store32
from ga3c.emulator.motion import move_objects, release_missile, reset_position, start_drift
from ga3c.emulator.objects import STALE_BL, STALE_M0, STALE_P0, STALE_P1, STALE_PF, mark_stale
from ga3c.emulator.picture import BLANK_CLOCKS, LINE_CLOCKS, LINE_CYCLES, draw_until
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
    DUMP_CYCLES,
    FRAME_DONE,
    FRAME_PHASE,
    INPT4,
    OLD_ENABL,
    OLD_GRP0,
    OLD_GRP1,
    PADDLE_0,
    PAL,
    REFLECTED,
    REGISTERS,
    SUPPRESS_P0,
    VSYNC_END,
)

REFLECT_CLOCKS = BLANK_CLOCKS + 79
NEVER = 0x7FFFFFFF
MOST_LINES, MOST_LINES_PAL = 290, 342


@compiled
def tia_write(console: int, picture: int, register: int, value: int, cycles: int) -> int:
    """Returns the cycle at which the CPU goes on: that of the next line after WSYNC."""
    if cycles // LINE_CYCLES > (MOST_LINES_PAL if load32(console, PAL) else MOST_LINES):
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
        start_drift(console, old, value, clock)
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
        _graphics(console, picture, register, value, clock)
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
    delay, stale = 0, 0
    if NUSIZ0 <= register <= NUSIZ1:
        delay, stale = 8, (STALE_P0 | STALE_M0) << (register - NUSIZ0)
    elif COLUP0 <= register <= COLUBK:
        delay = 0
    elif register == CTRLPF:
        delay, stale = 0, STALE_PF | STALE_BL
    elif REFP0 <= register <= REFP1:
        delay, stale = 1, STALE_P0 << (register - REFP0)
    elif PF0 <= register <= PF2:
        delay, stale = _playfield_delay(clock), STALE_PF
    elif ENAM0 <= register <= ENAM1:
        delay, stale = 0, STALE_M0 << (register - ENAM0)
    elif register == ENABL:
        delay, stale = 0, STALE_BL
    elif VDELP0 <= register <= VDELP1:
        delay, stale = 0, STALE_P0 << (register - VDELP0)
    elif register == VDELBL:
        delay, stale = 0, STALE_BL
    draw_until(console, picture, clock + delay)
    if NUSIZ0 <= register <= NUSIZ1:
        store32(console, SUPPRESS_P0 + 4 * (register - NUSIZ0), 0)
    if register == CTRLPF and clock % LINE_CLOCKS < REFLECT_CLOCKS:
        store32(console, REFLECTED, value & 1)
    if RESMP0 <= register <= RESMP1:
        stale = STALE_M0 << (register - RESMP0)
        release_missile(console, register - RESMP0, value)
    mark_stale(console, stale)


@compiled
def _playfield_delay(clock: int) -> int:
    phase = clock // 3 & 3
    return 4 if phase == 0 else 5 if phase == 1 else 2 if phase == 2 else 3


@compiled
def _graphics(console: int, picture: int, register: int, value: int, clock: int) -> None:
    """Writing one player's graphics also moves the other's into its old register, and ENABL with GRP1."""
    draw_until(console, picture, clock + 1)
    if register == GRP0:
        store32(console, OLD_GRP1, load8(console, REGISTERS + GRP1))
    else:
        store32(console, OLD_GRP0, load8(console, REGISTERS + GRP0))
        store32(console, OLD_ENABL, load8(console, REGISTERS + ENABL))
        mark_stale(console, STALE_BL)
    mark_stale(console, STALE_P0 | STALE_P1)


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
