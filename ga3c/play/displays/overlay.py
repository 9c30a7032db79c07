"""The picture of play: the games, and beside them what the agent thinks."""

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ga3c.play.playing import Moment

ENLARGED = 2  # the game's own pixels
PANEL, STRIP = 260, 18  # pixels: width beside one game, height below each of several
BACK, QUIET, BRIGHT, MARK = (18, 20, 24), (130, 136, 146), (236, 239, 244), (86, 182, 194)


class Overlay:
    """Draws moments of a game with these actions. `plain`: the games alone."""

    def __init__(self, title: str, action_names: list[str], plain: bool = False):
        self._title, self._names, self._plain = title, action_names, plain
        self._font, self._large = ImageFont.load_default(13), ImageFont.load_default(18)

    def draw(self, moment: Moment, status: str) -> np.ndarray:
        """uint8 [height, width, 3], both even."""
        if len(moment.pictures) > 1:
            return self._grid(moment)
        picture = _enlarged(moment.pictures[0])
        if self._plain:
            return picture
        return np.hstack([picture, self._panel(moment, status, len(picture))])

    def _grid(self, moment: Moment) -> np.ndarray:
        """Tiles in rows, as near to a square as can be."""
        count = len(moment.pictures)
        columns = math.ceil(math.sqrt(count))
        tiles = [self._tile(moment, game) for game in range(count)]
        tiles += [np.full_like(tiles[0], BACK)] * (-count % columns)
        return np.vstack([np.hstack(tiles[row : row + columns]) for row in range(0, len(tiles), columns)])

    def _tile(self, moment: Moment, game: int) -> np.ndarray:
        large = len(moment.pictures) <= 4
        picture = _enlarged(moment.pictures[game], ENLARGED if large else 1)
        if self._plain:
            return picture
        strip = Image.new("RGB", (picture.shape[1], STRIP), BACK)
        text = f"score {moment.scores[game]:g}"
        ImageDraw.Draw(strip).text((4, 1), text, BRIGHT if not moment.ended[game] else MARK, self._font)
        return np.vstack([picture, np.asarray(strip)])

    def _panel(self, moment: Moment, status: str, height: int) -> np.ndarray:
        image = Image.new("RGB", (PANEL, height), BACK)
        draw, width = ImageDraw.Draw(image), PANEL - 24
        draw.text((12, 10), self._title, BRIGHT, self._large)
        draw.text((12, 36), f"score {moment.scores[0]:g}   step {moment.steps[0]:,}", BRIGHT, self._font)
        draw.text((12, 56), status, QUIET, self._font)
        curve_top = height - 96
        row = min(22, (curve_top - 110) // len(self._names))
        if row >= 8:
            draw.text((12, 80), moment.shares_of, QUIET, self._font)
            font = ImageFont.load_default(min(13, row))
            bars = max(118, 20 + math.ceil(max(font.getlength(name) for name in self._names)))
            for action, (name, share) in enumerate(zip(self._names, moment.shares[0], strict=True)):
                y = 100 + action * row
                taken = moment.taken[0, action]
                colour = MARK if taken else QUIET
                draw.rectangle((bars, y + 2, bars + (width + 12 - bars) * float(share), y + row - 3), colour)
                draw.text((12, y), name, BRIGHT if taken else QUIET, font)
        draw.text((12, curve_top), f"value {moment.values[0]:.2f}", QUIET, self._font)
        _curve(draw, moment.history, (12, curve_top + 22, 12 + width, height - 12))
        return np.asarray(image)


def _curve(draw: ImageDraw.ImageDraw, values: list[float], box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    draw.line((left, bottom, right, bottom), QUIET)
    low, high = min(values), max(values)
    scale = (bottom - top) / (high - low) if high > low else 0.0
    step = (right - left) / max(len(values) - 1, 100)
    points = [(left + i * step, bottom - (value - low) * scale) for i, value in enumerate(values)]
    if len(points) > 1:
        draw.line(points, MARK, 2)


def _enlarged(picture: np.ndarray, times: int = ENLARGED) -> np.ndarray:
    """Returns the picture with even sides, as video encoders want them."""
    large = picture.repeat(times, axis=0).repeat(times, axis=1)
    return np.pad(large, ((0, large.shape[0] % 2), (0, large.shape[1] % 2), (0, 0)))
