"""What each of the TIA's six objects covers of a line: four words of 40 pixels, the leftmost in bit 0."""

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load8, load32, load64, store32, store64
from ga3c.emulator.registers import (
    CTRLPF,
    ENABL,
    ENAM0,
    GRP0,
    NUSIZ0,
    PF0,
    PF1,
    PF2,
    REFP0,
    RESMP0,
    VDELBL,
    VDELP0,
)
from ga3c.emulator.state import (
    ANY_MEETING,
    BL,
    COSMIC_ARK,
    COSMIC_ARK_COUNTER,
    M0,
    M1,
    MASK_BYTES,
    MEETING,
    OLD_ENABL,
    OLD_GRP0,
    P0,
    P1,
    PF,
    POSITION_BL,
    POSITION_M0,
    POSITION_P0,
    REFLECTED,
    REGISTERS,
    STALE,
    SUPPRESS_P0,
)

WORD_PIXELS = 40
WORD = (1 << WORD_PIXELS) - 1


def _spread(bits: int, width: int, times: int) -> int:
    """Each bit of `width` that many times, the most significant leftmost, which is in bit 0 of the result."""
    return sum(((1 << times) - 1) << (times * i) for i in range(width) if bits >> (width - 1 - i) & 1)


REVERSED = np.array([_spread(b, 8, 1) for b in range(256)], np.int64)
DOUBLED = np.array([_spread(int(REVERSED[b]), 8, 2) for b in range(256)], np.int64)
QUADRUPLED = np.array([_spread(int(REVERSED[b]), 8, 4) for b in range(256)], np.int64)
TEN_CELLS = np.array([sum(0xF << (4 * i) for i in range(10) if b >> i & 1) for b in range(1024)], np.int64)

# By the lower three bits of NUSIZx: how far right of the first the second and the third copy stand; 0: there is none.
SECOND_COPY = np.array([0, 16, 32, 16, 64, 0, 32, 0], np.int64)
THIRD_COPY = np.array([0, 0, 0, 32, 0, 0, 64, 0], np.int64)

# Bits of STALE: masks to be made anew before they are used.
STALE_PF, STALE_BL, STALE_M0, STALE_M1, STALE_P0, STALE_P1 = 1, 2, 4, 8, 16, 32


@compiled
def mark_stale(console: int, objects: int) -> None:
    """Their masks are made anew before they are used."""
    store32(console, STALE, load32(console, STALE) | objects)


@compiled
def refresh_masks(console: int) -> None:
    stale = load32(console, STALE)
    if stale == 0:
        return
    if stale & STALE_PF:
        _playfield(console)
    if stale & STALE_BL:
        _ball(console)
    for player in range(2):
        if stale & (STALE_P0 << player):
            _player(console, player)
        if stale & (STALE_M0 << player):
            _missile(console, player)
    store32(console, STALE, 0)
    anywhere = _meeting(console) | _meeting(console + 8) | _meeting(console + 16) | _meeting(console + 24)
    store32(console, ANY_MEETING, anywhere != 0)


@compiled
def _meeting(word: int) -> int:
    """Notes where in a word two objects or more are, and returns it."""
    pf, bl, m0 = load64(word, PF), load64(word, BL), load64(word, M0)
    m1, p0, p1 = load64(word, M1), load64(word, P0), load64(word, P1)
    both, seen = pf & bl, pf | bl
    both |= seen & m0
    seen |= m0
    both |= seen & m1
    seen |= m1
    both |= seen & p0
    seen |= p0
    both |= seen & p1
    store64(word, MEETING, both)
    return both


@compiled
def _clear(mask: int) -> None:
    for word in range(4):
        store64(mask, 8 * word, 0)


@compiled
def _place(mask: int, bits: int, position: int) -> None:
    """Adds up to 32 pixels, which begin at a position; what goes beyond the right edge comes in at the left."""
    if position >= 160:
        position -= 160
    word = position // WORD_PIXELS
    shift = position - word * WORD_PIXELS
    store64(mask, 8 * word, load64(mask, 8 * word) | bits << shift & WORD)
    beyond = bits >> (WORD_PIXELS - shift)
    if beyond:
        word = word + 1 & 3
        store64(mask, 8 * word, load64(mask, 8 * word) | beyond)


