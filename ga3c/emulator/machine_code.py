"""Where the emulator's machine code lies, and whether it is there. This file loads no compiler."""

import contextlib
import os
import platform
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

_FOLDER = Path(__file__).parent
_IN_REPOSITORY = (_FOLDER.parents[1] / "run.sh").is_file()


def cache_directory() -> str:
    """Returns the directory for machine code; "" for that beside the sources, where they lie in their repository.

    An installed package is often read-only, and nothing is to be left in its folder: it has one of the user's.
    """
    if _IN_REPOSITORY:
        return ""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    folder = cache if os.path.isabs(cache) else os.path.expanduser("~/.cache")
    return os.path.join(folder, "ga3c") if os.path.isabs(folder) else ""


def sources() -> str:
    """Returns a hash of all files of this folder and of `cuda`."""
    files = sorted(_FOLDER.glob("**/*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def is_ready() -> bool:
    """Returns True if all code that each game needs has been compiled here, by this Python for these cores."""
    with contextlib.suppress(OSError):
        return _note().read_text(encoding="utf-8") == _conditions()
    return False


def note_ready() -> None:
    """Notes that it has been compiled."""
    with contextlib.suppress(OSError):  # a folder that cannot be written to: the next start looks for itself
        _note().write_text(_conditions(), encoding="utf-8")


def _note() -> Path:
    return (Path(cache_directory()) if cache_directory() else _FOLDER / "__pycache__") / "emulator-is-compiled"


def _conditions() -> str:
    """Returns what machine code depends on."""
    own_cache = os.environ.get("NUMBA_CACHE_DIR", "")
    return f"{sources()} {version('numba')} {sys.version} {own_cache} {_cores()}"


def _cores() -> str:
    """Returns the kind of the cores, with their instructions."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
        return " ".join(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part")))
    return f"{platform.machine()} {platform.processor()}"
