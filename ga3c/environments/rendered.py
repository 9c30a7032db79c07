"""The pictures that games draw of themselves, for people."""

from collections.abc import Sequence

import numpy as np

from ga3c.environments.game_fault import GameFault


def of_one_size(drawn: Sequence, size: tuple[int, int] | None) -> tuple[np.ndarray, tuple[int, int]]:
    """Returns pictures, uint8 [count, height, width, 3], and their size; None: that of the first. Raises GameFault."""
    pictures = [np.asarray(picture) for picture in drawn]
    for picture in pictures:
        if not (picture.ndim == 3 and picture.shape[2] == 3 and picture.size and picture.dtype == np.uint8):
            raise GameFault("render() returned no picture, uint8 [height, width, 3], in the mode rgb_array")
    height, width = size or pictures[0].shape[:2]
    return np.stack([_sized(picture, height, width) for picture in pictures]), (height, width)


def _sized(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns a picture [height, width, 3], scaled if it has another size."""
    if picture.shape[:2] == (height, width):
        return picture
    rows, columns = (np.arange(new) * old // new for new, old in zip((height, width), picture.shape, strict=False))
    return picture[rows][:, columns]


def pictures_per_second(metadata: dict) -> float:
    """Returns the game's own frame rate; 30 if it names none."""
    wanted = metadata.get("render_fps")
    return float(wanted) if isinstance(wanted, int | float) and 0 < wanted <= 1000 else 30.0
