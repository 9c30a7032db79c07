"""The functions of the code made for a game, as LLVM's assembly: `play` does what `cpu.run_frame` does.

Each entry of the program is a function, and leads to others by jumps: calls that do not return, with a convention that
keeps all arguments in registers. So the functions share the 6507's registers, and LLVM compiles each on its own, which
takes a fraction of the time of one large function.
"""

from llvmlite import ir

from ga3c.emulator import state
from ga3c.emulator.program import Program
from ga3c.emulator.words import BYTE, INT, Word, bits, holds

NAME, CONVENTION = "play", "preserve_nonecc"
# The 6507's registers that are arguments, after console, ROM, picture, and the number of instructions that are left.
ARGUMENTS = {"a": state.A, "x": state.X, "y": state.Y, "n": state.NEGATIVE, "z": state.ZERO, "c": state.CARRY}
ARGUMENTS["cycles"] = state.CYCLES
IN_RECORD = {"sp": state.SP, "v": state.OVERFLOW}  # those that stay in the record from one function to the next
REGISTERS = ARGUMENTS | IN_RECORD
# Functions of other files, with so many arguments.
OUTSIDE = {"tia_write": 5, "write_change": 5, "write_graphics": 5, "read": 6, "execute": 4, "run_frame": 4}
MOST_UNKNOWN = 16  # instructions of unknown code that are executed before an address is looked up again
_POINTER, _SHORT = BYTE.as_pointer(), ir.IntType(16)
_KIND = ir.FunctionType(INT, (_POINTER, _POINTER, INT, *[INT] * (1 + len(ARGUMENTS))))
_OUTSIDE_KINDS = {
    name: ir.FunctionType(ir.IntType(32), (INT.as_pointer(), _POINTER, *[INT] * count))
    for name, count in OUTSIDE.items()
}


class Function:
    """A function to which code is appended. `registers` are those at its beginning."""

    def __init__(self, functions: "Functions", function: ir.Function):
        self.functions, self.function = functions, function
        self.builder = builder = ir.IRBuilder(function.append_basic_block())
        console, rom, picture, *values = function.args
        self.console, self.rom = console, rom
        addresses = builder.ptrtoint(console, INT), builder.ptrtoint(rom, INT), picture
        self.at_console, self.at_rom, self.at_picture = (Word(builder, one) for one in addresses)
        self.registers = dict(zip(("left", *ARGUMENTS), (Word(builder, one) for one in values), strict=False))
        self._kept = {name: self.load(field, 32) for name, field in IN_RECORD.items()}
        self.registers |= self._kept

    def _pointer(self, base, offset, size: int):
        pointer = self.builder.gep(base, [bits(offset)])
        return pointer if size == 8 else self.builder.bitcast(pointer, ir.IntType(size).as_pointer())

    def load(self, offset: Word | int, size: int = 8, base=None) -> Word:
        """Loads a number of so many bits from the record, or from another base."""
        value = self.builder.load(self._pointer(base or self.console, offset, size))
        return Word(self.builder, (self.builder.sext if size == 32 else self.builder.zext)(value, INT))

    def store(self, offset: Word | int, value: Word | int, size: int = 8) -> None:
        value = self.builder.trunc(bits(value), ir.IntType(size))
        self.builder.store(value, self._pointer(self.console, offset, size))

    def call(self, name: str, *arguments: Word | int) -> Word:
        """Calls a function of another file as Numba does: with places for the result and for an exception."""
        with self.builder.goto_entry_block():
            result = self.builder.alloca(INT)
        values = [result, ir.Constant(_POINTER, None), *map(bits, arguments)]
        self.builder.call(self.functions.outside[name], values)
        return Word(self.builder, self.builder.load(result))

    def block(self) -> ir.Block:
        return self.function.append_basic_block()

    def choose(self, condition: Word, rarely: int | None = None) -> tuple[ir.Block, ir.Block]:
        """Branches to the first of two new blocks if a condition holds, else to the second. One (0, 1) may be rare."""
        blocks = self.block(), self.block()
        branch = self.builder.cbranch(holds(condition), *blocks)
        if rarely is not None:
            branch.set_weights((1, 1000) if rarely == 0 else (1000, 1))
        return blocks

    def jump(self, where: str | int | ir.Value, registers: dict) -> None:
        """Goes on in another function: that of a name, of an entry, or at a pointer."""
        self._store_changed(registers)
        target = where if isinstance(where, ir.Value) else self.functions.named(where)
        values = [*self.function.args[:3], *(bits(registers[name]) for name in ("left", *ARGUMENTS))]
        self.builder.ret(self.builder.call(target, values, cconv=CONVENTION, tail="musttail"))

    def _store_changed(self, registers: dict) -> None:
        for name, value in self._kept.items():
            if registers[name] is not value:
                self.store(IN_RECORD[name], registers[name], 32)

    def save(self, registers: dict) -> None:
        """Stores all registers in the record."""
        self._store_changed(registers)
        for name, field in ARGUMENTS.items():
            self.store(field, registers[name], 32)

    def saved(self, left: Word) -> dict:
        """Returns the registers in the record."""
        return {"left": left} | {name: self.load(field, 32) for name, field in REGISTERS.items()}

    def execute(self, name: str, registers: dict, most: Word) -> Word:
        """Executes `most` instructions at most, by a function. Returns how many are left; returns if the frame ends."""
        left = self.call(name, self.at_console, self.at_rom, self.at_picture, most) + registers["left"] - most
        done = (self.load(state.FRAME_DONE, 32) | self.load(state.JAMMED, 32)) != 0
        yes, no = self.choose(done | (left < 1), rarely=0)
        self.builder.position_at_end(yes)
        self.builder.ret(left.bits)
        self.builder.position_at_end(no)
        return left


