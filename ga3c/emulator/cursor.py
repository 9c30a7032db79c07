"""The instruction that is being translated: where it stands, the 6507's registers, and the ways on from it."""

from collections.abc import Callable

from ga3c.emulator import state
from ga3c.emulator.functions import Function
from ga3c.emulator.program import Program
from ga3c.emulator.words import INT, Word, holds


class Unsupported(Exception):
    """This instruction is not translated: `instruction.execute` executes it."""


class Cursor:
    """Appends code to a function. `registers` are numbers by name; an instruction replaces those that it changes."""

    def __init__(self, program: Program, function: Function):
        self.program, self.function, self.builder = program, function, function.builder
        self.waiting = []  # (offset, block, registers) of instructions of this function that are still to be translated

    def begin(self, chain: list[int], block, registers: dict) -> None:
        """Begins a chain of instructions. It is left to others if fewer instructions are left."""
        self.builder.position_at_end(block)
        self.at, self.registers, self._before, self._left = chain[0], dict(registers), registers, 0
        left = registers["left"] - len(chain)
        self.require(left >= 0, "unknown")
        self.registers["left"], self._left = left, len(chain)

    def move(self, at: int) -> None:
        """Moves to the next instruction of the chain."""
        if at != self.at:
            self._left -= 1
        self.at, self._before = at, dict(self.registers)

    @property
    def pc(self) -> int:
        return self.program.address[self.at]

    def operand(self, number: int) -> int:
        """Returns a byte of the instruction; 0 is the opcode."""
        return self.program.rom[self.at + number]

    @property
    def _registers_before(self) -> dict:
        return self._before | {"left": self._before["left"] + self._left}

    def require(self, condition: Word | bool, other: str = "slow") -> None:
        """Goes on if a condition holds; else the function `other` executes this instruction, of which nothing is done.

        Raises Unsupported if it is known now that it does not hold.
        """
        if isinstance(condition, Word):
            goes_on, leaves = self.function.choose(condition, rarely=1)
            self.builder.position_at_end(leaves)
            self.function.store(state.PC, self.pc, 32)
            self.function.jump(other, self._registers_before)
            self.builder.position_at_end(goes_on)
        elif not condition:
            raise Unsupported

    def execute(self) -> None:
        """Leaves this instruction to `instruction.execute`, and goes on after it."""
        function, program = self.function, self.program
        before = self._registers_before
        function.store(state.PC, self.pc, 32)
        function.save(before)
        self.registers = function.saved(function.execute("execute", before, before["left"]))
        if not program.may_switch(self.at):
            usual, other = function.choose(function.load(state.PC, 32) == self.pc + program.length(self.at))
            self.builder.position_at_end(usual)
            self.go(self.pc + program.length(self.at))
            self.builder.position_at_end(other)
        function.jump("look_up", self.registers)

    def go(self, address: Word | int) -> None:
        """Ends the block: goes on at an address."""
        at = None if isinstance(address, Word) else self.program.offset(self.at, address)
        if at is None or self.program.address.get(at) != address:
            self.function.store(state.PC, address, 32)
            self.function.jump("look_up", self.registers)
        elif at in self.program.entries:
            self.function.jump(at, self.registers)
        else:
            block = self.function.block()
            self.builder.branch(block)
            self.waiting.append((at, block, self.registers))

    def branch(self, taken: Word, address: int, cycles: int) -> None:
        """Ends the block: goes on at an address, some cycles later, or after this instruction."""
        yes, no = self.function.choose(taken)
        registers = self.registers
        self.builder.position_at_end(yes)
        self.registers = registers | {"cycles": registers["cycles"] + cycles}
        self.go(address)
        self.builder.position_at_end(no)
        self.registers = registers
        self.go(self.pc + self.program.length(self.at))

    def either(self, condition: Word, usual: Callable[[], Word], other: Callable[[], Word]) -> Word:
        """Returns what `usual` returns if a condition holds, as it mostly does, else what `other` returns."""
        blocks, on = self.function.choose(condition, rarely=1), self.function.block()
        self.builder.position_at_end(on)
        value = self.builder.phi(INT)
        for block, way in zip(blocks, (usual, other), strict=True):
            self.builder.position_at_end(block)
            value.add_incoming(way().bits, self.builder.block)
            self.builder.branch(on)
        self.builder.position_at_end(on)
        return Word(self.builder, value)

    def only_if(self, condition: Word, then: Callable[[], None]) -> None:
        with self.builder.if_then(holds(condition)):
            then()
