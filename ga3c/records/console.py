"""The console: one live line on a terminal, or a whole screen; plain lines anywhere else."""

import collections
import errno
import os
import shutil
import sys
import threading
import time

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
KEPT_BYTES = 100_000  # of the output, while the disk is full
KEPT_LINES = 20  # of what was said while a screen covered it


class Console:
    """Safe to call from every thread."""

    def __init__(self, stream=None):
        self._stream = stream or sys.stdout
        self._live = self._stream.isatty()
        try:
            self._stream.flush()
            self._file = self._stream.fileno()
        except OSError:  # it is no file
            self._file = None
        self._unwritten = b""
        self._lock = threading.RLock()
        self._line = ""
        self._keep = lambda rows: None
        self._screen = None
        self._covered: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)  # said behind it
        self._said = 0  # behind it, in all

    def keep(self, append) -> None:
        """From now on `append` gets whatever is said, as rows of MESSAGE_COLUMNS: one for each line."""
        self._keep = append

    def cover(self, screen) -> None:
        """Leaves the terminal to a `live_screen.LiveScreen`, until it or the run ends."""
        with self._lock:
            self._screen = screen

    def _is_covered(self) -> bool:
        if self._screen is not None and not self._screen.is_open:
            self._uncover()
        return self._screen is not None

    def _uncover(self) -> None:
        """Takes the terminal back and shows what was said meanwhile, but for the controller's sentences."""
        screen, self._screen = self._screen, None
        screen.close()
        if self._said > len(self._covered):
            self._write(f"({self._said - len(self._covered)} earlier messages are in messages.csv.)\n")
        self._write("".join(f"{text}\n" for text in self._covered))

    def say(self, text: str) -> None:
        """A line that stays."""
        now = f"{time.time():.0f}"
        self._keep([[now, line] for line in text.split("\n")])
        with self._lock:
            if self._is_covered():
                if not text.startswith("Controller: "):
                    self._covered.append(text)
                    self._said += 1
            else:
                self._write("\r\x1b[K" + text + "\n" + self._line if self._live else text + "\n")

    def status(self, row, last_score: float, wanted_games: int = 0) -> None:
        """The line in the original's manner, from a `columns.Throughput` and the score of the last game.

        Mean is that of the last 100 games. It says how many games are under way while not all of `wanted_games` are.
        """
        hours, rest = divmod(int(row.seconds), 3600)
        starting = f" [Games: {row.games} of {wanted_games}]" if row.games < wanted_games else ""
        line = (
            f"[Time: {hours:d}:{rest // 60:02d}:{rest % 60:02d}] "
            f"[Episode: {row.episodes} Score: {last_score:.1f} Mean: {row.mean_score:.2f}] "
            f"[PPS: {row.pps:.0f} TPS: {row.tps:.0f}] "
            f"[NT: {row.trainers:g} NP: {row.predictors:g} NA: {row.agents:g}]{starting}"
        ).replace("nan", "-")
        with self._lock:
            if self._is_covered():
                return
            if self._live:
                width = shutil.get_terminal_size().columns - 1
                if len(line) > width:
                    for long, short in (("Time: ", ""), ("Episode: ", ""), ("Score: ", ""), ("Mean: ", "mean ")):
                        line = line.replace(long, short)
                self._line = line[:width]
                self._write("\r\x1b[K" + self._line)
            else:
                self._write(line + "\n")

    def end(self) -> None:
        """Leaves the live line behind, on a line of its own; or takes the terminal back from the screen."""
        with self._lock:
            if self._screen is not None:
                self._uncover()
            if self._live and self._line:
                self._write("\n")
            self._line = ""

    def _write(self, text: str) -> None:
        if self._file is None:
            self._stream.write(text)
            return
        self._unwritten += text.encode(errors="replace")
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(self._file, self._unwritten) :]
        except OSError as error:
            if error.errno in DISK_FULL:  # the output goes to a file: there will be room again
                self._unwritten = self._unwritten[-KEPT_BYTES:]
                return
            # The reader is gone, a closed terminal or the end of a pipe: the run goes on.
            self._unwritten, self._file = b"", os.open(os.devnull, os.O_WRONLY)
            os.dup2(self._file, 1)  # Python flushes its stdout once more at the end