class Functions:
    """All functions of a program."""

    def __init__(self, program: Program):
        self.module, self.program = ir.Module(), program
        self.outside = {name: ir.Function(self.module, kind, f"ga3c_{name}") for name, kind in _OUTSIDE_KINDS.items()}
        self._named = {}

    def named(self, name: str | int) -> ir.Function:
        """Returns the function of a name, or of an entry."""
        if name not in self._named:
            made = ir.Function(self.module, _KIND, name if isinstance(name, str) else f"at_{name:x}")
            made.calling_convention, made.linkage = CONVENTION, "internal"
            self._named[name] = made
        return self._named[name]

    def finish(self) -> str:
        """Adds the functions that every game has. Returns the assembly."""
        entries = self.program.entries
        numbers = {at: number + 1 for number, at in enumerate(entries)}
        self._numbers = self._table(_SHORT, [numbers.get(at, 0) for at in range(len(self.program.rom))])
        self._addresses = self._table(_SHORT, [0, *(self.program.address[at] for at in entries)])
        pointers = [self.named("unknown"), *map(self.named, entries)]
        self._pointers = self._table(pointers[0].type, pointers)
        self._add_play()
        self._add_look_up()
        self._add_slow()
        self._add_unknown()
        return str(self.module)

    def _table(self, kind: ir.Type, values: list) -> ir.GlobalVariable:
        array = ir.ArrayType(kind, len(values))
        table = ir.GlobalVariable(self.module, array, self.module.get_unique_name("table"))
        table.initializer, table.global_constant, table.linkage = ir.Constant(array, values), True, "internal"
        return table

    def _add_play(self) -> None:
        """Adds the function that is called from elsewhere."""
        kind = ir.FunctionType(INT, (_POINTER, _POINTER, INT, INT))
        function = Function(self, ir.Function(self.module, kind, NAME))
        builder, left = function.builder, function.registers["left"]
        function.store(state.FRAME_DONE, 0, 32)
        jammed, runs = function.choose(function.load(state.JAMMED, 32) != 0, rarely=0)
        builder.position_at_end(jammed)
        builder.ret(left.bits)
        builder.position_at_end(runs)
        registers = function.saved(left)
        values = [*function.function.args, *(bits(registers[name]) for name in ARGUMENTS)]
        builder.ret(builder.call(self.named("look_up"), values, cconv=CONVENTION))

    def _add_look_up(self) -> None:
        """Adds the function that goes on at the address in the record."""
        function = Function(self, self.named("look_up"))
        self._jump_if_known(function, function.registers)
        function.jump("unknown", function.registers)

    def _jump_if_known(self, function: Function, registers: dict) -> None:
        builder, pc = function.builder, function.load(state.PC, 32)
        window = (pc >> 10 & state.WINDOW_COUNT - 1) * state.WINDOW_BYTES + state.WINDOWS
        offset = pc & 0x3FF
        plain = offset < function.load(window + 4, 32)
        at = (function.load(window, 32) + offset) * plain
        number = function.load(at * 2, 16, builder.bitcast(self._numbers, _POINTER))
        known = plain & (function.load(number * 2, 16, builder.bitcast(self._addresses, _POINTER)) == pc)
        yes, no = function.choose(known, rarely=1)
        builder.position_at_end(yes)
        function.jump(builder.load(builder.gep(self._pointers, [INT(0), number.bits])), registers)
        builder.position_at_end(no)

    def _add_slow(self) -> None:
        """Adds the function that executes one instruction as `instruction.execute` does."""
        function = Function(self, self.named("slow"))
        function.save(function.registers)
        left = function.execute("execute", function.registers, function.registers["left"])
        function.jump("look_up", function.saved(left))

    def _add_unknown(self) -> None:
        """Adds the function that executes one instruction, then two, four, and so on, until the address is known."""
        function = Function(self, self.named("unknown"))
        builder = function.builder
        function.save(function.registers)
        start, again = builder.block, function.block()
        builder.branch(again)
        builder.position_at_end(again)
        left, most = (Word(builder, builder.phi(INT)) for _ in range(2))
        some = Word(builder, builder.select(holds(left < most), left.bits, most.bits))
        after = function.execute("run_frame", {"left": left}, some)
        self._jump_if_known(function, function.saved(after))
        more = Word(builder, builder.select(holds(most < MOST_UNKNOWN), (most + most).bits, most.bits))
        for phi, values in ((left, (function.registers["left"], after)), (most, (1, more))):
            for value, block in zip(values, (start, builder.block), strict=True):
                phi.bits.add_incoming(bits(value), block)
        builder.branch(again)
