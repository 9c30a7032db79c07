"""Charts of characters: bars in one line or several, and curves of braille dots."""

import math
from itertools import groupby

import numpy as np
from rich.text import Text

BARS = " ▁▂▃▄▅▆▇█"
BRAILLE = 0x2800  # the character without a dot; each dot of its four rows and two columns is a bit
BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
SAMPLES = 40  # of a line for each character that it passes, so that it has no gaps where it is steep
MOST_POINTS = 20_000

Points = tuple[np.ndarray, np.ndarray]  # x and y


def chart(values: list[float], width: int, height: int) -> list[str]:
    """Bars of the values, in their order, between their lowest and their highest: `height` lines of text."""
    # Of a long history a part is enough: this is drawn every second.
    values = [value for value in values[:: 1 + len(values) // (100 * width)] if math.isfinite(value)]
    if not values:
        return [""] * height
    ends = [round(len(values) * (index + 1) / min(width, len(values))) for index in range(min(width, len(values)))]
    means = [sum(values[a:b]) / (b - a) for a, b in zip([0, *ends], ends, strict=False)]
    low, high = min(means), max(means)
    # In eighths of a line; never nothing at all, and in the middle where all are the same.
    most = 8 * height
    heights = [1 + round((most - 1) * (m - low) / (high - low)) if high > low else (most + 1) // 2 for m in means]
    lines = range(height - 1, -1, -1)
    return ["".join(BARS[min(max(h - 8 * line, 0), 8)] for h in heights) for line in lines]


def finite(x: list[float], y: list[float], most: int = MOST_POINTS) -> Points:
    """The points that can be drawn; of many a part."""
    step = 1 + min(len(x), len(y)) // most
    points = np.array([x[::step], y[::step]], float)
    return tuple(points[:, np.isfinite(points).all(axis=0)])


def curve(
    line: Points, dots: Points, size: tuple[int, int], styles: tuple[str, str]
) -> tuple[list[Text], float, float]:
    """A line before dots, from x = 0 on: lines of text, and the lowest and the highest y. `line` is not empty."""
    width, height = size
    x, y = (np.concatenate(parts) for parts in zip(line, dots, strict=True))
    ends = (0.0, x.max()), (y.min(), y.max())
    passed = np.linspace(line[0][0], line[0][-1], SAMPLES * width)
    front = _cells((passed, np.interp(passed, *line)), ends, size)
    behind = _cells(dots, ends, size)
    text = [_line(front[row], behind[row], styles) for row in range(height)]
    return text, *ends[1]


def _cells(points: Points, ends: tuple, size: tuple[int, int]) -> np.ndarray:
    """The dots of each character, as bits [height, width]."""
    width, height = size
    column, row = (_positions(*of) for of in zip(points, ends, (2 * width, 4 * height), strict=True))
    row = 4 * height - 1 - row
    cells = np.zeros((height, width), int)
    np.bitwise_or.at(cells, (row // 4, column // 2), BITS[row % 4, column % 2])
    return cells


def _positions(values: np.ndarray, ends: tuple[float, float], count: int) -> np.ndarray:
    """Whole numbers from 0 to below `count`; in the middle where all values are the same."""
    low, high = ends
    with np.errstate(all="ignore"):
        shares = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
        return np.nan_to_num(shares * (count - 1)).clip(0, count - 1).round().astype(int)


def _line(front: np.ndarray, behind: np.ndarray, styles: tuple[str, str]) -> Text:
    text = Text()
    cells = [(a or b, bool(a)) for a, b in zip(front.tolist(), behind.tolist(), strict=True)]
    for is_front, part in groupby(cells, key=lambda cell: cell[1]):
        text.append("".join(chr(BRAILLE + bits) if bits else " " for bits, _ in part), styles[not is_front])
    return text
