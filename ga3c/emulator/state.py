"""The record of one console: the offset of each field, in bytes.

One flat record holds the whole state of a console, so it can be saved, restored, copied and compared as bytes. Clocks
are colour clocks (228 a scan line), cycles are CPU cycles (76 a scan line), both since the first line of the frame.
"""

RAM_BYTES = 128
REGISTER_COUNT = 64

RAM = 0
REGISTERS = RAM + RAM_BYTES  # the byte that was last written to each register of the TIA

# The 6507. The N flag is bit 7 of NEGATIVE, the Z flag is set if ZERO is 0; the other flags are 0 or 1.
_CPU = REGISTERS + REGISTER_COUNT
A, X, Y, SP, PC, NEGATIVE, ZERO, OVERFLOW, BREAK, DECIMAL, INTERRUPT, CARRY, JAMMED, CYCLES = range(_CPU, _CPU + 56, 4)

# The RIOT: the timer as it was set, the cycle at which it was set, and the ports.
_RIOT = CYCLES + 4
TIMER, TIMER_SHIFT, TIMER_SET_CYCLES, TIMER_READ, TIMER_OFFSET, DDRA, DDRB, OUTA, SWCHA, SWCHB = range(
    _RIOT, _RIOT + 40, 4
)

# The TIA. Positions are pixels 0 to 159.
_TIA = SWCHB + 4
POSITION_P0, POSITION_P1, POSITION_M0, POSITION_M1, POSITION_BL = range(_TIA, _TIA + 20, 4)
OLD_GRP0, OLD_GRP1, OLD_ENABL, COLLISIONS, DRAWN_CLOCK, HMOVE_CLOCK, HMOVE_BLANK = range(_TIA + 20, _TIA + 48, 4)
SUPPRESS_P0, SUPPRESS_P1, COSMIC_ARK, COSMIC_ARK_COUNTER, STALE, REFLECTED = range(_TIA + 48, _TIA + 72, 4)
DUMP_CYCLES, VSYNC_END, INPT4, INPT5 = range(_TIA + 72, _TIA + 88, 4)
PADDLE_0, PADDLE_1, PADDLE_2, PADDLE_3, PADDLE_MOST = range(_TIA + 88, _TIA + 108, 4)  # resistance in ohms

# The frame, and the cartridge.
_FRAME = PADDLE_MOST + 4
FRAME_DONE, FRAME_PHASE, BANK = range(_FRAME, _FRAME + 12, 4)
# Fixed by the game.
CARTRIDGE, CONTROLLER, FIRST_LINE, END_LINE, NO_BLANKS, PAL, COLOUR_LOSS = range(_FRAME + 12, _FRAME + 40, 4)

CARTRIDGE_RAM = COLOUR_LOSS + 4

# Indexed by bits 10 to 13 of the address, for each 1K of the cartridge: its offset in the ROM, its plain bytes.
WINDOWS = CARTRIDGE_RAM + RAM_BYTES
WINDOW_BYTES, WINDOW_COUNT = 8, 16

# The pixels of the line that each object covers: four words of 40 pixels, the leftmost in bit 0.
MASKS = (WINDOWS + WINDOW_BYTES * WINDOW_COUNT + 7) // 8 * 8
MASK_BYTES = 32
PF, BL, M0, M1, P0, P1 = range(MASKS, MASKS + 6 * MASK_BYTES, MASK_BYTES)

# The pixels at which two or more objects overlap, in the same words; and 1 if there are any.
OVERLAP = MASKS + 6 * MASK_BYTES
ANY_OVERLAP = OVERLAP + MASK_BYTES

# The clock up to which the picture is to be drawn at the frame's end: a write without a visible effect only sets it.
DUE_CLOCK = ANY_OVERLAP + 4

SIZE = DUE_CLOCK + 4
