"""The directories that a start of training takes: that of the run, and that of its secondary learner if it has one."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ga3c.records import run_directory
from ga3c.settings.batches import of_secondary
from ga3c.settings.run import Settings


class TakenDirectories:
    """Takes the directories, and gives them back if the start fails."""

    def __init__(self, settings: Settings, resumed: Path | None):
        """Raises ConfigError where they cannot be taken."""
        self.runs: list[Path] = []
        self.secondary: Settings | None = None  # the secondary learner's settings
        self._undo: list[Callable[[], None]] = []
        try:
            inner = resumed and resumed / run_directory.SECONDARY
            if inner and not (inner / "config.json").exists():  # a start was killed before it made this one
                inner = None
            if inner and settings.replay.secondary_batch:
                run_directory.check_secondary(resumed)
            self._take(settings, resumed)
            if settings.replay.secondary_batch:
                self.secondary = of_secondary(settings, self.runs[0] / run_directory.SECONDARY)
                self._take(self.secondary, inner)
        except BaseException:
            self.take_back()
            raise

    def _take(self, settings: Settings, resumed: Path | None) -> None:
        if resumed is None:
            path = run_directory.create(settings)
            self._undo.append(partial(run_directory.discard, path))
        else:
            path = resumed
            self._undo.append(partial(run_directory.take_back, path, run_directory.go_on(path, settings)))
        self.runs.append(path)

    def take_back(self) -> None:
        """Leaves everything as it was before the start."""
        for undo in reversed(self._undo):
            undo()
