"""A terminal for a program to run in, and a person's eyes and fingers at it."""

import contextlib
import os
import select
import signal
import time

import ptyprocess
import pyte

from tests import program
from tests.program import HANG_SECONDS

KEYS = {"up": b"\x1b[A", "down": b"\x1b[B", "right": b"\x1b[C", "left": b"\x1b[D", "escape": b"\x1b"}


SHELL = '"$@"; read'
JOBS = 'set -m; "$@"; read; fg; read'  # once it was stopped, Enter lets it go on


class Terminal:
    """`screen.display` are the lines to be read; `output` is all that came. `shell`: the program is a shell's child,
    which does this."""

    def __init__(self, *arguments, rows=24, columns=80, env=None, shell=""):
        environment = os.environ | {"PYTHONPATH": str(program.ROOT), "TERM": "xterm-256color"} | (env or {})
        for name in ("NO_COLOR", "COLUMNS", "LINES", "DISPLAY", "WAYLAND_DISPLAY"):
            environment.pop(name, None)
        command = ["bash", "-c", shell, "bash"] * bool(shell) + program.command(*arguments)
        self.process = ptyprocess.PtyProcess.spawn(
            command, cwd=str(program.ROOT), env=environment, dimensions=(rows, columns)
        )
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.output = b""

    def text(self) -> str:
        return "\n".join(self.screen.display)

    def look(self, seconds: float = 0.05) -> bool:
        """Reads what has come. False if there comes no more: the program has ended."""
        if not select.select([self.process.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.process.fd, 65536)
        except OSError:
            return False
        self.output += data
        self._stream.feed(data)
        return bool(data)

    def wait_for(self, condition, seconds: float = HANG_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.look() or condition(), f"it ended:\n{self.text()}"
            assert time.monotonic() < deadline, f"did not happen in time:\n{self.text()}"

    def press(self, key: str) -> None:
        os.write(self.process.fd, KEYS.get(key, key.encode()))

    def resize(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def end(self, seconds: float = HANG_SECONDS) -> int:
        """Waits until the program ends by itself. Returns its exit status."""
        deadline = time.monotonic() + seconds
        while self.look():
            assert time.monotonic() < deadline, f"did not end:\n{self.text()}"
        self.process.wait()
        return self.process.exitstatus if self.process.exitstatus is not None else 128 + self.process.signalstatus

    def kill(self) -> None:
        """The program, and what it has started and stopped."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def is_clean(self) -> bool:
        """The program's own screen is left, the cursor to be seen."""
        left, entered = self.output.rfind(b"\x1b[?1049l"), self.output.rfind(b"\x1b[?1049h")
        shown, hidden = self.output.rfind(b"\x1b[?25h"), self.output.rfind(b"\x1b[?25l")
        return left >= entered and shown >= hidden
