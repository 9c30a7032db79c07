"""Whole numbers of 64 bits in code that LLVM compiles: Python's operators append instructions to it.

An operation on two numbers that are known now is Python's own, and appends nothing.
"""

from llvmlite import ir

INT, BIT, BYTE = ir.IntType(64), ir.IntType(1), ir.IntType(8)


def _operator(name: str, swapped: bool = False):
    def operate(self, other):
        operands = (bits(other), self.bits) if swapped else (self.bits, bits(other))
        return Word(self.builder, getattr(self.builder, name)(*operands))

    return operate


def _comparison(sign: str):
    def compare(self, other):
        return Word(self.builder, self.builder.zext(self.builder.icmp_signed(sign, self.bits, bits(other)), INT))

    return compare


class Word:
    """A number that is known when the code runs. The result of a comparison is 0 or 1."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value):
        self.builder, self.bits = builder, value

    __add__, __radd__ = _operator("add"), _operator("add")
    __sub__, __rsub__ = _operator("sub"), _operator("sub", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul")
    __and__, __rand__ = _operator("and_"), _operator("and_")
    __or__, __ror__ = _operator("or_"), _operator("or_")
    __xor__, __rxor__ = _operator("xor"), _operator("xor")
    __lshift__, __rshift__ = _operator("shl"), _operator("ashr")
    __floordiv__ = _operator("udiv")
    __eq__, __ne__ = _comparison("=="), _comparison("!=")
    __lt__, __ge__ = _comparison("<"), _comparison(">=")
    __hash__ = None

    def __bool__(self):
        raise TypeError("This number is not known yet.")


def bits(number: Word | int) -> ir.Value:
    return number.bits if isinstance(number, Word) else INT(int(number))


def holds(condition: Word) -> ir.Value:
    """Returns a condition, 0 or 1, as LLVM's branches take it."""
    return condition.builder.trunc(condition.bits, BIT)
