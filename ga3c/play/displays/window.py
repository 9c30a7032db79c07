"""A window that shows play, in a process of its own, as pygame does not go with TensorFlow."""

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection

from ga3c.errors import ConfigError
from ga3c.play.displays.overlay import Overlay
from ga3c.play.playing import Moment
from ga3c.play.spawned import spawn
from ga3c.text import one_line

ENLARGED = 1.5
ROOM = 0.9  # of the screen: the rest is for title bar and panels


def fitting(picture: tuple[int, int], screen: tuple[int, int]) -> tuple[int, int]:
    """Width and height of a window for pictures of this size, enlarged, or smaller where the screen is."""
    times = min([ENLARGED, *(ROOM * most / wanted for wanted, most in zip(picture, screen, strict=True) if most > 0)])
    return int(picture[0] * times), int(picture[1] * times)


class Window:
    """Shows pictures and tells the keys. The close button is the key q."""

    live, covers_output = True, False

    def __init__(self, title: str, overlay: Overlay):
        theirs, self._pictures = multiprocessing.Pipe(duplex=False)
        self._keys, keys = multiprocessing.Pipe(duplex=False)
        self._process = spawn(_show, theirs, keys, title)
        theirs.close()
        keys.close()
        self._overlay = overlay

    def show(self, moment: Moment, status: str) -> None:
        try:
            self._pictures.send(self._overlay.draw(moment, status))
        except OSError:  # it was closed; `keys` says so
            return

    def keys(self, seconds: float) -> list[tuple[str, bool]]:
        found = []
        try:
            while self._keys.poll(0.0 if found else seconds):
                found.append(self._keys.recv())
        except (EOFError, OSError):
            found.append(("q", True))
        return found

    def close(self) -> None:
        """Raises ConfigError where the window failed."""
        self._pictures.close()
        self._process.join()
        if self._process.exitcode:
            raise ConfigError("The window failed; its error stands above. --record FILE.mp4 needs no window.")


def _show(*arguments) -> None:
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    import pygame

    try:
        _draw(*arguments)
    except pygame.error as error:  # there is no display, say
        sys.exit(one_line(error))


def _draw(pictures: Connection, keys: Connection, title: str) -> None:
    import pygame

    pygame.display.init()  # no sound: not every machine has a card
    named = {getattr(pygame, f"K_{key.upper()}"): key for key in ("left", "right", "up", "down", "space", "escape")} | {
        pygame.K_PLUS: "+",
        pygame.K_KP_PLUS: "+",
        pygame.K_KP_MINUS: "-",
    }
    screen = surface = None
    while True:
        try:
            # Keys are looked for, and a window that was uncovered is drawn, while no picture comes, too.
            new = pictures.recv() if pictures.poll(0.02) else None
        except (EOFError, OSError):  # the player has ended, maybe within a picture
            return
        if new is not None:
            height, width, _ = new.shape
            if screen is None:
                desktop = (pygame.display.get_desktop_sizes() or [(0, 0)])[0]
                screen = pygame.display.set_mode(fitting((width, height), desktop), pygame.RESIZABLE)
                pygame.display.set_caption(one_line(title))
            surface = pygame.surfarray.make_surface(new.swapaxes(0, 1))
        if screen is None:
            continue
        for event in pygame.event.get():
            try:
                if event.type == pygame.QUIT:
                    keys.send(("q", True))
                elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
                    name = named.get(event.key) or pygame.key.name(event.key)
                    keys.send((name, event.type == pygame.KEYDOWN))
            except OSError:
                return
        screen.blit(pygame.transform.smoothscale(surface, screen.get_size()), (0, 0))
        pygame.display.flip()
