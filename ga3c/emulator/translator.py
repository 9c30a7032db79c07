"""Translates the instructions of a game to code for LLVM.

The texts of `handlers` are executed once for each instruction: with its bytes, which are known now, and with registers
that are known when the code runs.
"""

from functools import cache

from ga3c.emulator import opcodes as op
from ga3c.emulator import state
from ga3c.emulator.accesses import ZERO_PAGES, Accesses
from ga3c.emulator.cursor import Cursor, Unsupported
from ga3c.emulator.functions import REGISTERS, Function, Functions
from ga3c.emulator.handlers import ADDRESSES, BRANCHES, OPERATIONS
from ga3c.emulator.program import ENDS, Program
from ga3c.emulator.words import INT, Word

_NAMES = {field: name for name, field in REGISTERS.items()}
_ARGUMENTS = {"console": "console", "code": "code", "state": state}
_INDEXED = """
pointer = (load8(code, 1) + x) & 0xFF
address = load8(console, pointer & 0x7F) | load8(console, (pointer + 1) & 0x7F) << 8"""
_ADDRESSES = ADDRESSES | {op.INDEXED: _INDEXED}  # has no handler: it is rare in most games
_compiled = cache(compile)


def translated(program: Program) -> str:
    """Returns LLVM's assembly of a program."""
    functions = Functions(program)
    for at in program.entries:
        function = Function(functions, functions.named(at))
        cursor = Cursor(program, function)
        cursor.waiting.append((at, function.builder.block, function.registers))
        while cursor.waiting:
            _translate_chain(cursor, *cursor.waiting.pop())
    return functions.finish()


def _translate_chain(cursor: Cursor, at: int, block, registers: dict) -> None:
    chain = cursor.program.chain(at)
    cursor.begin(chain, block, registers)
    for at in chain:
        cursor.move(at)
        try:
            Instruction(cursor).translate()
        except Unsupported:
            cursor.execute()
            return
    if cursor.program.name(at) not in ENDS and not cursor.program.is_branch(at):
        cursor.go(cursor.pc + cursor.program.length(at))


