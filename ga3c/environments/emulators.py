"""Selects the emulator of an Atari game: ours, if it is proven to play the game as ale-py's does, or ale-py's."""

from ga3c.atari import on_gpu
from ga3c.atari.rules import SIZES_PIXELS
from ga3c.emulator.proven import PROVEN
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings


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
        raise ConfigError(f"--emulator {settings.emulator} is not possible: {obstacle}. Use --emulator auto or ale.")
    return settings.emulator != "ale" and obstacle is None


def gpu_obstacle(rom: str, settings: EnvironmentSettings) -> str | None:
    """Returns why a GPU cannot play a game; None if it can. It assumes that the model has a GPU."""
    if obstacle := _obstacle(rom, settings):
        return obstacle
    if settings.observation == "ram":
        return "on the GPU each game shows its picture, and not its memory (--observation ram)"
    return on_gpu.obstacle(rom, settings.sticky_action_probability > 0, "--fire-reset" * settings.fire_reset)


def line(rom: str, settings: EnvironmentSettings) -> str | None:
    """Returns the line about the emulator that a run prints; None if ale-py's was asked for."""
    if settings.emulator == "ale":
        return None
    return "Emulator: ours." if ours(rom, settings) else f"Emulator: ale-py's, because {_obstacle(rom, settings)}."