@compiled
def _copies(mask: int, bits: int, position: int, nusiz: int, first: int) -> None:
    if first:
        _place(mask, bits, position)
    if SECOND_COPY[nusiz & 7]:
        _place(mask, bits, position + SECOND_COPY[nusiz & 7])
    if THIRD_COPY[nusiz & 7]:
        _place(mask, bits, position + THIRD_COPY[nusiz & 7])


@compiled
def _graphics(console: int, player: int) -> int:
    if load8(console, REGISTERS + VDELP0 + player) & 1:
        return load32(console, OLD_GRP0 + 4 * player)
    return load8(console, REGISTERS + GRP0 + player)


@compiled
def _missile_enabled(console: int, player: int) -> bool:
    enabled, hidden = load8(console, REGISTERS + ENAM0 + player), load8(console, REGISTERS + RESMP0 + player)
    return enabled & 2 != 0 and hidden & 2 == 0


@compiled
def _ball_enabled(console: int) -> bool:
    if load8(console, REGISTERS + VDELBL) & 1:
        return load32(console, OLD_ENABL) & 2 != 0
    return load8(console, REGISTERS + ENABL) & 2 != 0


@compiled
def playfield_is_alone(console: int) -> bool:
    """Whether no other object is switched on, wherever on the line it would be."""
    if _ball_enabled(console) or _missile_enabled(console, 0) or _missile_enabled(console, 1):
        return False
    return _graphics(console, 0) == 0 and _graphics(console, 1) == 0


@compiled
def _player(console: int, player: int) -> None:
    mask = console + P0 + MASK_BYTES * player
    _clear(mask)
    graphics = _graphics(console, player)
    if graphics == 0:
        return
    if not load8(console, REGISTERS + REFP0 + player) & 8:
        graphics = REVERSED[graphics]
    position = load32(console, POSITION_P0 + 4 * player)
    nusiz = load8(console, REGISTERS + NUSIZ0 + player)
    first = not load32(console, SUPPRESS_P0 + 4 * player)
    if nusiz & 7 == 5:
        _copies(mask, DOUBLED[graphics], position + 1, nusiz, first)
    elif nusiz & 7 == 7:
        _copies(mask, QUADRUPLED[graphics], position + 1, nusiz, first)
    else:
        _copies(mask, graphics, position, nusiz, first)


@compiled
def _missile(console: int, player: int) -> None:
    mask = console + M0 + MASK_BYTES * player
    _clear(mask)
    if _missile_enabled(console, player):
        nusiz = load8(console, REGISTERS + NUSIZ0 + player)
        width = 1 << (nusiz >> 4 & 3)
        if player == 0 and load32(console, COSMIC_ARK):  # now and then twice as wide, or not there
            counter = load32(console, COSMIC_ARK_COUNTER)
            if counter == 2:
                return
            if counter == 1:
                width = 1 << (nusiz >> 4 & 3 | 1)
        _copies(mask, (1 << width) - 1, load32(console, POSITION_M0 + 4 * player), nusiz, True)


@compiled
def _ball(console: int) -> None:
    _clear(console + BL)
    if _ball_enabled(console):
        width = 1 << (load8(console, REGISTERS + CTRLPF) >> 4 & 3)
        _place(console + BL, (1 << width) - 1, load32(console, POSITION_BL))


@compiled
def _playfield(console: int) -> None:
    """PF0's upper half, PF1 and PF2 make twenty cells of four pixels; PF0 and PF2 from their lowest bit."""
    pf1 = REVERSED[load8(console, REGISTERS + PF1)]
    cells = load8(console, REGISTERS + PF0) >> 4 | pf1 << 4 | load8(console, REGISTERS + PF2) << 12
    store64(console, PF, TEN_CELLS[cells & 0x3FF])
    store64(console, PF + 8, TEN_CELLS[cells >> 10])
    if load32(console, REFLECTED):
        reflected = REVERSED[cells & 0xFF] << 12 | REVERSED[cells >> 8 & 0xFF] << 4 | REVERSED[cells >> 16] >> 4
        store64(console, PF + 16, TEN_CELLS[reflected & 0x3FF])
        store64(console, PF + 24, TEN_CELLS[reflected >> 10])
    else:
        store64(console, PF + 16, TEN_CELLS[cells & 0x3FF])
        store64(console, PF + 24, TEN_CELLS[cells >> 10])
