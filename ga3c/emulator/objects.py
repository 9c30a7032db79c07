"""Masks of the six objects of the TIA: the pixels that each covers of a line, 4 words of 40, the leftmost in bit 0."""

import numpy as np

from ga3c.emulator import registers as reg
from ga3c.emulator import state
from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load8, load32, load64, store32, store64

WORD_PIXELS = 40
WORD = (1 << WORD_PIXELS) - 1


def _spread(bits: int, width: int, times: int) -> int:
    """Repeats each of `width` bits, and reverses them: the most significant bit, the leftmost pixel, comes to bit 0."""
    return sum(((1 << times) - 1) << (times * i) for i in range(width) if bits >> (width - 1 - i) & 1)


REVERSED = np.array([_spread(b, 8, 1) for b in range(256)], np.int64)
DOUBLED = np.array([_spread(int(REVERSED[b]), 8, 2) for b in range(256)], np.int64)
QUADRUPLED = np.array([_spread(int(REVERSED[b]), 8, 4) for b in range(256)], np.int64)
TEN_CELLS = np.array([sum(0xF << (4 * i) for i in range(10) if b >> i & 1) for b in range(1024)], np.int64)

# Indexed by the lower three bits of NUSIZx: the distance of the second and the third copy in pixels; 0: no copy.
SECOND_COPY = np.array([0, 16, 32, 16, 64, 0, 32, 0], np.int64)
THIRD_COPY = np.array([0, 0, 0, 32, 0, 0, 64, 0], np.int64)

# Bits of STALE: the masks to recompute before they are used.
STALE_PF, STALE_BL, STALE_M0, STALE_M1, STALE_P0, STALE_P1 = 1, 2, 4, 8, 16, 32


@compiled
def tia_register(console: int, register: int) -> int:
    """Returns the byte that was last written to a register of the TIA."""
    return load8(console, state.REGISTERS + register)


@compiled
def mark_stale(console: int, objects: int) -> None:
    """Marks the masks of objects (bits STALE_x) for recomputation."""
    store32(console, state.STALE, load32(console, state.STALE) | objects)


@compiled
def refresh_masks(console: int) -> None:
    """Recomputes the masks that are stale, and the pixels at which objects overlap."""
    stale = load32(console, state.STALE)
    if stale == 0:
        return
    if stale & STALE_PF:
        _refresh_playfield(console)
    if stale & STALE_BL:
        _refresh_ball(console)
    for player in range(2):
        if stale & (STALE_P0 << player):
            _refresh_player(console, player)
        if stale & (STALE_M0 << player):
            _refresh_missile(console, player)
    store32(console, state.STALE, 0)
    overlap = _overlap(console) | _overlap(console + 8) | _overlap(console + 16) | _overlap(console + 24)
    store32(console, state.ANY_OVERLAP, overlap != 0)


@compiled
def _overlap(word: int) -> int:
    """Stores and returns the mask of the pixels of a word at which two or more objects overlap."""
    pf, bl, m0 = load64(word, state.PF), load64(word, state.BL), load64(word, state.M0)
    m1, p0, p1 = load64(word, state.M1), load64(word, state.P0), load64(word, state.P1)
    both, seen = pf & bl, pf | bl
    both |= seen & m0
    seen |= m0
    both |= seen & m1
    seen |= m1
    both |= seen & p0
    seen |= p0
    both |= seen & p1
    store64(word, state.OVERLAP, both)
    return both


@compiled
def _clear(mask: int) -> None:
    for word in range(4):
        store64(mask, 8 * word, 0)


@compiled
def _add_pixels(mask: int, bits: int, position: int) -> None:
    """Adds up to 32 pixels to a mask from a position on; they wrap around at the right edge."""
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
def _add_copies(mask: int, bits: int, position: int, nusiz: int, first: int) -> None:
    if first:
        _add_pixels(mask, bits, position)
    if SECOND_COPY[nusiz & 7]:
        _add_pixels(mask, bits, position + SECOND_COPY[nusiz & 7])
    if THIRD_COPY[nusiz & 7]:
        _add_pixels(mask, bits, position + THIRD_COPY[nusiz & 7])


