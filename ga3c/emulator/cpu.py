"""The 6507: fetches, addresses, executes, until the frame ends."""

from ga3c.emulator import opcodes as op
from ga3c.emulator.arithmetic import add, subtract
from ga3c.emulator.bus import read, write
from ga3c.emulator.compiled import compiled
from ga3c.emulator.memory import load8, load32, store8, store32
from ga3c.emulator.riot import turns_until_next
from ga3c.emulator.state import (
    BANK,
    BREAK,
    CARRY,
    CYCLES,
    DECIMAL,
    FRAME_DONE,
    HOTSPOTS,
    INTERRUPT,
    JAMMED,
    NEGATIVE,
    OVERFLOW,
    PC,
    SP,
    ZERO,
    A,
    X,
    Y,
)
from ga3c.emulator.undocumented import undocumented

BACK_5 = 0xFB  # a branch by so much leads to an instruction of three bytes just before it


@compiled
def _reads_intim(code: int, offset: int) -> bool:
    """Whether this is LDA INTIM: then a branch back to it waits for the timer, and all turns but the last are alike."""
    return load8(code, offset) == 0xAD and load8(code, offset + 1) == 0x84 and load8(code, offset + 2) == 0x02


@compiled
def _is_taken(what: int, n: int, z: int, c: int, v: int) -> bool:
    """Whether the program goes on where this branch leads to."""
    if what == op.BNE:
        return z != 0
    if what == op.BEQ:
        return z == 0
    if what == op.BPL:
        return n & 0x80 == 0
    if what == op.BMI:
        return n & 0x80 != 0
    if what == op.BCC:
        return c == 0
    if what == op.BCS:
        return c != 0
    return (v == 0) == (what == op.BVC)


