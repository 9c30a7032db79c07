"""The console: one live line on a terminal, or a whole screen; plain lines anywhere else."""

import collections
import shutil
import sys
import threading
import time

from ga3c.records.outlet import END_SECONDS, NEW_LINE, Outlet
from ga3c.text import Output, harmless

KEPT_LINES = 20  # so many lines that were said behind a screen are shown after it


class Console:
    """Writes lines and a live line. Safe to call from every thread; nothing here waits for the reader."""

    def __init__(self, file: int = 1):
        self._outlet = Outlet(file)
        self._live = self._outlet.is_terminal
        self._lock = threading.RLock()
        self._line = ""
        self._keep = lambda rows: None
        self._screen = None
        self._covered: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)  # lines said behind the screen
        self._said = 0  # number of lines said behind the screen

    def take_streams(self) -> None:
        """Sends what others print the same way, so that a warning which nobody reads holds up no thread."""
        sys.stdout.flush()
        sys.stdout, sys.stderr = Output(self._outlet), Output(Outlet(2))

    def keep(self, append) -> None:
        """Passes each line that is said to `append` from now on, as a row of MESSAGE_COLUMNS."""
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
        """Takes the terminal back and shows what was said meanwhile, without the controller's lines."""
        screen, self._screen = self._screen, None
        said = screen.close()
        if self._said > len(self._covered):
            said += f"({self._said - len(self._covered)} earlier messages are in messages.csv.)\n"
        self._outlet.write(said + "".join(f"{text}\n" for text in self._covered))

    def say(self, text: str) -> None:
        """Writes a line that stays."""
        now, text = f"{time.time():.0f}", harmless(text)
        self._keep([[now, line] for line in text.split("\n")])
        with self._lock:
            if self._is_covered():
                if not text.startswith("Controller: "):
                    self._covered.append(text)
                    self._said += 1
            else:
                self._outlet.write(NEW_LINE + text + "\n" + self._line if self._live else text + "\n")

    def status(self, row, last_score: float, wanted_games: int = 0) -> None:
        """Writes the live line, from a `columns.Throughput` and the score of the last game.

        The mean is that of the last 100 games. While fewer than `wanted_games` are under way it says how many are.
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
                self._outlet.write(NEW_LINE + self._line, replaces=True)
            else:
                self._outlet.write(line + "\n")

    def flush(self) -> None:
        """Waits until all is written, for END_SECONDS at the longest."""
        self._outlet.wait(END_SECONDS)

    def close(self) -> None:
        """Ends the thread that writes: nothing is said any more."""
        self._outlet.close()

    def end(self) -> None:
        """Ends the live line, or takes the terminal back from the screen."""
        if (screen := self._screen) is not None:
            screen.close()  # without the lock: this may take a second
        with self._lock:
            if not self._is_covered() and self._live and self._line:
                self._outlet.write("\n")
            self._line = ""


class Aside:
    """The console of a second run: it says lines with the name of the run, and shows no status."""

    def __init__(self, console: Console, name: str):
        self._console, self._name = console, name

    def say(self, text: str) -> None:
        self._console.say(f"{self._name}: {text}")

    def status(self, row, last_score: float, wanted_games: int = 0) -> None:
        """Does nothing: the live line belongs to the first run."""
