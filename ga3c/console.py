"""The console: one live line on a terminal, plain lines anywhere else."""

import errno
import os
import shutil
import sys
import threading

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
KEPT_BYTES = 100_000  # of the output, while the disk is full


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
        self._lock = threading.Lock()
        self._line = ""

    def say(self, text: str) -> None:
        """A line that stays."""
        with self._lock:
            self._write("\r\x1b[K" + text + "\n" + self._line if self._live else text + "\n")

    def status(self, row, last_score: float) -> None:
        """The line in the original's manner, from a `stats_writer.Throughput` and the score of the last game.

        Mean is that of the last 100 games.
        """
        hours, rest = divmod(int(row.seconds), 3600)
        line = (
            f"[Time: {hours:d}:{rest // 60:02d}:{rest % 60:02d}] "
            f"[Episode: {row.episodes} Score: {last_score:.1f} Mean: {row.mean_score:.2f}] "
            f"[PPS: {row.pps:.0f} TPS: {row.tps:.0f}] "
            f"[NT: {row.trainers} NP: {row.predictors} NA: {row.agents}]"
        ).replace("nan", "-")
        with self._lock:
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
        """Leaves the live line behind, on a line of its own."""
        with self._lock:
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
