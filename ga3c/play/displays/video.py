"""A video file of play."""

import math
from pathlib import Path

import numpy as np
from PIL import Image

from ga3c.errors import ConfigError
from ga3c.play.displays.overlay import Overlay
from ga3c.play.playing import Moment
from ga3c.text import one_line

GIF_BYTES = 600_000_000  # of pictures in memory, as a GIF is written when its last picture is known
GIF_PICTURES_PER_SECOND = 50  # at the most: browsers show faster ones slowly
GIF_HUNDREDTHS = 65_535  # of a picture, at the most: it is a number of 16 bits


class Gif:
    """Collects pictures and writes them all when it is closed. Those beyond GIF_BYTES are left out.

    Times in a GIF are whole hundredths of a second. So pictures last for different times, whose sum is right.
    """

    def __init__(self, path: Path, frames_per_second: float):
        self._path, self._every = path, math.ceil(frames_per_second / GIF_PICTURES_PER_SECOND)
        self._hundredths = min(100 * self._every / frames_per_second, GIF_HUNDREDTHS)  # of a picture
        self._pictures, self._bytes, self._given, self.is_full = [], 0, 0, False

    def append_data(self, picture: np.ndarray) -> None:
        """Takes a picture: uint8, (height, width, 3)."""
        self._given += 1
        if (self._given - 1) % self._every:
            return
        height, width, _ = picture.shape
        self.is_full |= self._bytes + height * width > GIF_BYTES
        if self.is_full:
            return
        self._bytes += height * width
        self._pictures.append(Image.fromarray(picture).quantize(dither=Image.Dither.NONE))

    def close(self) -> None:
        """Says what it does, as this takes some seconds, and most of a minute at the most."""
        if not self._pictures:
            return
        more = ""
        if self.is_full:
            more = f" with the first {len(self._pictures) * self._hundredths / 100:.0f} s; an .mp4 has whole games"
        print(f"Writing {one_line(self._path)}{more} ...", flush=True)
        ends = np.round(np.arange(len(self._pictures) + 1) * self._hundredths)
        milliseconds = (10 * np.diff(ends)).astype(int).tolist()
        how = {"save_all": True, "append_images": self._pictures[1:], "loop": 0}
        self._pictures[0].save(self._path, duration=milliseconds, **how)


class Video:
    """Writes pictures to an MP4 or GIF file."""

    live = covers_output = False

    def __init__(self, path: Path, frames_per_second: float, overlay: Overlay):
        import imageio.v2 as imageio

        self._path, self._overlay = path, overlay
        if path.suffix == ".gif":
            self._writer = Gif(path, frames_per_second)
        else:
            self._writer = imageio.get_writer(path, fps=frames_per_second, macro_block_size=2, quality=8)

    def show(self, moment: Moment, status: str) -> None:
        if isinstance(self._writer, Gif) and self._writer.is_full:
            return
        self._try(self._writer.append_data, self._overlay.draw(moment, status))

    def keys(self, seconds: float) -> list[tuple[str, bool]]:
        """Nobody presses any."""
        return []

    def close(self) -> None:
        self._try(self._writer.close)

    def _try(self, write, *picture: np.ndarray) -> None:
        try:
            write(*picture)
        except RuntimeError as error:  # imageio's, where there is no ffmpeg
            raise ConfigError(
                f"Cannot write {self._path}: {' '.join(str(error).split())} A .gif needs no ffmpeg."
            ) from error
        except OSError as error:  # the disk is full, or ffmpeg has ended
            raise ConfigError(f"Cannot write {self._path}: {error}.") from error
