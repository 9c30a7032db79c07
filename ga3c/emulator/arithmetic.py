"""The 6507's sums, binary and decimal, with the flags as ALE has them."""

import numpy as np

from ga3c.emulator.compiled import compiled

# A byte's two digits as a number, and a number's last two digits as a byte; also where a digit is above nine.
FROM_DECIMAL = np.array([(b >> 4) * 10 + (b & 15) for b in range(256)], np.int64)
TO_DECIMAL = np.array([(n % 100 // 10) << 4 | n % 10 for n in range(256)], np.int64)


@compiled
def add(a: int, operand: int, carry: int, decimal: int):
    """Returns (sum, carry, overflow)."""
    if decimal:
        total = FROM_DECIMAL[a] + FROM_DECIMAL[operand] + carry
        result = TO_DECIMAL[total & 0xFF]
        overflow = ((a ^ result) & 0x80) and ((result ^ operand) & 0x80)
        return result, np.int64(total > 99), np.int64(overflow != 0)
    total = a + operand + carry
    return total & 0xFF, total >> 8, (~(a ^ operand) & (a ^ total)) >> 7 & 1


@compiled
def subtract(a: int, operand: int, carry: int, decimal: int):
    """Returns (difference, carry, overflow)."""
    if decimal:
        difference = FROM_DECIMAL[a] - FROM_DECIMAL[operand] - (1 - carry)
        if difference < 0:
            difference += 100
        result = TO_DECIMAL[difference & 0xFF]
        overflow = ((a ^ result) & 0x80) and ((result ^ operand) & 0x80)
        return result, np.int64(a >= operand + 1 - carry), np.int64(overflow != 0)
    total = a + (operand ^ 0xFF) + carry
    return total & 0xFF, total >> 8, (~(a ^ operand ^ 0xFF) & (a ^ total)) >> 7 & 1
