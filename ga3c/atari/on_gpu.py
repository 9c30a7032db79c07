"""Says whether a GPU can play a game. It loads neither a compiler nor the emulator."""

from importlib.util import find_spec

from ga3c.emulator.proven import DRAWN_CARTRIDGE_RAM, FRAMES_GO_ON, READ_WHAT_IS_LEFT
from ga3c.installation import IS_INSTALLED

PYTHON = "python" if IS_INSTALLED else ".venv/bin/python"
WHAT = "'ga3c[cuda]'" if IS_INSTALLED else "-r ga3c/emulator/cuda/requirements.txt"


def numba_has_gpu() -> bool:
    """Returns True if the packages of ga3c/emulator/cuda/requirements.txt are installed and find a GPU."""
    if find_spec("numba_cuda") is None:
        return False
    from numba import cuda

    return cuda.is_available()


def obstacle(rom: str, is_sticky: bool, fire: str) -> str | None:
    """Returns why a GPU cannot play a game; None if it can. `fire` names the rule that presses FIRE first, or ""."""
    if rom in READ_WHAT_IS_LEFT:
        return "there each game begins as one did before, and in this one the game before decides how"
    if rom in DRAWN_CARTRIDGE_RAM:
        return "there each game begins as one did before, and in this one the RAM of the cartridge is drawn"
    if rom in FRAMES_GO_ON:
        return "there each frame begins a new picture, and in this game some frames go on"
    if is_sticky and fire:
        return f"there each game begins as one did before, which {fire} with sticky actions rules out"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is not installed ({PYTHON} -m pip install {WHAT})"
    return None if numba_has_gpu() else f"Numba cannot use it ({PYTHON} -m numba -s says why)"