@compiled
def run_frame(console: int, rom: int, picture: int, instructions: int) -> int:
    """Runs to the end of the frame, or for so many instructions. Returns how many of them are left.

    `console`, `rom` and `picture` (uint8 [height, 160]; 0: nothing is drawn) are addresses. It is one long loop: with
    addressing in a function of its own a whole step took a fifth longer.
    """
    pc, sp, cycles = load32(console, PC), load32(console, SP), load32(console, CYCLES)
    a, x, y = load32(console, A), load32(console, X), load32(console, Y)
    n, z, v, b = load32(console, NEGATIVE), load32(console, ZERO), load32(console, OVERFLOW), load32(console, BREAK)
    d, i, c = load32(console, DECIMAL), load32(console, INTERRUPT), load32(console, CARRY)
    code = rom + load32(console, BANK)
    hotspots = load32(console, HOTSPOTS)
    store32(console, FRAME_DONE, 0)
    done = load32(console, JAMMED)
    while instructions > 0 and not done:
        instructions -= 1
        offset = pc & 0xFFF
        if pc & 0x1000 and offset < hotspots - 2:
            opcode, low, high = load8(code, offset), load8(code, offset + 1), load8(code, offset + 2)
        else:
            opcode = read(console, rom, picture, pc, 0, cycles) & 0xFF
            low = read(console, rom, picture, pc + 1, opcode, cycles) if op.LENGTHS[op.MODE[opcode]] > 1 else 0
            high = read(console, rom, picture, pc + 2, low, cycles) if op.LENGTHS[op.MODE[opcode]] > 2 else 0
            code = rom + load32(console, BANK)
        mode, access, what = op.MODE[opcode], op.ACCESS[opcode], op.OPERATION[opcode]
        cycles += op.BASE_CYCLES[opcode]

        if mode == op.RELATIVE:
            pc = (pc + 2) & 0xFFFF
            if _is_taken(what, n, z, c, v):
                target = (pc + (low ^ 0x80) - 0x80) & 0xFFFF
                cycles_taken = 2 if (target ^ pc) & 0xFF00 else 1
                cycles += cycles_taken
                pc = target
                if low == BACK_5 and pc & 0x1000 and pc & 0xFFF < hotspots - 2 and _reads_intim(code, pc & 0xFFF):
                    turn = 7 + (cycles_taken - 1)
                    turns = min(turns_until_next(console, a, cycles + 4, turn), instructions // 2)
                    cycles += turns * turn
                    instructions -= 2 * turns
            continue

        # Addressing. `bus` is what was on the data bus last.
        value = low
        address = low
        bus = low
        if mode == op.IMPLIED:
            pc += 1
            bus = opcode
        elif mode <= op.ZERO_PAGE:
            pc += 2
        elif mode == op.ZERO_PAGE_X:
            pc += 2
            address = (low + x) & 0xFF
        elif mode == op.ZERO_PAGE_Y:
            pc += 2
            address = (low + y) & 0xFF
        elif mode == op.ABSOLUTE:
            pc += 3
            address = low | high << 8
            bus = high
        elif mode == op.INDEXED:
            pc += 2
            pointer = (low + x) & 0xFF
            low = read(console, rom, picture, pointer, bus, cycles)
            bus = read(console, rom, picture, (pointer + 1) & 0xFF, low, cycles)
            address = low | bus << 8
        else:
            index = y
            if mode == op.ABSOLUTE_X:
                pc += 3
                index = x
            elif mode == op.ABSOLUTE_Y:
                pc += 3
            else:
                pc += 2
                pointer = low
                low = read(console, rom, picture, pointer, bus, cycles)
                high = read(console, rom, picture, (pointer + 1) & 0xFF, low, cycles)
            bus = high
            address = (low + index & 0xFF) | high << 8
            if low + index > 0xFF:
                if access == op.READ:
                    bus = read(console, rom, picture, address, bus, cycles)
                    cycles += 1
                address = (address + 0x100) & 0xFFFF
        pc &= 0xFFFF

        if access & op.READ:
            if address & 0x1280 == 0x80:
                value = load8(console, address & 0x7F)
            elif address & 0x1000 and address & 0xFFF < hotspots:
                value = load8(code, address & 0xFFF)
            else:
                value = read(console, rom, picture, address, bus, cycles)
                code = rom + load32(console, BANK)

        if what == op.LDA:
            a = n = z = value
        elif what == op.LDX:
            x = n = z = value
        elif what == op.LDY:
            y = n = z = value
        elif what == op.STA:
            value = a
        elif what == op.STX:
            value = x
        elif what == op.STY:
            value = y
        elif what == op.SAX:
            value = a & x
        elif what == op.LAX:
            a = x = n = z = value
        elif what == op.TAX:
            x = n = z = a
        elif what == op.TAY:
            y = n = z = a
        elif what == op.TXA:
            a = n = z = x
        elif what == op.TYA:
            a = n = z = y
        elif what == op.TSX:
            x = n = z = sp
        elif what == op.TXS:
            sp = x
        elif what == op.INX:
            x = n = z = (x + 1) & 0xFF
        elif what == op.INY:
            y = n = z = (y + 1) & 0xFF
        elif what == op.DEX:
            x = n = z = (x - 1) & 0xFF
        elif what == op.DEY:
            y = n = z = (y - 1) & 0xFF
        elif what == op.INC:
            value = n = z = (value + 1) & 0xFF
        elif what == op.DEC:
            value = n = z = (value - 1) & 0xFF
        elif what == op.AND:
            a = n = z = a & value
        elif what == op.ORA:
            a = n = z = a | value
        elif what == op.EOR:
            a = n = z = a ^ value
        elif what == op.ADC:
            a, c, v = add(a, value, c, d)
            n = z = a
        elif what == op.SBC:
            a, c, v = subtract(a, value, c, d)
            n = z = a
        elif what == op.CMP:
            c = 1 if a >= value else 0
            n = z = (a - value) & 0xFF
        elif what == op.CPX:
            c = 1 if x >= value else 0
            n = z = (x - value) & 0xFF
        elif what == op.CPY:
            c = 1 if y >= value else 0
            n = z = (y - value) & 0xFF
        elif what == op.BIT:
            z = a & value
            n = value
            v = value >> 6 & 1
        elif what == op.ASL_A:
            c = a >> 7
            a = n = z = a << 1 & 0xFF
        elif what == op.LSR_A:
            c = a & 1
            a = n = z = a >> 1
        elif what == op.ROL_A:
            a = a << 1 | c
            c = a >> 8
            a = n = z = a & 0xFF
        elif what == op.ROR_A:
            a = a | c << 8
            c = a & 1
            a = n = z = a >> 1
        elif what == op.ASL:
            c = value >> 7
            value = n = z = value << 1 & 0xFF
        elif what == op.LSR:
            c = value & 1
            value = n = z = value >> 1
        elif what == op.ROL:
            value = value << 1 | c
            c = value >> 8
            value = n = z = value & 0xFF
        elif what == op.ROR:
            value = value | c << 8
            c = value & 1
            value = n = z = value >> 1
        elif what == op.JMP:
            pc = address
        elif what == op.JSR:
            back = (pc - 1) & 0xFFFF
            cycles = write(console, rom, picture, 0x100 | sp, back >> 8, cycles)
            cycles = write(console, rom, picture, 0x100 | sp - 1 & 0xFF, back & 0xFF, cycles)
            sp = (sp - 2) & 0xFF
            pc = address
        elif what == op.RTS:
            bus = read(console, rom, picture, 0x100 | sp, bus, cycles)
            sp = (sp + 1) & 0xFF
            low = read(console, rom, picture, 0x100 | sp, bus, cycles)
            sp = (sp + 1) & 0xFF
            high = read(console, rom, picture, 0x100 | sp, low, cycles)
            pc = ((low | high << 8) + 1) & 0xFFFF
        elif what == op.PHA:
            address = 0x100 | sp
            value = a
            sp = (sp - 1) & 0xFF
        elif what == op.PLA:
            bus = read(console, rom, picture, 0x100 | sp, bus, cycles)
            sp = (sp + 1) & 0xFF
            a = n = z = read(console, rom, picture, 0x100 | sp, bus, cycles)
        elif what == op.CLC:
            c = 0
        elif what == op.SEC:
            c = 1
        elif what == op.CLD:
            d = 0
        elif what == op.SED:
            d = 1
        elif what == op.CLI:
            i = 0
        elif what == op.SEI:
            i = 1
        elif what == op.CLV:
            v = 0
        elif what == op.JMI:
            low = read(console, rom, picture, address, bus, cycles)
            high = read(console, rom, picture, address & 0xFF00 | (address + 1) & 0xFF, low, cycles)
            code = rom + load32(console, BANK)
            pc = low | high << 8
        elif what in (op.PHP, op.BRK):
            flags = n & 0x80 | v << 6 | 0x20 | b << 4 | d << 3 | i << 2 | c
            if z == 0:
                flags |= 2
            if what == op.BRK:
                flags |= 0x10
                back = (pc + 1) & 0xFFFF
                cycles = write(console, rom, picture, 0x100 | sp, back >> 8, cycles)
                cycles = write(console, rom, picture, 0x100 | sp - 1 & 0xFF, back & 0xFF, cycles)
                sp = (sp - 2) & 0xFF
                i = 1
                b = 1
                low = read(console, rom, picture, 0xFFFE, 0, cycles)
                pc = low | read(console, rom, picture, 0xFFFF, low, cycles) << 8
                code = rom + load32(console, BANK)
            address = 0x100 | sp
            value = flags
            sp = (sp - 1) & 0xFF
        elif what in (op.PLP, op.RTI):
            bus = read(console, rom, picture, 0x100 | sp, bus, cycles)
            sp = (sp + 1) & 0xFF
            flags = read(console, rom, picture, 0x100 | sp, bus, cycles)
            n, v, b, d, i, c = flags, flags >> 6 & 1, flags >> 4 & 1, flags >> 3 & 1, flags >> 2 & 1, flags & 1
            z = ~flags & 2
            if what == op.RTI:
                sp = (sp + 1) & 0xFF
                low = read(console, rom, picture, 0x100 | sp, flags, cycles)
                sp = (sp + 1) & 0xFF
                pc = low | read(console, rom, picture, 0x100 | sp, low, cycles) << 8
        elif what == op.KIL:
            store32(console, JAMMED, 1)
            done = 1
        elif what != op.NOP:
            value, a, x, sp, n, z, c, v = undocumented(what, value, high, a, x, y, sp, n, z, c, v, d)

        if access & op.WRITE:
            if address & 0x1280 == 0x80:
                store8(console, address & 0x7F, value)
            else:
                cycles = write(console, rom, picture, address, value, cycles)
                code = rom + load32(console, BANK)
                done |= load32(console, FRAME_DONE)

    store32(console, PC, pc)
    store32(console, SP, sp)
    store32(console, CYCLES, cycles)
    store32(console, A, a)
    store32(console, X, x)
    store32(console, Y, y)
    store32(console, NEGATIVE, n)
    store32(console, ZERO, z)
    store32(console, OVERFLOW, v)
    store32(console, BREAK, b)
    store32(console, DECIMAL, d)
    store32(console, INTERRUPT, i)
    store32(console, CARRY, c)
    return instructions
