"""The live screen on a terminal: a process of its own draws it from the run's files.

So it costs the threads that train nothing, and the terminal is given back whatever ends the training.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ga3c.text import harmless
from ga3c.views.terminal_access import in_foreground, screen_stream

SECONDS = 1.0  # between two drawings
# Leave the second screen, show the cursor, plain colours.
RESTORE = "\x1b[?1049l\x1b[?25h\x1b[0m"
CLOSE_SECONDS = 1.0  # what the drawing process gets to give the terminal back by itself
FOOTER = harmless("Ctrl-C stops and saves.  From another terminal: ./run.sh watch, ./play.sh --live")


class LiveScreen:
    """The drawing process, as the training process sees it."""

    def __init__(self, run_dir: Path):
        command = [sys.executable, "-m", "ga3c.views.live_screen", str(run_dir)]
        # It ends when its input does: when this process closes it, or is gone.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)

    @property
    def is_open(self) -> bool:
        return self._process.poll() is None

    def close(self) -> str:
        """Ends it. The terminal is as before once what this returns is written."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:  # it is busy, or the terminal takes nothing
            self._process.kill()
        return RESTORE if self._process.wait() else ""


def show(view, footer: str, stop: Callable[[], None]) -> None:
    """Draws a `RunView` until the run ends, somebody presses q, or the standard input ends.

    `stop` is called on Ctrl-Z, when the terminal is given back; it is taken again on SIGCONT.
    """
    from rich.console import Console
    from rich.live import Live

    from ga3c.views.training_screen import screen

    console, live, stopped = Console(file=screen_stream()), None, False
    news, tell = os.pipe()  # the numbers of signals
    for end in (news, tell):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(tell)
    for number in (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT):
        signal.signal(number, lambda *_: None)
    try:
        while view.running:
            if in_foreground() and not stopped:
                if live is None:
                    live = Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False)
                    live.start()
                live.update(screen(view, *console.size, footer), refresh=True)
            elif live is not None:
                live = live.stop()
            ready = select.select([0, news], [], [], SECONDS)[0]
            if 0 in ready and (os.read(0, 100) or b"q") in (b"q", b"Q", b"\x1b"):
                return
            for number in os.read(news, 100) if news in ready else b"":
                if number == signal.SIGTSTP:
                    live, stopped = live.stop() if live is not None else None, True
                    stop()
                elif number == signal.SIGCONT:
                    stopped = False
            view.refresh()
    finally:
        if live is not None:
            live.stop()


def main(run_dir: str) -> None:
    """The drawing process of a training run."""
    # All that reach the processes of a run together: what they mean is the training's business.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.nice(10)
    from ga3c.views.run_view import RunView

    # It waits without stopping: it could do so after the SIGCONT that was to wake it.
    show(RunView(Path(run_dir)), FOOTER, stop=lambda: None)


if __name__ == "__main__":
    main(sys.argv[1])
