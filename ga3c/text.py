"""Text for people: nothing that comes from files and arguments can control the terminal."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.installation import as_called


def one_line(text) -> str:
    """Returns the text with control and bidi characters and line ends written as Python escapes."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def harmless(text: str) -> str:
    """Returns the text as `one_line` does, but line ends and tabs stay. Commands have the name that they have here."""
    text = as_called(text)
    return text if text.isprintable() else "".join(c if c in "\n\t" else one_line(c) for c in text)


_standing: list[Path] = []  # the directory in which the user started the program


@contextmanager
def standing_here() -> Iterator[None]:
    """Takes the working directory for the user's own, even if a game's code leaves it later."""
    before = _standing.copy()
    with suppress(OSError):  # it is gone
        _standing[:] = [Path.cwd()]
    try:
        yield
    finally:
        _standing[:] = before


def place(path: Path) -> str:
    """Returns a path as one line, relative to the user's directory if it lies below that."""
    with suppress(OSError, ValueError):  # the directory is gone, or the path lies elsewhere
        return one_line(path.absolute().relative_to(_standing[0] if _standing else Path.cwd()))
    return one_line(path)


def word(path: Path) -> str:
    """Returns the same as a word that can be copied into a shell."""
    named = place(path)
    return shlex.quote(f"./{named}" if named.startswith("-") else named)  # it is no flag


def count(number: int, what: str) -> str:
    """Returns a number with its noun: "1 game", "1,200 games", "2 processes"."""
    more = "es" if what.endswith("s") else "s"
    return f"{number:,} {what}{more if number != 1 else ''}"


def duration(seconds: float) -> str:
    """Returns a time in the unit that suits it: "0.4 seconds", "45 seconds", "3.5 minutes", "2.0 hours"."""
    if seconds < 9.95:
        return f"{seconds:.1f} seconds"
    if seconds < 89.5:
        return count(round(seconds), "second")
    return f"{seconds / 60:.1f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def lead_nowhere(file: int) -> None:
    """Discards whatever is written to this file from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file)
    os.close(nowhere)


class Output:
    """A text stream for people: writes what `harmless` leaves of a text to `stream`."""

    def __init__(self, stream, must_arrive: bool = False):
        """`must_arrive`: it is an error if the text cannot be written."""
        self.stream, self._must_arrive = stream, must_arrive

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        self._attempt(self.stream.write, harmless(text))
        return len(text)

    def writelines(self, lines) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        self._attempt(self.stream.flush)

    def close(self) -> None:
        """Discards what is still buffered, and whatever is written from now on."""
        lead_nowhere(self.stream.fileno())

    def _attempt(self, do, *arguments) -> None:
        """Calls `do`. Raises BrokenPipeError (the reader is gone) or ConfigError if the text must arrive and cannot."""
        try:
            do(*arguments)
        except OSError as error:
            self.close()
            if not self._must_arrive:
                return
            if isinstance(error, BrokenPipeError):
                raise
            raise ConfigError(f"Cannot write the output: {error.strerror}.") from error


def take_streams() -> None:
    """Opens those standard streams that are closed, and makes stdout and stderr `Output`s."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        with suppress(OSError):
            os.fstat(number)
            continue
        # Otherwise the next file that is opened would get this number, and what others write to the stream.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, Output):
            with suppress(AttributeError):  # it is no text
                stream.reconfigure(errors="replace")  # a terminal that knows no UTF-8 gets question marks
            setattr(sys, name, Output(stream, must_arrive=name == "stdout"))
