"""A process beside the player's: OpenGL, or pygame, and TensorFlow crash when they share one."""

import multiprocessing
import signal
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess

from ga3c.settings.named_objects import without_main


def spawn(target: Callable[..., None], *arguments) -> BaseProcess:
    """Starts a process that ends with this one. It ignores Ctrl-C, which is for the player: from its first moment, or
    where this is not called by the main thread, once it has loaded what it needs."""
    process = multiprocessing.get_context("spawn").Process(target=_shielded, args=(target, *arguments), daemon=True)
    if threading.current_thread() is not threading.main_thread():  # only there signals can be set
        with without_main():
            process.start()
        return process
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with without_main():
            process.start()
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    return process


def _shielded(target: Callable[..., None], *arguments) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    target(*arguments)
