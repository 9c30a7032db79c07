"""Generates the source of the handlers of the 6507's frequent instructions, one for each opcode.

A handler is put together from the addressing mode and the operation. `code` is the address of the opcode in the ROM. A
handler ends with `continue`. In a case that it does not support, it changes nothing and does not reach `continue`; then
`instruction.execute` runs the instruction.
"""

from ga3c.emulator import opcodes as op

_BY_INDEX = "address = (low + (load8({high}) << 8)) & 0xFFFF"
ADDRESSES = {
    op.IMPLIED: "",
    op.IMMEDIATE: "value = load8(code, 1)",
    op.ZERO_PAGE: "address = load8(code, 1)",
    op.ZERO_PAGE_X: "address = (load8(code, 1) + x) & 0xFF",
    op.ZERO_PAGE_Y: "address = (load8(code, 1) + y) & 0xFF",
    op.ABSOLUTE: "address = load8(code, 1) | load8(code, 2) << 8",
    op.ABSOLUTE_X: "low = load8(code, 1) + x\n" + _BY_INDEX.format(high="code, 2"),
    op.ABSOLUTE_Y: "low = load8(code, 1) + y\n" + _BY_INDEX.format(high="code, 2"),
    op.INDIRECT: "pointer = load8(code, 1)\nlow = load8(console, pointer & 0x7F) + y\n"
    + _BY_INDEX.format(high="console, (pointer + 1) & 0x7F"),
}
_ZERO_PAGES = (op.ZERO_PAGE, op.ZERO_PAGE_X, op.ZERO_PAGE_Y)
_INDEXED = (op.ABSOLUTE_X, op.ABSOLUTE_Y, op.INDIRECT)

OPERATIONS = {
    "LDA": "a = n = z = value",
    "LDX": "x = n = z = value",
    "LDY": "y = n = z = value",
    "STA": "value = a",
    "STX": "value = x",
    "STY": "value = y",
    "SAX": "value = a & x",
    "TAX": "x = n = z = a",
    "TAY": "y = n = z = a",
    "TXA": "a = n = z = x",
    "TYA": "a = n = z = y",
    "TSX": "x = n = z = load32(console, state.SP)",
    "TXS": "store32(console, state.SP, x)",
    "INX": "x = n = z = (x + 1) & 0xFF",
    "INY": "y = n = z = (y + 1) & 0xFF",
    "DEX": "x = n = z = (x - 1) & 0xFF",
    "DEY": "y = n = z = (y - 1) & 0xFF",
    "INC": "value = n = z = (value + 1) & 0xFF",
    "DEC": "value = n = z = (value - 1) & 0xFF",
    "AND": "a = n = z = a & value",
    "ORA": "a = n = z = a | value",
    "EOR": "a = n = z = a ^ value",
    "ADC": "a, c, v = add(a, value, c, load32(console, state.DECIMAL))\nn = z = a\nstore32(console, state.OVERFLOW, v)",
    "SBC": "a, c, v = subtract(a, value, c, load32(console, state.DECIMAL))\n"
    "n = z = a\nstore32(console, state.OVERFLOW, v)",
    "CMP": "c = (a - value + 0x100) >> 8\nn = z = (a - value) & 0xFF",
    "CPX": "c = (x - value + 0x100) >> 8\nn = z = (x - value) & 0xFF",
    "CPY": "c = (y - value + 0x100) >> 8\nn = z = (y - value) & 0xFF",
    "BIT": "z = a & value\nn = value\nstore32(console, state.OVERFLOW, value >> 6 & 1)",
    "ASL_A": "c = a >> 7\na = n = z = a << 1 & 0xFF",
    "LSR_A": "c = a & 1\na = n = z = a >> 1",
    "ROL_A": "a = a << 1 | c\nc = a >> 8\na = n = z = a & 0xFF",
    "ROR_A": "a = a | c << 8\nc = a & 1\na = n = z = a >> 1",
    "ASL": "c = value >> 7\nvalue = n = z = value << 1 & 0xFF",
    "LSR": "c = value & 1\nvalue = n = z = value >> 1",
    "ROL": "value = value << 1 | c\nc = value >> 8\nvalue = n = z = value & 0xFF",
    "ROR": "value = value | c << 8\nc = value & 1\nvalue = n = z = value >> 1",
    "CLC": "c = 0",
    "SEC": "c = 1",
    "NOP": "",
    "JMP": "pc = address",
}
BRANCHES = {
    "BNE": "z != 0",
    "BEQ": "z == 0",
    "BPL": "n & 0x80 == 0",
    "BMI": "n & 0x80 != 0",
    "BCC": "c == 0",
    "BCS": "c != 0",
    "BVC": "load32(console, state.OVERFLOW) == 0",
    "BVS": "load32(console, state.OVERFLOW) != 0",
}
_BRANCH = """
pc += 2
if {taken}:
    target = (pc + (load8(code, 1) ^ 0x80) - 0x80) & 0xFFFF
    cycles += 2 if (target ^ pc) & 0xFF00 else 1
    pc = target
"""
# These support a stack within the RAM. PHP also supports writes to the TIA, which some games use.
_STACK = {
    "JSR": """
if sp >= 0x82:
    store8(console, sp & 0x7F, (pc + 2) >> 8)
    store8(console, (sp - 1) & 0x7F, (pc + 2) & 0xFF)
    store32(console, state.SP, sp - 2)
    pc = load8(code, 1) | load8(code, 2) << 8
    {cycles}
    continue""",
    "RTS": """
if 0x80 <= sp <= 0xFD:
    pc = ((load8(console, (sp + 1) & 0x7F) | load8(console, (sp + 2) & 0x7F) << 8) + 1) & 0xFFFF
    store32(console, state.SP, sp + 2)
    {cycles}
    continue""",
    "PHA": """
if sp >= 0x81:
    store8(console, sp & 0x7F, a)
    store32(console, state.SP, sp - 1)
    pc += 1
    {cycles}
    continue""",
    "PLA": """
if 0x80 <= sp <= 0xFE:
    a = n = z = load8(console, (sp + 1) & 0x7F)
    store32(console, state.SP, sp + 1)
    pc += 1
    {cycles}
    continue""",
    "PHP": """
address, value = sp, flags(console, n, z, c)
store32(console, state.SP, (sp - 1) & 0xFF)
pc += 1
{cycles}
{write}
continue""",
}
_READ = """
if address & 0x80:
    value = load8(console, address & 0x7F)
else:
    value = tia_read(console, picture, address, load8(code, 1), cycles)"""
