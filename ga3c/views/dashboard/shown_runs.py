"""The runs that the dashboard shows."""

import copy
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ga3c.records import chosen_runs, run_directory
from ga3c.records.files import written_at
from ga3c.views import labels
from ga3c.views.dashboard import films
from ga3c.views.run_view import RunView

FILES = ("config.json", "state.json", "throughput.csv", "episodes.csv", "controller.csv", "cluster.json")
TAILS = ("throughput", "episodes", "decisions")  # of a RunView: what grows
AGE_SECONDS = 1.0  # of what was read, before it is read again
PATIENCE_SECONDS = 2.0  # for what is being read
VERSIONS = itertools.count(time.time_ns())  # none that another dashboard gave to the same page
Value = TypeVar("Value")


class Fresh(Generic[Value]):
    """A value that `read` makes from its last value, again where that is older than AGE_SECONDS.

    It is read in a thread of its own. Who asks waits for that for PATIENCE_SECONDS at the most, and takes what was
    there before: a file that is slow or hangs keeps nobody waiting for more. `read` raises nothing.
    """

    def __init__(self, read: Callable[[Value], Value], first: Value):
        self._read, self.value = read, first
        self._lock, self._began, self._thread = threading.Lock(), -math.inf, threading.Thread()

    def begin(self) -> None:
        with self._lock:
            now = time.monotonic()
            if not self.reading and now - self._began >= AGE_SECONDS:
                self._began, self._thread = now, threading.Thread(target=self._refresh, daemon=True)
                self._thread.start()

    def get(self) -> Value:
        self.begin()
        thread, patience = self._thread, self._began + PATIENCE_SECONDS - time.monotonic()
        if thread.is_alive():
            thread.join(max(0.0, patience))
        return self.value

    @property
    def reading(self) -> bool:
        return self._thread.is_alive()

    def _refresh(self) -> None:
        self.value = self._read(self.value)


class Run(NamedTuple):
    """A run as it was read last. Nobody changes it."""

    view: RunView | None = None  # None: it cannot be read
    version: int = 0  # another one for each view
    reading: bool = False  # for the first time


class Runs:
    """The runs below a directory. Safe to use from several threads."""

    def __init__(self, results: Path):
        self.results = results
        self._names: Fresh[list[str]] = Fresh(self._find, [])
        self._runs: dict[str, Fresh[Run]] = {}
        self._films: dict[str, Fresh[tuple]] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """GAME/RUN of all, or GAME/RUN/secondary, the newest first."""
        return self._names.get()

    def look(self, names: Iterable[str]) -> dict[str, Run]:
        """Those of these that there are, in their order."""
        wanted = self._known(self._runs, names, lambda name: Fresh(_Reader(self.results / name), Run(reading=True)))
        return {name: one.get() for name, one in wanted.items()}

    def films(self, names: Iterable[str]) -> list[tuple[str, float]]:
        """Recorded games of these runs and of their games, as films.of_run lists them."""

        def lister(name: str) -> Fresh[tuple]:
            return Fresh(lambda _: films.of_run(self.results, self.results / name), ())

        return [film for one in self._known(self._films, names, lister).values() for film in one.get()]

    def _known(self, known: dict[str, Fresh], names: Iterable[str], make: Callable[[str], Fresh]) -> dict[str, Fresh]:
        """Those of these names that there are, in their order; what is gone is forgotten."""
        there = set(self.names())
        with self._lock:
            for gone in known.keys() - there:
                del known[gone]
            wanted = {name: known.get(name) or known.setdefault(name, make(name)) for name in names if name in there}
        for one in wanted.values():
            one.begin()  # all at once: those that are slow are waited for together
        return wanted

    def labelled(self, names: Iterable[str]) -> dict[str, Run]:
        """Those of these that can be read, by what they are called beside each other."""
        runs = [run for run in self.look(names).values() if run.view is not None]
        return dict(zip(labels.labels([run.view.known for run in runs]), runs, strict=True))

    def _find(self, _: list[str]) -> list[str]:
        try:
            found = list(chosen_runs.below(self.results))
        except OSError:
            return []
        found = [run for run in found if not run_directory.is_shipped(run)]  # they have no logs
        when = {run: max(written_at(run / name) for name in ("config.json", "throughput.csv")) for run in found}
        return [str(run.relative_to(self.results)) for run in sorted(found, key=when.get, reverse=True)]


class _Reader:
    """Reads a run, again and again."""

    def __init__(self, run: Path):
        self._run = run
        self._view: RunView | None = None  # it grows; what others get of it does not
        self._state: tuple = ()

    def __call__(self, before: Run) -> Run:
        state = tuple(_identity(self._run / name) for name in FILES)
        try:
            if self._view is None or state[0] != self._state[0]:
                self._view = RunView(self._run, with_messages=False)
            else:
                self._view.refresh()
            state += (self._view.running,)
            if state == self._state and before.view is not None:
                return before
            self._state = state
            return Run(_still(self._view), next(VERSIONS))
        except Exception:  # whatever lies there: a run that cannot be read must not take the others along
            self._view = None
            return Run()


def _identity(file: Path) -> tuple[int, int, int] | None:
    """Another one when it has changed. None: it is not there."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _still(view: RunView) -> RunView:
    """A copy that no longer grows."""
    still = copy.copy(view)
    for name in TAILS:
        tail = copy.copy(getattr(view, name))
        tail.columns = {column: cells[:] for column, cells in tail.columns.items()}
        setattr(still, name, tail)
    return still
