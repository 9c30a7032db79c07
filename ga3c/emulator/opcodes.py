"""The 6507's 256 opcodes, with the undocumented ones: operation, addressing mode, length in bytes, cycles."""

import numpy as np

_TABLE = """
BRK ORA KIL SLO NOP ORA ASL SLO PHP ORA ASL ANC NOP ORA ASL SLO
BPL ORA KIL SLO NOP ORA ASL SLO CLC ORA NOP SLO NOP ORA ASL SLO
JSR AND KIL RLA BIT AND ROL RLA PLP AND ROL ANC BIT AND ROL RLA
BMI AND KIL RLA NOP AND ROL RLA SEC AND NOP RLA NOP AND ROL RLA
RTI EOR KIL SRE NOP EOR LSR SRE PHA EOR LSR ASR JMP EOR LSR SRE
BVC EOR KIL SRE NOP EOR LSR SRE CLI EOR NOP SRE NOP EOR LSR SRE
RTS ADC KIL RRA NOP ADC ROR RRA PLA ADC ROR ARR JMI ADC ROR RRA
BVS ADC KIL RRA NOP ADC ROR RRA SEI ADC NOP RRA NOP ADC ROR RRA
NOP STA NOP SAX STY STA STX SAX DEY NOP TXA ANE STY STA STX SAX
BCC STA KIL SHA STY STA STX SAX TYA STA TXS SHS SHY STA SHX SHA
LDY LDA LDX LAX LDY LDA LDX LAX TAY LDA TAX LXA LDY LDA LDX LAX
BCS LDA KIL LAX LDY LDA LDX LAX CLV LDA TSX LAS LDY LDA LDX LAX
CPY CMP NOP DCP CPY CMP DEC DCP INY CMP DEX SBX CPY CMP DEC DCP
BNE CMP KIL DCP NOP CMP DEC DCP CLD CMP NOP DCP NOP CMP DEC DCP
CPX SBC NOP ISB CPX SBC INC ISB INX SBC NOP SBC CPX SBC INC ISB
BEQ SBC KIL ISB NOP SBC INC ISB SED SBC NOP ISB NOP SBC INC ISB
"""
NAMES = _TABLE.split()

IMPLIED, IMMEDIATE, RELATIVE, ZERO_PAGE, ZERO_PAGE_X, ZERO_PAGE_Y = range(6)
ABSOLUTE, ABSOLUTE_X, ABSOLUTE_Y, INDEXED, INDIRECT = range(6, 11)  # INDEXED: (zero page, X); INDIRECT: (zero page), Y
LENGTHS = (1, 2, 2, 2, 2, 2, 3, 3, 3, 2, 2)

_STORES = {"STA", "STX", "STY", "SAX", "SHA", "SHX", "SHY", "SHS"}
_CHANGES = {"ASL", "LSR", "ROL", "ROR", "INC", "DEC", "SLO", "RLA", "SRE", "RRA", "DCP", "ISB"}
NONE, READ, WRITE, CHANGE = 0, 1, 2, 3

_CYCLES = {  # by mode: the cycles of a read, a write, a read-modify-write
    IMPLIED: (2, 2, 2),
    IMMEDIATE: (2, 2, 2),
    RELATIVE: (2, 2, 2),
    ZERO_PAGE: (3, 3, 5),
    ZERO_PAGE_X: (4, 4, 6),
    ZERO_PAGE_Y: (4, 4, 6),
    ABSOLUTE: (4, 4, 6),
    ABSOLUTE_X: (4, 5, 7),
    ABSOLUTE_Y: (4, 5, 7),
    INDEXED: (6, 6, 8),
    INDIRECT: (5, 6, 8),
}
_OWN_CYCLES = {"BRK": 7, "JSR": 6, "RTI": 6, "RTS": 6, "JMP": 3, "JMI": 5, "PHA": 3, "PHP": 3, "PLA": 4, "PLP": 4}


def _mode(opcode: int) -> int:
    name, column, odd = NAMES[opcode], opcode & 15, opcode >> 4 & 1
    if name in ("JMP", "JMI", "JSR"):
        return ABSOLUTE
    if column == 0:
        return RELATIVE if odd else (IMMEDIATE if opcode >= 0x80 else IMPLIED)
    if column == 2:
        return IMPLIED if name == "KIL" else IMMEDIATE
    if column in (8, 10):
        return IMPLIED
    if column in (9, 11):
        return ABSOLUTE_Y if odd else IMMEDIATE
    by_y = name in ("STX", "LDX", "SAX", "LAX", "SHX", "SHA")
    if column in (1, 3):
        return INDIRECT if odd else INDEXED
    if column < 8:
        return (ZERO_PAGE_Y if by_y else ZERO_PAGE_X) if odd else ZERO_PAGE
    return (ABSOLUTE_Y if by_y else ABSOLUTE_X) if odd else ABSOLUTE


def _access(opcode: int) -> int:
    name, mode = NAMES[opcode], _mode(opcode)
    if name in ("PHA", "PHP", "BRK"):
        return WRITE
    if mode in (IMPLIED, IMMEDIATE, RELATIVE) or name in ("JMP", "JMI", "JSR"):
        return NONE
    return WRITE if name in _STORES else CHANGE if name in _CHANGES else READ


def _cycles(opcode: int) -> int:
    if opcode == 0xA7:  # LAX of the zero page takes 4 cycles in ALE, 3 in hardware
        return 4
    return _OWN_CYCLES.get(NAMES[opcode]) or _CYCLES[_mode(opcode)][max(_access(opcode) - 1, 0)]


OPERATIONS = sorted(set(NAMES))
# fmt: off
(ADC, ANC, AND, ANE, ARR, ASL, ASR, BCC, BCS, BEQ, BIT, BMI, BNE, BPL, BRK, BVC, BVS, CLC, CLD, CLI, CLV, CMP,
 CPX, CPY, DCP, DEC, DEX, DEY, EOR, INC, INX, INY, ISB, JMI, JMP, JSR, KIL, LAS, LAX, LDA, LDX, LDY, LSR, LXA,
 NOP, ORA, PHA, PHP, PLA, PLP, RLA, ROL, ROR, RRA, RTI, RTS, SAX, SBC, SBX, SEC, SED, SEI, SHA, SHS, SHX, SHY,
 SLO, SRE, STA, STX, STY, TAX, TAY, TSX, TXA, TXS, TYA) = range(len(OPERATIONS))
# fmt: on
ASL_A, LSR_A, ROL_A, ROR_A = (100 + what for what in (ASL, LSR, ROL, ROR))


def _operation(opcode: int) -> int:
    """Returns the number of an opcode's operation. A shift of the accumulator has a number of its own, 100 above."""
    on_accumulator = _mode(opcode) == IMPLIED and NAMES[opcode] in _CHANGES
    return OPERATIONS.index(NAMES[opcode]) + 100 * on_accumulator


MODE = np.array([_mode(o) for o in range(256)], np.int64)
ACCESS = np.array([_access(o) for o in range(256)], np.int64)
OPERATION = np.array([_operation(o) for o in range(256)], np.int64)
LENGTH = np.array([LENGTHS[_mode(o)] for o in range(256)], np.int64)
BASE_CYCLES = np.array([_cycles(o) for o in range(256)], np.int64)
