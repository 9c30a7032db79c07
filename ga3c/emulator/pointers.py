"""Reads, writes and calls at raw addresses, which cost a compiled function far less than arrays do.

Values are int64 in registers, whatever their width in memory. Addresses must be multiples of the width: a GPU cannot
read others. Nothing is checked; the caller keeps within its record.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _pointer(builder, base, offset, bits):
    return builder.inttoptr(builder.add(base, offset), ir.IntType(bits).as_pointer())


def _loader(bits: int, signed: bool):
    def load(typing_context, base, offset):
        def generate(context, builder, signature, arguments):
            base, offset = arguments
            value = builder.load(_pointer(builder, base, offset, bits))
            value.align = bits // 8
            if bits == 64:
                return value
            return (builder.sext if signed else builder.zext)(value, ir.IntType(64))

        return types.int64(types.int64, types.int64), generate

    return load


def _storer(bits: int):
    def store(typing_context, base, offset, value):
        def generate(context, builder, signature, arguments):
            base, offset, value = arguments
            if bits < 64:
                value = builder.trunc(value, ir.IntType(bits))
            builder.store(value, _pointer(builder, base, offset, bits)).align = bits // 8
            return cgutils.get_null_value(ir.IntType(64))

        return types.int64(types.int64, types.int64, types.int64), generate

    return store


@intrinsic
def call(typing_context, code, console, rom, picture, instructions):
    """Calls the function at an address, which takes four int64 and returns one."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)] * 4)
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return types.int64(*[types.int64] * 5), generate


def _atomic(operation: str):
    def change(typing_context, base, offset, value):
        def generate(context, builder, signature, arguments):
            base, offset, value = arguments
            return builder.atomic_rmw(operation, _pointer(builder, base, offset, 64), value, "seq_cst")

        return types.int64(types.int64, types.int64, types.int64), generate

    return change


@intrinsic
def bytes_at(typing_context, address):
    """Returns the pointer to uint8 at an address, for `numba.carray`."""

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.CPointer(types.uint8)(types.int64), generate


# Both return the old value; what other threads wrote before is seen afterwards. For cores only.
add64 = intrinsic(_atomic("add"))
exchange64 = intrinsic(_atomic("xchg"))
load8 = intrinsic(_loader(8, signed=False))
load32 = intrinsic(_loader(32, signed=True))
load64 = intrinsic(_loader(64, signed=True))
store8 = intrinsic(_storer(8))
store32 = intrinsic(_storer(32))
store64 = intrinsic(_storer(64))