@compiled
def _graphics(console: int, player: int) -> int:
    if tia_register(console, reg.VDELP0 + player) & 1:
        return load32(console, state.OLD_GRP0 + 4 * player)
    return tia_register(console, reg.GRP0 + player)


@compiled
def _missile_enabled(console: int, player: int) -> bool:
    enabled, hidden = (tia_register(console, reg.ENAM0 + player), tia_register(console, reg.RESMP0 + player))
    return enabled & 2 != 0 and hidden & 2 == 0


@compiled
def _ball_enabled(console: int) -> bool:
    if tia_register(console, reg.VDELBL) & 1:
        return load32(console, state.OLD_ENABL) & 2 != 0
    return tia_register(console, reg.ENABL) & 2 != 0


@compiled
def playfield_is_alone(console: int) -> bool:
    """Returns True if no other object is enabled, at any position."""
    if _ball_enabled(console) or _missile_enabled(console, 0) or _missile_enabled(console, 1):
        return False
    return _graphics(console, 0) == 0 and _graphics(console, 1) == 0


@compiled
def _refresh_player(console: int, player: int) -> None:
    mask = console + state.P0 + state.MASK_BYTES * player
    _clear(mask)
    graphics = _graphics(console, player)
    if graphics == 0:
        return
    if not tia_register(console, reg.REFP0 + player) & 8:
        graphics = REVERSED[graphics]
    position = load32(console, state.POSITION_P0 + 4 * player)
    nusiz = tia_register(console, reg.NUSIZ0 + player)
    first = not load32(console, state.SUPPRESS_P0 + 4 * player)
    if nusiz & 7 == 5:
        _add_copies(mask, DOUBLED[graphics], position + 1, nusiz, first)
    elif nusiz & 7 == 7:
        _add_copies(mask, QUADRUPLED[graphics], position + 1, nusiz, first)
    else:
        _add_copies(mask, graphics, position, nusiz, first)


@compiled
def _refresh_missile(console: int, player: int) -> None:
    mask = console + state.M0 + state.MASK_BYTES * player
    _clear(mask)
    if _missile_enabled(console, player):
        nusiz = tia_register(console, reg.NUSIZ0 + player)
        width = 1 << (nusiz >> 4 & 3)
        if player == 0 and load32(console, state.COSMIC_ARK):  # of four lines one is wider, one is empty
            counter = load32(console, state.COSMIC_ARK_COUNTER)
            if counter == 2:
                return
            if counter == 1:
                width = 1 << (nusiz >> 4 & 3 | 1)
        _add_copies(mask, (1 << width) - 1, load32(console, state.POSITION_M0 + 4 * player), nusiz, True)


@compiled
def _refresh_ball(console: int) -> None:
    _clear(console + state.BL)
    if _ball_enabled(console):
        width = 1 << (tia_register(console, reg.CTRLPF) >> 4 & 3)
        _add_pixels(console + state.BL, (1 << width) - 1, load32(console, state.POSITION_BL))


@compiled
def _refresh_playfield(console: int) -> None:
    """Recomputes the 20 cells of 4 pixels of PF0's upper half, PF1 and PF2. PF0 and PF2 begin at the lowest bit."""
    pf1 = REVERSED[tia_register(console, reg.PF1)]
    cells = tia_register(console, reg.PF0) >> 4 | pf1 << 4 | tia_register(console, reg.PF2) << 12
    store64(console, state.PF, TEN_CELLS[cells & 0x3FF])
    store64(console, state.PF + 8, TEN_CELLS[cells >> 10])
    if load32(console, state.REFLECTED):
        reflected = REVERSED[cells & 0xFF] << 12 | REVERSED[cells >> 8 & 0xFF] << 4 | REVERSED[cells >> 16] >> 4
        store64(console, state.PF + 16, TEN_CELLS[reflected & 0x3FF])
        store64(console, state.PF + 24, TEN_CELLS[reflected >> 10])
    else:
        store64(console, state.PF + 16, TEN_CELLS[cells & 0x3FF])
        store64(console, state.PF + 24, TEN_CELLS[cells >> 10])
