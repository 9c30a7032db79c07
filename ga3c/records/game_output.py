"""The output of games: its first lines go to the console, the rest to a file of the run."""

import contextlib
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from ga3c.environments.checked import NOTED, OWN
from ga3c.records.files import has_something, open_to_write, write
from ga3c.text import harmless, place

SHOWN_LINES, MOST_BYTES = 40, 10_000_000
# So many lines of the traceback that a crashed process leaves are always shown.
FATAL, FATAL_LINES = "Fatal Python error", 30
TRACEBACK = re.compile(r'Fatal Python error|Current thread|Thread 0x|  File "|  \.\.\.|Extension modules')
LONGEST_LINE = 2_000  # letters; a longer line is cut into several
READ_BYTES, LOOK_SECONDS = 65_536, 0.2
END_SECONDS = 2.0


class GameOutput:
    """Takes what games print. Safe to call from every thread."""

    def __init__(self, path: Path, say: Callable[[str], None]):
        self._path, self._say, self._lock = path, say, threading.Lock()
        self._left, self._of_traceback, self._half = SHOWN_LINES, 0, ""
        self._own = set(NOTED)  # the server has had a look at the game
        self._told = self._is_full = self._ending = False
        self._file: int | None = None  # it is opened when there is something to write
        self._thread: threading.Thread | None = None

    def follow(self, pipe: int) -> None:
        """Reads the pipe that the standard streams of all agents lead to, until `finish`."""
        own = os.dup(pipe)  # the other may be closed, and its number be another file's, before the thread has ended
        self._thread = threading.Thread(target=self._read, args=(own,), name="game output", daemon=True)
        self._thread.start()

    def take_streams(self) -> None:
        """Takes what all threads but the main one print: games play in one of them."""
        sys.stdout, sys.stderr = _Apart(sys.stdout, self), _Apart(sys.stderr, self)

    def finish(self) -> None:
        """Shows or writes all that is left, when no game plays any more."""
        self._ending = True
        if self._thread:
            self._thread.join(END_SECONDS)
        if self._half:
            self.take("\n")
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file, self._is_full = None, True

    def _read(self, pipe: int) -> None:
        try:
            self._take_all(pipe)
        finally:
            os.close(pipe)

    def _take_all(self, pipe: int) -> None:
        while True:
            ending = self._ending  # before the look: what is printed by then is seen
            if has_something(pipe, LOOK_SECONDS):
                if not (data := os.read(pipe, READ_BYTES)):
                    return
                self.take(data.decode(errors="replace"))
            elif ending:
                return

    def take(self, text: str) -> None:
        with self._lock:
            *lines, self._half = (self._half + text).split("\n")
            if len(self._half) > LONGEST_LINE:
                lines, self._half = [*lines, self._half], ""
            kept = [line for line in lines if not self._shown(line)]
            if kept:
                with contextlib.suppress(OSError):  # the disk is full, or the directory is gone: the lines are lost
                    self._keep("".join(f"{harmless(line)}\n" for line in kept).encode())

    def _shown(self, line: str) -> bool:
        if line.startswith(OWN) and len(self._own) < SHOWN_LINES:  # each agent says the same
            if line not in self._own:
                self._own.add(line)
                self._say(line.removeprefix(OWN))
            return True
        if line.startswith(FATAL):
            self._of_traceback = FATAL_LINES
        if self._of_traceback and TRACEBACK.match(line):
            self._of_traceback -= 1
        elif self._left:
            self._left -= 1
        else:
            return self._refer()
        self._say(f"Game: {line}")
        return True

    def _refer(self) -> bool:
        if not self._told:
            self._told = True
            self._say(f"The games print more than {SHOWN_LINES} lines: the rest is in {place(self._path)}.")
        return False

    def _keep(self, content: bytes) -> None:
        """Raises OSError."""
        if self._is_full:
            return
        if self._file is None:
            self._file = open_to_write(self._path, os.O_WRONLY | os.O_APPEND)
        room = MOST_BYTES - os.fstat(self._file).st_size
        write(self._file, content[: max(0, room)])
        if len(content) > room:
            self._is_full = True
            write(self._file, f"\n(The rest is left out: {MOST_BYTES / 1e6:g} MB are enough.)\n".encode())


class _Apart:
    """A standard stream that passes on what the main thread prints, and hands the rest to a GameOutput."""

    def __init__(self, stream, output: GameOutput):
        self._stream, self._output = stream, output

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if threading.current_thread() is threading.main_thread():
            return self._stream.write(text)
        self._output.take(text)
        return len(text)

    def writelines(self, lines) -> None:
        self.write("".join(lines))
