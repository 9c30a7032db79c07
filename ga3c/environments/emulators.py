"""Which emulator plays an Atari game: ours, where it is proven to play as ale-py's does, or ale-py's; and where."""

from importlib.util import find_spec

from ga3c.emulator.proven import PROVEN, READ_WHAT_IS_LEFT
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings

INSTALL = ".venv/bin/python -m pip install -r ga3c/emulator/cuda/requirements.txt"
SIZES_PIXELS = range(11, 161)  # which ours shrinks to; the largest is how wide a picture is


def _obstacle(rom: str, settings: EnvironmentSettings) -> str | None:
    """Why ours cannot play it."""
    if rom not in PROVEN:
        return "ours is not proven to play this game as ale-py does"
    if settings.frame_size_pixels not in SIZES_PIXELS:
        return f"ours makes frames of {SIZES_PIXELS[0]} to {SIZES_PIXELS[-1]} pixels"
    return None


def ours(rom: str, settings: EnvironmentSettings) -> bool:
    """Raises ConfigError where ours is asked for and cannot be had."""
    obstacle = _obstacle(rom, settings)
    if obstacle and settings.emulator in ("ours", "gpu"):
        raise ConfigError(f"--emulator {settings.emulator} cannot be had: {obstacle}. Ask for auto or ale.")
    return settings.emulator != "ale" and obstacle is None


def numba_has_gpu() -> bool:
    """Whether the packages of ga3c/emulator/cuda/requirements.txt are there, and a GPU for them."""
    if find_spec("numba_cuda") is None:
        return False
    from numba import cuda

    return cuda.is_available()


def gpu_obstacle(rom: str, settings: EnvironmentSettings) -> str | None:
    """Why a GPU cannot play it, where the model has one."""
    if obstacle := _obstacle(rom, settings):
        return obstacle
    if rom in READ_WHAT_IS_LEFT:
        return "there each game begins as one did before, and in this one the game before decides how"
    if settings.sticky_action_probability and settings.fire_reset:
        return "there each game begins as one did before, which --fire-reset with sticky actions rules out"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed ({INSTALL})"
    return None if numba_has_gpu() else "Numba cannot use it (.venv/bin/python -m numba -s says why)"


def line(rom: str, settings: EnvironmentSettings) -> str | None:
    """What a run says of it; nothing where ale-py's was asked for."""
    if settings.emulator == "ale":
        return None
    return "Emulator: ours." if ours(rom, settings) else f"Emulator: ale-py's, because {_obstacle(rom, settings)}."
