"""The accesses to memory of an instruction that is being translated. Most addresses are known now."""

from ga3c.emulator import opcodes as op
from ga3c.emulator import registers as reg
from ga3c.emulator import state
from ga3c.emulator.cursor import Cursor
from ga3c.emulator.instruction import BACK_5, INTIM
from ga3c.emulator.picture import LINE_CYCLES
from ga3c.emulator.tia import MOST_CYCLES
from ga3c.emulator.words import Word, bits, holds

ZERO_PAGES = (op.ZERO_PAGE, op.ZERO_PAGE_X, op.ZERO_PAGE_Y)
_PORTS = {0: state.SWCHA, 1: state.DDRA, 2: state.SWCHB, 3: state.DDRB}
# Registers of the TIA without an effect here; those that only take a value; and those that do nothing for the old one.
_SILENT = {reg.RSYNC, *range(reg.AUDC0, reg.AUDV1 + 1), *range(reg.CXCLR + 1, 64)}
_KEEP = set(range(reg.HMP0, reg.HMBL + 1)) - {reg.HMM0}
_CHANGE = {
    *range(reg.NUSIZ0, reg.PF2 + 1),
    *range(reg.ENAM0, reg.ENABL + 1),
    *range(reg.VDELP0, reg.RESMP1 + 1),
}


class Accesses:
    def __init__(self, cursor: Cursor):
        self._cursor, self._function = cursor, cursor.function

    def read(self, mode: int, address: Word | int) -> Word | int:
        """Returns the byte that an instruction reads."""
        if not isinstance(address, Word):
            return self._read_known(address)
        if mode in (op.INDEXED, op.INDIRECT):
            return self._read_anywhere(address)
        if mode not in ZERO_PAGES:
            return self._read_table(address)
        return self.read_zero_page(address, lambda: self._read_bus(address))

    def read_zero_page(self, address: Word | int, other) -> Word:
        """Returns a byte of the RAM, or what `other` returns: the lower half of the zero page is the TIA."""
        if isinstance(address, Word):
            return self._cursor.either(address >> 7 & 1, lambda: self.ram(address), other)
        return self.ram(address) if address & 0x80 else other()

    def ram(self, address: Word | int) -> Word:
        return self._function.load(address & 0x7F)

    def read_to_change(self, address: Word | int) -> Word:
        self._cursor.require(address & 0x1280 == 0x80)
        return self.ram(address)

    def read_bus(self, address: Word | int, bus: Word | int) -> Word:
        """Returns a byte of the TIA or the RIOT, as `bus.read` does."""
        function = self._function
        cycles = self._cursor.registers["cycles"]
        return function.call("read", function.at_console, function.at_rom, function.at_picture, address, bus, cycles)

    def _read_bus(self, address: Word | int) -> Word:
        return self.read_bus(address, self._last_byte)

    @property
    def _last_byte(self) -> int:
        cursor = self._cursor
        return cursor.operand(cursor.program.length(cursor.at) - 1)

    def _read_known(self, address: int) -> Word | int:
        cursor, load = self._cursor, self._function.load
        if address & 0x1000:
            at = cursor.program.offset(cursor.at, address)
            cursor.require(at is not None)
            return cursor.program.rom[at]
        if address & 0x280 == 0x80:
            return self.ram(address)
        waits = address == INTIM and cursor.operand(4) == BACK_5
        cursor.require(not waits)
        if address & 0x80 and address & 7 in _PORTS:
            return load(_PORTS[address & 7], 32)
        if not address & 0x80 and address & 0xE == 12:
            return load(state.INPT4 + 4 * (address & 1), 32) | self._last_byte & 0x3F
        return self._read_bus(address)

    def _read_table(self, address: Word) -> Word:
        """Reads at an address less than a page beyond one that is known now."""
        cursor, program = self._cursor, self._cursor.program
        base = cursor.operand(1) | cursor.operand(2) << 8
        first, last = program.offset(cursor.at, base), program.offset(cursor.at, base + 0xFF & 0xFFFF)
        if first is not None and last == first + 0xFF:
            return self._function.load(address - base + first, base=self._function.rom)
        if base & 0x1000:
            return self._read_anywhere(address)
        cursor.require(address & 0x1000 == 0)
        return cursor.either(address & 0x1280 == 0x80, lambda: self.ram(address), lambda: self._read_bus(address))

    def _read_anywhere(self, address: Word) -> Word:
        """Reads a byte of the RAM or a plain byte of the cartridge."""
        function, builder = self._function, self._function.builder
        window = (address >> 10 & state.WINDOW_COUNT - 1) * state.WINDOW_BYTES + state.WINDOWS
        offset, in_ram = address & 0x3FF, address & 0x1280 == 0x80
        self._cursor.require(in_ram | (offset < function.load(window + 4, 32)))
        rom = builder.gep(function.rom, [bits(function.load(window, 32) + offset)])
        pointer = builder.select(holds(in_ram), builder.gep(function.console, [bits(address & 0x7F)]), rom)
        return function.load(0, base=pointer)

    def write(self, address: Word | int, value: Word | int) -> None:
        """Writes a byte to the RAM or the TIA."""
        if not isinstance(address, Word) and not address & 0x1080:
            self._write_register(address & 0x3F, value)
        else:
            self._cursor.require(address & 0x1280 == 0x80)
            self._function.store(address & 0x7F, value)

    def write_zero_page(self, address: Word | int, value: Word | int) -> None:
        """Writes a byte of the RAM, or a register of the TIA that neither ends the frame nor stops the CPU."""
        if not isinstance(address, Word):
            self.write(address, value)
            return
        in_ram, register = address >> 7 & 1, address & 0x3F
        cycles = self._cursor.registers["cycles"]
        self._cursor.require(in_ram | (register >= reg.RSYNC) & (cycles < MOST_CYCLES))
        with self._function.builder.if_else(holds(in_ram)) as (ram, tia):
            with ram:
                self._function.store(address & 0x7F, value)
            with tia:
                self._write_tia(register, value)

    def _write_tia(self, register: Word | int, value: Word | int, by: str = "tia_write") -> None:
        function, cycles = self._function, self._cursor.registers["cycles"]
        function.call(by, function.at_console, function.at_picture, register, value, cycles)

    def _write_register(self, register: int, value: Word | int) -> None:
        cursor, function, registers = self._cursor, self._function, self._cursor.registers
        cursor.require(register != reg.VSYNC)
        cursor.require(registers["cycles"] < MOST_CYCLES)
        if register == reg.WSYNC:
            registers["cycles"] = (registers["cycles"] + LINE_CYCLES - 1) // LINE_CYCLES * LINE_CYCLES
        elif register == reg.HMCLR:
            for motion in range(reg.HMP0, reg.HMBL + 1):
                function.store(state.REGISTERS + motion, 0)
        elif register in _KEEP:
            function.store(state.REGISTERS + register, value)
        elif register in _CHANGE:
            old = function.load(state.REGISTERS + register)
            cursor.only_if(old != value, lambda: self._write_tia(register, value, "write_change"))
        elif register in (reg.GRP0, reg.GRP1):
            self._write_tia(register, value, "write_graphics")
        elif register not in _SILENT:
            self._write_tia(register, value)
