"""The 6507's main loop. Frequent instructions run inline, with registers in local variables; `instruction.execute` runs
all others.

The source of the loop is generated: the handlers of the frequent instructions form one if-chain over the opcode, which
LLVM compiles to a jump table.
"""

# ruff: noqa: F401 - the generated source uses these imports.
from ga3c.emulator import state
from ga3c.emulator.arithmetic import add, subtract
from ga3c.emulator.cartridge import window_of
from ga3c.emulator.compiled import compiled
from ga3c.emulator.handlers import handlers, indented
from ga3c.emulator.instruction import execute
from ga3c.emulator.pointers import load8, load32, store8, store32
from ga3c.emulator.stack import flags
from ga3c.emulator.tia import tia_read, tia_write

_LOAD = """
pc, cycles = load32(console, state.PC), load32(console, state.CYCLES)
a, x, y = load32(console, state.A), load32(console, state.X), load32(console, state.Y)
n, z, c = load32(console, state.NEGATIVE), load32(console, state.ZERO), load32(console, state.CARRY)"""
_STORE = """
store32(console, state.PC, pc)
store32(console, state.CYCLES, cycles)
store32(console, state.A, a)
store32(console, state.X, x)
store32(console, state.Y, y)
store32(console, state.NEGATIVE, n)
store32(console, state.ZERO, z)
store32(console, state.CARRY, c)"""
# While first <= pc < last, the opcode lies in the ROM at the address pc + shift.
_LOOP = """
def run_frame(console: int, rom: int, picture: int, instructions: int) -> int:
    LOAD
    store32(console, state.FRAME_DONE, 0)
    if load32(console, state.JAMMED):
        return instructions
    first, last, shift = 0, 0, 0
    while instructions > 0:
        if pc < first or pc >= last:
            pc &= 0xFFFF
            window = window_of(console, pc)
            first = pc & 0xFC00
            last = first + load32(window, 4) - 2
            shift = rom + load32(window, 0) - first
        if pc >= first and pc < last:
            instructions -= 1
            code = pc + shift
            opcode = load8(code, 0)
            HANDLERS
            instructions += 1
        STORE
        instructions = execute(console, rom, picture, instructions)
        LOAD
        first, last = 0, 0
        if load32(console, state.FRAME_DONE) or load32(console, state.JAMMED):
            break
    STORE
    return instructions
"""


def made(name: str, choice: str):
    """Runs to the end of the frame, or for so many instructions. Returns the number of instructions left.

    `console`, `rom` and `picture` (uint8 [height, 160]; 0 draws nothing) are addresses.
    """
    parts, source = {"LOAD": _LOAD, "STORE": _STORE, "HANDLERS": choice}, ""
    for line in _LOOP.replace("run_frame", name).splitlines():
        part, levels = parts.get(line.strip()), line.index(line.strip()) // 4
        source += (indented(part, levels) if part else line) + "\n"
    exec(compile(source, __file__, "exec"), globals())
    function = globals()[name]
    function.__doc__ = made.__doc__
    return compiled(function)


run_frame = made("run_frame", handlers())
