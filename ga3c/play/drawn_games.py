"""Gymnasium games that are looked at, in a process of their own, as OpenGL does not go with TensorFlow."""

import contextlib
import multiprocessing
import os
import sys
import warnings
from ctypes.util import find_library
from multiprocessing.connection import Connection

import numpy as np

from ga3c.environments import gymnasium_games
from ga3c.environments.checked import blaming
from ga3c.errors import ConfigError
from ga3c.play.spawned import spawn
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings

END_SECONDS = 2.0
DRAWS = ("make", "pictures")  # what needs OpenGL, where a game does
HELP = "MuJoCo draws with OpenGL: install libegl1 (or libosmesa6). Training and evaluate need none."


def has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class DrawnGames:
    """Games of Gymnasium or PettingZoo with pictures. Raises ConfigError, anywhere, where the game's own code fails."""

    def __init__(self, name: str, settings: EnvironmentSettings, count: int, seed: int):
        self._name = name
        self._line, theirs = multiprocessing.Pipe()
        own = named_objects.packed([name, *settings.wrapper])
        self._process = spawn(_play, theirs, own, name, settings, count, seed)
        theirs.close()
        self.spec, self.pictures_per_second = self._answer()

    def reset(self) -> np.ndarray:
        return self._ask("reset")

    def step(self, actions: np.ndarray) -> tuple:
        return self._ask("step", actions)

    def pictures(self) -> np.ndarray:
        return self._ask("pictures")

    def _ask(self, what: str, *arguments):
        with contextlib.suppress(OSError):  # it has died: there is no answer
            self._line.send((what, arguments))
        return self._answer(what)

    def _answer(self, what: str = "make"):
        try:
            answer = self._line.recv()
        except (EOFError, OSError):
            self._process.join()
            answer = ConfigError(f"The process of the game '{self._name}' died ({self._process.exitcode}).")
        if not isinstance(answer, ConfigError):
            return answer
        self.close()
        # The module is loaded here, too, if it is MuJoCo's: the agent's games were made to see what they are.
        raise ConfigError(f"{answer} {HELP}" if what in DRAWS and "mujoco" in sys.modules else str(answer))

    def close(self) -> None:
        self._line.close()
        self._process.join(END_SECONDS)
        self._process.kill()


def _without_display() -> str:
    """Returns the library that MuJoCo draws with where there is no screen."""
    return "osmesa" if find_library("OSMesa") and not find_library("EGL") else "egl"


def _play(line: Connection, own: bytes, name: str, settings: EnvironmentSettings, count: int, seed: int) -> None:
    """The process: does what it is asked for until nobody asks any more. `own`: objects that no module has."""
    multiprocessing.current_process().daemon = False  # a daemon may have no children, and a game may want some
    warnings.filterwarnings("ignore", module="glfw")  # what follows from them is an error, and says the same
    if not has_display():
        os.environ.setdefault("MUJOCO_GL", _without_display())
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # SDL complains of the others
    try:
        with blaming(f"Cannot draw the game '{name}'"):
            named_objects.unpack(own)
            games = gymnasium_games(name, settings, count, seed, render_mode="rgb_array")
        line.send((games.spec, games.pictures_per_second))
        while True:
            what, arguments = line.recv()
            with blaming(f"Cannot draw the game '{name}'" if what in DRAWS else f"The game '{name}' failed"):
                answer = getattr(games, what)(*arguments)
            line.send(answer)
    except ConfigError as error:
        line.send(error)
    except (EOFError, OSError):
        games.close()
