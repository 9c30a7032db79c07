"""A buffer between a run and an output that may block."""

import atexit
import collections
import errno
import os
import threading

from ga3c.text import lead_nowhere

KEPT_BYTES = 100_000  # of text that waits; the newest
RETRY_SECONDS = 0.5  # where the disk is full, or somebody made the file one that does not wait
RETRIED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EAGAIN)
END_SECONDS = 2.0  # time for what is left at the end of the program
NEW_LINE = "\r\x1b[K"  # on a terminal: over what stands in the line


class Outlet:
    """A text stream with a thread of its own, so that nobody else waits for a full pipe or a stopped terminal.

    Safe to call from every thread. When the buffer is full, the oldest text is left out, and its lines are counted.
    """

    encoding, errors = "utf-8", "replace"

    def __init__(self, file: int):
        self._file = file
        self.is_terminal = os.isatty(file)
        self._waiting: collections.deque[tuple[bytes, bool]] = collections.deque()
        self._waiting_bytes = self._left_out_lines = 0
        self._is_writing = self._closed = False
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="output", daemon=True).start()
        atexit.register(self.wait, END_SECONDS)

    def fileno(self) -> int:
        return self._file

    def isatty(self) -> bool:
        return self.is_terminal

    def flush(self) -> None:
        """Does nothing: nobody waits."""

    def write(self, text: str, replaces: bool = False) -> None:
        """Buffers a text. `replaces`: it replaces the last text if that is of this kind and still waits."""
        data = text.encode(self.encoding, self.errors)
        with self._changed:
            if replaces and self._waiting and self._waiting[-1][1]:
                self._waiting_bytes -= len(self._waiting.pop()[0])
            self._waiting.append((data, replaces))
            self._waiting_bytes += len(data)
            while self._waiting_bytes > KEPT_BYTES and len(self._waiting) > 1:
                oldest = self._waiting.popleft()[0]
                self._waiting_bytes -= len(oldest)
                self._left_out_lines += oldest.count(b"\n")
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Waits until all is written, or for so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._is_writing, seconds)

    def close(self) -> None:
        """Waits as at the end of the program, and ends the thread once it has written all."""
        self.wait(END_SECONDS)
        atexit.unregister(self.wait)
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._is_writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                data = self._waiting.popleft()[0]
                self._waiting_bytes -= len(data)
                self._is_writing = True
                left_out, self._left_out_lines = self._left_out_lines, 0
            if left_out:
                said = f"({left_out} lines were left out: nobody took them. What was said is in messages.csv.)\n"
                data = (NEW_LINE * self.is_terminal + said).encode() + data
            while data:
                data = data[self._write(data) :]

    def _write(self, data: bytes) -> int:
        """Returns how many bytes were written. This may last for ever."""
        try:
            return os.write(self._file, data)
        except OSError as error:
            if error.errno in RETRIED:
                with self._changed:
                    self._changed.wait(RETRY_SECONDS)
                return 0
            # The reader is gone, a closed terminal or the end of a pipe: the run goes on.
            lead_nowhere(self._file)
            return 0
