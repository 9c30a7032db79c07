"""What is written for people: of what comes from files and arguments, nothing that a terminal would obey."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ga3c.errors import ConfigError


def one_line(text) -> str:
    """As text, with what cannot be printed written as in Python: control and bidi characters, line ends."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def harmless(text: str) -> str:
    """The same, but lines and tabs stay what they are."""
    return text if text.isprintable() else "".join(c if c in "\n\t" else one_line(c) for c in text)


_standing: list[Path] = []  # where the user stands, while the program runs


@contextmanager
def standing_here() -> Iterator[None]:
    """The user stands here, wherever a game's code goes in this process."""
    before = _standing.copy()
    with suppress(OSError):  # it is gone
        _standing[:] = [Path.cwd()]
    try:
        yield
    finally:
        _standing[:] = before


def place(path: Path) -> str:
    """A path relative to where the user stands, if it lies below; one line."""
    with suppress(OSError, ValueError):  # where it stood is gone; it lies elsewhere
        return one_line(path.absolute().relative_to(_standing[0] if _standing else Path.cwd()))
    return one_line(path)


def word(path: Path) -> str:
    """The same as a word of a command, to be copied into a shell."""
    return shlex.quote(place(path))


def count(number: int, what: str) -> str:
    """So many of something: "1 game", "1,200 games", "2 processes"."""
    return f"{number:,} {what}" + ("es" if what.endswith("s") else "s") * (number != 1)


def duration(seconds: float) -> str:
    """In the unit that suits it: "0.4 seconds", "45 seconds", "3.5 minutes", "2.0 hours"."""
    if seconds < 9.95:
        return f"{seconds:.1f} seconds"
    if seconds < 89.5:
        return count(round(seconds), "second")
    return f"{seconds / 60:.1f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def lead_nowhere(file: int) -> None:
    """Whatever is written to this file from now on is gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file)
    os.close(nowhere)


class Output:
    """A text stream for people. All that is written to it is harmless; `stream` takes anything."""

    def __init__(self, stream, must_arrive: bool = False):
        """`must_arrive`: it is what was asked for; where it cannot be written, that is an error."""
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
        """From now on nothing is written: what waits, and is flushed once more at the end, goes nowhere."""
        lead_nowhere(self.stream.fileno())

    def _attempt(self, do, *arguments) -> None:
        """What must arrive and cannot: raises BrokenPipeError where the reader has gone, else ConfigError."""
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
    """Makes the standard streams ready: open in any case, and `Output`s."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        with suppress(OSError):
            os.fstat(number)
            continue
        # Closed at the start: the next file that is opened would take its place, and get what others write there.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, Output):
            with suppress(AttributeError):  # it is no text
                stream.reconfigure(errors="replace")  # a terminal that knows no UTF-8 gets question marks
            setattr(sys, name, Output(stream, must_arrive=name == "stdout"))
