"""Says whether a GPU can play a game. It loads neither a compiler nor the emulator."""

from importlib.util import find_spec

from ga3c.emulator.proven import DRAWN_CARTRIDGE_RAM, FRAMES_GO_ON, READ_WHAT_IS_LEFT
from ga3c.installation import IS_INSTALLED

PYTHON = "python" if IS_INSTALLED else ".venv/bin/python"
INSTALL = "python -m pip install 'ga3c[cuda]'"
if not IS_INSTALLED:  # uv, which makes .venv, leaves pip out
    INSTALL = f"{PYTHON} -m ensurepip && {PYTHON} -m pip install -r ga3c/emulator/cuda/requirements.txt"
COPIES = "the GPU copies how an earlier game began"


def numba_has_gpu() -> bool:
    """Returns True if the packages of ga3c/emulator/cuda/requirements.txt are installed and find a GPU."""
    if find_spec("numba_cuda") is None:
        return False
    from numba import cuda

    return cuda.is_available()


def obstacle(rom: str, is_sticky: bool, fire: str) -> str | None:
    """Returns why a GPU cannot play a game; None if it can. `fire` names the rule that presses FIRE first, or ""."""
    if rom in READ_WHAT_IS_LEFT:
        return f"{COPIES}, and in this game the beginning depends on the game before it"
    if rom in DRAWN_CARTRIDGE_RAM:
        return f"{COPIES}, and in this game the cartridge begins with new random bytes each time"
    if rom in FRAMES_GO_ON:
        return "on the GPU each frame begins a new picture, and in this game a picture may last several frames"
    if is_sticky and fire:
        return f"{COPIES}, which does not work for {fire} with sticky actions"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed ({INSTALL})"
    return None if numba_has_gpu() else f"Numba cannot use the GPU ({PYTHON} -m numba -s says why)"
