"""Play in a terminal, over SSH too: each character shows two pixels, one above the other."""

import os
import re
import select
import signal
import time

import numpy as np
from PIL import Image
from rich.console import Console

from ga3c.play.keyboard import HELP
from ga3c.play.playing import Moment
from ga3c.text import one_line
from ga3c.views import terminal_access as terminal
from ga3c.views.text_charts import chart

PANEL_COLUMNS = 24  # beside the game
HELD_SECONDS = 0.3  # a terminal does not tell when a key is let go
SHADES = " ░▒▓█"
ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
KEYS = {opening + letter: name for letter, name in ARROWS.items() for opening in (b"\x1b[", b"\x1bO")}
KEYS |= {b"\x1b": "escape", b" ": "space"}
KEY = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b.?|.", re.DOTALL)  # whatever a terminal sends for one
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[0m\x1b[?25h\x1b[?1049l"


class Terminal:
    """Takes the whole terminal, and gives it back as it was."""

    live, covers_output = True, True

    def __init__(self, title: str, action_names: list[str]):
        self._title, self._names = one_line(title), action_names
        console = Console()
        self._colours = None if console.no_color else console.color_system  # truecolor, 256, standard or None
        self._held: dict[str, float] = {}  # until when
        self._size = (0, 0)
        self._last: tuple[Moment, str] | None = None
        self._is_to_stop = False
        self._before = signal.getsignal(signal.SIGTSTP) or signal.SIG_DFL
        if self._before != signal.SIG_IGN:
            signal.signal(signal.SIGTSTP, self._stop_soon)
        self._take()

    def _take(self) -> None:
        self._shown: list[str] = []
        self._keyboard = terminal.keys()
        self._keyboard.__enter__()
        self._write(ENTER)

    def _give_back(self) -> None:
        self._write(LEAVE)
        self._keyboard.__exit__(None, None, None)

    def _stop_soon(self, _number, _frame) -> None:
        """Ctrl-Z: not at once, as it may come while a picture is being written."""
        self._is_to_stop = True

    def _stop(self) -> None:
        """Waits as a job of the shell until `fg`. Where there is no shell that could wake it, it goes on at once."""
        self._is_to_stop = False
        self._give_back()
        signal.signal(signal.SIGTSTP, self._before)
        signal.raise_signal(signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stop_soon)
        self._take()

    def show(self, moment: Moment, status: str) -> None:
        """Writes the lines that are not what they were."""
        self._last = moment, status
        size = os.get_terminal_size(1)
        if size != self._size:
            self._shown, self._size = [], size
            self._write("\x1b[2J")
        lines = self._lines(moment, status, *size)
        changed = [f"\x1b[{row + 1}H{line}\x1b[0m\x1b[K" for row, line in enumerate(lines) if self._is_new(row, line)]
        self._shown = lines
        self._write("".join(changed))

    def _is_new(self, row: int, line: str) -> bool:
        return row >= len(self._shown) or line != self._shown[row]

    def _lines(self, moment: Moment, status: str, columns: int, rows: int) -> list[str]:
        count = len(moment.pictures)
        beside = PANEL_COLUMNS if columns >= 2 * PANEL_COLUMNS and count == 1 else 0
        across = int(np.ceil(np.sqrt(count)))
        down = -(-count // across)
        # The screen of a television is wider than high: 4 to 3.
        height = max(1, min((rows - 1) // down, int((columns - beside) / across * 3 / 4 / 2)))
        width = int(height * 2 * 4 / 3)
        tiles = [_shrunk(picture, width, 2 * height) for picture in moment.pictures]
        tiles += [np.zeros_like(tiles[0])] * (-count % across)
        picture = np.vstack([np.hstack(tiles[row : row + across]) for row in range(0, len(tiles), across)])[:, :columns]
        lines = [_cells(above, below, self._colours) for above, below in zip(picture[::2], picture[1::2], strict=True)]
        if beside:
            panel = self._panel(moment, status, beside - 2, len(lines))
            lines = [f"{line}\x1b[0m  {text}" for line, text in zip(lines, panel, strict=True)]
        scores = "  ".join(f"{score:g}" for score in moment.scores)
        foot = HELP if beside else f"{self._title}  {scores}  {status}  {HELP}"
        return [*lines, foot[: columns - 1]][:rows]

    def _panel(self, moment: Moment, status: str, width: int, height: int) -> list[str]:
        lines = [self._title, f"score {moment.scores[0]:g}", f"step {moment.steps[0]:,}", *status.split(", "), ""]
        names = min(max(map(len, self._names)), width - 7)
        bar = width - names - 2
        room = max(height - len(lines) - 6, 0)
        shares = moment.shares[0]
        for action in sorted(shares.argsort()[::-1][:room]):  # the likeliest, where there are too many
            mark = ">" if moment.taken[0, action] and not moment.taken[0].all() else " "
            lines.append(f"{mark}{self._names[action][:names]:<{names}} {'█' * round(bar * float(shares[action]))}")
        lines += ["", f"value {moment.values[0]:.2f}", *chart(moment.history, width, 3)]
        return [*(line[:width] for line in lines[:height]), *[""] * (height - len(lines))]

    def keys(self, seconds: float) -> list[tuple[str, bool]]:
        if self._is_to_stop:
            self._stop()
        if self._last and (not self._shown or os.get_terminal_size(1) != self._size):
            self.show(*self._last)
        found, now = [], time.monotonic()
        if os.isatty(0) and select.select([0], [], [], seconds)[0]:
            for name in _names(os.read(0, 1000)):
                found.append((name, True))
                self._held[name] = now + HELD_SECONDS
        elif not os.isatty(0):
            time.sleep(seconds)
        over = [name for name, until in self._held.items() if until < time.monotonic()]
        for name in over:
            del self._held[name]
        return [*found, *((name, False) for name in over)]

    def close(self) -> None:
        signal.signal(signal.SIGTSTP, self._before)
        self._give_back()

    @staticmethod
    def _write(text: str) -> None:
        stream = terminal.screen_stream()
        stream.write(text)
        stream.flush()


def _names(typed: bytes) -> list[str]:
    """The keys in what a terminal sent at once. Those that have no name here are left out."""
    return [
        KEYS.get(sequence) or sequence.decode(errors="replace")
        for sequence in KEY.findall(typed)
        if sequence in KEYS or not sequence.startswith(b"\x1b")
    ]


def _shrunk(picture: np.ndarray, width: int, height: int) -> np.ndarray:
    return np.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.BOX))


def _cells(above: np.ndarray, below: np.ndarray, colours: str | None) -> str:
    """One line of characters from two lines of pixels, uint8 [width, 3]."""
    if colours not in ("truecolor", "256"):
        grey = (above.mean(axis=1) + below.mean(axis=1)) / 2
        return "".join(SHADES[index] for index in (grey * len(SHADES) / 256).astype(int))
    kind, codes = ("2", _rgb) if colours == "truecolor" else ("5", _of_256)
    line, before = [], None
    for upper, lower in zip(codes(above), codes(below), strict=True):
        if (upper, lower) != before:
            line.append(f"\x1b[38;{kind};{upper};48;{kind};{lower}m")
            before = upper, lower
        line.append("▀")
    return "".join(line)


def _rgb(pixels: np.ndarray) -> list[str]:
    return [f"{red};{green};{blue}" for red, green, blue in pixels.tolist()]


def _of_256(pixels: np.ndarray) -> list[str]:
    """The nearest of the 6 x 6 x 6 cube, or of the 24 greys between black and white."""
    values = pixels.astype(int)
    cube = 16 + ((values * 5 + 127) // 255) @ np.array([36, 6, 1])
    grey = 232 + np.clip((values.mean(axis=1).astype(int) - 3) // 10, 0, 23)
    return [str(code) for code in np.where(np.ptp(values, axis=1) < 12, grey, cube).tolist()]
