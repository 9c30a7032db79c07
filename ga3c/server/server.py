"""The server of a training run, whichever its system is."""

import math
import threading
import time
import traceback
from collections.abc import Callable

from ga3c.errors import TrainingFailed
from ga3c.records.console import Console
from ga3c.records.run_state import ENDED, FAILED, RUNNING, STOPPED, RunState, few_words
from ga3c.server.pause import Pause
from ga3c.server.recorded_run import RecordedRun
from ga3c.server.stall import StallWatch, began_here, threads_report
from ga3c.settings.run import RunSettings
from ga3c.stats import Totals

RETRY_SECONDS = 5.0  # until a checkpoint that the disk did not take is tried again


class Server:
    """Runs one training run.

    `start`, then `serve` until it returns, then `stop`. Whatever happens in between, `stop` leaves no process.
    """

    def __init__(self, first: RecordedRun, settings: RunSettings, console: Console):
        self._first, self._settings, self._console = first, settings, console
        self._all = [first]  # a secondary learner's run stands before the run that it learns from
        self.system = first.system
        # Signal handlers set these, so they are no Events: a second signal could come while an Event's lock is held.
        self._stopping = self._report_asked = False
        self._pause = Pause()
        self.failure = ""  # the reason why a thread failed
        self._end = RunState(FAILED)
        self._running = self.saved = False

    def add(self, run: RecordedRun) -> None:
        """Adds a run that learns beside the first."""
        self._all.insert(0, run)

    def start(self) -> None:
        """Starts all runs."""
        self._others, threading.excepthook = threading.excepthook, self._thread_failed
        for run in self._all:
            run.start()
        self._running = True
        self._write_state(RunState(RUNNING))

    def _thread_failed(self, failed: threading.ExceptHookArgs) -> None:
        """Ends the run when one of its threads ends by an exception: the others would wait for it for ever."""
        if not began_here(failed.exc_traceback):  # a thread of a game, or of the program that trains
            self._others(failed)
            return
        if issubclass(failed.exc_type, TrainingFailed):
            said = str(failed.exc_value)
        else:
            lines = traceback.format_exception(failed.exc_type, failed.exc_value, failed.exc_traceback)
            said = f"The {failed.thread.name} failed:\n{''.join(lines)}"
        self.failure = self.failure or said
        self.request_stop()

    def request_stop(self) -> None:
        """Makes `serve` return. Safe in a signal handler."""
        self._stopping = True
        self._pause.end()

    def request_report(self) -> None:
        """Makes `serve` say who waits for whom. Safe in a signal handler."""
        self._report_asked = True
        self._pause.end()

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
            self._write_state(self._end)  # at once: what failed may end this process, too
            raise

    def _serve(self, every_second: Callable[[], None]) -> None:
        run, system = self._settings, self.system
        save_at = time.monotonic() + run.checkpoint_seconds
        stall = StallWatch(run.stall_seconds)
        begun = system.stats.totals()
        done_before, until = _done(begun), begun.seconds + 60 * (run.minutes or math.inf)
        pause = 1.0 if run.steps is None else 0.2
        while not self._stopping:
            self._pause.wait(min(pause, max(0.0, save_at - time.monotonic())))
            if self._stopping:
                break
            self._look()
            totals, now = system.stats.totals(), time.monotonic()
            done = _done(totals)
            under_way, wanted = system.games()
            said = stall.look(done, starting=done == done_before and under_way < wanted)
            if self._report_asked:
                self._report_asked = False
                said = "Who waits for whom (messages.csv has all lines):"
            if said:
                self._say_report(said)
            if self._first.is_due(totals.steps) or now >= save_at:
                save_at = now + (run.checkpoint_seconds if self.save() else min(RETRY_SECONDS, run.checkpoint_seconds))
            if self._first.disk.look():
                every_second()
            if (
                (run.steps is not None and (totals.steps >= run.steps or system.has_all_steps) and system.may_end)
                or (run.episodes is not None and totals.episodes >= run.episodes)
                or totals.seconds >= until
            ):
                return
        if self.failure:
            raise TrainingFailed(self.failure)

    def _say_report(self, said: str) -> None:
        """Says what the stall watch says; after a colon, who waits for whom."""
        reports = [line for one in self._all for line in one.system.report()]
        report = [*reports, *threads_report()] if said.endswith(":") else []
        self._console.say("\n  ".join([said, *report]))

    def _look(self) -> None:
        """Looks after all runs. Raises TrainingFailed, and saves first: what failed may end this process soon."""
        try:
            for run in self._all:
                run.look()
        except TrainingFailed:
            self.save()
            raise

    def save(self) -> bool:
        """Writes a checkpoint of each run, the first run's last: with it all can go on.

        Returns False if the disk does not take them.
        """
        return all(run.save() for run in self._all)

    def stop(self) -> Totals | None:
        """Stops the system and writes the last checkpoint.

        Returns the final totals; None if the run never came to serve. `saved` says whether the disk took it.
        """
        self._stopping = True
        for run in self._all:
            run.system.stop()
        if self.failure and self._end.name != FAILED:  # while it stopped
            self._end = RunState(FAILED, few_words(self.failure))
        if not self._running:
            return None
        saved = [run.finish() for run in self._all]
        self.saved = all(saved)
        if not self.saved and self._end.name != FAILED:
            self._end = RunState(FAILED, "the last checkpoint could not be written")
        self._write_state(self._end)
        return self.system.stats.totals()

    def close(self) -> None:
        """Closes what it holds open, once it has stopped."""
        self._pause.close()
        for run in self._all:
            run.disk.close()

    def _write_state(self, state: RunState) -> None:
        for run in self._all:
            run.write_state(state)


def _done(totals: Totals) -> int:
    """Returns a number that grows with every step and every update."""
    return totals.steps + totals.updates + totals.skipped_updates
