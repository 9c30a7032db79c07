"""The picture and the collisions: draws what the TIA has sent since the last call."""

import numpy as np

from ga3c.emulator import registers as reg
from ga3c.emulator import state
from ga3c.emulator.compiled import compiled
from ga3c.emulator.objects import (
    STALE_M0,
    STALE_P0,
    STALE_P1,
    STALE_PF,
    WORD,
    WORD_PIXELS,
    mark_stale,
    playfield_is_alone,
    refresh_masks,
    tia_register,
)
from ga3c.emulator.pointers import load32, load64, store8, store32, store64

WIDTH = 160
LINE_CLOCKS, BLANK_CLOCKS = 228, 68
LINE_CYCLES = LINE_CLOCKS // 3

# Eight pixels as eight bytes: all bits of a byte are set if its pixel is.
_bytes = np.array([sum(0xFF << (8 * i) for i in range(8) if b >> i & 1) for b in range(256)], np.uint64)
BYTES = _bytes.view(np.int64)
EACH_BYTE = 0x0101010101010101


@compiled
def draw_until(console: int, picture: int, clock: int) -> None:
    """Updates picture (address of uint8 [height, 160]; 0: none) and collisions up to a clock.

    After a complete line, both continue at the next line's first visible pixel.
    """
    start, end = load32(console, state.DRAWN_CLOCK), min(clock, load32(console, state.END_LINE) * LINE_CLOCKS)
    if start < end:
        store32(console, state.DRAWN_CLOCK, _draw_lines(console, picture, start, end))


@compiled
def _draw_lines(console: int, picture: int, start: int, end: int) -> int:
    """Draws from one clock to another one. Returns the clock at which drawing continues."""
    row = start // LINE_CLOCKS
    line = row * LINE_CLOCKS
    while start < end:
        stop = min(end, line + LINE_CLOCKS)
        first, last = max(start - line - BLANK_CLOCKS, 0), stop - line - BLANK_CLOCKS
        if last > first:
            if first == 0:
                _begin_line(console)
            if picture:
                _draw_part(console, picture, row - load32(console, state.FIRST_LINE), first, last)
            else:
                _collide_part(console, first, last)
        line += LINE_CLOCKS
        row += 1
        start = _next_clock(console, stop, line)
    return start


