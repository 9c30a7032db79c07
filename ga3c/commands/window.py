"""A window that shows pictures, in a process of its own: pygame and TensorFlow crash when they share one."""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection

import numpy as np

SCALE = 3


class Closed(Exception):
    """Somebody closed the window."""


class Window:
    """Shows pictures at the game's own speed; Escape, q or the close button end it."""

    def __init__(self, title: str, frames_per_second: float):
        processes = multiprocessing.get_context("spawn")
        theirs, self._pictures = processes.Pipe(duplex=False)
        self._process = processes.Process(target=_show, args=(theirs, title, frames_per_second), daemon=True)
        self._process.start()
        theirs.close()

    def show(self, picture: np.ndarray) -> None:
        """uint8 [height, width, 3]. Waits while the pictures before it are still to be seen. Raises Closed."""
        try:
            self._pictures.send(picture)
        except OSError:
            raise Closed from None

    def close(self) -> None:
        """Waits until the last picture was seen. Raises RuntimeError where the window failed."""
        self._pictures.close()
        self._process.join()
        if self._process.exitcode:
            raise RuntimeError("The window failed; its error stands above. --record FILE.mp4 needs no window.")


def _show(pictures: Connection, title: str, frames_per_second: float) -> None:
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    import pygame

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the player
    pygame.display.init()  # no sound: not every machine has a card
    clock, screen = pygame.time.Clock(), None
    while True:
        try:
            picture = pictures.recv()
        except EOFError:
            return
        if screen is None:
            screen = pygame.display.set_mode((picture.shape[1] * SCALE, picture.shape[0] * SCALE), pygame.RESIZABLE)
            pygame.display.set_caption(title)
        for event in pygame.event.get():
            key = event.key if event.type == pygame.KEYDOWN else None
            if event.type == pygame.QUIT or key in (pygame.K_ESCAPE, pygame.K_q):
                return
        surface = pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        screen.blit(pygame.transform.scale(surface, screen.get_size()), (0, 0))
        pygame.display.flip()
        clock.tick(frames_per_second)