class Instruction:
    """The instruction at the cursor."""

    def __init__(self, cursor: Cursor):
        self._cursor, self._function = cursor, cursor.function
        self._accesses, self._registers = Accesses(cursor), cursor.registers
        self._calls = _ARGUMENTS | {
            "load8": self._load8,
            "load32": self._load32,
            "store32": self._store32,
            "add": self._add,
            "subtract": self._subtract,
        }

    def translate(self) -> None:
        opcode, registers = self._cursor.operand(0), self._registers
        name, mode, access = op.NAMES[opcode], int(op.MODE[opcode]), op.ACCESS[opcode]
        registers["cycles"] = registers["cycles"] + int(op.BASE_CYCLES[opcode])
        if name in BRANCHES:
            self._branch(eval(_compiled(BRANCHES[name], "", "eval"), self._calls, registers))
        elif special := getattr(self, f"_{name.lower()}", None):
            special()
        else:
            self._access(name, mode, access)

    def _access(self, name: str, mode: int, access: int) -> None:
        """Translates an instruction that consists of an access to memory and an operation, or of one of them."""
        registers = self._registers
        name += "_A" if op.OPERATION[self._cursor.operand(0)] >= 100 else ""
        self._cursor.require(name in OPERATIONS and mode in _ADDRESSES)
        values = dict(registers)
        exec(_compiled(_ADDRESSES[mode], "", "exec"), self._calls, values)
        address = values.get("address")
        if mode in (op.INDEXED, op.INDIRECT):
            self._cursor.require((values["pointer"] >= 0x80) & (values["pointer"] < 0xFF))
        if access == op.READ and mode in (op.ABSOLUTE_X, op.ABSOLUTE_Y, op.INDIRECT):
            registers["cycles"] = registers["cycles"] + (values["low"] >> 8)  # crossing a page costs a cycle
        if access == op.READ:
            values["value"] = self._accesses.read(mode, address)
        elif access == op.CHANGE:
            values["value"] = self._accesses.read_to_change(address)
        self._operate(OPERATIONS[name], values)
        if access == op.WRITE and mode in ZERO_PAGES:
            self._accesses.write_zero_page(address, values["value"])
        elif access in (op.WRITE, op.CHANGE):
            self._accesses.write(address, values["value"])

    def _operate(self, operation: str, values: dict) -> None:
        before = dict(values)
        exec(_compiled(operation, "", "exec"), self._calls, values)
        changed = [name for name in self._registers if values[name] is not before[name]]
        self._registers.update((name, values[name]) for name in changed)

    # What the texts call.

    def _load8(self, base, offset):
        return self._cursor.operand(offset) if base == "code" else self._function.load(offset)

    def _load32(self, _, field):
        return self._registers[_NAMES[field]] if field in _NAMES else self._function.load(field, 32)

    def _store32(self, _, field, value) -> None:
        self._registers[_NAMES[field]] = value

    def _add(self, a, operand, carry, decimal):
        self._cursor.require(decimal == 0)
        total = a + operand + carry
        return total & 0xFF, total >> 8, ((a ^ operand ^ -1) & (a ^ total)) >> 7 & 1

    def _subtract(self, a, operand, carry, decimal):
        return self._add(a, operand ^ 0xFF, carry, decimal)

    # Branches, jumps and the stack.

    def _branch(self, taken) -> None:
        cursor = self._cursor
        target = cursor.program.target(cursor.at)
        taken = taken if isinstance(taken, Word) else Word(cursor.builder, INT(int(taken)))
        cursor.branch(taken, target, 2 if (target ^ cursor.pc + 2) & 0xFF00 else 1)

    def _jmp(self) -> None:
        self._cursor.go(self._cursor.program.target(self._cursor.at))

    def _jmi(self) -> None:
        pointer, ram = self._cursor.program.target(self._cursor.at), self._accesses.ram
        self._cursor.require(pointer & 0x1280 == 0x80 and pointer & 0x7F != 0x7F)
        self._cursor.go(ram(pointer) | ram(pointer + 1) << 8)

    def _jsr(self) -> None:
        sp, back = self._registers["sp"], self._cursor.pc + 2
        self._cursor.require(sp >= 0x82)
        self._function.store(sp & 0x7F, back >> 8)
        self._function.store((sp - 1) & 0x7F, back & 0xFF)
        self._registers["sp"] = sp - 2
        self._jmp()

    def _rts(self) -> None:
        sp, ram = self._registers["sp"], self._accesses.ram
        self._cursor.require((sp >= 0x80) & (sp < 0xFE))
        self._registers["sp"] = sp + 2
        self._cursor.go((ram(sp + 1) | ram(sp + 2) << 8) + 1 & 0xFFFF)

    def _pha(self) -> None:
        self._push(self._registers["a"])

    def _php(self) -> None:
        registers, load = self._registers, self._function.load
        flags = registers["n"] & 0x80 | registers["v"] << 6 | 0x20 | load(state.BREAK, 32) << 4
        flags |= load(state.DECIMAL, 32) << 3 | load(state.INTERRUPT, 32) << 2 | (registers["z"] == 0) << 1
        self._push(flags | registers["c"])

    def _push(self, value) -> None:
        sp = self._registers["sp"]
        self._accesses.write_zero_page(sp, value)
        self._registers["sp"] = sp - 1 & 0xFF

    def _pla(self) -> None:
        registers, read_bus = self._registers, self._accesses.read_bus
        before = registers["sp"]
        sp = registers["sp"] = before + 1 & 0xFF
        value = self._accesses.read_zero_page(sp, lambda: read_bus(sp, read_bus(before, self._cursor.operand(0))))
        registers["a"] = registers["n"] = registers["z"] = value
