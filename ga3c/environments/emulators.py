"""Selects the emulator of an Atari game: ours, if it is proven to play the game as ale-py's does, or ale-py's."""

from importlib.util import find_spec

from ga3c.emulator.proven import PROVEN, READ_WHAT_IS_LEFT
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings

INSTALL = ".venv/bin/python -m pip install -r ga3c/emulator/cuda/requirements.txt"
SIZES_PIXELS = range(11, 161)  # frame sizes of our emulator; the largest is the width of a picture


def _obstacle(rom: str, settings: EnvironmentSettings) -> str | None:
    """Returns why our emulator cannot play a game; None if it can."""
    if rom not in PROVEN:
        return "ours is not proven to play this game as ale-py does"
    if settings.frame_size_pixels not in SIZES_PIXELS:
        return f"ours makes frames of {SIZES_PIXELS[0]} to {SIZES_PIXELS[-1]} pixels"
    return None


def ours(rom: str, settings: EnvironmentSettings) -> bool:
    """Returns True if our emulator plays the game. Raises ConfigError if it was asked for and cannot."""
    obstacle = _obstacle(rom, settings)
    if obstacle and settings.emulator in ("ours", "gpu"):
        raise ConfigError(f"--emulator {settings.emulator} cannot be had: {obstacle}. Ask for auto or ale.")
    return settings.emulator != "ale" and obstacle is None


def numba_has_gpu() -> bool:
    """Returns True if the packages of ga3c/emulator/cuda/requirements.txt are installed and find a GPU."""
    if find_spec("numba_cuda") is None:
        return False
    from numba import cuda

    return cuda.is_available()


def gpu_obstacle(rom: str, settings: EnvironmentSettings) -> str | None:
    """Returns why a GPU cannot play a game; None if it can. It assumes that the model has a GPU."""
    if obstacle := _obstacle(rom, settings):
        return obstacle
    if settings.observation == "ram":
        return "there each game shows its picture (--observation ram)"
    if rom in READ_WHAT_IS_LEFT:
        return "there each game begins as one did before, and in this one the game before decides how"
    if settings.sticky_action_probability and settings.fire_reset:
        return "there each game begins as one did before, which --fire-reset with sticky actions rules out"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed ({INSTALL})"
    return None if numba_has_gpu() else "Numba cannot use it (.venv/bin/python -m numba -s says why)"


def line(rom: str, settings: EnvironmentSettings) -> str | None:
    """Returns the line about the emulator that a run prints; None if ale-py's was asked for."""
    if settings.emulator == "ale":
        return None
    return "Emulator: ours." if ours(rom, settings) else f"Emulator: ale-py's, because {_obstacle(rom, settings)}."
