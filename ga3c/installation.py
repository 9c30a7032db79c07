"""The two ways to have the program: its repository, from which ./run.sh starts it, or an installed package."""

from importlib.util import find_spec
from pathlib import Path

from ga3c.errors import ConfigError

SOURCES = Path(__file__).resolve().parent.parent  # the folder that holds the package
IS_INSTALLED = not (SOURCES / "run.sh").is_file()


def results() -> Path:
    """Returns the folder of all runs: that of the repository, or for a package that of the working directory."""
    try:
        return (Path.cwd() if IS_INSTALLED else SOURCES) / "results"
    except OSError:  # the working directory is gone
        return Path("results")


def as_called(text: str) -> str:
    """Returns a text in which the commands have the name under which they are called here."""
    return text.replace("./run.sh", "ga3c").replace("./play.sh", "ga3c play") if IS_INSTALLED else text


def check_ray(flag: str) -> None:
    """Raises ConfigError where Ray is missing, which `flag` needs. Loads nothing."""
    if find_spec("ray") is None:
        how = how_to_install("cluster").replace("./run.sh", "./run.sh --cluster local --steps 1000")
        raise ConfigError(f"{flag} needs Ray, which is not installed: {how}.")


def how_to_install(extra: str) -> str:
    """Returns what installs optional packages, for the end of a sentence."""
    return f"pip install 'ga3c[{extra}]' installs it" if IS_INSTALLED else "./run.sh installs it"
