"""Server: starts, serves, saves and stops a system, whichever it is."""

import contextlib
import math
import os
import select
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from ga3c.errors import TrainingFailed
from ga3c.processes.stall import StallWatch, threads_report
from ga3c.records.books import Books
from ga3c.records.console import Aside, Console
from ga3c.records.run_state import ENDED, FAILED, RUNNING, STOPPED, RunState, few_words
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings
from ga3c.stats import Totals

RETRY_SECONDS = 5.0  # between two attempts to save a checkpoint that the disk does not take


class Server:
    """Runs one training run.

    `start`, then `serve` until it returns, then `stop`. Whatever happens in between, `stop` leaves no process.
    """

    def __init__(
        self, make_system: Callable, settings: Settings, run_dir: Path, spec: EnvironmentSpec, console: Console
    ):
        """`make_system`: one of `ga3c.systems`. Raises ConfigError where there is nothing to go on from, or no room."""
        self._settings, self._spec, self._console = settings, spec, console
        self._books = Books(make_system, settings, run_dir, spec, console)
        self._all = [self._books]  # a secondary learner's before those of the run that it learns from
        self.system = self._books.system
        # Set in signal handlers, so without a lock, as an Event has one: a second signal could come while it is held.
        self._stopping = self._report_asked = False
        self._woken, self._wake_up = os.pipe()
        for end in (self._woken, self._wake_up):
            os.set_blocking(end, False)
        self._failure: str | None = None
        self._end = RunState(FAILED)
        self._running = self.saved = False

    def add(self, make_system: Callable, settings: Settings, run_dir: Path):
        """Returns a system that learns beside the first, in a run of its own. Raises ConfigError."""
        console = Aside(self._console, run_dir.name)
        self._all.insert(0, Books(make_system, settings, run_dir, self._spec, console))
        return self._all[0].system

    def start(self) -> None:
        """Starts everything."""
        threading.excepthook = self._thread_failed
        for books in self._all:
            books.start()
        self._running = True
        self._write_state(RunState(RUNNING))

    def _thread_failed(self, failed: threading.ExceptHookArgs) -> None:
        """A thread's end by an exception is the end of the run: the others would wait for it for ever."""
        if issubclass(failed.exc_type, TrainingFailed):
            said = str(failed.exc_value)
        else:
            lines = traceback.format_exception(failed.exc_type, failed.exc_value, failed.exc_traceback)
            said = f"The {failed.thread.name} failed:\n{''.join(lines)}"
        self._failure = self._failure or said
        self.request_stop()

    def request_stop(self) -> None:
        """Makes `serve` return. Safe in a signal handler."""
        self._stopping = True
        self._wake()

    def request_report(self) -> None:
        """Makes `serve` say who waits for whom. Safe in a signal handler."""
        self._report_asked = True
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # full: it will wake up
            os.write(self._wake_up, b"!")

    def _pause(self, seconds: float) -> None:
        """For so long, or until something is asked for."""
        if select.select([self._woken], [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 1000)

    def serve(self, every_second: Callable[[], None]) -> None:
        """Watches the run and saves checkpoints until a stop condition is met or `request_stop` is called.

        `every_second()` is called once a second at least, while the run's directory is where it was. Raises
        TrainingFailed with the reason if a part failed.
        """
        try:
            self._serve(every_second)
            self._end = RunState(STOPPED if self._stopping else ENDED)
        except BaseException as failure:
            text = str(failure) if isinstance(failure, TrainingFailed) else f"{type(failure).__name__}: {failure}"
            self._end = RunState(FAILED, few_words(text))
            self._write_state(self._end)  # already now: what has failed may end this process, too
            raise

    def _serve(self, every_second: Callable[[], None]) -> None:
        run, system = self._settings.run, self.system
        save_at = time.monotonic() + run.checkpoint_seconds
        stall = StallWatch(run.stall_seconds)
        begun = system.stats.totals()
        done_before, until = (
            begun.steps + begun.updates + begun.skipped_updates,
            begun.seconds + 60 * (run.minutes or math.inf),
        )
        pause = 1.0 if run.steps is None else 0.2
        while not self._stopping:
            self._pause(min(pause, max(0.0, save_at - time.monotonic())))
            if self._stopping:
                break
            self._look()
            totals, now = system.stats.totals(), time.monotonic()
            done = totals.steps + totals.updates + totals.skipped_updates
            under_way, wanted = system.games()
            said = stall.look(done, starting=done == done_before and under_way < wanted)
            if self._report_asked:
                self._report_asked = False
                said = "Who waits for whom:"
            if said:
                reports = [line for books in self._all for line in books.system.report()]
                report = [*reports, *threads_report()] if said.endswith(":") else []
                self._console.say("\n  ".join([said, *report]))
            if now >= save_at:
                save_at = now + (run.checkpoint_seconds if self.save() else min(RETRY_SECONDS, run.checkpoint_seconds))
            if self._books.disk.look():
                every_second()
            if (
                (run.steps is not None and (totals.steps >= run.steps or system.has_all_steps) and system.may_end)
                or (run.episodes is not None and totals.episodes >= run.episodes)
                or totals.seconds >= until
            ):
                return
        if self._failure:
            raise TrainingFailed(self._failure)

    def _look(self) -> None:
        """Raises TrainingFailed, and saves before that: what has failed may end this process before all is stopped."""
        try:
            for books in self._all:
                books.look()
        except TrainingFailed:
            self.save()
            raise

    def save(self) -> bool:
        """Writes a checkpoint of each run, the first one's last: with it all can go on. False if the disk does not take
        them."""
        return all(books.save() for books in self._all)

    def stop(self) -> Totals | None:
        """Stops the system and writes the last checkpoint.

        Returns the final totals; None if the run never came to serve. `saved` says whether the disk took it.
        """
        self._stopping = True
        for books in self._all:
            books.system.stop()
        if not self._running:
            return None
        saved = [books.finish() for books in self._all]
        self.saved = all(saved)
        if not self.saved and self._end.name != FAILED:
            self._end = RunState(FAILED, "the last checkpoint could not be written")
        self._write_state(self._end)
        return self.system.stats.totals()

    def _write_state(self, state: RunState) -> None:
        for books in self._all:
            books.write_state(state)
