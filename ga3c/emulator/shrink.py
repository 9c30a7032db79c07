"""Turns two pictures into the small grey frame that a network sees: grey, maximum of both, scaled by area.

It computes OpenCV's INTER_AREA in whole numbers: a pixel of the small frame is the mean of a rectangle of the picture,
whose pixels are weighted by the covered area. If the mean lies exactly between two levels, the result depends on
OpenCV's rounding; then it is computed again in single precision, in OpenCV's order.
"""

from math import gcd
from typing import NamedTuple

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.picture import WIDTH

WORDS = WIDTH // 8  # of a line


class Cover(NamedTuple):
    """The pixels of a picture's side that each pixel of the small frame covers: `most` at most, from `first` on."""

    first: np.ndarray  # int32 [size]
    parts: np.ndarray  # uint32 [most, size]: the weight of each; 0 where it covers fewer
    shares: np.ndarray  # float32 [most, size]: the weights, with the sum 1
    whole: int  # the sum of a pixel's parts


def cover(length: int, size: int) -> Cover:
    """Returns the cover of `length` pixels by `size`, which is not larger. A picture's pixel has `step` parts."""
    step, whole = size // gcd(length, size), length // gcd(length, size)
    starts = np.arange(size) * whole
    first, last = starts // step, (starts + whole - 1) // step
    most = int((last - first).max()) + 1
    first = np.minimum(first, length - most)
    pixel = (first + np.arange(most)[:, None]) * step
    parts = np.maximum(np.minimum(pixel + step, starts + whole) - np.maximum(pixel, starts), 0)
    return Cover(first.astype(np.int32), parts.astype(np.uint32), (parts / whole).astype(np.float32), whole)


@compiled
def brighter(first, second, grey, out):
    """Writes to `out` the brighter grey of two pictures at each pixel: uint8 [height * 160].

    `grey` is indexed by colour (`palette`). Most words of 8 pixels equal the word before them or the word above them.
    """
    a, b, merged = first.view(np.uint64), second.view(np.uint64), out.view(np.uint64)
    for word in range(len(a)):
        if word > 0 and a[word] == a[word - 1] and b[word] == b[word - 1]:
            merged[word] = merged[word - 1]
        elif word >= WORDS and a[word] == a[word - WORDS] and b[word] == b[word - WORDS]:
            merged[word] = merged[word - WORDS]
        else:
            for pixel in range(8 * word, 8 * word + 8):
                out[pixel] = max(grey[first[pixel]], grey[second[pixel]])


@compiled
def brighten(picture, grey, out):
    """Raises `out` to the grey of one more picture where that is brighter: uint8 [pixels], both."""
    for pixel in range(len(out)):
        out[pixel] = max(out[pixel], grey[picture[pixel]])


@compiled
def _in_single_precision(picture, y, x, y_shares, x_shares):
    total = np.float32(0)
    for row in range(len(y_shares)):
        line = np.float32(0)
        for column in range(len(x_shares)):
            line += np.float32(picture[y + row, x + column]) * x_shares[column]
        total += line * y_shares[row]
    return np.rint(total)


@compiled
def shrink(picture, rows, columns, line, totals, out):
    """Scales uint8 [height, width] to uint8 [size, size]; `rows` and `columns` are Covers.

    `line` (uint32 [width]) and `totals` (uint32 [size]) are buffers.
    """
    whole = np.uint64(rows.whole * columns.whole)
    half = np.uint32(whole // 2)
    inverse = np.uint64((1 << 44) // (rows.whole * columns.whole) + 1)  # exact here, and faster than a division
    for row in range(len(rows.first)):
        y = rows.first[row]
        for x in range(len(line)):
            line[x] = rows.parts[0, row] * picture[y, x]
        for part in range(1, len(rows.parts)):
            weight = rows.parts[part, row]
            for x in range(len(line)):
                line[x] += weight * picture[y + part, x]
        totals[:] = half
        for part in range(len(columns.parts)):
            for column in range(len(totals)):
                x = np.uint64(columns.first[column] + part)  # a signed index might count from the end: twice as slow
                totals[column] += columns.parts[part, column] * line[x]
        ties = 0
        for column in range(len(totals)):
            total = np.uint64(totals[column])
            level = (total * inverse) >> np.uint64(44)
            ties += level * whole == total
            out[row, column] = level
        if ties:
            for column in range(len(totals)):
                if out[row, column] * whole == totals[column]:
                    x = columns.first[column]
                    out[row, column] = _in_single_precision(
                        picture, y, x, rows.shares[:, row], columns.shares[:, column]
                    )


@compiled
def push(frame, states):
    """Appends the newest frame (uint8 [size, size]) to a state (uint8 [size, size, stack]) and drops the oldest."""
    flat, pixels, stack = states.reshape(-1), frame.reshape(-1), states.shape[2]
    if stack == 4:  # all frames of a pixel are one word
        words = flat.view(np.uint32)
        for pixel in range(len(pixels)):
            words[pixel] = words[pixel] >> np.uint32(8) | np.uint32(pixels[pixel]) << np.uint32(24)
        return
    for i in range(len(flat) - 1):
        flat[i] = flat[i + 1]
    for pixel in range(len(pixels)):
        flat[pixel * stack + stack - 1] = pixels[pixel]