@compiled
def _collide_part(console: int, first: int, last: int) -> None:
    """Does what `_draw_part` does, without a picture."""
    if first < 8 <= last:
        store32(console, state.HMOVE_BLANK, 0)
    if tia_register(console, reg.VBLANK) & 2:
        return
    if load32(console, state.STALE):
        refresh_masks(console)
    if load32(console, state.ANY_OVERLAP):
        for word in range(first // WORD_PIXELS, (last + WORD_PIXELS - 1) // WORD_PIXELS):
            _collide_word(console, word, _part_of_word(word, first, last))


@compiled
def _next_clock(console: int, stop: int, line: int) -> int:
    """Ends the line before `line`, if it is complete, unless it is the last one."""
    if stop < line or stop >= load32(console, state.END_LINE) * LINE_CLOCKS:
        return stop
    _end_line(console)
    return line + BLANK_CLOCKS


@compiled
def _begin_line(console: int) -> None:
    """Applies CTRLPF's reflection. A change in the right half of a line comes too late for that line."""
    reflected = tia_register(console, reg.CTRLPF) & 1
    if load32(console, state.REFLECTED) != reflected:
        store32(console, state.REFLECTED, reflected)
        mark_stale(console, STALE_PF)


@compiled
def _end_line(console: int) -> None:
    if load32(console, state.SUPPRESS_P0):
        store32(console, state.SUPPRESS_P0, 0)
        mark_stale(console, STALE_P0)
    if load32(console, state.SUPPRESS_P1):
        store32(console, state.SUPPRESS_P1, 0)
        mark_stale(console, STALE_P1)
    if load32(console, state.COSMIC_ARK):
        _drift(console)


@compiled
def _drift(console: int) -> None:
    """Moves missile 0 from line to line, in a cycle of four lines: the stars of Cosmic Ark."""
    counter = load32(console, state.COSMIC_ARK_COUNTER) + 1 & 3
    left = 18 if counter == 0 else 33 if counter == 1 else 0 if counter == 2 else 17
    store32(console, state.COSMIC_ARK_COUNTER, counter)
    store32(console, state.POSITION_M0, (load32(console, state.POSITION_M0) - left + 160) % 160)
    mark_stale(console, STALE_M0)


@compiled
def _draw_part(console: int, picture: int, row: int, first: int, last: int) -> None:
    """Draws one line from pixel `first` up to, but not including, `last`."""
    out = picture + WIDTH * row
    blank = first < 8 and load32(console, state.HMOVE_BLANK)
    if blank and last >= 8:
        store32(console, state.HMOVE_BLANK, 0)
    if tia_register(console, reg.VBLANK) & 2:
        for pixel in range(first, last):
            store8(out, pixel, 0)
        return
    refresh_masks(console)
    for word in range(first // WORD_PIXELS, (last + WORD_PIXELS - 1) // WORD_PIXELS):
        part = _part_of_word(word, first, last)
        _collide_word(console, word, part)
        _draw_word(console, out + word * WORD_PIXELS, word, part)
    if blank:
        for pixel in range(first, min(last, 8)):
            store8(out, pixel, 0)


@compiled
def _part_of_word(word: int, first: int, last: int) -> int:
    """Returns the mask of those 40 pixels of a word that are from `first` up to, but not including, `last`."""
    left, right = max(first - word * WORD_PIXELS, 0), min(last - word * WORD_PIXELS, WORD_PIXELS)
    return WORD >> (WORD_PIXELS - right + left) << left


@compiled
def _collide_word(console: int, word: int, part: int) -> None:
    at = console + 8 * word
    both = load64(at, state.OVERLAP) & part
    if both:
        pf, bl, m0 = load64(at, state.PF) & both, load64(at, state.BL) & both, load64(at, state.M0) & both
        m1, p0, p1 = load64(at, state.M1) & both, load64(at, state.P0) & both, load64(at, state.P1) & both
        _latch(console, pf, bl, m0, m1, p0, p1)


@compiled
def _latch(console: int, pf: int, bl: int, m0: int, m1: int, p0: int, p1: int) -> None:
    """Sets collision bits: two for each collision register, CXM0P first; the upper one is the register's bit 7."""
    bits = load32(console, state.COLLISIONS)
    bits |= (m0 & p1 != 0) << 1 | (m0 & p0 != 0)
    bits |= (m1 & p0 != 0) << 3 | (m1 & p1 != 0) << 2
    bits |= (p0 & pf != 0) << 5 | (p0 & bl != 0) << 4
    bits |= (p1 & pf != 0) << 7 | (p1 & bl != 0) << 6
    bits |= (m0 & pf != 0) << 9 | (m0 & bl != 0) << 8
    bits |= (m1 & pf != 0) << 11 | (m1 & bl != 0) << 10
    bits |= (bl & pf != 0) << 13
    bits |= (p0 & p1 != 0) << 15 | (m0 & m1 != 0) << 14
    store32(console, state.COLLISIONS, bits)


@compiled
def _draw_word(console: int, out: int, word: int, part: int) -> None:
    """Draws those of 40 pixels whose bits are set in `part`."""
    at = console + 8 * word
    playfield, lowest = load64(at, state.PF), load64(at, state.PF) | load64(at, state.BL)
    first, second = load64(at, state.P0) | load64(at, state.M0), load64(at, state.P1) | load64(at, state.M1)
    control, loss = tia_register(console, reg.CTRLPF), load32(console, state.COLOUR_LOSS)
    background = EACH_BYTE * (tia_register(console, reg.COLUBK) & 0xFE | loss)
    if part == WORD and (lowest | first | second) == 0:
        for byte in range(5):
            store64(out, 8 * byte, background)
        return
    colour_of_playfield = tia_register(console, reg.COLUPF) & 0xFE | loss
    colour_0 = tia_register(console, reg.COLUP0) & 0xFE | loss
    colour_1 = tia_register(console, reg.COLUP1) & 0xFE | loss
    if control & 4:  # playfield and ball in front of the players
        first &= ~lowest
        second &= ~lowest
        if control & 2 and playfield_is_alone(console):
            colour_of_playfield = colour_1 if word >= 2 else colour_0
    elif control & 2:  # score mode: each half of the playfield has its player's colour
        if word < 2:
            first |= playfield
        else:
            second |= playfield
    second &= ~first
    colour_of_playfield *= EACH_BYTE
    colour_0, colour_1 = EACH_BYTE * colour_0, EACH_BYTE * colour_1
    for byte in range(5):
        mask = BYTES[part >> 8 * byte & 0xFF]
        if mask == 0:
            continue
        pixels = background
        pixels ^= (pixels ^ colour_of_playfield) & BYTES[lowest >> 8 * byte & 0xFF]
        pixels ^= (pixels ^ colour_1) & BYTES[second >> 8 * byte & 0xFF]
        pixels ^= (pixels ^ colour_0) & BYTES[first >> 8 * byte & 0xFF]
        if mask != -1:
            pixels ^= (pixels ^ load64(out, 8 * byte)) & ~mask
        store64(out, 8 * byte, pixels)
