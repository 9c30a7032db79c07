"""A video file of play."""

from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.play.displays.overlay import Overlay
from ga3c.play.playing import Moment


class Video:
    """Writes pictures to an MP4 or GIF file."""

    live = covers_output = False

    def __init__(self, path: Path, frames_per_second: float, overlay: Overlay):
        import imageio.v2 as imageio

        more = {"macro_block_size": 2, "quality": 8} if path.suffix == ".mp4" else {"loop": 0}
        speed = {"fps": frames_per_second} if path.suffix == ".mp4" else {"duration": 1000 / frames_per_second}
        self._path, self._overlay = path, overlay
        self._writer = imageio.get_writer(path, **speed, **more)

    def show(self, moment: Moment, status: str) -> None:
        try:
            self._writer.append_data(self._overlay.draw(moment, status))
        except OSError as error:  # the disk is full, or ffmpeg has ended
            raise ConfigError(f"Cannot write {self._path}: {error}.") from error

    def keys(self, seconds: float) -> list[tuple[str, bool]]:
        """Nobody presses any."""
        return []

    def close(self) -> None:
        self._writer.close()