_WRITE = """
if address & 0x80:
    store8(console, address & 0x7F, value)
else:
    cycles = tia_write(console, picture, address & 0x3F, value, cycles)
    if load32(console, state.FRAME_DONE):
        break"""


def indented(text: str, levels: int = 1) -> str:
    return "\n".join("    " * levels + line for line in text.split("\n") if line)


def _guard_and_read(name: str, mode: int) -> tuple[str, str]:
    """Returns the condition under which the operand can be read here, and the code that reads it."""
    if mode in _ZERO_PAGES:
        return ("True", _READ) if name == "LDA" else ("address & 0x80", "value = load8(console, address & 0x7F)")
    guard, read = "offset < load32(window, 4)", "value = load8(rom, load32(window, 0) + offset)"
    if mode in _INDEXED:  # crossing a page costs a cycle
        read += "\ncycles += low >> 8"
    if name == "LDA" and mode in (op.ABSOLUTE_X, op.ABSOLUTE_Y):
        guard = f"{guard} or low <= 0xFF and address & 0x1080 == 0"
        tia = "value = tia_read(console, picture, address, load8(code, 2), cycles)"
        read = f"if address & 0x1000:\n{indented(read)}\nelse:\n{indented(tia)}"
    return guard, read


def handler(opcode: int) -> str:
    """Returns the handler of an opcode; an empty text if it is not a frequent one."""
    name, mode, access = op.NAMES[opcode], int(op.MODE[opcode]), op.ACCESS[opcode]
    cycles = f"cycles += {op.BASE_CYCLES[opcode]}"
    if name in BRANCHES:
        return _BRANCH.format(taken=BRANCHES[name]) + cycles + "\ncontinue"
    if name in _STACK:
        return "sp = load32(console, state.SP)" + _STACK[name].format(cycles=cycles, write=_WRITE)
    if op.OPERATION[opcode] >= 100:
        name += "_A"
    if name not in OPERATIONS or mode not in ADDRESSES:
        return ""
    guard, before, after = "True", "", ""
    address = ADDRESSES[mode]
    if access == op.READ:
        guard, before = _guard_and_read(name, mode)
        if mode not in _ZERO_PAGES:
            address += "\nwindow, offset = window_of(console, address), address & 0x3FF"
    elif access == op.CHANGE or (access == op.WRITE and mode in _INDEXED):
        guard, before = "address & 0x1280 == 0x80", "value = load8(console, address & 0x7F)"
        after = "store8(console, address & 0x7F, value)"
    elif access == op.WRITE:
        guard, after = "True" if mode in _ZERO_PAGES else "address & 0x1000 == 0 and address & 0x280 != 0x280", _WRITE
    if mode == op.INDIRECT:
        guard += " and 0x80 <= pointer < 0xFF"
    lines = [cycles, before, f"pc += {op.LENGTH[opcode]}", OPERATIONS[name], after, "continue"]
    return f"{address}\nif {guard}:\n" + indented("\n".join(lines))


def _choices() -> list[tuple[int, str]]:
    return [(opcode, text) for opcode in range(256) if (text := handler(opcode))]


def handlers() -> str:
    """Returns all handlers as one if-chain over `opcode`."""
    return "\nel".join(f"if opcode == {opcode}:\n" + indented(text) for opcode, text in _choices())


def handlers_by_halves(choices: list[tuple[int, str]] | None = None) -> str:
    """Returns all handlers as a binary search by `opcode`, for compilers that make no jump tables."""
    choices = choices or _choices()
    if len(choices) == 1:
        [(opcode, text)] = choices
        return f"if opcode == {opcode}:\n" + indented(text)
    lower, upper = choices[: len(choices) // 2], choices[len(choices) // 2 :]
    parts = map(indented, map(handlers_by_halves, (lower, upper)))
    return f"if opcode < {upper[0][0]}:\n{next(parts)}\nelse:\n{next(parts)}"
